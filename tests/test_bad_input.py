"""Bad input: each a clear error or a documented result."""

import math
import re
import warnings

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steadycv import StabilitySearchCV, generalization_bound, pinball_loss

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=N)
LABELS = np.where(Y > 0, "yes", "no")
RIDGE = Ridge()
GRID = {"alpha": [0.1, 1.0, 10.0]}
WORKING_SCORES = [
    "neg_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_log_loss",
    "accuracy",
    "neg_brier_score",
    "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance",
]


def search(estimator=RIDGE, grid=GRID, **params):
    return StabilitySearchCV(estimator, grid, **{"cv": 3, **params})


def refuses(message, error=ValueError):
    """The message is a part of the text, not a pattern."""
    return pytest.raises(error, match=re.escape(message))


class Fragile(Ridge):
    """Fails with alpha=1; with alpha=10, when row 0 is not in the training set."""

    def fit(self, X, y):
        if self.alpha == 1.0:
            raise RuntimeError("alpha is 1")
        if self.alpha == 10.0 and not (X == FIRST_ROW).all(axis=1).any():
            raise RuntimeError("where is row 0")
        return super().fit(X, y)


FIRST_ROW = X[0]
FAILS = {"alpha": [1.0]}
FAILS_SOMETIMES = {"alpha": [10.0]}
NON_FINITE = "ignore:One or more of the test scores are non-finite"


# The grid.


def test_empty_grid():
    with refuses("no candidates: []"):
        search(grid=[]).fit(X, Y)


def test_grid_without_axes_is_the_estimator_itself():
    """As in GridSearchCV."""
    assert search(grid={}).fit(X, Y).best_params_ == {}


def test_empty_list_of_values():
    with refuses("'alpha' need to be a non-empty sequence, got: []"):
        search(grid={"alpha": []}).fit(X, Y)


def test_single_value_instead_of_a_list():
    with refuses("'alpha' needs to be a list or a numpy array, but got 1.0", TypeError):
        search(grid={"alpha": 1.0}).fit(X, Y)


def test_unknown_parameter():
    with refuses("Invalid parameter 'beta' for estimator Ridge(). Valid parameters are: ['alpha'"):
        search(grid={"beta": [1, 2]}).fit(X, Y)


def test_neither_regressor_nor_classifier():
    with refuses("StandardScaler is neither a classifier nor a regressor, so it has no default loss"):
        search(StandardScaler(), {"with_mean": [True]}).fit(X, Y)


# The folds.


def test_fewer_samples_than_folds():
    with refuses("n_splits=25 greater than the number of samples: n_samples=24"):
        search(cv=25).fit(X, Y)


def test_two_folds_with_nesting():
    with refuses("needs 3 folds or more, got 2"):
        search(cv=2).fit(X, Y)


@pytest.mark.parametrize(("weight", "n_fits"), [(0, 3 * 2), (1.0, 3 * 3)])
def test_two_folds_without_nesting(weight, n_fits):
    fitted = search(cv=2, nested=False, stability_weights=weight, use_paths=False).fit(X, Y)
    assert fitted.n_fits_ == n_fits
    assert fitted.n_splits_ == 2


FOLDS = list(KFold(3).split(X))
NO_PARTITIONS = {
    "TimeSeriesSplit": (TimeSeriesSplit(3), "cv=TimeSeriesSplit"),
    "ShuffleSplit": (ShuffleSplit(3, random_state=0), "samples are in no fold"),
    "overlapping": (
        [FOLDS[0], (np.r_[0:4, 12:N], np.arange(4, 12))],
        "split 1 validates on samples that an earlier split",
    ),
    "the same twice": ([FOLDS[0], FOLDS[0]], "split 1 validates on samples that an earlier split"),
    "incomplete": (FOLDS[:2], "8 of 24 samples are in no fold"),
    "trains on few": (
        [(train[:5], test) for train, test in FOLDS],
        "trains on 5 and validates on 8 of 24",
    ),
    "trains on all": ([(np.arange(N), test) for _, test in FOLDS], "trains and validates on the same"),
    "PredefinedSplit with -1": (
        PredefinedSplit([-1, *[0, 1, 2] * 7, 0, 1]),
        "1 of 24 samples are in no",
    ),
}


@pytest.mark.parametrize(("cv", "message"), NO_PARTITIONS.values(), ids=NO_PARTITIONS)
def test_no_partition(cv, message):
    with refuses(message) as caught:
        search(cv=cv).fit(X, Y)
    assert "TimeSeriesSplit, ShuffleSplit and other resampling schemes do not" in str(caught.value)
    assert "KFold" in str(caught.value)


def test_repeats_of_unequal_numbers_of_folds():
    with refuses("the repeats have [3, 4] folds; all must have the same number"):
        search(cv=[*FOLDS, *KFold(4).split(X)]).fit(X, Y)


def test_no_splits():
    with refuses("gave no splits"):
        search(cv=[]).fit(X, Y)


def test_fold_without_samples():
    with refuses("split 0 has no sample to validate on"):
        search(cv=[(np.arange(N), []), *FOLDS]).fit(X, Y)


def test_folds_of_other_data():
    with refuses("24 samples"):
        search(cv=list(KFold(3).split(range(30)))).fit(X, Y)


# The data.


def with_value(array, value):
    array = array.copy()
    array.flat[5] = value
    return array


@pytest.mark.parametrize(
    ("X", "y", "quoted"),
    [
        (with_value(X, np.nan), Y, "Input X contains NaN"),
        (with_value(X, np.inf), Y, "Input X contains infinity"),
        (X, with_value(Y, np.nan), "Input y contains NaN"),
        (X, with_value(Y, np.inf), "Input y contains infinity"),
    ],
    ids=["nan in X", "inf in X", "nan in y", "inf in y"],
)
def test_estimator_refuses_data(X, y, quoted):
    with refuses("fits failed") as caught:
        search().fit(X, y)
    assert quoted in str(caught.value)


def test_estimator_takes_nan():
    trees = HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2)
    fitted = search(trees, {"max_depth": [1, 2]}).fit(with_value(X, np.nan), Y)
    assert np.isfinite(fitted.nested_error_)


def test_nan_label():
    with refuses("NaN"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of the cast
        search(LogisticRegression(), {"C": [1.0]}).fit(X, with_value(np.round(abs(Y)), np.nan))


def test_constant_y():
    """Nothing to learn, and nothing goes wrong: no error, no instability, the first candidate."""
    fitted = search().fit(X, np.full(N, 3.0))
    assert fitted.best_index_ == 0
    assert fitted.stability_weight_ == 0
    assert fitted.nested_error_ == pytest.approx(0, abs=1e-20)
    assert fitted.instability_ == pytest.approx(0, abs=1e-20)


def test_one_class_that_the_estimator_refuses():
    with refuses("All the 7 fits failed") as caught:
        search(LogisticRegression(), {"C": [1.0]}).fit(X, np.repeat("yes", N))
    assert "needs samples of at least 2 classes" in str(caught.value)


def test_one_class_that_the_estimator_takes():
    fitted = search(DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(X, np.repeat("yes", N))
    assert fitted.nested_error_ == pytest.approx(0, abs=1e-12)


def test_class_missing_from_a_training_set():
    """It was given no probability there, which costs as much as in scikit-learn's log loss."""
    y = np.repeat(["a", "b", "c", "d"], N // 4)
    fitted = search(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=KFold(4)).fit(X, y)
    assert fitted.out_of_fold_predictions_.shape == (N, 4)
    of_truth = fitted.out_of_fold_predictions_[np.arange(N), np.repeat(range(4), N // 4)]
    assert (of_truth == 0).all()
    assert fitted.cv_error_ == pytest.approx(-math.log(np.finfo(float).eps))


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score"])
def test_scores_where_a_class_is_missing(scoring):
    y = np.repeat(["a", "b", "c", "d"], N // 4)
    fitted = search(DecisionTreeClassifier(), {"max_depth": [2]}, cv=KFold(4), scoring=scoring).fit(X, y)
    assert np.isfinite(fitted.best_score_)


def test_one_class_left_in_some_training_sets():
    y = np.repeat(["no", "yes"], N // 2)
    with pytest.warns(FitFailedWarning, match="at least 2 classes"), refuses("Every candidate failed"):
        search(LogisticRegression(), {"C": [1.0, 2.0]}, cv=KFold(4)).fit(X, y)


def test_no_y():
    with refuses("requires y to be passed, but the target y is None"):
        search().fit(X)


def test_y_of_another_length():
    with refuses("inconsistent numbers of samples: [24, 20]"):
        search().fit(X, Y[:20])


def test_weights_that_sum_to_zero_in_a_fold():
    weight = np.ones(N)
    weight[8:16] = 0
    with refuses("sample weights of fold 1 (repeat 0) sum to 0"):
        search(cv=KFold(3)).fit(X, Y, sample_weight=weight)


def test_nan_in_weights():
    with refuses("sample_weight must be finite numbers from 0 on, got nan"):
        search(cv=KFold(3)).fit(X, Y, sample_weight=with_value(np.ones(N), np.nan))


def test_weights_of_another_length():
    with refuses("sample_weight"):
        search().fit(X, Y, sample_weight=np.ones(20))


@pytest.mark.parametrize("value", [-5.0, np.inf])
def test_weights_that_are_no_weights(value):
    trees = HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2)
    with refuses("sample_weight"):
        search(trees, {"max_depth": [1]}).fit(X, Y, sample_weight=with_value(np.ones(N), value))


def test_weights_that_the_estimator_does_not_take():
    with refuses("unexpected keyword argument 'sample_weight'", TypeError):
        search(KNeighborsRegressor(), {"n_neighbors": [1]}).fit(X, Y, sample_weight=np.ones(N))


# Fits that fail.


@pytest.mark.filterwarnings(NON_FINITE)
class TestFailedFits:
    def test_failed_candidate_is_not_chosen(self):
        with pytest.warns(FitFailedWarning) as caught:
            fitted = search(Fragile(), [FAILS, {"alpha": [0.1]}]).fit(X, Y)
        [message] = [str(each.message) for each in caught if each.category is FitFailedWarning]
        assert "7 fits failed out of a total of 14" in message
        assert "RuntimeError: alpha is 1" in message
        assert "{'alpha': 1.0}" in message
        assert fitted.best_params_ == {"alpha": 0.1}
        assert np.isnan(fitted.cv_results_["mean_test_score"][0])
        assert np.isnan([fitted.cv_results_[f"split{t}_test_score"][0] for t in range(3)]).all()
        assert fitted.cv_results_["rank_test_score"].tolist() == [2, 1]
        assert fitted.cv_results_["rank_regularized_error"].tolist() == [2, 1]

    def test_result_is_that_of_the_other_candidates(self):
        with pytest.warns(FitFailedWarning):
            fitted = search(Fragile(), {"alpha": [0.1, 1.0, 3.0]}).fit(X, Y)
        alone = search(Fragile(), {"alpha": [0.1, 3.0]}).fit(X, Y)
        assert fitted.best_params_ == alone.best_params_
        assert fitted.nested_error_ == alone.nested_error_
        assert fitted.stability_weight_ == alone.stability_weight_

    def test_number_is_the_score_of_a_failed_fit(self):
        with pytest.warns(FitFailedWarning, match="will be set to -2.5"):
            fitted = search(
                Fragile(), [FAILS, {"alpha": [0.1, 1e6]}], error_score=-2.5, stability_weights=0
            ).fit(X, Y)
        assert fitted.cv_results_["mean_test_score"][0] == -2.5
        assert fitted.cv_results_["rank_test_score"].tolist() == [2, 1, 3]
        assert fitted.best_params_ == {"alpha": 0.1}

    def test_number_may_make_a_failed_candidate_win(self):
        with pytest.warns(FitFailedWarning):
            fitted = search(
                Fragile(), [FAILS, {"alpha": [0.1]}], error_score=0.0, stability_weights=0, refit=False
            ).fit(X, Y)
        assert fitted.best_params_ == {"alpha": 1.0}
        assert np.isnan(fitted.out_of_fold_predictions_).all()

    def test_refit_may_choose_a_failed_candidate(self):
        """As in GridSearchCV, the error is then the estimator's."""
        with pytest.warns(FitFailedWarning), pytest.raises(RuntimeError, match="alpha is 1"):
            search(Fragile(), [FAILS, {"alpha": [0.1]}], refit=lambda _: 0).fit(X, Y)

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_error_is_raised_if_asked(self, n_jobs):
        with pytest.raises(RuntimeError, match="alpha is 1"):
            search(Fragile(), GRID, error_score="raise", n_jobs=n_jobs).fit(X, Y)

    def test_candidate_that_fails_on_some_training_sets(self):
        """Row 0 is missing from fold 0's training set, and from two more."""
        with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 14"):
            fitted = search(Fragile(), [FAILS_SOMETIMES, {"alpha": [0.1]}], cv=KFold(3)).fit(X, Y)
        scores = [fitted.cv_results_[f"split{t}_test_score"][0] for t in range(3)]
        assert np.isnan(scores).tolist() == [True, False, False]
        assert np.isnan(fitted.cv_results_["mean_test_score"][0])
        assert fitted.best_params_ == {"alpha": 0.1}
        assert fitted.cv_results_["instability"][0] == np.inf

    def test_number_for_a_candidate_that_fails_on_some_training_sets(self):
        with pytest.warns(FitFailedWarning):
            fitted = search(
                Fragile(), FAILS_SOMETIMES, cv=KFold(3), error_score=-9.0, stability_weights=0
            ).fit(X, Y)
        scores = [fitted.cv_results_[f"split{t}_test_score"][0] for t in range(3)]
        assert scores[0] == -9.0
        assert fitted.best_score_ == pytest.approx(np.mean(scores))
        assert fitted.cv_error_ == pytest.approx(-np.mean(scores))
        assert np.isnan(fitted.out_of_fold_predictions_).tolist() == [True] * 8 + [False] * 16

    def test_every_candidate_fails_somewhere(self):
        with pytest.warns(FitFailedWarning, match="where is row 0"), refuses("Every candidate failed"):
            search(Fragile(), [FAILS, FAILS_SOMETIMES], cv=KFold(3)).fit(X, Y)

    def test_all_fits_fail(self):
        with refuses("All the 7 fits failed") as caught:
            search(Fragile(), FAILS).fit(X, Y)
        assert "RuntimeError: alpha is 1" in str(caught.value)
        assert "error_score='raise'" in str(caught.value)

    def test_coordinate_search_goes_around_failures(self):
        grid = {"alpha": [0.1, 0.5, 1.0, 2.0], "fit_intercept": [True, False]}
        with pytest.warns(FitFailedWarning):
            fitted = search(Fragile(), grid, search="coordinate").fit(X, Y)
        assert fitted.best_params_["alpha"] != 1.0
        assert np.isfinite(fitted.nested_error_)

    def test_many_different_messages_are_not_all_quoted(self):
        with refuses("All the 140 fits failed") as caught:
            search(grid={"alpha": np.logspace(-2, 2, 20)}, loss=lambda y, p: y - p).fit(X, Y)
        assert str(caught.value).count("Traceback") < 10


# Losses.

BAD_LOSSES = {
    "negative": (lambda y, p: -np.abs(y - p), "a loss must not be negative, got -"),
    "nan": (lambda y, p: np.full(len(y), np.nan), "24 losses are not finite"),
    "infinite": (lambda y, p: np.where(np.arange(len(y)) == 3, np.inf, 1.0), "1 losses are not finite"),
    "a number": (lambda y, p: 1.0, "one number for each of the 24 samples, got an array of shape ()"),
    "too short": (lambda y, p: np.ones(3), "each of the 24 samples, got an array of shape (3,)"),
    "a matrix": (
        lambda y, p: np.ones((len(y), 1)),
        "each of the 24 samples, got an array of shape (24, 1)",
    ),
    "raises": (lambda y, p: 1 / 0, "ZeroDivisionError"),
    "text": (lambda y, p: "high", "could not convert string to float: 'high'"),
}


@pytest.mark.parametrize(("loss", "message"), BAD_LOSSES.values(), ids=BAD_LOSSES)
def test_bad_loss_is_a_failed_fit(loss, message):
    with refuses("fits failed") as caught:
        search(loss=loss, grid={"alpha": [1.0]}).fit(X, Y)
    assert message in str(caught.value)


def test_bad_loss_is_raised_if_asked():
    with refuses("a loss must not be negative, got -"):
        search(loss=BAD_LOSSES["negative"][0], error_score="raise").fit(X, Y)


@pytest.mark.filterwarnings(NON_FINITE)
def test_loss_that_is_bad_for_one_candidate():
    """The Poisson deviance of a prediction below zero, which only the larger slopes make."""
    y = np.exp(Y / 4)
    with pytest.warns(FitFailedWarning, match="predictions above 0"):
        fitted = search(grid={"alpha": [1e-3, 1e6]}, scoring="neg_mean_poisson_deviance").fit(X * 10, y)
    assert fitted.best_params_ == {"alpha": 1e6}


def test_unknown_loss():
    with refuses("loss='mse' is not known. Known are 'squared_error', 'absolute_error'"):
        search(loss="mse").fit(X, Y)


def test_loss_of_probabilities_that_there_are_not():
    with refuses("'LinearSVC' object has no attribute 'predict_proba'"):
        search(LinearSVC(), {"C": [1.0]}, loss="log_loss").fit(X, LABELS)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, np.nan])
def test_quantile_out_of_range(alpha):
    with refuses(f"alpha must be between 0 and 1, got {alpha!r}"):
        pinball_loss(alpha)


# Scores.


def a_score(estimator, X, y):
    return 0.5


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (Ridge(), GRID, "r2"),
        (Ridge(), GRID, a_score),
        (LogisticRegression(), {"C": [1.0]}, "roc_auc"),
        (LogisticRegression(), {"C": [1.0]}, "f1"),
    ],
)
def test_score_that_cannot_drive(estimator, grid, scoring):
    with refuses(f"scoring={scoring!r} cannot drive the selection") as caught:
        search(estimator, grid, scoring=scoring).fit(X, Y if grid is GRID else Y > 0)
    assert all(repr(name) in str(caught.value) for name in WORKING_SCORES)
    assert "pass loss=" in str(caught.value)


def test_score_that_cannot_drive_among_several():
    with refuses("scoring='r2' cannot drive"):
        search(scoring=["r2", "neg_mean_squared_error"], refit="r2").fit(X, Y)


@pytest.mark.parametrize("scoring", ["r2", a_score, ["r2"], ["r2", "neg_mean_absolute_error"]])
def test_any_score_is_reported_while_a_loss_drives(scoring):
    fitted = search(scoring=scoring, loss="squared_error", refit=False).fit(X, Y)
    plain = search().fit(X, Y)
    assert fitted.best_index_ == plain.best_index_
    assert fitted.best_score_ == -fitted.cv_error_ == pytest.approx(plain.best_score_)
    names = scoring if isinstance(scoring, list) else ["score"]
    assert all(np.isfinite(fitted.cv_results_[f"mean_test_{name}"]).all() for name in names)


def test_score_while_a_loss_drives():
    fitted = search(scoring="r2", loss="squared_error").fit(X, Y)
    assert fitted.score(X, Y) == fitted.best_estimator_.score(X, Y)


@pytest.mark.parametrize("scoring", [["r2"], ["r2", "neg_mean_absolute_error"]])
def test_score_of_a_search_with_several_scores_and_a_loss(scoring):
    """No score is the one of `score`; minus the loss that drove the choice is."""
    fitted = search(scoring=scoring, loss="squared_error").fit(X, Y)
    squared = np.mean((fitted.predict(X) - Y) ** 2)
    assert fitted.score(X, Y) == pytest.approx(-squared)


@pytest.mark.parametrize("refit", [True, False])
def test_several_scores_and_nothing_that_drives(refit):
    with refuses("refit") as caught:
        search(scoring=["neg_mean_squared_error", "neg_mean_absolute_error"], refit=refit).fit(X, Y)
    assert repr(refit) in str(caught.value) or f"{refit} was passed" in str(caught.value)


def test_several_scores_and_refit_true_says_what_to_do():
    with refuses("pass loss="):
        search(scoring=["neg_mean_squared_error", "neg_mean_absolute_error"]).fit(X, Y)


def test_refit_by_a_score_that_is_not_reported():
    with refuses("'r2' was passed"):
        search(scoring=["neg_mean_squared_error", "neg_mean_absolute_error"], refit="r2").fit(X, Y)


def test_unknown_score():
    with pytest.raises(ValueError, match=r"scoring.*'mean_squared'"):
        search(scoring="mean_squared").fit(X, Y)


@pytest.mark.filterwarnings(NON_FINITE)
def test_score_that_fails():
    def broken(estimator, X, y):
        raise RuntimeError("no score today")

    with pytest.warns(UserWarning, match="no score today") as caught:
        fitted = search(scoring=broken, loss="squared_error").fit(X, Y)
    [message] = [str(each.message) for each in caught if "no score today" in str(each.message)]
    assert "Scoring failed 9 times" in message
    assert np.isnan(fitted.cv_results_["mean_test_score"]).all()
    assert fitted.best_params_ == search().fit(X, Y).best_params_


# Weights, nesting, searches.


@pytest.mark.parametrize("weights", [-1, [0.0, -1.0], np.nan, [1.0, np.nan], np.inf, []], ids=repr)
def test_bad_weights(weights):
    with refuses(f"stability_weights must be finite numbers from 0 on, got {weights!r}"):
        search(stability_weights=weights).fit(X, Y)


def test_unknown_name_for_weights():
    with refuses("stability_weights must be 'auto', a number or numbers, got 'best'"):
        search(stability_weights="best").fit(X, Y)


@pytest.mark.parametrize("weights", ["auto", [0.0, 1.0]])
def test_several_weights_without_nesting(weights):
    with refuses("nested=False needs a single stability weight") as caught:
        search(nested=False, stability_weights=weights).fit(X, Y)
    assert repr(weights) in str(caught.value)


@pytest.mark.parametrize("weight", [0, 1.0])
def test_nested_error_without_nesting(weight):
    fitted = search(nested=False, stability_weights=weight).fit(X, Y)
    with refuses("no nested error with nested=False", AttributeError):
        fitted.nested_error_  # noqa: B018
    assert not hasattr(fitted, "nested_error_")


def test_nested_error_of_a_callable_refit():
    fitted = search(refit=lambda _: 1).fit(X, Y)
    assert fitted.best_index_ == 1
    with refuses("no nested error with a callable refit", AttributeError):
        fitted.nested_error_  # noqa: B018


def test_instability_that_is_not_known():
    fitted = search(nested=False, stability_weights=0).fit(X, Y)
    with refuses("instability is not known with nested=False and a weight of 0", AttributeError):
        fitted.instability_  # noqa: B018


def test_instability_without_nesting():
    assert search(nested=False, stability_weights=1.0).fit(X, Y).instability_ > 0


def test_unknown_search():
    with refuses("search must be 'grid' or 'coordinate', or a strategy") as caught:
        search(search="random").fit(X, Y)
    assert "got 'random'" in str(caught.value)


def chooses_what_it_did_not_ask_for(grid):
    yield [0]
    return 2


def chooses_nothing(grid):
    yield [0]


def asks_nothing(grid):
    return 0
    yield


def asks_for_what_there_is_not(grid):
    yield [3]
    return 3


def asks_for_a_negative_candidate(grid):
    yield [-1]
    return -1


@pytest.mark.parametrize(
    ("strategy", "chosen"), [(chooses_what_it_did_not_ask_for, 2), (chooses_nothing, None)]
)
def test_strategy_chooses_what_it_did_not_ask_for(strategy, chosen):
    with refuses(f"chose candidate {chosen} without asking for it"):
        search(search=strategy).fit(X, Y)


@pytest.mark.parametrize(
    ("strategy", "candidate"),
    [(asks_nothing, 0), (asks_for_what_there_is_not, 3), (asks_for_a_negative_candidate, -1)],
)
def test_strategy_that_is_wrong(strategy, candidate):
    with refuses(f"candidate {candidate}"):
        search(search=strategy).fit(X, Y)


# Use before `fit`, and the theorem.

USES = {
    "predict": lambda s: s.predict(X),
    "score": lambda s: s.score(X, Y),
    "nested_error_": lambda s: s.nested_error_,
    "instability_": lambda s: s.instability_,
    "summary": lambda s: s.summary(),
    "generalization_bound": lambda s: s.generalization_bound(1.0),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_use_before_fit(use):
    with refuses("not fitted yet", NotFittedError):
        use(search())


def test_predict_without_refit():
    with refuses("'predict'", AttributeError):
        search(refit=False).fit(X, Y).predict(X)


def test_bound_is_that_of_the_paper():
    """CV error + sqrt((M^2 + 6 M k mu) / (2 k delta)), worked out by hand."""
    bound = generalization_bound(0.5, 0.25, loss_bound=2.0, n_folds=4, delta=0.125)
    assert bound == pytest.approx(0.5 + math.sqrt((4 + 12) / 1))
    assert generalization_bound(0.5, 0.0, loss_bound=2.0, n_folds=4, delta=0.5) == 0.5 + 1.0


def test_bound_of_a_search():
    fitted = search(cv=4).fit(X, Y)
    spread = 100.0**2 + 6 * 100.0 * 4 * fitted.instability_
    expected = fitted.cv_error_ + math.sqrt(spread / (2 * 4 * 0.1))
    assert fitted.generalization_bound(100.0, delta=0.1) == pytest.approx(expected, rel=1e-12)


def test_bound_refuses_unequal_folds():
    with refuses("folds of equal size, and these have [4, 5] samples"):
        search(cv=5).fit(X, Y).generalization_bound(100.0)
    with refuses("24 samples do not make 5 equal folds"):
        generalization_bound(0.5, 0.1, loss_bound=1.0, n_folds=5, n_samples=24)


def test_bound_refuses_repeats():
    repeated = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    with refuses("the theorem is for one partition, and this search has repeats".capitalize()):
        search(cv=repeated).fit(X, Y).generalization_bound(100.0)


def test_bound_refuses_an_unknown_instability():
    with refuses("instability is not known", AttributeError):
        search(nested=False, stability_weights=0).fit(X, Y).generalization_bound(100.0)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, np.nan])
def test_bound_refuses_delta(delta):
    with refuses(f"delta must be between 0 and 1, got {delta!r}"):
        generalization_bound(0.5, 0.1, loss_bound=1.0, n_folds=5, delta=delta)


@pytest.mark.parametrize("loss_bound", [0, -1.0, np.inf, np.nan])
def test_bound_refuses_loss_bound(loss_bound):
    with refuses(f"loss_bound must be a finite number above 0, got {loss_bound!r}"):
        generalization_bound(0.5, 0.1, loss_bound=loss_bound, n_folds=5)


def test_bound_refuses_loss_bound_below_the_error():
    with refuses("loss_bound=0.4 cannot bound the losses: their mean is 0.5 already"):
        generalization_bound(0.5, 0.1, loss_bound=0.4, n_folds=5)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_bound_refuses_errors_that_are_none(value):
    with refuses(f"cv_error must be a finite number from 0 on, got {value!r}"):
        generalization_bound(value, 0.1, loss_bound=1.0, n_folds=5)
    with refuses(f"instability must be a finite number from 0 on, got {value!r}"):
        generalization_bound(0.5, value, loss_bound=1.0, n_folds=5)


def test_bound_refuses_one_fold():
    with refuses("n_folds must be 2 or more, got 1"):
        generalization_bound(0.5, 0.1, loss_bound=1.0, n_folds=1)
