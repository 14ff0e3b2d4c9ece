"""Write Table I, II or III of inid-2024 for people."""

from pathlib import Path

from dpnoise_papers.claims import read_claims
from dpnoise_papers.inid_2024.figures import pages as inid_pages
from dpnoise_papers.result_files import read_table, write_text

KEYS = {"table-2": ["mechanism", "epsilon"], "table-3": ["noise", "scheme", "epsilon"]}

item = snakemake.wildcards.table
beside = []
if item in KEYS:
    claims = read_claims(snakemake.input.claims)
    beside = [inid_pages.printed_texts(claims, item, KEYS[item])]
make = getattr(inid_pages, item.replace("-", "_"))
page, latex = make(read_table(snakemake.input.table), *beside)
write_text(page, snakemake.output.page)
write_text(latex, snakemake.output.latex)
Path(snakemake.log[0]).write_text(f"{len(page.splitlines())} lines\n", encoding="utf-8")
