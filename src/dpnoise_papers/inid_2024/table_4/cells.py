"""Noise and settings of the networks of one cell of Table IV of inid-2024.

A cell of the table is a budget and a scheme. One more cell, 'none', has neither clipping nor noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.inid_2024.deep.accounting import noise_unit
from dpnoise_papers.inid_2024.deep.network import parameter_groups, residual_network
from dpnoise_papers.inid_2024.deep.run import Run
from dpnoise_papers.inid_2024.deep.scales import flat_clips, group_scales

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep.run import Trial
    from dpnoise_papers.inid_2024.deep.scales import Noise
    from dpnoise_papers.inid_2024.deep_settings import Cell, PrivateTraining

_NO_CLIP = 1e4  # which no gradient of the unclipped cell reached; its column `clipped` says so


def cell_run(
    settings: PrivateTraining,
    data: Images,
    part: str,
    trials: tuple[Trial, ...],
    *,
    search: bool = False,
) -> Run:
    """Settings of the networks of one cell.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    data : Images
        What is learnt.
    part : str
        The cell, one of `settings.cells`.
    trials : tuple of Trial
        The networks.
    search : bool
        Whether they are trained for `search_epochs`, and may diverge.

    Returns
    -------
    Run
        With the noise of `epochs` in any case.
    """
    _, channels, _, _ = data.train.shape
    model = residual_network(settings.network, channels, int(data.train_labels.max()) + 1)
    sizes = [group.size for group in parameter_groups(model, settings.groups)]
    noise, whole, clips, scales = cell_noise(settings, settings.cells[part], sizes)
    return Run(
        network=settings.network,
        groups=settings.groups,
        whole=whole,
        noise=noise,
        clips=clips,
        scales=scales,
        rate=settings.rate,
        epochs=settings.search_epochs if search else settings.epochs,
        trials=trials,
        seed=settings.seed,
        scope=("table-4", data.name, part),
        chunk=settings.chunk,
        precision=settings.precision,
        stop=not search,
    )


def cell_noise(
    settings: PrivateTraining, cell: Cell, sizes: list[int]
) -> tuple[Noise, bool, tuple[float, ...], tuple[float, ...]]:
    """Noise, whether the gradient is clipped as a whole, thresholds and scales of a cell.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    cell : Cell
        Budget and scheme.
    sizes : list of int
        Numbers of parameters of the groups.

    Returns
    -------
    noise : {"gaussian", "laplace"}
        Its family.
    whole : bool
        True for i.i.d. noise.
    clips, scales : tuple of float
        Of each clipped group.
    """
    if cell.budget is None or cell.scheme == "none":
        return "gaussian", True, (_NO_CLIP,), (0.0,)
    noise, whole = cell.budget.noise, cell.scheme == "iid"
    steps = settings.epochs * max(1, round(1.0 / settings.rate))
    budget = (cell.budget.epsilon, cell.budget.delta)
    unit = noise_unit(noise, *budget, steps, settings.rate)
    sizes = [sum(sizes)] if whole else sizes
    clips = flat_clips(noise, len(sizes), settings.clip)
    scales = group_scales(cell.scheme, noise, clips, sizes, unit)
    return noise, whole, tuple(clips.tolist()), tuple(scales.tolist())
