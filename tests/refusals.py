"""One test for a table of refused calls, each with words that its one message must hold."""

import pytest

from for_all import for_all


def names_every_problem(cases, match="expected"):
    """Return a test that each call of (call, words) raises a ValueError with all the words."""

    @for_all(("call", "words"), cases)
    def test(call, words):
        with pytest.raises(ValueError, match=match) as refusal:
            call()
        missing = [word for word in words if word not in str(refusal.value)]
        assert not missing, refusal.value

    return test
