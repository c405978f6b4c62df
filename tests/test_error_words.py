"""The words for errors: as errors, or as the scores that they are minus of."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, max_error
from sklearn.tree import DecisionTreeClassifier

from steadycv import StabilitySearchCV
from steadycv.error_words import ErrorWords, with_article

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)
ERROR = ErrorWords("mean squared error")
AREA = ErrorWords("roc_auc", "roc_auc", True, "share of wrong predictions")


def words(estimator=None, grid=None, y=Y, **options):
    search = StabilitySearchCV(estimator or Ridge(), grid or {"alpha": [1.0]}, cv=4, **options)
    return ErrorWords.of(search.fit(X, y))


def quantile(model, X, y):
    return -np.quantile(np.abs(model.predict(X) - y), 0.9)


@pytest.mark.parametrize(
    ("scoring", "name", "is_score"),
    [
        (None, "mean squared error", False),
        ("neg_mean_absolute_error", "mean absolute error", False),
        ("neg_root_mean_squared_error", "root mean squared error", False),
        ("r2", "r2", True),
        (get_scorer("r2"), "r2_score", True),
        (make_scorer(max_error, greater_is_better=False), "max error", False),
        (quantile, "quantile", True),
        (lambda model, X, y: quantile(model, X, y), "score", True),
    ],
)
def test_what_is_measured(scoring, name, is_score):
    said = words(scoring=scoring)
    assert (said.name, said.is_score) == (name, is_score)


def test_one_score_of_several():
    options = {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"}
    said = words(DecisionTreeClassifier(), {"max_depth": [1, 2]}, Y > 0, **options)
    assert said == AREA


def test_scores_are_shown_as_scores():
    assert AREA.shown(-0.9) == 0.9
    assert str(AREA.shown(np.zeros(1))[0]) == "0.0"  # not minus zero
    assert ERROR.shown(3.0) == 3.0


def test_columns_that_candidates_are_compared_by():
    assert ERROR.measure("regularized_error") == "CV error + weight × instability"
    assert AREA.measure("regularized_error") == "CV roc_auc \N{MINUS SIGN} weight × instability"
    assert (AREA.best_of("cv_error"), AREA.best_of("instability")) == ("highest", "lowest")
    assert AREA.shown_measure("instability", 0.1) == 0.1


def test_disappointment():
    assert ERROR.disappointment(90.0, 100.0) == pytest.approx(0.1)
    assert AREA.disappointment(-0.9, -0.85) == pytest.approx(0.05)
    assert ERROR.disappointment(90.0, None) is None
    assert ERROR.difference(-0.123) == "12.3%"
    assert AREA.difference(-0.0512) == "0.051"


def test_what_is_too_little_to_show():
    assert ERROR.given_up(0.0001) == "less than 0.1%"
    assert ERROR.given_up(0.01) == "1.0%"


def test_names_have_articles():
    assert with_article("f1") == "an f1"


def test_the_smallest_gap_that_is_shown():
    assert ERROR.difference(ERROR.least_gap) == "0.1%"  # half of it is rounded up
    assert AREA.least_gap < 1e-9
