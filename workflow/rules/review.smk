# The page for reviewers: every printed number with its verdict beside its figure, in one HTML file
# that lies beside the folder of results. `make report`, or its path, makes it.

import os
from pathlib import Path

from dpnoise_papers.review.making import command_options

REPORT = str(Path(PLACES["results"]).parent / "report.html")
CHOICES = "docs/choices.md"
TEMPLATES = sorted(map(str, Path("src/dpnoise_papers/review/templates").iterdir()))


rule review:
    input:
        verdicts=rules.verdicts.output.table,
        datasets=rules.datasets.output,
        provenance=rules.provenance.output,
        files=[target(SETTINGS, paper) for paper in PAPERS],
        published=CLAIMS,
        choices=[CHOICES] if Path(CHOICES).is_file() else [],
        templates=TEMPLATES,
    output:
        REPORT,
    log:
        "<logs>/review.log",
    localrule: True
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=code_digest(f"{SCRIPTS}/review.py"),
        configfiles=[os.path.relpath(path) for path in GIVEN.configfiles],
        overrides=dict(GIVEN.config),
        options=command_options(GIVEN.configfiles, GIVEN.config),
        optional=lambda w: standing(OPTIONAL, PLACES["results"]),
    script:
        "../scripts/review.py"
