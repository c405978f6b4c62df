"""Sparse regression that delivers an average: one linear model, with the columns of all members."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from steadycv import SparseRidgeCV
from steadycv.sparse import SparseRidge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 8))
Y = X[:, 0] - 2 * X[:, 3] + RNG.normal(size=50)
FOLDS = KFold(4, shuffle=True, random_state=0)
GRID = {"sparsities": [1, 2, 4], "gammas": [0.1, 10.0]}


def test_a_committee_is_one_linear_model():
    model = SparseRidgeCV(**GRID, cv=FOLDS, deliver="committee").fit(X, Y)
    [params] = model.search_.delivered_.params
    members = [
        SparseRidge(**params, standardize=True).fit(X[train], Y[train]) for train, _ in FOLDS.split(X)
    ]
    assert_allclose(model.predict(X), np.mean([each.predict(X) for each in members], axis=0))
    assert_allclose(model.coef_, np.mean([each.coef_ for each in members], axis=0))
    assert_array_equal(model.support_, np.unique(np.concatenate([each.support_ for each in members])))


def test_the_choice_stays_and_the_promise_is_of_what_is_delivered():
    plain = SparseRidgeCV(**GRID, cv=FOLDS).fit(X, Y)
    student = SparseRidgeCV(**GRID, cv=FOLDS, deliver="student").fit(X, Y)
    assert (student.sparsity_, student.gamma_) == (plain.sparsity_, plain.gamma_)
    assert student.promise_ == student.search_.offers_["student"].promise
    assert isinstance(student.model_, SparseRidge)


def test_a_rescaled_penalty_is_for_a_model_of_all_rows():
    with pytest.raises(ValueError, match="rescale_gamma"):
        SparseRidgeCV(rescale_gamma=True, deliver="committee").fit(X, Y)
