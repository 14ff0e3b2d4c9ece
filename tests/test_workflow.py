"""The pipeline from the outside: Snakemake in a copy of the repository, at a small scale."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = [
    "Snakefile", "config.yaml", "config.quick.yaml", "profiles", "published", "src", "workflow",
    "data/registry.yaml", "data/cities.yaml",
]  # fmt: skip
FIGURE = "figures/flipped-huber-2023/figure-1.svg"
SWEEP = "quick/results/flipped-huber-2023/table-3/diabetes-chosen.csv"
MAKES, DRAWS = "flipped_huber_2023_figure_1_table", "flipped_huber_2023_figure_1_figure"
SWEEPS = "flipped_huber_2023_table_3_sweep_table"
QUICK = {"files": ["config.quick.yaml"]}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Copy what a run needs; the copy's own package is the one that is imported."""
    folder = tmp_path_factory.mktemp("repository")
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in PARTS:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=ignore)
        else:
            shutil.copy(ROOT / part, target)
    (folder / "offline.yaml").write_text("data: {offline: true}\n")
    return folder


def environment(folder):
    return os.environ | {"PYTHONPATH": str(folder / "src"), "DPNOISE_DATA_MIRROR": ""}


def command(*arguments, cores=1, files=()):
    start = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
    return [*start, *arguments, "--configfile", "offline.yaml", *files]


def snakemake(folder, *arguments, **options):
    return subprocess.run(
        command(*arguments, **options),
        cwd=folder,
        env=environment(folder),
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
    path.write_text(before + "\n# edited\n")
    try:
        assert planned(copy, FIGURE) == expected
    finally:
        path.write_text(before)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_a_nested_switch_of_the_command_line_works(copy):
    said = succeed(copy, FIGURE, "--dry-run", "--forceall")
    assert MAKES in said
    small = "flipped_huber_2023={figure_1: {points: 11}}"
    succeed(copy, FIGURE, "--config", small)
    table = copy / "results/flipped-huber-2023/figure-1.csv"
    few = len(table.read_text().splitlines())
    succeed(copy, FIGURE)
    assert few < 100 < len(table.read_text().splitlines())
    refused = snakemake(copy, FIGURE, "--config", "flipped_huber_2023={figure_1: {points: 10}}")
    assert refused.returncode != 0
    assert "flipped_huber_2023.figure_1.points: expected an odd number" in (
        refused.stdout + refused.stderr
    )


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


def test_a_submission_to_slurm_is_planned(copy):
    done = snakemake(copy, "--profile", "profiles/slurm", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert SWEEPS in done.stdout + done.stderr
