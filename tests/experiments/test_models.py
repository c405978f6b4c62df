"""One search gives what separate ones would."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.tree import DecisionTreeRegressor
from small import RIDGE, TREE, load

from steadycv import SparseRidge, StabilitySearchCV
from steadycv.experiments.models import NESTED, NESTED_OR_PLAIN, PLAIN, WEIGHTS, Model
from steadycv.experiments.splits import random_split
from steadycv.experiments.tables import rescaled_gamma, sparse_ridge_grid


def sparse_ridge():
    return SparseRidge(1, standardize=True)


MODELS = [TREE, Model("sparse ridge", sparse_ridge, sparse_ridge_grid, nested=True)]
SPLITS = [random_split(*load("a"), "a", number) for number in range(6)]


def separate(model, split, **how):
    grid = model.grid(split.X, split.y)
    search = StabilitySearchCV(model.estimator(), grid, cv=split.cv, search="coordinate", **how)
    return search.fit(split.X, split.y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("split", SPLITS)
def test_each_selection_is_that_of_a_search_of_its_own(model, split):
    outcomes = {outcome.selection: outcome for outcome in model.run(split)}
    assert tuple(outcomes) == model.selections

    plain = separate(model, split, stability_weights=0, nested=False)
    assert outcomes[PLAIN].parameters == plain.best_params_ == plain.kfold_params_
    assert outcomes[PLAIN].reported_error == plain.cv_error_
    honest = separate(model, split, stability_weights=0)
    assert outcomes[PLAIN].nested_error == honest.nested_error_

    for selection, weights in ((NESTED, WEIGHTS), (NESTED_OR_PLAIN, "auto")):
        search = separate(model, split, stability_weights=weights, rule="paper")
        found = outcomes[selection]
        assert found.parameters == search.best_params_
        assert found.weight == search.stability_weight_
        assert found.reported_error == found.nested_error == search.nested_error_
        assert found.same_choice == (search.best_params_ == plain.best_params_)
        expected = mean_squared_error(split.y_test, search.predict(split.X_test))
        assert found.test_error == pytest.approx(expected, rel=1e-12)


def test_the_choices_differ_on_some_split():
    # Otherwise the test above would not show much.
    nested = [TREE.run(split)[1] for split in SPLITS]
    assert {outcome.same_choice for outcome in nested} == {True, False}


def test_plain_model_looks_at_the_whole_grid():
    split = SPLITS[0]
    [outcome] = RIDGE.run(split)
    errors = {}
    for alpha in (0.1, 1.0, 10.0):
        folds = []
        for t in range(5):
            model = Ridge(alpha=alpha).fit(split.X[split.folds != t], split.y[split.folds != t])
            residual = model.predict(split.X[split.folds == t]) - split.y[split.folds == t]
            folds.append(np.mean(residual**2))
        errors[alpha] = np.mean(folds)
    best = min(errors, key=errors.get)
    assert outcome.parameters == {"alpha": best}
    assert outcome.reported_error == pytest.approx(errors[best], rel=1e-9)
    assert np.isnan(outcome.weight)
    assert np.isnan(outcome.nested_error)
    assert outcome.sparsity == 3


def test_final_model_has_the_rescaled_gamma():
    split = SPLITS[0]
    model = Model("sparse ridge", sparse_ridge, sparse_ridge_grid, nested=True, adjust=rescaled_gamma)
    for outcome in model.run(split):
        gamma, sparsity = outcome.parameters["gamma"], outcome.parameters["sparsity"]
        final = SparseRidge(sparsity, 0.8 * gamma, standardize=True).fit(split.X, split.y)
        expected = mean_squared_error(split.y_test, final.predict(split.X_test))
        assert outcome.test_error == pytest.approx(expected, rel=1e-9)
        assert outcome.sparsity == sparsity


def test_trees_have_no_sparsity():
    assert all(np.isnan(outcome.sparsity) for outcome in TREE.run(SPLITS[0]))
    assert isinstance(TREE.estimator(), DecisionTreeRegressor)
