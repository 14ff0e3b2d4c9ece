"""What a run finds where it starts."""

import os

from dpnoise_papers.run.surroundings import lock_notice, refusal


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
