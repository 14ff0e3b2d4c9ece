"""Draw the figure of one item of a paper from its table, some beside the numbers it prints."""

from importlib import import_module
from pathlib import Path

from dpnoise_papers.claims import judge, printed_numbers, read_claims
from dpnoise_papers.result_files import read_table
from dpnoise_papers.style import save

module, name = snakemake.params.figure.split(":")
table = read_table(snakemake.input.table)
beside = []
if snakemake.input.get("claims"):
    result = f"{snakemake.wildcards.item}.csv"
    claims = [claim for claim in read_claims(snakemake.input.claims) if claim.result == result]
    paper, item = snakemake.wildcards.item.split("/")
    verdicts = judge(claims, {result: table})
    beside = [printed_numbers(claims, verdicts, paper=paper, item=item)]
figure = getattr(import_module(module), name)(table, *beside)
save(figure, Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(table)} rows\n", encoding="utf-8")
