import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor
from small import load, tree_grid

from steadycv import StabilitySearchCV
from steadycv.experiments import ComparedModel, Results, judge, run_comparison
from steadycv.experiments.comparison import simplest_within_one_standard_error
from steadycv.experiments.splits import random_split
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger

MODEL = ComparedModel("tree", DecisionTreeRegressor, tree_grid)
SPLIT = random_split(*load("a"), "a", 0)


def search(**how):
    grid = tree_grid(None, None)
    return StabilitySearchCV(DecisionTreeRegressor(), grid, cv=SPLIT.cv, **how).fit(SPLIT.X, SPLIT.y)


def test_each_selection_is_that_of_a_search_of_its_own():
    outcomes = {outcome.selection: outcome for outcome in MODEL.run(SPLIT)}
    assert tuple(outcomes) == MODEL.selections
    default = search(rule="paper")
    assert outcomes["kCV"].parameters == default.plain_params_
    assert outcomes["kCV"].reported_error == default.cv_results_["cv_error"].min()
    assert outcomes["nested kCV"].parameters == default.best_params_
    assert outcomes["nested kCV"].reported_error == default.nested_error_
    for weight in (0.1, 1, 10):
        fixed = search(stability_weights=weight)
        found = outcomes[f"weight {weight}"]
        assert found.parameters == fixed.best_params_
        assert found.reported_error == fixed.nested_error_
        expected = np.mean((fixed.predict(SPLIT.X_test) - SPLIT.y_test) ** 2)
        assert found.test_error == pytest.approx(expected)


class Searched:
    """A search with given fold errors of candidates (max_depth, min_samples_split)."""

    def __init__(self, errors):
        errors = np.array(errors, dtype=float)
        self.cv_results_ = {"cv_error": errors.mean(axis=1)}
        self.lattice_ = Lattice(KFold(4).split(range(8)), n_samples=8)
        self.ledger_ = Ledger(self.lattice_, len(errors))
        self.ledger_.error[:, self.lattice_.final.evaluations] = errors
        self.plain_index_ = int(errors.mean(axis=1).argmin())


def test_one_standard_error_by_hand():
    # The best has errors 1, 2, 3, 2: a mean of 2 and a standard error of 0.408.
    best = [1, 2, 3, 2]
    errors = [[3] * 4, [2.41] * 4, [2.40] * 4, best]
    grid = {"b": ["simple", "not"], "a": [1, 2]}
    # In the order of scikit-learn: (a, b) = (1, simple), (1, not), (2, simple), (2, not).
    assert simplest_within_one_standard_error(Searched(errors), grid) == 2
    errors[0] = [2.3] * 4
    assert simplest_within_one_standard_error(Searched(errors), grid) == 0
    errors[0], errors[2] = [3] * 4, [3] * 4
    assert simplest_within_one_standard_error(Searched(errors), grid) == 3
    errors[1] = [2.0] * 4
    assert simplest_within_one_standard_error(Searched(errors), grid) == 1


def test_run(tmp_path):
    path = tmp_path / "x.csv"
    run_comparison(MODEL, *load("a"), path, name="a", n_splits=2)
    frame = pd.read_csv(path)
    assert len(frame) == 2 * 6
    assert set(frame["selection"]) == set(MODEL.selections)
    run_comparison(MODEL, *load("a"), path, name="a", n_splits=3)
    longer = pd.read_csv(path)
    pd.testing.assert_frame_equal(longer[longer["split"] < 2], frame)


def verdict(**test_errors):
    names = ("kCV", "nested kCV", "third")
    rows = [
        {
            "dataset": "x",
            "model": "m",
            "selection": name,
            "split": split,
            "test_error": error,
            "reported_error": 0.5,
            "same_choice": name == "kCV",
        }
        for name, errors in zip(names, test_errors.values(), strict=True)
        for split, error in enumerate(errors)
    ]
    return judge(Results(pd.DataFrame(rows)), "x", "m", names)


def test_a_sure_verdict():
    noise = np.random.default_rng(0).uniform(1, 2, size=30)
    found = verdict(plain=noise, nested=0.9 * noise, third=2 * noise)
    assert found.best == ["nested kCV"]
    assert found.sureness == 1
    assert found.words[0].startswith(
        "'nested kCV' had the lowest mean test error, 10.0% below that of 'kCV' (95 % interval of "
        "the ratio: 0.900 to 0.900). That was the lowest in 100%"
    )
    assert "fairly sure" in found.words[0]
    assert [row[2] for row in found.sheet.rows[1:]] == [
        "0.900 (0.90 to 0.90)",
        "2.000 (2.00 to 2.00)",
    ]
    assert [row[3] for row in found.sheet.rows] == ["0%", "100%", "0%"]


def test_a_verdict_that_may_be_chance():
    rng = np.random.default_rng(0)
    found = verdict(**{name: rng.uniform(1, 2, size=30) for name in ("plain", "nested", "third")})
    assert found.sureness < 0.8
    assert "may well be chance" in found.words[0]


def test_plain_cross_validation_and_another_may_be_best_together():
    noise = np.random.default_rng(0).uniform(1, 2, size=30)
    found = verdict(plain=noise, nested=noise, third=1.05 * noise)
    assert found.best == ["kCV", "nested kCV"]
    assert found.sureness == 1
    assert found.words[0].startswith(
        "'kCV', 'nested kCV' had the same and lowest mean test error; the next, 'third', was 5.0% above"
    )


def test_all_the_same():
    noise = np.random.default_rng(0).uniform(1, 2, size=30)
    found = verdict(plain=noise, nested=noise, third=noise)
    assert found.words[0].startswith("All selections led to the same test errors")


def test_no_errors_at_all():
    zeros, ones = np.zeros(4), np.ones(4)
    found = verdict(plain=zeros, nested=zeros, third=ones)
    [words] = found.words
    assert words.startswith(
        "'kCV', 'nested kCV' had the same and lowest mean test error: none at all. That was the lowest"
    )
    assert [row[2] for row in found.sheet.rows] == ["-"] * 3
    assert [row[5] for row in found.sheet.rows] == ["-", "-", "0.500"]
    assert (
        "'nested kCV' had the lowest mean test error: none at all."
        in (verdict(plain=ones, nested=zeros, third=ones).words[0])
    )


def test_promises():
    ones = np.ones(4)
    assert verdict(plain=ones, nested=0.4 * ones, third=ones).words[1] == (
        "Promised errors: that of 'kCV' was 50.0% below its test error, that of 'nested kCV' was "
        "25.0% above its test error."
    )
