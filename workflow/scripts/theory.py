"""Check every statement of flipped-huber-2023 and show where one fails."""

from pathlib import Path

from dpnoise_papers.flipped_huber_2023.theory.counterexamples import counterexamples, lemma_7
from dpnoise_papers.flipped_huber_2023.theory.statements import theory
from dpnoise_papers.result_files import write_table

settings = snakemake.params.settings
checked = theory(seed=snakemake.params.seed, trials=settings["trials"])
write_table(checked, snakemake.output.theory)
write_table(counterexamples(digits=settings["digits"]), snakemake.output.counterexamples)
write_table(lemma_7(**settings["lemma_7"]), snakemake.output.lemma_7)
failed = int((checked["violations"] > 0).sum())
Path(snakemake.log[0]).write_text(
    f"{len(checked)} statements, {failed} of which fail\n", encoding="utf-8"
)
