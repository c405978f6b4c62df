"""All sparsities and gammas of a grid at once."""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from steadycv.sparse.estimator import SparseRidge, as_list, plain_setting
from steadycv.sparse.solvers import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.sparse.gram import Gram
    from steadycv.sparse.solvers import Answer

__all__ = ["SparseRidgePath", "coefficients", "sparse_ridge_path"]


class SparseRidgePath(NamedTuple):
    """Models for every sparsity and gamma of a grid.

    Attributes
    ----------
    sparsities : ndarray of shape (n_sparsities,)
        The sparsities.
    gammas : ndarray of shape (n_gammas,)
        The gammas.
    coef : ndarray of shape (n_sparsities, n_gammas, n_features)
        ``coef[t, g]`` are the coefficients of the model with ``sparsities[t]`` and ``gammas[g]``.
    intercept : ndarray of shape (n_sparsities, n_gammas)
        Their intercepts.
    """

    sparsities: NDArray[np.int64]
    gammas: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]


def sparse_ridge_path(
    X: Any,
    y: Any,
    sparsities: Sequence[int],
    gammas: Sequence[float],
    *,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> SparseRidgePath:
    """Sparse ridge regression for every sparsity and gamma of a grid.

    One pass of the beam serves all sparsities, and the products of columns serve all gammas. Every
    model is the one that :class:`SparseRidge` finds by itself.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        The target.
    sparsities : sequence of int
        The largest numbers of non-zero coefficients.
    gammas : sequence of float
        The inverses of the penalty.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.
    **params : dict
        Other parameters of :class:`SparseRidge`.

    Returns
    -------
    path : SparseRidgePath
        The coefficients and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from steadycv import sparse_ridge_path
    >>> path = sparse_ridge_path(*load_diabetes(return_X_y=True), range(1, 11), [0.1, 1.0, 10.0])
    >>> path.coef.shape
    (10, 3, 10)
    >>> (path.coef != 0).sum(axis=2)[:4, 2]
    array([1, 2, 3, 4])
    """
    model = SparseRidge(1, **params)
    training = model._training(X, y, sample_weight)
    sparsities, gammas = as_list(sparsities, "sparsities"), as_list(gammas, "gammas")
    settings = [plain_setting(*setting, model.n_features_in_) for setting in product(sparsities, gammas)]
    answers = solve(training, settings, model._options())
    n_stopped = sum(answer.limit is not None for answer in answers)
    if n_stopped:
        warnings.warn(
            f"{n_stopped} of {len(settings)} models may not be optimal: their solver reached a limit.",
            ConvergenceWarning,
            stacklevel=2,
        )
    coef, intercept = coefficients(training.gram, answers)
    shape = (len(sparsities), len(gammas))
    return SparseRidgePath(
        np.asarray(sparsities),
        np.asarray(gammas, dtype=np.float64),
        coef.reshape(*shape, -1),
        intercept.reshape(shape),
    )


def coefficients(
    gram: Gram, answers: Sequence[Answer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The coefficients of many models for the columns as they came, and their intercepts."""
    coef = np.zeros((len(answers), gram.n_columns))
    for row, answer in zip(coef, answers, strict=True):
        row[answer.support] = answer.coef
    used = np.flatnonzero(coef.any(axis=0))
    coef[:, used] /= gram.scale[used]
    return coef, gram.y_mean - coef[:, used] @ gram.mean[used]
