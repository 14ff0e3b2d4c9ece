# A target that no rule makes is refused with the nearest ones. Snakemake looks for it too late for
# us to say so; words of the command line that could be such a target are looked at here.

import sys
from pathlib import Path

from snakemake.cli import parse_args

from dpnoise_papers.run.start import unknown_targets


def is_made(name):
    """Whether a name is a rule, a file that a rule makes, or a file that is there."""
    made = (rule.name == name or rule.is_producer(name) for rule in workflow.rules)
    return Path(name).exists() or any(made)


if workflow.is_main_process and Path(sys.argv[0]).stem in ("snakemake", "__main__"):
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if not all(word.isdigit() or is_made(word) for word in words):
        names = [rule.name for rule in workflow.rules]
        names += [str(path) for rule in workflow.rules for path in rule.output]
        unknown = unknown_targets(parse_args(sys.argv[1:])[1].targets, is_made, names)
        if unknown:
            raise WorkflowError(unknown)
