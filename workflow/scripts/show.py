"""Draw figures and write pages of some items from their tables."""

import gc

from dpnoise_papers.making import claims_of, job, printed_beside, read_tables, resolve
from dpnoise_papers.result_files import write_text

gc.disable()  # a figure leaves little garbage; looking for it took a tenth of the time
with job(snakemake) as log:
    for call in snakemake.params.calls:
        function, tables = resolve(call["function"]), read_tables(call["tables"])
        if "printed" in call:
            from dpnoise_papers.style import save

            figure = function(*tables, *printed_beside(call))
            words = {"title": call["item"].replace("/", ", "), "description": call["caption"]}
            save(figure, call["outputs"][0], **words)
        else:
            texts = function(*tables, **claims_of(call))
            texts = texts if isinstance(texts, tuple) else (texts,)
            for text, path in zip(texts, call["outputs"], strict=True):
                write_text(text, path)
        log.append(f"{call['item']}: {', '.join(call['outputs'])}")
