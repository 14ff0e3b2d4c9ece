"""JSON without ambiguity: no key twice, no numbers but integers, and a digest of the content.

The digest, SHA-256 of the content in one canonical form, shows damage. It is no signature: whoever
changes a file can compute it again. What protects a claim is that it is derived again.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

MOST_BYTES = 2**26
DIGEST = "digest"


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
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        message = f"keys: expected each once, got {', '.join(twice)} twice"
        raise ValueError(message)
    return found


def _no_number(text: str) -> Any:  # noqa: ANN401
    message = f"numbers: expected integers or fractions as text, got {text[:80]}"
    raise ValueError(message)


def document_of(data: str | bytes) -> dict[str, Any]:
    """The object that a text states; ValueError for anything else."""
    if len(data) > MOST_BYTES:
        message = f"size: expected at most {MOST_BYTES} bytes, got {len(data)}"
        raise ValueError(message)
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
    if not isinstance(found, dict):
        message = f"content: expected an object, got {type(found).__name__}"
        raise ValueError(message)  # noqa: TRY004  (of a file, not of an argument)
    return found
