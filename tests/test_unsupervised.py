"""Estimators that are neither classifiers nor regressors, with and without y: a literal loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, ShrunkCovariance
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import get_scorer
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.neighbors import KernelDensity, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import literal
from steadycv import StabilitySearchCV

RNG = np.random.default_rng(0)
X = np.r_[RNG.normal(size=(20, 3)), RNG.normal(3, 1, size=(20, 3))][RNG.permutation(40)]
OUTLIERS = np.where(np.linalg.norm(X - 1.5, axis=1) > 3.4, -1, 1)
CV = KFold(4, shuffle=True, random_state=0)
WEIGHTS = [0.0, 0.5, 5.0]
PAPER = {"stability_weights": WEIGHTS, "rule": "paper"}
MODELS = {
    "density": (KernelDensity(), {"bandwidth": [0.3, 1.0, 2.0]}),
    "mixture": (GaussianMixture(random_state=0), {"n_components": [1, 2, 3]}),
    "components": (PCA(random_state=0), {"n_components": [1, 2]}),
    "covariance": (EmpiricalCovariance(), {"assume_centered": [True, False]}),
    "Ledoit and Wolf": (LedoitWolf(), {"assume_centered": [True, False]}),
    "shrunk": (ShrunkCovariance(), {"shrinkage": [0.0, 0.1, 0.9]}),
    "clusters": (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3, 5]}),
    "pipeline": (make_pipeline(StandardScaler(), PCA(random_state=0)), {"pca__n_components": [1, 2]}),
}


def literal_loop(estimator, grid, y=None, scorer=None):
    """Error minus the score; instability the change of score_samples, or of the score."""
    candidates = list(ParameterGrid(grid))
    folds = [set(test.tolist()) for _, test in CV.split(X)]
    scorer = scorer or (lambda model, X, y=None: model.score(X))

    def fitted(rows, c):
        model = clone(estimator).set_params(**candidates[c])
        return model.fit(X[rows]) if y is None else model.fit(X[rows], y[rows])

    def without(*left_out):
        return [i for i in range(40) if not any(i in folds[t] for t in left_out)]

    def error(rows, judged, c):
        judged = sorted(judged)
        return -scorer(fitted(rows, c), X[judged], *(() if y is None else (y[judged],)))

    def change(rows, reference, c):
        a, b = fitted(rows, c), fitted(reference, c)
        if hasattr(a, "score_samples"):
            return np.mean(abs(a.score_samples(X[reference]) - b.score_samples(X[reference])))
        targets = () if y is None else (y[reference],)
        return abs(scorer(a, X[reference], *targets) - scorer(b, X[reference], *targets))

    def terms(outer, c):
        inner = [t for t in range(4) if t not in outer]
        errors = [error(without(*outer, t), folds[t], c) for t in inner]
        return np.mean(errors), max(change(without(*outer, t), without(*outer), c) for t in inner)

    each = range(len(candidates))
    nested = []
    inside = [[terms([t], c) for c in each] for t in range(4)]
    for weight in WEIGHTS:
        chosen = [literal.first_smallest([e + weight * s for e, s in view]) for view in inside]
        nested.append(np.mean([error(without(t), folds[t], chosen[t]) for t in range(4)]))
    errors, instabilities = zip(*(terms([], c) for c in each), strict=True)
    return errors, instabilities, nested


def agrees(search, found):
    errors, instabilities, nested = found
    assert_allclose(search.cv_results_["cv_error"], errors, rtol=1e-9)
    assert_allclose(search.cv_results_["mean_test_score"], np.negative(errors), rtol=1e-9)
    assert_allclose(search.cv_results_["instability"], instabilities, rtol=1e-8)
    assert_allclose(search.weights_["mean_error"], nested, rtol=1e-9)
    assert search.nested_error_ == pytest.approx(min(nested))
    assert search.nested_scores_["score"].steady == pytest.approx(-min(nested))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_own_score_drives(model):
    search = StabilitySearchCV(*model, cv=CV, **PAPER).fit(X)
    agrees(search, literal_loop(*model))
    theirs = GridSearchCV(*model, cv=CV).fit(X)
    assert search.kfold_index_ == theirs.best_index_
    assert search.score(X) == search.best_estimator_.score(X)


@pytest.mark.parametrize("name", ["density", "components", "clusters"])
def test_y_is_passed_on_and_not_looked_at(name):
    with_y, without_y = (
        StabilitySearchCV(*MODELS[name], cv=CV, stability_weights=WEIGHTS).fit(X, y)
        for y in (np.arange(40) % 3, None)
    )
    assert with_y.nested_error_ == without_y.nested_error_
    assert_allclose(with_y.cv_results_["instability"], without_y.cv_results_["instability"])


def test_outliers_by_a_score():
    model = IsolationForest(n_estimators=5, random_state=0), {"max_samples": [5, 20]}
    search = StabilitySearchCV(*model, cv=CV, scoring="roc_auc", **PAPER)
    found = literal_loop(*model, y=OUTLIERS, scorer=get_scorer("roc_auc"))
    agrees(search.fit(X, OUTLIERS), found)


def test_a_score_of_ones_own():
    def inertia(estimator, X, y=None):
        return -float(estimator.transform(X).min(axis=1).sum())

    model = MODELS["clusters"]
    search = StabilitySearchCV(*model, cv=CV, scoring=inertia, **PAPER).fit(X)
    agrees(search, literal_loop(*model, scorer=inertia))


def test_parallel_and_without_nesting():
    model = MODELS["mixture"]
    serial = StabilitySearchCV(*model, cv=CV).fit(X)
    parallel = StabilitySearchCV(*model, cv=CV, n_jobs=2).fit(X)
    assert parallel.nested_error_ == serial.nested_error_
    plain = StabilitySearchCV(*model, cv=CV, nested=False, stability_weights=0).fit(X)
    assert plain.best_index_ == serial.kfold_index_


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 3]}),
        (KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
    ],
    ids=["tree", "neighbors"],
)
def test_several_targets(estimator, grid, use_paths):
    y = np.c_[X[:, 0] + RNG.normal(size=40), X[:, 1] ** 2]
    candidates, folds = list(ParameterGrid(grid)), list(CV.split(X))
    for scoring in (None, "r2", "neg_mean_absolute_error"):
        loss = "absolute_error" if scoring == "neg_mean_absolute_error" else "squared_error"
        expected = literal.any_splitter(
            *(estimator, candidates, X, y, folds, literal.LOSSES[loss], WEIGHTS),
            score=get_scorer("r2") if scoring == "r2" else None,
        )
        search = StabilitySearchCV(
            *(estimator, grid), cv=CV, scoring=scoring, use_paths=use_paths, **PAPER
        ).fit(X, y)
        assert search.nested_error_ == pytest.approx(expected.nested_error)
        assert_allclose(search.cv_results_["instability"], expected.instability)
        assert search.out_of_fold_predictions_.shape == (40, 2)
        theirs = GridSearchCV(estimator, grid, cv=CV, scoring=scoring).fit(X, y)
        assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_several_labels():
    y = np.c_[X[:, 0] > 1, X[:, 1] > 1].astype(int)
    model = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}
    for scoring in (None, "f1_macro", "accuracy"):
        search = StabilitySearchCV(*model, cv=CV, scoring=scoring).fit(X, y)
        theirs = GridSearchCV(*model, cv=CV, scoring=scoring).fit(X, y)
        assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert search.kfold_index_ == theirs.best_index_
        assert search.out_of_fold_predictions_.shape == (40, 2)
