"""Pictures of nested predictions show what scikit-learn's own displays show of the same predictions."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    PredictionErrorDisplay,
    RocCurveDisplay,
)
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from steadycv import NestedDisplay, StabilitySearchCV
from steadycv.explain import column_importance

mpl.use("Agg")
NUMBERS = load_diabetes(return_X_y=True)
CLASSES = load_breast_cancer(return_X_y=True)
CLASSES = CLASSES[0][:, :3], CLASSES[1]
FOLDS = KFold(4, shuffle=True, random_state=0)
MODEL = KNeighborsClassifier(20)


@pytest.fixture(scope="module")
def numbers():
    return StabilitySearchCV(Ridge(), {}, cv=FOLDS).fit(*NUMBERS)


@pytest.fixture(scope="module")
def classes():
    return StabilitySearchCV(MODEL, {}, cv=FOLDS).fit(*CLASSES)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_predicted_and_actual_are_scikit_learns(numbers):
    display = NestedDisplay.from_search(numbers)
    said = cross_val_predict(Ridge(), *NUMBERS, cv=FOLDS)
    theirs = PredictionErrorDisplay.from_predictions(
        NUMBERS[1], said, kind="actual_vs_predicted", subsample=None
    )
    ours = display.artists_["rows"].get_offsets()
    expected = theirs.scatter_.get_offsets()[:, ::-1]  # they draw what is predicted from left to right
    assert_allclose(ours[np.lexsort(ours.T)], expected[np.lexsort(expected.T)])
    assert display.ax_.get_title() == "Predicted and actual"


@pytest.mark.parametrize(
    ("kind", "theirs", "line"),
    [
        ("roc", RocCurveDisplay, "line_"),
        ("precision_recall", PrecisionRecallDisplay, "line_"),
        ("calibration", CalibrationDisplay, "line_"),
    ],
)
def test_curves_are_scikit_learns(classes, kind, theirs, line):
    said = cross_val_predict(MODEL, *CLASSES, cv=FOLDS, method="predict_proba")[:, 1]
    options = {"n_bins": 10, "strategy": "quantile"} if kind == "calibration" else {}
    expected = getattr(theirs.from_predictions(CLASSES[1], said, **options), line).get_xydata()
    drawn = NestedDisplay.from_search(classes, kind=kind).artists_["curves"]
    ours = np.unique(drawn[0].get_xydata(), axis=0)
    assert_allclose(ours, np.unique(expected, axis=0))
    assert len(drawn) == (1 if kind == "calibration" else 5)


def test_confusions_are_scikit_learns(classes):
    said = cross_val_predict(MODEL, *CLASSES, cv=FOLDS)
    theirs = ConfusionMatrixDisplay.from_predictions(CLASSES[1], said)
    display = NestedDisplay.from_search(classes)
    texts = [text.get_text() for text in display.artists_["numbers"]]
    assert texts == [f"{n}" for n in theirs.confusion_matrix.ravel()]
    shares = theirs.confusion_matrix / theirs.confusion_matrix.sum(axis=1, keepdims=True)
    assert_allclose(display.artists_["mesh"].get_array(), shares)


def test_learning_curve_of_a_score_is_of_scores():
    search = StabilitySearchCV(Ridge(), {}, cv=FOLDS, scoring="r2").fit(*NUMBERS)
    display = NestedDisplay.from_search(search, kind="learning")
    end = display.artists_["mean"].get_ydata()[-1]
    assert end == pytest.approx(-search.promise_)
    assert display.artists_["mean"].get_xdata()[-1] == pytest.approx(75, abs=0.2)


def test_rows_in_time_order_are_called_that():
    search = StabilitySearchCV(Ridge(), {}, cv=TimeSeriesSplit(5)).fit(*NUMBERS)
    display = NestedDisplay.from_search(search, kind="rows")
    assert display.ax_.get_title() == "Errors of single rows, in time order"
    rows = display.artists_["rows"].get_offsets()
    expected = NUMBERS[1] - search.nested_predictions_
    assert_allclose(rows[:, 1], expected[np.isfinite(expected)])


def test_models_stand_by_how_much_worse_they_are(numbers):
    tree = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2]}, cv=FOLDS).fit(*NUMBERS)
    display = NestedDisplay.from_search({"tree": tree, "ridge": numbers})
    points = display.artists_["differences"].lines[0].get_xydata()
    assert_allclose(points, [[0, 1], [tree.promise_ - numbers.promise_, 0]])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert [label.split(" ")[0] for label in labels] == ["ridge", "tree"]


def test_columns_stand_by_what_they_are_worth(numbers):
    importance = column_importance(numbers, *NUMBERS)
    display = NestedDisplay.from_search(numbers, kind="importance", importance=importance)
    widths = [bar.get_width() for bar in display.artists_["means"]]
    assert_array_equal(widths, sorted(importance.mean, reverse=True))
    assert len(display.artists_["folds"]) == 4


def test_what_cannot_be_drawn_says_why(numbers, classes):
    for kind, why in (
        ("roc", "probabilities of two classes"),
        ("confusion", "predicted classes"),
        ("models", "a dict of searches"),
        ("importance", "column_importance"),
    ):
        with pytest.raises(ValueError, match=f"nothing to draw with kind='{kind}'.*{why}"):
            NestedDisplay.from_search(numbers, kind=kind)
    with pytest.raises(ValueError, match="predicted numbers"):
        NestedDisplay.from_search(classes, kind="predicted")
    with pytest.raises(ValueError, match=r"kind must be one of 'predicted', .* got 'pie'"):
        NestedDisplay.from_search(numbers, kind="pie")
    with pytest.raises(ValueError, match="the dict is empty"):
        NestedDisplay.from_search({})
    with pytest.raises(NotFittedError):
        NestedDisplay.from_search(StabilitySearchCV(LogisticRegression(), {}))
    forward = StabilitySearchCV(Ridge(), {}, cv=TimeSeriesSplit(4)).fit(*NUMBERS)
    with pytest.raises(ValueError, match="two sizes of training set"):
        NestedDisplay.from_search(forward, kind="learning")


def test_without_matplotlib_it_says_what_to_install(numbers, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"NestedDisplay needs matplotlib: pip install"):
        NestedDisplay.from_search(numbers)
