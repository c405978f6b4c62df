"""The mean of every loss is scikit-learn's metric; a loss never sees what it cannot take."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import make_classification, make_multilabel_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import get_scorer
from sklearn.svm import LinearSVC

from steadycv import StabilitySearchCV, pinball_loss
from steadycv.losses import LOSSES, as_response, default_loss
from steadycv.scoring import SCORES_OF_LOSSES, LossScorer

RNG = np.random.default_rng(0)
POSITIVE = RNG.gamma(2.0, size=30)
PREDICTED = RNG.gamma(2.0, size=30)


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (LOSSES["squared_error"], metrics.mean_squared_error),
        (LOSSES["absolute_error"], metrics.mean_absolute_error),
        (LOSSES["poisson_deviance"], metrics.mean_poisson_deviance),
        (LOSSES["gamma_deviance"], metrics.mean_gamma_deviance),
        (pinball_loss(0.2), lambda y, p: metrics.mean_pinball_loss(y, p, alpha=0.2)),
    ],
)
def test_mean_is_the_metric_of_regression(loss, metric):
    assert loss(POSITIVE, PREDICTED).shape == (30,)
    assert loss(POSITIVE, PREDICTED).mean() == pytest.approx(metric(POSITIVE, PREDICTED), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "accuracy"])
def test_mean_is_the_score_of_classification(scoring, n_classes):
    X, y = make_classification(60, n_informative=5, n_classes=n_classes, random_state=0)
    if scoring != "neg_brier_score":  # scikit-learn's wants 0 and 1
        y = np.array(["a", "b", "c"])[y]
    model = RandomForestClassifier(5, random_state=0).fit(X[:40], y[:40])
    name, best = SCORES_OF_LOSSES[scoring]
    score = best + LossScorer(LOSSES[name])(model, X, y)
    if scoring == "neg_brier_score" and n_classes == 3:
        truth = model.classes_ == y[:, None]
        expected = -np.mean(((model.predict_proba(X) - truth) ** 2).sum(axis=1))
    else:
        expected = get_scorer(scoring)(model, X, y)
    assert score == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["squared_error", "absolute_error", "zero_one"])
def test_several_outputs_make_one_loss_a_sample(name):
    y = RNG.integers(0, 2, size=(20, 3))
    predicted = RNG.integers(0, 2, size=(20, 3))
    expected = {
        "squared_error": metrics.mean_squared_error(y, predicted),
        "absolute_error": metrics.mean_absolute_error(y, predicted),
        "zero_one": 1 - metrics.accuracy_score(y, predicted),
    }
    assert LOSSES[name](y, predicted).mean() == pytest.approx(expected[name])


def test_small_integers_do_not_wrap_around():
    small = np.array([0, 200], dtype=np.uint8)
    assert LOSSES["squared_error"](small, small[::-1]).tolist() == [40000.0, 40000.0]


def test_a_column_is_not_spread_against_a_vector():
    X, y = make_regression(30, 3, random_state=0)
    column = StabilitySearchCV(LinearRegression(), {}).fit(X, y[:, None])
    assert column.cv_error_ == pytest.approx(
        StabilitySearchCV(LinearRegression(), {}).fit(X, y).cv_error_
    )


def test_numbers_as_objects_are_numbers():
    assert as_response(LOSSES["squared_error"], np.array([1.5, 2], dtype=object)).y.dtype == float


def test_a_class_that_training_did_not_see_costs_the_most():
    X, y = make_classification(60, n_informative=5, n_classes=3, random_state=0)
    model = LogisticRegression().fit(X[y < 2], y[y < 2])
    response = as_response(LOSSES["log_loss"], y)
    [losses] = response.losses(response.outputs(model, X)[np.newaxis])
    assert losses[y == 2] == pytest.approx(-np.log(np.finfo(float).eps))
    assert losses[y < 2].max() < 30


def test_default_losses():
    y = [0, 1, 1]
    multilabel = make_multilabel_classification(random_state=0)[1]
    assert default_loss(LinearRegression(), y) is LOSSES["squared_error"]
    assert default_loss(LogisticRegression(), y) is LOSSES["log_loss"]
    assert default_loss(LinearSVC(), y) is LOSSES["zero_one"]
    assert default_loss(RandomForestClassifier(), multilabel) is LOSSES["zero_one"]


def test_a_loss_of_ones_own():
    X, y = make_regression(40, 3, random_state=0)
    ours = StabilitySearchCV(LinearRegression(), {}, loss=lambda y, p: np.abs(p - y)).fit(X, y)
    named = StabilitySearchCV(LinearRegression(), {}, loss="absolute_error").fit(X, y)
    assert ours.cv_error_ == pytest.approx(named.cv_error_)
    assert ours.nested_error_ == pytest.approx(named.nested_error_)


class ProbabilityMissed:
    """A loss of probabilities: what the true class did not get."""

    response_method = "predict_proba"

    def __call__(self, y_true, y_pred):
        return 1 - y_pred[np.arange(len(y_true)), y_true]


def test_a_loss_of_probabilities_of_ones_own():
    X, y = make_classification(60, n_informative=5, n_classes=3, random_state=0)
    search = StabilitySearchCV(LogisticRegression(), {"C": [0.1, 1]}, loss=ProbabilityMissed()).fit(X, y)
    missed = 1 - search.out_of_fold_predictions_[np.arange(60), y]
    assert search.cv_error_ == pytest.approx(missed.mean())


def test_scorer_made_by_hand_drives():
    X, y = make_regression(40, 3, random_state=0)
    made = metrics.make_scorer(metrics.mean_absolute_error, greater_is_better=False)
    by_hand = StabilitySearchCV(LinearRegression(), {}, scoring=made).fit(X, y)
    named = StabilitySearchCV(LinearRegression(), {}, scoring="neg_mean_absolute_error").fit(X, y)
    assert by_hand.nested_error_ == named.nested_error_


def test_deviance_of_what_cannot_be_is_a_failed_fit():
    X, y = make_regression(40, 3, random_state=0)
    search = StabilitySearchCV(LinearRegression(), {}, loss="poisson_deviance")
    with pytest.raises(ValueError, match="needs predictions above 0 and targets from 0 on"):
        search.fit(X, y)
    positive = StabilitySearchCV(PoissonRegressor(), {"alpha": [0.1, 1]}, loss="poisson_deviance")
    assert positive.fit(X, np.exp(y / 100)).cv_error_ > 0


@pytest.mark.parametrize("alpha", [0, 1, -1])
def test_quantile_between_zero_and_one(alpha):
    with pytest.raises(ValueError, match=f"between 0 and 1, got {alpha}"):
        pinball_loss(alpha)
