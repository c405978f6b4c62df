"""Tasks: the one place where models are trained, and where what they say becomes a few numbers.

A task is some candidates on some training sets, served by one path. It is reduced to the ledger's cells
where it runs, so that numbers travel and not the losses of all samples.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from traceback import format_exc
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv._compat import check_method_params, safe_split, to_numpy
from steadycv.estimators import new_estimator
from steadycv.outputs import FittedModel, ModelsOfPath, SeveralModels, answering
from steadycv.paths.protocol import PathData, failures_of
from steadycv.paths.separate import SeparatePath, fit_model
from steadycv.reducing import Fit, Keep, Reducer
from steadycv.scoring import NotAnsweredError
from steadycv.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from steadycv._compat import FitTask
    from steadycv.lattice import Lattice
    from steadycv.outputs import OutputsOfModels
    from steadycv.paths.protocol import Outputs, Path
    from steadycv.reducing import Cells
    from steadycv.scoring import Judging
    from steadycv.waiting import Held

__all__ = ["Problem", "Task", "failed_task", "methods_asked", "model_of", "run_task"]

NOTHING = Keep()


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
    keep : Keep
        Which outputs are kept.
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
    keep: Keep = NOTHING
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
        The candidates, a single one where it is fitted separately.
    settings : list of dict
        Their settings.
    lines : list of ndarray
        Which of them, by position, depend on each other and on nobody else.
    training_sets : list of int
        Where they are fitted, in this order.
    comparisons : frozenset of int
        The comparisons that are not known yet.
    path : Path or None
        What serves them.
    estimator : estimator
        As the path is given it.
    methods : tuple of str
        What the path is asked for; a separate fit's model is there to be asked.
    prepared : object
        What the path has prepared, or the error that it raised.
    callbacks : list
        The tasks that scikit-learn's callbacks are told of, one a training set.
    """

    candidates: NDArray[np.intp]
    settings: list[dict[str, Any]]
    lines: list[NDArray[np.intp]]
    training_sets: list[int]
    comparisons: frozenset[int] = frozenset()
    path: Path | None = None
    estimator: Any = None
    methods: tuple[str, ...] = ()
    prepared: Any = None
    callbacks: tuple[FitTask | None, ...] = ()

    def with_prepared(self, prepared: Any) -> Task:
        """The task with what its path has prepared."""
        return self if prepared is None else replace(self, prepared=prepared)

    def without_prepared(self) -> Task:
        """The task as it travels: without data."""
        return self if self.prepared is None else replace(self, prepared=None)

    def apart(self, n_parts: int) -> list[Task]:
        """Tasks of at most so many parts of the training sets, of one size."""
        size = -(-len(self.training_sets) // n_parts)
        starts = range(0, len(self.training_sets), size)
        return [replace(self, training_sets=self.training_sets[i : i + size]) for i in starts]


def methods_asked(problem: Problem, estimator: Any) -> tuple[str, ...]:
    """All that the models of an estimator are asked for."""
    judging = problem.judging
    asked = judging.measure.methods(estimator)
    asked += [] if judging.reported is None else judging.reported.methods(estimator)
    asked += [(method,) for method in problem.keep.methods]
    return tuple(dict.fromkeys(answering(estimator, methods) for methods in asked))


def run_task(problem: Problem, task: Task) -> Iterator[Cells]:
    """Fit the models of a task, and reduce what they say: cells for one training set after the other."""
    return _compared(problem, task, _reduced(problem, task))


def failed_task(problem: Problem, task: Task, reason: str) -> Iterator[Cells]:
    """The cells of a task none of whose models could be fitted."""
    n = len(task.candidates)
    failed = Fit(None, n, dict.fromkeys(range(n), reason), 0.0, n_fits=n)
    found = (problem.reducer.reduce(each, failed, raises=False) for each in task.training_sets)
    return _compared(problem, task, ((cells, [losses]) for cells, losses in found))


def _compared(
    problem: Problem, task: Task, reduced: Iterable[tuple[Cells, Sequence[Held] | NDArray[np.float64]]]
) -> Iterator[Cells]:
    """Cells with the changes that are known by then."""
    waiting = Waiting(problem.reducer.judge)
    n_left = len(task.training_sets)
    for cells, losses in reduced:
        compared = waiting.add(task.candidates, cells.training_sets, losses, task.comparisons)
        cells.changes.update(compared)
        n_left -= len(cells.training_sets)
        if not n_left:
            cells.waiting.update({held: (b.losses, b.waits_for) for held, b in waiting.blocks()})
        yield cells


def _reduced(
    problem: Problem, task: Task
) -> Iterator[tuple[Cells, Sequence[Held] | NDArray[np.float64]]]:
    """Cells and losses of one training set after the other, or of several together."""
    reducer, many = problem.reducer, _Data(problem, task)
    found = _outputs_of_many(task, many)
    blocks: Iterable[list[int]] = ([training_set] for training_set in task.training_sets)
    if found is not None and reducer.takes_blocks and not any(task.callbacks):
        blocks = reducer.in_blocks(task.training_sets, len(task.settings))
    number = 0
    for block in blocks:
        if len(block) > 1 and found is not None:
            start = time.perf_counter()
            said, found = _first(found, len(block))
            together = _together(problem, block, said, start)
            if together is not None:
                number += len(block)
                yield together
                continue
            found = chain(said, found)
        for training_set in block:
            data = many[number]
            fit, found = _fit(problem, task, number, data, found)
            number += 1
            try:
                cells, losses = problem.reducer.reduce(training_set, fit, raises=problem.raises)
            except NotAnsweredError:
                fit = _answering(problem, task, training_set, data, fit)
                cells, losses = problem.reducer.reduce(training_set, fit, raises=problem.raises)
            yield cells, [losses]


def _first(found: Iterator[Outputs], n: int) -> tuple[list[Outputs], Iterator[Outputs]]:
    """The first of what a path says, as far as it comes, and the rest."""
    said: list[Outputs] = []
    try:
        said.extend(islice(found, n))
    except Exception as error:
        return said, _raising(error)
    return said, found


def _raising(error: Exception) -> Iterator[Outputs]:
    raise error
    yield


def _together(
    problem: Problem, training_sets: list[int], said: list[Outputs], start: float
) -> tuple[Cells, NDArray[np.float64]] | None:
    """Several training sets reduced together; None where something is wrong with one of them."""
    if len(said) < len(training_sets) or any(map(failures_of, said)):
        return None
    outputs = {method: np.concatenate([each[method] for each in said]) for method in said[0]}
    models = ModelsOfPath(outputs, np.zeros(0, dtype=np.intp))
    try:
        return problem.reducer.reduce_block(training_sets, models, time.perf_counter() - start)
    except Exception:  # told where they are looked at one by one
        return None


def model_of(problem: Problem, setting: dict[str, Any], training_set: int) -> FittedModel:
    """The model of one candidate on one training set, fitted by itself, to be asked for anything."""
    task = Task(
        candidates=np.zeros(1, dtype=np.intp),
        settings=[setting],
        lines=[np.zeros(1, dtype=np.intp)],
        training_sets=[training_set],
        estimator=problem.estimator,
    )
    return _fitted(problem, setting, _data(problem, task, training_set))


def _fit(
    problem: Problem, task: Task, number: int, data: PathData, found: Iterator[Outputs] | None
) -> tuple[Fit, Iterator[Outputs] | None]:
    """The models of a training set, by its number in the task, and where those of the next come from."""
    callback = task.callbacks[number] if task.callbacks else None
    start = time.perf_counter()
    try:
        models, failures = _models(problem, task, data, callback, found)
    except Exception as error:
        # What was to come may be wrong as well: from now on one after the other.
        return _failed(problem, task, data, start, error), None
    if failures and problem.raises:
        raise ValueError(failures[min(failures)])
    n_settings = len(task.settings)
    worked = models if len(failures) < n_settings else None
    seconds = time.perf_counter() - start
    # Those that failed are counted one by one, as where fits are separate.
    n_fits = len(failures) + (worked is not None)
    return Fit(worked, n_settings, failures, seconds, n_fits), found


def _outputs_of_many(task: Task, many: _Data) -> Iterator[Outputs] | None:
    """The outputs of every training set, from a path that takes all of them at once."""
    path: Any = task.path
    if not hasattr(path, "outputs_many") or isinstance(task.prepared, Exception):
        return None

    def in_turn() -> Iterator[Outputs]:  # so that an error comes with the first outputs
        yield from path.outputs_many(task.estimator, task.settings, many)

    return in_turn()


class _Data(Sequence[PathData]):
    """All training sets of a task, each sliced when it is looked at; the last one is at hand."""

    def __init__(self, problem: Problem, task: Task) -> None:
        self._problem = problem
        self._task = task
        self._last: tuple[Any, Any] = None, None

    def __len__(self) -> int:
        return len(self._task.training_sets)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        if self._last[0] != number:
            self._last = number, _data(self._problem, self._task, self._task.training_sets[number])
        return self._last[1]


def _data(problem: Problem, task: Task, training_set: int) -> PathData:
    rows = problem.lattice.rows(training_set)
    params = problem.fit_params and check_method_params(
        problem.X, params=problem.fit_params, indices=rows
    )
    return _SlicedLater.of(
        X=problem.X,
        y=problem.y,
        rows=rows,
        fit_params=params,
        methods=task.methods,
        prepared=task.prepared,
        task=task,
        lattice=problem.lattice,
        training_set=training_set,
    )


class _SlicedLater(PathData):
    """A training set that is sliced when somebody looks at it: many paths need no more than its rows."""

    @classmethod
    def of(cls, **fields: Any) -> _SlicedLater:
        """With all but what is found later."""
        data = cls.__new__(cls)
        data.__dict__.update(fields)
        return data

    @cached_property
    def _train(self) -> tuple[Any, Any]:
        given = self.__dict__
        return safe_split(given["task"].estimator, self.X, self.y, self.rows)

    @cached_property
    def X_train(self) -> Any:  # noqa: N802
        """The samples of the training set."""
        return self._train[0]

    @cached_property
    def y_train(self) -> Any:
        """Their targets."""
        return self._train[1]

    @cached_property
    def blocks(self) -> NDArray[np.intp] | None:
        """The blocks of the lattice."""
        given = self.__dict__
        found: NDArray[np.intp] | None = given["lattice"].blocks(given["training_set"])
        return found


def _models(
    problem: Problem,
    task: Task,
    data: PathData,
    callback: FitTask | None,
    found: Iterator[Outputs] | None,
) -> tuple[OutputsOfModels, dict[int, str]]:
    """The models of one training set, or what stands for them, and what failed of a path's."""
    if isinstance(task.path, SeparatePath):
        return _fitted(problem, task.settings[0], data, callback), {}
    if isinstance(data.prepared, Exception):
        raise data.prepared
    assert task.path is not None
    with _told(callback, None, data):  # a path fits clones of its own
        if found is None:
            outputs = task.path.outputs(task.estimator, task.settings, data)
        else:
            outputs = next(found)
    return _of_path(problem, outputs, data), failures_of(outputs)


def _of_path(problem: Problem, outputs: Outputs, data: PathData) -> ModelsOfPath:
    classes = problem.judging.classes
    known = None if classes is None else np.unique(to_numpy(data.y_train))
    return ModelsOfPath(outputs, data.rows, classes=classes, known=known)


def _fitted(
    problem: Problem, params: dict[str, Any], data: PathData, callback: FitTask | None = None
) -> FittedModel:
    estimator = new_estimator(problem.estimator, params)
    with _told(callback, estimator, data):
        fit_model(estimator, data)
    for method in problem.keep.methods:
        if not hasattr(estimator, method):
            name = type(estimator).__name__
            raise AttributeError(f"This {name} has no {method}, by which the candidates are compared.")
    return FittedModel(estimator, data, problem.judging.classes)


def _told(callback: FitTask | None, estimator: Any, data: PathData) -> AbstractContextManager[None]:
    """Tell scikit-learn's callbacks of a fit."""
    if callback is None:
        return nullcontext()
    return callback.around(estimator, data.X_train, data.y_train, data.fit_params)


def _failed(problem: Problem, task: Task, data: PathData, start: float, error: Exception) -> Fit:
    """What is left when a fit raised an error, which is being handled."""
    if isinstance(task.path, SeparatePath):
        if problem.raises:
            raise error
        return Fit(None, 1, {0: format_exc()}, time.perf_counter() - start)
    parts = [_line(problem, task, line, data, error) for line in task.lines]
    return _joined(parts, task, time.perf_counter() - start)


def _line(problem: Problem, task: Task, line: NDArray[np.intp], data: PathData, error: Exception) -> Fit:
    """One line of a task that failed as a whole: by the path, or else every candidate by itself.

    So what is said of a line does not depend on the others, one of which cannot be fitted.
    """
    settings = [task.settings[i] for i in line]
    if len(task.lines) > 1 and not isinstance(data.prepared, Exception):
        assert task.path is not None
        try:
            outputs = task.path.outputs(task.estimator, settings, data)
        except Exception as of_line:
            error = of_line
        else:
            return Fit(_of_path(problem, outputs, data), len(line), {}, 0.0)
    one_by_one = _fitted_one_by_one(problem, settings, data)
    if one_by_one.failures:
        return one_by_one
    raise RuntimeError(
        f"The path {type(task.path).__name__} failed on {len(data.rows)} samples where separate fits "
        f"of the same candidates work: {type(error).__name__}: {error} Pass use_paths=False to do "
        "without paths."
    ) from error


def _answering(problem: Problem, task: Task, training_set: int, data: PathData, fit: Fit) -> Fit:
    """Models of their own for those lines of which a scorer asks more than a path's outputs."""
    parts = []
    for line in task.lines:
        worked = {int(i) for i in line} - fit.failures.keys()
        assert fit.models is not None
        models = [fit.models.only(i) if i in worked else None for i in line.tolist()]
        failures = {n: fit.failures[i] for n, i in enumerate(line.tolist()) if i not in worked}
        part = Fit(SeveralModels(models) if worked else None, len(line), failures, fit.seconds, 0)
        try:
            problem.reducer.reduce(training_set, part, raises=problem.raises)
        except NotAnsweredError:
            part = _fitted_one_by_one(problem, [task.settings[i] for i in line], data)
        parts.append(part)
    return _joined(parts, task, sum(part.seconds for part in parts), fit.n_fits)


def _joined(parts: Sequence[Fit], task: Task, seconds: float, n_fits: int = 0) -> Fit:
    """What is known of each line, as that of the task."""
    models: list[Any] = [None] * len(task.settings)
    failures: dict[int, str] = {}
    for line, part in zip(task.lines, parts, strict=True):
        for n, i in enumerate(line.tolist()):
            if n in part.failures:
                failures[i] = part.failures[n]
            else:
                assert part.models is not None
                models[i] = part.models.only(n)
    worked = SeveralModels(models) if len(failures) < len(models) else None
    n_fits += sum(part.n_fits for part in parts)
    return Fit(worked, len(models), failures, seconds, n_fits)


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
