"""The summary says what was chosen and what to expect."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KernelDensity
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.error_words import ErrorWords
from steadycv.lattice import Lattice
from steadycv.split_words import SplitWords

DATA = load_diabetes(return_X_y=True)
CLASSES = load_breast_cancer(return_X_y=True)
GRID = {"max_depth": [1, 2, 3]}


def test_both_choices_side_by_side():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)
    lines = search.summary().splitlines()
    assert lines[2].split() == ["max_depth", "2", "2"]
    assert lines[3].split()[-1] == f"{search.cv_error_:.4g}"
    assert lines[4].split()[-1] == f"{search.instability_:.4g}"
    assert lines[6].split()[-1] == f"{search.nested_error_:.4g}"
    assert f"expect an error of about {search.nested_error_:.4g}" in lines[-1]


@pytest.mark.parametrize(("weight", "instability"), [(0, "not known"), (1.0, "e+03")])
def test_without_nesting_nothing_is_promised(weight, instability):
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, nested=False, stability_weights=weight)
    text = search.fit(*DATA).summary()
    assert "nested" not in text
    assert "expect" not in text
    assert instability in text or f"{search.instability_:.4g}" in text


def test_a_grid_whose_candidates_have_different_parameters():
    grid = [{"max_depth": [1]}, {"min_samples_leaf": [5]}]
    text = (
        StabilitySearchCV(DecisionTreeRegressor(), grid, stability_weights=[1, 2]).fit(*DATA).summary()
    )
    assert "max_depth" in text
    assert "min_samples_leaf" in text


def of_classes(scoring, **options):
    options = {"stability_weights": [0, 1], **options}
    grid = {"max_depth": range(1, 8)}
    search = StabilitySearchCV(DecisionTreeClassifier(), grid, scoring=scoring, **options)
    return search.fit(*CLASSES)


def test_a_score_is_told_as_a_score():
    search = of_classes("roc_auc")
    text = search.summary()
    score = search.nested_scores_["score"].steady
    assert "CV roc_auc (promised)" in text
    assert "instability (share of wrong predictions)" in text
    assert f"{search.best_score_:.4g}" in text
    assert f"expect a roc_auc of about {score:.4g}; the CV roc_auc of the choice is" in text
    higher = search.best_score_ >= score
    assert text.endswith(f"{'higher' if higher else 'lower'} than that.")
    assert "error" not in text
    assert "-0." not in text


def share_of_ones(y, predictions):
    return np.mean(predictions == 1)


@pytest.mark.parametrize(
    ("scoring", "options", "name", "is_score"),
    [
        ("balanced_accuracy", {}, "balanced_accuracy", True),
        ({"a": "accuracy", "b": "roc_auc"}, {"refit": "b"}, "b", True),
        (make_scorer(share_of_ones), {}, "share_of_ones", True),
        (make_scorer(max_error, greater_is_better=False), {}, "max error", False),
        (lambda model, X, y: model.score(X, y), {}, "score", True),
        ("accuracy", {}, "share of wrong predictions", False),
        (None, {}, "share of wrong predictions", False),
        ("neg_log_loss", {"loss": "zero_one"}, "log loss", False),
    ],
)
def test_what_is_judged_has_a_name(scoring, options, name, is_score):
    words = ErrorWords.of(of_classes(scoring, **options))
    assert (words.name, words.is_score) == (name, is_score)


def test_models_without_targets():
    X, _ = DATA
    search = StabilitySearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}, cv=3).fit(X)
    assert ErrorWords.of(search).name == "score"
    assert f"expect a score of about {-search.nested_error_:.4g}" in search.summary()


def test_without_views_nothing_is_promised():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=2)
    with pytest.warns(UserWarning, match="No nested cross-validation"):
        text = search.fit(*DATA).summary()
    assert "nested" not in text
    assert "expect" not in text


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (KFold(4), "4 folds"),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "3 folds, 2 times"),
        (TimeSeriesSplit(4), "4 splits forward in time"),
        (ShuffleSplit(6, random_state=0), "6 splits"),
        (PredefinedSplit([-1] * 6 + [0, 0, 1, 1, 2, 2]), "3 splits"),
    ],
)
def test_splits_in_words(cv, words):
    lattice = Lattice(cv.split(range(12)), n_samples=12)
    assert SplitWords.of(lattice).in_words == words
