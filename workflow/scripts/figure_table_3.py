"""Draw Table III of flipped-huber-2023: each printed number beside ours."""

from pathlib import Path

from dpnoise_papers.claims import judge, printed_numbers, read_claims, read_tables
from dpnoise_papers.flipped_huber_2023.figures.table_3 import table_3
from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import RESULT
from dpnoise_papers.style import save

results = Path(snakemake.input.table).parents[1]
claims = [claim for claim in read_claims(snakemake.input.claims) if claim.result == RESULT]
tables = read_tables([RESULT], results)
table = tables[RESULT][tables[RESULT]["reading"] == "chosen"]
printed = printed_numbers(claims, judge(claims, tables), paper="flipped-huber-2023", item="table-3")
save(table_3(table, printed), Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"{len(printed)} printed numbers\n", encoding="utf-8")
