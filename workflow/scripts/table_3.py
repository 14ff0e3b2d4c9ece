"""Assemble Table III of flipped-huber-2023: as printed and as honest."""

import json
from pathlib import Path

from dpnoise_papers.claims import read_claims
from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import latex, markdown, printed_values
from dpnoise_papers.flipped_huber_2023.tables.table_3_summary import summarise
from dpnoise_papers.result_files import read_table, write_table, write_text

settings = snakemake.params.settings
names = sorted(settings["tasks"])
chosen = dict(zip(names, map(read_table, snakemake.input.chosen), strict=True))
status = {
    name: json.loads(Path(path).read_text(encoding="utf-8"))
    for name, path in zip(names, snakemake.input.status, strict=True)
}
printed = summarise(chosen, status, settings, "printed")
honest = summarise(chosen, status, settings, "honest")
paper = printed_values(read_claims(snakemake.input.claims))
write_table(printed, snakemake.output.printed)
write_table(honest, snakemake.output.honest)
write_text(markdown(printed, honest, paper), snakemake.output.page)
write_text(latex(printed, paper), snakemake.output.latex)
Path(snakemake.log[0]).write_text(f"{len(printed)} rows\n", encoding="utf-8")
