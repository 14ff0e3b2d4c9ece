"""Judge the claims about the tables of optional items, which were just made."""

from pathlib import Path

from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import about, read_published
from dpnoise_papers.claims.quantity import misfits, read_tables
from dpnoise_papers.claims.references import named_tables
from dpnoise_papers.claims.report import markdown
from dpnoise_papers.making import job
from dpnoise_papers.result_files import write_table, write_text

given, judged, changed = snakemake.input, snakemake.params.judged, snakemake.params.changed
table, page = map(Path, snakemake.output)
with job(snakemake) as log:
    every = read_published(Path(given.published[0]).parent)
    published = about(every, judged)
    results = read_tables(named_tables(published), table.parent)
    wrong = misfits(every.claims, results, whole=False)
    if wrong:
        raise SystemExit("claims that do not fit their tables:\n" + "\n".join(wrong))
    verdicts = judge(published.claims, results, dict.fromkeys(judged, ""))
    write_table(verdicts, table)
    write_text(markdown(published, verdicts, results, (), changed), page)
    log.append(verdicts["verdict"].value_counts(sort=False).to_string())
