"""Tables as networks take them: numbers scaled or cut at quantiles, categories as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from steadycv._compat import n_samples_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Inputs", "Preparation", "Table", "merged", "read_table", "weighted_scale"]

CLIP = 3.0  # scaled numbers stay within plus and minus this, and those near zero as they are


class Table(NamedTuple):
    """Columns as they came: numbers in double precision, and what is a category."""

    numbers: NDArray[np.float64]
    categories: NDArray[Any] | None


class Inputs(NamedTuple):
    """What a network is given: numbers in single precision, and codes of categories, 0 if unknown."""

    numbers: NDArray[np.float32]
    codes: NDArray[np.int64]


def read_table(estimator: Any, X: Any, categories: Any, *, reset: bool) -> Table:
    """Check data, and tell numbers from categories.

    Parameters
    ----------
    estimator : estimator
        Remembers names and number of columns.
    X : array-like or data frame
        The data.
    categories : "auto" or list of int or str
        The columns that are categories; "auto": those that a data frame has as such.
    reset : bool
        Whether these are data to fit on.
    """
    columns = _categorical_columns(X, categories)
    if not columns:
        return Table(validate_data(estimator, X, dtype=np.float64, reset=reset), None)
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    frame = hasattr(X, "columns")
    if not frame:
        X = np.asarray(X, dtype=object)
    others = [i for i in range(X.shape[1]) if i not in columns]
    numbers = np.empty((n_samples_of(X), 0))
    if others:
        table = X[[X.columns[i] for i in others]] if frame else X[:, others]
        numbers = check_array(table, dtype=np.float64, estimator=estimator, input_name="X")
    parts = [np.asarray(X[X.columns[i]] if frame else X[:, i], dtype=object) for i in columns]
    return Table(numbers, np.column_stack(parts))


def _categorical_columns(X: Any, categories: Any) -> list[int]:
    names = list(getattr(X, "columns", []))
    if isinstance(categories, str):
        if categories != "auto":
            raise ValueError(f'categories must be "auto" or a list of columns; got {categories!r}.')
        kinds = [str(X[name].dtype).lower() for name in names]
        return [i for i, kind in enumerate(kinds) if kind.startswith(("categor", "enum"))]
    found = []
    for column in categories:
        if column in names:
            found.append(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < np.shape(X)[1]:
            found.append(int(column))
        else:
            raise ValueError(f"categories names the column {column!r}, which the data do not have.")
    return sorted(set(found))


def merged(
    table: Table, y: NDArray[Any], weight: NDArray[np.float64]
) -> tuple[Table, NDArray[Any], NDArray[np.float64]]:
    """Equal rows as one, with the sum of their weights, in an order that their values alone decide.

    So a weight of 2 is a row that is there twice, a weight of 0 one that is not, and the order in which
    the rows came makes no difference.
    """
    kept = np.flatnonzero(weight > 0)
    parts = [table.numbers[kept] + 0.0, np.asarray(y, dtype=np.float64)[kept, np.newaxis]]
    if table.categories is not None:
        columns = table.categories[kept].astype(str).T
        codes = [np.unique(column, return_inverse=True)[1] for column in columns]
        parts.append(np.column_stack(codes).astype(np.float64))
    rows = np.ascontiguousarray(np.hstack(parts))
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, number = np.unique(as_bytes, return_index=True, return_inverse=True)
    sums = np.zeros(len(first))
    np.add.at(sums, number.ravel(), weight[kept])
    chosen = kept[first]
    categories = None if table.categories is None else table.categories[chosen]
    return Table(table.numbers[chosen], categories), y[chosen], sums


def weighted_scale(
    columns: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and standard deviations; of a column that does not vary its value, and 1."""
    share = weight / weight.sum()
    centre = share @ columns
    away = np.abs(columns - centre).max(axis=0)
    # A constant's mean is rounded, and what is left is no variation.
    varies = away > 1e-12 * np.abs(centre)
    away = np.where(varies & (away > 0), away, 1.0)
    deviation = np.sqrt(share @ np.square((columns - centre) / away)) * away
    varies &= deviation > 0
    return np.where(varies, centre, columns[0]), np.where(varies, deviation, 1.0)


class Preparation:
    """What is learnt from the columns of a training set.

    Parameters
    ----------
    table : Table
        The training set, equal rows as one.
    weight : ndarray
        The weights of its rows.
    n_bins : int
        Into how many pieces the numbers are cut at their quantiles; 0: they are scaled.
    """

    def __init__(self, table: Table, weight: NDArray[np.float64], n_bins: int) -> None:
        self.centre, self.scale = weighted_scale(table.numbers, weight)
        self.edges = _quantiles(table.numbers, weight, n_bins) if n_bins else None
        self.encoder = None
        self.levels: tuple[int, ...] = ()
        if table.categories is not None:
            self.encoder = OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
            ).fit(table.categories)
            self.levels = tuple(1 + len(each) for each in self.encoder.categories_)

    def inputs(self, table: Table) -> Inputs:
        """What a network is given of some rows."""
        if self.edges is None:
            scaled = (table.numbers - self.centre) / self.scale
            numbers = scaled / np.sqrt(1 + np.square(scaled / CLIP))
        else:
            low, width = self.edges[:-1], np.diff(self.edges, axis=0)
            empty = width <= 0
            along = (table.numbers[:, np.newaxis] - low) / np.where(empty, 1.0, width)
            numbers = np.where(empty, 0.0, along.clip(0.0, 1.0)).reshape(len(table.numbers), -1)
        numbers = numbers.astype(np.float32)
        codes = np.zeros((len(numbers), 0), dtype=np.int64)
        if self.encoder is not None:
            codes = 1 + self.encoder.transform(table.categories).astype(np.int64)
        return Inputs(numbers, codes)


def _quantiles(
    columns: NDArray[np.float64], weight: NDArray[np.float64], n_bins: int
) -> NDArray[np.float64]:
    """The edges of equally heavy bins, a column of them for each column."""
    levels = np.linspace(0, 1, n_bins + 1)
    edges = np.empty((n_bins + 1, columns.shape[1]))
    for i, column in enumerate(columns.T):
        order = np.argsort(column, kind="stable")
        share = np.cumsum(weight[order])
        places = np.searchsorted(share, levels * share[-1] * (1 - 1e-12))
        edges[:, i] = column[order][places.clip(max=len(order) - 1)]
    return edges
