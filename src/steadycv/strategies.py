"""Strategies: in which order, and how far, candidates are looked at.

A strategy is asked once for the final choice and once for every outer fold, for every stability
weight. All of them run side by side and share one ledger, so a fit that any of them asked for
is never done again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from steadycv.rules import first_minimum

if TYPE_CHECKING:
    from steadycv.candidates import Box, Candidates

__all__ = ["Questions", "Strategy", "coordinate_descent", "exhaustive", "get_strategy"]

Questions: TypeAlias = Generator[Sequence[int] | NDArray[np.intp], NDArray[np.float64], int]
"""Yields the candidates it wants to know, is sent their errors, and returns its choice."""

Strategy: TypeAlias = "Callable[[Candidates], Questions]"
"""A function of the candidates that returns its :data:`Questions`.

They are a :class:`~steadycv.candidates.Grid`: a list of settings, with the axes that they come from.

Examples
--------
Look at every second candidate only:

>>> import numpy as np
>>> def every_second(grid):
...     asked = range(0, len(grid), 2)
...     errors = yield asked
...     return asked[int(np.argmin(errors))]

A strategy may add candidates; of settings that are there already it is told the number:

>>> def halfway(grid):
...     errors = yield range(len(grid))
...     first, second = np.argsort(errors)[:2]
...     middle = (grid[first]["alpha"] * grid[second]["alpha"]) ** 0.5
...     [added] = grid.add([{"alpha": middle}])
...     [error] = yield [added]
...     return added if error < errors[first] else first
"""

MAX_ITERATIONS = 10


def exhaustive(grid: Candidates, candidates: NDArray[np.intp] | None = None) -> Questions:
    """Look at the whole grid, or at some candidates; the first of the smallest errors wins."""
    asked = range(len(grid)) if candidates is None else candidates
    errors = yield asked
    return int(asked[first_minimum(errors)])


def coordinate_descent(grid: Candidates) -> Questions:
    """Minimise along one axis after the other, as the paper does.

    All axes start in their middle. An iteration goes once through all axes from the last one to
    the first, so the first axis is the one that is fixed at the start. It stops at a setting it
    has been at before, or after ten iterations. Of a list of grids, each is searched by itself.
    """
    choices, errors = [], []
    for box in grid.boxes:
        choice, error = yield from _descend(box)
        choices.append(choice)
        errors.append(error)
    return choices[first_minimum(np.array(errors))]


def _descend(box: Box) -> Generator[Sequence[int], NDArray[np.float64], tuple[int, float]]:
    position = [(size - 1) // 2 for size in box.shape]
    error = np.nan
    if not position:
        (error,) = yield [box.candidate(())]
    seen: set[tuple[int, ...]] = set()
    while tuple(position) not in seen and len(seen) < MAX_ITERATIONS:
        seen.add(tuple(position))
        for axis in reversed(range(len(position))):
            line = [[*position[:axis], i, *position[axis + 1 :]] for i in range(box.shape[axis])]
            errors = yield [box.candidate(point) for point in line]
            best = first_minimum(errors)
            position, error = line[best], float(errors[best])
    return box.candidate(position), float(error)


def get_strategy(search: Any) -> Strategy:
    """The strategy called by a name, or the strategy itself."""
    named = {"grid": exhaustive, "coordinate": coordinate_descent}
    if isinstance(search, str) and search in named:
        return named[search]
    if callable(search):
        strategy: Strategy = search
        return strategy
    raise ValueError(
        f"search must be {' or '.join(map(repr, named))}, or a strategy (a generator function of "
        f"the grid, see steadycv.strategies), got {search!r}."
    )
