"""Write the tables of one item for people, in one text for each format."""

from dpnoise_papers import result_files
from dpnoise_papers.call import log, read_tables, resolve
from dpnoise_papers.claims.published import read_claims

given, params = snakemake.input, snakemake.params
keywords = {"claims": read_claims(given.claims[0])} if given.get("claims") else {}
texts = resolve(params.function)(*read_tables(given.tables, params.groups), **keywords)
texts = texts if isinstance(texts, tuple) else (texts,)
for text, path in zip(texts, snakemake.output, strict=True):
    result_files.write_text(text, path)
log(snakemake.log[0], f"{len(texts[0].splitlines())} lines")
