"""`SparseRidgeCV`: sparse ridge regression that chooses its sparsity and penalty."""

from __future__ import annotations

from itertools import product
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from steadycv.linear_models import predicts_linearly
from steadycv.search import StabilitySearchCV
from steadycv.sparse.estimator import SparseRidge, as_list, plain_setting, plain_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.committees import Committee
    from steadycv.lattice import Lattice
    from steadycv.rules import Rule
    from steadycv.strategies import Strategy

__all__ = ["SparseRidgeCV", "largest_sparsity", "share_trained_on"]


class SparseRidgeCV(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Sparse ridge regression whose sparsity and gamma are chosen, steadily and with an honest error.

    The choice is that of :class:`~steadycv.StabilitySearchCV` over :class:`SparseRidge`: the lowest
    *cross-validation error + weight x instability*, the weight chosen by nested cross-validation.

    Parameters
    ----------
    sparsities : sequence of int, default=None
        The sparsities to choose from. None is the paper's: 1, 2, ... as long as t log t is at most the
        number of samples, and t the number of columns.
    gammas : sequence of float, default=None
        The gammas to choose from. None is the paper's 20, ``numpy.logspace(-3, 3, 20)``.
    solver : {"beam", "rounding", "exact", "cuts"}, default="beam"
        As in :class:`SparseRidge`.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    standardize : bool, default=True
        Whether columns are scaled to variance 1, inside each training set. A grid of penalties makes
        little sense for columns of different units, so here this is the default.
    swaps : bool, default=True
        As in :class:`SparseRidge`.
    rescale_gamma : bool, default=False
        Whether the final model, which has more rows than those in the cross-validation, gets the gamma
        that penalises it as much as them: the chosen one times the share of rows that the splits train
        on, in the mean. The paper does this.
    stability_weights : "auto", float or array-like of float, default="auto"
        As in :class:`~steadycv.StabilitySearchCV`; 0 is plain cross-validation.
    rule : {"steady", "paper", "plain", "one_standard_error"} or callable, default="steady"
        As in :class:`~steadycv.StabilitySearchCV`. ``"paper"`` is the paper's.
    search : {"grid", "coordinate"} or callable, default="grid"
        As in :class:`~steadycv.StabilitySearchCV`. ``"coordinate"`` is the paper's: it starts at the
        middle gamma and minimises over the sparsity first.
    deliver : {"model", "committee", "ensemble", "student"}, default="model"
        What is fitted in the end, as in :class:`~steadycv.StabilitySearchCV`. An average of sparse
        models is one linear model that uses all of their columns. Not with `rescale_gamma`.
    cv : int, cross-validation generator or iterable, default=None
        The splits; None for five folds. Any will do, as in :class:`~steadycv.StabilitySearchCV`.
    n_jobs : int, default=None
        Number of fits to run in parallel. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    sparsity_, gamma_ : int, float
        The choice. With `rescale_gamma` the final model's gamma is another, ``model_.gamma``.
    nested_error_ : float
        What to expect on new data: the mean squared error of what was chosen without the rows that it
        is measured on. There is none where no split sees another one inside its training rows.
    promise_ : float
        The error to expect of what was delivered, see :class:`~steadycv.StabilitySearchCV`.
    model_ : SparseRidge or Committee
        The final model, or the average that `deliver` asks for.
    coef_, intercept_, support_ : ndarray, float, ndarray of int
        Its coefficients, intercept and columns.
    search_ : StabilitySearchCV
        The search, with all its results.
    n_features_in_, feature_names_in_ : int, ndarray of str
        As in :class:`SparseRidge`.

    See Also
    --------
    steadycv.StabilitySearchCV : The search, for any estimator and any grid.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from steadycv import SparseRidgeCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRidgeCV().fit(X, y)
    >>> model.sparsity_
    5
    >>> print(f"promised {model.search_.cv_error_:.0f}, expect {model.nested_error_:.0f}")
    promised 2964, expect 3040
    """

    def __init__(
        self,
        *,
        sparsities: Sequence[int] | None = None,
        gammas: Sequence[float] | None = None,
        solver: str = "beam",
        fit_intercept: bool = True,
        standardize: bool = True,
        swaps: bool = True,
        rescale_gamma: bool = False,
        stability_weights: str | float | ArrayLike = "auto",
        rule: str | Rule = "steady",
        search: str | Strategy = "grid",
        deliver: str = "model",
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.sparsities = sparsities
        self.gammas = gammas
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.swaps = swaps
        self.rescale_gamma = rescale_gamma
        self.stability_weights = stability_weights
        self.rule = rule
        self.search = search
        self.deliver = deliver
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> SparseRidgeCV:
        """Choose sparsity and gamma, and fit the final model on all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in the fits and in the errors.
        groups : array-like of shape (n_samples,), optional
            For a `cv` that keeps groups together.

        Returns
        -------
        self : SparseRidgeCV
            The fitted model.
        """
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64, y_numeric=True)
        weight = plain_weight(sample_weight, X)
        n_samples, n_features = X.shape
        up_to = range(1, largest_sparsity(n_samples, n_features) + 1)
        sparsities = as_list(up_to if self.sparsities is None else self.sparsities, "sparsities")
        gammas = as_list(np.logspace(-3, 3, 20) if self.gammas is None else self.gammas, "gammas")
        for setting in product(sparsities, gammas):
            plain_setting(*setting, n_features)
        model = SparseRidge(
            1,
            solver=self.solver,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            swaps=self.swaps,
        )
        if self.rescale_gamma and self.deliver != "model":
            raise ValueError(
                "rescale_gamma=True is for a model of all rows, and "
                f"deliver={self.deliver!r} has others."
            )
        model._options()  # refuses what makes no sense before anything is fitted
        if get_config()["enable_metadata_routing"]:
            model.set_fit_request(sample_weight=True)
        self.search_ = StabilitySearchCV(
            model,
            # The first axis is the one that coordinate descent fixes at the start.
            {"gamma": gammas, "sparsity": sparsities},
            stability_weights=self.stability_weights,
            rule=self.rule,
            search=self.search,
            cv=self.cv,
            refit=not self.rescale_gamma,
            deliver=self.deliver,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        metadata = {"sample_weight": weight, "groups": groups}
        self.search_.fit(X, y, **{k: v for k, v in metadata.items() if v is not None})
        self.sparsity_, self.gamma_ = (self.search_.best_params_[k] for k in ("sparsity", "gamma"))
        if self.rescale_gamma:
            gamma = self.gamma_ * share_trained_on(self.search_.lattice_)
            model.set_params(sparsity=self.sparsity_, gamma=gamma)
            self.model_: SparseRidge | Committee = model.fit(X, y, weight)
        else:
            self.model_ = self.search_.best_estimator_
        return self

    @property
    def nested_error_(self) -> float:
        """What to expect on new data."""
        check_is_fitted(self)
        return self.search_.nested_error_

    @property
    def promise_(self) -> float:
        """The error to expect of what was delivered."""
        check_is_fitted(self)
        return self.search_.promise_

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The coefficients."""
        return self.model_.coef_

    @property
    def intercept_(self) -> float:
        """The intercept."""
        return float(self.model_.intercept_)

    @property
    def support_(self) -> NDArray[np.int64]:
        """The columns that were chosen, in order."""
        return self.model_.support_

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
        return self.model_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def share_trained_on(lattice: Lattice) -> float:
    """The share of all rows that the splits train on, in the mean.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from steadycv.lattice import Lattice
    >>> share_trained_on(Lattice(KFold(5).split(range(12)), n_samples=12))
    0.8
    """
    n_trained = sum(len(split.train) for split in lattice.splits)
    return n_trained / (len(lattice.splits) * lattice.n_samples)


def largest_sparsity(n_samples: int, n_features: int) -> int:
    """The largest t with t log t at most the number of samples, and at most the number of columns.

    Examples
    --------
    >>> largest_sparsity(100, 1000), largest_sparsity(100, 10)
    (29, 10)
    """
    t = 1
    while t < n_features and (t + 1) * log(t + 1) <= n_samples:
        t += 1
    return t
