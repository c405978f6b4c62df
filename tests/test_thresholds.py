"""Thresholds: what the chosen score wants, judged on rows that had no say in it."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import FixedThresholdClassifier, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.svm import LinearSVC

from steadycv import StabilitySearchCV

X, Y = make_classification(600, weights=[0.85], flip_y=0.1, random_state=0)
GRID = {"C": [0.01, 1.0]}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def fitted(scoring="f1", y=Y, estimator=None, grid=GRID, cv=FOLDS, **options):
    search = StabilitySearchCV(
        estimator or LogisticRegression(), grid, scoring=scoring, cv=cv, **options
    )
    return search.fit(X, y)


@pytest.fixture(scope="module")
def search():
    return fitted()


def by_hand(search, threshold, rows):
    """The score of the folds' nested probabilities at a threshold."""
    return f1_score(Y[rows], search.nested_predictions_[rows, 1] >= threshold)


def test_each_fold_is_judged_at_a_threshold_of_the_others(search):
    found = search.threshold_
    tests = [test for _, test in FOLDS.split(X, Y)]
    scores = [by_hand(search, t, test) for t, test in zip(found.by_view, tests, strict=True)]
    assert -found.error == pytest.approx(np.mean(scores))
    for fold, threshold in enumerate(found.by_view):
        rest = [test for number, test in enumerate(tests) if number != fold]
        best = max(
            np.mean([by_hand(search, t, test) for test in rest])
            for t in np.unique(search.nested_predictions_[:, 1])
        )
        chosen = np.mean([by_hand(search, threshold, test) for test in rest])
        assert chosen > best - 0.02  # of the thresholds between all probabilities some are tried


def test_beside_a_half(search):
    found = search.threshold_
    tests = [test for _, test in FOLDS.split(X, Y)]
    assert -found.error_at_half == pytest.approx(np.mean([by_hand(search, 0.5, t) for t in tests]))
    assert found.helps == (found.error < found.error_at_half)
    at_half = search.nested_predictions_[:, 1] > 0.5
    assert found.confusion_at_half.tolist() == confusion_matrix(Y, at_half).tolist()
    assert found.confusion.sum() == len(Y)


def test_labels_of_a_fold_have_no_say_in_its_threshold(search):
    test = next(FOLDS.split(X, Y))[1]
    other = Y.copy()
    other[test] = np.random.default_rng(0).permutation(other[test])
    folds = list(FOLDS.split(X, Y))
    # One candidate: the models of fold 0's row are trained without it, and so are its choosers' targets.
    grid = {"C": [1.0]}
    before, after = (fitted(y=y, grid=grid, cv=folds).threshold_ for y in (Y, other))
    assert before.confusion.sum() == after.confusion.sum()
    changed = fitted(y=other, grid=grid, cv=folds)
    assert changed.threshold_.by_view[0] == after.by_view[0]


def test_the_model_that_is_delivered_with_it(search):
    model = search.with_threshold()
    assert isinstance(model, FixedThresholdClassifier)
    said = search.predict_proba(X)[:, 1] >= search.threshold_.value
    assert (model.predict(X) == search.classes_[said.astype(int)]).all()
    assert search.with_threshold(0.9).predict(X).sum() < model.predict(X).sum()


def test_classes_of_text_and_repeats():
    names = np.array(["no", "yes"])[Y]
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = fitted("balanced_accuracy", y=names, cv=cv)
    found = search.threshold_
    assert found.confusion.sum() == 2 * len(Y)
    assert set(search.with_threshold().predict(X)) == {"no", "yes"}
    said = search.nested_predictions_[0][:, 1] > 0.5
    assert found.confusion_at_half.sum(axis=1).tolist() == (2 * np.bincount(Y)).tolist()
    assert balanced_accuracy_score(Y, said) > 0.5


def test_a_cost_of_ones_own():
    def cost(y_true, y_pred):
        return (y_true != y_pred) * np.where(y_true == 1, 10.0, 1.0)

    found = fitted(None, loss=cost).threshold_
    assert found.value < 0.3  # it is cheap to say 1
    assert found.helps


def test_pickled(search):
    again = pickle.loads(pickle.dumps(search))
    assert again.threshold_.value == search.threshold_.value


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"scoring": "roc_auc"}, "looks at probabilities or ranks"),
        ({"scoring": "neg_log_loss"}, "looks at probabilities or ranks"),
        ({"estimator": LinearSVC(), "scoring": "f1"}, "says no probabilities"),
        ({"estimator": Ridge(), "grid": {"alpha": [1.0]}, "scoring": None}, "of two classes"),
        ({"nested": False, "stability_weights": 0.0}, "nothing is known of rows"),
    ],
)
def test_why_there_is_none(options, why):
    with pytest.raises(AttributeError, match=why):
        fitted(**options).threshold_  # noqa: B018
    assert not hasattr(pickle.loads(pickle.dumps(fitted(**options))), "threshold_")


def test_three_classes_have_none():
    search = StabilitySearchCV(LogisticRegression(max_iter=500), GRID).fit(*load_iris(return_X_y=True))
    assert not hasattr(search, "threshold_")
    assert "from a probability" not in search.summary()


def test_in_words():
    search = fitted("balanced_accuracy")
    told = " ".join(search.summary().split())
    found = search.threshold_
    [[_, false], [_, hit]] = found.confusion.tolist()
    assert found.helps
    assert (
        f"has a balanced_accuracy of {-found.error:.4g} instead of {-found.error_at_half:.4g} on rows"
        in told
    )
    assert f"of {Y.sum()} that are 1 it finds {hit} instead of" in told
    assert f"takes {false} instead of" in told


def test_a_threshold_that_does_not_help(search):
    assert not search.threshold_.helps
    assert search.summary().endswith("0.5 serves as well.")
