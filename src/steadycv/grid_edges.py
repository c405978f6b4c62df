"""Edges: where a choice stands at an end of an axis of its grid, and what to try beyond."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from steadycv._compat import check_params
from steadycv.early_stopping import EarlyStopping
from steadycv.error_words import LEAST_SHARE
from steadycv.words import short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadycv.candidates import Box
    from steadycv.search import StabilitySearchCV

__all__ = ["Edge", "edges", "widened"]

FEWEST_VALUES = 3  # of an axis: of fewer, every one is an end
TENFOLD = 10.0  # from the first to the last value, from which on steps may be factors
FEWEST_NEW, MOST_NEW = 2, 8
OF_ROWS = ("n_neighbors", "n_components", "sparsity")  # there are no more than rows
OF_COLUMNS = ("n_components", "sparsity", "max_features")  # or columns


@dataclass(frozen=True)
class Edge:
    """An end of an axis that a choice stands at, and values beyond it.

    Attributes
    ----------
    name : str
        The parameter.
    value : float or int
        The choice's.
    is_upper : bool
        Whether it is the largest that was tried; else the smallest.
    to_try : tuple of float or int
        Values to try beyond it, the next one first.
    gain : float or None
        By which share of itself the last step to it lowered the CV error; None where that is not known.
    """

    name: str
    value: Any
    is_upper: bool
    to_try: tuple[Any, ...]
    gain: float | None

    @property
    def is_flat(self) -> bool:
        """Whether the last step hardly changed the CV error: then there is little beyond."""
        return self.gain is not None and abs(self.gain) < LEAST_SHARE

    @property
    def words(self) -> str:
        """Where the choice stands."""
        short = short_names([self.name])[self.name]
        end = "largest" if self.is_upper else "smallest"
        return f"{short} = {value_text(self.value)} is the {end} that was tried"

    @property
    def values(self) -> str:
        """The values to try, as a text."""
        return ", ".join(map(value_text, self.to_try))

    @property
    def sentence(self) -> str:
        """What to say of it."""
        if self.is_flat:
            return f"{self.words}, but the last step to it changed next to nothing."
        return f"{self.words}: try {self.values} as well."


def edges(search: StabilitySearchCV) -> list[Edge]:
    """The ends that the choice of a fitted search stands at, where it could go on.

    Not told are natural limits: values that the estimator does not take, None as the largest value, and
    more neighbours or columns than there are.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from steadycv import StabilitySearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = StabilitySearchCV(Ridge(), {"alpha": [1.0, 10.0, 100.0]}).fit(X, y)
    >>> [edge.sentence for edge in edges(search)]
    ['alpha = 1 is the smallest that was tried: try 0.1, 0.01 as well.']
    """
    found = []
    for box in search._boxes:
        position = _position(box, search.best_index_)
        if position is None:
            continue
        for axis, name in enumerate(box.names):
            edge = _edge(search, box, position, axis)
            if edge is not None and name in search.best_params_:
                found.append(edge)
        break
    return found


def widened(param_grid: Any, best_params: dict[str, Any], some: Sequence[Edge]) -> Any:
    """The grid with the values beyond some edges, in the part that the choice comes from.

    Examples
    --------
    >>> edge = Edge("alpha", 1.0, False, (0.1, 0.01), None)
    >>> widened({"alpha": [1.0, 10.0, 100.0]}, {"alpha": 1.0}, [edge])
    {'alpha': [1.0, 10.0, 100.0, 0.1, 0.01]}
    """
    more = {edge.name: list(edge.to_try) for edge in some}
    if isinstance(param_grid, dict):
        return {name: [*values, *more.get(name, ())] for name, values in param_grid.items()}
    parts = list(param_grid)
    for number, part in enumerate(parts):
        if part.keys() == best_params.keys() and all(_has(part[k], v) for k, v in best_params.items()):
            parts[number] = widened(part, best_params, some)
            break
    return parts


def _has(values: Any, value: Any) -> bool:
    return any(each is value or _equal(each, value) for each in values)


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (Real, str)) and a == b


def _position(box: Box, candidate: int) -> list[int] | None:
    where = np.argwhere(box.table() == candidate)
    return where[0].tolist() if len(where) else None


def _edge(search: StabilitySearchCV, box: Box, position: list[int], axis: int) -> Edge | None:
    name = box.names[axis]
    values = box.axes[name]
    if isinstance(values, EarlyStopping):
        return None
    values = list(values)
    numbers = sorted({v for v in values if isinstance(v, Real) and not isinstance(v, (bool, np.bool_))})
    chosen = values[position[axis]]
    is_number = any(chosen is v or v == chosen for v in numbers) and not isinstance(chosen, bool)
    if not is_number or len(numbers) < FEWEST_VALUES or chosen not in (numbers[0], numbers[-1]):
        return None
    is_upper = chosen == numbers[-1]
    if is_upper and any(v is None for v in values):
        return None  # None is without limit
    to_try = tuple(_possible(search, name, numbers, is_upper=is_upper))
    if not to_try:
        return None
    neighbour = list(position)
    neighbour[axis] = values.index(numbers[-2] if is_upper else numbers[1])
    errors = search.cv_results_["cv_error"]
    before, at = float(errors[box.candidate(neighbour)]), float(errors[box.candidate(position)])
    gain = (before - at) / abs(before) if math.isfinite(before) and before else None
    return Edge(name, chosen, is_upper, to_try, gain)


def _possible(
    search: StabilitySearchCV, name: str, numbers: list[Any], *, is_upper: bool
) -> Iterator[Any]:
    """Values beyond an end that the estimator takes, up to the first that it does not."""
    n_new = min(max(FEWEST_NEW, math.ceil(len(numbers) / 4)), MOST_NEW)
    beyond = _beyond(numbers if is_upper else numbers[::-1], n_new)
    last = name.rpartition("__")[2]
    lattice = search.lattice_
    most = math.inf
    if last in OF_ROWS:
        most = min(lattice.n_rows(t) for t in range(lattice.n_training_sets))
    if last in OF_COLUMNS and "__" not in name:
        most = min(most, getattr(search, "n_features_in_", math.inf))
    for value in beyond:
        if value > most or not _is_taken(search, name, value):
            return
        yield value


def _beyond(numbers: list[Any], n_new: int) -> Iterator[Any]:
    """The axis continued past its last number, by steps or by factors as it is made; never past zero.

    Examples
    --------
    >>> list(_beyond([0.1, 1.0, 10.0], 2)), list(_beyond([2, 4, 6], 3)), list(_beyond([3, 2, 1], 2))
    ([100.0, 1000.0], [8, 10, 12], [])
    """
    are_whole = all(isinstance(v, Integral) for v in numbers)
    values = [float(v) for v in numbers]
    is_down = values[-1] < values[0]
    by_factors = min(values) > 0 and max(values) / min(values) >= TENFOLD and _even_in_logs(values)
    at = values[-1]
    for _ in range(n_new):
        at = at * values[-1] / values[-2] if by_factors else at + values[-1] - values[-2]
        value: Any = round(at) if are_whole else float(f"{at:.6g}")
        if is_down and min(values) >= 0 and value <= 0:
            return
        yield value


def _even_in_logs(values: list[float]) -> bool:
    """Whether factors from one number to the next are more alike than steps."""
    steps, factors = np.abs(np.diff(values)), np.abs(np.diff(np.log(values)))
    return bool(factors.std() / factors.mean() <= steps.std() / steps.mean())


def _is_taken(search: StabilitySearchCV, name: str, value: Any) -> bool:
    """Whether the estimator, or the step that the parameter is of, takes a value."""
    try:
        estimator = clone(search.estimator).set_params(**search.best_params_ | {name: value})
        owner = name.rpartition("__")[0]
        check_params(estimator.get_params()[owner] if owner else estimator)
    except ValueError:
        return False
    return True
