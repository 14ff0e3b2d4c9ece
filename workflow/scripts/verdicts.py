"""Judge every claim of the papers against the result tables, and the README by a full run."""

from pathlib import Path

from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import VERDICTS, named_tables
from dpnoise_papers.claims.report import markdown
from dpnoise_papers.claims.summary import differences
from dpnoise_papers.result_files import read_table, write_table, write_text

table, page = map(Path, snakemake.output)
published = read_published(Path(snakemake.input.published[0]).parent)
texts = [Path(name).read_text(encoding="utf-8") for name in snakemake.input.get("readme", ())]
results = read_tables(named_tables(published, *texts[1:]), table.parent)
verdicts = judge(published.claims, results)
write_table(verdicts, table)
log = [verdicts["verdict"].value_counts(sort=False).to_string()]
readme = []
if texts and table.parent == Path("results"):  # the README's numbers are of that scale
    readme = differences(*texts, results | {VERDICTS: read_table(table)})
write_text(markdown(published, verdicts, results, readme), page)
Path(snakemake.log[0]).write_text("\n".join([*log, *readme]) + "\n", encoding="utf-8")
if readme and snakemake.params.strict:
    message = "README.md differs from this run (`make readme` repairs it):\n" + "\n".join(readme)
    raise SystemExit(message)
