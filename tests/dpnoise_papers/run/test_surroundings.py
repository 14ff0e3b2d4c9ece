"""What a run finds where it starts."""

import os
import signal
import threading

from dpnoise_papers.run.surroundings import end_on_sigterm, lock_notice, refusal


def test_a_folder_that_cannot_be_written_is_refused_with_its_name(tmp_path, monkeypatch):
    assert refusal(tmp_path) == ""
    closed = {tmp_path / ".snakemake"}
    monkeypatch.setattr(os, "access", lambda path, _mode: path not in closed)
    assert refusal(tmp_path) == ""
    (tmp_path / ".snakemake").mkdir()
    assert refusal(tmp_path).startswith(f"{tmp_path}/.snakemake cannot be written")
    closed.add(tmp_path)
    (tmp_path / ".snakemake").rmdir()
    assert refusal(tmp_path).startswith(f"{tmp_path} cannot be written")


def test_a_lock_is_told_with_the_command_that_removes_it(tmp_path):
    assert lock_notice(tmp_path) == ""
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    assert lock_notice(tmp_path) == ""
    (tmp_path / ".snakemake" / "locks" / "0.input.lock").touch()
    assert "`snakemake --unlock`" in lock_notice(tmp_path)


def test_a_signal_to_end_waits_for_the_lock_that_the_interrupted_code_holds():
    before, lock, ended = signal.getsignal(signal.SIGTERM), threading.Lock(), threading.Event()

    def end():
        with lock:
            ended.set()

    try:
        end_on_sigterm(end)
        with lock:
            os.kill(os.getpid(), signal.SIGTERM)
            assert not ended.wait(0.1)
        assert ended.wait(60.0)
    finally:
        signal.signal(signal.SIGTERM, before)
