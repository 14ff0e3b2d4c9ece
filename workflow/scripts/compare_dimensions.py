"""Set the two panels of Figure 4 of flipped-huber-2023 side by side."""

from pathlib import Path

from dpnoise_papers.flipped_huber_2023.tables.figure_4_dimensions import compare_dimensions
from dpnoise_papers.result_files import read_table, write_table

lower, higher = (read_table(path) for path in (snakemake.input.lower, snakemake.input.higher))
compared = compare_dimensions(lower, higher)
write_table(compared, snakemake.output[0])
Path(snakemake.log[0]).write_text(f"{len(compared)} rows\n", encoding="utf-8")
