"""Privacy loss of samples of norm 1: what is reached is within the bounds."""

import pytest

from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.inid_2024.tables.pca_losses import row_loss, sparse_delta


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("features", [2, 5, 8])
def test_reached_losses_are_at_most_the_bounds(noise, features):
    for scales in ((1.0, 1.0), (1.0, 0.6), (0.5, 2.0)):
        for relation in ("add-remove", "replace-one"):
            reached, most = row_loss(features, scales, noise, relation)
            assert 0.0 < reached <= most * (1 + 1e-12)


def test_sparse_samples_with_one_coordinate_pair_agree_with_the_scalar_profile():
    """Huge off-diagonal noise leaves the diagonal: k coordinates of 1/k, best at k small."""
    k, delta = sparse_delta(4, 0.2, 1e6, epsilon=1.0)
    assert k in (3, 4)
    single = privacy_profile(Laplace(0.2), 1.0, 1.0)
    assert 0.0 < delta < single
    weaker = sparse_delta(4, 0.4, 1e6, epsilon=1.0)[1]
    assert weaker < delta
