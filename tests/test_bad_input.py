"""Bad input: each a clear error or a documented result."""

import math
import re
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steadycv import StabilitySearchCV, generalization_bound, pinball_loss
from steadycv.checks import check_groups, check_weights

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


PLAIN = {"nested": False, "stability_weights": 0}


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


@pytest.mark.parametrize(
    "key", [1, None, ("alpha",), b"alpha", 0.5], ids=["integer", "None", "tuple", "bytes", "float"]
)
@pytest.mark.parametrize(
    "grid",
    [
        lambda key: {key: [1, 2]},
        lambda key: {"alpha": [1.0], key: [1, 2]},
        lambda key: [{"alpha": [1.0]}, {key: [1, 2]}],
    ],
    ids=["alone", "beside a name", "in a list"],
)
def test_key_that_is_no_name(grid, key):
    message = f"param_grid must have names of parameters as keys, got {key!r} in {{{key!r}: [1, 2]}}"
    with refuses(message, TypeError) as caught:
        search(grid=grid(key)).fit(X, Y)
    assert "Write the name as text, such as 'max_depth'" in str(caught.value)


def test_neither_regressor_nor_classifier():
    with refuses("StandardScaler has no score of its own: pass scoring=", TypeError):
        search(StandardScaler(), {"with_mean": [True]}).fit(X, Y)


# The folds.


def test_fewer_samples_than_folds():
    with refuses("n_splits=25 greater than the number of samples: n_samples=24"):
        search(cv=25).fit(X, Y)


def test_two_folds_with_nesting():
    with pytest.warns(
        UserWarning, match="No nested cross-validation: .* The plain choice is made"
    ) as said:
        fitted = search(cv=2).fit(X, Y)
    assert len(said) == 1
    assert fitted.best_index_ == fitted.kfold_index_ == search(cv=2, **PLAIN).fit(X, Y).best_index_
    assert fitted.stability_weight_ == 0
    with refuses("There is no nested error: none of these splits", AttributeError):
        fitted.nested_error_  # noqa: B018
    assert not hasattr(fitted, "nested_error_")


@pytest.mark.parametrize(("weight", "n_fits"), [(0, 3 * 2), (1.0, 3 * 3)])
def test_two_folds_without_nesting(weight, n_fits):
    fitted = search(cv=2, nested=False, stability_weights=weight, use_paths=False).fit(X, Y)
    assert fitted.n_fits_ == n_fits
    assert fitted.n_splits_ == 2


GROUP = [i % 6 for i in range(N)]
MIXED = [["a", 1, 2, 3, 4, 5][i] for i in GROUP]
HOLES = [None if i == 1 else i for i in GROUP]
MIXED_GROUPS = {
    "list": MIXED,
    "tuple": tuple(MIXED),
    "array": np.array(MIXED, dtype=object),
    "column": pd.Series(MIXED),
}
NO_LABELS = {
    "None": (HOLES, "groups[1] is None"),
    "None in text": ([None if i == 1 else str(i) for i in GROUP], "groups[1] is None"),
    "NaN": ([math.nan if i == 1 else float(i) for i in GROUP], "groups[1] is nan"),
    "NaN in text": ([math.nan if i == 1 else str(i) for i in GROUP], "groups[1] is nan"),
    "NaN in an array": (np.array([math.nan if i == 1 else i for i in GROUP]), "groups[1] is "),
    "missing in a column": (pd.Series(HOLES, dtype="Int64"), "groups[1] is <NA>"),
    "missing in categories": (pd.Series(HOLES).astype("category"), "groups[1] is nan"),
    "missing date": (np.array(HOLES, dtype="datetime64[D]"), "groups[1] is "),
}
GROUP_SPLITTERS = [GroupKFold(3), StratifiedGroupKFold(3), LeaveOneGroupOut()]


@pytest.mark.parametrize("cv", GROUP_SPLITTERS, ids=repr)
@pytest.mark.parametrize("groups", MIXED_GROUPS.values(), ids=MIXED_GROUPS)
def test_groups_of_mixed_types(groups, cv):
    """NumPy makes text of some and fails on others."""
    message = "groups must be labels of one type, got text and numbers, 'a' and 1"
    with refuses(message) as caught:
        search(LogisticRegression(), {"C": [1.0]}, cv=cv).fit(X, LABELS, groups=groups)
    assert "[str(group) for group in groups]" in str(caught.value)


@pytest.mark.parametrize("cv", GROUP_SPLITTERS, ids=repr)
@pytest.mark.parametrize(("groups", "where"), NO_LABELS.values(), ids=NO_LABELS)
def test_samples_without_a_group(groups, where, cv):
    """NumPy makes the text 'None' or 'nan' of some, which would be one group of all that are missing."""
    message = f"groups must have a label for each sample, and 4 of 24 have none: {where}"
    with refuses(message) as caught:
        search(LogisticRegression(), {"C": [1.0]}, cv=cv).fit(X, LABELS, groups=groups)
    assert "Drop these samples, or give each a label" in str(caught.value)


@pytest.mark.parametrize(
    "groups", [np.c_[GROUP, GROUP], pd.DataFrame({"a": GROUP}), [(i, i) for i in GROUP]], ids=type
)
def test_table_of_groups(groups):
    with refuses("groups must be one label for each sample, got an array of shape (24, "):
        search(cv=GroupKFold(3)).fit(X, Y, groups=groups)


@pytest.mark.parametrize(
    "label",
    [
        *(int, float, str, bool, np.int8, lambda i: i if i % 2 else float(i)),
        *(lambda i: np.datetime64("2020-01-01") + i, lambda i: date(2020, 1, 1 + i)),
        lambda i: pd.Timestamp(2020, 1, 1 + i),
    ],
)
def test_good_groups(label):
    groups = [label(i) for i in GROUP]
    check_groups(groups)
    check_groups(np.array(groups))
    check_groups(pd.Series(groups))
    check_groups(pd.Series(groups).astype("category"))


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_that_nobody_asks_for():
    """As in GridSearchCV."""
    assert search(cv=KFold(3)).fit(X, Y, groups=MIXED_GROUPS["array"]).n_splits_ == 3


FOLDS = list(KFold(3).split(X))
# No partitions, and how many views there are.
ANY_SPLITS = {
    "TimeSeriesSplit": (TimeSeriesSplit(3), 2),
    "more of TimeSeriesSplit": (TimeSeriesSplit(4), 3),
    "ShuffleSplit": (ShuffleSplit(3, random_state=0), 3),
    "overlapping": ([FOLDS[0], (np.r_[0:4, 12:N], np.arange(4, 12))], 2),
    "the same twice": ([FOLDS[0], FOLDS[0]], 0),
    "incomplete": (FOLDS[:2], 2),
    "a single one": (FOLDS[:1], 0),
    "trains on few": ([(train[:5], test) for train, test in FOLDS], 0),
    "PredefinedSplit with -1": (PredefinedSplit([-1, *[0, 1, 2] * 7, 0, 1]), 3),
    "repeats of unequal numbers of folds": ([*FOLDS, *KFold(4).split(X)], 7),
}
SAID_OF_VIEWS = {
    0: "No nested cross-validation: ",
    2: "The stability weight is 0, as 2 views cannot choose one",
}


@pytest.mark.parametrize(("cv", "n_views"), ANY_SPLITS.values(), ids=ANY_SPLITS)
def test_splits_that_are_no_partition(cv, n_views):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = search(cv=cv).fit(X, Y)
    assert [str(each.message).startswith(SAID_OF_VIEWS.get(n_views, "-")) for each in caught] == (
        [True] * (n_views < 3)
    )
    assert len(fitted.lattice_.views) == n_views
    assert hasattr(fitted, "nested_error_") == (n_views > 0)
    assert n_views >= 3 or fitted.best_index_ == fitted.kfold_index_
    plain = GridSearchCV(RIDGE, GRID, cv=cv, scoring="neg_mean_squared_error").fit(X, Y)
    assert_allclose(-fitted.cv_results_["cv_error"], plain.cv_results_["mean_test_score"])
    assert fitted.kfold_index_ == plain.best_index_


@pytest.mark.parametrize("nested", [True, False])
def test_splits_that_train_on_what_they_validate(nested):
    trains_on_all = [(np.arange(N), test) for _, test in FOLDS]
    weight = {} if nested else PLAIN
    with refuses("split 0 trains and validates on the same samples, 8 of them (sample 0 is the first)"):
        search(cv=trains_on_all, **weight).fit(X, Y)


def test_splits_that_need_many_fits():
    with pytest.warns(
        UserWarning, match="24 splits need 301 training sets for each candidate, 13 times"
    ):
        search(cv=LeaveOneOut(), scoring="neg_mean_squared_error").fit(X, Y)
    search(cv=LeaveOneOut(), scoring="neg_mean_squared_error", **PLAIN).fit(X, Y)  # and not a word


def test_no_splits():
    with refuses("gave no splits"):
        search(cv=[]).fit(X, Y)


def test_fold_without_samples():
    with refuses("split 0 has no sample to validate on"):
        search(cv=[(np.arange(N), []), *FOLDS]).fit(X, Y)


def test_nothing_to_train_on():
    with refuses("split 1 has no sample to train on"):
        search(cv=[FOLDS[0], ([], [1, 2])]).fit(X, Y)


def test_rows_below_zero():
    with refuses("split 0 has samples -1 to 23, and the data have 24 samples"):
        search(cv=[([*range(8, 24), -1], range(8)), *FOLDS]).fit(X, Y)


def test_masks():
    masks = [tuple(np.isin(range(N), rows) for rows in split) for split in FOLDS]
    assert search(cv=masks).fit(X, Y).nested_error_ == search(cv=FOLDS).fit(X, Y).nested_error_
    with refuses("cv: split 0 has a mask of 20 rows, and the data have 24 samples"):
        search(cv=[(train[:20], test) for train, test in masks]).fit(X, Y)


def test_folds_of_other_data():
    with refuses("24 samples"):
        search(cv=list(KFold(3).split(range(30)))).fit(X, Y)


# The data.


def with_value(array, value):
    array = array.copy()
    array.flat[5] = value
    return array


@pytest.mark.parametrize(
    ("X", "quoted"),
    [
        (with_value(X, np.nan), "Input X contains NaN"),
        (with_value(X, np.inf), "Input X contains infinity"),
    ],
    ids=["nan", "inf"],
)
def test_estimator_refuses_data(X, quoted):
    with refuses("fits failed") as caught:
        search().fit(X, Y)
    assert quoted in str(caught.value)


@pytest.mark.parametrize("verbose", [0, 1])
def test_failure_is_quoted_by_its_last_line(verbose, capfd):
    with refuses("fits failed") as caught:
        search(verbose=verbose).fit(with_value(X, np.nan), Y)
    assert ("Traceback" in str(caught.value)) == (verbose > 0)
    assert "ValueError: Input X contains NaN" in str(caught.value)
    assert verbose or str(caught.value).count("Input X contains NaN") == 1


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("something was fitted")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (with_value(Y, np.nan), "Input y contains NaN: y[5] is nan. Leave such samples out."),
        (with_value(Y, np.inf), "Input y contains infinity: y[5] is inf"),
        (with_value(Y, -np.inf), "Input y contains infinity: y[5] is -inf"),
        (with_value(Y.astype(object), None), "Input y contains NaN or None: y[5] is None"),
        (pd.Series(with_value(Y, np.nan)), "Input y contains NaN: y[5]"),
        (np.c_[Y, with_value(Y, np.nan)], "Input y contains NaN: y[5]"),
        (LABELS, "y is to be numbers for the regressor NeverFitted, and y[0] is"),
        (LABELS.astype(object), "y is to be numbers for the regressor NeverFitted, and y[0] is"),
    ],
    ids=["nan", "inf", "-inf", "None", "column", "table", "text", "text as objects"],
)
def test_y_is_refused_before_any_fit(y, message):
    with refuses(message):
        search(NeverFitted(), error_score="raise").fit(X, y)


@pytest.mark.parametrize("kind", [float, Decimal])
def test_numbers_as_objects(kind):
    """As in GridSearchCV."""
    neighbors, grid = KNeighborsRegressor(), {"n_neighbors": [1, 3, 5]}
    y = np.array([kind(float(value)) for value in Y], dtype=object)
    numbers = search(neighbors, grid).fit(X, Y)
    objects = search(neighbors, grid).fit(X, y)
    theirs = GridSearchCV(neighbors, grid, cv=3).fit(X, y)
    assert objects.nested_error_ == pytest.approx(numbers.nested_error_)
    assert_allclose(objects.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


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
    fitted = search(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=KFold(4), loss="log_loss")
    fitted.fit(X, y)
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
    weight[6:12] = 0
    said = "Left out: the test rows of split 1, since their sample weights sum to 0"
    with pytest.warns(UserWarning, match=said) as caught:
        fitted = search(cv=KFold(4)).fit(X, Y, sample_weight=weight)
    assert len(caught) == 1
    assert [view.split for view in fitted.lattice_.views] == [0, 2, 3]
    assert np.isfinite(fitted.nested_error_)
    assert np.isnan(fitted.cv_results_["split1_test_score"]).all()
    assert np.isfinite(fitted.cv_results_["mean_test_score"]).all()


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
    """As in GridSearchCV: bare and behind a scaler, with paths and without, before a refit."""
    bare = KNeighborsRegressor(), {"n_neighbors": [1, 2]}
    behind = make_pipeline(StandardScaler(), bare[0]), {"kneighborsregressor__n_neighbors": [1, 2]}
    for (estimator, grid), refit in product([bare, behind], [True, False]):
        for use_paths in (True, False):
            with refuses("unexpected keyword argument 'sample_weight'", TypeError) as caught:
                fitted = search(estimator, grid, use_paths=use_paths, refit=refit)
                fitted.fit(X, Y, sample_weight=np.ones(N))
            assert "fits failed" in str(caught.value)
        name = "sample_weight" if grid is bare[1] else "kneighborsregressor__sample_weight"
        with pytest.raises((TypeError, ValueError), match="unexpected keyword"):
            GridSearchCV(estimator, grid, cv=3).fit(X, Y, **{name: np.ones(N)})


# Fits that fail.


@pytest.mark.filterwarnings(NON_FINITE)
class TestFailedFits:
    BY_LOSS: ClassVar = {"scoring": "neg_mean_squared_error", "stability_weights": 0}

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
                Fragile(), [FAILS, {"alpha": [0.1, 1e6]}], error_score=-2.5, **self.BY_LOSS
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
                Fragile(), FAILS_SOMETIMES, cv=KFold(3), error_score=-9.0, **self.BY_LOSS
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
    with refuses("LinearSVC has no predict_proba, which what drives the selection asks for"):
        search(LinearSVC(), {"C": [1.0]}, loss="log_loss").fit(X, LABELS)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, np.nan])
def test_quantile_out_of_range(alpha):
    with refuses(f"alpha must be between 0 and 1, got {alpha!r}"):
        pinball_loss(alpha)


# Scores.


def a_score(estimator, X, y):
    return 0.5


DRIVING = [
    (Ridge(), GRID, "r2", Y),
    (Ridge(), GRID, a_score, Y),
    (LogisticRegression(), {"C": [1.0, 0.01]}, "roc_auc", Y > 0),
    (LogisticRegression(), {"C": [1.0, 0.01]}, "f1", Y > 0),
]


@pytest.mark.parametrize(("estimator", "grid", "scoring", "y"), DRIVING)
@pytest.mark.parametrize("loss", [None, "zero_one"])
def test_any_score_drives(estimator, grid, scoring, y, loss):
    """Also beside a loss, in which changes are then measured."""
    if loss is not None and y is Y:
        loss = "absolute_error"
    fitted = search(estimator, grid, scoring=scoring, loss=loss).fit(X, y)
    plain = GridSearchCV(estimator, grid, cv=3, scoring=scoring).fit(X, y)
    assert_allclose(fitted.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert_allclose(fitted.cv_results_["cv_error"], -plain.cv_results_["mean_test_score"])
    assert fitted.kfold_index_ == plain.best_index_
    by_loss = search(estimator, grid, loss=loss).fit(X, y)
    assert_allclose(fitted.cv_results_["instability"], by_loss.cv_results_["instability"])


def test_any_score_drives_among_several():
    fitted = search(scoring=["r2", "neg_mean_squared_error"], refit="r2").fit(X, Y)
    assert_allclose(fitted.cv_results_["cv_error"], -fitted.cv_results_["mean_test_r2"])
    assert fitted.nested_error_ == search(scoring="r2").fit(X, Y).nested_error_


def test_refit_names_the_score_that_drives_beside_a_loss():
    y = Y > 0
    logistic, grid = LogisticRegression(), {"C": [1.0, 0.01]}
    both = search(logistic, grid, scoring=["roc_auc", "accuracy"], refit="roc_auc", loss="log_loss").fit(
        X, y
    )
    alone = search(logistic, grid, scoring="roc_auc", refit="roc_auc", loss="log_loss").fit(X, y)
    assert both.nested_error_ == alone.nested_error_
    assert_array_equal(both.cv_results_["cv_error"], -both.cv_results_["mean_test_roc_auc"])
    assert both.loss_.name == "log_loss"


@pytest.mark.parametrize("loss", [None, "log_loss"])
@pytest.mark.parametrize("scoring", [["roc_auc"], ["roc_auc", "accuracy"]])
def test_refit_names_no_score(scoring, loss):
    with pytest.raises(ValueError, match="f1"):
        search(LogisticRegression(), {"C": [1.0]}, scoring=scoring, refit="f1", loss=loss).fit(X, Y > 0)


def test_refit_names_no_score_beside_a_loss():
    with refuses("refit='f1' names no score: scoring= has ['score']"):
        search(LogisticRegression(), {"C": [1.0]}, scoring="roc_auc", refit="f1", loss="log_loss").fit(
            X, Y > 0
        )


def test_loss_drives_where_nothing_names_one_of_several_scores():
    fitted = search(scoring=["r2", "neg_mean_absolute_error"], loss="squared_error").fit(X, Y)
    by_loss = search(loss="squared_error").fit(X, Y)
    assert fitted.nested_error_ == by_loss.nested_error_
    assert_array_equal(fitted.cv_results_["cv_error"], by_loss.cv_results_["cv_error"])


@pytest.mark.parametrize("scoring", [{"a": a_score, "b": "r2"}, ["r2", "neg_mean_absolute_error"]])
def test_any_score_is_reported_while_a_loss_drives(scoring):
    fitted = search(scoring=scoring, loss="squared_error", refit=False).fit(X, Y)
    plain = search().fit(X, Y)
    assert fitted.best_index_ == plain.best_index_
    assert fitted.best_score_ == -fitted.cv_error_ == pytest.approx(-plain.cv_error_)
    assert all(np.isfinite(fitted.cv_results_[f"mean_test_{name}"]).all() for name in scoring)


def test_score_while_a_loss_drives():
    fitted = search(scoring="r2", loss="squared_error").fit(X, Y)
    assert fitted.score(X, Y) == fitted.best_estimator_.score(X, Y)


@pytest.mark.parametrize("scoring", [["r2", "neg_mean_absolute_error"]])
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


def broken(estimator, X, y):
    raise RuntimeError("no score today")


@pytest.mark.filterwarnings(NON_FINITE)
def test_score_that_fails():
    with pytest.warns(UserWarning, match="no score today") as caught:
        fitted = search(scoring={"broken": broken, "r2": "r2"}, loss="squared_error").fit(X, Y)
    [message] = [str(each.message) for each in caught if "no score today" in str(each.message)]
    assert "Scoring failed 9 times" in message
    assert "Traceback" not in message
    assert np.isnan(fitted.cv_results_["mean_test_broken"]).all()
    assert np.isfinite(fitted.cv_results_["mean_test_r2"]).all()
    assert fitted.best_params_ == search().fit(X, Y).best_params_


def test_driving_score_that_always_fails():
    with pytest.warns(UserWarning, match="no score today"), refuses("Every candidate failed"):
        search(scoring=broken).fit(X, Y)
    with pytest.raises(RuntimeError, match="no score today"):
        search(scoring=broken, error_score="raise").fit(X, Y)


def fails_for_large_slopes(how):
    def score(estimator, X, y):
        if estimator.alpha == 10.0:
            return how()
        return estimator.score(X, y)

    return score


def raises():
    raise RuntimeError("no score today")


@pytest.mark.filterwarnings(NON_FINITE)
@pytest.mark.parametrize("how", [raises, lambda: np.nan], ids=["raises", "NaN"])
@pytest.mark.parametrize("use_paths", [True, False])
def test_driving_score_that_fails_for_a_candidate(how, use_paths):
    expected = search(scoring="r2", grid={"alpha": [0.1, 1.0]}).fit(X, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = search(scoring=fails_for_large_slopes(how), use_paths=use_paths).fit(X, Y)
    said = [str(each.message) for each in caught]
    assert sum("no score today" in each for each in said) == (how is raises)
    assert len(said) == 1  # that of a score that is not finite is GridSearchCV's own
    assert fitted.best_params_ == expected.best_params_
    assert fitted.nested_error_ == pytest.approx(expected.nested_error_)
    assert np.isnan(fitted.cv_results_["mean_test_score"]).tolist() == [False, False, True]
    assert fitted.cv_results_["rank_test_score"][2] == 3


@pytest.mark.parametrize(
    "score", ["good", "0.5", np.ones(3), None], ids=["text", "number", "array", "None"]
)
@pytest.mark.parametrize("error_score", [np.nan, "raise"])
@pytest.mark.parametrize("returns", [lambda score: score, lambda score: {"score": score}])
def test_score_that_is_no_number(score, returns, error_score):
    """As in GridSearchCV this is a mistake in the scorer, and stops the search."""
    scoring = lambda estimator, X, y: returns(score)  # noqa: E731
    message = f"scoring must return a number, got {score!r} ({type(score)})"
    with refuses(message):
        search(scoring=scoring, error_score=error_score).fit(X, Y)
    with pytest.raises(ValueError, match="scoring must return a number"):
        GridSearchCV(RIDGE, GRID, cv=3, scoring=scoring, error_score=error_score).fit(X, Y)


@pytest.mark.filterwarnings(NON_FINITE)
@pytest.mark.parametrize("use_paths", [True, False])
def test_function_of_several_scores_that_fails_for_a_candidate(use_paths):
    def scores(estimator, X, y):
        if estimator.alpha == 10.0:
            raise RuntimeError("no score today")
        return {"one": estimator.score(X, y), "two": 2.0}

    with pytest.warns(UserWarning, match="no score today"):
        fitted = search(scoring=scores, refit="one", use_paths=use_paths).fit(X, Y)
    assert np.isnan(fitted.cv_results_["mean_test_one"]).tolist() == [False, False, True]
    assert np.isnan(fitted.cv_results_["mean_test_two"]).tolist() == [False, False, True]
    assert fitted.best_index_ < 2
    with refuses("scoring gives ['one', 'two'], none of which is 'three': refit= is to name"):
        search(scoring=scores, refit="three", use_paths=use_paths).fit(X, Y)


def test_score_of_probabilities_that_there_are_not():
    with refuses("LinearSVC has no predict_proba, which what drives the selection asks for"):
        search(LinearSVC(), {"C": [1.0]}, scoring="neg_log_loss").fit(X, LABELS)


@pytest.mark.filterwarnings(NON_FINITE)
def test_reported_score_of_probabilities_that_there_are_not():
    """GridSearchCV says the same, and has NaN."""
    scoring = ["accuracy", "neg_log_loss"]
    with pytest.warns(UserWarning, match="no attribute 'predict_proba'"):
        fitted = search(LinearSVC(), {"C": [1.0]}, scoring=scoring, refit="accuracy").fit(X, LABELS)
    assert np.isnan(fitted.cv_results_["mean_test_neg_log_loss"]).all()
    assert np.isfinite(fitted.nested_error_)


@pytest.mark.parametrize("use_paths", [True, False])
def test_fold_where_a_score_is_not_defined(use_paths):
    """It is left out for all candidates alike, and one line says so."""
    y = np.arange(N) % 2
    y[:4] = 0  # the first of six folds
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}
    with pytest.warns(UserWarning, match="Left out: the test rows of split 0, since") as caught:
        fitted = search(tree, grid, cv=KFold(6), scoring="roc_auc", use_paths=use_paths).fit(X, y)
    assert len(caught) == 1
    assert "not defined there: samples of one class only" in str(caught[0].message)
    assert np.isnan(fitted.cv_results_["split0_test_score"]).all()
    theirs = GridSearchCV(tree, grid, cv=list(KFold(6).split(X))[1:], scoring="roc_auc").fit(X, y)
    mean = theirs.cv_results_["mean_test_score"]
    assert_allclose(fitted.cv_results_["mean_test_score"], mean)
    assert fitted.kfold_index_ == theirs.best_index_
    assert [view.split for view in fitted.lattice_.views] == [1, 2, 3, 4, 5]


# Weights, nesting, searches.


@pytest.mark.parametrize("weights", [-1, [0.0, -1.0], np.nan, [1.0, np.nan], np.inf, []], ids=repr)
def test_bad_weights(weights):
    with refuses(f"stability_weights must be finite numbers from 0 on, got {weights!r}"):
        search(stability_weights=weights).fit(X, Y)


@pytest.mark.parametrize(
    "weights",
    [
        *({}, {"a": 1.0}, set(), {0.0, 1.0}, frozenset([1.0])),
        *(["1.0", "2.0"], [0.0, "1.0"], ["auto"], [b"1"], np.array(["0", "1"])),
        *([0.0, {}], [[0.0], [1.0, 2.0]], [1j], [np.datetime64("2020-01-01")]),
    ],
    ids=repr,
)
def test_wrong_types_for_weights(weights):
    remedy = f"got {weights!r}. Pass a list of numbers, such as [0, 0.1, 1]."
    with refuses(f"stability_weights must be 'auto', a number or numbers, {remedy}", TypeError):
        search(stability_weights=weights).fit(X, Y)
    with refuses(f"stability_weights must be 'auto', a number or numbers, {remedy}", TypeError):
        search(stability_weights=weights, nested=False).fit(X, Y)


@pytest.mark.parametrize(
    "weights", [None, b"auto", 1j, iter([0, 1])], ids=lambda weights: type(weights).__name__
)
def test_no_weights_at_all(weights):
    """scikit-learn's check of parameters is there first; ours says what to pass."""
    with refuses("'stability_weights' parameter of StabilitySearchCV must be", TypeError):
        search(stability_weights=weights).fit(X, Y)
    with refuses("stability_weights must be 'auto', a number or numbers, got", TypeError):
        check_weights(weights)


def test_table_of_weights():
    with refuses("one number or one list of them, got [[0, 1], [2, 3]], an array of shape (2, 2)"):
        search(stability_weights=[[0, 1], [2, 3]]).fit(X, Y)


def test_missing_and_endless_weights():
    with refuses("stability_weights must be finite numbers from 0 on, got [0, None]"):
        search(stability_weights=[0, None]).fit(X, Y)
    with refuses("stability_weights must be finite numbers from 0 on, got 1000"):
        search(stability_weights=10**400).fit(X, Y)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        *((2, [2.0]), (np.float32(0.5), [0.5]), ((3, 1, 1), [1.0, 3.0]), (range(3), [0.0, 1.0, 2.0])),
        *((Fraction(1, 4), [0.25]), ([Decimal("0.5"), 0], [0.0, 0.5]), (pd.Series([1, 0]), [0.0, 1.0])),
    ],
    ids=repr,
)
def test_good_weights(weights, expected):
    assert check_weights(weights).tolist() == expected


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
    assert fitted.generalization_bound(100.0, delta=0.1, kind="theorem1") == pytest.approx(
        expected, rel=1e-12
    )


def test_bound_refuses_unequal_folds():
    with refuses("folds of equal size, and these have [4, 5] samples"):
        search(cv=5).fit(X, Y).generalization_bound(100.0, kind="theorem1")
    with refuses("24 samples do not make 5 equal folds"):
        generalization_bound(0.5, 0.1, loss_bound=1.0, n_folds=5, n_samples=24)


def test_bound_refuses_repeats():
    repeated = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    with refuses("the theorem is for one partition, and this search has repeats".capitalize()):
        search(cv=repeated).fit(X, Y).generalization_bound(100.0, kind="theorem1")


def test_bound_refuses_an_unknown_instability():
    with refuses("instability is not known", AttributeError):
        search(nested=False, stability_weights=0).fit(X, Y).generalization_bound(100.0, kind="theorem1")


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
