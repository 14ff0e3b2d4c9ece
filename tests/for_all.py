"""One test for all cases of a table: what `pytest.mark.parametrize` makes many of.

For cases that take milliseconds, of which a report, an id and a worker's turn cost as much. Those
that fail are listed. What a test changes for a while (`monkeypatch`) it changes for all cases.
"""

import functools
import inspect

import pytest


def for_all(names, cases):
    """Run a test for each case; `names` and `cases` as for `pytest.mark.parametrize`."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = [case if len(names) > 1 else (case,) for case in cases]

    def decorate(test):
        @functools.wraps(test)
        def one(**fixtures):
            wrong = []
            for case in cases:
                given = dict(zip(names, case, strict=True))
                try:
                    test(**given, **fixtures)
                except Exception as error:  # noqa: BLE001
                    wrong.append((given, error))
            if wrong:
                told = "\n".join(f"{given}: {error!r}" for given, error in wrong)
                message = f"{len(wrong)} of {len(cases)} cases:\n{told}"
                raise AssertionError(message) from wrong[0][1]

        own = inspect.signature(test)
        rest = [value for name, value in own.parameters.items() if name not in names]
        one.__signature__ = own.replace(parameters=rest)
        return one

    return decorate


def thinned(cases, every=2):
    """Each second case, say, for `pytest.mark.parametrize`; the others are slow tests."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks)
        for number, case in enumerate(cases)
        for marks in [() if number % every == 0 else pytest.mark.slow]
    ]
