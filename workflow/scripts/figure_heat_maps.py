"""Draw the maps of one release, or errors over epsilon of several hours."""

from pathlib import Path

import pandas as pd

from dpnoise_papers.balle_wang_2018.figures import heat_maps
from dpnoise_papers.result_files import read_table
from dpnoise_papers.style import save

found = [read_table(path) for path in snakemake.input.tables]
if snakemake.params.drawing == "maps":
    figure = heat_maps.maps(*found)
else:
    figure = heat_maps.errors(pd.concat(found))
save(figure, Path(snakemake.output[0]).with_suffix(""))
Path(snakemake.log[0]).write_text(f"drawn from {len(found)} tables\n", encoding="utf-8")
