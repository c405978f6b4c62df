"""What searches have in common: the method with scikit-learn's face, wherever candidates come from."""

from __future__ import annotations

import numbers
import sys
import time
import warnings
from abc import abstractmethod
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from steadycv import rules
from steadycv._compat import (
    SearchBase,
    TaskTree,
    check_method_params,
    check_refit,
    fit_context,
    is_foreign,
    n_samples_of,
    safe_split,
    scorers_of,
    to_numpy,
)
from steadycv._compat.mlflow import without_autologging
from steadycv.checks import (
    check_candidates,
    check_delivery,
    check_early_stopping,
    check_groups,
    check_methods,
    check_order,
    check_race,
    check_rule,
    check_series,
    check_target,
    check_weights,
)
from steadycv.committees import Committee
from steadycv.concluding import Concluding
from steadycv.delivery import Delivered, check_committees, what_to_keep
from steadycv.estimators import new_estimator
from steadycv.executor import Executor
from steadycv.failures import Failures
from steadycv.kept import KeptOutputs
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.losses import default_loss, get_loss
from steadycv.measures import Rows
from steadycv.metadata import route
from steadycv.notebook import ResultsInNotebook
from steadycv.paths.plan import kinds
from steadycv.planning import Planner
from steadycv.prices import price_of
from steadycv.pricing import Priced
from steadycv.racing import asks_for_race, new_race
from steadycv.reducing import Keep
from steadycv.results import results_frame
from steadycv.scoring import LossScorer, OwnScorer, find_judging
from steadycv.selection import Selector, State
from steadycv.stopping import Stops
from steadycv.strategies import exhaustive, get_proposals, get_strategy
from steadycv.summary import summarize
from steadycv.tasks import Problem
from steadycv.waiting import Waiting
from steadycv.weights import too_few_views, weights_that_decide, weights_to_run

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.candidates import Candidates
    from steadycv.ledger_file import LedgerFile
    from steadycv.losses import Loss
    from steadycv.prices import Price
    from steadycv.racing import Race
    from steadycv.rules import Rule
    from steadycv.scoring import Judging
    from steadycv.selection import Observer
    from steadycv.strategies import Proposals, Strategy

__all__ = ["BaseStabilitySearchCV"]


class BaseStabilitySearchCV(ResultsInNotebook, Priced, Concluding, SearchBase):
    """The search, but for where its candidates come from."""

    search: str | Strategy | Proposals = (
        "grid"  # all candidates, where a subclass leaves its users no choice
    )

    parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [str, callable, None],
        "stability_weights": [str, numbers.Real, "array-like"],
        "rule": [str, callable],
        "nested": ["boolean"],
        "engine": [str, object, None],
        "ledger": [str, object, None],
        "use_paths": ["boolean"],
        "race": [str, "boolean", numbers.Real],
        "deliver": [str],
        "last_window": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
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
        ledger: str | os.PathLike[str] | None = None,
        use_paths: bool = True,
        race: str | bool | float = "auto",
        deliver: str = "model",
        last_window: bool = False,
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
        self.loss = loss
        self.stability_weights = stability_weights
        self.rule = rule
        self.nested = nested
        self.engine = engine
        self.ledger = ledger
        self.use_paths = use_paths
        self.race = race
        self.deliver = deliver
        self.last_window = last_window

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
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
        self : object
            The fitted search.
        """
        asked = self._asked(X, y, params)
        problem, planner, state, race, stops = self._planned(asked)
        candidates, ledger, weights = asked.candidates, state.ledger, asked.weights
        is_whole = asked.strategy is exhaustive
        final, inner = weights_to_run(problem.lattice, weights, everywhere=is_whole)
        is_known = asked.is_grid and self.ledger is None and race is None and stops is None
        n_fits = planner.n_groups * problem.lattice.n_training_sets if is_known else None
        failures = Failures()
        if self.verbose > 0:
            print(self._price(asked, problem, planner, races=race is not None), file=sys.stderr)
        with (
            without_autologging(),
            Executor(self.n_jobs, self.pre_dispatch, self.engine) as executor,
            TaskTree(self, problem.X, problem.y, asked.params, n_fits, self._space) as tree,
        ):
            with ExitStack() as stack:
                file = self._file(problem, asked.scorers, candidates, planner, state, stack)
                selector = Selector(
                    problem,
                    candidates,
                    state,
                    planner,
                    executor,
                    failures,
                    observers=self._observers(problem, state, file, stack),
                    callback=tree.fit_task,
                    with_change=self.nested or weights[0] > 0 or self.rule not in rules.HAVE_WEIGHT,
                    one_by_one=self.ledger is not None,
                )
                choices = selector.run(
                    asked.strategy,
                    final,
                    inner,
                    race=race,
                    stops=stops,
                    proposals=asked.proposals,
                    space=self._space,
                )
                failures.report(
                    self.error_score,
                    any_worked=bool((ledger.error < np.inf).any()),
                    in_full=self.verbose > 0,
                )
                self._conclude(candidates, ledger, weights, choices, problem.judging, asked.scorers)
                self._predictions(problem, selector, ledger, choices)
                self._offer(problem, candidates, state, selector, executor, file)
                self._keep_evidence(problem, selector, asked.groups, asked.splitter)
            self.n_fits_ = failures.n_fits
            if self.refit and self.deliver == "model":
                self._refit(problem.X, problem.y, problem.fit_params, tree)
            elif self.refit:
                self._deliver()
        return self

    def _asked(self, X: Any, y: Any, params: dict[str, Any]) -> _Asked:
        """What a fit is asked, found sound before any model is fitted."""
        strategy, proposals = get_strategy(self.search), get_proposals(self.search)
        is_grid = strategy is exhaustive and proposals is None
        check_rule(self.rule, self.stability_weights, whole_grid=strategy is exhaustive)
        check_race(self, whole_grid=is_grid)
        weights = (
            check_weights(self.stability_weights, nested=self.nested)
            if self.rule in rules.CHOOSE_WEIGHT
            else np.zeros(1)
        )
        scorers, _ = self._get_scorers()
        X, y = indexable(X, y)
        check_delivery(self, y)
        candidates = self._candidates()
        check_early_stopping(self._space, candidates, is_grid=is_grid)
        check_candidates(self.estimator, candidates)
        check_target(self.estimator, y)
        params = check_method_params(X, params=params)
        routed = route(self, params, scorers)
        judging = self._judging(scorers, X, y, routed.scorer.score, params)
        check_methods(self.estimator, candidates, judging.measure.methods(self.estimator))
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        split_params, fit_params = routed.splitter.split, routed.estimator.fit
        problem = Problem(
            estimator=self.estimator,
            X=X,
            y=y,
            lattice=self._lattice(splitter, X, y, split_params, judging, weights, fit_params),
            judging=judging,
            fit_params=fit_params,
            keep=Keep(_kept_methods(self.estimator, candidates, judging)),
            return_train_score=self.return_train_score,
            error_score=self.error_score,
        )
        check_committees(self, problem)
        groups = split_params.get("groups")
        return _Asked(
            *(problem, candidates, strategy, proposals, weights, scorers, params, groups),
            type(splitter),
        )

    def _planned(self, asked: _Asked) -> tuple[Problem, Planner, State, Race | None, Stops | None]:
        """What is fitted together, what is kept of it, and how candidates may leave."""
        candidates = asked.candidates
        problem, planner, races = self._grouped(asked)
        at = weights_that_decide(self, asked.weights)
        if (line := check_series(self.estimator, candidates.series, planner.run_of)) is not None:
            warnings.warn(line, UserWarning, stacklevel=4)
        failed_error = self._failed_error(problem.judging)
        ledger = Ledger(problem.lattice, len(candidates), failed_error, with_parts=races)
        all_ask = bool(candidates.series)  # each view finds how many rounds it takes
        race = new_race(self, planner, ledger, at, all_ask=all_ask) if races else None
        stops = Stops(ledger, candidates.series, at) if candidates.series else None
        state = State(ledger, KeptOutputs(), Waiting(problem.reducer.judge))
        return problem, planner, state, race, stops

    def _will_have(self, method: str) -> bool:
        is_average = self.deliver in ("committee", "ensemble")
        return not is_average or hasattr(Committee([self.estimator]), method)

    def _grouped(self, asked: _Asked) -> tuple[Problem, Planner, bool]:
        """What is fitted together, with what is kept of it, and whether candidates race."""
        planner = Planner(asked.problem, asked.candidates, use_paths=self.use_paths)
        races = asks_for_race(self, planner, asked.problem.lattice)
        keep = what_to_keep(self, asked.problem, asked.n_candidates, races=races)
        return replace(asked.problem, keep=keep), planner, races

    def _price(self, asked: _Asked, problem: Problem, planner: Planner, *, races: bool) -> Price:
        is_most = races or not asked.is_grid or bool(asked.candidates.series)
        with_students = self.deliver == "student"
        n_candidates = asked.n_candidates
        return price_of(problem, planner, n_candidates, is_most=is_most, with_students=with_students)

    def __sklearn_clone__(self) -> Self:
        """A search with the same parameters, and the same engine: a cluster's client has no copies."""
        plain = copy(self)
        plain.engine = None
        cloned: Self = super(BaseStabilitySearchCV, plain).__sklearn_clone__()
        cloned.engine = self.engine
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # A client of a cluster is this process's alone.
        return state if isinstance(self.engine, str) else state | {"engine": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self.estimator).target_tags
        return tags

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the refitted estimator, by `scoring` where given and else by its own score.

        With several scores it is the one that `refit` names, or minus the mean of `loss` if that drives.

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

    def summary(self, format: str = "text") -> str:  # noqa: A002 - as others call it
        """The plain choice and the steady choice, side by side, and what to expect on new data.

        Parameters
        ----------
        format : {"text", "markdown"}, default="text"
            ``"markdown"`` is for tickets and chats.

        Returns
        -------
        text : str
            What was searched, a table of both choices, what was delivered and what to expect of it.
        """
        check_is_fitted(self)
        return summarize(self, format)

    def frame(self) -> Any:
        """The table of candidates, `cv_results_` without ``params``, as a data frame.

        Returns
        -------
        frame : DataFrame
            A row for each candidate: of polars if it was fitted to a frame of polars, else of pandas.
        """
        check_is_fitted(self)
        return results_frame(self.cv_results_, self._evidence.package)

    # What the parameters say.

    @property
    @abstractmethod
    def _space(self) -> Any:
        """Where candidates come from, as it was given."""

    @abstractmethod
    def _candidates(self) -> Candidates:
        """The candidates that there are before anything is fitted."""

    def _get_scorers(self) -> tuple[Any, Any]:
        """What `scoring` asks for; without it the estimator's own score."""
        if self.scoring is not None:
            return scorers_of(self), "score"
        if hasattr(self.estimator, "score"):
            return OwnScorer(self.estimator), "score"
        if self.loss is None and not _has_target(self.estimator):
            raise TypeError(
                f"{type(self.estimator).__name__} has no score of its own: pass scoring=, a name or a "
                "function of a fitted estimator, X and y."
            )
        loss = default_loss(self.estimator) if self.loss is None else get_loss(self.loss)
        return LossScorer(loss), "score"

    def _check_refit_for_multimetric(self, scores: Any) -> None:
        if self.loss is not None and self.refit is True:
            return
        try:
            check_refit(self, scores)
        except ValueError as error:
            raise ValueError(
                f"{error} The score that refit names drives the selection; or pass loss= to drive it."
            ) from None

    def _judging(
        self, scorers: Any, X: Any, y: Any, score_params: dict[str, Any], params: dict[str, Any]
    ) -> Judging:
        """What drives the selection, and what is reported besides."""
        return find_judging(self, scorers, X, y, score_params, params)

    def _lattice(
        self,
        cv: Any,
        X: Any,
        y: Any,
        split_params: dict[str, Any],
        judging: Judging,
        weights: NDArray[np.float64],
        fit_params: dict[str, Any],
    ) -> Lattice:
        if is_foreign(split_params.get("groups")):  # splitters are NumPy's
            split_params = {**split_params, "groups": to_numpy(split_params["groups"])}
        check_groups(split_params.get("groups"), cv)
        n_samples = n_samples_of(X)
        fit_weights = [
            to_numpy(value)
            for name, value in fit_params.items()
            if name.endswith("sample_weight") and value is not None
        ]

        def untrainable(rows: NDArray[np.intp]) -> str | None:
            nothing = any(not weight[rows].any() for weight in fit_weights)
            return "the sample weights of what is trained on are all 0" if nothing else None

        n_splits = cv.get_n_splits(X, y, **split_params) if hasattr(cv, "get_n_splits") else None
        lattice = Lattice(
            cv.split(X, y, **split_params),
            n_samples,
            nested=self.nested,
            last_window=self.last_window,
            undefined=lambda rows: judging.measure.undefined(Rows(rows, judging.weight, n_samples)),
            untrainable=untrainable,
            source=f"cv={cv!r}" if hasattr(self.cv, "split") else "cv",
            n_splits=n_splits,
        )
        if n_splits not in (None, len(lattice.splits)):
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {n_splits} splits, got {len(lattice.splits)}"
            )
        too_few = too_few_views(lattice, weights, self.rule) if self.nested else []
        lines = [*lattice.warnings(), *too_few]
        unsorted = check_order(X, cv)
        for line in [*lines, *([] if unsorted is None else [unsorted])]:
            warnings.warn(line, UserWarning, stacklevel=5)
        return lattice

    def _failed_error(self, judging: Judging) -> float:
        """The error that a failed fit counts as."""
        if self.error_score == "raise" or np.isnan(self.error_score):
            return np.inf
        return judging.best - float(self.error_score)

    def _file(
        self,
        problem: Problem,
        scorers: Any,
        candidates: Candidates,
        planner: Planner,
        state: State,
        stack: ExitStack,
    ) -> LedgerFile | None:
        """The file of the ledger, which has filled the state with what it knows."""
        if self.ledger is None:
            return None
        from steadycv.identity import candidate_keys, identity
        from steadycv.ledger_file import LedgerFile

        def describe(first: int) -> tuple[list[str], list[str]]:
            keys = candidate_keys(self.estimator, candidates, planner.lines, first)
            return keys, [repr(candidates[c]) for c in range(first, len(candidates))]

        scoring = scorers if self.scoring is not None else None
        file = stack.enter_context(LedgerFile(self.ledger, identity(problem, scoring), describe))
        file.load(state, planner.lines, problem.judging.measure.n_losses(problem.lattice))
        return file

    def _observers(
        self, problem: Problem, state: State, file: LedgerFile | None, stack: ExitStack
    ) -> Sequence[Observer]:
        observers: list[Observer] = [] if file is None else [file]
        if self.verbose == 1:
            from steadycv.progress import progress

            shown = progress(state.ledger)
            stack.enter_context(shown)
            observers.append(shown)
        elif self.verbose > 1:
            from steadycv.progress import FitLines

            observers.append(FitLines(problem.lattice, with_scores=self.verbose > 2))
        return observers

    def _refit(self, X: Any, y: Any, fit_params: dict[str, Any], tree: TaskTree) -> None:
        estimator = new_estimator(self.estimator, self.best_params_)
        if self.last_window:
            rows = self.lattice_.rows(self.lattice_.final.reference)
            fit_params = check_method_params(X, params=fit_params, indices=rows)
            X, y = safe_split(estimator, X, y, rows)
        with tree.refit(estimator, X, y, fit_params):
            start = time.perf_counter()
            estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        self.best_estimator_ = estimator
        self.delivered_ = Delivered("model", (self.best_params_,))
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_


class _Asked(NamedTuple):
    """What a fit is asked."""

    problem: Problem
    candidates: Candidates
    strategy: Strategy
    proposals: Proposals | None
    weights: NDArray[np.float64]
    scorers: Any
    params: dict[str, Any]
    groups: Any
    splitter: type

    @property
    def n_candidates(self) -> int:
        """How many candidates there are, or at most come up."""
        if self.proposals is None:
            return len(self.candidates)
        n_views = len(self.problem.lattice.views)
        return self.proposals.n_trials * (1 + n_views * self.proposals.per_view)

    @property
    def is_grid(self) -> bool:
        """Whether all candidates are there, and looked at."""
        return self.strategy is exhaustive and self.proposals is None


def _has_target(estimator: Any) -> bool:
    return bool(is_classifier(estimator) or is_regressor(estimator))


def _kept_methods(estimator: Any, candidates: Candidates, judging: Judging) -> tuple[str, ...]:
    """The methods whose outputs are kept: probabilities where all candidates have some.

    Without probabilities a committee may be asked for the mean of its decisions, besides its vote.
    """
    has_classes = judging.classes is not None
    each = [one for one, _ in kinds(estimator, list(candidates))] if has_classes else [estimator]
    asked = judging.measure.methods
    judged = [one for one in each if all(any(hasattr(one, m) for m in some) for some in asked(one))]

    def all_have(method: str) -> bool:
        return all(hasattr(one, method) for one in judged or each)

    methods = ("predict_proba",) if has_classes else ()
    first = [m for m in (*methods, "predict", "score_samples") if all_have(m)][:1]
    is_asked = any("decision_function" in some for one in judged for some in asked(one))
    more = first == ["predict"] and is_asked and all_have("decision_function")
    return (*first, "decision_function") if more else (*first,)
