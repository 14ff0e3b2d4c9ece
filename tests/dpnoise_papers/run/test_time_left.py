"""Time left of a run, from the events of a logger."""

import logging

import pytest

from dpnoise_papers.run.time_left import TimeLeft, event_of, in_words


class Run:
    """A run on a clock that is set by hand: jobs 1, 2, ... of one rule, by the seconds of each."""

    def __init__(self, *seconds, cores=2, more=0):
        self.now, self.lines = 100.0, []
        known = {("rule", str(number)): one for number, one in enumerate(seconds, 1)}
        self.left = TimeLeft(known, cores, self.lines.append, lambda: self.now)
        stats = {"rule": len(seconds), "drawing": more, "total": len(seconds) + more}
        self.hear(event="run_info", stats={rule: count for rule, count in stats.items() if count})

    def finish(self, number, at, rule="rule"):
        self.now = 100.0 + at
        wildcards = {"part": str(number)} if rule == "rule" else None
        self.hear(event="job_info", jobid=number, rule_name=rule, wildcards=wildcards)
        self.hear(event="job_finished", job_id=number)
        self.hear(event="progress", done=1, total=2)

    def hear(self, **extra):
        self.left.handle(logging.makeLogRecord({"msg": "text", **extra}))


def test_on_a_machine_as_measured_the_rest_takes_its_share():
    run = Run(100.0, 400.0, 700.0)
    run.left.begin()
    assert run.lines == ["3 jobs, about 12 min on 2 cores"]  # the longest job
    run.finish(3, 350.0)
    assert run.left.seconds_left() == pytest.approx(400.0)
    assert run.lines[1:] == ["about 7 min left"]


def test_a_slow_machine_takes_longer_and_a_fast_one_less():
    slow, fast = (Run(*[100.0] * 10) for _ in range(2))
    for number in range(1, 6):
        slow.finish(number, 100.0 * number)
        fast.finish(number, 25.0 * number)
    assert 450.0 < slow.left.seconds_left() < 500.0
    assert 125.0 < fast.left.seconds_left() < 160.0


def test_the_longest_job_bounds_the_rest():
    assert Run(600.0, 3.0, cores=64).left.seconds_left() == 600.0


def test_jobs_that_are_not_measured_take_three_seconds():
    run = Run(10.0, more=10)
    assert run.left.seconds_left() == pytest.approx((10.0 + 10 * 3.0) / 2)
    run.finish(7, 1.5, rule="drawing")
    assert run.left.seconds_left() == pytest.approx((10.0 + 9 * 3.0) / 2)


def test_lines_come_at_most_every_ten_seconds_and_none_after_the_end():
    run = Run(*[30.0] * 4)
    for number, at in enumerate((1.0, 5.0, 12.0, 40.0), 1):
        run.finish(number, at)
    assert len(run.lines) == 2


def test_other_events_and_unknown_jobs_are_let_pass():
    run = Run(60.0)
    run.hear()
    run.hear(event=None)
    run.hear(event="job_finished", job_id=9)
    run.finish(7, 1.0, rule="other")
    assert len(run.lines) == 1
    assert run.left.seconds_left() > 0


def test_snakemake_names_its_events_so():
    from snakemake_interface_logger_plugins.common import LogEvent

    events = (LogEvent.RUN_INFO, LogEvent.JOB_INFO, LogEvent.JOB_FINISHED, LogEvent.PROGRESS)
    named = [event_of(logging.makeLogRecord({"event": event})) for event in events]
    assert named == ["run_info", "job_info", "job_finished", "progress"]
    assert event_of(logging.makeLogRecord({"event": LogEvent.GROUP_INFO})) == "group_info"
    assert event_of(logging.makeLogRecord({})) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "about 5 s"), (54.0, "about 50 s"), (56.0, "about 1 min"), (3599.0, "about 1 h 0 min")],
)
def test_words(seconds, text):
    assert in_words(seconds) == text
