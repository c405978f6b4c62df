"""scikit-learn's own tools on searches and committees: output containers, diagrams, metadata."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, ShuffleSplit, TimeSeriesSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

from steadycv import SparseRidgeCV, StabilityRandomizedSearchCV, StabilitySearchCV

X, Y = load_diabetes(return_X_y=True, as_frame=True)
X, Y = X[:80], Y[:80]
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
ALPHAS = {"alpha": [0.1, 1.0]}
FITS = []


class Counted(RegressorMixin, BaseEstimator):
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        FITS.append(self.shift)
        self.mean_ = np.mean(y) + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


SEARCHES = {
    "regressor": (StabilitySearchCV(Ridge(), ALPHAS), X, Y),
    "two targets": (StabilitySearchCV(Ridge(), ALPHAS), X, np.column_stack([Y, Y])),
    "score": (StabilitySearchCV(Ridge(), ALPHAS, scoring="r2"), X, Y),
    "several scores": (
        StabilitySearchCV(Ridge(), ALPHAS, scoring=["r2", "explained_variance"], refit="r2"),
        X,
        Y,
    ),
    "probabilities": (StabilitySearchCV(LogisticRegression(), {"C": [0.1, 1]}), X_IRIS, Y_IRIS),
    "labels alone": (StabilitySearchCV(LinearSVC(), {"C": [0.1, 1]}), X_IRIS, Y_IRIS),
    "density": (StabilitySearchCV(GaussianMixture(), {"n_components": [1, 2]}), X_IRIS, None),
    "committee": (StabilitySearchCV(Ridge(), ALPHAS, deliver="committee"), X, Y),
    "time": (StabilitySearchCV(Ridge(), ALPHAS, cv=TimeSeriesSplit(5)), X, Y),
    "one split": (StabilitySearchCV(Ridge(), ALPHAS, cv=ShuffleSplit(1, random_state=0)), X, Y),
    "not nested": (StabilitySearchCV(Ridge(), ALPHAS, nested=False, stability_weights=0.0), X, Y),
    "no refit": (StabilitySearchCV(Ridge(), ALPHAS, refit=False), X, Y),
    "own refit": (StabilitySearchCV(Ridge(), ALPHAS, refit=lambda results: 0), X, Y),
    "race": (StabilitySearchCV(Ridge(), {"alpha": np.logspace(-3, 3, 9)}, race=True), X, Y),
    "drawn": (StabilityRandomizedSearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0), X, Y),
    "sparse": (SparseRidgeCV(cv=3), X, Y),
}


@pytest.fixture(params=SEARCHES)
def fitted(request):
    estimator, X, y = SEARCHES[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of splits that cannot be nested
        return estimator.fit(X, *(() if y is None else (y,)))


def test_diagram(fitted):
    html = estimator_html_repr(fitted)
    assert type(fitted).__name__ in html
    assert type(fitted).__name__ in estimator_html_repr(type(fitted)(**fitted.get_params(deep=False)))


def test_all_that_is_listed_is_there(fitted):
    names = dir(fitted)
    assert "predict" in names or not hasattr(fitted, "predict")
    for name in names:
        getattr(fitted, name)


def test_looking_at_a_search_fits_nothing():
    search = StabilitySearchCV(Counted(), {"shift": [0.0, 1.0]}).fit(X, Y)
    FITS.clear()
    estimator_html_repr(search)
    assert dir(search)
    assert FITS == []
    assert "outer_committee_" not in dir(search)
    assert len(search.outer_committee_.estimators_) == len(FITS) == 5


def test_output_containers_go_through_pipelines():
    scaled = make_pipeline(StandardScaler(), DecisionTreeRegressor()).set_output(transform="pandas")
    search = StabilitySearchCV(scaled, {"decisiontreeregressor__max_depth": [1, 2]}).fit(X, Y)
    assert list(search.best_estimator_[-1].feature_names_in_) == list(X.columns)
    assert list(search.feature_names_in_) == list(X.columns)


def test_transform_gives_what_the_estimator_gives():
    score = {"scoring": lambda model, X, y=None: -model.noise_variance_, "cv": 3}
    reduced = PCA().set_output(transform="pandas")
    ours = StabilitySearchCV(reduced, {"n_components": [2, 3]}, **score).fit(X)
    theirs = GridSearchCV(reduced, {"n_components": [2, 3]}, **score).fit(X)
    pd.testing.assert_frame_equal(ours.transform(X), theirs.transform(X))
    with config_context(transform_output="pandas"):
        assert isinstance(ours.set_params(estimator=PCA()).fit(X).transform(X), pd.DataFrame)


@pytest.mark.parametrize("estimator", [Ridge(), LogisticRegression(), GaussianMixture()])
def test_tags_are_those_of_grid_search(estimator):
    ours, theirs = (cls(estimator, {"tol": [1e-3]}) for cls in (StabilitySearchCV, GridSearchCV))
    assert (is_regressor(ours), is_classifier(ours)) == (is_regressor(theirs), is_classifier(theirs))
    assert get_tags(ours).input_tags == get_tags(theirs).input_tags
    assert get_tags(ours).estimator_type == get_tags(theirs).estimator_type


@config_context(enable_metadata_routing=True)
def test_metadata_that_is_asked_for_arrives():
    search = StabilitySearchCV(Ridge().set_fit_request(sample_weight=True), ALPHAS, cv=3)
    asked = get_routing_for_object(search)
    assert asked.consumes("fit", ["sample_weight"]) == {"sample_weight"}
    weights = np.where(np.arange(len(Y)) % 2, 1.0, 0.01)
    said, plain = (
        cross_val_predict(search, X, Y, cv=3, params=params)
        for params in ({"sample_weight": weights}, None)
    )
    assert not np.allclose(said, plain)


def test_who_asks_for_grid_search_can_be_told():
    """As yellowbrick does; in a process of its own, as it holds for all of one."""
    code = """
from sklearn.model_selection import GridSearchCV
from steadycv import StabilitySearchCV
assert not issubclass(StabilitySearchCV, GridSearchCV)
GridSearchCV.register(StabilitySearchCV)
assert isinstance(StabilitySearchCV(None, {}), GridSearchCV)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
