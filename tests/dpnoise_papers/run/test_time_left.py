"""Time left of a run, from the events of a logger."""

import logging

import pytest

from dpnoise_papers.run.time_left import TimeLeft, in_words


class Run:
    """A run on a clock that is set by hand."""

    def __init__(self, seconds, cores=2):
        self.now, self.lines = 100.0, []
        self.left = TimeLeft(seconds, cores, self.lines.append, lambda: self.now)

    def finish(self, number, at):
        self.now = 100.0 + at
        self.hear(event="job_finished", job_id=number)
        self.hear(event="progress", done=1, total=2)

    def hear(self, **extra):
        self.left.handle(logging.makeLogRecord({"msg": "text", **extra}))


def test_on_a_machine_as_measured_the_rest_takes_its_share():
    run = Run({1: 400.0, 2: 400.0, 3: 400.0})
    run.left.begin()
    assert run.lines == ["3 jobs, about 10 min on 2 cores"]
    run.finish(1, 200.0)
    assert run.left.seconds_left() == pytest.approx(400.0)
    assert run.lines[1:] == ["about 7 min left"]


def test_a_slow_machine_takes_longer_and_a_fast_one_less():
    slow, fast = (Run(dict.fromkeys(range(10), 100.0)) for _ in range(2))
    for number in range(5):
        slow.finish(number, 100.0 * (number + 1))
        fast.finish(number, 25.0 * (number + 1))
    assert 450.0 < slow.left.seconds_left() < 500.0
    assert 125.0 < fast.left.seconds_left() < 160.0


def test_the_longest_job_bounds_the_rest():
    assert Run({1: 600.0, 2: 3.0}, cores=64).left.seconds_left() == 600.0


def test_lines_come_at_most_every_ten_seconds_and_none_after_the_end():
    run = Run(dict.fromkeys(range(4), 30.0))
    for number, at in enumerate((1.0, 5.0, 12.0, 40.0)):
        run.finish(number, at)
    assert len(run.lines) == 2


def test_other_events_and_unknown_jobs_are_let_pass():
    run = Run({1: 60.0})
    run.hear()
    run.hear(event=None)
    run.finish(7, 1.0)
    assert len(run.lines) == 1
    assert run.left.seconds_left() > 0


def test_snakemake_names_its_events_so():
    from snakemake_interface_logger_plugins.common import LogEvent

    for event in (LogEvent.JOB_FINISHED, LogEvent.PROGRESS):
        run = Run({1: 60.0})
        record = logging.makeLogRecord({"event": event, "job_id": 1})
        run.left.emit(record)
        assert run.left.seconds_left() == 0.0 or len(run.lines) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "about 5 s"), (54.0, "about 50 s"), (56.0, "about 1 min"), (3599.0, "about 1 h 0 min")],
)
def test_words(seconds, text):
    assert in_words(seconds) == text
