"""The plan: which candidates one fit serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor

from steadycv.fitting import Group, Problem, new_estimator, separate

# Imported to be registered.
from steadycv.paths import boosting, forests, linear, neighbors, pipelines, svm, trees  # noqa: F401
from steadycv.paths.registry import find_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.candidates import Box, Grid
    from steadycv.paths.protocol import Path

__all__ = ["plan"]

MAX_OUTPUTS = 2**23


def plan(problem: Problem, grid: Grid, *, use_paths: bool = True) -> list[Group]:
    """Put candidates that a path serves together into groups, and all others alone."""
    path = find_path(problem.estimator) if use_paths and _can_use_paths(problem) else None
    if path is None:
        return separate(len(grid))
    groups: list[Group] = []
    for box in grid.boxes:
        for candidates in _lines(box, set(path.parameters(problem.estimator))):
            groups += _split(problem, path, candidates, grid.candidates)
    return groups


def _can_use_paths(problem: Problem) -> bool:
    # A scorer may ask a classifier for anything, and a path has the outputs of one method only.
    replayable = problem.response.method == "predict" and is_regressor(problem.estimator)
    only_weights = all(name.split("__")[-1] == "sample_weight" for name in problem.fit_params)
    return only_weights and not problem.predict_on_copy and (problem.scorer is None or replayable)


def _lines(box: Box, parameters: set[str]) -> Iterator[NDArray[np.intp]]:
    """The candidates of a box that differ in some parameters only."""
    moving = [axis for axis, name in enumerate(box.names) if name in parameters]
    table = np.moveaxis(box.table(), moving, range(-len(moving), 0))
    yield from table.reshape(-1, int(np.prod(table.shape[table.ndim - len(moving) :])))


def _split(
    problem: Problem, path: Path, candidates: NDArray[np.intp], settings: list[dict[str, Any]]
) -> list[Group]:
    """What the path serves of a line as one group, the rest alone."""
    candidates = np.sort(candidates)
    try:
        estimator = new_estimator(problem.estimator, settings[candidates[0]])
    except ValueError:  # an unknown parameter is the separate fit's to report
        return [Group(candidates[i : i + 1]) for i in range(len(candidates))]
    served = np.array(
        [path.serves(estimator, settings[c], problem.X, problem.y) for c in candidates.tolist()]
    )
    # No more outputs in one job than fit well into memory.
    size = max(1, MAX_OUTPUTS // problem.lattice.n_samples)
    if hasattr(path, "at_most"):
        size = min(size, path.at_most(estimator) or size)
    together = [candidates[served][i : i + size] for i in range(0, int(served.sum()), size)]
    alone = [candidates[i : i + 1] for i in np.flatnonzero(~served)]
    return [Group(some, path, estimator) for some in together] + [Group(one) for one in alone]
