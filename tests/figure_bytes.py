"""A figure as SVG, to compare two drawings without rendering pixels."""

from io import BytesIO

from dpnoise_papers.style import house_style


def svg(figure):
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
