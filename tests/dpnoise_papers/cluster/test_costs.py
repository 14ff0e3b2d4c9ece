"""What a run costs on this machine, by fixed work that is timed here and was timed elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpnoise_papers import cli
from dpnoise_papers.cluster import costs
from dpnoise_papers.cluster.costs import (
    core_seconds,
    measured,
    points,
    priority,
    write_measured,
)
from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.making import PROCESSOR_TIME
from dpnoise_papers.steps import steps

ROOT = Path(__file__).parents[3]


def test_points_multiply_over_grids_lists_and_repetitions():
    grid = {"low": 0.1, "high": 1.0, "count": 7, "spacing": "log"}
    settings = {"a": {"epsilons": grid, "deltas": [1e-6, 1e-8], "trials": 5}, "b": {"seed": 2023}}
    assert points(settings) == 7 * 2 * 5


def test_settings_without_points_count_once():
    assert points({}) == points({"draws": 0, "also": [], "delta": 1e-6}) == 1


def test_seconds_grow_with_the_points_but_for_the_start():
    known = {"p/a-table": (11.5, 100.0)}
    took = [
        core_seconds("p/a-table", many, known, guessed=1.0) for many in (0.0, 100.0, 200.0, 1e5)
    ]
    start = took[0]
    assert took[1] == 11.5
    assert took[2] - start == pytest.approx(2 * (took[1] - start))
    assert took[3] - start == pytest.approx(1000 * (took[1] - start))


def test_measured_seconds_are_read_as_written(tmp_path):
    (tmp_path / "p").mkdir()
    for job, seconds in (("p/a-table", 12.34), ("p/b-part-table", 0.2)):
        (tmp_path / f"{job}.tsv").write_text(f"s\tmax_rss\tcpu_time\n99\t1\t{seconds}\n")
    known = {"p/a-table": 100.0, "p/b-part-table": 1.0, "p/never-table": 3.0}
    assert write_measured(tmp_path, known, tmp_path / "out.csv") == 2
    assert measured(tmp_path / "out.csv") == {
        "p/a-table": (12.3, 100.0),
        "p/b-part-table": (1.5, 1.0),  # no job takes less than its start
    }


def test_the_time_in_the_log_counts_and_other_jobs_keep_theirs(tmp_path):
    folder = tmp_path / "benchmarks" / "p"
    folder.mkdir(parents=True)
    (folder / "a-table.tsv").write_text("s\tcpu_time\n99\t14.0\n")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a-table.log").write_text(f"3 rows\n36.5{PROCESSOR_TIME}\n")
    out = tmp_path / "out.csv"
    out.write_text("job,core_seconds,points\np/b-table,7.0,2\np/gone-table,9.0,2\n")
    known = {"p/a-table": 100.0, "p/b-table": 2.0}
    assert write_measured(tmp_path / "benchmarks", known, out) == 1
    assert measured(out) == {"p/a-table": (36.5, 100.0), "p/b-table": (7.0, 2.0)}


def test_the_priority_is_the_time_of_the_longest_part():
    step = next(
        step
        for step in steps(load(ROOT / "config.yaml"), papers(), "table")
        if step.rule == "balle_wang_2018_figure_6_hours_table"
    )
    known = {f"balle-wang-2018/figure-6-hours-{hour}-table": (hour, 1.0) for hour in (8, 12, 20)}
    assert priority(step, known) == 40  # of the fourth hour, which is guessed
    known["balle-wang-2018/figure-6-hours-16-table"] = 3.0, 1.0
    assert priority(step, known) == 20


def test_a_folder_without_benchmarks_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no benchmark files of a run in"):
        write_measured(tmp_path, {"p/a-table": 1.0}, tmp_path / "out.csv")


def test_nothing_is_known_without_a_file(tmp_path):
    assert measured(tmp_path / "none.csv") == {}


def test_what_was_never_measured_is_guessed():
    assert core_seconds("p/b-table", 1e6, {}, guessed=7.0) == 7.0


@pytest.mark.parametrize(("here", "factor"), [(3.0, 1.0), (6.0, 2.0), (1.5, 0.5)])
@pytest.mark.parametrize("cores", [1, 2, 16])
def test_costs_are_in_proportion_to_the_fixed_work(here, factor, cores):
    found = costs.expected(here, 3.0, 1200.0, cores)
    assert found.core_seconds == pytest.approx(1200.0 * factor)
    assert found.shortest == pytest.approx(found.core_seconds / cores)
    assert found.shortest < found.longest


def test_the_command_tells_a_range(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(costs, "seconds", lambda: 4.0)
    assert cli.main(["costs", "--calibrate"]) == 2
    assert "costs --record` writes it" in capsys.readouterr().err
    assert cli.main(["costs", "--record"]) == 0
    known = json.loads((tmp_path / costs.PLACE).read_text())
    assert known["seconds"] == 4.0
    assert known["cores"] >= 1
    (tmp_path / "benchmarks" / "seconds.csv").write_text("job,core_seconds,points\na,1200,1\n")
    monkeypatch.setattr(costs.os, "cpu_count", lambda: 2)
    capsys.readouterr()
    assert cli.main(["costs", "--calibrate"]) == 0
    assert "expect 10 to 15 minutes and 20 core-minutes" in capsys.readouterr().out


def test_the_work_takes_time_and_leaves_no_process(monkeypatch):
    monkeypatch.setattr(costs, "_EPSILONS", (1.0,))  # an eighth of it
    assert 0.0 < costs.seconds(1) < 120.0


def test_the_recorded_machine_is_there():
    known = json.loads((costs.Path(__file__).parents[3] / costs.PLACE).read_text())
    assert known["seconds"] > 0
    assert known["cpu"]
