"""What columns are worth is scikit-learn's permutation importance of the outer models."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVR

from steadycv import StabilitySearchCV
from steadycv.explain import column_importance

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(90, 4)), columns=["big", "none", "small", "nothing"])
Y = 3 * X["big"] - 0.7 * X["small"] + RNG.normal(scale=0.3, size=90)
FOLDS = KFold(3, shuffle=True, random_state=0)


def by_hand(models, X, y, scoring):
    found = []
    for model, (train, test) in zip(models, FOLDS.split(X), strict=True):
        model.fit(X.iloc[train], y.iloc[train])
        of_columns = permutation_importance(
            model, X.iloc[test], y.iloc[test], scoring=scoring, n_repeats=5, random_state=0
        )
        found.append(of_columns.importances_mean)
    return np.array(found)


def test_rise_of_the_error_of_what_each_view_chose():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=FOLDS).fit(X, Y)
    chosen = search.rules_[search.rule].view_candidates
    models = [Ridge(**search.cv_results_["params"][c]) for c in chosen]
    found = column_importance(search, X, Y)
    assert_allclose(found.by_view, by_hand(models, X, Y, "neg_mean_squared_error"))
    assert found.columns == list(X.columns)
    assert [found.columns[i] for i in found.order[:2]] == ["big", "small"]
    assert_allclose(found.mean, found.by_view.mean(axis=0))


def test_fall_of_the_score_that_drives():
    search = StabilitySearchCV(LogisticRegression(), {}, cv=FOLDS, scoring="roc_auc").fit(X, Y > 0)
    found = column_importance(search, X, Y > 0)
    assert_allclose(found.by_view, by_hand([LogisticRegression()] * 3, X, Y > 0, "roc_auc"))


def test_seed_decides_and_arrays_have_numbers_for_names():
    search = StabilitySearchCV(Ridge(), {}, cv=FOLDS).fit(X.to_numpy(), Y.to_numpy())
    one, same, other = (
        column_importance(search, X.to_numpy(), Y.to_numpy(), random_state=seed) for seed in (0, 0, 1)
    )
    assert_array_equal(one.by_view, same.by_view)
    assert not np.allclose(one.by_view, other.by_view)
    assert one.columns == ["column 0", "column 1", "column 2", "column 3"]


def test_weights_go_to_fits_and_to_the_judging():
    weight = np.repeat([1.0, 0.0], 45)
    search = StabilitySearchCV(Ridge(), {}, cv=FOLDS).fit(X, Y, sample_weight=weight)
    broken = Y.where(weight > 0, 1e9)
    assert_allclose(
        column_importance(search, X, Y, sample_weight=weight).by_view,
        column_importance(search, X, broken, sample_weight=weight).by_view,
    )


def test_what_cannot_be_shuffled_is_refused():
    search = StabilitySearchCV(Ridge(), {}, cv=FOLDS).fit(X, Y)
    with pytest.raises(ValueError, match="X has 89 rows, and the search was fitted on 90"):
        column_importance(search, X[:89], Y[:89])
    for other, what in (
        (csr_array(X.to_numpy()), "a sparse matrix"),
        (pl.DataFrame(X.to_dict("list")), "DataFrame"),
    ):
        with pytest.raises(TypeError, match=f"and X is {what}"):
            column_importance(search, other, Y)
    kernel = X.to_numpy() @ X.to_numpy().T
    search = StabilitySearchCV(SVR(kernel="precomputed"), {}, cv=FOLDS).fit(kernel, Y)
    with pytest.raises(TypeError, match="ndarray of samples by samples"):
        column_importance(search, kernel, Y)


def test_without_a_nested_error_there_is_none():
    search = StabilitySearchCV(Ridge(), {}, nested=False, stability_weights=0).fit(X, Y)
    with pytest.raises(AttributeError, match="no nested error with nested=False"):
        column_importance(search, X, Y)
