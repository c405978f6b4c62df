"""Products of the columns with each other and with the target, computed when they are asked for.

Products of blocks of rows add, so the training sets of a lattice share those of its folds. No more rows
of the Gram matrix are held than columns have been asked for.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from steadycv._jit import fast_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Block", "Gram", "blocks_of_folds", "one_block"]

FAR = 1e2  # squares over those of what is centred, beyond which centring sums loses too many digits
LARGEST = 1e150  # sum of squares; the square of a product must not overflow
SMALLEST = 1e-280  # sum of squares; its inverse must not overflow
ALL_AT_ONCE = 64  # so few columns are not worth asking for one by one
ROOM = 64  # rows, to begin with
MOST_ROWS = 512  # between two passes
SMALL = 2**15  # numbers in a training set
MOST_KEPT = 2**22  # numbers in a block: 32 MB


class Block:
    """Some rows of the data, and sums over them.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The rows, less the origin.
    y : ndarray of shape (n_samples,)
        Their target, less its origin.
    weight : ndarray of shape (n_samples,) or None
        Their weights.
    keep : bool, default=False
        Whether products that were asked for are kept, to be asked for again.

    Attributes
    ----------
    origin, y_origin : ndarray of shape (n_features,), float
        What was subtracted: sums are centred afterwards, which is exact enough only near zero.
    weight, y_sum, y_squares : float
        Sums of the weights, of the target and of its squares.
    sum, squares, target : ndarray of shape (n_features,)
        Sums of each column, of its squares, and of its products with the target.
    """

    origin: NDArray[np.float64]
    y_origin: float

    def __init__(
        self,
        X: Any,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        *,
        keep: bool = False,
    ) -> None:
        self._X, self._weight = X, weight
        weighted = y if weight is None else weight * y
        self.weight = float(len(y) if weight is None else weight.sum())
        self.y_sum = float(weighted.sum())
        self.y_squares = float(weighted @ y)
        if weight is None and not issparse(X) and X.flags.c_contiguous:
            self.sum, self.squares, self.target = _sums(
                X, np.ascontiguousarray(y), np.zeros((3, X.shape[1]))
            )
        else:
            ones = np.ones(len(y)) if weight is None else weight
            self.sum = ones @ X
            self.target = weighted @ X
            self.squares = ones @ (X.multiply(X) if issparse(X) else X * X)
        refuse_too_large(float(self.squares.max()), self.y_squares)
        self._kept: dict[int, NDArray[np.float64]] | None = {} if keep else None

    def products(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Products of some columns with all, of shape (n_wanted, n_columns)."""
        if self._kept is None:
            return self._compute(columns)
        wanted = columns.tolist()
        found = {column: self._kept.get(column) for column in wanted}
        missing = [column for column, row in found.items() if row is None]
        if missing:
            new = dict(zip(missing, self._compute(np.array(missing)), strict=True))
            if (len(self._kept) + len(new)) * len(self.sum) > MOST_KEPT:
                self._kept = {}
            self._kept.update(new)
            found.update(new)
        return np.array([found[column] for column in wanted])

    def squares_about(self, mean: NDArray[np.float64], columns: NDArray[np.int64]) -> Any:
        """Squares of the distances of some columns to their means."""
        some = self._X[:, columns]
        away = (some.toarray() if issparse(some) else some) - mean
        weighted = away if self._weight is None else self._weight[:, np.newaxis] * away
        return np.einsum("ij,ij->j", weighted, away)

    @property
    def n_numbers(self) -> float:
        """How many numbers there are; no end of them in a sparse matrix, which stays sparse."""
        return inf if issparse(self._X) else self._X.size

    def design(self, mean: Any, scale: NDArray[np.float64]) -> NDArray[np.float64]:
        """The columns whose products are those of a training set, C-contiguous."""
        columns = (self._X - mean) / scale
        if self._weight is not None:
            columns *= np.sqrt(self._weight)[:, np.newaxis]
        return np.ascontiguousarray(columns)

    def _compute(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        some = self._X[:, columns].T
        if issparse(some):
            some = some.tocsr() if self._weight is None else some.multiply(self._weight).tocsr()
            dense: NDArray[np.float64] = (some @ self._X).toarray()
            return dense
        products: NDArray[np.float64] = (some if self._weight is None else some * self._weight) @ self._X
        return products

    def __getstate__(self) -> dict[str, Any]:
        # What was asked for is not sent along: to ask again is cheaper.
        return self.__dict__ | {"_kept": None if self._kept is None else {}}


def refuse_too_large(*squares: float) -> None:
    """Raise a ValueError where sums of squares are too large to compute with, or no numbers."""
    if not all(each < LARGEST for each in squares):
        raise ValueError(
            "X, y or sample_weight is too large: the squares of a column or of y sum up to "
            f"{max(squares):.3g}, which must stay below {LARGEST:.3g}. Divide it by a constant."
        )


@fast_kernel
def _sums(
    X: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add to `out` the sum of each column, of its squares, and of its products with the target."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[0, j] += X[i, j]
            out[1, j] += X[i, j] * X[i, j]
            out[2, j] += X[i, j] * y[i]
    return out


def one_block(
    X: Any, y: NDArray[np.float64], weight: NDArray[np.float64] | None = None, *, centre: bool
) -> list[Block]:
    """All rows in a block. With `centre`, training sets are to be centred."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused
        y_origin = 0.0
        if centre:
            y_origin = float(y.sum() / len(y) if weight is None else weight @ y / weight.sum())
            y = y - y_origin
        block = Block(X, y, weight)
    # As it came: a constant y has nothing left when it is centred.
    refuse_too_large(block.y_squares + block.weight * y_origin * y_origin)
    origin = np.zeros(X.shape[1])
    if centre:
        mean = block.sum / block.weight
        far = block.squares > FAR * (block.squares - block.sum * mean)
        if far.any():
            origin = np.where(far, mean, 0.0)
            block = Block(_less(X, origin), y, weight)
    block.origin, block.y_origin = origin, y_origin
    return [block]


def blocks_of_folds(
    X: Any, y: NDArray[np.float64], folds: NDArray[np.intp], *, centre: bool
) -> list[Block]:
    """The rows of each fold in a block. With `centre`, training sets are to be centred."""
    [whole] = one_block(X, y, centre=centre)
    origin, y_origin = whole.origin, whole.y_origin
    if centre and not issparse(X):
        origin = origin + whole.sum / whole.weight
    X, y = _less(X, origin) if origin.any() else X, y - y_origin
    blocks = []
    for fold in range(int(folds.max()) + 1):
        rows = np.flatnonzero(folds == fold)
        block = Block(X[rows], y[rows], None, keep=True)
        block.origin, block.y_origin = origin, y_origin
        blocks.append(block)
    return blocks


def _less(X: Any, origin: NDArray[np.float64]) -> Any:
    """The rows less the origin; of a sparse matrix, few columns have one, which are full."""
    if not issparse(X):
        return X - origin
    columns, n_rows = np.flatnonzero(origin), X.shape[0]
    starts = len(columns) * np.arange(n_rows + 1)
    filled = (np.tile(origin[columns], n_rows), np.tile(columns, n_rows), starts)
    return (X - csr_matrix(filled, shape=X.shape)).asformat(X.format)


class Gram:
    """Products of the centred (and scaled) columns of one training set.

    Parameters
    ----------
    blocks : sequence of Block
        The blocks that make up the training set.
    centre, standardize : bool
        Whether columns and target are centred, and columns scaled to variance 1.

    Attributes
    ----------
    rows : ndarray of shape (at least n_held, n_columns)
        ``rows[slot[j]]`` are the products of column j with all columns.
    slot : ndarray of shape (n_columns,)
        Where a column's products stand; -1 if they have not been fetched.
    n_held : ndarray of shape (1,)
        How many rows are held.
    design : ndarray of shape (n_samples or 0, n_columns)
        The columns, centred, scaled and weighted, if kernels are to compute their products.
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
    rough, y_is_rough : ndarray of int, bool
        Columns that are almost constant beside their distance from the origin, or constant, and
        whether the target is: their digits are lost.
    """

    def __init__(self, blocks: Sequence[Block], *, centre: bool, standardize: bool) -> None:
        self._blocks = blocks
        self._centre, self._standardize = centre, standardize
        first, *others = blocks
        self.n_columns = len(first.sum)
        weight, y_sum, y_squares = first.weight, first.y_sum, first.y_squares
        total, squares, self.target = first.sum, first.squares, first.target
        for block in others:
            weight += block.weight
            y_sum += block.y_sum
            y_squares += block.y_squares
            total, squares, self.target = (
                total + block.sum,
                squares + block.squares,
                self.target + block.target,
            )
        self.mean, self.y_mean = first.origin, first.y_origin
        self.y_is_rough = False
        self.diagonal = squares
        mean = total / weight
        if centre:
            # The products of centred columns are sum xz - mean(x) sum z.
            self.diagonal = squares - mean * total
            self.target = self.target - mean * y_sum
            self.mean = self.mean + mean
            self.y_mean += y_sum / weight
            y_centred = y_squares - y_sum * y_sum / weight
            self.y_is_rough = y_squares > FAR * y_centred
            if y_centred <= _rounding(y_squares, weight, first.y_origin):
                y_centred, self.target = 0.0, np.zeros(self.n_columns)
            y_squares = y_centred
        self.half_energy = 0.5 * y_squares
        self._offset, self._total = mean, total
        self._squares, self._centred = squares, self.diagonal
        varies = self.diagonal > _rounding(squares, weight, first.origin)
        self.varies = varies.astype(np.float64)
        self.scale = np.ones(self.n_columns)
        if standardize:
            variance = squares / weight - mean * mean
            rough = np.flatnonzero(squares / weight > FAR * variance)
            if len(rough):
                about = sum(block.squares_about(mean[rough], rough) for block in blocks)
                variance[rough] = np.where(about > 1e-26 * squares[rough], about / weight, 1.0)
            self.scale = np.sqrt(np.where(varies & (variance > 0), variance, 1.0))
        if standardize or not varies.all():
            factor = self.varies / self.scale
            self.diagonal = factor * factor * self.diagonal
            self.target = factor * self.target
        self.slot = np.full(self.n_columns, -1, dtype=np.int64)
        self.n_held = np.zeros(1, dtype=np.int64)
        self.design = self._small_design()
        room = self.n_columns if len(self.design) else min(self.n_columns, ROOM)
        self.rows = np.empty((room, self.n_columns))
        if self.n_columns <= ALL_AT_ONCE:
            self.fetch(np.arange(self.n_columns))

    @property
    def rough(self) -> NDArray[np.int64]:
        """Columns whose digits are lost."""
        return np.flatnonzero(self._squares > FAR * self._centred)

    def _small_design(self) -> NDArray[np.float64]:
        """The columns if they are short: then products cost less than to stop and ask for them."""
        [first, *others] = self._blocks
        is_small = ALL_AT_ONCE < self.n_columns <= MOST_ROWS and first.n_numbers <= SMALL
        if others or not is_small:
            return np.empty((0, self.n_columns))
        return first.design(self._offset if self._centre else 0.0, self.scale)

    def trim(self, last_used: NDArray[np.int64] | None = None) -> None:
        """Forget rows if they have become many, so that there is never one for each of many columns.

        With a number for each column that says when it was last used, half of them stay.
        """
        if self.n_held[0] <= MOST_ROWS:
            return
        kept = np.empty(0, dtype=np.int64)
        if last_used is not None:
            held = np.flatnonzero(self.slot >= 0)
            kept = held[np.argsort(-last_used[held], kind="stable")[: MOST_ROWS // 2]]
        self.rows[: len(kept)] = self.rows[self.slot[kept]]
        self.slot[:] = -1
        self.slot[kept] = np.arange(len(kept))
        self.n_held[0] = len(kept)

    def fetch(self, columns: NDArray[np.int64]) -> None:
        """Have the products of some columns with all in `rows`."""
        is_new = self.slot[columns] < 0
        if not is_new.any():
            return
        new = columns[is_new]
        start = int(self.n_held[0])
        end = start + len(new)
        if end > len(self.rows):
            more = max(len(self.rows), end - len(self.rows))
            self.rows = np.concatenate([self.rows, np.empty((more, self.n_columns))])
        products = self.rows[start:end]
        products[:] = self._blocks[0].products(new)
        for block in self._blocks[1:]:
            products += block.products(new)
        if self._centre:
            products -= self._offset[new, np.newaxis] * self._total
        if self._standardize:
            products /= self.scale[new, np.newaxis] * self.scale
        self.slot[new] = np.arange(start, end)
        self.n_held[0] = end


def _rounding(squares: Any, weight: float, origin: Any) -> Any:
    """What may be left of the squares of a constant when it is centred, or what underflows."""
    return 1e-12 * squares + 1e-26 * weight * origin * origin + SMALLEST
