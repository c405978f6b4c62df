"""An error over one, two or three axes of the grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.shades import upper_limit
from steadycv.words import short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["MEASURES", "Axis", "GridErrors"]

MEASURES = ("cv_error", "instability", "regularized_error")
"""What can be shown over a grid."""

MOST_PANELS = 6  # of a third axis, side by side without being asked for
UNEVEN = 12.0  # the largest gap between values over the smallest: more, and each gets the same room


@dataclass(frozen=True)
class Axis:
    """One axis of a grid.

    Attributes
    ----------
    name : str
        The parameter.
    values : list
        Its values: numbers in order, others as in the grid.
    scale : {"linear", "log", "category"}
        How they are spaced; numbers on the scale on which their gaps are more even.
    """

    name: str
    values: list[Any]
    scale: str

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, so that a line between them means something."""
        return all(isinstance(v, Real) and not isinstance(v, (bool, np.bool_)) for v in self.values)

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where the values stand: at themselves, or at 0, 1, ... for categories."""
        places = range(len(self.values)) if self.scale == "category" else self.values
        return np.array(places, dtype=np.float64)

    @property
    def edges(self) -> NDArray[np.float64]:
        """The borders of the values' cells, in the middle between them on their scale."""
        at = np.log(self.positions) if self.scale == "log" else self.positions
        gaps = np.diff(at)
        edges = np.concatenate([[at[0] - gaps[0] / 2], at[:-1] + gaps / 2, [at[-1] + gaps[-1] / 2]])
        return np.exp(edges) if self.scale == "log" else edges


class Ends(NamedTuple):
    """What colours stand for: the lowest error, the highest that is no outlier, and the highest."""

    low: float
    top: float
    highest: float


@dataclass(frozen=True)
class GridErrors:
    """An error for every value of one axis, or every pair of values of two, or every three of three.

    Attributes
    ----------
    axes : tuple of Axis
        The axes; of three the last one is shown in pictures side by side.
    measure : str
        The column of ``cv_results_`` that is shown.
    error : ndarray, one dimension for each axis
        The lowest over the other axes; NaN where no candidate has a finite one.
    candidate : ndarray of int, of the same shape
        The candidate that has it, or -1.
    others : tuple of str
        The axes over which the lowest is taken.
    plain, steady : tuple of int or None
        Where the plain choice and the steady choice stand; None where they are in another
        part of the grid.
    where : str
        Of one picture of several side by side, the value of the third axis.
    within : Ends or None
        What its colours stand for, as in the others.
    """

    axes: tuple[Axis, ...]
    measure: str
    error: NDArray[np.float64]
    candidate: NDArray[np.intp]
    others: tuple[str, ...]
    plain: tuple[int, ...] | None
    steady: tuple[int, ...] | None
    where: str = ""
    within: Ends | None = None

    @classmethod
    def from_search(
        cls,
        search: StabilitySearchCV,
        measure: str = "cv_error",
        params: Sequence[str] | None = None,
        part: int | None = None,
    ) -> GridErrors | None:
        """A fitted search's errors over its grid; None of no grid, or where nothing varies or is known.

        `params` are up to three axes, by default the two with most values and, where that has few, one
        more. `part` is one of a list of
        grids, by default the one with the choice.
        """
        check_is_fitted(search)
        if measure not in MEASURES:
            raise ValueError(f"error must be one of {', '.join(map(repr, MEASURES))}, got {measure!r}.")
        boxes = search._boxes
        if not boxes:
            return None
        if part is None:
            part = next(i for i, box in enumerate(boxes) if search.best_index_ in box.table())
        box = boxes[part]
        sizes = {name: size for name, size in zip(box.names, box.shape, strict=True) if size > 1}
        shown = _shown(sizes, params)
        if not shown:
            return None
        axes, orders = zip(*(_axis(name, box.axes[name]) for name in shown), strict=True)
        table = np.moveaxis(box.table(), [box.names.index(name) for name in shown], range(len(shown)))
        table = table[np.ix_(*orders, *map(range, table.shape[len(shown) :]))]
        table = table.reshape(*table.shape[: len(shown)], -1)
        errors = search.cv_results_[measure][table]
        errors = np.where(np.isfinite(errors), errors, np.inf)
        best = errors.argmin(axis=-1)[..., np.newaxis]
        lowest = np.take_along_axis(errors, best, axis=-1)[..., 0]
        known = np.isfinite(lowest)
        if not known.any():
            return None
        return cls(
            axes=axes,
            measure=measure,
            error=np.where(known, lowest, np.nan),
            candidate=np.where(known, np.take_along_axis(table, best, axis=-1)[..., 0], -1),
            others=tuple(name for name in sizes if name not in shown),
            plain=_place(table, search.kfold_index_),
            steady=_place(table, search.best_index_),
        )

    @property
    def ends(self) -> Ends:
        """What colours stand for."""
        if self.within is not None:
            return self.within
        known = self.error[np.isfinite(self.error)]
        return Ends(float(known.min()), upper_limit(known), float(known.max()))

    def panels(self) -> list[GridErrors]:
        """Pictures of two axes, one for each value of a third, with the same colours; else itself alone.

        Values of which no error is known have none.
        """
        if len(self.axes) < 3:
            return [self]
        *two, third = self.axes
        name = short_names([axis.name for axis in self.axes])[third.name]
        return [
            replace(
                self,
                axes=tuple(two),
                error=self.error[..., i],
                candidate=self.candidate[..., i],
                plain=_in_panel(self.plain, i),
                steady=_in_panel(self.steady, i),
                where=f"{name} = {value_text(value)}",
                within=self.ends,
            )
            for i, value in enumerate(third.values)
            if np.isfinite(self.error[..., i]).any()
        ]


def _in_panel(place: tuple[int, ...] | None, panel: int) -> tuple[int, ...] | None:
    return place[:-1] if place is not None and place[-1] == panel else None


def _shown(sizes: dict[str, int], params: Sequence[str] | None) -> list[str]:
    if params is None:
        by_size = sorted(sizes, key=lambda name: -sizes[name])
        third = [name for name in by_size[2:3] if sizes[name] <= MOST_PANELS]
        return [name for name in sizes if name in by_size[:2]] + third
    if isinstance(params, str):
        params = [params]
    if not 1 <= len(set(params)) == len(params) <= 3 or not set(params) <= set(sizes):
        raise ValueError(
            "params must be one to three parameters that have more than one value, of "
            f"{list(sizes)}; got {params!r}."
        )
    return list(params)


def _axis(name: str, values: Sequence[Any]) -> tuple[Axis, NDArray[np.intp]]:
    """An axis, and the order in which it has the grid's values."""
    as_listed = Axis(name, list(values), "category")
    if not as_listed.is_numeric:
        return as_listed, np.arange(len(as_listed.values))
    numbers = np.array(as_listed.values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    unevenness = {"linear": _unevenness(numbers)}
    if numbers[0] > 0 and numbers[-1] >= 8 * numbers[0]:
        unevenness["log"] = _unevenness(np.log(numbers))
    scale = min(unevenness, key=unevenness.__getitem__)
    if not unevenness[scale] <= UNEVEN:
        scale = "category"
    return Axis(name, [as_listed.values[i] for i in order], scale), order


def _unevenness(places: NDArray[np.float64]) -> float:
    """The largest gap over the smallest; infinite for places that coincide or are not finite."""
    if not np.isfinite(places).all():
        return np.inf
    gaps = np.diff(places)
    return float(gaps.max() / gaps.min()) if gaps.min() > 0 else np.inf


def _place(table: NDArray[np.intp], candidate: int) -> tuple[int, ...] | None:
    found = np.argwhere(table == candidate)
    return tuple(found[0, :-1].tolist()) if len(found) else None
