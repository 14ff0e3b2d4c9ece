"""The pipeline from the outside: Snakemake in a copy of the repository, at a small scale.

A start of Snakemake takes 2 seconds and each job as many, so that one start answers many questions;
most starts are forks of a process that has imported it.
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

import numpy as np
import pytest

from pipeline_copy import ROOT, command, copy_into, environment
from prepared_snakemake import SECONDS, Starts

FIGURE = "figures/flipped-huber-2023/figure-1.svg"
TABLE = "results/flipped-huber-2023/figure-1.csv"
SWEEP = "quick/results/flipped-huber-2023/table-3/diabetes-chosen.csv"
MAKES, DRAWS = "flipped_huber_2023_figure_1_table", "flipped_huber_2023_figure_1_figure"
SWEEPS = "flipped_huber_2023_table_3_sweep_table"
QUICK = {"files": ("config.quick.yaml", "small.yaml")}
SMALL = """\
flipped_huber_2023:
  table_3:
    passes: [2]
    steps: {low: 0.05, high: 2.0, count: 2, spacing: log}
    clips: {low: 0.1, high: 10.0, count: 2, spacing: log}
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = copy_into(tmp_path_factory.mktemp("repository"))
    (folder / "small.yaml").write_text(SMALL)
    return folder


STARTS = Starts(environment())


@pytest.fixture(autouse=True, scope="module")
def _an_end_of_starts():
    yield
    STARTS.end()


def begin(folder, *arguments, variables=None, **options):
    """Process of a start, and the file of what it says."""
    output = folder / "said.txt"
    output.unlink(missing_ok=True)
    _, _, _, *given = command(*arguments, **options)  # python -m snakemake
    return STARTS.begin(folder, given, output, **(variables or {})), output


def told(output, words):
    """Wait until a start has said some words."""
    until = time.monotonic() + SECONDS
    while not (output.exists() and words in output.read_text(encoding="utf-8")):
        assert time.monotonic() < until, f"not said: {words}"
        time.sleep(0.02)


def snakemake(folder, *arguments, **options):
    """Exit code of a start and what it said."""
    _, output = begin(folder, *arguments, **options)
    code, _ = STARTS.wait()
    return code, output.read_text(encoding="utf-8")


def succeed(folder, *arguments, **options):
    code, said = snakemake(folder, *arguments, **options)
    assert code == 0, said
    return said


def rules(said):
    """Rules that a run executed or a dry run would execute, with the inputs of each."""
    found = re.findall(r"^(?:local)?rule (\S+):\n(?: +input: (.*)\n)?", said, re.MULTILINE)
    return {name: inputs.split(", ") for name, inputs in found}


def planned(folder, *arguments):
    """Rules that a dry run would execute, with the inputs of each."""
    return rules(succeed(folder, *arguments, "--dry-run"))


RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]
READ = {  # of Snakemake's object, in which file
    "environment.smk": {"basedir", "is_main_process", "config_settings", "resource_settings"},
    "cluster.smk": {"executor_settings", "dag"},
}
OFFERED = {"snakemake.exceptions", "snakemake.logging"}


def test_snakemake_is_used_as_it_is():
    """Nothing of it is changed or imported beside its errors and its logger; little is read."""
    for path in [*RULES, *sorted((ROOT / "src/dpnoise_papers").rglob("*.py"))]:
        text = re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text(encoding="utf-8"))
        imported = set(re.findall(r"^ *(?:from|import) (snakemake[\w.]*)", text, re.MULTILINE))
        assert imported <= OFFERED, path
        if path.suffix != ".py":
            read = set(re.findall(r"\bworkflow\.(\w+)", re.sub(r'"[^"\n]*"', "", text)))
            assert read <= READ.get(path.name, set()), path
            assert not re.search(r"\b(setattr|sys\.argv|getattr\(workflow)", text), path
            assert not re.search(r"\b(workflow|settings)(\.\w+)+ *[-+|]?=[^=]", text), path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_message_names_every_mistake_and_nothing_runs(copy):
    bad = copy / "bad.yaml"
    bad.write_text(
        "typo: 1\nflipped_huber_2023: {table_3: {epsilon: 0, delta: 1.5, passes: [],"
        " mechanisms: [cauchy], tasks: {mnist: {loss: squared, penalty: l1, strength: 1.0}}}}\n"
    )
    code, said = snakemake(copy, files=["bad.yaml"])
    assert code != 0
    for word in ("typo", "epsilon", "delta", "passes", "cauchy", "mnist", "6 mistake"):
        assert word in said, said
    assert "Traceback" not in said
    assert not (copy / "results").exists()
    assert not (copy / "data" / "prepared").exists()


@pytest.fixture(scope="module")
def made(copy):
    """Copy in which a figure is made."""
    said = succeed(copy, FIGURE)
    assert set(rules(said)) == {MAKES, DRAWS}
    assert "no rule makes" not in said
    return copy


def test_a_deleted_figure_alone_is_rebuilt_with_the_same_bytes(made):
    first = digest(made / FIGURE)
    (made / FIGURE).unlink()
    assert set(rules(succeed(made, FIGURE))) == {DRAWS}
    assert digest(made / FIGURE) == first


@pytest.fixture
def edited(made):
    """Append to files of the copy, or replace their text; all of it is undone."""
    before = {}

    def edit(*names, change=lambda text: text + "\nEDITED = 1\n"):
        time.sleep(0.01)
        for path in (made / name for name in names):
            before.setdefault(path, (path.read_text(), path.stat()))
            path.write_text(change(before[path][0]))

    yield edit
    for path, (text, stat) in before.items():
        path.write_text(text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_editing_a_module_reruns_what_uses_it_and_nothing_else(made, edited):
    edited("src/dpnoise_papers/style.py")
    assert set(planned(made, FIGURE)) == {DRAWS}
    edited("src/dpnoise_papers/style.py", change=lambda text: text)
    edited("src/dpnoise/noise/grafted.py")
    assert set(planned(made, FIGURE)) == {MAKES, DRAWS}


def test_new_dates_other_words_and_modules_that_nothing_uses_rerun_nothing(made, edited):
    edited("src/dpnoise/learn/kernel.py", "src/dpnoise_papers/data/fetch.py")
    for path in (*(made / "workflow").rglob("*.*"), *(made / "src").rglob("*.py")):
        path.touch()
    edited(
        "src/dpnoise_papers/style.py",
        "src/dpnoise/noise/grafted.py",
        change=lambda text: '"""Other words."""  # and a comment\n' + text.partition('"""\n')[2],
    )
    assert not planned(made, FIGURE)
    edited("workflow/scripts/figure.py", change=lambda text: text.replace("drawn from", "made of"))
    assert set(planned(made, FIGURE)) == {DRAWS}


def points(count):
    """Arguments for a run with a table of some points."""
    some = f"flipped_huber_2023={{figure_1: {{points: {count}}}}}"
    return [f"runs/small/{TABLE}", "--config", some, "folder=runs/small"]


def rows(folder):
    return len((folder / TABLE).read_text().splitlines())


@pytest.fixture(scope="module")
def small(made):
    """Folder of a run with few points."""
    before = digest(made / TABLE)
    succeed(made, *points(11))
    assert digest(made / TABLE) == before
    return made / "runs/small"


def test_a_nested_switch_of_the_command_line_works(made, small):
    assert rows(small) < 100 < rows(made)
    code, said = snakemake(made, FIGURE, *points(11)[1:3])
    assert code != 0
    assert "1 setting(s) are not those of config.yaml" in said


def test_edited_results_are_named_and_made_again_and_a_strict_run_refuses_them(made):
    """What no rule makes is named as well, at the end of every run."""
    strays = [made / "results" / "by-hand.csv", made / "figures" / "inid-2024" / "old.svg"]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    first = digest(made / TABLE), digest(made / FIGURE)
    text = (made / TABLE).read_text()
    stat = (made / TABLE).stat()
    (made / TABLE).write_text(text.replace("1", "7", 1))
    os.utime(made / TABLE, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (made / TABLE).stat().st_size == stat.st_size
    code, refusal = snakemake(made, FIGURE, "--dry-run", "--config", "strict=true")
    assert code == 1
    assert f"strict: 1 result(s) are not what a job made: {TABLE}. Delete" in refusal
    (made / FIGURE).write_bytes((made / FIGURE).read_bytes()[:1000])
    said = succeed(made, FIGURE)
    listed = f"{FIGURE}, {TABLE}" if f"{FIGURE}, {TABLE}" in said else f"{TABLE}, {FIGURE}"
    assert f"2 result(s) are not what was made (other bytes than were made): {listed}" in said
    assert set(rules(said)) == {MAKES, DRAWS}
    assert (digest(made / TABLE), digest(made / FIGURE)) == first
    again = succeed(made, FIGURE)
    assert "Nothing to be done" in again
    listed = "figures/inid-2024/old.svg, results/by-hand.csv"
    for text in (said, again):
        assert f"2 file(s) among the results that no rule makes: {listed}. " in text
    for path in strays:
        path.unlink()


def test_a_run_with_settings_of_its_own_takes_over_what_they_do_not_concern(made):
    """The same folder without other settings is a repetition, and makes everything."""
    own = "runs/own"
    alone = rules(succeed(made, f"{own}/{FIGURE}", "--dry-run", "--config", f"folder={own}"))
    assert {MAKES, DRAWS} <= set(alone)
    other = ["--config", "flipped_huber_2023={figure_6: {variance: 15.0}}", f"folder={own}"]
    said = succeed(made, f"{own}/{FIGURE}", *other)
    assert "job(s) were taken over from results/ and figures/" in said
    assert "Nothing to be done" in said
    assert digest(made / own / FIGURE) == digest(made / FIGURE)
    own = "runs/own-table"
    other = ["--config", "flipped_huber_2023={figure_1: {points: 13}}", f"folder={own}"]
    assert set(planned(made, f"{own}/{TABLE}", *other)) == {MAKES}


def test_without_the_memory_of_snakemake_a_changed_setting_is_noticed(made, small):
    few = rows(small)
    shutil.rmtree(made / ".snakemake")
    assert "Nothing to be done" in succeed(made, *points(11))
    shutil.rmtree(made / ".snakemake")
    kept = succeed(made, *points(21), "keep_outdated=true", "--rerun-triggers", "mtime")
    assert "Nothing to be done" in kept
    said = succeed(made, *points(21))
    assert "1 result(s) would be made otherwise now (settings): runs/small/" in said
    assert rows(small) > few


def test_a_module_that_is_edited_while_a_run_goes_on_fails_its_jobs(copy):
    module = copy / "src/dpnoise_papers/flipped_huber_2023/table_3/protocols.py"
    before = module.read_text()
    (copy / SWEEP).unlink(missing_ok=True)
    _, output = begin(copy, SWEEP, **QUICK)
    try:
        told(output, " jobs, about ")  # planned
        module.write_text(before + "\nEDITED = 1\n")
        code, _ = STARTS.wait()
    finally:
        module.write_text(before)
    assert code == 1
    assert "code of this job changed while the run went on: src/dpnoise_papers/" in (
        output.read_text()
    )
    assert not (copy / SWEEP).exists()


def test_a_claim_about_a_table_that_no_item_makes_is_named_with_its_row(copy):
    path = copy / "published/inid-2024.csv"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("inid-2024/table-3.csv", "inid-2024/tabel-3.csv", 1))
    code, said = snakemake(copy, "--dry-run")
    path.write_text(before, encoding="utf-8")
    assert code == 1
    assert re.search(r"no item makes inid-2024\.csv, row \d+ \(inid-.*tabel-3\.csv", said)
    assert "nearest: inid-2024/table-3.csv" in said
    assert "Traceback" not in said


def test_a_paper_is_a_target_by_both_spellings_of_its_name(copy):
    names = "flipped-huber-2023", "flipped_huber_2023"
    found = planned(copy, *names, "--forceall")
    assert {MAKES, DRAWS, *names} <= found.keys()
    first, second = (found[name] for name in names)
    assert FIGURE in first
    assert first == second


def test_results_depend_neither_on_the_number_of_cores_nor_on_an_interruption(copy):
    """A run that is killed leaves nothing half-written; it resumes, on two cores, to the same."""
    succeed(copy, SWEEP, **QUICK)
    assert len((copy / SWEEP).read_text().splitlines()) > 1
    first = digest(copy / SWEEP)
    shutil.rmtree(copy / "quick")
    process, output = begin(copy, SWEEP, cores=2, **QUICK)
    told(output, f"rule {SWEEPS}")
    time.sleep(1.0)
    os.killpg(process, signal.SIGKILL)
    assert STARTS.wait()[0] == -signal.SIGKILL
    assert not (copy / SWEEP).exists()
    succeed(copy, "--unlock", **QUICK)
    succeed(copy, SWEEP, cores=2, **QUICK)
    assert digest(copy / SWEEP) == first


def test_a_missing_data_set_does_not_stop_the_rest_unless_strict(copy):
    status = "data/prepared/airfoil.json"
    succeed(copy, status)
    assert '"missing"' in (copy / status).read_text()
    (copy / status).unlink()
    code, _ = snakemake(copy, status, "--config", "strict=true")
    assert code != 0
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
    said = succeed(optional, "toy")
    assert set(rules(said)) == {makes, draws, "toy", "verdicts_toy"}
    assert "4 of 4 steps" in said
    head, *rows = (optional / "results/inid-2024/figure-2.csv").read_text().splitlines()
    assert head.endswith(",settings_digest")
    assert len({row.rpartition(",")[2] for row in rows}) == 1
    verdicts = (optional / "results/verdicts-toy.csv").read_text()
    assert "not run" not in verdicts
    assert verdicts.count(",yes\n") == verdicts.count("inid-2024") > 0
    path = optional / "src/dpnoise_papers/inid_2024/tables/profiles.py"
    before = path.read_text()
    path.write_text(before + "\nEDITED = 1\n")
    try:
        assert makes in planned(optional, "toy")
        everything = planned(optional, "all", "inid_2024")
        assert not {makes, draws, "toy", "verdicts_toy"} & everything.keys()
        assert {"verdicts", "inid_2024_figure_1a_table", "inid_2024"} <= everything.keys()
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    ("config", "said"),
    [("typo.yaml", "typo.yaml: No such file"), ("src", "src: expected a file, got a folder")],
)
def test_make_asks_about_a_config_file_before_snakemake_reads_it(copy, config, said):
    shutil.copy(ROOT / "Makefile", copy)
    here = ["-o", ".venv/ready", f"BIN={Path(sys.executable).parent}"]
    done = subprocess.run(
        ["make", *here, "reproduce", f"CONFIG={config}"], cwd=copy, capture_output=True, text=True,
        env=environment() | {"PYTHONPATH": str(copy / "src")}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_target_with_a_typo_is_answered_with_the_nearest(copy):
    code, said = snakemake(copy, "flipped-huber-2032", "--dry-run")
    assert code == 1
    (told,) = re.findall("no rule makes 'flipped-huber-2032'; the nearest: (.*)", said)
    assert "flipped-huber-2023" in told
    assert "Traceback" not in said


def test_a_package_that_the_environment_lacks_is_named_with_the_command(copy):
    """Other tests show that the code of a checkout runs without an install step."""
    path = copy / "pyproject.toml"
    project = path.read_text(encoding="utf-8")
    path.write_text(project.replace('"numpy>=2.0"', '"numpy>=2.0", "no-such-package>=7"', 1))
    code, said = snakemake(copy, FIGURE, "--dry-run")
    path.write_text(project)
    assert code == 1
    assert "this environment lacks no-such-package>=7: `python -m pip install" in said
    assert "Traceback" not in said


def test_a_mirror_that_does_not_exist_is_refused(copy):
    code, said = snakemake(copy, "--dry-run", variables={"DPNOISE_DATA_MIRROR": "/nowhere"})
    assert code == 1
    assert "DPNOISE_DATA_MIRROR: no folder '/nowhere'" in said


def test_a_run_without_slurm_on_the_path_says_so(copy, tmp_path):
    for name in ("bash", "sh", "which"):
        (tmp_path / name).symlink_to(shutil.which(name))
    table = "results/flipped-huber-2023/remark-1.csv"
    only = {"PATH": str(tmp_path)}
    code, said = snakemake(copy, table, "--profile", "profiles/slurm", variables=only)
    assert code == 1
    assert "SLURM: not on the path: sbatch, squeue, scancel" in said
    assert "make reproduce" in said
    assert "Traceback" not in said
    assert not (copy / table).exists()


def test_a_submission_to_slurm_of_a_sweep_of_100_000_points_is_planned_in_seconds(copy):
    listed = np.linspace(0.1, 1, 100_000).tolist()
    large = {
        "folder": "large",
        "flipped_huber_2023": {"figure_3b": {"epsilons": {"count": 400}, "deltas": {"count": 250}}},
        "balle_wang_2018": {"gain_crossings": {"epsilons": listed}},
    }
    (copy / "large.yaml").write_text(json.dumps(large))
    _, output = begin(copy, "--profile", "profiles/slurm", "--dry-run", files=["large.yaml"])
    code, seconds = STARTS.wait()
    said = output.read_text(encoding="utf-8")
    assert code == 0, said
    assert SWEEPS in said
    names = set(re.findall(r"Group job (\S+)", said))
    assert 1 < len(names) <= 25
    assert said.count("Group job") == len(names)
    assert seconds < 12
