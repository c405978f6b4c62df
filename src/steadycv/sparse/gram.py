"""Products of the columns with each other and with the target, computed when they are asked for.

Products of blocks of rows add, so the training sets of a lattice share those of its folds. No more rows
of the Gram matrix are held than columns have been asked for.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Blocks", "Gram"]

FAR = 1e6  # a column's squares over its variance, beyond which centring sums loses too many digits
ALL_AT_ONCE = 64  # so few columns are not worth asking for one by one
ROOM = 256  # rows, to begin with; what is not used takes no memory
MOST_HELD = 2**24  # numbers: 128 MB


class Blocks:
    """Blocks of rows, with the products that have been asked for so far.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The data.
    y : ndarray of shape (n_samples,)
        The target.
    weight : ndarray of shape (n_samples,), optional
        The weights of the samples.
    labels : ndarray of shape (n_samples,), optional
        The block of each sample, counted from 0; without, all are in one.
    centre : bool, default=True
        Whether the columns and the target of a training set are to be centred.

    Attributes
    ----------
    weight, y_sum, y_squares : ndarray of shape (n_blocks,)
        Sums of the weights, of the target and of its squares in each block.
    sum, squares, target : ndarray of shape (n_blocks, n_features)
        Sums of each column, of its squares, and of its products with the target.
    centre : bool
        As given.
    origin, y_origin : ndarray of shape (n_features,), float
        What was subtracted from the columns and the target before: sums are centred afterwards, which
        is exact enough only near zero.
    magnitude : ndarray of shape (n_features,)
        The squares of the columns before that.
    """

    def __init__(
        self,
        X: Any,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        labels: NDArray[np.intp] | None = None,
        *,
        centre: bool = True,
    ) -> None:
        self.n_columns = int(X.shape[1])
        self.centre = centre
        weight = np.ones(len(y)) if weight is None else weight
        total = weight.sum()
        self.y_origin = float(weight @ y) / total if centre else 0.0
        y = y - self.y_origin
        parts: list[Any] = [slice(None)]
        if labels is not None:
            parts = [np.flatnonzero(labels == block) for block in range(int(labels.max()) + 1)]
        self._X = [X[part] for part in parts]
        self._weight = [weight[part] for part in parts]
        weighted = [w * y[part] for w, part in zip(self._weight, parts, strict=True)]
        self.weight = np.array([w.sum() for w in self._weight])
        self.y_sum = np.array([wy.sum() for wy in weighted])
        self.y_squares = np.array([wy @ y[part] for wy, part in zip(weighted, parts, strict=True)])
        self._sum_columns()
        self.origin = np.zeros(self.n_columns)
        self.magnitude = _total(self.squares)
        mean = _total(self.sum) / total
        variance = self.magnitude - total * mean * mean
        if centre and (self.magnitude > FAR * variance).any() and not issparse(X):
            self.origin = mean
            self._X = [Xb - mean for Xb in self._X]
            self._sum_columns()
        self.target = np.array([wy @ Xb for wy, Xb in zip(weighted, self._X, strict=True)])
        self._lock = Lock()
        # By column, of shape (n_blocks, n_columns).
        self._held: dict[int, NDArray[np.float64]] = {}

    def products(self, columns: NDArray[np.int64], members: list[int]) -> Any:
        """Products of some columns with all, over some blocks: of shape (n_wanted, n_columns)."""
        if len(self._X) == 1:
            return _products(self._X[0], self._weight[0], columns)
        chosen = np.zeros(len(self._X))
        chosen[members] = 1.0
        with self._lock:
            new = [column for column in columns.tolist() if column not in self._held]
            if (len(self._held) + len(new)) * len(self._X) * self.n_columns > MOST_HELD:
                self._held.clear()
                new = columns.tolist()
            if new:
                blocks = zip(self._X, self._weight, strict=True)
                products = np.stack([_products(Xb, w, np.array(new)) for Xb, w in blocks], axis=1)
                self._held.update(zip(new, products, strict=True))
            return np.array([chosen @ self._held[column] for column in columns.tolist()])

    def _sum_columns(self) -> None:
        blocks = list(zip(self._weight, self._X, strict=True))
        self.sum = np.array([w @ Xb for w, Xb in blocks])
        self.squares = np.array([_squares(Xb, w) for w, Xb in blocks])

    def __getstate__(self) -> dict[str, Any]:
        # What was asked for is not sent along: to ask again is cheaper.
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_held")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
        self._held = {}


class Gram:
    """Products of the centred (and scaled) columns of one training set.

    Parameters
    ----------
    blocks : Blocks
        The data.
    members : sequence of int
        The blocks that make up the training set.
    standardize : bool
        Whether columns are scaled to variance 1.

    Attributes
    ----------
    rows : ndarray of shape (at least n_held, n_columns)
        ``rows[slot[j]]`` are the products of column j with all columns.
    slot : ndarray of shape (n_columns,)
        Where a column's products stand; -1 if they have not been fetched.
    target, diagonal : ndarray of shape (n_columns,)
        Products of each column with the target and with itself.
    varies : ndarray of shape (n_columns,)
        1 for columns that may be chosen; 0 for those that are zero, after centring if there is one.
    half_energy : float
        Half the sum of squares of the target: the objective without any column.
    mean, scale : ndarray of shape (n_columns,)
        The column is (x - mean) / scale.
    y_mean : float
        The target is y - y_mean.
    """

    def __init__(self, blocks: Blocks, members: Sequence[int], *, standardize: bool) -> None:
        self._blocks, self._members = blocks, list(members)
        self._standardize = standardize
        self.n_columns = blocks.n_columns
        weight = float(_total(blocks.weight, self._members))
        y_sum = float(_total(blocks.y_sum, self._members))
        y_squares = float(_total(blocks.y_squares, self._members))
        self._sum = _total(blocks.sum, self._members)
        squares = _total(blocks.squares, self._members)
        target = _total(blocks.target, self._members)
        # The products of centred columns are sum xz - mean(x) sum z.
        self._offset = self._sum / weight if blocks.centre else np.zeros(self.n_columns)
        y_offset = y_sum / weight if blocks.centre else 0.0
        self.diagonal = squares - self._offset * self._sum
        self.target = target - self._offset * y_sum
        self.half_energy = 0.5 * max(0.0, y_squares - y_offset * y_sum)
        varies = self.diagonal > 1e-12 * squares + 1e-26 * blocks.magnitude
        self.varies = varies.astype(np.float64)
        self.scale = np.ones(self.n_columns)
        if standardize:
            variance = squares / weight - (self._sum / weight) ** 2
            self.scale = np.sqrt(np.where(varies & (variance > 0), variance, 1.0))
        factor = self.varies / self.scale
        self.diagonal *= factor * factor
        self.target *= factor
        self.mean = blocks.origin + self._offset
        self.y_mean = blocks.y_origin + y_offset
        self.slot = np.full(self.n_columns, -1, dtype=np.int64)
        self.rows = np.empty((min(self.n_columns, ROOM), self.n_columns))
        self._n_held = 0
        if self.n_columns <= ALL_AT_ONCE:
            self.fetch(np.arange(self.n_columns))

    def fetch(self, columns: NDArray[np.int64]) -> None:
        """Have the products of some columns with all in `rows`."""
        new = columns[self.slot[columns] < 0]
        if len(new) == 0:
            return
        products = self._blocks.products(new, self._members)
        if self._blocks.centre:
            products -= self._offset[new, np.newaxis] * self._sum
        if self._standardize:
            products /= self.scale[new, np.newaxis] * self.scale
        end = self._n_held + len(new)
        if end > len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
        self.rows[self._n_held : end] = products
        self.slot[new] = np.arange(self._n_held, end)
        self._n_held = end


def _total(sums: NDArray[np.float64], members: list[int] | None = None) -> Any:
    """The sum over some blocks or all."""
    if len(sums) == 1:
        return sums[0]
    return sums.sum(axis=0) if members is None else sums[members].sum(axis=0)


def _products(X: Any, weight: NDArray[np.float64], columns: NDArray[np.int64]) -> Any:
    some = X[:, columns].T
    products = some.multiply(weight).tocsr() @ X if issparse(X) else (some * weight) @ X
    return products.toarray() if issparse(products) else products


def _squares(X: Any, weight: NDArray[np.float64]) -> Any:
    return weight @ X.multiply(X) if issparse(X) else np.einsum("i,ij,ij->j", weight, X, X)
