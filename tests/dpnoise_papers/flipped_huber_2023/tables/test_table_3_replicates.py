"""Replications of Table III: those of the table's own trials, thinned without loss, counted."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.descent.trials import make_split, run_trials
from dpnoise_papers.flipped_huber_2023.figures.table_3_replicates import markdown, replicates
from dpnoise_papers.flipped_huber_2023.tables.table_3 import grid
from dpnoise_papers.flipped_huber_2023.tables.table_3_replicates import COLUMNS, table_3_replicates
from dpnoise_papers.flipped_huber_2023.tables.table_3_replicates_summary import summarise_replicates
from table_3_toys import TASKS, dataset, settings

AGAIN = {
    "replications": 4, "pilot": 1, "audit": 1, "keep": 2.0,
    "readings": {
        "chosen": {}, "bound-of-mangold": {"gaussian": "gaussian-dp-cd"},
        "one-pass": {"passes": [1, 2, 5]}, "optimum-50-passes": {"optimum": 3},
    },
}  # fmt: skip


def run(loss="squared", threads=1, **changes):
    whole = dataset(loss, name="toy")
    again = AGAIN | changes
    return table_3_replicates(whole, TASKS[loss], settings(), again, seed=7, threads=threads)


@pytest.fixture(scope="module")
def table():
    return run()


def test_a_replication_is_the_printed_protocol_on_trials_that_the_table_never_saw(table):
    known, data = settings(), dataset(name="toy")
    assert list(table.columns) == COLUMNS
    first = known["trials"] + sum(known["honest"].values())
    steps, clips = grid(known["steps"]), grid(known["clips"])
    means = {}
    for passes in known["passes"]:
        runs = [
            run_trials(
                make_split(data, TASKS["squared"], known["setting"], 7, number), "toy", known,
                passes=passes, trials=[number], steps=steps, clips=clips, seed=7,
            )
            for number in range(first, first + known["trials"])
        ]  # fmt: skip
        for mechanism in ("gaussian", "flipped-huber"):
            both = np.concatenate([one[mechanism] for one in runs], axis=-1).mean(axis=-1)
            means[mechanism, passes] = both
    for mechanism in ("gaussian", "flipped-huber"):
        row = table.query(
            f"reading == 'chosen' and mechanism == '{mechanism}' and replication == 0"
        ).iloc[0]
        best = min(known["passes"], key=lambda passes: means[mechanism, passes][0].min())
        nmse, error = means[mechanism, best]
        place = np.unravel_index(np.argmin(nmse), nmse.shape)
        assert row["nmse"] == pytest.approx(nmse[place], rel=1e-12)
        assert row["test_error"] == pytest.approx(error[place], rel=1e-12)
        assert (row["passes"], row["step"], row["clip"]) == (
            best, steps[place[0]], clips[place[1]]
        )  # fmt: skip


def test_thinning_changes_no_winner_here_and_is_audited(table):
    whole = run(pilot=4, audit=0)
    columns = ["reading", "mechanism", "replication", "nmse", "test_error", "passes", "clip"]
    pd.testing.assert_frame_equal(table[columns], whole[columns])
    assert table.groupby("replication")["audited"].first().tolist() == [0, 0, 0, 1]
    assert table["missed"].sum() == 0
    # one combination is kept: the others may be missed
    thin = run(replications=12, audit=11, keep=1.0)
    assert thin["missed"].sum() > 0


def test_readings_are_the_same_trials(table):
    wide = table.pivot_table(index="replication", columns=["reading", "mechanism"], values="nmse")
    bound, chosen, one = (wide[name] for name in ("bound-of-mangold", "chosen", "one-pass"))
    assert np.array_equal(bound["flipped-huber"], chosen["flipped-huber"])
    assert np.all(one <= chosen)  # more passes to choose from
    assert not np.array_equal(bound["gaussian"], chosen["gaussian"])


def test_threads_do_not_matter(table):
    pd.testing.assert_frame_equal(table, run(threads=3), check_exact=True)


def test_logistic_regression_runs():
    assert np.isfinite(run("logistic", replications=2)["nmse"]).all()


def test_bad_settings_are_named_together():
    readings = {"chosen": {}, "wrong": {"gaussian": "laplace"}}
    with pytest.raises(ValueError, match="expected") as error:
        run(pilot=4, keep=0.5, readings=readings)
    for word in ("pilot + audit <= replications", "keep", "readings: wrong", "'laplace'"):
        assert word in str(error.value)


def synthetic(gaussian, flipped):
    rows = [
        ("toy", "chosen", mechanism, k, value, 2 * value, 2, 1.0, 1.0, shape, int(k == 3), 0)
        for mechanism, values, shape in (
            ("gaussian", gaussian, "Gaussian"),
            ("flipped-huber", flipped, "Laplace limit (all)"),
        )
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


PAPER = pd.DataFrame(
    [("toy", "gaussian", "nmse", 3.5), ("toy", "flipped-huber", "nmse", 2.0),
     ("toy", "gaussian", "test_error", 1.0), ("toy", "flipped-huber", "test_error", 1.0)],
    columns=["dataset", "mechanism", "metric", "value"],
)  # fmt: skip


def test_percentiles_and_probabilities_by_counting():
    runs = {"toy": synthetic([2.0, 3.0, 4.0, 5.0], [2.0, 1.5, 2.0, 5.0])}
    status = {"toy": {"reason": ""}}
    table = summarise_replicates(runs, status, {"chosen": {}}, PAPER).set_index("mechanism")
    one, two = table.loc["gaussian"], table.loc["flipped-huber"]
    assert (one["nmse"], one["nmse_percentile"], one["graft_share"]) == (3.5, 0.5, 0.0)
    assert two["nmse_percentile"] == (1 + 2 / 2) / 4  # two ties count half
    assert two["graft_share"] == 1.0
    # ratios with the same seeds: 1, 2, 2, 1; the printed one is 1.75
    assert two["nmse_ratio"] == 1.5
    assert (two["nmse_better"], two["nmse_same_seeds"]) == (0.5, 0.5)
    pairs = [(g, f) for i, g in enumerate([2, 3, 4, 5]) for j, f in enumerate([2, 1.5, 2, 5])
             if i != j]  # fmt: skip
    assert two["nmse_independent_seeds"] == np.mean([g / f >= 1.75 for g, f in pairs])
    assert two["nmse_apart"] == np.median([g - f for g, f in pairs])
    assert two["nmse_gain_low"] <= two["nmse_gain"] <= two["nmse_gain_high"]
    assert two["test_error_independent_seeds"] == np.mean([g / f >= 1.0 for g, f in pairs])
    assert (two["replications"], two["audited"], two["missed"]) == (4, 1, 0)


def test_the_range_over_open_readings_leaves_out_the_account_that_is_stated():
    base = synthetic([2.0, 3.0, 4.0, 5.0], [2.0, 1.5, 2.0, 5.0])
    others = {"optimum-50-passes": (0.5, {"optimum": 50}),
              "exact-account": (9.0, {"flipped_huber": "flipped-huber-exact"})}  # fmt: skip
    more = [base.assign(reading=name, nmse=factor * base["nmse"])
            for name, (factor, _) in others.items()]  # fmt: skip
    readings = {"chosen": {}} | {name: spec for name, (_, spec) in others.items()}
    runs, status = {"toy": pd.concat([base, *more])}, {"toy": {"reason": ""}}
    table = summarise_replicates(runs, status, readings, PAPER)
    for _, rows in table.groupby("mechanism"):
        by = rows.set_index("reading")
        assert set(by["nmse_least"]) == {by.loc["optimum-50-passes", "nmse_low"]}
        assert set(by["nmse_greatest"]) == {by.loc["chosen", "nmse_high"]}
    gains = table[table["mechanism"] == "flipped-huber"].set_index("reading")
    spans = gains.loc[["chosen", "optimum-50-passes"]]
    assert gains["nmse_gain_least"].iloc[0] == spans["nmse_gain_low"].min()
    assert gains["nmse_apart_greatest"].iloc[0] == spans["nmse_apart_high"].max()


def test_one_law_gains_nothing_and_a_missing_set_says_why():
    same = [1.0, 2.0, 3.0]
    runs = {"toy": synthetic(same, same), "gone": pd.DataFrame(columns=COLUMNS)}
    status = {"toy": {"reason": ""}, "gone": {"reason": "no network"}}
    table = summarise_replicates(runs, status, {"chosen": {}}, PAPER)
    two = table[(table["dataset"] == "toy") & (table["mechanism"] == "flipped-huber")].iloc[0]
    assert (two["nmse_gain_low"], two["nmse_gain"], two["nmse_gain_high"]) == (0, 0, 0)
    assert two["nmse_same_seeds"] == 0.0  # 1 is less than the printed ratio
    assert two["nmse_independent_seeds"] > 0.0
    gone = table[table["dataset"] == "gone"]
    assert set(gone["status"]) == {"missing"}
    assert set(gone["reason"]) == {"no network"}


def test_page_and_figure_show_every_reading(table):
    paper = PAPER.assign(dataset="airfoil")
    runs = {"airfoil": table.assign(dataset="airfoil")}
    summary = summarise_replicates(runs, {}, AGAIN["readings"], paper)
    page = markdown(summary, 3)
    for words in ("4 times", "Airfoil", "Gaussian by the bound of [53]", "missed the best 0 times"):
        assert words in page
    left, right = replicates(summary).axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["Airfoil"]
    dots = [line for line in right.lines if line.get_marker() == "D"]
    assert [line.get_xdata()[0] for line in dots] == [1.75]
    nothing = summarise_replicates(
        {"airfoil": pd.DataFrame(columns=COLUMNS)}, {"airfoil": {"reason": "x"}},
        AGAIN["readings"], paper,
    )  # fmt: skip
    assert "0 times" in markdown(nothing, 3)
    assert len(replicates(nothing).axes) == 2
