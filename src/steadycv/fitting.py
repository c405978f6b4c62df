"""Fitting: the one place where models are trained.

It knows candidates and training sets, and nothing of weights or choices.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from steadycv._compat import FitTask, TaskTree, check_method_params, safe_split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from steadycv.folds import Lattice, TrainingSet
    from steadycv.losses import Response
    from steadycv.scoring import Driver

__all__ = ["Failures", "Fit", "Fitter", "Job", "Problem", "fit_candidate", "new_estimator"]


QUOTED = 3  # errors quoted in full


class Job(NamedTuple):
    """One model to fit: a candidate on a training set."""

    candidate: int
    training_set: TrainingSet


@dataclass(frozen=True)
class Problem:
    """What all fits of a search share.

    Attributes
    ----------
    estimator : estimator
        The estimator whose parameters a candidate sets.
    X, y : data
        All samples.
    lattice : Lattice
        The training sets.
    response : Response
        The loss, with the targets as it takes them.
    driver : Driver
        The score that is read off the losses.
    loss_weight : ndarray or None
        Weighs the losses in that score.
    scorer : callable or None
        Computes the other reported scores: a number, or numbers by name.
    fit_params, score_params : dict
        Metadata for ``fit`` and for the scorer.
    return_train_score : bool
        Whether the scores on the training set are wanted too.
    error_score : float or "raise"
        The score where a scorer fails; or any error stops the search.
    """

    estimator: Any
    X: Any
    y: Any
    lattice: Lattice
    response: Response
    driver: Driver
    loss_weight: NDArray[np.float64] | None = None
    scorer: Callable[..., Any] | None = None
    fit_params: dict[str, Any] = field(default_factory=dict)
    score_params: dict[str, Any] = field(default_factory=dict)
    return_train_score: bool = False
    error_score: float | str = np.nan


class Fit(NamedTuple):
    """What one fit leaves behind; `losses` is None where it failed.

    `outputs`, the outputs on the left-out fold, and the scores are those of models trained without
    one fold. `failure` and `scoring_failure` are tracebacks.
    """

    losses: NDArray[np.float64] | None = None
    outputs: NDArray[Any] | None = None
    test_scores: dict[str, float] = {}  # noqa: RUF012 - never changed
    train_scores: dict[str, float] = {}  # noqa: RUF012
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: str | None = None
    scoring_failure: str | None = None


def new_estimator(estimator: Any, params: dict[str, Any]) -> Any:
    """A candidate's estimator, unfitted.

    Parameters that are themselves estimators are cloned. A ``random_state`` of None becomes 0:
    otherwise a training set would not stand for one model, and the change of loss between two
    training sets would measure the dice as well.
    """
    # Cloned parameters, as they may be estimators, which a fit must not touch.
    new = clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    seeds = {
        name: 0
        for name, value in new.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return new.set_params(**seeds) if seeds else new


def fit_candidate(
    problem: Problem, params: dict[str, Any], training_set: TrainingSet, task: FitTask | None = None
) -> Fit:
    """Fit one candidate on one training set; take its losses everywhere and its scores."""
    estimator = new_estimator(problem.estimator, params)
    rows = problem.lattice.rows(training_set)
    fit_params = check_method_params(problem.X, params=problem.fit_params, indices=rows)
    start = time.perf_counter()
    fitted = start
    try:
        X, y = safe_split(estimator, problem.X, problem.y, rows)
        with nullcontext() if task is None else task.around(estimator, X, y, fit_params):
            estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
        fitted = time.perf_counter()
        everywhere = problem.X
        if get_tags(estimator).input_tags.pairwise:
            everywhere, _ = safe_split(
                estimator, problem.X, None, np.arange(problem.lattice.n_samples), rows
            )
        outputs = problem.response.outputs(estimator, everywhere)
        losses = problem.response.losses(outputs)
    except Exception:
        if problem.error_score == "raise":
            raise
        return Fit(fit_time=time.perf_counter() - start, failure=format_exc())
    if len(training_set.left_out) != 1:
        return Fit(losses)
    test = np.flatnonzero(problem.lattice.left_out(training_set))
    test_scores, test_failure = _scores(problem, estimator, losses, test, rows)
    scored = time.perf_counter()
    train_scores, train_failure = (
        _scores(problem, estimator, losses, rows, rows) if problem.return_train_score else ({}, None)
    )
    return Fit(
        losses=losses,
        outputs=outputs[test],
        test_scores=test_scores,
        train_scores=train_scores,
        fit_time=fitted - start,
        score_time=scored - fitted,
        scoring_failure=test_failure or train_failure,
    )


def _scores(
    problem: Problem,
    estimator: Any,
    losses: NDArray[np.float64],
    rows: NDArray[np.intp],
    train: NDArray[np.intp],
) -> tuple[dict[str, float], str | None]:
    """The reported scores by name, and the traceback if a scorer failed."""
    numbers: dict[str, float] = {}
    failures: list[str] = []
    if problem.scorer is not None:
        params = check_method_params(problem.X, params=problem.score_params, indices=rows)
        X, y = safe_split(estimator, problem.X, problem.y, rows, train)
        try:
            scores = problem.scorer(estimator, X, *(() if y is None else (y,)), **params)
        except Exception:
            if problem.error_score == "raise":
                raise
            scores = format_exc()
        # scikit-learn's scorer of several metrics puts a traceback in place of a failed score.
        for name, score in (scores if isinstance(scores, dict) else {"score": scores}).items():
            if isinstance(score, str):
                numbers[name] = np.inf
                if name != problem.driver.name:
                    failures.append(score)
            else:
                numbers[name] = _number(score, name)
    if problem.driver.name is not None:
        weights = None if problem.loss_weight is None else problem.loss_weight[rows]
        mean_loss = float(np.average(losses[rows], weights=weights))
        numbers[problem.driver.name] = problem.driver.best - mean_loss
    return numbers, "\n".join(failures) or None


def _number(score: Any, name: str) -> float:
    try:
        return float(score)
    except (TypeError, ValueError):
        raise ValueError(
            f"scoring must return a number, got {score!r} ({type(score)}) instead for {name!r}."
        ) from None


class Failures:
    """The fits and scores that failed, counted by their error."""

    def __init__(self) -> None:
        self.n_fits = 0
        self._fits: Counter[str] = Counter()
        self._scorings: Counter[str] = Counter()
        self._first: dict[str, dict[str, Any]] = {}

    def count(self, params: dict[str, Any], fit: Fit) -> None:
        """Take note of one fit."""
        self.n_fits += 1
        if fit.failure is not None:
            self._fits[fit.failure] += 1
            self._first.setdefault(fit.failure, params)
        if fit.scoring_failure is not None:
            self._scorings[fit.scoring_failure] += 1

    def report(self, error_score: float | str, *, any_worked: bool) -> None:
        """Warn once of the fits and once of the scores that failed; raise if none worked."""
        n_failed = self._fits.total()
        details = "\n".join(
            f"{'-' * 80}\n{number} fits failed with the following error, first for "
            f"{self._first[error]}:\n{error}"
            for error, number in self._fits.most_common(QUOTED)
        )
        if len(self._fits) > QUOTED:
            details += f"{'-' * 80}\nand {len(self._fits) - QUOTED} other errors."
        if n_failed and not any_worked:
            wrong_type = all(_last_line(error).startswith("TypeError") for error in self._fits)
            raise (TypeError if wrong_type else ValueError)(
                f"All the {n_failed} fits failed: your model is misconfigured for these data or "
                "this grid. Set error_score='raise' to stop at the first error.\n\n"
                f"Below are more details:\n{details}"
            )
        if n_failed:
            warnings.warn(
                f"\n{n_failed} fits failed out of a total of {self.n_fits}.\n"
                "The score on these train-test partitions for these parameters will be set to "
                f"{error_score}.\nIf these failures are not expected, you can try to debug them by "
                "setting error_score='raise'.\n\nBelow are more details about the failures:\n"
                f"{details}",
                FitFailedWarning,
                stacklevel=4,
            )
        if self._scorings:
            [(error, _)] = self._scorings.most_common(1)
            warnings.warn(
                f"Scoring failed {self._scorings.total()} times. The score on these train-test "
                f"partitions for these parameters will be set to {error_score}. The most frequent "
                f"error:\n{error}",
                UserWarning,
                stacklevel=4,
            )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


class Fitter:
    """Fits many candidates on many training sets, in parallel, in a fixed order.

    Parameters
    ----------
    problem : Problem
        What all fits share.
    candidates : list of dict
        The settings.
    tasks : TaskTree
        For scikit-learn's callbacks.
    n_jobs, pre_dispatch
        As in joblib.

    Attributes
    ----------
    n_fits : int
        How many models were fitted.
    failures : Failures
        Those that failed.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: list[dict[str, Any]],
        tasks: TaskTree,
        *,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
    ) -> None:
        self._problem = problem
        self._candidates = candidates
        self._tasks = tasks
        self._parallel_params = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self.failures = Failures()

    @property
    def n_fits(self) -> int:
        """How many models were fitted."""
        return self.failures.n_fits

    def fit(self, jobs: list[Job]) -> Iterator[tuple[Job, Fit]]:
        """Fit all jobs; results come in the order of the jobs, as soon as they are there."""
        for job, fit in zip(jobs, self._results(jobs), strict=True):
            self.failures.count(self._candidates[job.candidate], fit)
            yield job, fit

    def _results(self, jobs: list[Job]) -> Iterator[Fit]:
        try:
            parallel = Parallel(return_as="generator", **self._parallel_params)
        except ValueError:
            # A backend that cannot hand out results one by one (multiprocessing, Ray): a candidate
            # at a time, so that no more than its losses are held.
            with Parallel(**self._parallel_params) as parallel:
                for _, some in groupby(jobs, key=lambda job: job.candidate):
                    yield from parallel(self._calls(some))
        else:
            yield from parallel(self._calls(jobs))

    def _calls(self, jobs: Iterable[Job]) -> Iterator[Any]:
        # Tasks are made beforehand: the tree must not change while it is sent to a worker.
        jobs = list(jobs)
        tasks = [self._tasks.fit_task() for _ in jobs]
        return (
            delayed(fit_candidate)(
                self._problem, self._candidates[job.candidate], job.training_set, task
            )
            for job, task in zip(jobs, tasks, strict=True)
        )
