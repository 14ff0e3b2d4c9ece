"""A limit passes in time for one more piece of work."""

import pytest

from dpnoise_papers.inid_2024.deep.run import TimeLimit


@pytest.mark.parametrize("pieces", [[1.0] * 200, [0.5, 7.0, 0.1] * 30, [30.0, 20.0, 10.0, 40.0]])
def test_work_ends_before_the_limit(pieces):
    """With twice the longest piece to spare; the time before the first one counts as time alone."""
    now = [5.0]
    limit = TimeLimit(100.0, clock=lambda: now[0])
    now[0] += 3.0
    assert not limit.passed()
    longest, late = 0.0, False
    for piece in pieces:
        now[0] += piece
        longest = max(longest, piece)
        late = limit.passed()
        assert late == (now[0] + 2 * longest > 105.0)
        if late:
            break
    assert late
    assert now[0] + longest <= 105.0


def test_a_limit_that_is_over_has_passed():
    assert TimeLimit(0.0).passed()
    assert TimeLimit(-1.0).passed()
