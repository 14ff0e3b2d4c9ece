"""One job of the pipeline: its log, the guard over its code and inputs, and its record."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers.call import logged
from dpnoise_papers.making.records import FOLDER, MARK, Record, file_digests, write_record
from dpnoise_papers.making.sources import ChangedError, Sources, changed

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def job(snakemake: Any) -> Iterator[list[str]]:  # noqa: ANN401 - Snakemake has no type for it
    """Log of a job, which fails if its code or an input changes while it runs.

    `snakemake` is what Snakemake gives to a script. The param `code` is the digest of the job's
    code; with the params `record` and `told` a record is written there when all is done.
    """
    params = snakemake.params
    with logged(snakemake.log[0]) as log:
        try:
            sources = Sources(params.code)
            marks = [path for path in snakemake.input if FOLDER in Path(path).parts]
            given = [path for path in snakemake.input if path not in marks]
            inputs = file_digests(given)
            yield log
            sources.check()
            now = file_digests(given)
            other = [path for path, digest in inputs.items() if now[path] != digest]
            if other:
                raise changed("an input", other, "it was written while this job ran")
        except ChangedError as error:
            raise SystemExit(f"{snakemake.log[0]}: {error}") from None
        path = params.get("record", "")
        if path:
            outputs = file_digests(snakemake.output)
            inputs |= dict.fromkeys(marks, MARK)
            write_record(Record(params.told, params.code, inputs, outputs), path)
