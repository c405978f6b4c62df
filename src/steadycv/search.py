"""`StabilitySearchCV`: the method with scikit-learn's face."""

from __future__ import annotations

import numbers
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from steadycv import rules
from steadycv._compat import (
    BaseSearchCV,
    TaskTree,
    check_method_params,
    fit_context,
    n_samples_of,
    several_scorers,
)
from steadycv.bound import generalization_bound
from steadycv.candidates import Grid
from steadycv.fingerprint import fingerprint
from steadycv.fitting import Fitter, Problem, new_estimator, overwrites
from steadycv.folds import Lattice
from steadycv.ledger import Ledger
from steadycv.ledger_file import LedgerFile, identity
from steadycv.losses import default_loss, get_loss
from steadycv.metadata import loss_weight, route
from steadycv.notebook import ResultsInNotebook
from steadycv.paths.plan import plan
from steadycv.progress import FitLines, ProgressBar
from steadycv.results import grid_search_results, in_order_of_samples, weights_table
from steadycv.scoring import Driver, LossScorer, find_driver
from steadycv.selection import Choices, Observer, Selector
from steadycv.strategies import exhaustive, get_strategy
from steadycv.summary import summarize

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.losses import Loss
    from steadycv.strategies import Strategy

__all__ = ["StabilitySearchCV"]


class StabilitySearchCV(ResultsInNotebook, BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """Search for hyperparameters that are good, steady, and honestly reported.

    A drop-in for :class:`~sklearn.model_selection.GridSearchCV`. It selects the candidate with the
    lowest *cross-validation error + weight x instability*, where the instability is how much the
    losses change when a fold is left out; it chooses the weight by nested cross-validation; and
    it reports the nested error, an honest estimate of the error on new data.

    Every distinct training set is fitted once: ``1 + k + k(k-1)/2`` models for each candidate with k
    folds, 16 with the default of five, whatever the number of weights.

    Parameters
    ----------
    estimator : estimator object
        A regressor or classifier of scikit-learn's kind, or a pipeline that ends in one. Where its
        ``random_state`` is None, every fit uses 0: the method compares models trained on
        different samples, and luck would count as instability.
    param_grid : dict or list of dicts
        Names of parameters and the values to try, as in GridSearchCV.
    scoring : str, callable, list, tuple or dict, default=None
        The scores to report, as in GridSearchCV. The one that drives the selection (the only one, or
        the one that `refit` names) must be a mean of per-sample losses: ``"neg_mean_squared_error"``,
        ``"neg_mean_absolute_error"``, ``"neg_log_loss"``, ``"accuracy"``, ``"neg_brier_score"``,
        ``"neg_mean_poisson_deviance"`` or ``"neg_mean_gamma_deviance"``. With None, the score is
        minus the loss, in ``cv_results_`` and in :meth:`score`.
    loss : str or callable, default=None
        The per-sample loss that drives the selection, when it is not to come from `scoring`:
        ``"squared_error"``, ``"absolute_error"``, ``"poisson_deviance"``, ``"gamma_deviance"``,
        ``"zero_one"``, ``"log_loss"``, ``"brier"``, :func:`~steadycv.pinball_loss`, or a function
        ``loss(y_true, y_pred)`` that returns a non-negative number for every sample. With None and
        no `scoring`: squared error for regressors, log loss for classifiers with
        ``predict_proba``, zero-one loss for others. A fit with a loss that is negative or not
        finite counts as failed.
    stability_weights : "auto", float or array-like of float, default="auto"
        The weights to choose from, none negative. ``"auto"`` is 0 and the paper's ten,
        ``numpy.logspace(-4, 4, 10)``. A single number fixes the weight; 0 is plain
        cross-validation.
    nested : bool, default=True
        Whether to fit the models trained without two folds, which choose the weight and give the
        nested error. With False a single weight is needed, and no more is fitted than that takes:
        k models for each candidate with weight 0, else k + 1.
    search : {"grid", "coordinate"} or callable, default="grid"
        ``"grid"`` looks at all candidates. ``"coordinate"`` is the paper's cyclic coordinate descent
        along the axes of the grid, for each weight and each outer fold. Or a strategy of your own,
        see :mod:`steadycv.strategies`.
    cv : int, cross-validation generator or iterable, default=None
        How to partition the samples into folds: None for five folds, a number of folds, or any
        splitter that puts each sample in exactly one fold (of each repeat).
    refit : bool, str or callable, default=True
        Whether to fit the chosen candidate on all data. With several scores, the name of the one
        that drives the selection. A callable is given ``cv_results_`` and returns the index of the
        candidate; there is no nested error for such a choice.
    n_jobs : int, default=None
        Number of fits to run in parallel. The result does not depend on it.
    pre_dispatch : int or str, default="2*n_jobs"
        As in GridSearchCV.
    error_score : "raise" or float, default=nan
        What a failed fit scores. With nan the candidate is not chosen where it failed. With a number
        the fold's error is taken from it; the instability of a model that failed is infinite.
    return_train_score : bool, default=False
        Whether ``cv_results_`` has the scores on the training sets too.
    verbose : int, default=0
        1 shows a progress bar on standard error; 2 prints a line for every fit, 3 its scores as
        well. With scikit-learn 1.9 or later, its callbacks work too.
    ledger : path-like, default=None
        A file in which to keep the numbers that the fits leave behind, so that an interrupted
        search goes on where it stopped, and a larger grid reuses what is there. A file of another
        search (other data, folds, estimator, scoring or versions) is refused.
    use_paths : bool, default=True
        Whether one fit may serve many candidates where a path for the estimator is known, see
        :mod:`steadycv.paths`. With False every candidate is fitted separately.

    Attributes
    ----------
    best_params_ : dict
        The chosen candidate.
    best_index_ : int
        Its index in ``cv_results_``.
    best_estimator_ : estimator
        The chosen candidate fitted on all data. Only with `refit`.
    best_score_ : float
        Its mean score over the folds: minus its cross-validation error, or 1 minus it for accuracy.
        Like GridSearchCV's, it is the score of a choice made on the same folds, so it is too good.
    nested_error_ : float
        The mean error on the outer folds of what was chosen without them, at the chosen weight: what
        to expect on new data. It is a minimum over the weights and thereby slightly low.
    cv_error_ : float
        The cross-validation error of the choice.
    instability_ : float
        The instability of the choice: the largest, over left-out folds, mean absolute change in loss.
    stability_weight_ : float
        The chosen weight.
    weights_ : dict of ndarrays
        A table with a row for each weight: ``weight``, its error on each outer fold
        (``split0_error``, ...), their mean (``mean_error``), the candidate chosen without each outer
        fold (``split0_index``, ...; -1 where all failed) and on all data (``index``).
    kfold_index_, kfold_params_ : int, dict
        What plain cross-validation would have chosen with the same search.
    cv_results_ : dict of ndarrays
        As GridSearchCV's, and ``cv_error``, ``instability``, ``regularized_error`` and
        ``rank_regularized_error``.
        Candidates that an adaptive search did not look at have NaN.
    out_of_fold_predictions_ : ndarray
        What the choice, trained without a fold, says of that fold's samples: predictions, or
        probabilities where the loss takes them. With repeats, one row of them for each repeat.
    scorer_ : callable or dict
        The scorer(s) behind :meth:`score`.
    loss_ : callable
        The per-sample loss that drove the selection.
    n_fits_ : int
        How many fits were made, without the refit; one that serves many candidates counts once.
    n_splits_ : int
        Number of folds, over all repeats.
    refit_time_ : float
        Seconds that the refit took. Only with `refit`.
    multimetric_ : bool
        Whether several scores were computed.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Chooses by the cross-validation error alone.

    Notes
    -----
    The method is that of Cory-Wright and Gomez, *Stability Regularized Cross-Validation*. The
    cross-validation error is the mean over folds of each fold's mean loss; with repeats, errors and
    instabilities are averaged over them. Of candidates that tie, the first in the grid is
    chosen; of weights that tie, the smallest.

    With sample weights, all means of losses are weighted. They go to the estimator's ``fit``
    (the last step's, of a pipeline), unless metadata routing is enabled and says otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilitySearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 8)}, cv=5)
    >>> search.fit(X, y).best_params_
    {'max_depth': 2}
    >>> print(f"promised {search.cv_error_:.0f}, expect {search.nested_error_:.0f}")
    promised 3884, expect 4013
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "param_grid": [dict, list],
        "loss": [str, callable, None],
        "stability_weights": [str, numbers.Real, "array-like"],
        "nested": ["boolean"],
        "search": [str, callable],
        "ledger": [str, object, None],
        "use_paths": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: dict[str, Any] | list[dict[str, Any]],
        *,
        scoring: Any = None,
        loss: str | Loss | None = None,
        stability_weights: str | float | ArrayLike = "auto",
        nested: bool = True,
        search: str | Strategy = "grid",
        cv: Any = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        verbose: int = 0,
        ledger: str | os.PathLike[str] | None = None,
        use_paths: bool = True,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid
        self.loss = loss
        self.stability_weights = stability_weights
        self.nested = nested
        self.search = search
        self.ledger = ledger
        self.use_paths = use_paths

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> StabilitySearchCV:
        """Search, choose, and refit.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data; for a precomputed kernel of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        **params : dict
            ``groups`` goes to the splitter, ``sample_weight`` to the fits, the losses and the scorers;
            everything else to the fits. With metadata routing enabled, as requested.

        Returns
        -------
        self : StabilitySearchCV
            The fitted search.
        """
        weights = self._weights()
        strategy = get_strategy(self.search)
        scorers, _ = self._get_scorers()
        X, y = indexable(X, y)
        driver = self._driver(scorers, y)
        if isinstance(scorers, LossScorer):
            scorers = LossScorer(driver.loss)  # the default loss may depend on y
        grid = Grid(self.param_grid)
        params = check_method_params(X, params=params)
        routed = route(self, params, scorers)
        weight = loss_weight(params, scorers, driver, n_samples_of(X))
        lattice = self._lattice(X, y, routed.splitter.split)
        problem = Problem(
            estimator=self.estimator,
            X=X,
            y=y,
            lattice=lattice,
            response=driver.response(y),
            driver=driver,
            loss_weight=weight,
            scorer=None if driver.name == "score" else scorers,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
            return_train_score=self.return_train_score,
            error_score=self.error_score,
            predict_on_copy=overwrites(self.estimator, grid.candidates),
        )
        ledger = Ledger(
            len(grid),
            lattice,
            weight,
            with_change=self.nested or weights[0] > 0,
            nested=self.nested,
        )
        if self.error_score != "raise" and not np.isnan(self.error_score):
            ledger.failed_error = driver.best - float(self.error_score)

        groups = plan(problem, grid, use_paths=self.use_paths)
        sets = lattice.all_sets() if self.nested else lattice.final_sets(with_full=ledger.with_change)
        known = strategy is exhaustive and self.ledger is None
        with TaskTree(self, X, y, params, len(groups) * len(sets) if known else None) as tasks:
            fitter = Fitter(
                problem,
                grid.candidates,
                groups,
                tasks,
                n_jobs=self.n_jobs,
                pre_dispatch=self.pre_dispatch,
            )
            with ExitStack() as stack:
                observers = self._observers(problem, grid, ledger, stack)
                selector = Selector(grid, ledger, fitter, observers, self._cv_error)
                choices = selector.run(strategy, weights)
                fitter.failures.report(
                    self.error_score, any_worked=bool(np.isfinite(ledger.error).any())
                )
                self._conclude(grid, ledger, weights, choices, driver, scorers)
                self.out_of_fold_predictions_ = in_order_of_samples(
                    lattice, selector.outputs_of(self.best_index_)
                )
            self.n_fits_ = fitter.n_fits
            if self.refit:
                self._refit(X, y, routed.estimator.fit, tasks)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self.estimator).target_tags
        return tags

    @property
    def nested_error_(self) -> float:
        """Mean error on the outer folds of what was chosen without them: what to expect on new data."""
        check_is_fitted(self)
        if not self.nested:
            raise AttributeError(
                "There is no nested error with nested=False: it needs the models trained without "
                "two folds. Set nested=True."
            )
        if callable(self.refit):
            raise AttributeError(
                "There is no nested error with a callable refit: its choice was made outside the "
                "nested cross-validation. weights_ has the outer errors of the weights."
            )
        return float(self.weights_["mean_error"].min())

    @property
    def instability_(self) -> float:
        """Instability of the choice: the largest, over left-out folds, mean absolute change in loss."""
        check_is_fitted(self)
        if np.isnan(self._instability):
            raise AttributeError(
                "The instability is not known with nested=False and a weight of 0: it needs the "
                "model fitted on all data. Set nested=True."
            )
        return self._instability

    def generalization_bound(self, loss_bound: float, delta: float = 0.05) -> float:
        """Bound on the test error of the choice by Theorem 1 of the paper; it is loose.

        Parameters
        ----------
        loss_bound : float
            No loss of any model at any point is larger.
        delta : float, default=0.05
            How often the bound may fail.

        Returns
        -------
        bound : float
            See :func:`steadycv.generalization_bound`, which says how loose it is.
        """
        check_is_fitted(self)
        sizes = np.unique(self._fold_sizes)
        if len(sizes) > 1:
            raise ValueError(
                f"The theorem is for folds of equal size, and these have {sizes.tolist()} samples."
            )
        if len(self._fold_sizes) > 1:
            raise ValueError("The theorem is for one partition, and this search has repeats.")
        return generalization_bound(
            self.cv_error_,
            self.instability_,
            loss_bound=loss_bound,
            n_folds=self.n_splits_,
            delta=delta,
        )

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the refitted estimator, by `scoring` where given and else by minus the loss.

        With several scores it is the one that `refit` names, or minus the loss if `refit` is True.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        **params : dict
            Metadata for the scorer, with metadata routing enabled.

        Returns
        -------
        score : float
            Higher is better.
        """
        if self.loss is not None and self.refit is True and getattr(self, "multimetric_", False):
            return LossScorer(get_loss(self.loss))(self.best_estimator_, X, y, **params)
        score: float = super().score(X, y, **params)
        return score

    def summary(self) -> str:
        """Plain cross-validation's choice and this one, side by side, as a text.

        Returns
        -------
        text : str
            A table, and what to expect on new data.
        """
        check_is_fitted(self)
        return summarize(self)

    # What the parameters say.

    def _weights(self) -> NDArray[np.float64]:
        if isinstance(self.stability_weights, str):
            if self.stability_weights != "auto":
                raise ValueError(
                    "stability_weights must be 'auto', a number or numbers, got "
                    f"{self.stability_weights!r}."
                )
            weights = np.concatenate([[0.0], np.logspace(-4, 4, 10)])
        else:
            weights = np.unique(np.asarray(self.stability_weights, dtype=np.float64))
        if not len(weights) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(
                f"stability_weights must be finite numbers from 0 on, got {self.stability_weights!r}."
            )
        if len(weights) > 1 and not self.nested:
            raise ValueError(
                "nested=False needs a single stability weight, because weights are chosen by "
                f"nested cross-validation; got stability_weights={self.stability_weights!r}."
            )
        return weights

    def _get_scorers(self) -> tuple[Any, Any]:
        if self.scoring is None:
            loss = default_loss(self.estimator, None) if self.loss is None else self.loss
            return LossScorer(get_loss(loss)), "score"
        scorers: tuple[Any, Any] = super()._get_scorers()
        return scorers

    def _check_refit_for_multimetric(self, scores: Any) -> None:
        if self.loss is not None and self.refit is True:
            return
        try:
            super()._check_refit_for_multimetric(scores)
        except ValueError as error:
            raise ValueError(
                f"{error} The score that refit names drives the selection; or pass loss= to drive it."
            ) from None

    def _driver(self, scorers: Any, y: Any) -> Driver:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return find_driver(self.estimator, y, self.scoring, scorers, self.refit, self.loss)

    def _cv_error(self, ledger: Ledger, candidates: rules.Candidates) -> NDArray[np.float64]:
        return rules.cv_error(ledger, candidates)

    def _lattice(self, X: Any, y: Any, split_params: dict[str, Any]) -> Lattice:
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        name = f"cv={cv!r}" if hasattr(self.cv, "split") else "cv"
        lattice = Lattice.from_splits(cv.split(X, y, **split_params), n_samples_of(X), name)
        if self.nested and lattice.n_folds < 3:
            raise ValueError(
                f"nested=True needs 3 folds or more, got {lattice.n_folds}: without two of two "
                "folds nothing is left to train on. Use more folds, or nested=False."
            )
        return lattice

    def _observers(
        self, problem: Problem, grid: Grid, ledger: Ledger, stack: ExitStack
    ) -> Sequence[Observer]:
        observers: list[Observer] = []
        if self.ledger is not None:
            estimators = [new_estimator(self.estimator, params) for params in grid.candidates]
            file = LedgerFile(
                self.ledger,
                identity(problem, use_paths=self.use_paths),
                keys=[fingerprint(estimator) for estimator in estimators],
                settings=[repr(params) for params in grid.candidates],
            )
            observers.append(stack.enter_context(file))
            file.load(ledger)
        if self.verbose == 1:
            observers.append(stack.enter_context(ProgressBar()))
        elif self.verbose > 1:
            observers.append(FitLines(grid.candidates, with_scores=self.verbose > 2))
        return observers

    # What the ledger says.

    def _conclude(
        self,
        grid: Grid,
        ledger: Ledger,
        weights: NDArray[np.float64],
        choices: Choices,
        driver: Driver,
        scorers: Any,
    ) -> None:
        """Set the fitted attributes that are read off the ledger."""
        self.multimetric_ = set(ledger.test_scores) != {"score"}
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(ledger.test_scores)
        self.scorer_ = several_scorers(scorers) or scorers
        self.loss_ = driver.loss
        self.n_splits_ = ledger.lattice.n_repeats * ledger.lattice.n_folds
        self._fold_sizes = ledger.lattice.fold_sizes()

        self.weights_ = weights_table(ledger, weights, choices)
        errors = self.weights_.get("mean_error", np.zeros(1))
        chosen = rules.first_minimum(errors)
        if choices.overall[chosen] < 0 or not np.isfinite(errors[chosen]):
            raise ValueError(
                "Every candidate failed on some training set, so there is none to choose. The "
                "warning above has the errors; with error_score='raise' the first one stops the "
                "search."
            )
        self.stability_weight_ = float(weights[chosen])
        self.kfold_index_ = choices.kfold
        self.kfold_params_ = grid.candidates[choices.kfold]

        cv_error = self._cv_error(ledger, rules.ALL)
        instability = rules.instability(ledger)
        regularized = rules.regularized_error(cv_error, instability, self.stability_weight_)
        self.cv_results_ = grid_search_results(self, grid, ledger)
        self.cv_results_["cv_error"] = cv_error
        self.cv_results_["instability"] = instability
        self.cv_results_["regularized_error"] = regularized
        self.cv_results_["rank_regularized_error"] = rules.rank(regularized)

        if callable(self.refit):
            self.best_index_ = self._select_best_index(self.refit, None, self.cv_results_)
        else:
            self.best_index_ = int(choices.overall[chosen])
        self.best_params_ = grid.candidates[self.best_index_]
        self.cv_error_ = float(cv_error[self.best_index_])
        self._instability = float(instability[self.best_index_])
        if not callable(self.refit):
            self.best_score_ = (
                -self.cv_error_
                if driver.name is None
                else float(self.cv_results_[f"mean_test_{driver.name}"][self.best_index_])
            )

    def _refit(self, X: Any, y: Any, fit_params: dict[str, Any], tasks: TaskTree) -> None:
        estimator = new_estimator(self.estimator, self.best_params_)
        with tasks.refit(estimator, X, y, fit_params):
            start = time.perf_counter()
            estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        self.best_estimator_ = estimator
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_
