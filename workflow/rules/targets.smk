# A target that no rule makes is refused by Snakemake; the nearest ones are told behind its message.

NAMES = [name for paper in PAPERS for name in (paper.module, paper.id)]
NAMES += ["all", "review", REPORT, *targets(PAPERS), *(rule for rule, _ in MAKINGS)]
NAMES += [path for one in MAKINGS.values() for path in one.outputs]
if IS_MAIN:
    logger.addHandler(NearestTargets(NAMES, logger.error))
