"""What a run costs on this machine, by fixed work that is timed here and was timed elsewhere."""

import json

import pytest

from dpnoise_papers import cli
from dpnoise_papers.cluster import costs


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
