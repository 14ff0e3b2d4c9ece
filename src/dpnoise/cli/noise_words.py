"""Noise that is stated by its family and parameters, NAME=NUMBER each."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from dpnoise.cli.names import FAMILIES, require_name, suggestion
from dpnoise.cli.options import Number

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise


def read_noise(
    problems: Problems, family: str, parameters: tuple[str, ...]
) -> Noise | IntegerNoise | None:
    """The noise with parameters stated as name=value; None if it cannot be had."""
    from dpnoise.noise import FAMILIES as CONTINUOUS  # noqa: PLC0415
    from dpnoise.noise import INTEGER_FAMILIES  # noqa: PLC0415

    if not require_name(problems, "family", family, FAMILIES):
        return None
    kind: Any = {**CONTINUOUS, **INTEGER_FAMILIES}[family]
    known = {field.name: field.default is MISSING for field in fields(kind) if field.init}
    values: dict[str, Any] = {}
    before = len(problems.found)
    for text in parameters:
        name, sign, value = text.partition("=")
        if name not in known or not sign or name in values:
            expected = " ".join(f"{one}=NUMBER" for one in known)
            hint = suggestion(name, known) if sign and name not in known else ""
            problems.add(f"parameters of {family}: expected {expected}, got {text!r}{hint}")
            continue
        whole = family in INTEGER_FAMILIES and value.lstrip("-").isdigit()
        values[name] = int(value) if whole else Number().convert(value, None, None)
    missing = [name for name, required in known.items() if required and name not in values]
    if missing and len(problems.found) == before:
        expected = " ".join(f"{one}=NUMBER" for one in missing)
        problems.add(f"parameters of {family}: expected {expected}, got nothing")
    if len(problems.found) > before:
        return None
    try:
        noise: Noise | IntegerNoise = kind(**values)
    except ValueError as error:
        problems.add(str(error))
        return None
    return noise
