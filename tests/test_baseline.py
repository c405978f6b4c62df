"""The baseline, beside scikit-learn's dummies."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit, cross_val_score
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV, pinball_loss

X, Y = load_diabetes(return_X_y=True)
X2, Y2 = (each[::4] for each in load_breast_cancer(return_X_y=True))
GRID = {"max_depth": [1, 2]}
SPLITTERS = [KFold(4), ShuffleSplit(3, random_state=0), TimeSeriesSplit(4)]


@pytest.mark.parametrize("cv", SPLITTERS, ids=["folds", "random", "time"])
@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", "r2"])
def test_numbers(scoring, cv):
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=cv, scoring=scoring).fit(X, Y)
    dummies = {
        -cross_val_score(
            DummyRegressor(strategy=each), X, Y, scoring=scoring, cv=cv
        ).mean(): f"the {each}"
        for each in ("mean", "median")
    }
    assert search.baseline_.error == pytest.approx(min(dummies))
    assert search.baseline_.what == dummies[min(dummies)]


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "f1", "accuracy"])
def test_classes(scoring):
    search = StabilitySearchCV(DecisionTreeClassifier(), GRID, cv=4, scoring=scoring).fit(X2, Y2)
    dummy = -cross_val_score(DummyClassifier(), X2, Y2, scoring=scoring, cv=4).mean()
    expected = 1 + dummy if scoring == "accuracy" else dummy  # which is told as the share of mistakes
    assert search.baseline_.error == pytest.approx(expected)
    assert search.baseline_.what == "the base rate"


def test_several_targets_and_weights():
    both = np.column_stack([Y, Y**2])
    search = StabilitySearchCV(Ridge(), {"alpha": [1, 2]}, cv=4).fit(X, both)
    dummy = cross_val_score(DummyRegressor(), X, both, scoring="neg_mean_squared_error", cv=4)
    assert search.baseline_.error == pytest.approx(-dummy.mean())
    weight = np.arange(len(Y)) % 2  # as if every other row were not there
    weighted = StabilitySearchCV(Ridge(), {"alpha": [1, 2]}, cv=KFold(4)).fit(X, Y, sample_weight=weight)
    errors = []
    for train, test in KFold(4).split(X):
        train, test = train[weight[train] > 0], test[weight[test] > 0]
        errors.append(((Y[test] - Y[train].mean()) ** 2).mean())
    assert weighted.baseline_.error == pytest.approx(np.mean(errors))


def test_where_there_is_none():
    assert StabilitySearchCV(KMeans(n_init=1), {"n_clusters": [2, 3]}, cv=3).fit(X).baseline_ is None

    def decided(model, X, y):
        return model.decision_function(X)[y > 0].mean()

    found = StabilitySearchCV(SVC(), {"C": [1, 2]}, scoring=decided, cv=3).fit(X2, Y2)
    assert found.baseline_ is None
    assert "Predicting" not in found.summary()


def test_what_is_said():
    loss = pinball_loss(0.9)
    said = " ".join(StabilitySearchCV(Ridge(), {"alpha": [1]}, loss=loss).fit(X, Y).summary().split())
    assert "Predicting the mean has a pinball loss of the quantile 0.9 of 33" in said
    assert "% of its pinball loss of the quantile 0.9 is explained." in said
    noise = np.random.default_rng(0).normal(size=(len(Y), 2))
    deep = StabilitySearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [9, 12]}).fit(noise, Y)
    told = " ".join(deep.summary().split())
    miss = np.sqrt(deep.baseline_.error)
    assert f"Predicting the mean has a typical miss of {miss:.1f} on the same folds: no" in told
    assert deep.baseline_.explained(deep.promise_) < 0


def test_nearly_all_is_not_all():
    clear = StabilitySearchCV(Ridge(), {"alpha": [1e-9]}, cv=4).fit(X, X[:, 0])
    assert "nearly all of its mean squared error is explained." in " ".join(clear.summary().split())
