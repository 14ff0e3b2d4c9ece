from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from dpnoise_papers.cluster.submissions import Submission
from dpnoise_papers.cluster.wall_time import START, WIDTH, duration, wall_time


def job(seconds, *, makes="", reads="", threads=1, kind="table"):
    return SimpleNamespace(
        step=SimpleNamespace(kind=kind),
        threads=threads,
        core_seconds=float(seconds),
        makes=frozenset(makes),
        reads=frozenset(reads),
    )


def submission(name, wave, *jobs):
    return Submission(name=name, wave=wave, jobs=jobs)


def test_one_core_takes_the_sum_and_many_take_the_longest():
    jobs = [job(seconds) for seconds in (1, 2, 3, 10)]
    assert duration(jobs, 1) == 16
    assert duration(jobs, 4) == 10


def test_threads_divide_the_work():
    assert [duration([job(24, threads=8)], cores) for cores in (1, 2, 8, 16)] == [24, 12, 3, 3]


def test_a_figure_waits_for_its_table():
    chain = [job(5, makes="a"), job(3, reads="a", kind="figure")]
    assert duration(chain, 2) == 8


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_equal_submissions_fall_with_the_nodes(nodes):
    planned = [submission(str(number), 0, job(100)) for number in range(4)]
    waves = 4 // nodes
    assert wall_time(planned, nodes, 1) == pytest.approx(
        waves * (100 + START) + wall_time([submission("0", 0, job(0))], 1, 1) - START
    )


def test_nodes_do_not_help_beyond_the_longest_chain():
    planned = [
        submission("long", 0, job(100, makes="a")),
        *(submission(str(number), 0, job(10)) for number in range(5)),
        submission("last", 1, job(20, reads="a")),
    ]
    times = [wall_time(planned, nodes, 1) for nodes in (1, 2, 4, 8, 64)]
    assert times == sorted(times, reverse=True)
    assert times[-1] == times[-2]
    assert times[-1] >= 120 + 2 * START


def test_submissions_are_as_wide_as_in_the_profile():
    profile = Path(__file__).resolve().parents[3] / "profiles/slurm/profile.yaml"
    assert yaml.safe_load(profile.read_text())["cores"] == WIDTH
