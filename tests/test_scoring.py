"""What drives a search, and every kind of scorer: with paths as without, and as GridSearchCV."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, PoissonRegressor, Ridge
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    mean_pinball_loss,
    roc_auc_score,
    top_k_accuracy_score,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import literal
from steadycv import StabilitySearchCV
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss, Scored
from steadycv.scoring import LossScorer, OwnScorer, find_judging

CV = KFold(4, shuffle=True, random_state=0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = 5 + X @ [1.0, 0.5, 0.0] + RNG.normal(size=60)
LABELS = np.array(["no", "yes"])[(X[:, 0] + 0.7 * RNG.normal(size=60) > 0).astype(int)]
THREE = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=60), [-0.5, 0.5])

REGRESSORS = {
    "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 4]}),
    "neighbors": (KNeighborsRegressor(), {"n_neighbors": [1, 4, 9]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0, 100.0]}),
    "pipeline": (
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        {"kneighborsregressor__n_neighbors": [1, 4, 9]},
    ),
}
CLASSIFIERS = {
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4]}),
    "neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 4, 9]}),
    "pipeline": (
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 4, 9]},
    ),
}


def median_miss(y, predicted):
    """A metric that nobody knows here."""
    return float(np.median(np.abs(y - predicted)))


def share_of_yes(y, labels):
    return float(np.mean((labels == "yes") == (y == "yes")) ** 2)


def function_of_numbers(estimator, X, y):
    return -float(np.abs(estimator.predict(X) - y).max())


def function_of_labels(estimator, X, y):
    shares = estimator.predict_proba(X)
    return float(shares[np.arange(len(y)), np.searchsorted(estimator.classes_, y)].mean())


def several_of_numbers(estimator, X, y):
    return {"one": function_of_numbers(estimator, X, y), "two": 1.0}


def several_of_labels(estimator, X, y):
    return {"one": function_of_labels(estimator, X, y), "two": 1.0}


MAX_ERROR = "neg_max_error" if "neg_max_error" in get_scorer_names() else "max_error"
PINBALL = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
ZERO_ONE = make_scorer(zero_one_loss, greater_is_better=False)
SCORES_OF_NUMBERS = {
    "r2": "r2",
    "max_error": MAX_ERROR,
    "explained_variance": "explained_variance",
    "neg_root_mean_squared_error": "neg_root_mean_squared_error",
    "neg_mean_squared_log_error": "neg_mean_squared_log_error",
    "neg_mean_absolute_percentage_error": "neg_mean_absolute_percentage_error",
    "pinball": PINBALL,
    "unknown metric": make_scorer(median_miss, greater_is_better=False),
    "function": function_of_numbers,
}
SCORES_OF_LABELS = {
    "roc_auc": "roc_auc",
    "average_precision": make_scorer(
        average_precision_score, pos_label="yes", response_method="predict_proba"
    ),
    "balanced_accuracy": "balanced_accuracy",
    "f1": make_scorer(f1_score, pos_label="yes"),
    "f1_macro": "f1_macro",
    "zero-one loss": ZERO_ONE,
    "unknown metric": make_scorer(share_of_yes),
    "function": function_of_labels,
}


def plain(model, y, scoring, **params):
    params = {"cv": CV, "scoring": scoring, "stability_weights": 0, "nested": False, **params}
    return StabilitySearchCV(*model, **params).fit(X, y)


def grid_search(model, y, scoring, **params):
    return GridSearchCV(*model, cv=CV, scoring=scoring, **params).fit(X, y)


def chooses_as(search, theirs, score="score"):
    scores = theirs.cv_results_[f"mean_test_{score}"]
    assert_allclose(search.cv_results_[f"mean_test_{score}"], scores, rtol=1e-10)
    ties = np.flatnonzero(scores >= scores.max() - 1e-12 * abs(scores.max()))
    assert search.best_index_ == search.kfold_index_ == ties[0]  # they take one of them by rounding
    assert theirs.best_index_ in ties


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize("scoring", SCORES_OF_NUMBERS.values(), ids=SCORES_OF_NUMBERS)
@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_scores_of_numbers_choose_as_grid_search(model, scoring, use_paths):
    theirs = grid_search(model, NUMBERS, scoring)
    chooses_as(plain(model, NUMBERS, scoring, use_paths=use_paths), theirs)


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize("scoring", SCORES_OF_LABELS.values(), ids=SCORES_OF_LABELS)
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_scores_of_labels_choose_as_grid_search(model, scoring, use_paths):
    theirs = grid_search(model, LABELS, scoring)
    chooses_as(plain(model, LABELS, scoring, use_paths=use_paths), theirs)


@pytest.mark.parametrize("use_paths", [True, False])
def test_scores_of_several_classes_choose_as_grid_search(use_paths):
    for scoring in ("top_k_accuracy", "roc_auc_ovr", "roc_auc_ovo_weighted", "f1_weighted"):
        theirs = grid_search(CLASSIFIERS["tree"], THREE, scoring)
        chooses_as(plain(CLASSIFIERS["tree"], THREE, scoring, use_paths=use_paths), theirs)


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize(
    ("models", "y", "one", "function"),
    [
        (REGRESSORS, NUMBERS, "explained_variance", several_of_numbers),
        (CLASSIFIERS, LABELS, "roc_auc", several_of_labels),
    ],
    ids=["numbers", "labels"],
)
@pytest.mark.parametrize("name", ["tree", "neighbors", "pipeline"])
def test_several_scores_choose_as_grid_search(models, name, y, one, function, use_paths):
    model = models[name]
    scoring = {"one": one, "two": function_of_numbers if y is NUMBERS else function_of_labels}
    for several in (scoring, function):
        theirs = grid_search(model, y, several, refit="one")
        search = plain(model, y, several, refit="one", use_paths=use_paths)
        chooses_as(search, theirs, "one")
        assert_allclose(search.cv_results_["mean_test_two"], theirs.cv_results_["mean_test_two"])


def nested_loop(model, y, scorer, loss):
    """The literal formula, and the mean score of what each view chose."""
    weights = [0.0, 0.5, 5.0]
    estimator, grid = model
    [(name, values)] = grid.items()
    candidates = [{name: value} for value in values]
    folds = list(CV.split(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = literal.any_splitter(
            estimator, candidates, X, y, folds, literal.LOSSES[loss], weights, score=scorer
        )
    at = weights.index(found.weight)

    def score_of(at):
        return np.mean(
            [
                scorer(
                    clone(estimator).set_params(**candidates[chosen[at]]).fit(X[train], y[train]),
                    X[test],
                    y[test],
                )
                for (train, test), chosen in zip(folds, found.outer_index.values(), strict=True)
            ]
        )

    return found, score_of(at), score_of(0)


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize(
    ("model", "y", "scoring"),
    [
        (REGRESSORS["tree"], NUMBERS, "r2"),
        (REGRESSORS["ridge"], NUMBERS, "neg_root_mean_squared_error"),
        (REGRESSORS["pipeline"], NUMBERS, function_of_numbers),
        (CLASSIFIERS["tree"], LABELS, "roc_auc"),
        (CLASSIFIERS["neighbors"], LABELS, "balanced_accuracy"),
        (CLASSIFIERS["pipeline"], LABELS, function_of_labels),
    ],
)
def test_nested_values_are_those_of_a_literal_loop(model, y, scoring, use_paths):
    scorer = scoring if callable(scoring) else get_scorer(scoring)
    loss = "zero_one" if is_classifier(model[0]) else "squared_error"
    expected, steady, of_plain = nested_loop(model, y, scorer, loss)
    search = StabilitySearchCV(
        *model,
        scoring=scoring,
        cv=CV,
        stability_weights=expected.weights,
        rule="paper",
        use_paths=use_paths,
    ).fit(X, y)
    assert search.nested_error_ == pytest.approx(expected.nested_error, rel=1e-9)
    assert search.nested_error_ == pytest.approx(-steady, rel=1e-9)
    assert search.nested_scores_["score"] == pytest.approx((steady, of_plain), rel=1e-9)
    assert_allclose(search.cv_results_["instability"], expected.instability, rtol=1e-9)
    assert_allclose(search.nested_predictions_, expected.nested_predictions, rtol=1e-9)


def test_every_reported_score_has_its_nested_value():
    model = CLASSIFIERS["tree"]
    scoring = ["roc_auc", "accuracy"]
    search = StabilitySearchCV(*model, scoring=scoring, refit="roc_auc", cv=CV).fit(X, LABELS)
    assert list(search.nested_scores_) == scoring
    assert search.nested_scores_["roc_auc"].steady == pytest.approx(-search.nested_error_)
    said = np.array(["no", "yes"])[search.nested_predictions_.argmax(axis=1)]
    by_fold = [np.mean(said[test] == LABELS[test]) for _, test in CV.split(X)]
    assert search.nested_scores_["accuracy"].steady == pytest.approx(np.mean(by_fold))


# What drives.


def judging(estimator, y, *, params=None, **how):
    search = StabilitySearchCV(estimator, {}, **how)
    scorers, _ = search._get_scorers()
    return find_judging(search, scorers, X, y, {}, params or {})


@pytest.mark.parametrize(
    ("estimator", "y", "how", "kind", "name", "loss"),
    [
        (Ridge(), NUMBERS, {}, MeanLoss, None, "squared_error"),
        (LogisticRegression(), LABELS, {}, MeanLoss, "score", "zero_one"),
        (Ridge(), NUMBERS, {"loss": "absolute_error"}, MeanLoss, None, "absolute_error"),
        (Ridge(), NUMBERS, {"scoring": "r2"}, Scored, "score", "squared_error"),
        (
            Ridge(),
            NUMBERS,
            {"scoring": "r2", "loss": "absolute_error"},
            Scored,
            "score",
            "absolute_error",
        ),
        (Ridge(), NUMBERS, {"scoring": "neg_mean_absolute_error"}, MeanLoss, "score", "absolute_error"),
        (
            *(Ridge(), NUMBERS, {"scoring": "neg_mean_absolute_error", "loss": "squared_error"}),
            *(Scored, "score", "squared_error"),
        ),
        (LogisticRegression(), LABELS, {"scoring": "roc_auc"}, Scored, "score", "zero_one"),
        (LogisticRegression(), LABELS, {"scoring": "neg_log_loss"}, MeanLoss, "score", "log_loss"),
        (
            *(LogisticRegression(), LABELS, {"scoring": ["roc_auc", "accuracy"], "refit": "accuracy"}),
            *(MeanLoss, "accuracy", "zero_one"),
        ),
        (
            *(Ridge(), NUMBERS, {"scoring": ["r2", "max_error"], "loss": "squared_error"}),
            *(MeanLoss, None, "squared_error"),
        ),
        (Ridge(), NUMBERS, {"scoring": function_of_numbers}, Scored, "score", "squared_error"),
        (
            *(Ridge(), NUMBERS, {"scoring": several_of_numbers, "refit": "one"}),
            *(Scored, "one", "squared_error"),
        ),
    ],
)
def test_what_drives(estimator, y, how, kind, name, loss):
    if how.get("scoring") == ["r2", "max_error"]:
        how = {**how, "scoring": ["r2", MAX_ERROR]}
    found = judging(estimator, y, **how)
    assert (type(found.measure), found.name, found.loss) == (kind, name, LOSSES[loss])


def test_nothing_drives():
    with pytest.raises(
        ValueError, match=r"nothing says which of \['r2', 'neg_mean_squared_error'\] drives"
    ):
        judging(Ridge(), NUMBERS, scoring=["r2", "neg_mean_squared_error"], refit=False)


def test_classes_are_known():
    assert judging(LogisticRegression(), LABELS).classes.tolist() == ["no", "yes"]
    assert judging(LogisticRegression(), LABELS[:, np.newaxis]).classes.tolist() == ["no", "yes"]
    assert judging(Ridge(), NUMBERS).classes is None


# Scorers of one's own.


def test_own_score_takes_weights():
    weight = np.arange(60.0)
    ridge = Ridge().fit(X, NUMBERS)
    assert OwnScorer(ridge)(ridge, X, NUMBERS) == ridge.score(X, NUMBERS)
    assert OwnScorer(ridge)(ridge, X, NUMBERS, sample_weight=weight) == ridge.score(X, NUMBERS, weight)


def test_minus_the_loss():
    ridge, scorer = Ridge().fit(X, NUMBERS), LossScorer(LOSSES["squared_error"])
    assert scorer(ridge, X, NUMBERS) == pytest.approx(-np.mean((ridge.predict(X) - NUMBERS) ** 2))
    objects = scorer(ridge, X, NUMBERS.astype(object))
    assert objects == pytest.approx(scorer(ridge, X, NUMBERS))


def test_minus_the_loss_of_an_only_class():
    tree = DecisionTreeClassifier().fit(X[LABELS == "yes"], LABELS[LABELS == "yes"])
    scorer = LossScorer(LOSSES["log_loss"])
    assert scorer(tree, X[LABELS == "yes"], LABELS[LABELS == "yes"]) == pytest.approx(0)
    with pytest.raises(ValueError, match=r"classes that the estimator does not know: \['no'\]"):
        scorer(tree, X, LABELS)


def test_what_a_scorer_cannot_get_from_a_path_is_fitted():
    def depth(estimator, X, y):
        return -float(estimator.get_depth())

    search = plain(REGRESSORS["tree"], NUMBERS, depth)
    assert_array_equal(search.cv_results_["mean_test_score"], [-1, -2, -4])
    assert search.n_fits_ == (1 + 3) * 4  # the path's, and one of each


def test_top_k_with_a_function_of_ones_own():
    two = make_scorer(top_k_accuracy_score, response_method="predict_proba", k=2)
    chooses_as(plain(CLASSIFIERS["tree"], THREE, two), grid_search(CLASSIFIERS["tree"], THREE, two))


def table(search, name="score"):
    return search.cv_results_[f"mean_test_{name}"]


# Scores that are refused, as scikit-learn does.

LOG_ERROR = "neg_root_mean_squared_log_error"
STEEP = np.where(X[:, 0] > 1, 30.0, 0.0)  # a line through these is below -1 somewhere
SHRUNK = (Ridge(), {"alpha": [1e-3, 1e6]})


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_score_that_scikit_learn_refuses_has_failed():
    theirs = grid_search(SHRUNK, STEEP, LOG_ERROR, error_score=-9.0)
    ours = plain(SHRUNK, STEEP, LOG_ERROR, error_score=-9.0)
    assert ours.cv_results_["split0_test_score"][0] == -9
    assert_allclose(table(ours), table(theirs))


@pytest.mark.parametrize("scoring", [LOG_ERROR, ["r2", LOG_ERROR]])
def test_score_that_scikit_learn_refuses_is_raised(scoring):
    with pytest.raises(ValueError, match="Root Mean Squared Logarithmic Error cannot be used"):
        plain(SHRUNK, STEEP, scoring, refit="r2" if "r2" in scoring else True, error_score="raise")


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro"])
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning", "ignore:One or more:UserWarning")
def test_labels_of_a_regressor(scoring, use_paths):
    model = REGRESSORS["neighbors"]
    y = (LABELS == "yes").astype(int)
    theirs = grid_search(model, y, scoring)
    ours = plain(model, y, scoring, use_paths=use_paths)
    assert np.isfinite(table(theirs)).tolist() == [True, False, False]  # means are no labels
    assert_allclose(table(ours), table(theirs))
    with pytest.raises(
        ValueError, match=r"accuracy is not defined there: targets that are no labels \("
    ):
        plain(model, NUMBERS, "accuracy", use_paths=use_paths)


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning", "ignore:One or more:UserWarning")
def test_brier_score_of_text():
    model = CLASSIFIERS["neighbors"]
    named = make_scorer(
        brier_score_loss, response_method="predict_proba", greater_is_better=False, pos_label="yes"
    )
    both = {"right": "accuracy", "brier": "neg_brier_score", "named": named}
    theirs, ours = (search(model, LABELS, both, refit="right") for search in (grid_search, plain))
    for name in both:
        assert_allclose(table(ours, name), table(theirs, name))
    assert np.isnan(table(ours, "brier")).all()
    chooses_as(plain(model, LABELS, named), grid_search(model, LABELS, named))
    with pytest.raises(ValueError, match="loss='brier' needs no name"):
        plain(model, LABELS, "neg_brier_score")
    assert_allclose(
        -table(ours, "named"), plain(model, LABELS, None, loss="brier").cv_results_["cv_error"]
    )


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_accuracy_of_several_targets():
    two = np.stack([THREE, THREE], axis=1)
    with pytest.raises(ValueError, match="Every candidate failed"):
        plain(CLASSIFIERS["tree"], two, "accuracy")
    assert judging(DecisionTreeClassifier(), two % 2, scoring="accuracy").loss is LOSSES["zero_one"]


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_probabilities_of_several_labels_drive(scoring):
    y = make_multilabel_classification(60, n_classes=3, random_state=0)[1]
    found = judging(KNeighborsClassifier(), y, scoring=scoring)
    assert (type(found.measure), found.name, found.loss) == (Scored, "score", LOSSES["zero_one"])


@pytest.mark.parametrize("use_paths", [True, False])
def test_rows_that_cannot_be_ranked_are_left_out(use_paths):
    part = make_scorer(roc_auc_score, max_fpr=0.5, response_method="predict_proba")
    y = np.sort(THREE > 0)
    search = StabilitySearchCV(
        *CLASSIFIERS["neighbors"],
        cv=KFold(3),
        scoring=part,
        use_paths=use_paths,
        stability_weights=0,
        nested=False,
    )
    with pytest.warns(UserWarning, match=r"Left out: .* samples of one class only \(stratified"):
        search.fit(X, y)
    assert np.isfinite(table(search)).all()


# An estimator's own score.


class LikesThree(KNeighborsClassifier):
    def score(self, X, y):
        return -abs(self.n_neighbors - 4.0)


class LikesTen(Ridge):
    def score(self, X, y, sample_weight=None):
        return -abs(self.alpha - 10.0)


@pytest.mark.parametrize(
    ("estimator", "grid", "y"),
    [
        (LikesThree(), {"n_neighbors": [1, 4, 9]}, LABELS),
        (LikesTen(), {"alpha": [0.1, 10.0, 100.0]}, NUMBERS),
        (make_pipeline(StandardScaler(), LikesTen()), {"likesten__alpha": [0.1, 10.0]}, NUMBERS),
        (PoissonRegressor(), {"alpha": [0.1, 1.0, 100.0]}, NUMBERS - NUMBERS.min()),
    ],
)
def test_own_score_drives(estimator, grid, y):
    theirs, search = grid_search((estimator, grid), y, None), plain((estimator, grid), y, None)
    chooses_as(search, theirs)
    assert_allclose(search.cv_results_["cv_error"], -table(theirs))
    assert search.loss_ is LOSSES["zero_one" if is_classifier(estimator) else "squared_error"]


def test_usual_score_does_not_drive():
    assert type(judging(LogisticRegressionCV(), LABELS).measure) is MeanLoss
    assert type(judging(LogisticRegressionCV(scoring="roc_auc"), LABELS).measure) is Scored
    assert type(judging(LikesTen(), NUMBERS, loss="absolute_error").measure) is MeanLoss


# Weights.


@pytest.mark.parametrize("refit", ["area", "own"])
def test_function_among_several_takes_weights(refit):
    def own(estimator, X, y, sample_weight=None):
        return -np.average(estimator.predict(X) != y, weights=sample_weight)

    weight = RNG.uniform(size=60)
    search = StabilitySearchCV(
        *CLASSIFIERS["tree"], cv=CV, scoring={"area": "roc_auc", "own": own}, refit=refit
    )
    found = search.fit(X, LABELS, sample_weight=weight)
    zero_one = StabilitySearchCV(*CLASSIFIERS["tree"], cv=CV, loss="zero_one")
    expected = zero_one.fit(X, LABELS, sample_weight=weight).cv_results_["cv_error"]
    assert_allclose(table(found, "own"), -expected)
