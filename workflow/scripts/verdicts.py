"""Judge every claim of the papers against the result tables; compare with the recorded run."""

from pathlib import Path

from dpnoise_papers.claims import findings, report
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import misfits, read_tables, unmade
from dpnoise_papers.claims.references import named_tables, templates
from dpnoise_papers.data.sets import status_table
from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_table, write_text

told, published, recorded = snakemake.params, Path("published"), Path("docs/snapshot")
verdicts_csv, verdicts_md, datasets_csv = map(Path, snakemake.output)
with job(snakemake) as log:
    write_table(status_table(snakemake.input.status, told.missing), datasets_csv)
    known = read_published(published)
    texts = [Path(name).read_text(encoding="utf-8") for name in templates().values()]
    texts += report.texts(published)
    absent = {path for path, why in (told.lacking | told.optional).items() if why}
    named = [path for path in named_tables(known, *texts) if path not in absent]
    tables = read_tables(named, verdicts_csv.parent)
    wrong = unmade(known.claims, named, tables)
    wrong += misfits(known.claims, tables, whole=not told.missing and not told.changed)
    if wrong:
        raise SystemExit("claims that do not fit their tables:\n" + "\n".join(wrong))
    verdicts = judge(known.claims, tables, told.optional, told.lacking)
    write_table(verdicts, verdicts_csv)
    log.append(verdicts["verdict"].value_counts(sort=False).to_string())
    stale = []
    if recorded.is_dir() and not told.changed:  # the recorded run has the papers' settings
        run = findings.snapshot(known, tables, verdicts, texts)
        stale = findings.differences(findings.read_snapshot(recorded), run)
    write_text(report.markdown(known, verdicts, tables, stale, told.changed), verdicts_md)
    log.extend(stale)
    if stale and told.strict:
        raise SystemExit("this run differs from the recorded one:\n" + "\n".join(stale))
