"""Regression with concave penalties, the MCP and the SCAD, as baselines: a thin face over skglm.

Both shrink small coefficients as the lasso does and leave large ones alone. Parameters, scaling and the
grid of penalties are those of the R package ncvreg.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from steadycv.linear_models import predicts_linearly

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MCPRegression", "SCADRegression", "alpha_grid"]


class _ConcaveRegression(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """What the two penalties share."""

    _least_gamma: float

    def __init__(
        self,
        alpha: float = 1.0,
        gamma: float = 3.0,
        *,
        fit_intercept: bool = True,
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 50,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter

    @abstractmethod
    def _penalty(self, alpha: float) -> Any:
        """The penalty as skglm knows it."""

    def fit(self, X: Any, y: Any) -> _ConcaveRegression:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Dense data.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        columns, center, scale = _scaled(X, self.fit_intercept, self.standardize)
        mean = y.mean() if self.fit_intercept else 0.0
        # The problem is the same in any unit of y; in this one the tolerance is relative.
        unit = np.sqrt(np.mean((y - mean) ** 2)) or 1.0
        coef, n_iter, violation = _solve(
            columns, (y - mean) / unit, self._penalty(self.alpha / unit), self.tol, self.max_iter
        )
        if violation > self.tol:
            warnings.warn(
                f"{type(self).__name__} did not converge: after max_iter={self.max_iter} working sets "
                f"the optimality conditions are violated by {violation:.2g}, more than tol={self.tol}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = unit * coef / scale
        self.intercept_ = float(mean - center @ self.coef_)
        self.n_iter_ = n_iter
        return self

    @predicts_linearly
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict by the linear model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Dense data.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted targets.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        predicted: NDArray[np.float64] = X @ self.coef_ + self.intercept_
        return predicted

    def _check_parameters(self) -> None:
        for name, least in (("alpha", 0.0), ("gamma", self._least_gamma), ("tol", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, Real) or not least < float(value) < np.inf:
                raise ValueError(f"{name} must be a finite number above {least:g}, got {value!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer of at least 1, got {self.max_iter!r}.")


class MCPRegression(_ConcaveRegression):
    """Linear regression with the minimax concave penalty (MCP).

    Minimises ``|y - X beta|^2 / (2 n) + sum_j p(|beta_j|)`` to a stationary point, where the penalty's
    slope ``p'(b) = max(alpha - b / gamma, 0)`` falls from that of the lasso to nothing. Needs skglm.

    Parameters
    ----------
    alpha : float, default=1.0
        The slope of the penalty at zero, ncvreg's lambda; :func:`alpha_grid` has values to choose from.
    gamma : float, default=3.0
        Coefficients above ``gamma * alpha`` are not shrunk. More than 1.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    standardize : bool, default=True
        Whether the penalty is on the coefficients of columns that are scaled to a mean square of 1
        (after centring), as in ncvreg. ``coef_`` is for the columns as they were given.
    tol : float, default=1e-4
        Violation of the optimality conditions at which to stop, in units of the standard deviation of y.
    max_iter : int, default=50
        Largest number of working sets.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients.
    intercept_ : float
        The intercept.
    n_iter_ : int
        Number of working sets.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they have names.

    See Also
    --------
    SCADRegression : The other concave penalty.

    Notes
    -----
    The problem is not convex. Every fit starts from zero, whereas ncvreg starts from the solution of the
    next larger alpha, so that the two can end in different stationary points where there are several.

    Examples
    --------
    Tuned over a tenth of ncvreg's grid:

    >>> import numpy as np
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.sparse.concave import MCPRegression, alpha_grid
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = 2 * X[:, 3] - X[:, 8] + rng.normal(size=60)
    >>> grid = {"alpha": alpha_grid(X, y, n_alphas=10)}
    >>> search = StabilitySearchCV(MCPRegression(), grid, cv=5).fit(X, y)
    >>> np.flatnonzero(search.best_estimator_.coef_)
    array([ 3,  5,  8, 15])
    """

    _least_gamma = 1.0

    def _penalty(self, alpha: float) -> Any:
        return _skglm("penalties").MCPenalty(alpha, float(self.gamma))


class SCADRegression(_ConcaveRegression):
    """Linear regression with the smoothly clipped absolute deviation penalty (SCAD).

    Minimises ``|y - X beta|^2 / (2 n) + sum_j p(|beta_j|)`` to a stationary point, where the penalty's
    slope ``p'(b)`` is alpha up to ``b = alpha`` and then ``max(gamma alpha - b, 0) / (gamma - 1)``.
    Needs skglm.

    Parameters
    ----------
    alpha : float, default=1.0
        The slope of the penalty at zero, ncvreg's lambda; :func:`alpha_grid` has values to choose from.
    gamma : float, default=3.7
        Coefficients above ``gamma * alpha`` are not shrunk. More than 2.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    standardize : bool, default=True
        Whether the penalty is on the coefficients of columns that are scaled to a mean square of 1
        (after centring), as in ncvreg. ``coef_`` is for the columns as they were given.
    tol : float, default=1e-4
        Violation of the optimality conditions at which to stop, in units of the standard deviation of y.
    max_iter : int, default=50
        Largest number of working sets.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients.
    intercept_ : float
        The intercept.
    n_iter_ : int
        Number of working sets.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they have names.

    See Also
    --------
    MCPRegression : The other concave penalty; its notes hold here too.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.concave import SCADRegression
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> np.flatnonzero(SCADRegression(alpha=0.5).fit(X, 3 * X[:, 1]).coef_)
    array([1])
    """

    _least_gamma = 2.0

    def __init__(
        self,
        alpha: float = 1.0,
        gamma: float = 3.7,
        *,
        fit_intercept: bool = True,
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 50,
    ) -> None:
        super().__init__(
            alpha,
            gamma,
            fit_intercept=fit_intercept,
            standardize=standardize,
            tol=tol,
            max_iter=max_iter,
        )

    def _penalty(self, alpha: float) -> Any:
        # skglm divides by gamma - 1 - n / |x_j|^2; with columns that are not scaled that may be zero.
        return _skglm("penalties").SCAD(alpha, self.gamma * (1 + 1e-12))


def alpha_grid(
    X: Any,
    y: Any,
    n_alphas: int = 100,
    eps: float | None = None,
    *,
    fit_intercept: bool = True,
    standardize: bool = True,
) -> NDArray[np.float64]:
    """Penalties to choose from, as ncvreg takes them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Dense data.
    y : array-like of shape (n_samples,)
        Targets.
    n_alphas : int, default=100
        How many.
    eps : float, default=None
        The last over the first; None is 0.001 with more rows than columns, otherwise 0.05.
    fit_intercept, standardize : bool, default=True
        As in :class:`MCPRegression` and :class:`SCADRegression`.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        Evenly spaced on the log scale, falling from the least alpha at which all coefficients are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.concave import alpha_grid
    >>> alpha_grid([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], n_alphas=4)
    array([0.81649658, 0.08164966, 0.00816497, 0.0008165 ])
    """
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    if eps is None:
        eps = 0.001 if X.shape[0] > X.shape[1] else 0.05
    if not 0 < eps < 1:
        raise ValueError(f"eps must be between 0 and 1, got {eps!r}.")
    if not isinstance(n_alphas, Integral) or n_alphas < 1:
        raise ValueError(f"n_alphas must be an integer of at least 1, got {n_alphas!r}.")
    columns, _, _ = _scaled(X, fit_intercept, standardize)
    largest = np.abs(columns.T @ (y - y.mean() * fit_intercept)).max() / len(y)
    if largest == 0:
        raise ValueError(
            "No column of X is correlated with y: with any alpha all coefficients are zero."
        )
    return np.asarray(largest * np.geomspace(1.0, eps, n_alphas))


def _scaled(
    X: NDArray[np.float64], centring: bool, scaling: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Columns in the order and scale in which they are penalised, their centres and their scales."""
    center = X.mean(axis=0) if centring else np.zeros(X.shape[1])
    columns = np.asfortranarray(X - center)
    if centring:
        columns[:, np.ptp(X, axis=0) == 0] = 0.0  # no rounding errors of constant columns
    scale = np.sqrt(np.mean(columns**2, axis=0)) if scaling else np.ones(X.shape[1])
    scale[scale == 0] = 1.0
    return columns / scale, center, scale


def _solve(
    X: NDArray[np.float64], y: NDArray[np.float64], penalty: Any, tol: float, max_iter: int
) -> tuple[NDArray[np.float64], int, float]:
    """The coefficients, the number of working sets and the violation of the optimality conditions."""
    n_features = X.shape[1]
    if (
        1 in X.shape
    ):  # numba takes one row or column for C order and compiles all again: make it two of each
        X, y = np.asfortranarray(np.pad(np.vstack([X, X]), ((0, 0), (0, 1)))), np.append(y, y)
    solver = _skglm("solvers").AndersonCD(max_iter=max_iter, tol=tol, fit_intercept=False)
    coef, objectives, violation = solver.solve(X, y, _skglm("datafits").Quadratic(), penalty)
    return coef[:n_features], max(len(objectives), 1), float(violation)


def _skglm(part: str) -> Any:
    try:
        return import_module(f"skglm.{part}")
    except ImportError as error:
        raise ImportError(
            "MCPRegression and SCADRegression need skglm: pip install 'steadycv[baselines]'."
        ) from error
