"""Names of items."""

import pytest

from dpnoise_papers.papers import papers
from dpnoise_papers.review.labels import group_of, item_label


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("table-2", "Table II"),
        ("figure-3a", "Figure 3a"),
        ("table-3-replicates", "Table III, replicates"),
        ("equation-13", "Equation (13)"),
        ("section-vi-b", "Section VI-B"),
        ("section-2-2", "Section 2.2"),
        ("section-b-1-sensitivity", "Section B.1, sensitivity"),
        ("section-4-bayes-risk", "Section 4, Bayes risk"),
        ("theorem-8-search", "Theorem 8, search"),
        ("appendix-e", "Appendix E"),
        ("dp-pca-attack", "DP PCA attack"),
        ("gain", "Gain"),
        ("inid-laplace", "I.n.i.d. Laplace"),
        ("normalised-fisher-information", "Normalised Fisher information"),
    ],
)
def test_an_item_is_named_as_papers_name_it(item, label):
    assert item_label(item) == label


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_no_two_items_of_a_paper_share_a_name(paper):
    names = [item_label(item.id) for item in paper.items]
    assert len(set(names)) == len(names)


def test_numbered_figures_and_tables_come_first():
    assert group_of("figure-3a", judged=True) == "Figures and tables"
    assert group_of("lemma-7", judged=True) == "Theory and text"
    assert group_of("table-3-sweep", judged=False) == "Beside the paper"
