"""Progress of loops: every item once, lines now and then, none outside a job."""

import pytest

from dpnoise_papers import progress


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    """Let each look at the clock move it on by six seconds."""
    times = iter(range(0, 10_000, 6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(times)))


def test_a_job_tells_how_far_its_loop_is(capsys):
    progress.name_job("paper/gain-table")
    assert list(progress.counted(range(8), "budgets")) == list(range(8))
    progress.name_job("")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        f"paper/gain-table: {done} of 8 budgets" for done in (2, 5)
    ]  # after 18 s and after 36 s


def test_outside_a_job_nothing_is_told(capsys):
    assert list(progress.counted("abcdefgh", "letters")) == list("abcdefgh")
    assert capsys.readouterr().err == ""
