"""`SparseRidge`: ridge regression on at most so many columns."""

from __future__ import annotations

import warnings
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from steadycv._compat import check_sample_weight
from steadycv._jit import fast_kernel
from steadycv.linear_models import predicts_linearly
from steadycv.sparse.gram import Gram, one_block
from steadycv.sparse.solvers import SOLVERS, Options, Training, solve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from steadycv.sparse.solvers import Answer

__all__ = ["SparseRidge", "as_list", "is_count", "is_gamma", "plain_setting", "plain_weight"]


class SparseRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Ridge regression with at most `sparsity` non-zero coefficients.

    It minimises

    .. math::

        \frac{1}{2\gamma} \|\beta\|^2 + \frac{1}{2} \|X\beta + b - y\|^2
        \quad\text{with}\quad \|\beta\|_0 \le \tau

    over the coefficients :math:`\beta` and the intercept :math:`b`.

    Parameters
    ----------
    sparsity : int
        :math:`\tau`, the largest number of non-zero coefficients; at least 1, at most the number of
        columns.
    gamma : float, default=1.0
        The inverse of the penalty: ``Ridge(alpha=1 / gamma)`` on the same columns has the same
        coefficients. Smaller means more shrinkage.
    solver : {"beam", "rounding", "exact", "cuts"}, default="beam"
        ``"beam"`` is forward selection with exact gains, a beam of supports, and exact swaps of one
        column for another: fast, and mostly optimal. ``"rounding"`` is what the paper runs: the
        largest entries of the solution of a convex relaxation. ``"exact"`` is branch and
        bound: the optimum, with proof. ``"cuts"`` is the paper's Generalized Benders decomposition,
        a slow second opinion.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is not penalised.
    standardize : bool, default=False
        Whether columns are scaled to variance 1 before they are penalised; constant ones stay as they
        are. Coefficients are for the columns as they came.
    beam_width : int, default=4
        How many supports ``"beam"`` keeps at each sparsity.
    swaps : bool, default=True
        Whether ``"beam"`` and ``"rounding"`` exchange one column for another as long as that helps.
        Without, ``"rounding"`` is the paper's to the letter.
    tol : float, default=1e-4
        The relative gap at which ``"exact"`` and ``"cuts"`` call a solution optimal.
    time_limit : float, default=None
        Seconds after which ``"exact"`` and ``"cuts"`` stop with what they have. Then there is a warning,
        and `gap_` is true all the same.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients.
    intercept_ : float
        The intercept.
    support_ : ndarray of int
        The columns that were chosen, in order. There may be fewer than `sparsity`: constant columns are
        never chosen, nor is any when nothing is left to explain.
    objective_ : float
        What was minimised; when columns are standardized, the penalty is on the coefficients of the
        scaled columns.
    lower_bound_ : float
        No model that `sparsity` and `gamma` allow has a lower objective. ``"beam"`` gets it from the
        residuals, by duality; ``"rounding"`` from the relaxation; the others from their search.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``: how far from optimal the solution can be at the
        most. It is often not optimality that is missing but proof.
    n_iter_ : int
        Supports looked at by ``"beam"``, iterations of ``"rounding"``, nodes of ``"exact"``, cuts of
        ``"cuts"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they all had one.

    See Also
    --------
    SparseRidgeCV : Chooses sparsity and gamma.
    sparse_ridge_path : All sparsities and gammas of a grid at once.

    Notes
    -----
    With sample weights the squared errors are weighted; a weight of 2 is a row that is there twice.
    Of columns that are equally good the first is taken.

    All solvers start from sums of products of the columns, as ``Ridge(solver="cholesky")`` does. When a
    large `gamma` leaves hardly any penalty and columns almost depend on each other, these hold
    too few digits: columns whose gain could be rounding are then not added. Squares of a column, or of
    the target, that sum up to more than 1e150 are refused; below 1e-280 they count as zero.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from steadycv import SparseRidge
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRidge(sparsity=3, gamma=100.0).fit(X, y)
    >>> model.feature_names_in_[model.support_].tolist()
    ['bmi', 'bp', 's5']
    >>> print(f"{SparseRidge(sparsity=3, gamma=100.0, solver='exact').fit(X, y).gap_:.1%}")
    0.0%
    """

    def __init__(
        self,
        sparsity: int,
        gamma: float = 1.0,
        *,
        solver: str = "beam",
        fit_intercept: bool = True,
        standardize: bool = False,
        beam_width: int = 4,
        swaps: bool = True,
        tol: float = 1e-4,
        time_limit: float | None = None,
    ) -> None:
        self.sparsity = sparsity
        self.gamma = gamma
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.beam_width = beam_width
        self.swaps = swaps
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> SparseRidge:
        """Choose the columns and fit their coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, none negative.

        Returns
        -------
        self : SparseRidge
            The fitted model.
        """
        training = self._training(X, y, sample_weight)
        setting = plain_setting(self.sparsity, self.gamma, self.n_features_in_)
        [answer] = solve(training, [setting], self._options())
        self._conclude(training, answer, *setting)
        return self

    @predicts_linearly
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        predictions: NDArray[np.float64] = X[:, self.support_] @ self.coef_[self.support_]
        return predictions + self.intercept_

    def _training(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Training:
        """The data, checked, as the solvers take them."""
        plain = type(X) is np.ndarray and type(y) is np.ndarray and X.dtype == y.dtype == np.float64
        if plain and X.ndim == 2 and y.shape == X.shape[:1] and X.size:
            # Nothing to convert: scikit-learn's look at it would take longer than a small fit.
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            plain = False
            X, y = self._validated(X, y)
        weight = plain_weight(sample_weight, X)
        centre, standardize = bool(self.fit_intercept), bool(self.standardize)
        try:
            blocks = one_block(X, y, weight, centre=centre)
        except ValueError:
            if plain:
                self._validated(X, y)  # says so if it is not finite
            raise
        return Training(X, y, weight, Gram(blocks, centre=centre, standardize=standardize))

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[np.float64]]:
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64, y_numeric=True)
        return X, y.astype(np.float64, copy=False)

    def _options(self) -> Options:
        """How to solve, checked."""
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {list(SOLVERS)}; got {self.solver!r}.")
        if not is_count(self.beam_width):
            raise ValueError(f"beam_width must be an integer of at least 1; got {self.beam_width!r}.")
        if not ((type(self.tol) is float or isinstance(self.tol, Real)) and 0 <= self.tol < 1):
            raise ValueError(f"tol must be a number from 0 to below 1; got {self.tol!r}.")
        if self.time_limit is not None and not (
            isinstance(self.time_limit, Real) and self.time_limit > 0
        ):
            raise ValueError(
                f"time_limit must be a positive number of seconds, or None; got {self.time_limit!r}."
            )
        return Options(
            self.solver, int(self.beam_width), bool(self.swaps), float(self.tol), self.time_limit
        )

    def _conclude(self, training: Training, answer: Answer, sparsity: int, gamma: float) -> None:
        X, y, weight, gram = training.X, training.y, training.weight, training.gram
        support, coef = answer.support, answer.coef
        if not coef.all():
            support, coef = support[coef != 0], coef[coef != 0]
        own = coef / gram.scale[support]  # of the columns as they came
        self.support_: NDArray[np.int64] = support
        self.coef_: NDArray[np.float64] = np.zeros(X.shape[1])
        self.coef_[support] = own
        self.intercept_ = float(gram.y_mean - gram.mean[support] @ own)
        residual = y - X[:, support] @ own - self.intercept_
        weighted = residual if weight is None else weight * residual
        squares = float(weighted @ residual)
        penalty = 0.5 * float(coef @ coef) / gamma
        self.objective_ = 0.5 * squares + penalty
        along = float(weighted @ (y - gram.y_mean))
        bound = max(answer.lower_bound, self._dual_bound(gram, coef, along, squares, sparsity, gamma))
        self.lower_bound_ = min(bound, self.objective_)
        self.gap_ = 1 - self.lower_bound_ / self.objective_ if self.objective_ > 0 else 0.0
        self.n_iter_ = answer.n_iter
        if answer.limit is not None:
            warnings.warn(
                f"SparseRidge(solver={self.solver!r}) stopped at its {answer.limit}, with a gap of "
                f"{self.gap_:.2%}: the solution may not be optimal. Raise the limit or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _dual_bound(
        self,
        gram: Gram,
        coef: NDArray[np.float64],
        along: float,
        squares: float,
        sparsity: int,
        gamma: float,
    ) -> float:
        """The bound that the residuals give, scaled as is best; see the documentation.

        `along` and `squares` are their products with the target and with themselves.
        """
        gram.fetch(self.support_)
        steepest = _steepest(
            gram.rows,
            gram.slot,
            gram.target,
            gram.diagonal,
            gram.half_energy,
            self.support_,
            coef,
            sparsity,
        )
        across = squares + gamma * steepest
        return 0.5 * along * (along / across) if across > 0 else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@fast_kernel
def _steepest(
    rows: NDArray[np.float64],
    slot: NDArray[np.int64],
    target: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    half_energy: float,
    support: NDArray[np.int64],
    coef: NDArray[np.float64],
    number: int,
) -> float:
    """The sum of the largest squares of products of columns with the residuals."""
    size = np.sqrt(2.0 * half_energy)
    for i in range(len(support)):
        size += abs(coef[i]) * np.sqrt(diagonal[support[i]])
    largest = np.empty(number)
    for i in range(number):
        largest[i] = 0.0
    for j in range(len(target)):
        slope = target[j]
        for i in range(len(support)):
            slope -= coef[i] * rows[slot[support[i]], j]
        # As steep as rounding may have hidden: the bound is to be true.
        slope = abs(slope) + 1e-12 * np.sqrt(diagonal[j]) * size
        place = 0
        while place < number and largest[place] < slope:
            if place > 0:
                largest[place - 1] = largest[place]
            largest[place] = slope
            place += 1
    total = 0.0
    for i in range(number):
        total += largest[i] * largest[i]
    return total


def plain_setting(sparsity: Any, gamma: Any, n_columns: int) -> tuple[int, float]:
    """A sparsity and a gamma as Python's own numbers; refused if they make no sense."""
    if not is_count(sparsity, n_columns):
        raise ValueError(
            f"sparsity must be an integer from 1 to n_features={n_columns}; got {sparsity!r}."
        )
    if not is_gamma(gamma):
        raise ValueError(f"gamma must be a positive, finite number; got {gamma!r}.")
    return int(sparsity), float(gamma)


def plain_weight(sample_weight: ArrayLike | None, X: Any) -> NDArray[np.float64] | None:
    """The weights of the samples, if there are any; refused if they make no sense."""
    if sample_weight is None:
        return None
    weight: NDArray[np.float64] = check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("sample_weight is zero for all samples; at least one must count.")
    return weight


def as_list(values: Any, name: str) -> list[Any]:
    """The values of an axis of the grid."""
    several = np.iterable(values) and not isinstance(values, str)
    listed = list(values.tolist() if isinstance(values, np.ndarray) else values) if several else []
    if not listed:
        raise ValueError(f"{name} must be a sequence of at least one number; got {values!r}.")
    return listed


def is_count(value: Any, most: float = inf) -> bool:
    """Whether a value is an integer of at least 1."""
    if type(value) is not int and (not isinstance(value, Integral) or isinstance(value, bool)):
        return False
    return 1 <= int(value) <= most


def is_gamma(value: Any) -> bool:
    """Whether a value is a number that is positive and finite, and its inverse too."""
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, bool)):
        return False
    try:
        return 0 < float(value) < inf and 1 / float(value) < inf
    except OverflowError:  # an integer beyond all floats
        return False
