"""Whether optimal noise has the higher accuracy: certain if decoupled, not if coupled."""

from dpnoise_papers.inid_2024.settings import Theory
from dpnoise_papers.inid_2024.theory import statements


def test_the_two_couplings_disagree_and_are_the_checks_of_the_theory(monkeypatch):
    settings = Theory(seed=3, trials=50)
    table = statements.higher_accuracy(settings).set_index("coupling")
    assert table.loc["decoupled", "violations"] == 0
    assert table.loc["weighted histograms", "violations"] > 25
    assert (table["trials"] == 50).all()
    part = [check for check in statements.CHECKS if check.id in set(table["id"])]
    monkeypatch.setattr(statements, "CHECKS", part)
    theory = statements.inid_theory(settings).set_index("id")
    for row in table.itertuples():
        assert theory.loc[row.id, "violations"] == row.violations
