"""Table III of inid-2024 by data model: draws of one data set, and the row that decides."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.claims.joint import joint_test
from dpnoise_papers.inid_2024.figures.pages import table_3_models
from dpnoise_papers.inid_2024.learning_settings import Pca, PcaModels
from dpnoise_papers.inid_2024.tables import pca_models as module
from dpnoise_papers.inid_2024.tables.pca import draw_samples, errors_of, rows, unit_noise
from dpnoise_papers.inid_2024.tables.pca_models import COLUMNS, dp_pca_models
from dpnoise_papers.seeds import generator

SETTINGS = Pca(
    seed=3, samples=60, features=6, rank=2, subspaces=1, epsilons=[4.0, 8.0], delta=1e-5, trials=2,
    variants=["stated"], others={"counts": [1], "variants": ["stated"], "trials": 2},
)  # fmt: skip
MODELS = PcaModels(subspaces=[1, 2], draws=200, trials=2)
KEYS = ["model", "subspaces", "reading", "scheme", "epsilon"]


def claims_of(values):
    """Return what the table needs of the claims: a printed number by scheme and epsilon."""
    return [
        SimpleNamespace(
            item="table-3", quantity="number", relation="", kind="printed",
            select=[SimpleNamespace(column=column, value=value) for column, value in
                    (("noise", "gaussian"), ("scheme", scheme), ("epsilon", str(epsilon)))],
            printed=SimpleNamespace(text=str(value), value=value),
        )
        for (scheme, epsilon), value in values.items()
    ]  # fmt: skip


def table_of(values, settings=SETTINGS, models=MODELS):
    return dp_pca_models(settings, models, claims=claims_of(values)).set_index(KEYS).sort_index()


@pytest.fixture(scope="module")
def plain():
    return table_of({})


def means(table, *where):
    return table.loc[where, "sre"].to_numpy()


def test_every_model_has_its_rows_the_cited_one_first(plain):
    table = dp_pca_models(SETTINGS, MODELS, claims=[])
    assert list(table.columns) == COLUMNS
    assert table.set_index(KEYS).sort_index().equals(plain)
    models = table[["model", "subspaces", "dimension"]].drop_duplicates().to_numpy().tolist()
    assert models == [
        ["union-of-subspaces", 1, 2], ["union-of-subspaces", 2, 1], ["product", 1, 2],
    ]  # fmt: skip
    assert len(table) == 3 * 3 * 2
    assert table["p_value"].isna().all()  # nothing is printed
    assert (table["draws"] == 200).all()
    assert table["sre"].between(0, 1).all()


def test_a_draw_is_one_data_set_with_all_trials_of_the_noise(plain):
    """A row of the second model, from the functions of the table itself."""
    (mechanism,) = (
        row for row in rows("unclipped", features=6, epsilon=4.0, delta=1e-5)
        if (row.noise, row.scheme) == ("gaussian", "iid")
    )  # fmt: skip
    trials = []
    for draw in range(200):
        scope = 3, "dp-pca-draw", "union-of-subspaces", 2, draw
        X = draw_samples(
            "union-of-subspaces", generator(*scope, "data"), samples=60, features=6, rank=2,
            subspaces=2,
        )  # fmt: skip
        rng = generator(*scope, "noise")
        units = [unit_noise(rng, 6) for _ in range(2)]
        trials.append(errors_of(X, 2, [mechanism], units)[:, 0, 0])
    found = np.mean(trials, axis=1)
    row = plain.loc[("union-of-subspaces", 2, "unclipped", "iid", 4.0)]
    assert row["sre"] == pytest.approx(np.mean(found), rel=1e-12)
    # two trials of one data set share what the data cause, and nothing else
    by_data = np.var(found, ddof=1) - np.mean(np.square(np.diff(trials)) / 4)
    assert by_data > 0.0
    expected = np.sqrt(by_data) / np.mean(found)
    assert row["sre_scatter"] == pytest.approx(expected, rel=1e-9)
    # the printed row at one epsilon alone has the p-value of its rank
    told = table_of({("iid", 4.0): float(np.sort(found)[60])})
    row = told.loc[("union-of-subspaces", 2, "unclipped", "iid", 4.0)]
    assert row["percentile"] == pytest.approx(61 / 200)
    expected = joint_test([(found, np.sort(found)[60])]).p_value
    assert row["p_value"] == pytest.approx(expected)


def test_the_control_decides_which_models_judge_the_other_rows(plain):
    """The printed row of i.i.d. noise is that of lines; i.n.i.d. noise is far off on all models."""
    lines = dict(zip((4.0, 8.0), means(plain, "union-of-subspaces", 2, "unclipped", "iid"),
                     strict=True))  # fmt: skip
    printed = {("iid", epsilon): value for epsilon, value in lines.items()}
    table = table_of(printed | {("inid", epsilon): 1e-3 for epsilon in lines})
    own = table.loc[("union-of-subspaces", 2)]
    assert (own["contradicted"] == 0).all()
    assert own.loc[("unclipped", "iid"), "p_value"].min() > 0.3
    far = table.xs(("add-remove", "inid"), level=("reading", "scheme"))
    assert (far["p_value"] <= 2 / 201 + 1e-12).all()
    assert (far["percentile"] == 0).all()
    nothing = table_of({(scheme, epsilon): 1e-6 for scheme in ("iid", "inid") for epsilon in lines})
    assert (nothing["contradicted"] == 1).all()
    assert nothing["p_value_least"].notna().all()  # the range is then over all models


def test_the_range_leaves_out_what_the_control_contradicts(monkeypatch):
    """Errors around 1 with one subspace, around 0.5 with two and around 0.7 for the product."""
    levels = {1: 1.0, 2: 0.5, 0: 0.7}

    def planted(_settings, models, count, mechanisms):
        rng = np.random.default_rng(count)
        draws = levels[count] + 0.1 * rng.normal(size=(models.draws, 1, len(mechanisms)))
        return np.repeat(draws, models.trials, axis=1)

    monkeypatch.setattr(module, "_errors", planted)
    table = table_of({("iid", 4.0): 0.6, ("iid", 8.0): 0.6, ("inid", 4.0): 0.95})
    by_model = table["contradicted"].groupby(["model", "subspaces"]).first()
    assert by_model.to_dict() == {
        ("product", 1): 0, ("union-of-subspaces", 1): 1, ("union-of-subspaces", 2): 0,
    }  # fmt: skip
    own = table.xs(("add-remove", "inid", 4.0), level=("reading", "scheme", "epsilon"))
    p_values = own["p_value"]
    left = p_values.drop(("union-of-subspaces", 1))
    assert p_values[("union-of-subspaces", 1)] > 0.1 > left.max()
    assert (own["p_value_greatest"] == left.max()).all()


def test_the_page_names_each_model(plain):
    text = table_3_models(pd.DataFrame(plain.reset_index()))
    for words in ("1 x dimension 2", "2 x dimension 1", "product of Gaussian matrices"):
        assert words in text
