"""Figure of the attack on DP-PCA: a panel per relation, and the chosen thresholds ringed."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.figures.pca_attack import attack
from dpnoise_papers.inid_2024.learning_settings import PcaAttack
from dpnoise_papers.inid_2024.tables.pca_privacy import dp_pca_attack


def test_the_attack_has_a_panel_per_relation_and_rings_the_chosen():
    settings = PcaAttack(
        seed=0, features=10, epsilon=1.0, delta=1e-3, draws=20_000, confidence=0.99, thresholds=7
    )
    table = dp_pca_attack(settings)
    figure = attack(table)
    figure.draw_without_rendering()
    assert len(figure.axes) == 2
    for axes, (_, rows) in zip(figure.axes, table.groupby("relation", sort=False), strict=True):
        chosen = rows[rows["chosen"] == 1]
        ratio = chosen["detection"] / (np.e * chosen["false_alarm"] + 1e-3)
        hollow = [c for c in axes.collections if getattr(c, "get_sizes", list)() == [70]]
        rings = [c.get_offsets()[0] for c in hollow]
        assert sorted(float(ring[1]) for ring in rings) == pytest.approx(sorted(ratio))
        texts = [text.get_text() for text in axes.texts]
        assert len(texts) == 2
        assert all("attack proves" in text for text in texts)
