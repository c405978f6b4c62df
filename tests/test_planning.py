"""Planning: what is missing, in how many tasks; and no bit of the ledger depends on how it is put."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.candidates import Candidates, Grid
from steadycv.executor import Executor
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.planning import Planner
from steadycv.scoring import Judging
from steadycv.tasks import Problem
from steadycv.waiting import Waiting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(45, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.normal(size=45)
LATTICE = Lattice(KFold(3).split(X), 45)
RIDGES = [{"alpha": 1.0}, {"alpha": 2.0}, {"alpha": 1.0, "fit_intercept": False}]


def planned(candidates=None, estimator=None, *, use_paths=True):
    measure = MeanLoss.of(LOSSES["squared_error"], Y)
    judging = Judging(measure, None, 0.0, None, measure.loss, None, None)
    problem = Problem(Ridge() if estimator is None else estimator, X, Y, LATTICE, judging)
    candidates = candidates or Candidates(RIDGES)
    planner = Planner(problem, candidates, use_paths=use_paths)
    return planner, Ledger(LATTICE, len(candidates)), Waiting(problem.reducer.judge)


def missing(planner, ledger, waiting, *views, candidates=(0,), with_change=True):
    asked = [(view, np.array(candidates)) for view in views]
    return planner.missing(asked, ledger, waiting, with_change=with_change)


def training_sets(wanted, line=0):
    return np.flatnonzero(wanted.training_sets[line]).tolist()


@pytest.mark.parametrize(("use_paths", "n_groups"), [(True, 2), (False, 3)])
def test_groups(use_paths, n_groups):
    planner, *_ = planned(use_paths=use_paths)
    assert planner.n_groups == n_groups
    assert sorted(c for line in planner.lines for c in line.candidates.tolist()) == [0, 1, 2]
    assert all(c in planner.lines[planner.line_of[c]].candidates for c in range(3))


def test_candidates_that_come_later():
    candidates = Candidates(RIDGES[:1])
    planner, *_ = planned(candidates)
    candidates.add(RIDGES[1:])
    planner.extend()
    assert len(planner.line_of) == 3
    assert planner.lines[planner.line_of[2]].candidates.tolist() == [2]


def test_what_the_final_view_misses():
    question = planned(use_paths=False)
    assert training_sets(missing(*question, LATTICE.final)) == [0, 1, 2, 3]
    assert training_sets(missing(*question, LATTICE.final, with_change=False)) == [1, 2, 3]
    assert training_sets(missing(*question, LATTICE.final), line=1) == []


def test_what_a_view_misses():
    view = LATTICE.views[1]
    seen = {LATTICE.evaluations[e].training_set for e in view.evaluations}
    wanted = missing(*planned(use_paths=False), view)
    assert set(training_sets(wanted)) == seen | {view.reference}
    assert set(np.flatnonzero(wanted.comparisons[0])) >= set(view.comparisons.tolist())


def test_what_is_known_is_not_missed():
    planner, ledger, waiting = planned(use_paths=False)
    ledger.error[0], ledger.change[0] = 1.0, 1.0
    assert training_sets(missing(planner, ledger, waiting, LATTICE.final)) == []
    ledger.error[0, 1] = np.nan
    assert training_sets(missing(planner, ledger, waiting, LATTICE.final)) == [2]
    assert planner.tasks(missing(planner, ledger, waiting)) == []


def test_losses_at_hand_are_not_missed():
    planner, ledger, waiting = planned(use_paths=False)
    ledger.error[0] = 1.0
    every = range(len(LATTICE.comparisons))
    list(waiting.add(np.array([0]), [0], np.zeros((1, 1, 45)), every))
    assert training_sets(missing(planner, ledger, waiting, LATTICE.final)) == [1, 2, 3]


def test_tasks():
    question = planned()
    tasks = question[0].tasks(missing(*question, LATTICE.final, *LATTICE.views, candidates=[0, 1, 2]))
    assert len(tasks) == 2
    fitted = [(c, t) for task in tasks for c in task.candidates.tolist() for t in task.training_sets]
    assert sorted(fitted) == [(c, t) for c in range(3) for t in range(7)]


# The same bits, however it is put.

MODELS = {
    "tree": (
        DecisionTreeRegressor(random_state=0),
        {"max_depth": range(1, 9), "min_samples_leaf": [1, 4]},
    ),
    "neighbors": (
        KNeighborsRegressor(),
        {"n_neighbors": range(1, 9), "weights": ["uniform", "distance"]},
    ),
    "ridge": (Ridge(), {"alpha": np.logspace(-2, 2, 7)}),
    "lasso": (Lasso(), {"alpha": np.logspace(-2, 0, 5)}),
    "forest": (RandomForestRegressor(4, random_state=0), {"max_depth": [1, 2, 4]}),
    "pipeline": (
        make_pipeline(StandardScaler(), DecisionTreeRegressor(random_state=0)),
        {"decisiontreeregressor__max_depth": range(1, 6)},
    ),
}


def apart(self, tasks, **how):
    return (part for task in tasks for part in task.apart(len(task.training_sets)))


def tables(model, *, one_by_one=False, monkeypatch=None, **params):
    search = StabilitySearchCV(*model, **{"cv": 3, "stability_weights": [0.0, 1.0], **params})
    if one_by_one:
        with monkeypatch.context() as patch:
            patch.setattr(Executor, "parted", apart)
            search.fit(X, Y)
    else:
        search.fit(X, Y)
    return search.ledger_.error, search.ledger_.change, search.out_of_fold_predictions_


@pytest.mark.parametrize("cv", [3, TimeSeriesSplit(4)], ids=["folds", "time"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_no_bit_depends_on_how_tasks_are_put(model, cv, monkeypatch):
    expected = tables(model, cv=cv)
    for how in ({"one_by_one": True, "monkeypatch": monkeypatch}, {"n_jobs": 2}):
        for found, numbers in zip(tables(model, cv=cv, **how), expected, strict=True):
            assert_array_equal(found, numbers)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", "explained_variance"])
def test_no_bit_depends_on_it_with_a_score(scoring, monkeypatch):
    expected = tables(MODELS["tree"], scoring=scoring)
    found = tables(MODELS["tree"], scoring=scoring, one_by_one=True, monkeypatch=monkeypatch)
    assert_array_equal(found[0], expected[0])
    assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("name", MODELS)
def test_no_bit_depends_on_the_order_of_questions(name):
    """What a coordinate search has looked at is what the whole grid has."""
    estimator, grid = MODELS[name]
    whole = StabilitySearchCV(estimator, grid, cv=3).fit(X, Y).ledger_
    some = StabilitySearchCV(estimator, grid, cv=3, search="coordinate").fit(X, Y).ledger_
    known = ~np.isnan(some.error)
    assert_array_equal(some.error[known], whole.error[known])
    known = ~np.isnan(some.change)
    assert_array_equal(some.change[known], whole.change[known])


@pytest.mark.filterwarnings("ignore:No nested cross-validation")
def test_rows_that_are_drawn_again_are_not_for_paths():
    """A bootstrap: a path would take every row once."""
    drawn = [(RNG.integers(0, 30, size=30), np.arange(30 + 5 * i, 35 + 5 * i)) for i in range(3)]
    for model in (MODELS["tree"], MODELS["neighbors"], MODELS["ridge"]):
        expected = tables(model, cv=drawn, use_paths=False)
        for found, numbers in zip(tables(model, cv=drawn), expected, strict=True):
            assert_array_equal(found, numbers)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_samples_without_weight_and_kernels(kernel):
    """libsvm leaves them out of a kernel that it is given, and counts on in the wrong columns."""
    model, weight = (SVR(kernel=kernel), {"C": [0.1, 10.0]}), np.arange(45) % 3 + 0.0
    searches = [
        StabilitySearchCV(*model, cv=3, use_paths=use_paths).fit(X, Y, sample_weight=weight)
        for use_paths in (True, False)
    ]
    assert_allclose(*(search.ledger_.error for search in searches), rtol=1e-9)


def test_grid_of_another_order():
    grid = Grid({"max_depth": [3, 1, 2]})
    planner, *_ = planned(grid, DecisionTreeRegressor(random_state=0))
    assert planner.n_groups == 1


ROUNDS = {"n_estimators": [1, 2, 3], "max_depth": [1, 2]}


@pytest.mark.parametrize(
    ("estimator", "grid", "use_paths", "n_runs"),
    [
        (SVR(), {"C": [1.0, 2.0, 3.0]}, True, 3),
        (Ridge(), {"alpha": [1.0, 2.0, 3.0]}, True, 0),
        (Ridge(), {"alpha": [1.0, 2.0, 3.0]}, False, 3),
        (GradientBoostingRegressor(), ROUNDS, True, 2),
        (GradientBoostingRegressor(), ROUNDS, False, 6),
        (
            make_pipeline(StandardScaler(), GradientBoostingRegressor()),
            {f"gradientboostingregressor__{name}": values for name, values in ROUNDS.items()}
            | {"standardscaler__with_mean": [True, False]},
            True,
            4,
        ),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 2.0]}, True, 0),
    ],
)
def test_runs_of_solvers(estimator, grid, use_paths, n_runs):
    planner, *_ = planned(Grid(grid), estimator, use_paths=use_paths)
    assert planner.n_runs == n_runs
    if n_runs:
        assert len(set(planner.run_of.tolist())) == n_runs


def test_a_group_is_fitted_on_a_training_set_once():
    planner, ledger, waiting = planned(Grid({"n_estimators": [1, 2, 3]}), GradientBoostingRegressor())
    wanted = missing(planner, ledger, waiting, candidates=())
    wanted.training_sets[:, :4] = [[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1]]
    tasks = planner.tasks(wanted)
    found = {tuple(task.training_sets): task.candidates.tolist() for task in tasks}
    assert found == {(0,): [0, 2], (1,): [0, 1], (3,): [0, 1, 2]}
