"""Draw figures and write pages of some items from their tables."""

import gc

from dpnoise_papers.making import arguments, job, resolve
from dpnoise_papers.result_files import write_text

gc.disable()  # a figure leaves little garbage; looking for it took a tenth of the time
with job(snakemake) as log:
    for call in snakemake.params.calls:
        tables, claims = arguments(call)
        made = resolve(call["function"])(*tables, **claims)
        if "printed" in call:
            from dpnoise_papers.style import save

            words = {"title": call["item"].replace("/", ", "), "description": call["caption"]}
            save(made, call["outputs"][0], **words)
        else:
            texts = made if isinstance(made, tuple) else (made,)
            for text, path in zip(texts, call["outputs"], strict=True):
                write_text(text, path)
        log.append(f"{call['item']}: {', '.join(call['outputs'])}")
