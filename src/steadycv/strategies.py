"""Strategies: in which order, and how far, candidates are looked at.

A strategy is asked once for the final choice and once for every outer fold, for every stability
weight. All of them run side by side and share one ledger, so a fit that any of them asked for
is never done again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from steadycv.rules import first_minimum

if TYPE_CHECKING:
    from steadycv.candidates import Box, Candidates

__all__ = [
    "Found",
    "Proposals",
    "Proposer",
    "Questions",
    "Strategy",
    "are_apart",
    "coordinate_descent",
    "exhaustive",
    "get_proposals",
    "get_strategy",
]

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


class Found(NamedTuple):
    """What a view found of some candidates.

    Attributes
    ----------
    candidates : ndarray of int
        Their numbers.
    error, instability : ndarray of float
        Of each; infinite where something failed, and the instability NaN where nobody asks for it.
    by_evaluation : ndarray of shape (n_candidates, n_evaluations)
        The errors in the evaluations of the view, of which `error` is the mean.
    """

    candidates: NDArray[np.intp]
    error: NDArray[np.float64]
    instability: NDArray[np.float64]
    by_evaluation: NDArray[np.float64]


class Proposer(Protocol):
    """Proposes candidates to one view."""

    def ask(self) -> Sequence[dict[str, Any]]:
        """The next candidates; none when there are enough."""

    def tell(self, found: Found) -> None:
        """What the view found of them."""


class Proposals(Protocol):
    """A ``search=`` that proposes candidates, of which the rule then chooses.

    Attributes
    ----------
    n_trials : int
        How many candidates each proposer has.
    per_view : bool
        Whether each view chooses among candidates that were proposed to itself. Otherwise there is one
        proposer, which is told what the final view finds, and all choose among the same.
    """

    n_trials: int
    per_view: bool

    def check(self, space: Any) -> None:
        """Refuse a space that it cannot propose from, before anything is fitted."""

    def proposer(self, space: Any, *, of_all: bool) -> Proposer:
        """A new proposer for a view; `of_all` says whether that is the final one."""


def exhaustive(grid: Candidates) -> Questions:
    """Look at the whole grid; the first of the smallest errors wins.

    A search of its own does so for all weights at the same time, and chooses the same.
    """
    errors = yield range(len(grid))
    return first_minimum(errors)


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


def get_proposals(search: Any) -> Proposals | None:
    """What proposes candidates, if anything does."""
    return search if hasattr(search, "proposer") else None


def are_apart(search: Any) -> bool:
    """Whether each view has candidates of its own."""
    proposals = get_proposals(search)
    return proposals is not None and proposals.per_view


def get_strategy(search: Any) -> Strategy:
    """The strategy called by a name, or the strategy itself; of what is proposed all are looked at."""
    if get_proposals(search) is not None:
        return exhaustive
    named = {"grid": exhaustive, "coordinate": coordinate_descent}
    if isinstance(search, str) and search in named:
        return named[search]
    if callable(search):
        strategy: Strategy = search
        return strategy
    raise ValueError(
        f"search must be {' or '.join(map(repr, named))}, or a strategy (an OptunaSearch(...), or a "
        f"generator function of the grid, see steadycv.strategies), got {search!r}."
    )
