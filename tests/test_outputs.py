"""Outputs: fitted models and rows of a path say the same, class by class."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steadycv.outputs import (
    FittedModel,
    ModelsOfPath,
    SeveralModels,
    aligned,
    answering,
)
from steadycv.paths.protocol import PathData

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
Y = RNG.normal(size=12)
LABELS = np.repeat(["a", "b", "c"], 4)
CLASSES = np.array(["a", "b", "c"])


def fitted(estimator, y=Y, rows=np.arange(12), classes=None):  # noqa: B008
    data = PathData(X, y, rows, X[rows], y[rows], {})
    return FittedModel(estimator.fit(X[rows], y[rows]), data, classes)


@pytest.mark.parametrize("rows", [None, np.array([3, 1])])
def test_a_fitted_model(rows):
    model = fitted(Ridge())
    expected = Ridge().fit(X, Y).predict(X if rows is None else X[rows])
    np.testing.assert_allclose(model.says(("predict",), rows), [expected])
    assert isinstance(model.model(0, rows), Ridge)


def test_what_was_said_is_not_asked_again(monkeypatch):
    model = fitted(Ridge())
    everywhere = model.says(("predict",))
    monkeypatch.setattr(Ridge, "predict", None)
    assert_array_equal(
        model.says(("decision_function", "predict"), np.array([2, 5])), everywhere[:, [2, 5]]
    )


@pytest.mark.parametrize("rows", [np.arange(12), np.arange(8), np.arange(4), np.r_[0:4, 8:12]])
def test_probabilities_of_classes_that_training_did_not_see(rows):
    model = fitted(DecisionTreeClassifier(), LABELS, rows, CLASSES)
    said = model.says(("predict_proba",))
    assert said.shape == (1, 12, 3)
    assert_array_equal(said.sum(axis=2), 1.0)
    known = np.isin(CLASSES, LABELS[rows])
    assert_array_equal(said[..., ~known], 0.0)


def test_a_path_that_does_not_know_a_class():
    said = RNG.uniform(size=(2, 12, 2))
    models = ModelsOfPath(
        {"predict_proba": said}, np.arange(8), classes=CLASSES, known=np.array(["a", "c"])
    )
    assert models.n_models == 2
    assert_array_equal(models.says(("predict_proba",))[..., [0, 2]], said)
    assert_array_equal(models.says(("predict_proba",))[..., 1], 0.0)


def test_models_of_a_path_answer_like_models():
    numbers = RNG.normal(size=(3, 12))
    models = ModelsOfPath({"predict": numbers}, np.arange(8))
    rows = np.array([4, 2])
    model, judged = models.model(1, rows), X[rows]
    model.about(judged)
    assert_array_equal(model.predict(judged), numbers[1, rows])
    with pytest.raises(ValueError, match="of the data that it was given"):
        model.predict(X)
    assert not is_classifier(model)
    with pytest.raises(AttributeError, match="A path does not know 'get_depth'"):
        model.get_depth()
    assert_array_equal(models.only(2).says(("predict",)), numbers[2:])


def test_classes_of_a_path_answer_like_a_classifier():
    models = ModelsOfPath({"predict": LABELS[np.newaxis]}, np.arange(12), classes=CLASSES)
    model = models.model(0, np.arange(12))
    assert is_classifier(model)
    assert_array_equal(model.classes_, CLASSES)
    assert not hasattr(model, "predict_proba")


def test_a_scorer_is_given_the_classes_that_training_saw():
    """As of a model that was fitted by itself."""
    said = RNG.uniform(size=(2, 12, 2))
    known = np.array(["a", "c"])
    models = ModelsOfPath({"predict_proba": said}, np.arange(8), classes=CLASSES, known=known)
    for each in (models.model(1, np.arange(12)), models.only(1).model(0, np.arange(12))):
        each.about(X)
        assert_array_equal(each.classes_, known)
        assert_array_equal(each.predict_proba(X), said[1])


@pytest.mark.parametrize(
    "name", ["accuracy", "neg_log_loss", "roc_auc_ovr", "rand_score", "matthews_corrcoef"]
)
def test_scorers_of_scikit_learn_can_ask_a_path(name):
    model = DecisionTreeClassifier(max_depth=1).fit(X, LABELS)
    outputs = {m: getattr(model, m)(X)[np.newaxis] for m in ("predict", "predict_proba")}
    replay = ModelsOfPath(outputs, np.arange(12), classes=CLASSES).model(0, np.arange(12)).about(X)
    assert get_scorer(name)(replay, X, LABELS) == get_scorer(name)(model, X, LABELS)


def test_several_models():
    models = SeveralModels([None, fitted(Ridge()), None, fitted(Ridge(alpha=9))])
    assert models.n_models == 4
    said = models.says(("predict",))
    np.testing.assert_allclose(said[3], Ridge(alpha=9).fit(X, Y).predict(X))
    assert models.only(3).model(0, None).alpha == 9
    without = models.without(np.array([True, False, True, True]))
    np.testing.assert_allclose(without.says(("predict",))[1], said[1])


def test_numbers_that_come_as_objects():
    model = fitted(KNeighborsRegressor(1), Y.astype(object))
    assert model.says(("predict",)).dtype == float
    of_path = ModelsOfPath({"predict": Y.astype(object)[np.newaxis]}, np.arange(12))
    assert of_path.says(("predict",)).dtype == float


def test_small_things():
    assert answering(LinearSVC(), ("predict_proba", "decision_function")) == "decision_function"
    assert answering(LinearSVC(), ("predict_proba",)) == "predict_proba"
    assert_array_equal(aligned(np.eye(2), np.array([1, 3]), np.array([1, 2, 3])), [[1, 0, 0], [0, 0, 1]])
