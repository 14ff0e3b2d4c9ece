"""Say where the printed numbers of Table III of flipped-huber-2023 lie among replications."""

import json
from pathlib import Path

from dpnoise_papers.claims import read_claims
from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import printed_values
from dpnoise_papers.flipped_huber_2023.figures.table_3_replicates import markdown, replicates
from dpnoise_papers.flipped_huber_2023.tables.table_3_replicates_summary import summarise_replicates
from dpnoise_papers.result_files import read_table, write_table, write_text
from dpnoise_papers.style import save

statuses = (json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input.status)
names = [Path(path).stem for path in snakemake.input.runs]
runs = dict(zip(names, map(read_table, snakemake.input.runs), strict=True))
table = summarise_replicates(
    runs,
    dict(zip(names, statuses, strict=True)),
    snakemake.params.readings,
    printed_values(read_claims(snakemake.input.claims)),
)
write_table(table, snakemake.output.table)
write_text(markdown(table, snakemake.params.trials), snakemake.output.page)
save(replicates(table), Path(snakemake.output.figure[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"{len(table)} rows\n", encoding="utf-8")
