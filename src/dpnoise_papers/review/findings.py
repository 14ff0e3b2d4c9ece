"""The findings that users must know, from `published/findings.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from pathlib import Path

_Text = Annotated[str, StringConstraints(min_length=1)]


class Finding(BaseModel):
    """One finding: a sentence, what shows it with references to tables, items and causes.

    `shows` are items as 'paper/item', the one whose figure shows it first; `given` tells where each
    number of the text comes from that stands in no table of ours.
    """

    model_config = ConfigDict(extra="forbid")

    title: _Text
    text: _Text
    shows: list[_Text]
    causes: list[_Text] = []
    given: dict[str, str] = {}


def read_findings(path: Path) -> list[Finding]:
    """Findings in the order of the file; ValueError names every mistake."""
    return list(read_typed(path, dict[str, Finding]).values())
