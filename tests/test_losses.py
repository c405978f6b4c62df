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
from steadycv.losses import LOSSES, default_loss, tweedie
from steadycv.measures import MeanLoss
from steadycv.outputs import aligned
from steadycv.scores import loss_of
from steadycv.scoring import LossScorer

RNG = np.random.default_rng(0)
POSITIVE = RNG.gamma(2.0, size=30)
PREDICTED = RNG.gamma(2.0, size=30)


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (LOSSES["squared_error"], metrics.mean_squared_error),
        (LOSSES["absolute_error"], metrics.mean_absolute_error),
        (LOSSES["squared_log_error"], metrics.mean_squared_log_error),
        (LOSSES["absolute_percentage_error"], metrics.mean_absolute_percentage_error),
        (LOSSES["poisson_deviance"], metrics.mean_poisson_deviance),
        (LOSSES["gamma_deviance"], metrics.mean_gamma_deviance),
        (pinball_loss(0.2), lambda y, p: metrics.mean_pinball_loss(y, p, alpha=0.2)),
        (tweedie(-1), lambda y, p: metrics.mean_tweedie_deviance(y, p, power=-1)),
        (tweedie(1.5), lambda y, p: metrics.mean_tweedie_deviance(y, p, power=1.5)),
        (tweedie(3), lambda y, p: metrics.mean_tweedie_deviance(y, p, power=3)),
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
    loss, best = loss_of(get_scorer(scoring))
    score = best + LossScorer(loss)(model, X, y)
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
    assert MeanLoss.of(LOSSES["squared_error"], np.array([1.5, 2], dtype=object)).y.dtype == float


def test_a_class_that_training_did_not_see_costs_the_most():
    X, y = make_classification(60, n_informative=5, n_classes=3, random_state=0)
    model = LogisticRegression().fit(X[y < 2], y[y < 2])
    measure = MeanLoss.of(LOSSES["log_loss"], y)
    outputs = aligned(model.predict_proba(X), model.classes_, np.unique(y))
    losses = measure.loss(measure.y, outputs)
    assert losses[y == 2] == pytest.approx(-np.log(np.finfo(float).eps))
    assert losses[y < 2].max() < 30


def test_default_losses():
    assert default_loss(LinearRegression()) is LOSSES["squared_error"]
    assert default_loss(LogisticRegression()) is LOSSES["zero_one"]
    assert default_loss(LinearSVC()) is LOSSES["zero_one"]


def test_default_loss_of_several_labels():
    X, y = make_multilabel_classification(40, n_features=5, n_classes=3, random_state=0)
    forest = RandomForestClassifier(5, random_state=0)
    search = StabilitySearchCV(forest, {"max_depth": [1, 3]}, cv=3).fit(X, y)
    assert search.loss_ is LOSSES["zero_one"]
    assert search.cv_error_ == pytest.approx(1 - search.best_score_)
    assert search.out_of_fold_predictions_.shape == (40, 3)


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


def test_powers_with_names():
    names = [tweedie(power).name for power in (0, 1, 2.0)]
    assert names == ["squared_error", "poisson_deviance", "gamma_deviance"]


def test_power_that_is_none():
    with pytest.raises(ValueError, match=r"0 or less, or 1 or more, got 0\.5"):
        tweedie(0.5)


@pytest.mark.parametrize(
    ("loss", "y", "predicted", "message"),
    [
        (LOSSES["squared_log_error"], 0.0, -1.0, "predictions and targets above -1"),
        (LOSSES["squared_log_error"], -1.0, 0.0, "predictions and targets above -1"),
        (tweedie(-1), -1.0, 0.0, "of the power -1 needs predictions above 0$"),
        (tweedie(1.5), -1.0, 1.0, "predictions above 0 and targets from 0 on$"),
        (tweedie(3), 0.0, 1.0, "predictions above 0 and targets above 0$"),
    ],
)
def test_what_a_loss_does_not_take(loss, y, predicted, message):
    with pytest.raises(ValueError, match=message):
        loss(np.array([y]), np.array([predicted]))
