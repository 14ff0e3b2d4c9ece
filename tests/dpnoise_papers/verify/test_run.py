"""`make verify` on small results: agreement, a planted error, and no run."""

from pathlib import Path

import pytest

from dpnoise_papers import cli
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.config import load
from dpnoise_papers.inid_2024.tables.profiles import two_dimensions
from dpnoise_papers.result_files import read_table, write_table
from dpnoise_papers.verify.paths import CLASS, PATHS, Answer
from dpnoise_papers.verify.run import verify

RESULT = "inid-2024/table-2.csv"


ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Enter a folder with the settings, the claims and a run of one table; return the run's."""
    for name in ("config.yaml", "published"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    table = two_dimensions(load("config.yaml").inid_2024.table_2)
    write_table(table, Path("run/results", RESULT))
    return "run"


def test_results_agree(run):
    report = verify(folder=run, share=0.4, seed=1, cores=1)
    assert len(report.drawn) >= 8
    assert report.covered == report.claims
    assert not report.disagreements
    assert not report.unchecked
    count = len(report.drawn)
    assert report.lines()[-1] == f"{count} of {count} claims recomputed, all agree"
    assert not report.fails


def test_a_planted_error_is_caught(run, capsys):
    path = Path(run, "results", RESULT)
    table = read_table(path)
    write_table(table.assign(mae=table["mae"] * (1.0 + 2e-6)), path)
    code = cli.main(["verify", "--folder", run, "--seed", "1", "--cores", "1"])
    told = capsys.readouterr().out
    assert code == 1
    assert f"DISAGREES: results/{RESULT}" in told
    assert "all agree" not in told


def test_the_same_seed_draws_the_same_claims(run):
    first, second = (verify(folder=run, seed=5, share=0.1, cores=1) for _ in range(2))
    assert list(first.drawn) == list(second.drawn)


def test_what_does_not_begin_in_time_is_told(run):
    report = verify(folder=run, seed=5, share=0.1, cores=1, limit=-1.0)
    assert len(report.unchecked) == len(report.checked) > 0
    count = len(report.drawn)
    assert report.lines()[-1] == (
        f"0 of {count} claims recomputed: this run shows nothing; {count} not (no time was left)"
    )
    assert report.fails


@pytest.mark.usefixtures("run")
def test_without_a_run(capsys):
    assert cli.main(["verify", "--folder", "other"]) == 2
    assert "a run (make reproduce) comes first" in capsys.readouterr().err


def test_tolerance():
    assert Answer(2.0).agrees(2.0 * (1 + CLASS))
    assert not Answer(2.0).agrees(2.0 * (1 + 2 * CLASS))
    assert Answer(0.0, atol=1e-9).agrees(-1e-10)


def test_every_path_is_of_a_table_that_printed_claims_speak_of():
    claims = read_published(ROOT / "published").claims
    assert set(PATHS) <= {claim.result for claim in claims if claim.kind == "printed"}
