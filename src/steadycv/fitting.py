"""Fitting: the one place where models are trained.

It knows candidates and training sets, and nothing of weights or choices.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import groupby
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.parallel import Parallel, delayed

from steadycv._compat import FitTask, TaskTree, check_method_params, is_pairwise, safe_split
from steadycv.paths.protocol import PathData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.folds import Lattice, TrainingSet
    from steadycv.losses import Response
    from steadycv.paths.protocol import Path
    from steadycv.scoring import Driver

    # What a scorer is given for a row of outputs: a fitted estimator, or a replay of some rows.
    Model: TypeAlias = Callable[[int, NDArray[np.intp]], Any]

__all__ = [
    "Batch",
    "Failures",
    "Fit",
    "Fitter",
    "Group",
    "Job",
    "Problem",
    "fit_job",
    "new_estimator",
    "overwrites",
    "separate",
]


QUOTED = 3  # errors quoted in full


class Job(NamedTuple):
    """Candidates that one fit serves (often a single one), and the training set."""

    candidates: NDArray[np.intp]
    training_set: TrainingSet


@dataclass(frozen=True)
class Group:
    """Candidates that one fit serves, by a path; or a single one that is fitted by itself.

    `estimator` has the first candidate's parameters and is not fitted; only a path needs it.
    """

    candidates: NDArray[np.intp]
    path: Path | None = None
    estimator: Any = None


def overwrites(estimator: Any, candidates: list[dict[str, Any]]) -> bool:
    """Whether a candidate was told not to copy its data."""
    everything = [estimator.get_params(deep=True), *candidates]
    return any(
        value is False and name.rpartition("__")[2] in ("copy", "copy_X", "copy_x")
        for params in everything
        for name, value in params.items()
    )


def separate(n_candidates: int) -> list[Group]:
    """Every candidate by itself."""
    return [Group(np.array([c])) for c in range(n_candidates)]


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
    predict_on_copy : bool
        Whether an estimator writes into the X that it predicts on.
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
    predict_on_copy: bool = False


class Fit(NamedTuple):
    """What a job leaves behind, one row for each of its candidates.

    `losses` has a row of NaN where the candidate failed. `outputs`, those on the left-out fold, and
    the scores are of models trained without one fold. Failures are tracebacks by row.
    """

    losses: NDArray[np.float64]
    outputs: NDArray[Any] | None = None
    test_scores: dict[str, NDArray[np.float64]] = {}  # noqa: RUF012 - never changed
    train_scores: dict[str, NDArray[np.float64]] = {}  # noqa: RUF012
    fit_time: float = 0.0
    score_time: float = 0.0
    failures: dict[int, str] = {}  # noqa: RUF012
    scoring_failures: dict[int, str] = {}  # noqa: RUF012
    n_fits: int = 1


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


def fit_job(
    problem: Problem,
    settings: list[dict[str, Any]],
    training_set: TrainingSet,
    task: FitTask | None = None,
    path: Path | None = None,
    estimator: Any = None,
    prepared: Any = None,
    together: list[dict[str, Any]] | None = None,
) -> Fit:
    """Fit on one training set; take the losses everywhere, and the scores on a left-out fold."""
    rows = problem.lattice.rows(training_set)
    start = time.perf_counter()
    try:
        if path is None:
            outputs, model = _fit_separately(problem, settings[0], rows, task)
        else:
            folds = problem.lattice.fold[training_set.repeat]
            data = _path_data(problem, estimator, rows, prepared, together, folds)
            outputs, model = _fit_path(problem, settings, data, task, path, estimator)
    except Exception:
        if len(settings) > 1:
            one_by_one = _fit_one_by_one(problem, settings, training_set)
            if not one_by_one.failures:
                raise  # all can be fitted, so it is the path that is wrong
            return one_by_one
        if problem.error_score == "raise":
            raise
        return Fit(
            losses=np.full((1, problem.lattice.n_samples), np.nan),
            fit_time=time.perf_counter() - start,
            failures={0: format_exc()},
        )
    fit_time = (time.perf_counter() - start) / len(settings)
    losses, failures = _losses(problem, outputs)
    if len(training_set.left_out) != 1:
        return Fit(losses, failures=failures)
    test = np.flatnonzero(problem.lattice.left_out(training_set))
    start = time.perf_counter()
    test_scores, scoring_failures = _scores(problem, model, losses, test, rows)
    score_time = (time.perf_counter() - start) / len(settings)
    train_scores: dict[str, NDArray[np.float64]] = {}
    if problem.return_train_score:
        train_scores, more = _scores(problem, model, losses, rows, rows)
        scoring_failures = more | scoring_failures
    return Fit(
        losses=losses,
        outputs=outputs[:, test],
        test_scores=test_scores,
        train_scores=train_scores,
        fit_time=fit_time,
        score_time=score_time if len(failures) < len(settings) else 0.0,
        failures=failures,
        scoring_failures=scoring_failures,
    )


def _fit_separately(
    problem: Problem, params: dict[str, Any], rows: NDArray[np.intp], task: FitTask | None
) -> tuple[NDArray[Any], Model]:
    estimator = new_estimator(problem.estimator, params)
    fit_params = check_method_params(problem.X, params=problem.fit_params, indices=rows)
    X, y = safe_split(estimator, problem.X, problem.y, rows)
    with nullcontext() if task is None else task.around(estimator, X, y, fit_params):
        estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
    # Some estimators write into what they are given; a part of X would be a copy anyway.
    everywhere = deepcopy(problem.X) if problem.predict_on_copy else problem.X
    if is_pairwise(estimator, problem.X):
        all_rows = np.arange(problem.lattice.n_samples)
        everywhere, _ = safe_split(estimator, problem.X, None, all_rows, rows)
    outputs = problem.response.outputs(estimator, everywhere)
    return outputs[np.newaxis], lambda *_: estimator


def _fit_path(
    problem: Problem,
    settings: list[dict[str, Any]],
    data: PathData,
    task: FitTask | None,
    path: Path,
    estimator: Any,
) -> tuple[NDArray[Any], Model]:
    if isinstance(data.prepared, Exception):
        raise data.prepared
    X, y, fit_params = data.X_train, data.y_train, data.fit_params
    if task is not None:
        estimator = clone(estimator)  # the callbacks' context is put on it, and threads share it
    with nullcontext() if task is None else task.around(estimator, X, y, fit_params):
        outputs = np.asarray(path.outputs(estimator, settings, data))
    if data.method == "predict_proba":
        outputs = problem.response.align(outputs, np.unique(y))
    return outputs, lambda i, rows: _Replay(outputs[i, rows])


def _path_data(
    problem: Problem,
    estimator: Any,
    rows: NDArray[np.intp],
    prepared: Any,
    together: list[dict[str, Any]] | None,
    folds: NDArray[np.intp],
) -> PathData:
    X, y = safe_split(estimator, problem.X, problem.y, rows)
    return PathData(
        X=problem.X,
        y=problem.y,
        rows=rows,
        X_train=X,
        y_train=y,
        fit_params=check_method_params(problem.X, params=problem.fit_params, indices=rows),
        method=problem.response.method,
        prepared=prepared,
        together=together,
        folds=folds,
    )


@dataclass(frozen=True)
class _Replay(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Stands in for a fitted regressor, for a scorer: says again what a path said of some rows."""

    outputs: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ARG002 - those rows
        return self.outputs


def _fit_one_by_one(problem: Problem, settings: list[dict[str, Any]], training_set: TrainingSet) -> Fit:
    """Fit each candidate by itself after its path failed, to find which one cannot be fitted."""
    fits = [fit_job(problem, [params], training_set) for params in settings]
    worked = [fit.outputs for fit in fits if fit.outputs is not None]
    # Nobody looks at the outputs of a failed row.
    outputs = [worked[0] if fit.outputs is None else fit.outputs for fit in fits if worked]
    names = {name for fit in fits for name in fit.test_scores}
    unknown = np.array([np.nan])
    return Fit(
        losses=np.concatenate([fit.losses for fit in fits]),
        outputs=np.concatenate(outputs) if worked else None,
        test_scores={
            name: np.concatenate([fit.test_scores.get(name, unknown) for fit in fits]) for name in names
        },
        train_scores={
            name: np.concatenate([fit.train_scores.get(name, unknown) for fit in fits])
            for name in names
            if problem.return_train_score
        },
        fit_time=statistics.fmean(fit.fit_time for fit in fits),
        score_time=statistics.fmean(fit.score_time for fit in fits),
        failures={i: fit.failures[0] for i, fit in enumerate(fits) if fit.failures},
        scoring_failures={
            i: fit.scoring_failures[0] for i, fit in enumerate(fits) if fit.scoring_failures
        },
        n_fits=len(fits),
    )


def _losses(problem: Problem, outputs: NDArray[Any]) -> tuple[NDArray[np.float64], dict[int, str]]:
    """The losses of each candidate, and the traceback where they are no losses."""
    try:
        return problem.response.losses(outputs), {}
    except Exception:
        if problem.error_score == "raise":
            raise
        if len(outputs) == 1:
            return np.full((1, problem.lattice.n_samples), np.nan), {0: format_exc()}
    # One of them spoils all: look at each by itself.
    each = [_losses(problem, output[np.newaxis]) for output in outputs]
    failures = {i: failure[0] for i, (_, failure) in enumerate(each) if failure}
    return np.concatenate([losses for losses, _ in each]), failures


def _scores(
    problem: Problem,
    model: Model,
    losses: NDArray[np.float64],
    rows: NDArray[np.intp],
    train: NDArray[np.intp],
) -> tuple[dict[str, NDArray[np.float64]], dict[int, str]]:
    """The reported scores by name, and the tracebacks of scorers that failed."""
    scores: dict[str, NDArray[np.float64]] = {}
    failures: dict[int, str] = {}
    if problem.scorer is not None:
        for i in np.flatnonzero(~np.isnan(losses[:, 0])).tolist():
            for name, score in _score(problem, model(i, rows), rows, train).items():
                if isinstance(score, str) and name != problem.driver.name:
                    failures[i] = score
                table = scores.setdefault(name, np.full(len(losses), np.nan))
                table[i] = np.inf if isinstance(score, str) else _number(score, name)
    if problem.driver.name is not None:
        weights = None if problem.loss_weight is None else problem.loss_weight[rows]
        mean_loss = np.average(losses[:, rows], weights=weights, axis=1)
        scores[problem.driver.name] = problem.driver.best - mean_loss
    return scores, failures


def _score(
    problem: Problem, estimator: Any, rows: NDArray[np.intp], train: NDArray[np.intp]
) -> dict[str, Any]:
    """Scores by name; the traceback in place of one that failed, as scikit-learn's scorers do."""
    assert problem.scorer is not None
    params = check_method_params(problem.X, params=problem.score_params, indices=rows)
    X, y = safe_split(problem.estimator, problem.X, problem.y, rows, train)
    try:
        scores = problem.scorer(estimator, X, *(() if y is None else (y,)), **params)
    except Exception:
        if problem.error_score == "raise":
            raise
        scores = format_exc()
    return scores if isinstance(scores, dict) else {"score": scores}


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

    def count(self, settings: list[dict[str, Any]], fit: Fit) -> None:
        """Take note of one job."""
        self.n_fits += fit.n_fits
        for row, failure in fit.failures.items():
            self._fits[failure] += 1
            self._first.setdefault(failure, settings[row])
        self._scorings.update(fit.scoring_failures.values())

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
    groups : list of Group
        Which candidates one fit serves.
    tasks : TaskTree
        For scikit-learn's callbacks.
    n_jobs, pre_dispatch
        As in joblib.

    Attributes
    ----------
    failures : Failures
        The fits that failed.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: list[dict[str, Any]],
        groups: list[Group],
        tasks: TaskTree,
        *,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
    ) -> None:
        self._problem = problem
        self._candidates = candidates
        self._groups = groups
        self._tasks = tasks
        self._parallel_params = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self._prepared: dict[int, Any] = {}
        self.failures = Failures()

    @property
    def n_fits(self) -> int:
        """How many models were fitted."""
        return self.failures.n_fits

    def batches(self, wanted: dict[TrainingSet, NDArray[np.bool_]]) -> list[Batch]:
        """Put what is wanted (training sets, and a mask of the candidates) into batches of jobs.

        A batch is all that is wanted of a group. The larger training sets come first, one repeat
        after the other, so that losses are soon compared and freed.
        """
        ordered = sorted(wanted, key=_order)
        batches = []
        for group in self._groups:
            jobs = [Job(group.candidates[wanted[s][group.candidates]], s) for s in ordered]
            jobs = [job for job in jobs if len(job.candidates)]
            if jobs:
                batches.append(Batch(group, jobs))
        return batches

    def fit(self, batches: list[Batch]) -> Iterator[tuple[Batch, Job, Fit]]:
        """Fit all jobs; results come in the order of the jobs, as soon as they are there."""
        jobs = [(batch, job) for batch in batches for job in batch.jobs]
        for (batch, job), fit in zip(jobs, self._results(jobs), strict=True):
            self.failures.count([self._candidates[c] for c in job.candidates], fit)
            yield batch, job, fit

    def _results(self, jobs: list[tuple[Batch, Job]]) -> Iterator[Fit]:
        if effective_n_jobs(self._parallel_params["n_jobs"]) == 1:
            for call in self._calls(jobs):
                yield fit_job(*call)
            return
        try:
            parallel = Parallel(return_as="generator", **self._parallel_params)
        except ValueError:
            # A backend that cannot hand out results one by one (multiprocessing, Ray): a batch at
            # a time, so that no more than its losses are held.
            with Parallel(**self._parallel_params) as parallel:
                for _, some in groupby(jobs, key=lambda pair: id(pair[0])):
                    yield from parallel(self._delayed(list(some)))
        else:
            yield from parallel(self._delayed(jobs))

    def _delayed(self, jobs: list[tuple[Batch, Job]]) -> Iterator[Any]:
        return (delayed(fit_job)(*call) for call in self._calls(jobs))

    def _calls(self, jobs: list[tuple[Batch, Job]]) -> Iterator[tuple[Any, ...]]:
        """The arguments of `fit_job`."""
        # Tasks are made beforehand: the tree must not change while it is sent to a worker.
        tasks = [self._tasks.fit_task() for _ in jobs]
        for (batch, job), task in zip(jobs, tasks, strict=True):
            yield (
                self._problem,
                [self._candidates[c] for c in job.candidates],
                job.training_set,
                task,
                batch.group.path,
                batch.group.estimator,
                self._prepare(batch.group),
                [self._candidates[c] for c in batch.group.candidates] if batch.group.path else None,
            )

    def _prepare(self, group: Group) -> Any:
        """What a path wants to have once for all training sets; the last group's is kept."""
        if group.path is None:
            return None
        key = id(group)
        if key not in self._prepared:
            try:
                prepared = group.path.prepare(group.estimator, self._problem.X, self._problem.y)
            except Exception as error:
                prepared = error  # raised again where it can be told from a candidate's failure
            self._prepared = {key: prepared}
        return self._prepared[key]


class Batch(NamedTuple):
    """The jobs of one group."""

    group: Group
    jobs: list[Job]


def _order(training_set: TrainingSet) -> tuple[int, int, tuple[int, ...]]:
    repeat, left_out = training_set
    return (repeat if left_out else -1, len(left_out), left_out)
