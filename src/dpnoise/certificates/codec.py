"""JSON of certificates: noise and sensitivity sets as plain data and back, numbers as exact text.

An object is its kind, the class in kebab case, and its parameters by name: doubles as fractions,
counts as integers, choices as true or false. The relation of a set is stated once, by the
certificate. `IndependentNoise` and `BlockNoise` have arrays, and are written by hand. Whatever is
read is written again and compared, so that each object has one form only.

Numbers are 'p/q' in lowest terms, 'p' for integers; a double is a rational number, so nothing is
rounded. The JSON has no ambiguity: no key twice, no numbers but integers, and a digest of the
content. The digest, SHA-256 of the content in one canonical form, shows damage. It is no signature:
whoever changes a file can compute it again. What protects a claim is that it is derived again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dpnoise._validation import is_integer
from dpnoise.joint.base import JointNoise
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian, KNorm
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.mechanisms.summed import SummedNoise
from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.families import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.accounts import dimension_of
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.base import Sensitivity, is_set
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.ellipsoid import Ellipsoid, TiltedEllipsoid
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE
from dpnoise.sensitivity.spheroid import Spheroid
from dpnoise.sensitivity.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable

SETS: dict[str, Callable[..., Sensitivity]] = {
    "l1": L1,
    "l2": L2,
    "linf": LInf,
    "box": Box,
    "at-most": AtMost,
    "add-remove-counts": partial(Counts, exactly=False, relation=ADD_REMOVE),
    "replace-one-counts": partial(Counts, exactly=False, relation=REPLACE_ONE),
    "exact-counts": partial(Counts, exactly=True, relation=REPLACE_ONE),
    "ellipsoid": Ellipsoid,
    "tilted-ellipsoid": TiltedEllipsoid,
    "spheroid": Spheroid,
    "product": Product,
    "workload": Workload,
}
_STATED = {"product": ["blocks"], "workload": ["W", "cells"]}  # instead of the parameters
OTHER_FAMILIES: dict[str, type] = {
    "radial": RadialNoise,
    "correlated-gaussian": CorrelatedGaussian,
    "norm-staircase": NormStaircase,
    "k-norm": KNorm,
}
_INDEPENDENT, _BLOCKS, _SUMMED, _SPARSE = "independent", "blocks", "summed", "sparse"
INFINITY = "infinity"
_LONGEST = 2000  # characters; the doubles need 770
_PATTERN = re.compile(r"-?\d+(/\d+)?", re.ASCII)
MOST_BYTES = 2**26
DIGEST = "digest"


def _families() -> dict[str, type]:
    """Every family that is described by its parameters alone, those of users among them."""
    return {**FAMILIES, **INTEGER_FAMILIES, **OTHER_FAMILIES}


def _kind_of(value: object) -> str | None:
    """The name of the class of a noise or a set, None for anything else."""
    known = {**_families(), **SETS}
    return next((name for name, kind in known.items() if _is_made_by(kind, value)), None)


def _is_made_by(kind: Any, value: object) -> bool:  # noqa: ANN401
    """Whether an object is of a class, or of a class with parameters of these values."""
    given = getattr(kind, "keywords", {})
    right = type(value) is getattr(kind, "func", kind)
    return right and all(getattr(value, name) == one for name, one in given.items())


def is_known(value: object) -> bool:
    """Whether a noise or a set can be written."""
    if isinstance(value, tuple):
        return len(value) > 0 and all(is_scalar(one) for one in value)
    if isinstance(value, BlockNoise):
        return all(is_known(noise) for _, noise in value.blocks)
    if isinstance(value, SummedNoise):
        return is_known(value.inner)
    return isinstance(value, IndependentNoise) or _kind_of(value) is not None


def _names(kind: Any) -> list[str]:  # noqa: ANN401  (a dataclass)
    """The parameters that describe an object; a certificate states the relation by itself."""
    stated = {"relation", *getattr(kind, "keywords", {})}
    every = fields(getattr(kind, "func", kind))
    return [field.name for field in every if field.init and field.name not in stated]


def _rows(W: Any) -> dict[str, Any]:  # noqa: ANN401  (of SciPy)
    """A sparse matrix as data of JSON."""
    parts = {"shape": W.shape, "starts": W.indptr, "columns": W.indices, "entries": W.data}
    return {"kind": _SPARSE, **{name: plain(part) for name, part in parts.items()}}


def plain(value: Any) -> Any:  # noqa: ANN401, PLR0911  (a return for each kind)
    """A noise, a set or a parameter as data of JSON."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, IndependentNoise):
        return {"kind": _INDEPENDENT, "unit": plain(value.unit), "scales": plain(value.scales)}
    if isinstance(value, BlockNoise):
        parts = [{"coordinates": plain(i), "noise": plain(noise)} for i, noise in value.blocks]
        return {"kind": _BLOCKS, "blocks": parts, "dimension": value.dimension}
    if isinstance(value, SummedNoise):
        return {"kind": _SUMMED, "W": _rows(value.workload.W), "noise": plain(value.inner)}
    kind = _kind_of(value)
    if kind is not None:
        names = _STATED.get(kind) or _names({**_families(), **SETS}[kind])
        named = {name: getattr(value, name) for name in names}
        return {"kind": kind, **{k: _rows(x) if k == "W" else plain(x) for k, x in named.items()}}
    if is_set(value):
        message = f"certificate: expected a set of kind {', '.join(SETS)}, got {value!r}"
        raise ValueError(message)
    return value if isinstance(value, bool) or is_integer(value) else text_of(value)


def _expect(good: object, expected: str, got: object) -> None:
    """Refusal of what is not as expected, of which the beginning is shown."""
    if not good:
        message = f"{expected}, got {str(got)[:80]}"
        raise ValueError(message)


def _require_keys(data: dict[str, Any], names: set[str]) -> None:
    wanted = {"kind", *names}
    expected = f"expected the keys {', '.join(sorted(wanted))}"
    _expect(set(data) == wanted, expected, ", ".join(sorted(data)))


def _parameter(value: Any) -> Any:  # noqa: ANN401
    """A parameter of a noise or a set from data."""
    if isinstance(value, dict):
        return set_of(value)
    if isinstance(value, list):
        return tuple(_parameter(part) for part in value)
    return value if isinstance(value, bool) or is_integer(value) else double_of(value)


def _built(kind: Callable[..., Any], data: dict[str, Any]) -> Any:  # noqa: ANN401
    """An object of a class from its parameters."""
    known = set(_names(kind))
    _require_keys(data, known)
    return kind(**{name: _parameter(data[name]) for name in known})


def set_of(data: Any) -> Sensitivity:  # noqa: ANN401
    """A sensitivity set from data; ValueError if it states none."""
    kind = str(data.get("kind")) if isinstance(data, dict) else ""
    _expect(kind in SETS, f"expected a set of kind {', '.join(SETS)}", data)
    if kind == "product":
        _require_keys(data, {"blocks"})
        _expect(isinstance(data["blocks"], list), "expected a list of blocks", data["blocks"])
        blocks = [set_of(block) for block in data["blocks"]]
        stated = (block.relation for block in blocks if block.relation)  # of `Counts` alone
        return Product(*blocks, relation=next(stated, None))
    if kind == "workload":
        _require_keys(data, {"W", "cells"})
        cells: Any = set_of(data["cells"])
        _expect(isinstance(cells, Counts), "expected counts as the cells of a workload", cells)
        people = {"exactly": cells.exactly, "relation": cells.relation}
        found = Workload(_sparse(data["W"]), at_most=cells.m, **people)
        _expect(found.cells == cells, f"expected {found.cells!r}, as many as W has columns", cells)
        return found
    return _built(SETS[kind], data)


def noise_of(data: Any) -> Any:  # noqa: ANN401
    """Noise from data, a tuple where each coordinate has its own; ValueError if it states none."""
    if isinstance(data, list):
        return tuple(_number_noise(one) for one in data)
    kind = str(data.get("kind")) if isinstance(data, dict) else ""
    if kind == _INDEPENDENT:
        return _independent(data)
    if kind == _BLOCKS:
        return _blocks(data)
    if kind == _SUMMED:
        _require_keys(data, {"W", "noise"})
        workload = Workload(_sparse(data["W"]), relation=ADD_REMOVE)
        inner, n = noise_of(data["noise"]), workload.W.shape[1]
        cells = None if isinstance(inner, IntegerNoise) else n
        good = not isinstance(inner, Noise) and dimension_of(inner) == cells
        _expect(good, f"expected noise for {n} cells", inner)
        return SummedNoise(workload, inner)
    known = _families()
    names = ", ".join([*known, _INDEPENDENT, _BLOCKS, _SUMMED])
    _expect(kind in known, f"expected noise of kind {names}", data)
    return _built(known[kind], data)


def _number_noise(data: Any) -> Any:  # noqa: ANN401  (of real numbers or integers)
    """Noise of one number."""
    noise = noise_of(data)
    _expect(is_scalar(noise), "expected noise of one number", data)
    return noise


def _sparse(data: Any) -> Any:  # noqa: ANN401
    """A sparse matrix from data."""
    expected = "expected a sparse matrix by rows"
    _expect(isinstance(data, dict) and data.get("kind") == _SPARSE, expected, data)
    _require_keys(data, {"shape", "starts", "columns", "entries"})
    shape, starts, columns, entries = map(data.get, ("shape", "starts", "columns", "entries"))
    whole = all(isinstance(x, list) and all(map(is_integer, x)) for x in (shape, starts, columns))
    _expect(whole and isinstance(entries, list) and len(shape) == 2, expected, data)
    good = min(shape) > 0 and len(starts) == shape[0] + 1 and starts == sorted(starts)
    good = good and max([*shape, *starts, *columns]) < 2**31 and starts[0] == 0
    good = good and starts[-1] == len(columns) == len(entries)
    inside = min(columns, default=0) >= 0 and max(columns, default=0) < shape[1]
    _expect(good and inside, expected, data)
    values = np.array([double_of(x) for x in entries])
    return sparse.csr_array((values, columns, starts), shape=tuple(shape))


def _independent(data: dict[str, Any]) -> IndependentNoise:
    _require_keys(data, {"unit", "scales"})
    unit, scales = _number_noise(data["unit"]), data["scales"]
    values = [double_of(x) for x in scales] if isinstance(scales, list) else []
    good = isinstance(unit, Noise) and values and all(0.0 <= x < np.inf for x in values)
    _expect(good, "expected continuous noise and finite scales of at least 0", "others")
    return IndependentNoise(unit, np.array(values))


def _blocks(data: dict[str, Any]) -> BlockNoise:
    _require_keys(data, {"blocks", "dimension"})
    dimension, parts = data["dimension"], data["blocks"]
    blocks = []
    for part in parts if isinstance(parts, list) else []:
        good = isinstance(part, dict) and set(part) == {"coordinates", "noise"}
        at: Any = part["coordinates"] if good else None
        good = isinstance(at, list) and all(map(is_integer, at))
        _expect(good, "expected a block with coordinates and noise", part)
        noise = noise_of(part["noise"])
        good = isinstance(noise, IndependentNoise | JointNoise) and noise.dimension == len(at)
        _expect(good, f"expected noise for {len(at)} coordinates", noise)
        blocks.append((np.array(at, dtype=np.intp), noise))
    every = [int(i) for at, _ in blocks for i in at]
    good = is_integer(dimension) and len(blocks) > 0 and len(set(every)) == len(every)
    good = good and all(0 <= i < dimension for i in every)
    _expect(good, "expected blocks of different coordinates below their dimension", "others")
    return BlockNoise(tuple(blocks), dimension)


def text_of(value: float | Fraction) -> str:
    """The text of a number; only infinity is no fraction."""
    return INFINITY if value == math.inf else str(Fraction(value))


def fraction_of(text: object) -> Fraction:
    """The rational number that a text states; ValueError for any other text."""
    good = isinstance(text, str) and len(text) <= _LONGEST and bool(_PATTERN.fullmatch(text))
    good = good and not re.search(r"/0+$", str(text)) and str(Fraction(str(text))) == text
    _expect(good, "expected a fraction in lowest terms such as '3/4'", repr(text))
    return Fraction(str(text))


def double_of(text: object) -> float:
    """The double that a text states exactly; ValueError for any other text."""
    if text == INFINITY:
        return math.inf
    value = fraction_of(text)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    _expect(found == value, "expected a fraction that is a double", repr(text))
    return found


def digest_of(content: dict[str, Any]) -> str:
    """The digest of everything but the digest."""
    rest = {key: value for key, value in content.items() if key != DIGEST}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def text_of_document(content: dict[str, Any]) -> str:
    """The text of a file, with the digest."""
    return json.dumps({**content, DIGEST: digest_of(content)}, indent=1)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    twice = [name for name, n in Counter(name for name, _ in pairs).items() if n > 1]
    _expect(not twice, "keys: expected each once", f"{', '.join(twice)} twice")
    return found


def _no_number(text: str) -> Any:  # noqa: ANN401
    message = f"numbers: expected integers or fractions as text, got {text[:80]}"
    raise ValueError(message)


def document_of(data: str | bytes) -> dict[str, Any]:
    """The object that a text states; ValueError for anything else."""
    _expect(len(data) <= MOST_BYTES, f"size: expected at most {MOST_BYTES} bytes", len(data))
    try:
        found = json.loads(
            data.decode("utf-8") if isinstance(data, bytes) else data,
            object_pairs_hook=_unique,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except RecursionError as error:
        message = "content: expected a few levels of nesting, got too many"
        raise ValueError(message) from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        message = f"content: expected complete JSON, got an error: {error}"
        raise ValueError(message) from error
    _expect(isinstance(found, dict), "content: expected an object", type(found).__name__)
    return found
