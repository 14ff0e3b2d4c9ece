# Results are compared with the records of their making before a run is planned: what is not what was
# made, or would be made otherwise now, is named and made again, with or without Snakemake's own
# memory in .snakemake. Before that, a run with settings of its own takes over what the papers' run
# made in the same way.

from dpnoise_papers.run.doubts import PAPERS as OF_PAPERS
from dpnoise_papers.run.doubts import (
    refusal_of_doubts,
    take_over,
    words_on,
    words_on_takeover,
)


def look_at_results():
    """Take over what is unchanged; name the results in doubt, and mark them to be made again."""
    if CHANGED:  # else the run repeats the papers' own
        taken = take_over(MAKINGS.values(), PLACES, Records(OF_PAPERS["results"]))
        if taken:
            logger.warning(words_on_takeover(taken))
    doubts = RECORDS.doubts(MAKINGS.values())
    refused = refusal_of_doubts(doubts.values()) if SETTINGS.strict else ""
    if refused:
        raise WorkflowError(refused)
    if SETTINGS.keep_outdated:
        doubts = {k: one for k, one in doubts.items() if one.kind != "outdated"}
    RECORDS.mark(MAKINGS.values(), doubts)
    if doubts:
        logger.warning(words_on(doubts.values()))
