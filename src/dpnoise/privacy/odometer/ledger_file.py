"""The ledger of a `Budget` as JSON and back, with every number exact.

Doubles are written with all their digits, rational numbers as 'p/q'. An entry holds what was said
of it in words, how often it was made, its coordinates (noise and sensitivity, with their number),
releases of Poisson samples, the probability of failure and the guarantee stated for it. Whoever
changes a file changes what it says: keep it like the data.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise.noise import FAMILIES, INTEGER_FAMILIES, Histogram
from dpnoise.privacy.coordinates import is_vouched
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.odometer.ledger import (
    Ledger,
    Sampled,
    Stated,
    pure_share,
    read_sampled_values,
    read_times,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._validation import Problems

VERSION = 1
KIND = "dpnoise budget"
_TOP = ("kind", "version", "epsilon", "delta", "account", "relation", "entries")
_KEYS = ("what", "times", "relation", "coordinates", "sampled", "failure", "stated")
_MOST_BYTES = 2**28


class Entry(NamedTuple):
    """Equal releases that a `Budget` has recorded.

    Attributes
    ----------
    what : str
        Noise and sensitivity, or the result, as they were handed over.
    times : int
        How many releases.
    one : Ledger
        What one of them costs.
    """

    what: str
    times: int
    one: Ledger


def _kinds() -> dict[str, Any]:
    return {**FAMILIES, **INTEGER_FAMILIES, "histogram": Histogram, "listed-loss": ListedLoss}


def _text(value: Fraction | float) -> str:
    """A rational number, or infinity, as text."""
    return "inf" if value == math.inf else str(Fraction(value))


def _plain(value: Any) -> Any:  # noqa: ANN401  (a parameter)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return _text(value) if isinstance(value, Fraction) else value


def _written(noise: Any) -> dict[str, Any]:  # noqa: ANN401
    """A noise by its family and parameters; ValueError for a family of a user."""
    name = next((name for name, kind in _kinds().items() if type(noise) is kind), None)
    if name is None:
        message = f"budget: noise: expected a family of the package to be written, got {noise!r}"
        raise ValueError(message)
    parts = {field.name: _plain(getattr(noise, field.name)) for field in fields(noise)}
    return {"family": name, **parts}


def written_entry(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    one = entry.one
    given = [part for part in one.sampled if not isinstance(part, Sampled)]
    if given:
        message = (
            f"budget: entry {entry.what!r}: expected noise and sensitivity to be written, got a "
            "privacy loss distribution of another package, which cannot be checked on reading"
        )
        raise ValueError(message)
    return {
        "what": entry.what,
        "times": entry.times,
        "relation": one.relation,
        "coordinates": [
            {"noise": _written(noise), "sensitivity": size, "number": count}
            for (noise, size), count in one.shares.items()
        ],
        "sampled": [
            {"multiplier": part.multiplier, "rate": part.rate, "number": count}  # type: ignore[union-attr]
            for part, count in one.sampled.items()
        ],
        "failure": _text(one.failure),
        "stated": None if one.stated is None else [_text(part) for part in one.stated],
    }


def written(content: dict[str, Any], entries: list[Entry]) -> str:
    """The text of a ledger, with what the budget itself says."""
    found = {"kind": KIND, "version": VERSION, **content}
    return json.dumps({**found, "entries": [written_entry(one) for one in entries]}, indent=1)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        message = f"expected each key once, got {[name for name, _ in pairs]}"
        raise ValueError(message)
    return found


def _no_constant(text: str) -> Any:  # noqa: ANN401
    message = f"expected finite numbers, got {text}"
    raise ValueError(message)


def read_document(problems: Problems, text: str | bytes) -> dict[str, Any]:
    """The object that a text states, with exactly the keys of a ledger; problems are recorded."""
    size = len(text) if isinstance(text, str | bytes) else 0
    if not problems.require(size <= _MOST_BYTES, "text", f"at most {_MOST_BYTES} bytes", size):
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError, TypeError) as error:
        problems.add(f"text: expected the JSON of Budget.to_json, got an error: {error}")
        return {}
    if not _has_keys(problems, "ledger", found, _TOP):
        return {}
    problems.require(found["kind"] == KIND, "kind", repr(KIND), found["kind"])
    same = type(found["version"]) is int and found["version"] == VERSION
    problems.require(same, "version", f"{VERSION}, which this version reads", found["version"])
    listed = isinstance(found["entries"], list)
    problems.require(listed, "entries", "a list", type(found["entries"]).__name__)
    return found


def _has_keys(problems: Problems, name: str, data: Any, keys: tuple[str, ...]) -> bool:  # noqa: ANN401
    """Record of a problem unless data are an object with exactly these keys."""
    good = isinstance(data, dict) and set(data) == set(keys)
    got = sorted(data) if isinstance(data, dict) else type(data).__name__
    return problems.require(good, name, f"the keys {', '.join(keys)}", got)


def _fraction(problems: Problems, name: str, value: object, *, high: float) -> Fraction | float:
    """A number written as 'p/q', from 0 to `high`."""
    try:
        found = math.inf if value == "inf" else Fraction(str(value))
        good = isinstance(value, str) and 0 <= found <= high and _text(found) == value
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        good = False
    expected = f"a number p/q in lowest terms, from 0 to {high:g}"
    return found if problems.require(good, name, expected, value) else Fraction(0)


def _read_noise(problems: Problems, name: str, data: Any) -> Any:  # noqa: ANN401
    """A noise from its family and parameters, or None."""
    kinds = _kinds()
    family = data.get("family") if isinstance(data, dict) else None
    expected = f"one of {', '.join(kinds)}"
    if not isinstance(family, str) or family not in kinds:
        problems.require(False, f"{name}.family", expected, family)
        return None
    kind = kinds[family]
    names = tuple(field.name for field in fields(kind))
    if not _has_keys(problems, name, data, ("family", *names)):
        return None
    values = {one: data[one] for one in names}
    if kind is ListedLoss:
        values["loss"] = _fraction(problems, f"{name}.loss", values["loss"], high=1e99)
    try:
        found = kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})
    except (ValueError, TypeError) as error:
        problems.add(f"{name}: {error}")
        return None
    same = json.dumps(_written(found)) == json.dumps({"family": family, **data})
    return found if problems.require(same, name, f"{_written(found)}", data) else None


def _numbered(
    problems: Problems,
    name: str,
    data: Any,  # noqa: ANN401
    read: Callable[[str, Any], Any],
) -> dict[Any, int]:
    """Parts of an entry with how many there are of each."""
    found: dict[Any, int] = {}
    if not problems.require(isinstance(data, list), name, "a list", type(data).__name__):
        return found
    for k, part in enumerate(data):
        one = read(f"{name}[{k}]", part)
        if one is not None:
            number = part["number"]
            whole = type(number) is int and 1 <= number <= 2**53
            problems.require(whole, f"{name}[{k}].number", "a whole number from 1", number)
            problems.require(one not in found, f"{name}[{k}]", "one that is not yet listed", part)
            found[one] = number
    return found


def read_entry(problems: Problems, k: int, data: Any) -> Entry:  # noqa: ANN401
    """One entry, checked; problems are recorded."""
    name = f"entries[{k}]"
    nothing = Entry("", 1, Ledger())
    if not _has_keys(problems, name, data, _KEYS):
        return nothing
    before = len(problems.found)
    what = data["what"]
    problems.require(isinstance(what, str), f"{name}.what", "text", what)
    times = read_times(problems, data["times"])

    def coordinate(place: str, part: Any) -> Any:  # noqa: ANN401
        if not _has_keys(problems, place, part, ("noise", "sensitivity", "number")):
            return None
        noise = _read_noise(problems, f"{place}.noise", part["noise"])
        size = part["sensitivity"]
        good = isinstance(size, float) and size > 0.0
        problems.require(good, f"{place}.sensitivity", "a positive double", size)
        if noise is None or not good:
            return None
        own = isinstance(noise, ListedLoss) or (noise, size) == pure_share(noise_epsilon(noise))
        vouched = own or is_vouched({(noise, size): 1})
        problems.require(vouched, place, "noise within the range of the accounts", part)
        return noise, size

    def sampled(place: str, part: Any) -> Any:  # noqa: ANN401
        if not _has_keys(problems, place, part, ("multiplier", "rate", "number")):
            return None
        return read_sampled_values(problems, place, part["multiplier"], part["rate"])

    shares = _numbered(problems, f"{name}.coordinates", data["coordinates"], coordinate)
    samples = _numbered(problems, f"{name}.sampled", data["sampled"], sampled)
    failure = _fraction(problems, f"{name}.failure", data["failure"], high=1.0)
    stated = data["stated"]
    guarantee = None
    if stated is not None:
        pair = isinstance(stated, list) and len(stated) == 2
        if problems.require(pair, f"{name}.stated", "[epsilon, delta] or null", stated):
            epsilon = _fraction(problems, f"{name}.stated[0]", stated[0], high=math.inf)
            delta = _fraction(problems, f"{name}.stated[1]", stated[1], high=1.0)
            guarantee = Stated(epsilon, Fraction(delta))
    if len(problems.found) > before:
        return nothing
    one = Ledger(shares, Fraction(failure), samples, data["relation"], guarantee)
    return Entry(what, times, one)


def noise_epsilon(noise: Any) -> Fraction | float:  # noqa: ANN401
    """The pure epsilon of staircase noise; 0 for any other."""
    return getattr(noise, "epsilon", 0.0)
