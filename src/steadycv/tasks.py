"""Tasks: the one place where models are trained, and where what they say becomes a few numbers.

A task is some candidates on some training sets, served by one path. It is reduced to the ledger's cells
where it runs, so that numbers travel and not the losses of all samples.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from traceback import format_exc
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv._compat import check_method_params, safe_split, to_numpy
from steadycv.estimators import new_estimator
from steadycv.outputs import FittedModel, ModelsOfPath, SeveralModels, answering
from steadycv.paths.protocol import PathData
from steadycv.paths.separate import fit_model
from steadycv.reducing import Fit, Reducer
from steadycv.scoring import NotAnsweredError
from steadycv.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from steadycv._compat import FitTask
    from steadycv.lattice import Lattice
    from steadycv.paths.protocol import Outputs, Path
    from steadycv.reducing import Cells
    from steadycv.scoring import Judging

__all__ = ["Problem", "Task", "methods_of", "run_task"]


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
        The training sets, and who looks at them.
    judging : Judging
        What errors and changes are, and what else is reported.
    fit_params : dict
        Metadata for ``fit``.
    keep : tuple of str
        The methods of which the first is kept of each split's models, on its test rows.
    return_train_score : bool
        Whether the scores on the training sets of the splits are wanted too.
    error_score : float or "raise"
        The score where a fit or a scorer fails; or any error stops the search.
    """

    estimator: Any
    X: Any
    y: Any
    lattice: Lattice
    judging: Judging
    fit_params: dict[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    return_train_score: bool = False
    error_score: float | str = np.nan

    @property
    def raises(self) -> bool:
        """Whether an error stops the search."""
        return bool(self.error_score == "raise")

    @cached_property
    def reducer(self) -> Reducer:
        """Reduces what models say; its preparations are not sent along."""
        return Reducer(self.judging, self.lattice, self.keep, train_scores=self.return_train_score)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "reducer"}


@dataclass(frozen=True)
class Task:
    """Some candidates on some training sets.

    Attributes
    ----------
    candidates : ndarray of int
        The candidates, a single one where no path serves them.
    settings : list of dict
        Their settings.
    training_sets : list of int
        Where they are fitted, in this order.
    comparisons : frozenset of int
        The comparisons that are not known yet.
    path : Path or None
        What serves them.
    estimator : estimator
        That of the first candidate, not fitted; only a path needs it.
    methods : tuple of str
        What the path is asked for.
    prepared : object
        What the path has prepared, or the error that it raised.
    callbacks : list
        The tasks that scikit-learn's callbacks are told of, one a training set.
    """

    candidates: NDArray[np.intp]
    settings: list[dict[str, Any]]
    training_sets: list[int]
    comparisons: frozenset[int] = frozenset()
    path: Path | None = None
    estimator: Any = None
    methods: tuple[str, ...] = ()
    prepared: Any = None
    callbacks: tuple[FitTask | None, ...] = ()

    def prepared_by(self, prepared: Any, callbacks: tuple[FitTask | None, ...]) -> Task:
        """The task ready to run."""
        return replace(self, prepared=prepared, callbacks=callbacks)

    def without_preparation(self) -> Task:
        """The task by its names and numbers alone."""
        return replace(self, path=None, estimator=None, prepared=None, callbacks=())


def methods_of(problem: Problem, estimator: Any) -> tuple[str, ...]:
    """All that the models of an estimator are asked for."""
    judging = problem.judging
    asked = judging.measure.methods(estimator)
    asked += [] if judging.reported is None else judging.reported.methods(estimator)
    asked += [problem.keep] if problem.keep else []
    return tuple(dict.fromkeys(answering(estimator, methods) for methods in asked))


def run_task(problem: Problem, task: Task) -> Iterator[Cells]:
    """Fit the models of a task, and reduce what they say: cells for one training set after the other."""
    reducer = problem.reducer
    waiting = Waiting(reducer.judge)
    for number, (training_set, data, fit) in enumerate(_fits(problem, task)):
        try:
            cells, losses = reducer.reduce(training_set, fit, raises=problem.raises)
        except NotAnsweredError:
            fit = _fitted_one_by_one(problem, task.settings, data)
            cells, losses = reducer.reduce(training_set, fit, raises=problem.raises)
        cells.changes.update(waiting.add(task.candidates, training_set, losses, task.comparisons))
        if number + 1 == len(task.training_sets):
            cells.waiting.update({held: (b.losses, b.waits_for) for held, b in waiting.blocks()})
        yield cells


def _fits(problem: Problem, task: Task) -> Iterator[tuple[int, PathData, Fit]]:
    """The models of every training set."""
    path: Any = task.path
    if hasattr(path, "outputs_many") and not isinstance(task.prepared, Exception):
        yield from _fits_of_many(problem, task)
        return
    for number, training_set in enumerate(task.training_sets):
        data = _data(problem, task, training_set)
        callback = task.callbacks[number] if task.callbacks else None
        start = time.perf_counter()
        try:
            if path is None:
                models: Any = _fitted(problem, task.settings[0], data, callback)
            else:
                models = _by_path(problem, task, data, callback)
        except Exception:
            yield training_set, data, _failed(problem, task, data, time.perf_counter() - start)
        else:
            yield training_set, data, Fit(models, len(task.settings), {}, time.perf_counter() - start)


def _fits_of_many(problem: Problem, task: Task) -> Iterator[tuple[int, PathData, Fit]]:
    """The same from a path that takes all training sets at once."""
    many = [_data(problem, task, training_set) for training_set in task.training_sets]
    path: Any = task.path
    found = iter(path.outputs_many(task.estimator, task.settings, many))
    for training_set, data in zip(task.training_sets, many, strict=True):
        start = time.perf_counter()
        try:
            models = _models_of_path(problem, next(found), data)
        except Exception:
            found = iter(())  # what was to come may be wrong as well
            yield training_set, data, _failed(problem, task, data, time.perf_counter() - start)
        else:
            yield training_set, data, Fit(models, len(task.settings), {}, time.perf_counter() - start)


def _data(problem: Problem, task: Task, training_set: int) -> PathData:
    estimator = problem.estimator if task.estimator is None else task.estimator
    rows = problem.lattice.rows(training_set)
    X, y = safe_split(estimator, problem.X, problem.y, rows)
    return PathData(
        X=problem.X,
        y=problem.y,
        rows=rows,
        X_train=X,
        y_train=y,
        fit_params=check_method_params(problem.X, params=problem.fit_params, indices=rows),
        methods=task.methods,
        prepared=task.prepared,
        blocks=problem.lattice.blocks(training_set),
    )


def _fitted(
    problem: Problem, params: dict[str, Any], data: PathData, callback: FitTask | None = None
) -> FittedModel:
    estimator = new_estimator(problem.estimator, params)
    with _told(callback, estimator, data):
        fit_model(estimator, data)
    return FittedModel(estimator, data, problem.judging.classes)


def _by_path(problem: Problem, task: Task, data: PathData, callback: FitTask | None) -> ModelsOfPath:
    if isinstance(data.prepared, Exception):
        raise data.prepared
    assert task.path is not None
    with _told(callback, None, data):  # a path fits clones of its own
        outputs = task.path.outputs(task.estimator, task.settings, data)
    return _models_of_path(problem, outputs, data)


def _models_of_path(problem: Problem, outputs: Outputs, data: PathData) -> ModelsOfPath:
    classes = problem.judging.classes
    known = None if classes is None else np.unique(to_numpy(data.y_train))
    return ModelsOfPath(outputs, data.rows, classes=classes, known=known)


def _told(callback: FitTask | None, estimator: Any, data: PathData) -> AbstractContextManager[None]:
    """Tell scikit-learn's callbacks of a fit."""
    if callback is None:
        return nullcontext()
    return callback.around(estimator, data.X_train, data.y_train, data.fit_params)


def _failed(problem: Problem, task: Task, data: PathData, seconds: float) -> Fit:
    """What is left when a fit raised an error, which is being handled."""
    if len(task.settings) > 1:
        one_by_one = _fitted_one_by_one(problem, task.settings, data)
        if not one_by_one.failures:
            raise
        return one_by_one
    if problem.raises:
        raise
    return Fit(None, 1, {0: format_exc()}, seconds)


def _fitted_one_by_one(problem: Problem, settings: list[dict[str, Any]], data: PathData) -> Fit:
    """Fit each candidate by itself: to find which cannot be, or for a scorer that wants the models."""
    start = time.perf_counter()
    models: list[FittedModel | None] = []
    failures: dict[int, str] = {}
    for i, params in enumerate(settings):
        try:
            model = _fitted(problem, params, data)
            for method in data.methods:  # a model can fail when it predicts, too
                model.says((method,))
        except Exception:
            if problem.raises:
                raise
            models.append(None)
            failures[i] = format_exc()
        else:
            models.append(model)
    any_worked = len(failures) < len(settings)
    seconds = time.perf_counter() - start
    worked = SeveralModels(models) if any_worked else None
    return Fit(worked, len(settings), failures, seconds, n_fits=len(settings))
