"""Tasks: every training set once, by a path or separately, and what is left when something fails."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold

from steadycv import StabilitySearchCV
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.paths import FailedOutputs, register_path, registry
from steadycv.paths.separate import SEPARATE
from steadycv.scoring import Judging
from steadycv.tasks import Problem, Task, failed_task, run_task
from steadycv.testing import check_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)
LATTICE = Lattice(KFold(3).split(X), 30)
MEASURE = MeanLoss.of(LOSSES["squared_error"], Y)
JUDGING = Judging(MEASURE, None, 0.0, None, MEASURE.loss, None, None)
ALL = list(range(LATTICE.n_training_sets))
GRID = {"shift": [0.0, 1.0, 2.0]}


class Shifted(RegressorMixin, BaseEstimator):
    """The mean and something; cannot add more than ten."""

    n_fits = 0

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        type(self).n_fits += 1
        if self.shift > 10:
            raise ValueError("too much")
        self.mean_ = np.mean(y) + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class OneByOne:
    """All shifts at once, each a line of its own."""

    def parameters(self, estimator):
        return {"shift"}

    def methods(self, estimator):
        return {"predict"}

    def serves(self, estimator, setting, X, y):
        return True

    def line(self, estimator, setting):
        return setting["shift"]

    def prepare(self, estimator, X, y):
        return len(X)

    def outputs(self, estimator, settings, data):
        shifts = np.array([setting["shift"] for setting in settings])
        if (shifts > 10).any():
            raise ValueError("too much")
        return {"predict": np.tile(np.mean(data.y_train) + shifts[:, np.newaxis], data.prepared)}


class Many(OneByOne):
    """All training sets at once as well."""

    n_calls = 0

    def outputs_many(self, estimator, settings, many):
        Many.n_calls += 1
        assert [len(data.rows) for data in many[1:2]] == [len(many[1].rows)]
        for data in many:
            yield self.outputs(estimator, settings, data)


class AsList(Many):
    def outputs_many(self, estimator, settings, many):
        return list(super().outputs_many(estimator, settings, many))


class OneTooFew(Many):
    def outputs_many(self, estimator, settings, many):
        return list(super().outputs_many(estimator, settings, many))[:-1]


class Telling(OneByOne):
    """Says itself who failed."""

    def outputs(self, estimator, settings, data):
        failed = {i: "ValueError: too much" for i, s in enumerate(settings) if s["shift"] > 10}
        sound = [{"shift": min(setting["shift"], 10)} for setting in settings]
        return FailedOutputs(super().outputs(estimator, sound, data), failed)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_PATHS", dict(registry._PATHS))
    monkeypatch.setattr(Shifted, "n_fits", 0)
    monkeypatch.setattr(Many, "n_calls", 0)


def run(path=SEPARATE, shifts=(0.0,), training_sets=ALL, error_score=np.nan):
    problem = Problem(Shifted(), X, Y, LATTICE, JUDGING, error_score=error_score)
    task = Task(
        candidates=np.arange(len(shifts)),
        settings=[{"shift": shift} for shift in shifts],
        lines=[np.array([i]) for i in range(len(shifts))],
        training_sets=training_sets,
        comparisons=frozenset(range(len(LATTICE.comparisons))),
        path=path,
        estimator=Shifted(),
        methods=("predict",),
        prepared=path.prepare(None, X, Y),
    )
    return list(run_task(problem, task))


def search(grid=GRID, **options):
    return StabilitySearchCV(Shifted(), grid, cv=3, refit=False, **options).fit(X, Y)


def test_every_training_set_once():
    cells = run()
    assert [each.training_sets[0] for each in cells] == ALL
    assert (Shifted.n_fits, [each.n_fits for each in cells]) == (len(ALL), [1] * len(ALL))
    rows = LATTICE.rows(1)
    [evaluation] = [e for e in LATTICE.evaluations_of[1] if LATTICE.evaluations[e].row_set == 0]
    expected = np.mean((Y[LATTICE.row_sets[0]] - np.mean(Y[rows])) ** 2)
    assert cells[1].errors[evaluation] == pytest.approx(expected)


def test_changes_are_there_when_both_training_sets_are():
    changes = {comparison for each in run() for comparison in each.changes}
    assert changes == set(range(len(LATTICE.comparisons)))
    [first, last] = run(training_sets=ALL[:2])
    assert (first.waiting, set(last.waiting)) == ({}, {0, 1})


@pytest.mark.parametrize("path", [OneByOne(), Many(), AsList()], ids=lambda path: type(path).__name__)
def test_a_path_says_what_separate_fits_say(path):
    errors = {e: found for cells in run(path, shifts=(0.0, 3.0)) for e, found in cells.errors.items()}
    for row, shift in enumerate((0.0, 3.0)):
        for cells in run(shifts=(shift,)):
            for evaluation, [error] in cells.errors.items():
                assert errors[evaluation][row] == pytest.approx(error)


def test_training_sets_that_no_split_has_are_reduced_together():
    together = run(Many(), shifts=(0.0, 3.0))
    assert [cells.training_sets for cells in together] == [[0], [1], [2], [3], [4, 5, 6]]
    for kind in ("errors", "changes"):
        found = {number: row for cells in together for number, row in getattr(cells, kind).items()}
        for cells in run(OneByOne(), shifts=(0.0, 3.0)):
            for number, row in getattr(cells, kind).items():
                assert_array_equal(row, found[number])


@pytest.mark.parametrize("path", [Many(), AsList()], ids=["yields", "returns a list"])
def test_all_training_sets_at_once(path):
    register_path(Shifted, path)
    assert search().n_fits_ == len(ALL)
    assert (Many.n_calls, Shifted.n_fits) == (1, 0)
    check_path(Shifted(), GRID, X, Y)


@pytest.mark.parametrize(
    "path", [OneByOne(), Many(), AsList(), Telling()], ids=lambda path: type(path).__name__
)
def test_who_fails_takes_nobody_along(path):
    register_path(Shifted, path)
    alone = search()
    with pytest.warns(match="too much"):
        found = search({"shift": [*GRID["shift"], 11.0]})
    assert_array_equal(found.ledger_.error[:3], alone.ledger_.error)
    assert_array_equal(found.ledger_.change[:3], alone.ledger_.change)
    assert np.isposinf(found.ledger_.error[3]).all()
    with pytest.raises(ValueError, match="too much"):
        search({"shift": [*GRID["shift"], 11.0]}, error_score="raise")


def test_no_fit_is_made_again_where_a_path_says_who_failed():
    register_path(Shifted, Telling())
    with pytest.warns(match="7 fits failed out of a total of 14"):
        search({"shift": [0.0, 11.0]})
    assert Shifted.n_fits == 0


class Broken(OneByOne):
    def outputs(self, estimator, settings, data):
        raise KeyError("lost")


@pytest.mark.parametrize("path", [Broken(), OneTooFew()], ids=["fails", "stops too soon"])
@pytest.mark.parametrize("shifts", [[0.0], [0.0, 1.0]])
def test_a_path_that_fails_where_fits_work_is_named(path, shifts):
    register_path(Shifted, path)
    if isinstance(path, Broken) or len(shifts) == 1:
        message = f"The path {type(path).__name__} failed .*use_paths=False"
        with pytest.raises(RuntimeError, match=message):
            search({"shift": shifts})
    else:  # of each line by itself there is an answer
        assert search({"shift": shifts}).n_fits_ > 0
    assert search({"shift": shifts}, use_paths=False).n_fits_ == len(shifts) * len(ALL)


def nodes(model, X, y):
    """A scorer that wants to know the model itself, where it is shifted."""
    said = model.predict(X)
    return -np.mean((said - y) ** 2) - (model.mean_ if said[0] > 1 else 0.0)


def test_models_that_a_scorer_asks_for_are_those_of_their_line_alone():
    register_path(Shifted, OneByOne())
    some = search({"shift": [0.0]}, scoring=nodes)
    assert Shifted.n_fits == 0
    found = search({"shift": [0.0, 5.0]}, scoring=nodes)
    assert Shifted.n_fits == len(LATTICE.splits) + 3  # the splits, and inside them
    separate = search({"shift": [0.0, 5.0]}, scoring=nodes, use_paths=False)
    assert_array_equal(found.ledger_.error[:1], some.ledger_.error)
    np.testing.assert_allclose(found.ledger_.error, separate.ledger_.error)


def test_a_task_travels():
    problem = pickle.loads(pickle.dumps(Problem(Shifted(), X, Y, LATTICE, JUDGING)))
    assert problem.reducer is problem.reducer
    task = Task(np.arange(1), [{}], [np.arange(1)], [0], path=SEPARATE, estimator=Shifted(), prepared=X)
    travelling = task.without_prepared()
    assert travelling.prepared is None
    [cells] = run_task(problem, pickle.loads(pickle.dumps(travelling)).with_prepared(X))
    assert cells.training_sets[0] == 0


def test_a_task_apart():
    task = Task(np.arange(1), [{}], [np.arange(1)], [0, 2], path=SEPARATE, estimator=Shifted())
    assert [each.training_sets for each in task.apart(2)] == [[0], [2]]
    assert [each.training_sets for each in task.apart(1)] == [[0, 2]]


def test_a_task_that_failed():
    problem = Problem(Shifted(), X, Y, LATTICE, JUDGING)
    task = Task(np.arange(1), [{}], [np.arange(1)], [0, 1], path=SEPARATE, estimator=Shifted())
    failed = list(failed_task(problem, task, "Its worker died."))
    assert [cells.failures for cells in failed] == [{0: "Its worker died."}] * 2
    assert all(np.isinf(error).all() for cells in failed for error in cells.errors.values())
