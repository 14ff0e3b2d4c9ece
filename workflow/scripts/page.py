"""Write the tables of one item for people, in one text for each format."""

from dpnoise_papers import result_files
from dpnoise_papers.making import job, read_tables, resolve

given, params = snakemake.input, snakemake.params
with job(snakemake) as log:
    keywords = {"claims": resolve(params.claims)(given.claims[0])} if params.claims else {}
    texts = resolve(params.function)(*read_tables(given.tables, params.groups), **keywords)
    texts = texts if isinstance(texts, tuple) else (texts,)
    for text, path in zip(texts, snakemake.output, strict=True):
        result_files.write_text(text, path)
        log.append(f"{path}: {len(text.splitlines())} lines")
