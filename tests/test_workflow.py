"""The pipeline from the outside: Snakemake in a copy of the repository, at a small scale."""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from pipeline_copy import command, copy_into, environment

FIGURE = "figures/flipped-huber-2023/figure-1.svg"
SWEEP = "quick/results/flipped-huber-2023/table-3/diabetes-chosen.csv"
MAKES, DRAWS = "flipped_huber_2023_figure_1_table", "flipped_huber_2023_figure_1_figure"
SWEEPS = "flipped_huber_2023_table_3_sweep_table"
QUICK = {"files": ("config.quick.yaml",)}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copy_into(tmp_path_factory.mktemp("repository"))


def snakemake(folder, *arguments, variables=None, **options):
    return subprocess.run(
        command(*arguments, **options),
        cwd=folder,
        env=environment(folder) | (variables or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def succeed(folder, *arguments, **options):
    done = snakemake(folder, *arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def planned(folder, *arguments):
    """Rules that a dry run would execute."""
    lines = succeed(folder, *arguments, "--dry-run").splitlines()
    return {
        line.split()[1].rstrip(":") for line in lines if line.startswith(("rule ", "localrule "))
    }


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_message_names_every_mistake_and_nothing_runs(copy):
    bad = copy / "bad.yaml"
    bad.write_text(
        "typo: 1\nflipped_huber_2023: {table_3: {epsilon: 0, delta: 1.5, passes: [],"
        " mechanisms: [cauchy], tasks: {mnist: {loss: squared, penalty: l1, strength: 1.0}}}}\n"
    )
    done = snakemake(copy, files=["bad.yaml"])
    said = done.stdout + done.stderr
    assert done.returncode != 0
    for word in ("typo", "epsilon", "delta", "passes", "cauchy", "mnist", "6 mistake"):
        assert word in said, said
    assert "Traceback" not in said
    assert not (copy / "results").exists()
    assert not (copy / "data" / "prepared").exists()


def test_a_deleted_figure_alone_is_rebuilt_with_the_same_bytes(copy):
    succeed(copy, FIGURE)
    first = digest(copy / FIGURE)
    assert "Nothing to be done" in succeed(copy, FIGURE)
    (copy / FIGURE).unlink()
    assert planned(copy, FIGURE) == {DRAWS}
    succeed(copy, FIGURE)
    assert digest(copy / FIGURE) == first


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("dpnoise_papers/style.py", {DRAWS}),
        ("dpnoise/noise/flipped_huber.py", {MAKES, DRAWS}),
        ("dpnoise/learn/kernel.py", set()),
        ("dpnoise_papers/data/fetch.py", set()),
    ],
)
def test_editing_a_module_reruns_what_uses_it_and_nothing_else(copy, module, expected):
    succeed(copy, FIGURE)
    path = copy / "src" / module
    before, stat = path.read_text(), path.stat()
    time.sleep(0.01)
    path.write_text(before + "\nEDITED = 1\n")
    try:
        assert planned(copy, FIGURE) == expected
        path.write_text('"""Other words."""  # and a comment\n' + before.partition('"""\n')[2])
        assert planned(copy, FIGURE) == set()
    finally:
        path.write_text(before)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_files_with_a_new_date_and_the_old_content_rerun_nothing(copy):
    succeed(copy, FIGURE)
    for path in (*(copy / "workflow").rglob("*.*"), *(copy / "src").rglob("*.py")):
        path.touch()
    assert planned(copy, FIGURE) == set()
    script = copy / "workflow" / "scripts" / "figure.py"
    before = script.read_text()
    script.write_text(before.replace("drawn from", "made of"))
    try:
        assert planned(copy, FIGURE) == {DRAWS}
    finally:
        script.write_text(before)


def test_a_nested_switch_of_the_command_line_works(copy):
    said = succeed(copy, FIGURE, "--dry-run", "--forceall")
    assert MAKES in said
    small = "flipped_huber_2023={figure_1: {points: 11}}"
    own = f"runs/small/{FIGURE}"
    succeed(copy, own, "--config", small, "folder=runs/small")
    table = "results/flipped-huber-2023/figure-1.csv"
    few = len((copy / "runs" / "small" / table).read_text().splitlines())
    succeed(copy, FIGURE)
    before = digest(copy / table)
    assert few < 100 < len((copy / table).read_text().splitlines())
    for points, message in (
        (10, "flipped_huber_2023.figure_1.points: expected an odd number"),
        (11, "1 setting(s) are not those of config.yaml"),
    ):
        wrong = f"flipped_huber_2023={{figure_1: {{points: {points}}}}}"
        refused = snakemake(copy, FIGURE, "--config", wrong)
        assert refused.returncode != 0
        assert message in refused.stdout + refused.stderr
    assert digest(copy / table) == before


def test_files_that_no_rule_makes_are_reported_at_the_end_of_every_run(copy):
    succeed(copy, FIGURE)
    strays = [copy / "results" / "by-hand.csv", copy / "figures" / "inid-2024" / "old.svg"]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    try:
        said = succeed(copy, FIGURE)
    finally:
        for path in strays:
            path.unlink()
    assert "Nothing to be done" in said
    listed = "figures/inid-2024/old.svg, results/by-hand.csv"
    assert f"2 file(s) among the results that no rule makes: {listed}. " in said
    assert "no rule makes" not in succeed(copy, FIGURE)


@pytest.mark.parametrize("name", ["flipped-huber-2023", "flipped_huber_2023"])
def test_a_paper_is_a_target_by_both_spellings_of_its_name(copy, name):
    assert {MAKES, DRAWS, name} <= planned(copy, name, "--forceall")


def test_results_do_not_depend_on_the_number_of_cores(copy):
    digests = []
    for cores in (1, 2):
        shutil.rmtree(copy / "quick", ignore_errors=True)
        succeed(copy, SWEEP, cores=cores, **QUICK)
        digests.append(digest(copy / SWEEP))
        assert len((copy / SWEEP).read_text().splitlines()) > 1
    assert digests[0] == digests[1]


def test_an_interrupted_run_leaves_nothing_half_written_and_resumes(copy):
    shutil.rmtree(copy / "quick", ignore_errors=True)
    process = subprocess.Popen(
        command(SWEEP, **QUICK),
        cwd=copy,
        env=environment(copy),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    for line in process.stdout:
        if f"rule {SWEEPS}" in line:
            break
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.wait(timeout=60)
    assert not (copy / SWEEP).exists()
    succeed(copy, "--unlock", **QUICK)
    succeed(copy, SWEEP, **QUICK)
    assert len((copy / SWEEP).read_text().splitlines()) > 1


def test_a_missing_data_set_does_not_stop_the_rest_unless_strict(copy):
    status = "data/prepared/airfoil.json"
    succeed(copy, status)
    assert '"missing"' in (copy / status).read_text()
    (copy / status).unlink()
    done = snakemake(copy, status, "--config", "strict=true")
    assert done.returncode != 0
    assert not (copy / status).exists()


@pytest.fixture
def optional(copy):
    """Copy in which one item needs an extra."""
    items = copy / "src/dpnoise_papers/inid_2024/items.py"
    before, stat = items.read_text(), items.stat()
    item = 'id="figure-2",'
    assert before.count(item) == 1
    items.write_text(before.replace(item, f'{item} extra="toy",'))
    yield copy
    items.write_text(before)
    os.utime(items, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_an_optional_item_is_made_by_its_own_target_and_never_by_a_default_one(optional):
    makes, draws = "inid_2024_figure_2_table", "inid_2024_figure_2_figure"
    everything = planned(optional)
    assert not {makes, draws, "toy", "verdicts_toy"} & everything
    assert {"verdicts", "inid_2024_figure_1a_table"} <= everything
    assert planned(optional, "toy") == {makes, draws, "toy", "verdicts_toy"}
    assert not {makes, draws} & planned(optional, "inid_2024")
    said = succeed(optional, "toy")
    assert "4 of 4 steps" in said
    head, *rows = (optional / "results/inid-2024/figure-2.csv").read_text().splitlines()
    assert head.endswith(",settings_digest")
    assert len({row.rpartition(",")[2] for row in rows}) == 1
    verdicts = (optional / "results/verdicts-toy.csv").read_text()
    assert "not run" not in verdicts
    assert verdicts.count(",yes\n") == verdicts.count("inid-2024") > 0


def test_a_default_run_never_makes_an_optional_table_again(optional):
    succeed(optional, "toy")
    path = optional / "src/dpnoise_papers/inid_2024/tables/profiles.py"
    before = path.read_text()
    path.write_text(before + "\nEDITED = 1\n")
    try:
        assert "inid_2024_figure_2_table" not in planned(optional)
        assert "inid_2024_figure_2_table" in planned(optional, "toy")
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    ("target", "nearest"),
    [("flipped-huber-2032", "flipped-huber-2023"), ("figure-1", FIGURE)],
)
def test_a_target_with_a_typo_is_answered_with_the_nearest(copy, target, nearest):
    done = snakemake(copy, target, "--dry-run")
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"no rule makes {target!r}; the nearest: " in said
    assert nearest in said
    assert "Traceback" not in said


def test_a_mirror_that_does_not_exist_is_refused(copy):
    done = snakemake(copy, "--dry-run", variables={"DPNOISE_DATA_MIRROR": "/nowhere"})
    assert done.returncode == 1
    assert "DPNOISE_DATA_MIRROR: no folder '/nowhere'" in done.stdout + done.stderr


def test_a_run_without_slurm_on_the_path_says_so(copy, tmp_path):
    for name in ("bash", "sh", "which"):
        (tmp_path / name).symlink_to(shutil.which(name))
    table = "results/flipped-huber-2023/remark-1.csv"
    only = {"PATH": str(tmp_path)}
    done = snakemake(copy, table, "--profile", "profiles/slurm", variables=only)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "SLURM: not on the path: sbatch, squeue, scancel" in said
    assert "make reproduce" in said
    assert "Traceback" not in said
    assert not (copy / table).exists()


def test_a_submission_to_slurm_is_planned(copy):
    done = snakemake(copy, "--profile", "profiles/slurm", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    assert SWEEPS in said
    names = set(re.findall(r"Group job (\S+)", said))
    assert 1 < len(names) <= 25
    assert said.count("Group job") == len(names)


def test_a_sweep_of_100_000_points_is_planned_in_seconds(copy):
    listed = np.linspace(0.1, 1, 100_000).tolist()
    large = {
        "folder": "large",
        "flipped_huber_2023": {"figure_3b": {"epsilons": {"count": 400}, "deltas": {"count": 250}}},
        "balle_wang_2018": {"gain_crossings": {"epsilons": listed}},
    }
    (copy / "large.yaml").write_text(json.dumps(large))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = snakemake(copy, "--profile", "profiles/slurm", "--dry-run", files=["large.yaml"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert len(set(re.findall(r"Group job (\S+)", said))) <= 25
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 15
