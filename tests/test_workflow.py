"""The pipeline from the outside: Snakemake in a copy of the repository, at a small scale.

Six starts answer all questions; one of them makes files. The copy has no shipped data, so that all
data sets are missing but the one that is part of scikit-learn.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline_copy import ROOT, command, copy_into, environment
from prepared_snakemake import Starts

SMALL = """\
folder: runs/small
flipped_huber_2023:
  gain: {dimensions: [1, 3]}
  table_3:
    passes: [2]
    steps: {low: 0.05, high: 2.0, count: 2, spacing: log}
    clips: {low: 0.1, high: 10.0, count: 2, spacing: log}
"""
BAD = """\
typo: 1
flipped_huber_2023:
  table_3:
    epsilon: 0
    delta: 1.5
    passes: []
    curves: [cauchy]
    tasks: {mnist: {loss: squared, penalty: l1, strength: 1.0}}
"""
RESULTS = "runs/small/results/flipped-huber-2023"
TABLE, FIGURE = f"{RESULTS}/gain.csv", f"{RESULTS.replace('results', 'figures')}/gain.svg"
ONE_SET, MISSING = f"{RESULTS}/table-3/diabetes.csv", f"{RESULTS}/table-3/boston.csv"
PAGES = "runs/small/results/inid-2024/table-2.md"
SETTINGS = ("config.quick.yaml", "small.yaml")
STARTS = Starts(environment())


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = copy_into(tmp_path_factory.mktemp("repository"))
    (folder / "small.yaml").write_text(SMALL)
    yield folder
    STARTS.end()


def snakemake(folder, *arguments, files=SETTINGS, **options):
    """Exit code of a start and what it said."""
    output = folder / "said.txt"
    _, _, _, *given = command(*arguments, files=files, **options)  # python -m snakemake
    STARTS.begin(folder, given, output)
    code, _ = STARTS.wait()
    return code, output.read_text(encoding="utf-8")


def planned(said):
    """Number of jobs by rule that a start plans."""
    table = re.search(r"^job +count\n-+ +-+\n((?:\S+ +\d+\n)+)", said, re.MULTILINE)
    return {name: int(n) for name, n in (line.split() for line in table[1].splitlines())}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder):
    """Digests of all files of a copy but what Snakemake and the test say."""
    return {path: digest(path) for path in folder.rglob("*") if path.is_file()
            and path.name != "said.txt" and not path.match(".snakemake/log/*")}  # fmt: skip


@pytest.fixture(scope="module")
def runs(copy):
    """What the one run says that makes files, what a second says that starts beside it.

    The first one is halted meanwhile; last are the files that the second one has changed.
    """
    output, targets = copy / "said.txt", (FIGURE, ONE_SET, PAGES, MISSING)
    _, _, _, *given = command(*targets, cores=2, files=SETTINGS)
    first = STARTS.begin(copy, given, output)
    for _ in range(600):
        if list(copy.glob(".snakemake/locks/*output.lock")):
            break
        time.sleep(0.1)
    os.killpg(first, signal.SIGSTOP)
    try:
        before = contents(copy)
        beside = subprocess.run(
            command(FIGURE, files=SETTINGS), cwd=copy, env=environment(), check=False,
            capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        changed = before.items() ^ contents(copy).items()
    finally:
        os.killpg(first, signal.SIGCONT)
    code, _ = STARTS.wait()
    return (code, output.read_text(encoding="utf-8")), beside, changed


@pytest.fixture(scope="module")
def made(runs):
    """Exit code of the one run, some of whose data are missing, and what it said."""
    return runs[0]


def test_a_second_run_in_the_same_folder_is_refused_and_changes_nothing(runs):
    _, beside, changed = runs
    assert not changed
    assert beside.returncode == 1
    assert "Directory cannot be locked" in beside.stderr
    assert "--unlock" in beside.stderr


def test_what_is_asked_for_is_made_with_what_it_needs_and_nothing_else(copy, made):
    _, said = made
    assert planned(said) == {
        "fetch": 2, "table": 1, "show_svg": 1, "inid_2024_grids": 1, "inid_2024_figures": 1,
        "flipped_huber_2023_table_3_tasks": 2, "total": 8,
    }  # fmt: skip
    for path in (TABLE, FIGURE, ONE_SET, PAGES):
        assert (copy / path).stat().st_size > 100
    log = (copy / "runs/small/logs/flipped-huber-2023/gain-table.log").read_text()
    assert f" {TABLE}\n" in log
    assert digest(copy / TABLE) in log
    assert (copy / "runs/small/logs/benchmarks/flipped-huber-2023/gain-table.tsv").is_file()


def test_a_target_without_its_data_fails_with_the_files_and_the_place_and_the_rest_goes_on(
    copy, made
):
    code, said = made
    assert code == 1
    assert not (copy / MISSING).exists()
    log = (copy / "runs/small/logs/fetch/boston.log").read_text()
    assert "data set 'boston' is not available: cache: no file for table 'boston-housing'" in log
    assert "DatasetUnavailable" in said  # the log of a job that fails is shown
    (told,) = set(re.findall(r"no data: boston: .*", said))
    assert "no copy of 'boston-housing' in data/raw, data/shipped: put " in told
    assert told.endswith("into data/raw")


def test_a_plan_of_everything_leaves_out_what_has_no_data_and_what_is_optional(copy, made):
    """A touched source reruns nothing, an edited one what uses it, and a setting its job."""
    assert made
    told = {"flipped_huber_2023": {"gain": {"dimensions": [1, 5]}}}
    (copy / "other.yaml").write_text(json.dumps(told))
    drawing = copy / "src/dpnoise_papers/inid_2024/figures/profiles.py"  # which no script imports
    before = drawing.read_text()
    drawing.write_text(before + "\nEDITED = 1\n")
    for path in (*(copy / "workflow").rglob("*.*"), *(copy / "src").rglob("*.py")):
        path.touch()
    targets = ["all", "inid-2024", "inid_2024"]
    code, said = snakemake(copy, *targets, "--dry-run", files=(*SETTINGS, "other.yaml"))
    drawing.write_text(before)
    assert code == 0
    jobs = planned(said)
    assert jobs["fetch"] == 9  # learning tasks and the city: to be tried
    assert "inid_2024_figures" in jobs  # made, but drawn otherwise
    assert re.search(r"rule inid_2024_figures:\n(?: .*\n)*? +reason: Params have changed", said)
    assert not {"flipped_huber_2023_table_3_tasks", "inid_2024_grids"} & jobs.keys()  # made
    assert {
        "table",
        "show_svg",
        "verdicts",
        "provenance",
        "flipped_huber_2023_grids",
    } <= jobs.keys()
    assert not {"inid_2024_table_4_digits_cells", "balle_wang_2018_figure_6_hours"} & jobs.keys()
    assert {"inid-2024", "inid_2024"} <= jobs.keys()
    changed = re.findall(r"output: (\S+)\n(?: .*\n)*? +reason: Params have changed", said)
    assert set(changed) - {FIGURE} == {TABLE}
    assert "Traceback" not in said


FULL = """\
import errno, io, pathlib
plain = pathlib.Path.open
class Full(io.FileIO):
    def write(self, content):
        super().write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")
def opened(path, mode="r", *more, **settings):
    full = mode == "xb" and path.name.startswith(".gain.csv.")
    return Full(path, "xb") if full else plain(path, mode, *more, **settings)
pathlib.Path.open = opened
"""


def test_a_full_disk_fails_the_job_and_leaves_nothing_half_written(copy, made):
    """Afterwards what is gone is made again, and no job whose own settings are as they were."""
    assert made
    before = [digest(copy / path) for path in (TABLE, FIGURE)]
    for path in (TABLE, FIGURE):
        (copy / path).unlink()
    (copy / "full").mkdir()
    (copy / "full/sitecustomize.py").write_text(FULL)
    output = copy / "said.txt"
    _, _, _, *given = command(TABLE, files=SETTINGS)
    STARTS.begin(copy, given, output, PYTHONPATH=str(copy / "full"))
    code, _ = STARTS.wait()
    assert code == 1
    assert f"No space left on device: '{TABLE}'" in output.read_text(encoding="utf-8")
    assert not list((copy / RESULTS).glob("*gain.csv*"))
    assert not list((copy / RESULTS).glob(".*"))
    changed = ["--config", "balle_wang_2018={theory: {trials: 77}}", "strict=true"]
    code, said = snakemake(copy, FIGURE, ONE_SET, PAGES, *changed)
    assert code == 0
    assert planned(said) == {"table": 1, "show_svg": 1, "total": 2}
    assert [digest(copy / path) for path in (TABLE, FIGURE)] == before


def test_one_message_names_every_mistake_with_its_line_and_nothing_runs(copy):
    (copy / "bad.yaml").write_text(BAD)
    code, said = snakemake(copy, files=["bad.yaml"])
    assert code == 1
    assert "6 mistake(s)" in said
    for words in ("epsilon: expected a number above 0, got 0 (bad.yaml, line 4)",
                  "typo: unknown setting (bad.yaml, line 1)", "'mnist' (bad.yaml, line 8)",
                  "line 5)", "line 6)", "line 7)"):  # fmt: skip
        assert words in said
    assert not (copy / "results").exists()


@pytest.mark.parametrize(
    ("config", "said"),
    [("typo.yaml", "typo.yaml: No such file"), ("src", "src: expected a file, got a folder")],
)
def test_make_asks_about_a_config_file_before_snakemake_reads_it(copy, config, said):
    shutil.copy(ROOT / "Makefile", copy)
    here = ["-o", ".venv/runs", f"BIN={Path(sys.executable).parent}"]
    done = subprocess.run(
        ["make", *here, "reproduce", f"CONFIG={config}"], cwd=copy, capture_output=True, text=True,
        env=environment() | {"PYTHONPATH": str(copy / "src")}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_snakemake_is_used_as_it_is():
    """Nothing of it is changed or imported beside its errors and its logger; little is read."""
    text = (ROOT / "Snakefile").read_text(encoding="utf-8")
    code = re.sub(r'"[^"\n]*"|#.*', "", text)
    assert set(re.findall(r"\bworkflow\.(\w+)", code)) <= {
        "basedir", "config_settings", "resource_settings",
    }  # fmt: skip
    assert not re.search(r"\b(setattr|sys\.argv|getattr)\b", code)
    sources = [text, *(p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.py"))]
    for one in sources:
        imported = set(re.findall(r"^ *(?:from|import) (snakemake[\w.]*)", one, re.MULTILINE))
        assert imported <= {"snakemake.exceptions", "snakemake.logging"}


def test_the_workflow_stays_small():
    parts = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"),
             *(ROOT / "workflow/scripts").glob("*.py")]  # fmt: skip
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in parts}
    assert lines["Snakefile"] <= 200
    assert sum(lines.values()) <= 450
    assert all(count < 40 for name, count in lines.items() if name.endswith(".py"))
