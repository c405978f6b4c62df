"""Made rows: more rows for a teacher to label, in the manner of the ones that there are.

Each is a row of which some columns are those of another, drawn at random: what Breiman and Shang call
smearing (*Born Again Trees*, 1996). A committee says what it expects there, so that a single model
learns more of it than at the rows alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import hstack, issparse, vstack

from steadycv._compat import is_pairwise

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["can_make_rows", "with_made_rows"]

FOLDS_AS_MANY = 5  # made rows for each row
OTHERS = 0.1  # the share of columns that are those of another row
SEED = 0


def can_make_rows(estimator: Any, X: Any) -> bool:
    """Whether X is a table of columns: lists, a dense or sparse matrix, a frame of pandas or polars."""
    is_frame = hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "vstack"))
    is_matrix = issparse(X) or isinstance(X, np.ndarray | list | tuple)
    return (is_frame or is_matrix) and len(np.shape(X)) == 2 and not is_pairwise(estimator, X)


def with_made_rows(X: Any, rows: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
    """A table with rows at its end that are made of some of its rows, and what each was made of.

    Examples
    --------
    >>> table, source = with_made_rows(np.arange(20.0).reshape(10, 2), np.array([0, 1, 2]))
    >>> table.shape, np.bincount(source)
    ((25, 2), array([5, 5, 5]))
    """
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    rng = np.random.default_rng(SEED)
    source = np.tile(rows, FOLDS_AS_MANY)
    shape = (len(source), X.shape[1])
    is_other = rng.random(shape) < OTHERS
    at = np.where(is_other, rows[rng.integers(len(rows), size=shape)], source[:, np.newaxis])
    return _joined(X, at), source


def _joined(X: Any, at: NDArray[np.intp]) -> Any:
    """X, and below it rows of which each cell is that of some row."""
    columns = range(at.shape[1])
    if hasattr(X, "iloc"):
        from pandas import concat

        made = {name: X.iloc[at[:, j], j].array for j, name in enumerate(X.columns)}
        return concat([X, type(X)(made)], ignore_index=True)
    if hasattr(X, "columns"):
        return X.vstack(type(X)([X.to_series(j)[at[:, j]] for j in columns]))
    if issparse(X):
        by_column = X.tocsc()
        return vstack([X.tocsr(), hstack([by_column[:, [j]].tocsr()[at[:, j]] for j in columns])], "csr")
    return np.concatenate([X, X[at, np.arange(at.shape[1])]])
