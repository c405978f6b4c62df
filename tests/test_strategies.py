"""Strategies ask for candidates and choose one of them."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.candidates import Grid
from steadycv.strategies import coordinate_descent, exhaustive


def play(strategy, grid, error):
    """Answer a strategy with a function of the candidate; return its choice and what it asked for."""
    questions, asked = strategy(grid), []
    batch = next(questions)
    while True:
        asked.append(list(batch))
        try:
            batch = questions.send(np.array([error(grid[i]) for i in batch]))
        except StopIteration as stop:
            return grid[stop.value], asked


def test_exhaustive_takes_the_first_of_ties():
    grid = Grid({"a": [3, 1, 2, 1]})
    assert play(exhaustive, grid, lambda c: c["a"])[0] == {"a": 1}
    assert play(exhaustive, grid, lambda c: 0.0)[0] == {"a": 3}


def test_descent_starts_in_the_middle_of_the_first_axis():
    grid = Grid({"depth": range(1, 11), "leaf": range(2, 11)})
    choice, asked = play(coordinate_descent, grid, lambda c: abs(c["depth"] - 7) + abs(c["leaf"] - 3))
    assert choice == {"depth": 7, "leaf": 3}
    assert {grid[i]["depth"] for i in asked[0]} == {5}
    assert {grid[i]["leaf"] for i in asked[1]} == {3}
    assert len(asked) == 4  # the second iteration finds that nothing moves


def test_descent_may_stop_at_a_local_minimum():
    errors = {(0, 0): 0, (0, 1): 3, (1, 0): 3, (1, 1): 1}
    shifted = Grid({"a": [1, 0], "b": [1, 0]})  # starts at a = 1
    assert play(coordinate_descent, shifted, lambda c: errors[c["a"], c["b"]])[0] == {"a": 1, "b": 1}


def test_descent_ends_even_where_errors_never_settle():
    counter = iter(range(10**6))
    grid = Grid({"a": range(5), "b": range(5)})
    _, asked = play(coordinate_descent, grid, lambda c: -next(counter))
    assert len(asked) <= 20


def test_descent_of_several_grids_takes_the_best_of_each():
    grid = Grid([{"a": [1, 2, 3]}, {"a": [7, 8], "b": [0, 1]}, {}])
    assert play(coordinate_descent, grid, lambda c: abs(c.get("a", 9) - 8))[0] == {"a": 8, "b": 0}


def halving(grid):
    """Looks between the two best, again and again."""
    known = dict(enumerate((yield range(len(grid)))))
    for _ in range(4):
        one, two = sorted(known, key=known.get)[:2]
        [middle] = grid.add([{"alpha": float(np.sqrt(grid[one]["alpha"] * grid[two]["alpha"]))}])
        if middle in known:
            break
        [known[middle]] = yield [middle]
    return min(known, key=known.get)


ENDS = {"alpha": [1e-3, 1.0, 1e3]}


@pytest.mark.parametrize("estimator", [Ridge(), Ridge(solver="lsqr")], ids=["path", "separate"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_candidates_that_come_while_the_search_runs(estimator, n_jobs):
    X, y = make_regression(60, 40, noise=200, random_state=0)
    with parallel_config("threading"):
        search = StabilitySearchCV(estimator, ENDS, search=halving, n_jobs=n_jobs).fit(X, y)
    alphas = search.cv_results_["param_alpha"].tolist()
    assert len(set(alphas)) == len(alphas) == len(search.ledger_) > 6
    assert search.best_params_["alpha"] not in ENDS["alpha"]
    # The choices are those of their own looking around, and the numbers those of a grid.
    whole = StabilitySearchCV(estimator, {"alpha": alphas}, use_paths=False).fit(X, y)
    looked_at = ~np.isnan(search.cv_results_["instability"])
    for name in ("cv_error", "instability"):
        np.testing.assert_allclose(
            search.cv_results_[name][looked_at], whole.cv_results_[name][looked_at], rtol=1e-9
        )
    for view in search.lattice_.views:
        chosen = search.weights_[f"split{view.split}_index"]
        np.testing.assert_allclose(
            search.weights_[f"split{view.split}_error"], whole.ledger_.error[chosen, view.judged]
        )


def test_candidates_that_come_are_in_the_file_too(tmp_path):
    X, y = make_regression(60, 40, noise=200, random_state=0)
    search = StabilitySearchCV(Ridge(), ENDS, search=halving, ledger=tmp_path / "ledger", verbose=1)
    first = search.fit(X, y)
    errors, choice = first.ledger_.error, first.best_params_
    again = search.fit(X, y)
    assert (again.n_fits_, again.best_params_) == (0, choice)
    np.testing.assert_array_equal(again.ledger_.error, errors)


def test_a_strategy_of_ones_own():
    def every_second(grid):
        asked = range(0, len(grid), 2)
        errors = yield asked
        return asked[int(np.argmin(errors))]

    X, y = make_regression(40, 3, noise=5, random_state=0)
    grid = {"alpha": np.logspace(-3, 3, 7)}
    search = StabilitySearchCV(Ridge(), grid, search=every_second, use_paths=False)
    search.fit(X, y)
    assert search.best_index_ % 2 == 0
    assert search.n_fits_ == 4 * 16
    assert np.isnan(search.cv_results_["mean_test_score"][1::2]).all()


def test_coordinate_search_fits_less_than_the_grid():
    X, y = make_regression(60, 4, noise=20, random_state=0)
    grid = {"max_depth": range(1, 9), "min_samples_leaf": range(1, 9)}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, search="coordinate", use_paths=False)
    search.fit(X, y)
    assert search.n_fits_ < 64 * 16
    assert search.cv_error_ == search.cv_results_["cv_error"][search.best_index_]


@pytest.mark.parametrize("axes", [{"b": [1, 2], "a": [5, 6, 7]}, {"a": [5], "c": "xy", "b": [0, 1]}])
def test_positions_are_scikit_learns_order(axes):
    grid = Grid({name: list(values) for name, values in axes.items()})
    [box] = grid.boxes
    for position in np.ndindex(box.shape):
        candidate = grid[box.candidate(position)]
        assert candidate == {name: axes[name][i] for name, i in zip(box.names, position, strict=True)}
