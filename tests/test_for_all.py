import pytest

from for_all import for_all


def test_a_case_that_fails_is_named_and_the_others_are_run():
    seen = []

    @for_all("x", [1, 2])
    @for_all(("y", "z"), [(3, 4), (5, 6)])
    def test(x, y, z, fixture):
        seen.append((x, y, z, fixture))
        assert x + z != 8

    with pytest.raises(AssertionError, match=r"^1 of 2 cases:\n\{'x': 2\}.*'y': 5, 'z': 6"):
        test(fixture=0)
    assert seen == [(1, 3, 4, 0), (1, 5, 6, 0), (2, 3, 4, 0), (2, 5, 6, 0)]
