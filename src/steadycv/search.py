"""The searches: the method with scikit-learn's face, over grids and over what is drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steadycv._compat import constraints_of_random_search
from steadycv._documented import documented_like
from steadycv.base_search import BaseStabilitySearchCV
from steadycv.candidates import Candidates, Grid
from steadycv.checks import check_distributions, check_grid, check_names
from steadycv.drawing import draw, draw_lines
from steadycv.strategies import get_proposals

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from steadycv.losses import Loss
    from steadycv.rules import Rule
    from steadycv.strategies import Proposals, Strategy

__all__ = ["StabilityRandomizedSearchCV", "StabilitySearchCV"]


class StabilitySearchCV(BaseStabilitySearchCV):
    """Search for hyperparameters that are good, steady, and honestly reported.

    A drop-in for :class:`~sklearn.model_selection.GridSearchCV`, with any splitter and any score. It
    selects the candidate with the lowest *cross-validation error + weight x instability*, where the
    instability is how much the losses change when a fold is left out; it chooses the weight by nested
    cross-validation; and it reports the nested error, an honest estimate of the error on new data.

    Every distinct training set is fitted once: ``1 + k + k(k-1)/2`` models for each candidate with k
    folds, 16 with the default of five, and ``k + 1`` with k splits in time order, whatever the number
    of weights.

    Parameters
    ----------
    estimator : estimator object
        An estimator of scikit-learn's kind, or a pipeline that ends in one: a regressor, a classifier,
        or anything with a score, also without y (densities, PCA). Where its ``random_state`` is None,
        every fit uses 0: the method compares models trained on different samples, and luck would count
        as instability.
    param_grid : dict, list of dicts or callable
        Names of parameters and the values to try, as in GridSearchCV. With ``search=OptunaSearch(...)``
        also distributions, or a function of a trial.
    scoring : str, callable, list, tuple or dict, default=None
        The scores to report, as in GridSearchCV. The only one, or the one that `refit` names, drives
        the selection: the error is minus the score, or the mean loss where the score is known to be a
        mean of a per-sample loss (one minus that for accuracy). With None the estimator's own score is
        reported; regressors are judged by the squared error, classifiers by the share of wrong labels,
        other estimators by their own score.
    loss : str or callable, default=None
        A per-sample loss: ``"squared_error"``, ``"absolute_error"``, ``"squared_log_error"``,
        ``"absolute_percentage_error"``, ``"poisson_deviance"``, ``"gamma_deviance"``, ``"zero_one"``,
        ``"log_loss"``, ``"brier"``, :func:`~steadycv.pinball_loss`, or a function
        ``loss(y_true, y_pred)`` that returns a non-negative number for every sample. Without a score
        that drives, its mean is the error; and the instability is always the mean absolute change of
        such a loss: of this one, of the one behind the score, or by default the squared error or the
        zero-one loss. A fit with a loss that is negative or not finite counts as failed.
    stability_weights : "auto", float or array-like of float, default="auto"
        The weights to choose from, none negative. ``"auto"`` is 0 and the paper's ten,
        ``numpy.logspace(-4, 4, 10)``. A single number fixes the weight; 0 is plain
        cross-validation.
    rule : {"steady", "paper", "plain", "one_standard_error"} or callable, default="steady"
        How the choice is made. ``"steady"`` takes the smallest weight whose nested error exceeds the
        lowest by at most one standard error of their differences over the views, and ``"paper"`` the
        weight with the lowest; then the candidate with the lowest sum is taken. ``"plain"`` is weight 0.
        ``"one_standard_error"`` takes the steadiest of the candidates whose error is within one standard
        error of the lowest. Or a function ``rule(ledger, view)`` that returns the number of a candidate,
        see :data:`steadycv.rules.Rule`. Whichever it is, it is nested: every view chooses by it, and is
        judged on rows of its own. `stability_weights` are for the first two only, and the last two need
        the whole grid.
    nested : bool, default=True
        Whether to look at the splits from inside each other (of a partition, at models trained without
        two folds), which chooses the weight and gives the nested error. With False a single weight is
        needed, and no more is fitted than that takes: k models for each candidate with weight 0, else
        k + 1.
    search : {"grid", "coordinate"}, callable or OptunaSearch, default="grid"
        ``"grid"`` looks at all candidates. ``"coordinate"`` is the paper's cyclic coordinate descent
        along the axes of the grid, for each weight and each outer fold. Or a strategy of your own,
        see :mod:`steadycv.strategies`; or an :class:`~steadycv.OptunaSearch`, which proposes candidates
        from a space of any kind.
    cv : int, cross-validation generator or iterable, default=None
        As in GridSearchCV: None for five folds, a number of folds, any splitter, or a list of rows to
        train and to validate on. A split that trains on what it validates is refused. Of splits that
        cannot be nested (two folds, a single split) the plain choice is made, and a warning says so.
    refit : bool, str or callable, default=True
        Whether to fit the chosen candidate on all data. With several scores, the name of the one
        that drives the selection; True if `loss` does. A callable is given ``cv_results_`` and returns
        the index of the candidate; there is no nested error for such a choice.
    n_jobs : int, default=None
        Number of fits to run in parallel. The result does not depend on it.
    pre_dispatch : int or str, default="2*n_jobs"
        As in GridSearchCV.
    engine : {None, "loky", "ray"} or dask.distributed.Client, default=None
        Where fits run: processes of this machine, a Ray cluster (one is started on this machine where
        there is none), or the Dask cluster of a client. None is joblib's context: `n_jobs` processes, or
        what ``joblib.parallel_config`` names. With an engine, `n_jobs` limits how many fits run at the
        same time, and None is as many as there is room for. The result does not depend on it.
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
        search goes on where it stopped, and a larger grid reuses what is there. The result does not
        depend on what the file had. A file of another search (other data, folds, estimator, scoring or
        versions) is refused.
    use_paths : bool, default=True
        Whether one fit may serve many candidates where a path for the estimator is known, see
        :mod:`steadycv.paths`. With False every candidate is fitted separately.
    race : "auto", bool or float, default="auto"
        Whether candidates leave the search as soon as what a view may know speaks against them, see
        :mod:`steadycv.racing`: the whole nested search then costs about what plain cross-validation
        does. ``"auto"`` races where every candidate takes a fit of its own and there are more than 20.
        A number is how many standard errors a candidate may be behind the best, without a limit to how
        many stay; True is one of them, and a limit that keeps the price. Of those that left,
        ``cv_results_`` has NaN, and in ``left_in_round`` the round.
    deliver : {"model", "committee", "ensemble", "student"}, default="model"
        What ``best_estimator_`` is. ``"model"`` is the choice fitted on all data; ``"committee"`` the
        average of the models trained without one split, of the candidate whose committees do best;
        ``"ensemble"`` an average of several such committees, chosen greedily; ``"student"`` a single
        model fitted to the targets mixed with what the committee says. All else (``best_params_``,
        ``nested_error_``, ...) stays about the choice; see ``promise_``, ``delivered_`` and
        ``offers_``. Committees and ensembles take no fit but those of their members again, a student
        three more of each candidate for each split.
    last_window : bool, default=False
        Whether the choice is fitted on as many of the last rows as the last split trains on, and not on
        all: for data in time order that drift, with rolling windows
        (``TimeSeriesSplit(..., max_train_size=...)``).

    Attributes
    ----------
    best_params_ : dict
        The chosen candidate.
    best_index_ : int
        Its index in ``cv_results_``.
    best_estimator_ : estimator
        The chosen candidate fitted on all data, or what else `deliver` asks for. Only with `refit`.
    delivered_ : Delivered
        What that is: its parameters, members, weights and share. Only with `refit`.
    promise_ : float
        The error to expect on new data of what was delivered, and in ``promise_reason_`` why it is that
        figure.
    baseline_ : Baseline or None
        What predicting the mean, the median or the base rate costs on the same splits, whichever is
        best; see :class:`steadycv.baseline.Baseline`. None where no constant is an answer.
    offers_ : dict of str to Offer
        What each kind of delivery would promise; a student only once it is fitted.
    best_score_ : float
        Its mean score over the folds, by the score that drives, or by the estimator's own without
        `scoring`; minus its cross-validation error where a loss drives beside several scores. Like
        GridSearchCV's, it is the score of a choice made on the same folds, so it is too good.
    nested_error_ : float
        The mean error on the outer folds of what was chosen without them, at the chosen weight: what
        to expect on new data. Where it had a part in choosing the weight it is slightly low. There is
        none with ``nested=False``, with a callable `refit`, and of splits that cannot be nested.
    nested_scores_ : dict of str to NestedScore
        By reported score, its mean on the outer folds: a named tuple of ``steady``, for what was chosen
        at the chosen weight, and ``plain``, at weight 0 (NaN where an adaptive search did not look at
        that weight).
    nested_predictions_ : ndarray
        What was chosen and trained without a fold says of that fold's samples. Of a classifier the
        probabilities where it has them, of a density the logarithms, else what ``predict`` says. NaN
        for samples that no view is judged on; means where there are several. With repeats, one row of
        them for each repeat. Like `nested_scores_`, only where there is a nested error.
    cv_error_ : float
        The cross-validation error of the choice.
    instability_ : float
        The instability of the choice: the largest, over splits, mean absolute change in loss between
        training on the split and on all data.
    stability_weight_ : float
        The chosen weight; 0 with the rule ``"plain"``, and NaN with one that has no weight.
    rules_ : dict of str to RuleChoice
        By rule, what it chooses on the ledger of this search, and what that is worth: a named tuple, see
        :class:`steadycv.results.RuleChoice`.
    weights_ : dict of ndarrays
        A table with a row for each weight: ``weight``, its error on each outer fold
        (``split0_error``, ...; of splits that have a view), their mean (``mean_error``), the candidate
        chosen without each outer fold (``split0_index``, ...; -1 where all failed) and on all data
        (``index``). With a rule that chooses no weight it has 0 alone.
    kfold_index_, kfold_params_ : int, dict
        The plain choice: what plain cross-validation chooses with the same search.
    cv_results_ : dict of ndarrays
        As GridSearchCV's, and ``cv_error``, ``instability``, ``regularized_error`` (with a rule that has
        no weight the CV error) and ``rank_regularized_error``.
        Candidates that an adaptive search did not look at have NaN.
    out_of_fold_predictions_ : ndarray
        The same of the final choice, trained without each fold.
    lattice_ : Lattice
        The splits, their distinct training sets, and the views on them; see
        :class:`steadycv.lattice.Lattice`.
    ledger_ : Ledger
        The errors and changes that all of the above is read off, read-only; see
        :class:`steadycv.ledger.Ledger`.
    scorer_ : callable or dict
        The scorer(s) behind :meth:`score`.
    loss_ : callable
        The per-sample loss that drove the selection, or in which changes were measured where a score
        drove; None for estimators that have none.
    driving_score_ : str or None
        The score, by its name in ``cv_results_``, that all errors are minus of; None where they are
        means of ``loss_``.
    n_fits_ : int
        How many fits were made, without the refit; one that serves many candidates counts once.
    n_splits_ : int
        Number of splits, over all repeats.
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
    cross-validation error is the mean over splits of each one's error; with repeats, errors and
    instabilities are averaged over them. How all splitters are served by one formula is told in
    *How the lattice saves fits*. Of candidates that tie, the first in the grid is
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

    In time order, by another score, at one fit more than plain cross-validation:

    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> forward = StabilitySearchCV(
    ...     DecisionTreeRegressor(), {"max_depth": range(1, 8)}, cv=TimeSeriesSplit(5), scoring="r2"
    ... )
    >>> forward.fit(X, y).n_fits_
    6
    >>> print(f"{forward.nested_scores_['score'].steady:.2f}")
    0.32
    """

    parameter_constraints: ClassVar[dict[str, Any]] = {
        "param_grid": [dict, list, callable],
        "search": [object],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: dict[str, Any] | list[dict[str, Any]] | Callable[[Any], dict[str, Any]],
        *,
        scoring: Any = None,
        loss: str | Loss | None = None,
        stability_weights: str | float | ArrayLike = "auto",
        rule: str | Rule = "steady",
        nested: bool = True,
        search: str | Strategy | Proposals = "grid",
        cv: Any = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        engine: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        verbose: int = 0,
        ledger: str | os.PathLike[str] | None = None,
        use_paths: bool = True,
        race: str | bool | float = "auto",
        deliver: str = "model",
        last_window: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            loss=loss,
            stability_weights=stability_weights,
            rule=rule,
            nested=nested,
            cv=cv,
            refit=refit,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            engine=engine,
            error_score=error_score,
            return_train_score=return_train_score,
            verbose=verbose,
            ledger=ledger,
            use_paths=use_paths,
            race=race,
            deliver=deliver,
            last_window=last_window,
        )
        self.param_grid = param_grid
        self.search = search

    @property
    def _space(self) -> Any:
        return self.param_grid

    def _candidates(self) -> Candidates:
        if (proposals := get_proposals(self.search)) is not None:
            if not callable(self.param_grid):
                check_names(self.estimator, self.param_grid, "param_grid")
            proposals.check(self.param_grid)
            return Candidates()
        check_grid(self.param_grid)
        return Grid(self.param_grid)


@documented_like(StabilitySearchCV)
class StabilityRandomizedSearchCV(BaseStabilitySearchCV):
    """The same search over candidates that are drawn at random.

    A drop-in for :class:`~sklearn.model_selection.RandomizedSearchCV`, and in all but the candidates
    :class:`StabilitySearchCV`. All are drawn before anything is looked at: every view chooses among the
    same, and knows of no fold more than it would of a grid.

    Parameters
    ----------
    param_distributions : dict or list of dicts
        Names of parameters and what to draw from, as in RandomizedSearchCV: lists of values, and
        distributions with a method ``rvs``, as those of :mod:`scipy.stats`. Of a list of dicts one is
        drawn first.
    n_iter : int, default=10
        How many candidates are drawn.
    sampler : {"random", "sobol", "latin"}, default="random"
        How they are drawn. ``"random"`` gives RandomizedSearchCV's candidates. ``"sobol"`` and
        ``"latin"`` spread them evenly over the space, by scrambled Sobol points (best with an `n_iter`
        that is a power of two) or as a Latin hypercube; distributions need a method ``ppf`` for that.
        Of equal candidates they keep one.
    line_length : int, default=1
        How many candidates are made of each draw. They have all parameters in common but those whose
        values come with one fit, as the depth of a tree, the number of rounds of boosting, or the alpha
        of a ridge regression, see :mod:`steadycv.paths`; of these each has its own. So there are
        ``n_iter * line_length`` candidates at the price of `n_iter`; fewer where draws coincide.
    random_state : int, RandomState instance or None, default=None
        Where the draws come from. With None they are others at every fit.

    See Also
    --------
    StabilitySearchCV : Searches grids, and spaces with proposals of Optuna.
    sklearn.model_selection.RandomizedSearchCV : Chooses by the cross-validation error alone.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilityRandomizedSearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> space = {"max_depth": range(1, 9), "min_samples_leaf": randint(1, 100)}
    >>> search = StabilityRandomizedSearchCV(DecisionTreeRegressor(), space, n_iter=20, random_state=0)
    >>> search.fit(X, y).best_params_
    {'max_depth': 4, 'min_samples_leaf': 22}

    With each of 20 sizes of leaves several depths, which come with the deepest tree:

    >>> lines = StabilityRandomizedSearchCV(
    ...     DecisionTreeRegressor(), space, n_iter=20, line_length=8, sampler="latin", random_state=0
    ... )
    >>> len(lines.fit(X, y).cv_results_["params"]), lines.n_fits_ == 16 * 20
    (160, True)
    """

    parameter_constraints: ClassVar[dict[str, Any]] = {
        **constraints_of_random_search(),
        "sampler": [str],
        "line_length": constraints_of_random_search()["n_iter"],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict[str, Any] | list[dict[str, Any]],
        *,
        n_iter: int = 10,
        sampler: str = "random",
        line_length: int = 1,
        scoring: Any = None,
        loss: str | Loss | None = None,
        stability_weights: str | float | ArrayLike = "auto",
        rule: str | Rule = "steady",
        nested: bool = True,
        cv: Any = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        engine: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        verbose: int = 0,
        random_state: int | RandomState | None = None,
        ledger: str | os.PathLike[str] | None = None,
        use_paths: bool = True,
        race: str | bool | float = "auto",
        deliver: str = "model",
        last_window: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            loss=loss,
            stability_weights=stability_weights,
            rule=rule,
            nested=nested,
            cv=cv,
            refit=refit,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            engine=engine,
            error_score=error_score,
            return_train_score=return_train_score,
            verbose=verbose,
            ledger=ledger,
            use_paths=use_paths,
            race=race,
            deliver=deliver,
            last_window=last_window,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.sampler = sampler
        self.line_length = line_length
        self.random_state = random_state

    @property
    def _space(self) -> Any:
        return self.param_distributions

    def _candidates(self) -> Candidates:
        free = check_distributions(self)
        how: Any = {"sampler": self.sampler, "random_state": self.random_state}
        if self.line_length == 1:
            return Candidates(draw(self.param_distributions, self.n_iter, **how))
        return Candidates(
            draw_lines(self.param_distributions, self.n_iter, self.line_length, free, **how)
        )
