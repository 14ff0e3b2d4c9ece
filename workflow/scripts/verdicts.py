"""Judge every claim of the papers against the result tables; compare with the recorded run."""

from pathlib import Path

from dpnoise_papers.claims import findings, report
from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import misfits, read_tables
from dpnoise_papers.claims.references import named_tables
from dpnoise_papers.claims.report import markdown
from dpnoise_papers.making import job, read_statuses
from dpnoise_papers.result_files import write_table, write_text

given, params = snakemake.input, snakemake.params
table, page = map(Path, snakemake.output)
with job(snakemake) as log:
    published = read_published(Path(given.published[0]).parent)
    texts = [Path(name).read_text(encoding="utf-8") for name in given.get("templates", ())]
    texts += report.texts(Path(given.published[0]).parent)
    reasons = {path: state["reason"] for path, state in params.optional.items()}
    named = [path for path in named_tables(published, *texts) if not reasons.get(path)]
    results = read_tables(named, table.parent)
    had = all(one["status"] == "ok" for one in read_statuses(given.status).values())
    wrong = misfits(published.claims, results, whole=had and not params.changed)
    if wrong:
        raise SystemExit("claims that do not fit their tables:\n" + "\n".join(wrong))
    verdicts = judge(published.claims, results, reasons)
    write_table(verdicts, table)
    log.append(verdicts["verdict"].value_counts(sort=False).to_string())
    stale = []
    if given.get("snapshot") and not params.changed:  # the recorded run has the papers' settings
        run = findings.snapshot(published, results, verdicts, texts)
        kept = findings.read_snapshot(Path(given.snapshot[0]).parent)
        stale += findings.differences(kept, run)
    write_text(markdown(published, verdicts, results, stale, params.changed), page)
    log.extend(stale)
    if stale and params.strict:
        message = "this run differs from the recorded one (`make readme` records this one):\n"
        raise SystemExit(message + "\n".join(stale))
