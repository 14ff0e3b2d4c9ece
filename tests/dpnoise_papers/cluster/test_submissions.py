from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from dpnoise_papers import steps as steps_module
from dpnoise_papers.cluster.costs import measured
from dpnoise_papers.cluster.submissions import (
    COLLECTED,
    MOST_SUBMISSIONS,
    START,
    WIDTH,
    Submission,
    duration,
    group_names,
    jobs,
    submissions,
    wall_time,
)
from dpnoise_papers.config import load
from dpnoise_papers.item import Figure, Item, Paper, Table, papers

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = {"paper": [], "quick": ["config.quick.yaml"]}


@cache
def planned(scale="paper", known=True):
    return submissions(load("config.yaml", *CONFIGS[scale]), papers(), measured() if known else {})


@pytest.mark.parametrize("scale", CONFIGS)
def test_every_job_is_in_one_submission(scale):
    counts = Counter(job.name for one in planned(scale) for job in one.jobs)
    everything = jobs(load("config.yaml", *CONFIGS[scale]), papers(), {})
    assert counts == Counter(job.name for job in everything)
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("scale", CONFIGS)
@pytest.mark.parametrize("known", [True, False])
def test_a_full_run_needs_at_most_25_submissions(scale, known):
    assert len(planned(scale, known)) + 1 <= 25  # one collects the results


@pytest.mark.parametrize("scale", CONFIGS)
def test_no_submission_waits_for_itself(scale):
    made = {path: one for one in planned(scale) for job in one.jobs for path in job.makes}
    for one in planned(scale):
        before = {made[path].name for job in one.jobs for path in job.reads if path in made}
        waves = {made[path].wave for job in one.jobs for path in job.reads if path in made}
        assert max(waves - {one.wave}, default=-1) < one.wave
        assert not {n.name for n in planned(scale) if n.wave == one.wave} & (before - {one.name})


def test_the_profile_lets_the_jobs_of_each_submission_share_it():
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())
    listed = dict(pair.split("=") for pair in profile["group-components"])
    names = {f"batch-{number:02d}" for number in range(1, MOST_SUBMISSIONS + 1)} | {COLLECTED}
    assert listed.keys() == names
    assert min(map(int, listed.values())) > len(jobs(load("config.yaml"), papers(), {}))


def test_work_is_spread_evenly():
    first = [one for one in planned() if one.wave == 0]
    largest = max(job.core_seconds for one in first for job in one.jobs)
    work = [one.core_seconds for one in first]
    assert max(work) - min(work) <= largest + max(work) / 2  # longest first: Graham's bound


def test_folders_of_logs_can_be_called_by_any_five_rules_of_a_submission():
    for one in planned():
        rules = sorted({job.step.rule for job in one.jobs}, key=len)[-5:]
        assert len(f"group_{one.name}_{'_'.join(rules)}_...") <= 255
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())
    assert profile["jobname"] == "{jobid}.sh"  # the default has their names and more


def test_parts_of_a_sweep_have_their_own_submissions():
    parts = group_names(planned())["flipped_huber_2023_table_3_sweep_table"]
    assert parts.keys() == load("config.yaml").flipped_huber_2023.table_3.tasks.keys()
    assert len(set(parts.values())) > 1


def test_a_job_that_asks_for_a_gpu_shares_with_none(monkeypatch):
    table = "dpnoise_papers.flipped_huber_2023.tables.privacy.densities"
    settings = ("figure_1",)
    drawn = Figure(function="dpnoise_papers.flipped_huber_2023.figures.privacy.densities")
    on_gpu = Table(function=table, settings=settings, device="figure_1.device")
    monkeypatch.setattr(
        steps_module, "_resources", lambda _config, _paper, one: {"gpu": 1} if one is on_gpu else {}
    )
    items = (
        Item(id="a", caption="of its own", table=on_gpu, figure=drawn),
        Item(id="b", table=Table(function=table, settings=settings)),
        Item(id="c", table=Table(function=table, settings=settings)),
        Item(id="d", table=Table(function=table, settings=settings), extra="deep"),
    )
    found = submissions(load("config.yaml"), (Paper(id="flipped-huber-2023", items=items),), {})
    assert [[job.name.split("/")[1] for job in one.jobs] for one in found] == [
        ["a-table"],
        ["b-table", "c-table"],
        ["a-figure"],
    ]


def test_items_that_read_each_other_are_refused():
    table = "dpnoise_papers.pages.together"
    items = (
        Item(id="a", table=Table(function=table, settings=(), reads=("b",))),
        Item(id="b", table=Table(function=table, settings=(), reads=("a",))),
    )
    with pytest.raises(ValueError, match="read each other"):
        submissions(load("config.yaml"), (Paper(id="flipped-huber-2023", items=items),), {})


def test_more_points_make_more_work():
    name = "flipped-huber-2023/figure-3b-table"
    grids = {"epsilons": {"count": 317}, "deltas": {"count": 317}}
    large = load("config.yaml", overrides={"flipped_huber_2023": {"figure_3b": grids}})
    known = {name: (20.0, 1681.0)}
    small, big = (
        next(job for job in jobs(config, papers(), known) if job.name == name)
        for config in (load("config.yaml"), large)
    )
    assert (small.points, big.points) == (41**2, 317**2)
    assert big.core_seconds > 50 * small.core_seconds


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
