"""Half a page of plain English on a release or a budget, for a privacy officer to file."""

from __future__ import annotations

import html
import math
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise.sensitivity.relation import RELATIONS, REPLACE_ONE, number_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise.privacy.odometer.ledger import Entry, Ledger

_WIDTH = 100
_FIRST_SHOWN, _LAST_SHOWN = 4, 4  # of groups of equal entries
_LONGEST = 240  # of what an entry says
_LARGE = 50.0  # epsilon beyond which its factor says nothing


class Statement(str):
    r"""A statement as text, which notebooks show as HTML.

    Examples
    --------
    >>> from dpnoise import Budget, Laplace
    >>> budget = Budget(1.0, relation="add-remove")
    >>> budget.spend(Laplace(4.0), 1.0, label="pilot")
    >>> budget.statement().split("Total so far. ")[1].split(". ")[0]
    'All releases together cost epsilon = 0.25 at delta = 0'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The paragraphs, with lines of a list as items."""
        title, *parts = self.split("\n\n")
        found = [f"<h4>{html.escape(title)}</h4>"]
        for part in parts:
            head, *lines = part.split("\n- ")
            items = "".join(f"<li>{html.escape(' '.join(one.split()))}</li>" for one in lines)
            found.append(f"<p>{html.escape(' '.join(head.split()))}</p>")
            found.append(f"<ul>{items}</ul>" if items else "")
        return f"<div>{''.join(found)}</div>"


class Repeated(NamedTuple):
    """Entries in a row that are equal but for label and date.

    Attributes
    ----------
    what : str
        What was released, in words.
    times : int
        How many releases.
    one : Ledger
        What one of them costs.
    when : str
        Their labels and dates, from the first to the last.
    """

    what: str
    times: int
    one: Ledger
    when: str

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Repeated:
        """Several entries as one."""
        said = [_span([entry.label for entry in entries]), _span([e.date for e in entries])]
        first = entries[0]
        what = first.what if len(first.what) <= _LONGEST else f"{first.what[:_LONGEST]}..."
        times = sum(entry.times for entry in entries)
        return cls(what, times, first.one, ", ".join(one for one in said if one))


def _span(texts: Sequence[str]) -> str:
    """Texts from the first to the last."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0] or '-'} to {texts[-1] or '-'}"


def listed(entries: Sequence[Entry], line: Callable[[Repeated], str]) -> list[str]:
    """A line for each group of equal entries, of many groups for the first and the last."""
    groups = [list(some) for _, some in groupby(entries, lambda entry: (entry.what, entry.one))]
    if len(groups) > _FIRST_SHOWN + _LAST_SHOWN:
        middle = groups[_FIRST_SHOWN:-_LAST_SHOWN]
        number = sum(entry.times for some in middle for entry in some)
        first, last = groups[:_FIRST_SHOWN], groups[-_LAST_SHOWN:]
        more = f"and {number} more releases in {len(middle)} lines that are not shown"
        shown = [[line(Repeated.of(some)) for some in part] for part in (first, last)]
        return [*shown[0], more, *shown[1]]
    return [line(Repeated.of(some)) for some in groups]


def protected(relation: str | None, epsilon: float, delta: float) -> str:
    """Who is protected, and how far, in words."""
    if relation is None:
        return "No data sets are stated to be neighbours, so that nobody is promised anything yet."
    change = "were in it" if relation != REPLACE_ONE else "were another person's"
    words = (
        "Every single person in the data is protected. Assume that somebody sees all that is "
        "listed here and knows everybody else's data. They can hardly tell whether this person's "
        f"data {change}. "
    )
    if epsilon == math.inf:
        return f"{words}At this delta, however, no epsilon is known: the protection is not bounded."
    power = f"e to the power of epsilon = {_up(epsilon)}"
    words += "The chance of any conclusion changes by a factor of at most "
    words += f"{_up(math.exp(epsilon))}, {power}." if epsilon <= _LARGE else f"{power}."
    if delta:
        words += f" This may fail with a probability of at most delta = {number_words(delta)}."
    return f"{words} Neighbouring data sets differ by {RELATIONS[relation]}."


_NOT_COVERED = (
    "Several people together, as a family, are protected less: epsilon grows with their number.",
    "What follows from the data as a whole, as a regional rate, may be learned about its people.",
    "The guarantee assumes that nobody contributes more than is stated for each release.",
    "Labels, categories, groups, bounds and the index of a table are published as they are.",
    "Uses of the same data that are not listed here, and copies of the data, are not covered.",
)


def composed(title: str, parts: Sequence[tuple[str, str, Sequence[str]]]) -> Statement:
    """A statement from its title and paragraphs: heading, words and lines of a list."""
    more = [*parts, ("What this does not cover.", "", _NOT_COVERED)]
    found = []
    for head, words, lines in more:
        text = textwrap.fill(f"{head} {words}".rstrip(), _WIDTH)
        items = [
            textwrap.fill(one, _WIDTH, initial_indent="- ", subsequent_indent="  ") for one in lines
        ]
        found.append("\n".join([text, *items]))
    return Statement("\n\n".join([title, *found]))


def of_budget(
    entries: Sequence[Entry],
    relation: str | None,
    budget: tuple[str, float],
    totals: tuple[float, float],
    day: str,
) -> Statement:
    """The statement of a budget.

    Parameters
    ----------
    entries : sequence of Entry
        What was spent.
    relation : str or None
        Which data sets are neighbours.
    budget : tuple of str and float
        Its limit in words, and delta.
    totals : tuple of float
        The epsilon of all entries at this delta, and what is left.
    day : str
        The day of the statement.

    Returns
    -------
    Statement
        Half a page.
    """
    limit, delta = budget
    spent, left = totals

    def line(group: Repeated) -> str:
        when = f" ({group.when})" if group.when else ""
        return f"{_times(group.times)}: {group.what}{when}."

    number = sum(entry.times for entry in entries)
    words = f"{_times(number)}, each recorded before it was made:" if entries else "Nothing so far."
    total = (
        f"All releases together cost epsilon = {_up(spent)} at delta = {number_words(delta)}. "
        f"The budget is {limit}. "
        f"For releases without delta epsilon = {left:.4g} is left. "
        "A release that would exceed the budget is refused."
    )
    return composed(
        f"Privacy statement of {day}",
        [
            ("Who is protected.", protected(relation, spent, delta), ()),
            ("What was released.", words, listed(entries, line)),
            ("Total so far.", total, ()),
        ],
    )


def _up(value: float) -> str:
    """A number in six digits, rounded up."""
    if value == 0.0 or not math.isfinite(value):
        return number_words(value)
    unit = 10.0 ** (math.floor(math.log10(value)) - 5)
    return f"{math.ceil(value / unit * (1.0 - 1e-12)) * unit:.6g}"


def _times(number: int) -> str:
    """A number of releases in words."""
    return "One release" if number == 1 else f"{number:,} releases"


def words_of(noise: Any, sensitivity: Any) -> str:  # noqa: ANN401
    """What an entry says of noise and sensitivity; repetition is counted."""
    said = getattr(noise, "summary", None)
    first = said if isinstance(said, str) else _counted(noise)
    return first if sensitivity is None else f"{first} at sensitivity {_counted(sensitivity)}"


def _counted(value: Any) -> str:  # noqa: ANN401
    """The text of a value, of a list with equal neighbours counted."""
    if not isinstance(value, list | tuple) or len(value) < 2:
        return repr(value)
    parts = [(one, len(list(some))) for one, some in groupby(map(repr, value))]
    shown = [one if n == 1 else f"{one} {n} times" for one, n in parts]
    return repr(value) if len(parts) == len(value) else f"[{', '.join(shown)}]"
