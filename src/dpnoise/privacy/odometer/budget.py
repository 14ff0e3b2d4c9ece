"""One privacy budget for several releases of the same data: the public `Budget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.base import Noise
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.odometer.accounts import renyi_divergences
from dpnoise.privacy.odometer.concentrated import ConcentratedAccount, concentrated
from dpnoise.privacy.odometer.ledger import (
    Entry,
    Ledger,
    check_label,
    pure_release,
    read_document,
    read_entry,
    read_sampled,
    read_times,
    today,
    written,
    written_entries,
)
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.odometer.statement import (
    Repeated,
    Statement,
    listed,
    of_budget,
    words_of,
)
from dpnoise.privacy.odometer.storage import LedgerFile, Memory, read_path
from dpnoise.privacy.odometer.terms import Spent, Terms, read_ledger, read_terms
from dpnoise.privacy.sampled.mechanism import Sample
from dpnoise.sensitivity.base import Sensitivity, is_set, joined
from dpnoise.sensitivity.relation import ADD_REMOVE, number_words

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.odometer.concentrated import ZCDP


_NUMBERS = (int, float, str, type(None))


class _Last(NamedTuple):
    """The arguments of the last call of `spend`, and the entry that they led to."""

    asked: tuple[Any, ...]
    entry: Entry
    what: str


def _times(count: int, what: str) -> str:
    """So many releases in words, as the subject of a message."""
    return what if count == 1 else f"{count} times {what}"


def _is_fixed(asked: tuple[Any, ...]) -> bool:
    """Whether arguments of `spend` cannot change: frozen noise, and numbers."""
    noise, *others = asked
    frozen = getattr(type(noise), "__dataclass_params__", None)
    known = isinstance(noise, Noise | IntegerNoise | Sample) and frozen and frozen.frozen
    return bool(known) and all(type(one) in _NUMBERS for one in others)


def _same(before: tuple[Any, ...], asked: tuple[Any, ...]) -> bool:
    """Whether arguments of `spend` are those of a call before, which could not change."""
    return before[0] is asked[0] and all(
        type(a) is type(b) and a == b for a, b in zip(before[1:], asked[1:], strict=True)
    )


class Budget:
    """A privacy budget (epsilon, delta) and what has been spent of it.

    Each release of the same data is recorded by `spend` before it is made; one that would exceed
    the budget is refused. All releases together are then (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float, optional
        From 0 to 1e4; needed unless rho is given.
    delta : float
        0, or from 1e-300 to below 1. Beside rho it is where `epsilon_of` answers by default.
    rho : float, optional
        A limit on zero-concentrated privacy in place of epsilon, from 0 to 1e8. Everything not
        refused is rho-zCDP together, also where noise, sensitivities and numbers depend on earlier
        results.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for all entries: one person more or less, or one person
        replaced by another. Entries that state no relation are then for this one; without it each
        entry states its own, and all must be the same.

    Attributes
    ----------
    epsilon, delta, rho : float
        The budget; epsilon is None beside rho, and rho is None beside epsilon.
    rho_left : float
        What the limit on rho leaves; None without one.
    relation : str or None
        As given, or that of the first entry; None before it.
    path : pathlib.Path or None
        The file that its ledger lives in; None where that is the memory of this process.
    adaptive : bool
        Whether noise, sensitivities and numbers of the releases so far may have depended on earlier
        results: where rho is the limit or delta is 0, and where all of them are Gaussian noise.
        Elsewhere only which queries are asked, and when to stop, may.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    Proved (docs/budget.md): everything not refused is (epsilon, delta)-DP together, in the model of
    real-valued noise, rounding included. Assumed: every release is recorded, with a
    sensitivity that holds.

    Threads share a budget: a release is checked and recorded under one lock, before it is drawn.
    Other processes, of a fork too, have copies that refuse to be charged, unless the ledger lives
    in a file (`Budget.create`, `Budget.open`).

    Examples
    --------
    >>> from dpnoise import Budget, Gaussian, Laplace
    >>> budget = Budget(epsilon=3.0, delta=1e-6, relation="add-remove")
    >>> budget.spend(Gaussian(4.0), sensitivity=1.0, times=5)
    >>> budget.spend(Laplace(3.0), sensitivity=1.0)
    >>> round(budget.epsilon_of(), 5)
    2.80469
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float = 0.0,
        *,
        rho: float | None = None,
        relation: str | None = None,
    ) -> None:
        problems = Problems("budget")
        terms = read_terms(problems, epsilon, delta, relation, rho)
        problems.raise_if_any()
        assert terms is not None  # noqa: S101  (or refused)
        self._begin(terms, Spent(Ledger(), [], 0), Memory())

    def _begin(self, terms: Terms, spent: Spent, home: Memory | LedgerFile) -> None:
        """Take what is promised, what was spent, and where the ledger lives."""
        self._terms, self._account = terms, terms.account
        self.epsilon, self.delta, self.rho = terms.epsilon, terms.delta, terms.rho
        self._last: _Last | None = None
        self._spent = spent  # replaced as a whole, so that readers need no lock
        self._home = home

    @classmethod
    def _made(cls, terms: Terms, spent: Spent, home: Memory | LedgerFile) -> Budget:
        """A budget by its parts."""
        found = cls.__new__(cls)
        found._begin(terms, spent, home)  # noqa: SLF001  (a budget)
        return found

    @property
    def relation(self) -> str | None:
        """Which data sets are neighbours: as given, or as the first entry says."""
        return self._terms.relation or self._ledger.relation

    @property
    def adaptive(self) -> bool:
        """Whether parameters of the releases so far may have depended on earlier results."""
        return self.rho is not None or self.delta == 0.0 or self._ledger.all_gaussian

    @property
    def rho_left(self) -> float | None:
        """What the limit on rho leaves, rounded down; None without one."""
        account = self._account
        return account.left(self._ledger) if isinstance(account, ConcentratedAccount) else None

    @property
    def path(self) -> Path | None:
        """The file that its ledger lives in, or None."""
        return self._home.path

    @property
    def _ledger(self) -> Ledger:
        return self._now().ledger

    def __repr__(self) -> str:
        """The arguments that it was made with."""
        if self.path is not None:
            return f"Budget.open({str(self.path)!r})"
        limit = f"epsilon={self.epsilon!r}" if self.rho is None else f"rho={self.rho!r}"
        return f"Budget({limit}, delta={self.delta!r}, relation={self._terms.relation!r})"

    def __str__(self) -> str:
        """What was spent, on what, and what is left, as a table."""
        now = self._now()

        def line(group: Repeated) -> str:
            alone = self._account.epsilon_of(Ledger().plus(group.one, group.times), self.delta)
            when = f" ({group.when})" if group.when else ""
            return f"  {group.times} x {group.what}: epsilon = {alone:.4g} alone{when}"

        spent, left = self._totals(now)
        return "\n".join(
            [
                f"budget: {self._terms.promise} ({self.relation})",
                *listed(now.listed, line),
                f"spent: epsilon = {spent:.4g} at delta = {self.delta:g}; left: {left:.4g}",
            ]
        )

    def _totals(self, now: Spent) -> tuple[float, float]:
        """Epsilon of all that was spent at the budget's delta, and what is left of it."""
        spent = self._account.epsilon_of(now.ledger, self.delta)
        return spent, max(0.0, self._account.pure_left(now.ledger))

    def statement(self) -> Statement:
        """Half a page of plain English for a privacy officer to file, dated today.

        Returns
        -------
        Statement
            A text that says who is protected, what was released, the total so far and what is not
            covered; notebooks show it as HTML.

        Examples
        --------
        >>> from dpnoise import Budget, Counts, best
        >>> budget = Budget(1.0, relation="add-remove")
        >>> found = best(Counts(1, of=20, relation="add-remove"), epsilon=0.25)
        >>> for week in ("week 1", "week 2", "week 3"):
        ...     budget.spend(found, label=week)
        >>> len(budget.statement().splitlines()) < 40
        True
        """
        now = self._now()
        if self.epsilon is not None:
            limit = f"epsilon = {number_words(self.epsilon)} at this delta"
        else:
            limit = f"rho = {self.rho!r}, whatever delta"
        if now.number and self.adaptive and self.delta > 0.0:
            limit += "; it alone holds where noise was chosen by earlier results"
        return of_budget(now.listed, self.relation, (limit, self.delta), self._totals(now), today())

    def _repr_html_(self) -> str:
        """The statement for notebooks."""
        return self.statement()._repr_html_()

    @property
    def entries(self) -> list[Entry]:
        """What was spent, in order: entries with `what` in words, `times` and the cost of `one`."""
        return self._now().listed

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy, which may be charged only if the ledger lives in a file."""
        now = self._spent
        spent = Spent(now.ledger, now.listed, now.number, now.text)
        return {"terms": self._terms, "spent": spent, "path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy."""
        path = state["path"]
        home = Memory(original=False) if path is None else LedgerFile(path)
        self._begin(state["terms"], state["spent"], home)

    def __sklearn_clone__(self) -> Budget:
        """The budget itself: clones of an estimator are charged to one and the same."""
        return self

    def to_json(self) -> str:
        """The budget and all that was spent, as JSON with exact numbers and a digest.

        Returns
        -------
        str
            To be read by `from_json`.

        Raises
        ------
        ValueError
            If an entry has a user's own noise.
        """
        return written(self._terms.stated, self.entries)

    @classmethod
    def from_json(cls, text: str | bytes, *, edited: bool = False) -> Budget:
        """The budget that a text of `to_json` states, with all that was spent.

        Parameters
        ----------
        text : str or bytes
            What `to_json` returned.
        edited : bool
            Whether to read a text that was edited, whose digest does not match or is missing (as
            in the texts of earlier versions).

        Returns
        -------
        Budget
            A budget that goes on where the other one was. Only one of the two may go on.

        Raises
        ------
        ValueError
            If the text is not of this form or version, its digest does not match, a number is out
            of range, or the entries exceed the budget; every problem is named.

        Examples
        --------
        >>> from dpnoise import Budget, Laplace
        >>> budget = Budget(1.0, relation="add-remove")
        >>> budget.spend(Laplace(4.0), 1.0)
        >>> Budget.from_json(budget.to_json()).remaining()
        0.75
        """
        terms, entries, ledger = read_ledger(text, edited=edited)
        return cls._made(terms, Spent(ledger, entries, len(entries)), Memory())

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0.0,
        *,
        rho: float | None = None,
        relation: str | None = None,
    ) -> Budget:
        """A budget whose ledger lives in a new file, for several runs and processes.

        Each charge locks the file (by a second one, named with '.lock' at its end), reads it again,
        checks the release and replaces the file, before anything is drawn.

        Parameters
        ----------
        path : str or os.PathLike
            The file, which must not be there; its folder must.
        epsilon, delta, rho, relation : float or None, float, float or None and str or None
            As for `Budget`.

        Returns
        -------
        Budget
            A budget without entries, which `Budget.open` of another process finds, too.

        Raises
        ------
        ValueError
            If the file is there, or an argument is out of range; the message names every problem.
        RuntimeError
            If the file cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dpnoise import Budget, Laplace
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Path(folder) / "ledger.json"
        ...     Budget.create(ledger, 1.0, relation="add-remove").spend(Laplace(4.0), 1.0)
        ...     Budget.open(ledger).remaining()
        0.75
        """
        problems = Problems("budget")
        terms = read_terms(problems, epsilon, delta, relation, rho)
        file = LedgerFile(read_path(problems, path, new=True))
        problems.raise_if_any()
        assert terms is not None  # noqa: S101  (or refused)
        with file.charging():
            read_path(problems, path, new=True)  # another process may have made it meanwhile
            problems.raise_if_any()
            text = file.write(lambda known: written(terms.stated, [], known))
        return cls._made(terms, Spent(Ledger(), [], 0, text), file)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, edited: bool = False) -> Budget:
        """The budget whose ledger lives in a file, for several runs and processes.

        Parameters
        ----------
        path : str or os.PathLike
            A file of `Budget.create`, or one that holds what `to_json` returned.
        edited : bool
            As for `from_json`; the file then gets the digest of what it says.

        Returns
        -------
        Budget
            A budget that shows what the file says, and is charged in the file. Its copies are, too.

        Raises
        ------
        ValueError
            If the file is not there, or as for `from_json`.
        RuntimeError
            If the file cannot be read, locked or written.
        """
        problems = Problems("budget")
        file = LedgerFile(read_path(problems, path, new=False))
        problems.raise_if_any()
        text = file.read()
        terms, entries, ledger = read_ledger(text, edited=edited, path=file.path)
        if edited:
            with file.charging():
                terms, entries, ledger = read_ledger(file.read(), edited=True, path=file.path)
                text = file.write(lambda known: written(terms.stated, entries, known))
        return cls._made(terms, Spent(ledger, entries, len(entries), text), file)

    def _now(self) -> Spent:
        """What was spent so far, by the file where there is one."""
        spent = self._spent  # before the file is read, which only grows
        text = self._home.read()
        if text is None or text == spent.text:
            return spent
        problems = Problems(f"budget: {str(self.path)!r}")
        data = read_document(problems, text, edited=False)
        problems.raise_if_any()
        before = written_entries(spent.listed)
        same = all(data[name] == value for name, value in self._terms.stated.items())
        if not same or data["entries"][: spent.number] != before:
            problems.add("expected the budget and the entries that it had before, and perhaps more")
        listed = list(enumerate(data["entries"]))[spent.number :]
        more = [read_entry(problems, k, one) for k, one in listed]
        problems.raise_if_any()
        ledger = self._terms.joined(spent.ledger, more, first=spent.number)
        entries = [*spent.listed, *more]
        self._spent = spent = Spent(ledger, entries, len(entries), text)
        return spent

    def spend(
        self,
        noise: Any,  # noqa: ANN401  (of any family, or a sequence, or a result)
        sensitivity: float | ArrayLike | Sensitivity | None = None,
        times: int = 1,
        *,
        sampling: float | None = None,
        relation: str | None = None,
        label: str = "",
    ) -> None:
        """Record of releases that are about to be made.

        Parameters
        ----------
        noise : object
            What `best`, `compare`, `calibrate`, `calibrate_joint` or
            `coordinate_noise` found, a fitted private estimator, what a helper of `release`
            returned, a `SampledGaussian` or a `SampledLaplace`: these state all the rest. Or an
            event of dp_accounting, which is read by its name (docs/budget.md lists those). Or the
            noise of a number, the independent noise of each coordinate of a vector, or their joint
            noise. K-norm noise in the l2 norm, or that of an ellipsoid, counts by its own loss, in
            any other norm as Laplace noise of one number, which is exact for boxes and l1 balls,
            and staircases in a norm by their pure epsilon. Where a release may cost less than what
            stands for it, its entry says so.
        sensitivity : float, array_like of float or Sensitivity, optional
            The largest change of the query, non-negative, or of each coordinate (an integer for
            noise on the integers), or a set: noise of one number is then independent for each
            coordinate, and a list has that of each. For joint noise a set, or a number by which its
            own is multiplied (for `KNorm` the unit ball). For Gaussian noise it
            may be the l2 sensitivity of a vector whose coordinates all have this noise. None beside
            a result.
        times : int
            How many such releases, with fresh noise each, from 1 to 1e8.
        sampling : float, optional
            For Gaussian noise, of a sum over a Poisson sample: the chance of each record to be in
            it. The sensitivity is then the largest norm of one record's contribution, for either
            relation. Noise on samples is refused beside noise of which no moment is known.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours; needed unless the set or the budget states it, and then
            the same. Noise on samples counts by the pair of the relation; where none is stated it
            is "add-remove", for samples of fixed size "replace-one".
        label : str
            What the releases are called in the table and the statement, as 'week 7'; public.

        Raises
        ------
        ValueError
            If an argument is out of range, or no relation is stated or another one than that of the
            budget.
        BudgetExceededError
            If the budget does not allow it. In either case nothing is recorded.
        """
        asked = noise, sensitivity, times, sampling, relation, label
        last = self._last  # which another thread may replace
        if last is not None and _same(last.asked, asked):
            self._again(last.entry, last.what)
            return
        problems = Problems("budget")
        count = read_times(problems, times)
        if sampling is None:
            release = read_release(problems, noise, sensitivity)
        else:
            release = read_sampled(problems, noise, sensitivity, sampling)
        own = sensitivity.relation if is_set(sensitivity) else release.relation
        if own is relation is self._terms.relation is None and hasattr(noise, "sampled_step"):
            own = ADD_REMOVE  # as its own bounds have it
        stated = joined(problems, own, relation, "the set and relation=")
        what = words_of(noise, sensitivity)
        entry = self._record(problems, Entry(what, count, release, label), stated)
        self._last = _Last(asked, entry, _times(count, what)) if _is_fixed(asked) else None

    def spend_dp(
        self,
        epsilon: float,
        delta: float = 0.0,
        times: int = 1,
        *,
        relation: str | None = None,
        label: str = "",
    ) -> None:
        """Record of mechanisms of which only (epsilon, delta)-DP is known.

        Parameters
        ----------
        epsilon, delta : float
            Of one of them: epsilon from 0 to 700, delta in [0, 1).
        times : int
            How many, from 1 to 1e8.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours; needed unless the budget states it.
        label : str
            As for `spend`.

        Raises
        ------
        ValueError
            As for `spend`.
        BudgetExceededError
            As for `spend`.
        """
        problems = Problems("budget")
        count = read_times(problems, times)
        good = problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
        release = pure_release(problems, epsilon, delta) if good else Ledger()
        what = f"({epsilon!r}, {delta!r})-DP"
        self._record(problems, Entry(what, count, release, label), relation)

    def _record(self, problems: Problems, new: Entry, relation: str | None) -> Entry:
        """Record of a checked release with its relation, unless it exceeds the budget.

        All under one lock, so that no other release is recorded between the check and the record.
        """
        check_label(problems, new.label)
        self._require_home(problems)
        with self._home.charging():
            now = self._now()
            dated = new._replace(date=today())
            entry = self._terms.accepted(problems, now.ledger, dated, relation)
            self._charge(now, entry, _times(new.times, new.what))
            return entry

    def _require_home(self, problems: Problems | None = None) -> None:
        """Problems before the lock, which another thread may have held when the process forked."""
        reason = self._home.refusal()
        if reason:
            problems = problems or Problems("budget")
            problems.add(reason)
            problems.raise_if_any()

    def _charge(self, now: Spent, entry: Entry, what: str) -> None:
        """Record of an entry, within the lock."""
        after = now.charged(self._terms, entry, what)
        entries = now.entries
        entries[now.number :] = [entry]
        text = self._home.write(lambda known: written(self._terms.stated, entries, known))
        self._spent = after if text is None else after._replace(text=text)

    def _again(self, entry: Entry, what: str) -> None:
        """Record of an entry like the one before, whose arguments were checked then."""
        self._require_home()
        with self._home.charging():
            day = today()
            new = entry if entry.date == day else entry._replace(date=day)
            self._charge(self._now(), new, what)

    def epsilon_of(self, delta: float | None = None) -> float:
        """An upper bound on the epsilon of everything spent.

        Where noise, sensitivities or numbers were chosen by earlier results, it is for delta = 0
        alone: with delta only the limit of the budget holds.

        Parameters
        ----------
        delta : float, optional
            In [0, 1); the budget's by default.

        Returns
        -------
        float
            Within about 1e-7 of the smallest one; infinite if there is none.

        Raises
        ------
        ValueError
            If delta is out of range.
        """
        if delta is None:
            delta = self.delta
        problems = Problems("budget")
        problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
        problems.raise_if_any()
        return self._account.epsilon_of(self._ledger, float(delta))

    def remaining(self) -> float:
        """Epsilon of a release without delta that still fits, rounded down.

        It is the budget's epsilon less `epsilon_of()`. Releases of other kinds may fit where it is
        small: `spend` decides.
        """
        return max(0.0, self._account.pure_left(self._ledger))  # not -0.0

    def _allows(self, one: Ledger, times: int) -> bool:
        """Whether releases that cost so much each would be within the budget; nothing is spent."""
        return self._account.keeps(self._now().ledger.plus(one, times))

    def zcdp(self) -> ZCDP:
        """A concentrated bound (xi, eta) of everything spent, infinite where none is known."""
        return concentrated(self._ledger, self.delta)

    def rdp(self, orders: ArrayLike) -> Array:
        """Upper bounds on the Renyi divergences of everything spent.

        Parameters
        ----------
        orders : array_like of float
            Above 1, at most 1e6.

        Returns
        -------
        numpy.ndarray or float
            Of the shape of `orders`, infinite where none is known.

        Raises
        ------
        ValueError
            If an order is out of range.
        """
        problems = Problems("budget")
        checked = floats(problems, "orders", orders, low=1.0, high=1e6, open_low=True)
        problems.raise_if_any()
        found = renyi_divergences(self._ledger, np.atleast_1d(checked).ravel())
        return found.reshape(checked.shape)[()]
