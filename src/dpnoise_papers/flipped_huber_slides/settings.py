"""Settings of flipped-huber-slides, one field for each section of config.yaml."""

from __future__ import annotations

from pydantic import ConfigDict

from dpnoise_papers.settings import Section


class Settings(Section):
    """All settings of the paper."""

    model_config = ConfigDict(extra="allow", strict=True)  # TODO: closed once all are here
