"""Scores of many models at once are scikit-learn's, whoever else is scored with a model."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from steadycv.lattice import Lattice
from steadycv.measures import MeanLoss
from steadycv.outputs import ModelsOfPath
from steadycv.scores import find_score, loss_of, why_not_ranked
from steadycv.words import loss_name

N_MODELS, N_SAMPLES = 6, 37
LOSS = {"greater_is_better": False}
PROBABILITY = {"response_method": "predict_proba"}


class Numbers(RegressorMixin, BaseEstimator):
    """A model that says what it is given."""

    def predict(self, X):
        return X


class Labels(ClassifierMixin, Numbers):
    def __init__(self, classes_):
        self.classes_ = classes_


class Values(Labels):
    def decision_function(self, X):
        return X


class Shares(Labels):
    def predict_proba(self, X):
        return X


def scorer_of(scoring):
    return get_scorer(scoring) if isinstance(scoring, str) else scoring


def expected(scoring, model, y, outputs, weight=None):
    """What scikit-learn says of each model; NaN where it raises."""
    scorer, scores = scorer_of(scoring), []
    how = {} if weight is None else {"sample_weight": weight}
    for one in outputs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scores.append(scorer(model, one, y, **how))
            except (ValueError, ZeroDivisionError):
                scores.append(np.nan)
    return np.array(scores)


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def weights(kind, rng):
    weight = rng.random(N_SAMPLES)
    return {"none": None, "some": weight, "zeros": np.round(weight)}[kind]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=["none", "some", "zeros"])
def weight(request, rng):
    return weights(request.param, rng)


SCORES_OF_NUMBERS = {
    **{
        name: name
        for name in get_scorer_names()
        if name in ("r2", "explained_variance", "d2_absolute_error_score")
        or (name.endswith("_error") and "max" not in name)
    },
    "pinball 0.9": make_scorer(metrics.mean_pinball_loss, alpha=0.9, **LOSS),
    "d2 pinball 0.2": make_scorer(metrics.d2_pinball_score, alpha=0.2),
}
SCORES_OF_ONE_NUMBER = {
    "neg_max_error": "neg_max_error",
    "neg_mean_poisson_deviance": "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance": "neg_mean_gamma_deviance",
    **{
        f"{metric.__name__} {power}": make_scorer(metric, power=power)
        for metric in (metrics.mean_tweedie_deviance, metrics.d2_tweedie_score)
        for power in (-1, 0, 1, 1.5, 2, 3)
    },
}
SCORES_OF_LABELS = {
    **{
        name: name
        for name in get_scorer_names()
        if name.startswith(("f1", "precision", "recall", "jaccard")) and "samples" not in name
    },
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "matthews_corrcoef": "matthews_corrcoef",
    "adjusted": make_scorer(metrics.balanced_accuracy_score, adjusted=True),
    "zero_one_loss": make_scorer(metrics.zero_one_loss, **LOSS),
    "hamming_loss": make_scorer(metrics.hamming_loss, **LOSS),
    "kappa": make_scorer(metrics.cohen_kappa_score),
    "linear kappa": make_scorer(metrics.cohen_kappa_score, weights="linear"),
    "quadratic kappa": make_scorer(metrics.cohen_kappa_score, weights="quadratic"),
    "fbeta": make_scorer(metrics.fbeta_score, beta=2, average="macro", pos_label=None),
    "nothing is 1": make_scorer(
        metrics.precision_score, average="macro", zero_division=1, pos_label=None
    ),
    "nothing is NaN": make_scorer(
        metrics.recall_score, average="weighted", zero_division=np.nan, pos_label=None
    ),
}
SCORES_OF_TWO = {
    name: name
    for name in (
        *("roc_auc", "roc_auc_ovr", "roc_auc_ovo_weighted", "average_precision", "neg_log_loss"),
        *("neg_brier_score", "top_k_accuracy"),
    )
} | {
    "top 1": make_scorer(
        metrics.top_k_accuracy_score, k=1, response_method=("decision_function", "predict_proba")
    ),
    "d2 log loss": make_scorer(metrics.d2_log_loss_score, **PROBABILITY),
}
SCORES_OF_THREE = {
    name: name
    for name in (
        *("roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted"),
        *("average_precision", "neg_log_loss", "top_k_accuracy"),
    )
} | {"d2 log loss": make_scorer(metrics.d2_log_loss_score, **PROBABILITY)}
if hasattr(metrics, "d2_brier_score"):  # these came with scikit-learn 1.7 and 1.8
    SCORES_OF_TWO["d2 Brier"] = make_scorer(metrics.d2_brier_score, **PROBABILITY)
    SCORES_OF_THREE["d2 Brier"] = make_scorer(metrics.d2_brier_score, **PROBABILITY)
    SCORES_OF_THREE["neg_brier_score"] = "neg_brier_score"
    SCORES_OF_THREE["half Brier"] = make_scorer(
        metrics.brier_score_loss, scale_by_half=True, **PROBABILITY
    )


def each(scores):
    return pytest.mark.parametrize("scoring", scores.values(), ids=scores)


def numbers(rng, n_targets=1):
    shape = (N_SAMPLES,) if n_targets == 1 else (N_SAMPLES, n_targets)
    return rng.gamma(2.0, size=shape), rng.gamma(2.0, size=(N_MODELS, *shape)).round(1) + 0.1


def shares(rng, n_classes, n_models=N_MODELS, n_samples=N_SAMPLES):
    """Probabilities, many of them equal, as trees give."""
    counts = rng.integers(0, 4, (n_models, n_samples, n_classes)) + (np.arange(n_classes) == 0)
    return counts / counts.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("n_targets", [1, 3])
@each(SCORES_OF_NUMBERS)
def test_numbers(scoring, n_targets, weight, rng):
    y, outputs = numbers(rng, n_targets)
    score = find_score(scorer_of(scoring), n_targets)
    assert score.methods == ("predict",)
    close(score(y, outputs, weight), expected(scoring, Numbers(), y, outputs, weight))


@each(SCORES_OF_ONE_NUMBER)
def test_numbers_of_one_target(scoring, weight, rng):
    y, outputs = numbers(rng)
    if scoring == "neg_max_error":
        weight = None
    score = find_score(scorer_of(scoring))
    close(score(y, outputs, weight), expected(scoring, Numbers(), y, outputs, weight))
    assert find_score(scorer_of(scoring), n_targets=2) is None


@each(
    SCORES_OF_NUMBERS
    | {name: s for name, s in SCORES_OF_ONE_NUMBER.items() if not name.startswith("d2_tweedie")}
)
def test_targets_all_the_same(scoring):
    y = np.full(4, 2.0)
    outputs = np.array([y, y + 1, [1.0, 2.0, 3.0, 4.0]])
    close(find_score(scorer_of(scoring))(y, outputs), expected(scoring, Numbers(), y, outputs))


@each(SCORES_OF_NUMBERS | SCORES_OF_ONE_NUMBER)
def test_one_sample(scoring):
    y, outputs = np.array([2.0]), np.array([[1.0], [2.0]])
    close(find_score(scorer_of(scoring))(y, outputs), expected(scoring, Numbers(), y, outputs))


@pytest.mark.parametrize("bad", [-2.0, np.nan, np.inf])
@each(SCORES_OF_NUMBERS | SCORES_OF_ONE_NUMBER)
def test_what_one_model_says_is_refused(scoring, bad, rng):
    y, outputs = numbers(rng)
    outputs[2, 5] = bad
    found = find_score(scorer_of(scoring))(y, outputs)
    close(found, expected(scoring, Numbers(), y, outputs))
    assert np.isfinite(np.delete(found, 2)).all()


def test_column_of_targets_and_whole_numbers(rng):
    y, outputs = rng.integers(0, 200, (9, 1), dtype=np.uint8), rng.random((2, 9))
    score = find_score(get_scorer("neg_mean_squared_error"))
    close(score(y, outputs[..., np.newaxis]), score(y[:, 0], outputs))
    close(score(y, outputs), -np.mean((outputs - y[:, 0].astype(float)) ** 2, axis=1))


CLASSES = {
    "two": np.array([0, 1]),
    "signs": np.array([-1, 1]),
    "bool": np.array([False, True]),
    "three": np.array([0, 1, 5]),
    "floats": np.array([0.0, 1.0, 300.0]),
    "far": np.array([-7, 1, 10**6]),
    "strings": np.array(["a", "bb", "ccc"]),
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES)
@each(SCORES_OF_LABELS)
def test_labels(scoring, classes, weight, rng):
    y = classes[rng.integers(0, len(classes), N_SAMPLES)]
    outputs = classes[rng.integers(0, len(classes), (N_MODELS, N_SAMPLES))]
    outputs[0] = y
    outputs[1] = classes[-1]  # never says the others
    outputs[2, y == classes[0]] = classes[1]  # never says the first
    y[y == classes[0]] = classes[1] if weight is None else classes[0]  # nor is it ever true
    found = find_score(scorer_of(scoring))(y, outputs, weight, classes)
    close(found, expected(scoring, Labels(classes), y, outputs, weight))
    close(find_score(scorer_of(scoring))(y, outputs, weight), found)


@each(SCORES_OF_LABELS)
def test_all_samples_of_one_class(scoring):
    y, outputs = np.zeros(3, dtype=int), np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [2, 1, 0]])
    found = find_score(scorer_of(scoring))(y, outputs)
    close(found, expected(scoring, Labels(np.array([0, 1])), y, outputs))


@pytest.mark.parametrize("labels", [[1], [5, 1], [0, 7]])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("metric", [metrics.f1_score, metrics.jaccard_score])
def test_some_labels(metric, average, labels, weight, rng):
    y, outputs = rng.integers(0, 6, N_SAMPLES), rng.integers(0, 6, (N_MODELS, N_SAMPLES))
    scoring = make_scorer(metric, average=average, labels=labels)
    found = find_score(scoring)(y, outputs, weight)
    close(found, expected(scoring, Labels(np.arange(6)), y, outputs, weight))


@pytest.mark.parametrize("pos_label", ["no", "yes", "maybe"])
def test_positive_label(pos_label, weight, rng):
    classes = np.array(["no", "yes"])
    y = classes[rng.integers(0, 2, N_SAMPLES)]
    outputs = classes[rng.integers(0, 2, (N_MODELS, N_SAMPLES))]
    scoring = make_scorer(metrics.f1_score, pos_label=pos_label)
    found = find_score(scoring)(y, outputs, weight, classes)
    close(found, expected(scoring, Labels(classes), y, outputs, weight))


def test_numbers_are_no_labels():
    y, outputs = np.array([0, 1, 1]), np.array([[0.0, 1.0, 1.0], [0.1, 1.0, 1.0]])
    close(find_score(get_scorer("accuracy"))(y, outputs), [1.0, np.nan])


@pytest.mark.parametrize("classes", [[0, 1], [1, 2], [-1, 1], [False, True]], ids=str)
@each(SCORES_OF_TWO)
def test_two_classes(scoring, classes, weight, rng):
    classes, codes = np.array(classes), rng.integers(0, 2, N_SAMPLES)
    outputs = shares(rng, 2)
    y, score = classes[codes], find_score(scorer_of(scoring))
    wanted = expected(scoring, Shares(classes), y, outputs, weight)
    close(score(y, outputs, weight, classes), wanted)
    if "decision_function" in score.methods:
        decided = rng.normal(size=outputs.shape[:2]).round(1)
        wanted = expected(scoring, Values(classes), y, decided, weight)
        close(score(y, decided, weight, classes), wanted)


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_average_precision_of_a_label(pos_label, weight, rng):
    classes = np.array(["no", "yes"])
    y, outputs = classes[rng.integers(0, 2, N_SAMPLES)], shares(rng, 2)
    scoring = make_scorer(
        metrics.average_precision_score,
        response_method=("decision_function", "predict_proba"),
        pos_label=pos_label,
    )
    score = find_score(scoring)
    wanted = expected(scoring, Shares(classes), y, outputs, weight)
    close(score(y, outputs, weight, classes), wanted)
    wanted = expected(scoring, Values(classes), y, outputs[..., 0], weight)
    close(score(y, outputs[..., 0], weight, classes), wanted)


@pytest.mark.parametrize("classes", [CLASSES["three"], CLASSES["strings"]], ids=["int", "str"])
@each(SCORES_OF_THREE)
def test_three_classes(scoring, classes, weight, rng):
    if scoring == "average_precision" and classes.dtype.kind == "U":
        pytest.skip("scikit-learn looks for a class called 1")
    y, outputs = classes[rng.integers(0, 3, N_SAMPLES)], shares(rng, 3)
    found = find_score(scorer_of(scoring))(y, outputs, weight, classes)
    close(found, expected(scoring, Shares(classes), y, outputs, weight))


@pytest.mark.parametrize(
    ("scoring", "metric", "how"),
    [
        ("neg_log_loss", metrics.log_loss, LOSS),
        ("top_k_accuracy", metrics.top_k_accuracy_score, {}),
        ("roc_auc_ovr_weighted", metrics.roc_auc_score, {"multi_class": "ovr", "average": "weighted"}),
        ("roc_auc_ovo", metrics.roc_auc_score, {"multi_class": "ovo"}),
    ],
)
def test_a_class_without_samples(scoring, metric, how, rng):
    y, outputs, classes = rng.integers(0, 3, N_SAMPLES), shares(rng, 4), np.arange(4)
    told = make_scorer(metric, labels=classes, **how, **PROBABILITY)
    found = find_score(get_scorer(scoring))(y, outputs, None, classes)
    close(found, expected(told, Shares(classes), y, outputs))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("bad", [-0.1, 1 + 1e-15, 2.0, np.nan])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "roc_auc_ovr"])
def test_no_probabilities(scoring, n_classes, bad, rng):
    if n_classes == 3 and scoring == "neg_brier_score" and not hasattr(metrics, "d2_brier_score"):
        pytest.skip("scikit-learn's is of two classes")
    classes = np.arange(n_classes)
    y, outputs = classes[rng.integers(0, n_classes, N_SAMPLES)], shares(rng, n_classes)
    outputs[1, 3, 1] = bad
    found = find_score(get_scorer(scoring))(y, outputs, None, classes)
    close(found, expected(scoring, Shares(classes), y, outputs))


def test_shares_in_single_precision(rng):
    classes, y = np.arange(3), rng.integers(0, 3, N_SAMPLES)
    outputs = shares(rng, 3).astype(np.float32)
    found = find_score(get_scorer("neg_log_loss"))(y, outputs, None, classes)
    wanted = expected("neg_log_loss", Shares(classes), y, outputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)  # no probability costs 16, not 36


EVERY = (
    [(scoring, "numbers") for scoring in (SCORES_OF_NUMBERS | SCORES_OF_ONE_NUMBER).values()]
    + [(scoring, "labels") for scoring in SCORES_OF_LABELS.values()]
    + [(scoring, "two") for scoring in SCORES_OF_TWO.values()]
    + [(scoring, "three") for scoring in SCORES_OF_THREE.values()]
)


@pytest.mark.parametrize("n_samples", [5, 1001])
@pytest.mark.parametrize(("scoring", "kind"), EVERY, ids=str)
def test_a_score_depends_on_no_other_model(scoring, kind, n_samples, weight, rng):
    if weight is not None:
        weight = rng.random(n_samples)
        if scoring == "neg_max_error" or str(scoring).startswith("roc_auc_ovo"):
            pytest.skip("takes no weights")
    if kind == "numbers":
        outputs, y = rng.gamma(2.0, size=(7, n_samples)), rng.gamma(2.0, size=n_samples)
    elif kind == "labels":
        outputs, y = rng.integers(0, 2, (7, n_samples)), rng.integers(0, 2, n_samples)
        if getattr(scorer_of(scoring), "_kwargs", {}).get("average") != "binary":
            outputs *= [rng.integers(1 - 3 * i, 2 + 3 * i, n_samples) for i in range(7)]  # own labels
    else:
        n_classes = 2 if kind == "two" else 3
        y = np.arange(n_samples) % n_classes
        outputs = shares(rng, n_classes, 7, n_samples)
    score = find_score(scorer_of(scoring))
    together = score(y, outputs, weight)
    alone = [score(y, one[np.newaxis], weight)[0] for one in outputs]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, score(y, np.asfortranarray(outputs), weight))
    assert np.isfinite(together).any()


MACRO = make_scorer(metrics.fbeta_score, beta=2, average="macro")  # of 1, for scikit-learn's scorers


@pytest.mark.parametrize(
    ("scoring", "y", "weight", "classes", "why"),
    [
        ("accuracy", [], None, None, "no samples"),
        ("r2", [1, 2], [0, 0], None, "no sample has a weight"),
        ("r2", [1], None, None, "less than two samples"),
        ("r2", [1, 1], None, None, None),
        ("neg_mean_squared_log_error", [1, -1], None, None, "needs predictions and targets above -1"),
        ("neg_root_mean_squared_log_error", [-1], None, None, "a target of -1 or less"),
        ("neg_mean_gamma_deviance", [0, 1], None, None, "needs predictions and targets above 0"),
        ("neg_mean_poisson_deviance", [0, 1], None, None, None),
        ("roc_auc", [1, 1], None, [0, 1], "samples of one class only"),
        ("roc_auc", [0, 1], [0, 1], None, "samples of one class only"),
        ("roc_auc", [0, 1], None, None, None),
        ("roc_auc", [0, 1], None, [0, 1, 2], "more than two classes"),
        ("roc_auc_ovr", [0, 1], None, [0, 1, 2], "no sample of the class 2"),
        ("roc_auc_ovr_weighted", [0, 1], None, [0, 1, 2], None),
        ("roc_auc_ovo", [0, 1, 2], [1, 1, 2], None, "pairs of classes are compared without weights"),
        ("average_precision", [0, 0], None, [0, 1], "no sample of the class 1"),
        ("average_precision", [2, 3], None, None, "no class is called 1"),
        ("f1", [0, 1, 2], None, None, "more than two classes"),
        ("f1", ["a", "b"], None, None, "no class is called 1"),
        ("f1", [0, 0], None, [0, 1], None),
        ("f1_macro", [0, 1, 2], None, None, None),
        ("recall", [0, 1], [1, 0], None, "no sample of the class 1"),
        ("neg_log_loss", [1, 1], None, None, "one class only"),
        ("neg_log_loss", [1, 1], None, [0, 1], None),
        ("accuracy", [0.5, 1.0], None, None, "targets that are no labels"),
        ("accuracy", [0.0, 1.0], None, None, None),
        ("neg_brier_score", ["a", "a"], None, ["a", "b"], "of which no pos_label names one"),
        ("neg_brier_score", ["a", "b", "c"], None, None, None),
        ("neg_brier_score", [1, 2], None, None, None),
        ("average_precision", ["a", "b", "c"], None, None, "no class is called 1"),
        ("f1_macro", ["a", "b"], None, ["a", "b"], None),
        (MACRO, ["a", "b"], None, ["a", "b"], "no class is called 1"),
        (MACRO, [0, 1], None, [0, 1], None),
    ],
)
def test_why_a_score_says_nothing(scoring, y, weight, classes, why):
    told = find_score(scorer_of(scoring)).undefined(
        np.array(y), weight, None if classes is None else np.array(classes)
    )
    assert told == why or told.endswith(why)


@pytest.mark.parametrize(
    ("scoring", "y", "wanted"),
    [
        ("roc_auc", [1, 1], np.nan),
        ("average_precision", [0, 0], 0.0),
        ("recall", [0, 0], 0.0),
        ("neg_mean_gamma_deviance", [0, 1], np.nan),
        (make_scorer(metrics.d2_tweedie_score, power=1.5), [0.1, 0.1], np.nan),
        (make_scorer(metrics.d2_log_loss_score, **PROBABILITY), [1, 1], np.nan),
    ],
)
def test_score_that_says_nothing(scoring, y, wanted):
    y, outputs = np.array(y), np.array([[1, 1]])
    score = find_score(scorer_of(scoring))
    close(score(y, outputs), [wanted])
    assert score.undefined(y)


@pytest.mark.parametrize(
    "scorer",
    [
        "adjusted_rand_score",
        "f1_samples",
        lambda estimator, X, y: 0.0,
        make_scorer(lambda y, p: 0.0),
        make_scorer(metrics.roc_auc_score),  # of labels
        make_scorer(metrics.roc_auc_score, max_fpr=0.1, **PROBABILITY),
        make_scorer(metrics.log_loss, labels=[0, 1], **PROBABILITY),
        make_scorer(metrics.accuracy_score, normalize=False),
        make_scorer(metrics.accuracy_score, sample_weight=[1, 2]),
        make_scorer(metrics.mean_squared_error, multioutput="raw_values"),
        make_scorer(metrics.mean_pinball_loss, alpha=1.5),
        make_scorer(metrics.mean_tweedie_deviance, power=0.5),
        make_scorer(metrics.f1_score, average=None),
        make_scorer(metrics.f1_score, labels=[1, 1]),
    ],
)
def test_not_known_to_be_the_same(scorer):
    assert find_score(scorer_of(scorer)) is None
    assert loss_of(scorer_of(scorer)) is None


def test_usual_keywords_make_no_difference():
    made = make_scorer(metrics.r2_score, multioutput="uniform_average", force_finite=True)
    assert find_score(made) == find_score(get_scorer("r2"))


@pytest.mark.parametrize("scoring", ["roc_auc", "f1"])
def test_equal_outputs_are_scored_once(scoring, rng):
    y, score, seen = rng.integers(0, 2, N_SAMPLES), find_score(get_scorer(scoring)), []

    def value(samples, outputs, **parameters):
        seen.append(len(outputs))
        return score.value(samples, outputs, **parameters)

    models = rng.integers(0, 2, (3, N_SAMPLES)) * (0.5 if scoring == "roc_auc" else 1)
    found = replace(score, value=value)(y, models[[2, 0, 2, 1, 0]])
    assert seen == [3]
    np.testing.assert_array_equal(found, score(y, models)[[2, 0, 2, 1, 0]])


def test_scores_travel():
    for name in ("roc_auc", "neg_mean_gamma_deviance", "f1_macro"):
        score = find_score(get_scorer(name))
        assert pickle.loads(pickle.dumps(score)) == score


LOSSES_OF_NUMBERS = {
    "neg_mean_squared_error": "mean squared error",
    "neg_mean_absolute_error": "mean absolute error",
    "neg_mean_squared_log_error": "mean squared logarithmic error",
    "neg_mean_absolute_percentage_error": "mean absolute percentage error",
    "neg_mean_poisson_deviance": "mean Poisson deviance",
    "neg_mean_gamma_deviance": "mean gamma deviance",
    make_scorer(metrics.mean_pinball_loss, alpha=0.9, **LOSS): "pinball loss of the quantile 0.9",
    make_scorer(metrics.mean_pinball_loss, **LOSS): "pinball loss of the quantile 0.5",
    make_scorer(metrics.mean_pinball_loss, alpha=0, **LOSS): "pinball loss of the quantile 0",
    make_scorer(metrics.mean_pinball_loss, alpha=1.0, **LOSS): "pinball loss of the quantile 1",
    make_scorer(metrics.mean_tweedie_deviance, **LOSS): "mean squared error",
    make_scorer(metrics.mean_tweedie_deviance, power=1, **LOSS): "mean Poisson deviance",
    make_scorer(metrics.mean_tweedie_deviance, power=1.5, **LOSS): (
        "mean Tweedie deviance of the power 1.5"
    ),
    make_scorer(metrics.mean_tweedie_deviance, power=-1, **LOSS): (
        "mean Tweedie deviance of the power -1"
    ),
}


def losses_of(loss, y, outputs):
    """The losses of models at all samples, from what they say."""
    measure = MeanLoss.of(loss, y)
    every_other = np.arange(len(y)) % 2 == 0
    lattice = Lattice([(every_other, ~every_other)], len(y))
    return measure.losses(ModelsOfPath({measure.method: outputs}, np.arange(len(y))), lattice)


@pytest.mark.parametrize(("scoring", "name"), LOSSES_OF_NUMBERS.items())
def test_loss_of_numbers(scoring, name, rng):
    y, outputs = numbers(rng)
    loss, best = loss_of(scorer_of(scoring))
    assert loss_name(loss) == name
    losses = losses_of(loss, y, outputs)
    close(best - losses.mean(axis=1), expected(scoring, Numbers(), y, outputs))


@pytest.mark.parametrize("scoring", ["accuracy", make_scorer(metrics.zero_one_loss, **LOSS)])
def test_loss_of_labels(scoring, rng):
    y, outputs = rng.integers(0, 3, N_SAMPLES), rng.integers(0, 3, (N_MODELS, N_SAMPLES))
    loss, best = loss_of(scorer_of(scoring))
    losses = losses_of(loss, y, outputs)
    close(best - losses.mean(axis=1), expected(scoring, Labels(np.arange(3)), y, outputs))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_loss_of_probabilities(scoring, n_classes, rng):
    y, outputs = np.arange(N_SAMPLES) % n_classes, shares(rng, n_classes)
    loss, best = loss_of(get_scorer(scoring))
    score = find_score(get_scorer(scoring))(y, outputs)
    close(best - losses_of(loss, y, outputs).mean(axis=1), score)


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_root_mean_squared_error",
        "r2",
        make_scorer(metrics.mean_squared_error),  # says that a large error is good
        make_scorer(metrics.accuracy_score, greater_is_better=False),
    ],
)
def test_no_mean_of_losses(scoring):
    assert find_score(scorer_of(scoring)) is not None
    assert loss_of(scorer_of(scoring)) is None


@pytest.mark.parametrize("scoring", ["neg_brier_score", "d2_brier_score"])
def test_nobody_says_which_text_is_positive(scoring, rng):
    if scoring == "d2_brier_score" and not hasattr(metrics, scoring):
        pytest.skip("scikit-learn does not have it yet")
    if scoring not in get_scorer_names():
        scoring = make_scorer(metrics.d2_brier_score, **PROBABILITY)
    classes = np.array(["no", "yes"])
    y, outputs = classes[rng.integers(0, 2, N_SAMPLES)], shares(rng, 2)
    found = find_score(scorer_of(scoring))(y, outputs, None, classes)
    close(found, expected(scoring, Shares(classes), y, outputs))


PART = make_scorer(metrics.roc_auc_score, max_fpr=0.2, **PROBABILITY)
PRECISION = make_scorer(metrics.average_precision_score, average="micro", **PROBABILITY)


@pytest.mark.parametrize(
    ("scoring", "y", "weight", "why"),
    [
        (PART, [0, 0], None, "samples of one class only"),
        (PART, [0, 1], None, None),
        (PART, [0, 1], [1.0, 0.0], "samples of one class only"),
        (PRECISION, [0, 0], None, "no sample of the class 1"),
        (PRECISION, [1, 1], None, None),
        (PRECISION, [0, 2, 5], None, None),
        (PART, [[0, 1], [0, 0]], None, None),
        ("accuracy", [0, 0], None, None),
        (lambda estimator, X, y: 0.0, [0, 0], None, None),
    ],
)
def test_why_samples_cannot_be_ranked(scoring, y, weight, why):
    classes = np.array([0, 2, 5] if 5 in np.ravel(y) else [0, 1])
    weight = None if weight is None else np.array(weight)
    assert why_not_ranked(scorer_of(scoring), np.array(y), weight, classes) == why
