"""Candidates: an append-only list of settings, and the axes of the grid that they come from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from steadycv.early_stopping import EarlyStopping, Series
from steadycv.paths.settings import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.settings import Key

__all__ = ["Box", "Candidates", "Grid"]


class Box:
    """One dict of a parameter grid: the product of its axes.

    Attributes
    ----------
    axes : dict of str to sequence
        The values by name.
    names : tuple of str
        The axes, in the order of the dict.
    shape : tuple of int
        How many values each axis has.
    """

    def __init__(self, axes: dict[str, Sequence[Any]], first: int) -> None:
        self.axes = axes
        self.names = tuple(axes)
        self.shape = tuple(len(axes[name]) for name in self.names)
        self._first = first
        # ParameterGrid runs through the axes sorted by name, the last one fastest.
        self._order = sorted(range(len(self.names)), key=self.names.__getitem__)

    def candidate(self, position: Sequence[int]) -> int:
        """The candidate at a position, given as one index for each axis."""
        index = 0
        for axis in self._order:
            index = index * self.shape[axis] + position[axis]
        return self._first + int(index)

    def table(self) -> NDArray[np.intp]:
        """All candidates, in an array of the box's shape."""
        in_order = [self.shape[axis] for axis in self._order]
        table = np.arange(self._first, self._first + len(self), dtype=np.intp).reshape(in_order)
        return table.transpose(np.argsort(self._order).tolist())

    def __len__(self) -> int:
        return math.prod(self.shape)


class Candidates:
    """Settings by number. More can be added at any time; a number never changes its meaning.

    Attributes
    ----------
    boxes : list of Box
        The axes that they come from, one box for each grid; none where they come from no grid.
    series : list of Series
        Where an axis is an :class:`~steadycv.EarlyStopping`, its candidates for each setting of the
        others.
    check : callable or None
        Is called with each setting that is added, and raises where it makes no sense.

    Examples
    --------
    >>> candidates = Candidates([{"alpha": 1}])
    >>> candidates.add([{"alpha": 2}, {"alpha": 1}, {"alpha": 3}])
    array([1, 0, 2])
    >>> candidates[2], len(candidates)
    ({'alpha': 3}, 3)
    """

    def __init__(self, settings: Sequence[dict[str, Any]] = ()) -> None:
        self.boxes: list[Box] = []
        self.series: list[Series] = []
        self.check: Callable[[dict[str, Any]], None] | None = None
        self._settings = list(settings)
        self._numbers: dict[Key, int] | None = None  # made when more is added

    def add(self, settings: Sequence[dict[str, Any]]) -> NDArray[np.intp]:
        """Append settings that are not there yet; returns the numbers of all."""
        if self._numbers is None:
            self._numbers = {}
            for number, setting in enumerate(self._settings):
                self._numbers.setdefault(key_of(setting), number)
        found = []
        for setting in settings:
            key = key_of(setting)
            if key not in self._numbers:
                if self.check is not None:
                    self.check(setting)
                self._numbers[key] = len(self._settings)
                self._settings.append(setting)
            found.append(self._numbers[key])
        return np.array(found, dtype=np.intp)

    def __getitem__(self, candidate: int) -> dict[str, Any]:
        return self._settings[candidate]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)


class Grid(Candidates):
    """All candidates of a parameter grid, in scikit-learn's order.

    Parameters
    ----------
    param_grid : dict or list of dicts
        As in :class:`~sklearn.model_selection.GridSearchCV`.

    Examples
    --------
    >>> grid = Grid({"b": [1, 2], "a": [0.5, 0.7, 0.9]})
    >>> grid.boxes[0].names, grid.boxes[0].shape
    (('b', 'a'), (2, 3))
    >>> grid[grid.boxes[0].candidate((1, 2))]
    {'a': 0.9, 'b': 2}
    """

    def __init__(self, param_grid: Any) -> None:
        super().__init__(ParameterGrid(param_grid))
        first = 0
        for axes in [param_grid] if isinstance(param_grid, dict) else param_grid:
            self.boxes.append(Box(axes, first))
            self.series += _series(axes, self.boxes[-1])
            first += len(self.boxes[-1])
        if not len(self):
            raise ValueError(f"param_grid has no candidates: {param_grid!r}")


def _series(axes: dict[str, Any], box: Box) -> list[Series]:
    """The candidates along an axis that is stopped early, by setting of the others."""
    stopped = [axis for axis, name in enumerate(box.names) if isinstance(axes[name], EarlyStopping)]
    if len(stopped) > 1:
        names = " and ".join(repr(box.names[axis]) for axis in stopped)
        raise ValueError(f"param_grid has EarlyStopping for {names}: one of them can be stopped early.")
    found = []
    for axis in stopped:
        values = axes[box.names[axis]]
        lines = np.moveaxis(box.table(), axis, -1).reshape(-1, len(values))
        found += [Series(line, np.array(values), values.patience) for line in lines]
    return found
