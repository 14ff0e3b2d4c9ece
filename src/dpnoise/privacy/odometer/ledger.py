"""Releases of one data set, each as the pair of distributions that dominates it, and their JSON.

A release is a number of coordinates with independent noise (`privacy.vector`), of which some
may fail with a small probability. What is only known to be epsilon-private counts as randomized
response, which dominates it (Kairouz, Oh & Viswanath, "The composition theorem for differential
privacy", ICML 2015): the loss is epsilon or -epsilon. Staircase noise with gamma = 1/2 and steps
as wide as the sensitivity has this loss.

Noise of dependent coordinates says itself by which noise of one number, or pure epsilon, it is
dominated: K-norm noise by Laplace noise.

**As JSON** the ledger of a `Budget` has every number exact: doubles with all their digits, rational
numbers as 'p/q'. An entry holds what was said of it in words, how often it was made, its
coordinates (noise and sensitivity, with their number), releases of Poisson samples, the probability
of failure and the guarantee stated for it. A digest (SHA-256) of all the rest shows that a text was
damaged or edited by hand. It is no signature: whoever means to can compute that of another text.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import textwrap
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import is_integer
from dpnoise.noise.exact import as_double_above, root_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.families import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    FIXED,
    GAUSSIAN,
    POISSON,
    REMOVED,
    REPLACED,
    Kind,
    pair_of,
)
from dpnoise.privacy.sampled.pairs import LAPLACE as LAPLACE_NOISE
from dpnoise.privacy.sampled.pairs import largest_loss as largest_of_pair
from dpnoise.privacy.vector import is_vouched
from dpnoise.sensitivity.relation import ADD_REMOVE, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.odometer.accounts import Moments
    from dpnoise.privacy.odometer.concentrated import Rho
    from dpnoise.privacy.vector import Shares


_MOST_TIMES = 10**8
_DIGITS, _MOST_DIGITS = 200, 4096  # binary, of numbers that are rounded up, and of denominators
# What stands for a release that may cost less.
LAPLACE = "Laplace noise of one number"
RESPONSE = "randomized response with the largest loss"
BOX = "noise for the box around the set"
CONCENTRATED = "noise with the largest concentrated bound of the set"
CERTIFIED = "randomized response with the certified epsilon and delta"
_SMALLEST, _MOST = 1e-3, 1e6  # of sigma / sensitivity of releases of Poisson samples
_VERSION = 2
EXACT, CONCENTRATED_ACCOUNT = "exact", "zcdp"  # accounts; earlier versions had others
_KIND = "dpnoise budget"
_CANONICAL: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}  # of what is digested
_TOP = ("kind", "version", "epsilon", "delta", "account", "relation", "entries", "digest")
_KEYS = ("what", "times", "relation", "coordinates", "sampled", "failure", "stated")
_MORE_KEYS = {"label", "date"}  # which an entry may lack
_SAMPLED_KEYS = ("multiplier", "rate", "number", "noise", "sampling")
_SAMPLED_KINDS = [(noise, how) for noise in (GAUSSIAN, LAPLACE_NOISE) for how in (POISSON, FIXED)]
_MOST_BYTES = 2**28
_RATIONAL = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")  # no exponent, which could be huge


class Stated(NamedTuple):
    """A guarantee (epsilon, delta) in exact numbers; epsilon may be infinite."""

    epsilon: Fraction | float
    delta: Fraction


def stated(epsilon: float, delta: float) -> Stated:
    """A guarantee given by doubles."""
    return Stated(Fraction(epsilon), Fraction(delta))


@dataclass(frozen=True)
class Ledger:
    """Everything released so far.

    `shares` are coordinates, noise and sensitivity, with how many there are; `sampled` are releases
    of samples, with their number;
    `failure` is the sum of the probabilities with which a release may break what is said of it;
    `relation` is that of all, None before the first. `stated` is an (epsilon, delta) that was
    proved of the whole in another way, None where there is nothing but the rest. `counted_as` says
    of one release what stands for it where that may cost more than its own loss.
    """

    shares: Shares = field(default_factory=dict)
    failure: Fraction = Fraction(0)
    sampled: dict[Kind, int] = field(default_factory=dict)
    relation: str | None = None
    stated: Stated | None = None
    counted_as: str = field(default="", compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Fields and known sums, in a dict of their own: other threads may add sums meanwhile."""
        return self.__dict__.copy()

    def plus(self, other: Ledger, times: int) -> Ledger:
        """The ledger with `times` releases of another one, which has the same relation.

        Sums that are known of both are extended.
        """
        first, second = self.basic, other.basic
        epsilon = _bounded(first.epsilon + times * second.epsilon)
        found = Ledger(
            _sum(self.shares, other.shares, times),
            self.failure + times * other.failure,
            _sum(self.sampled, other.sampled, times),
            other.relation,
            Stated(epsilon, first.delta + times * second.delta),
        )
        known = found.__dict__
        known["pure"] = _bounded(self.pure + times * other.pure)
        known["square"] = self.square + times * other.square
        for name in ("moments", "rho"):
            if (kept := getattr(self, name)) is not None:
                known[name] = kept.with_release(other, times)
        known["others"] = _sum(self.others, other.others, times) if other.others else self.others
        return found

    @cached_property
    def moments(self) -> Moments | None:
        """Sums of moments, once they were asked for (see `odometer.accounts`)."""
        return None

    @cached_property
    def rho(self) -> Rho | None:
        """The sum of rho, once it was asked for (see `odometer.concentrated`)."""
        return None

    @cached_property
    def square(self) -> Fraction:
        """The sum of mu^2 of all Gaussian noise, each rounded up to 200 binary digits."""
        squares = (
            count * _rounded_up((Fraction(size) / Fraction(noise.sigma)) ** 2)
            for (noise, size), count in self.shares.items()
            if isinstance(noise, Gaussian)
        )
        return sum(squares, Fraction(0))

    @cached_property
    def others(self) -> Shares:
        """All shares but those of Gaussian noise."""
        return {share: n for share, n in self.shares.items() if not isinstance(share[0], Gaussian)}

    @property
    def basic(self) -> Stated:
        """An (epsilon, delta) by basic composition; epsilon is infinite where none is known."""
        return self.stated or Stated(self.pure, self.failure)

    @cached_property
    def pure(self) -> Fraction | float:
        """An upper bound on the privacy loss of everything together.

        Without rounding, as long as the sum has a denominator of less than some thousand digits.
        """
        losses = [(one.largest_loss(size), n) for (one, size), n in self.shares.items()]
        losses += [(_sampled_loss(one, self.relation), n) for one, n in self.sampled.items()]
        if any(loss == math.inf for loss, _ in losses):
            return math.inf
        return sum((count * Fraction(loss) for loss, count in losses), Fraction(0))

    @property
    def all_gaussian(self) -> bool:
        """Whether there is nothing but Gaussian noise, not on samples."""
        plain = not self.failure and not self.sampled
        return plain and not self.others

    @property
    def _is_single(self) -> bool:
        """Whether there is one coordinate at most."""
        return len(self.shares) < 2 and sum(self.shares.values()) < 2

    @property
    def countable(self) -> Shares:
        """The shares as the account of several coordinates takes them.

        Of staircase noise narrower than its sensitivity that account knows nothing; it counts as
        randomized response.
        """
        return self.shares if self._is_single else self.narrow

    @property
    def narrow(self) -> Shares:
        """All Gaussian noise as one, and randomized response for each narrow staircase.

        A staircase is narrow if its steps are narrower than its sensitivity.
        """
        result: Shares = {}
        if self.square:
            result[Gaussian(1.0), as_double_above(root_above(self.square))] = 1
        for (noise, size), count in self.others.items():
            wide = size > noise.step_width
            share = pure_share(noise.largest_loss(size)) if wide else (noise, size)
            result[share] = result.get(share, 0) + count
        return result


def _sum(first: dict[Any, int], second: dict[Any, int], times: int) -> dict[Any, int]:
    result = dict(first)
    for key, count in second.items():
        result[key] = result.get(key, 0) + times * count
    return result


def _bounded(value: Fraction | float) -> Fraction | float:
    """A number, or one above it of fewer digits where it has very many."""
    if value == math.inf or value.denominator.bit_length() <= _MOST_DIGITS:  # type: ignore[union-attr]
        return value
    return _rounded_up(Fraction(value))


def _rounded_up(value: Fraction) -> Fraction:
    """A number of 200 binary digits or so that is at least a positive one."""
    if value.denominator.bit_length() <= _DIGITS:
        return value
    shift = _DIGITS + value.denominator.bit_length() - value.numerator.bit_length()
    scale = Fraction(2) ** shift
    return math.ceil(value * scale) / scale


def _sampled_loss(part: Kind, relation: str | None) -> float:
    """An upper bound on the loss of one release of a sample, the larger where none is stated."""
    if part.noise == GAUSSIAN:
        return math.inf
    sides = (REMOVED, ADDED) if relation == ADD_REMOVE else (REPLACED,)
    return max(largest_of_pair(pair_of(part, side)) for side in sides) * (1.0 + 1e-12)


def has_gaussian(ledger: Ledger) -> bool:
    """Whether Gaussian noise is among the releases, on samples or not."""
    return any(isinstance(noise, Gaussian) for noise, _ in ledger.shares) or any(
        part.noise == GAUSSIAN for part in ledger.sampled
    )


def pure_share(epsilon: Fraction | float) -> tuple[Noise, float]:
    """Noise and sensitivity whose loss is epsilon or -epsilon, rounded up."""
    return Staircase(max(as_double_above(epsilon), MIN_EPSILON), 1.0, 0.5), 1.0


def pure_release(problems: Problems, epsilon: Fraction | float, delta: float = 0.0) -> Ledger:
    """One release that is (epsilon, delta)-private, and no more is known."""
    if not problems.number("epsilon of the release", epsilon, low=0.0, high=MAX_EPSILON):
        return Ledger()
    failure = Fraction(as_double_above(delta))
    return Ledger({pure_share(epsilon): 1} if epsilon > 0 else {}, failure)


_LONGEST_LABEL = 200


def check_label(problems: Problems, label: object) -> None:
    """Record of a problem unless a label is a line of text."""
    good = isinstance(label, str) and len(label) <= _LONGEST_LABEL and label.isprintable()
    problems.require(good, "label", f"one line of at most {_LONGEST_LABEL} characters", label)


def today() -> str:
    """The day as entries have it."""
    return datetime.now(tz=UTC).astimezone().date().isoformat()


def read_times(problems: Problems, times: object) -> int:
    """How often, checked."""
    if is_integer(times) and 1 <= times <= _MOST_TIMES:
        return int(times)
    problems.add(f"times: expected a whole number from 1 to {_MOST_TIMES}, got {times!r}")
    return 1


def guaranteed(epsilon: float, delta: float) -> Ledger:
    """One release of which only (epsilon, delta)-DP is known."""
    if epsilon > MAX_EPSILON:
        return Ledger(failure=Fraction(1), stated=stated(epsilon, delta))
    shares: Shares = {pure_share(epsilon): 1} if epsilon > 0.0 else {}
    return Ledger(shares, Fraction(delta), stated=stated(epsilon, delta), counted_as=CERTIFIED)


def read_sampled(problems: Problems, noise: object, sensitivity: object, rate: object) -> Ledger:
    """One release of Gaussian noise on a Poisson sample."""
    good = problems.number("sampling", rate, low=0.0, high=1.0, open_low=True)
    known = isinstance(noise, Gaussian)
    problems.require(known, "noise", "Gaussian noise beside sampling", noise)
    size = problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    if not (good and size and isinstance(noise, Gaussian)):
        return Ledger()
    multiplier = math.nextafter(noise.sigma / float(sensitivity), 0.0)  # type: ignore[arg-type]
    problems.number("sigma / sensitivity", multiplier, low=_SMALLEST, high=_MOST)
    return Ledger(sampled={Kind(multiplier, float(rate)): 1})  # type: ignore[arg-type]


def read_sample(
    problems: Problems, name: str, multiplier: object, rate: object, kind: tuple[object, object]
) -> Kind | None:
    """A release of a sample by its two numbers, noise and sampling, checked."""
    good = problems.number(f"{name}.rate", rate, low=0.0, high=1.0, open_low=True)
    known = kind in _SAMPLED_KINDS
    problems.require(known, f"{name}.noise, sampling", f"one of {_SAMPLED_KINDS}", kind)
    if problems.number(f"{name}.multiplier", multiplier, low=_SMALLEST, high=_MOST) and good:
        return Kind(float(multiplier), float(rate), *kind) if known else None  # type: ignore[arg-type]
    return None


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
    label : str
        What the user calls it; empty if nothing was said.
    date : str
        The day on which it was recorded, as in '2026-11-28'; empty if an earlier version did.
    """

    what: str
    times: int
    one: Ledger
    label: str = ""
    date: str = ""


def _kinds() -> dict[str, Any]:
    return {**FAMILIES, **INTEGER_FAMILIES, "listed-loss": ListedLoss}


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


def _written_sample(part: Kind, count: int) -> dict[str, Any]:
    """A release of a sample; noise and sampling are written unless they are the usual ones."""
    found = {"multiplier": part.sigma, "rate": part.rate, "number": count}
    usual = (part.noise, part.sampling) == (GAUSSIAN, POISSON)
    return found if usual else {**found, "noise": part.noise, "sampling": part.sampling}


def _written_entry(entry: Entry) -> dict[str, Any]:
    """An entry as plain data."""
    one = entry.one
    more = {"label": entry.label, "date": entry.date}
    return {
        "what": entry.what,
        **{name: text for name, text in more.items() if text},
        "times": entry.times,
        "relation": one.relation,
        "coordinates": [
            {"noise": _written(noise), "sensitivity": size, "number": count}
            for (noise, size), count in one.shares.items()
        ],
        "sampled": [_written_sample(part, count) for part, count in one.sampled.items()],
        "failure": _text(one.failure),
        "stated": None if one.stated is None else [_text(part) for part in one.stated],
    }


class Piece(NamedTuple):
    """An entry as it stands in a ledger, and as its digest has it."""

    entry: Entry
    shown: str
    digested: str


def _piece(entry: Entry) -> Piece:
    """The texts of one entry."""
    data = _written_entry(entry)
    shown = textwrap.indent(json.dumps(data, indent=1), "  ")  # as at its depth
    return Piece(entry, shown, json.dumps(data, **_CANONICAL))


def written(content: dict[str, Any], entries: list[Entry], known: list[Piece] | None = None) -> str:
    """The text of a ledger, with what the budget itself says and a digest.

    Of entries that are among those that were `known` the texts are not made again; all of them are
    there afterwards.
    """
    pieces = [] if known is None else known
    same = (a.entry is b for a, b in zip(pieces, entries, strict=False))
    del pieces[next((k for k, one in enumerate(same) if not one), len(entries)) :]
    pieces += map(_piece, entries[len(pieces) :])
    found = {"kind": _KIND, "version": _VERSION, **content, "entries": []}
    listed = ",".join(one.digested for one in pieces)
    text = json.dumps(found, **_CANONICAL).replace('"entries":[]', f'"entries":[{listed}]')
    found["digest"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    listed = ",\n".join(one.shown for one in pieces)
    listed = f"[\n{listed}\n ]" if pieces else "[]"
    return json.dumps(found, indent=1).replace('"entries": []', f'"entries": {listed}')


def written_entries(entries: list[Entry]) -> list[dict[str, Any]]:
    """Entries as plain data."""
    return [_written_entry(one) for one in entries]


def _digest(data: dict[str, Any]) -> str:
    """SHA-256 of a document but for its digest, whatever its spaces and the order of its keys."""
    rest = {key: value for key, value in data.items() if key != "digest"}
    text = json.dumps(rest, **_CANONICAL)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        message = f"expected each key once, got {[name for name, _ in pairs]}"
        raise ValueError(message)
    return found


def _no_constant(text: str) -> Any:  # noqa: ANN401
    message = f"expected finite numbers, got {text}"
    raise ValueError(message)


def read_document(problems: Problems, text: object, *, edited: bool) -> dict[str, Any]:
    """The object that a text states, with exactly the keys of a ledger; problems are recorded.

    If `edited`, whatever the digest, which may be missing, and as version 1 had none.
    """
    size = len(text) if isinstance(text, str | bytes) else 0
    if not problems.require(size <= _MOST_BYTES, "text", f"at most {_MOST_BYTES} bytes", size):
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)  # type: ignore[arg-type]
    except (ValueError, RecursionError, TypeError) as error:
        problems.add(
            f"text: expected a ledger in JSON, as to_json writes it, got an error: {error}"
        )
        return {}
    old = isinstance(found, dict) and "digest" not in found
    concentrated = isinstance(found, dict) and found.get("account") == CONCENTRATED_ACCOUNT
    names = ("rho", *_TOP) if concentrated else _TOP
    if not _has_keys(problems, "ledger", found, names[:-1] if edited and old else names):
        return {}
    problems.require(found["kind"] == _KIND, "kind", repr(_KIND), found["kind"])
    versions = {_VERSION, 1} if edited and old else {_VERSION}
    same = type(found["version"]) is int and found["version"] in versions
    problems.require(same, "version", f"{_VERSION}, which this version reads", found["version"])
    known = concentrated or found["account"] == EXACT
    expected = f"{EXACT!r} or {CONCENTRATED_ACCOUNT!r}, which this version has"
    problems.require(known, "account", expected, found["account"])
    listed = isinstance(found["entries"], list)
    problems.require(listed, "entries", "a list", type(found["entries"]).__name__)
    if not edited and found["digest"] != _digest(found):
        expected = (
            f"{_digest(found)!r} for what the text says (it was edited or damaged since it was "
            "written; edited=True reads it all the same)"
        )
        problems.require(False, "digest", expected, found["digest"])
    return found if listed else {}


def _has_keys(problems: Problems, name: str, data: Any, keys: tuple[str, ...]) -> bool:  # noqa: ANN401
    """Record of a problem unless data are an object with exactly these keys."""
    good = isinstance(data, dict) and set(data) == set(keys)
    got = sorted(data) if isinstance(data, dict) else type(data).__name__
    return problems.require(good, name, f"the keys {', '.join(keys)}", got)


def _fraction(problems: Problems, name: str, value: object, *, high: float) -> Fraction | float:
    """A number written as 'p/q', from 0 to `high`."""
    found: Fraction | float = math.inf
    good = isinstance(value, str)
    try:
        if isinstance(value, str) and value != "inf":
            found = Fraction(value if _RATIONAL.fullmatch(value) else "-1")
        good = good and 0 <= found <= high and _text(found) == value
    except ZeroDivisionError:
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
    except (ValueError, TypeError, OverflowError) as error:
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


def _split(data: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
    """An entry without what it may lack, and that."""
    if not isinstance(data, dict):
        return data, {}
    more = {key: data[key] for key in _MORE_KEYS & set(data)}
    return {key: value for key, value in data.items() if key not in more}, more


def _read_stated(problems: Problems, name: str, stated: Any) -> Stated | None:  # noqa: ANN401
    """A guarantee that was proved of an entry in another way, or None."""
    if stated is None:
        return None
    pair = isinstance(stated, list) and len(stated) == 2
    if not problems.require(pair, f"{name}.stated", "[epsilon, delta] or null", stated):
        return None
    epsilon = _fraction(problems, f"{name}.stated[0]", stated[0], high=math.inf)
    delta = _fraction(problems, f"{name}.stated[1]", stated[1], high=1.0)
    return Stated(epsilon, Fraction(delta))


def read_entry(problems: Problems, k: int, data: Any) -> Entry:  # noqa: ANN401
    """One entry, checked; problems are recorded."""
    name = f"entries[{k}]"
    nothing = Entry("", 1, Ledger())
    data, more = _split(data)
    if not _has_keys(problems, name, data, _KEYS):
        return nothing
    before = len(problems.found)
    what = data["what"]
    for key, value in {"what": what, **more}.items():
        problems.require(isinstance(value, str), f"{name}.{key}", "text", value)
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
        own = noise.listed or (noise, size) == pure_share(_noise_epsilon(noise))
        vouched = own or is_vouched({(noise, size): 1})
        problems.require(vouched, place, "noise within the range of the accounts", part)
        return noise, size

    def sampled(place: str, part: Any) -> Any:  # noqa: ANN401
        usual = not (isinstance(part, dict) and set(part) & {"noise", "sampling"})
        names = ("multiplier", "rate", "number") if usual else _SAMPLED_KEYS
        if not _has_keys(problems, place, part, names):
            return None
        kind = (GAUSSIAN, POISSON) if usual else (part["noise"], part["sampling"])
        return read_sample(problems, place, part["multiplier"], part["rate"], kind)

    shares = _numbered(problems, f"{name}.coordinates", data["coordinates"], coordinate)
    samples = _numbered(problems, f"{name}.sampled", data["sampled"], sampled)
    relation = data["relation"]
    stated_one = isinstance(relation, str) and relation in RELATIONS
    problems.require(stated_one, f"{name}.relation", " or ".join(map(repr, RELATIONS)), relation)
    failure = _fraction(problems, f"{name}.failure", data["failure"], high=1.0)
    guarantee = _read_stated(problems, name, data["stated"])
    if len(problems.found) > before:
        return nothing
    one = Ledger(shares, Fraction(failure), samples, relation, guarantee)
    return Entry(what, times, one, **more)


def _noise_epsilon(noise: Any) -> Fraction | float:  # noqa: ANN401
    """The pure epsilon of staircase noise; 0 for any other."""
    return getattr(noise, "epsilon", 0.0)
