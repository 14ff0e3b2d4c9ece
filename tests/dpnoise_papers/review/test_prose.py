"""Markdown as HTML."""

from dpnoise_papers.review.prose import html, inline, tables_in


def test_text_is_escaped_and_code_and_bold_are_marked():
    assert inline("a < b, `x < y`, **c** & [d](e.md)") == (
        "a &lt; b, <code>x &lt; y</code>, <strong>c</strong> &amp; d"
    )


def test_a_page_keeps_its_heading_its_list_and_the_cells_of_its_table():
    text = "# Title\n\nA note\non two lines.\n\n"
    text += "| a | b |\n|---|---|\n| 1 \\| 2 | <3> |\n\n- x\n- y\n  z\n"
    shown = str(html(text))
    assert "<h4>Title</h4>" in shown
    assert "<p>A note on two lines.</p>" in shown
    assert "<td>1 | 2</td><td>&lt;3&gt;</td>" in shown
    assert "<li>x</li>" in shown
    assert tables_in(text) == [(["a", "b"], [["1 \\| 2", "<3>"]])]
