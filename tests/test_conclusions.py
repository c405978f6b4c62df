"""What a search concludes from its fits, held to the same computed by scikit-learn alone."""

import copy
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.bootstrap import bootstrap_promise
from steadycv.bound import nested_bound

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
NEW = RNG.normal(size=(25, 3))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.normal(scale=0.5, size=N)
LABELS = np.array(list("abc"))[(Y > 0.5).astype(int) + (Y > 1.5)]
TWO = Y > 0.7
FOLDS = KFold(4, shuffle=True, random_state=1)
ALPHAS = {"alpha": [0.1, 10.0, 1000.0]}


def fitted(estimator, grid, y=Y, cv=FOLDS, fit=None, **how):
    return StabilitySearchCV(estimator, grid, cv=cv, **how).fit(X, y, **(fit or {}))


def without_two_folds(estimator, i, rows):
    """What the average of the models without fold i and one more says."""
    splits = list(FOLDS.split(X))
    inside = [np.intersect1d(splits[i][0], splits[j][0]) for j in range(4) if j != i]
    return np.mean([estimator.fit(X[r], Y[r]).predict(X[rows]) for r in inside], axis=0)


# Intervals of single predictions.


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_are_a_quantile_of_out_of_fold_residuals(coverage):
    search = fitted(Ridge(), {"alpha": [10.0]})
    away = np.sort(np.abs(Y - cross_val_predict(Ridge(10.0), X, Y, cv=FOLDS)))
    width = away[math.ceil((N + 1) * coverage) - 1]
    said = Ridge(10.0).fit(X, Y).predict(NEW)
    assert_allclose(search.predict_interval(NEW, coverage), np.c_[said - width, said + width])


def test_intervals_of_committees_take_the_models_without_two_folds():
    search = fitted(Ridge(), {"alpha": [10.0]}, deliver="committee")
    splits = list(FOLDS.split(X))
    away = [
        np.abs(Y[test] - without_two_folds(Ridge(10.0), i, test)) for i, (_, test) in enumerate(splits)
    ]
    width = np.sort(np.concatenate(away))[math.ceil((N + 1) * 0.9) - 1]
    said = np.mean([Ridge(10.0).fit(X[train], Y[train]).predict(NEW) for train, _ in splits], axis=0)
    assert_allclose(search.predict_interval(NEW), np.c_[said - width, said + width])


def cv_plus(model, coverage):
    """Barber and others' definition, a row after the other."""
    low, high = np.empty((2, len(NEW), N))
    for train, test in FOLDS.split(X):
        model.fit(X[train], Y[train])
        away = np.abs(Y[test] - model.predict(X[test]))
        low[:, test] = model.predict(NEW)[:, np.newaxis] - away
        high[:, test] = model.predict(NEW)[:, np.newaxis] + away
    rank = math.ceil((N + 1) * coverage)
    return np.c_[np.sort(low)[:, N - rank], np.sort(high)[:, rank - 1]]


def test_cv_plus_literally():
    search = fitted(KNeighborsRegressor(), {"n_neighbors": [3]}, deliver="committee")
    expected = cv_plus(KNeighborsRegressor(3), 0.8)
    assert_allclose(search.predict_interval(NEW, 0.8, method="cv+"), expected)


def test_cv_plus_of_a_kernel_is_that_of_its_features():
    search = StabilitySearchCV(SVR(kernel="precomputed"), {"C": [1.0]}, cv=FOLDS, deliver="committee")
    search.fit(X @ X.T, Y)
    found = search.predict_interval(NEW @ X.T, method="cv+")
    assert_allclose(found, cv_plus(SVR(kernel="linear"), 0.9), atol=1e-2)


@pytest.mark.parametrize("deliver", ["model", "committee", "student"])
def test_intervals_cover_about_as_often_as_they_say(deliver):
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(15):
        rows = rng.normal(size=(260, 3))
        y = rows[:, 0] + np.abs(rows[:, 1]) + rng.normal(size=260)
        search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": [1, 3]}, deliver=deliver)
        low, high = search.fit(rows[:60], y[:60]).predict_interval(rows[60:]).T
        covered.append(((low <= y[60:]) & (y[60:] <= high)).mean())
    assert 0.85 < np.mean(covered) < 0.97


def test_sets_are_of_classes_that_are_not_too_surprising():
    search = fitted(LogisticRegression(), {"C": [1.0]}, LABELS, loss="log_loss")
    classes = np.array(list("abc"))
    said = cross_val_predict(LogisticRegression(), X, LABELS, cv=FOLDS, method="predict_proba")
    surprise = np.sort(1 - said[np.arange(N), np.searchsorted(classes, LABELS)])
    most = surprise[math.ceil((N + 1) * 0.8) - 1]
    said = LogisticRegression().fit(X, LABELS).predict_proba(NEW)
    expected = (1 - said <= most) | (said == said.max(axis=1, keepdims=True))
    assert (search.predict_set(NEW, 0.8) == expected).all()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: fitted(Ridge(), ALPHAS).predict_set(X), "predict_interval"),
        (lambda: fitted(KNeighborsClassifier(), {}, LABELS).predict_interval(X), "predict_set"),
        (lambda: fitted(Ridge(), ALPHAS).predict_interval(X, method="cv"), "'residuals' or 'cv"),
        (lambda: fitted(Ridge(), ALPHAS).predict_interval(X, method="cv+"), "deliver='committee'"),
        (lambda: fitted(Ridge(), ALPHAS).predict_interval(X, 0.999), "takes 999 judged rows"),
        (lambda: fitted(Ridge(), ALPHAS, np.c_[Y, Y]).predict_interval(X), "one number a row"),
        (
            lambda: fitted(DecisionTreeClassifier(), {}, np.c_[TWO, TWO]).predict_set(X),
            "one target, and there are 2",
        ),
        (
            lambda: fitted(Ridge(), ALPHAS, cv=TimeSeriesSplit(4), deliver="committee").predict_interval(
                X, method="cv+"
            ),
            "time order",
        ),
    ],
)
def test_what_has_no_intervals(ask, message):
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        ask()


# Promises and their intervals.


@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble", "student"])
@pytest.mark.parametrize("scoring", [None, "r2"])
def test_the_promise_lies_in_its_interval(deliver, scoring):
    search = fitted(DecisionTreeRegressor(), {"max_depth": [1, 3]}, deliver=deliver, scoring=scoring)
    low, high = search.promise_interval_
    assert low < search.promise_ == search.offers_[deliver].errors.mean() < high


def test_with_a_single_weight_the_promise_is_the_nested_error():
    search = fitted(Ridge(), ALPHAS, stability_weights=1.0)
    assert search.promise_ == pytest.approx(search.nested_error_)


def nadeau_and_bengio(search):
    k = search.n_splits_
    errors = np.array([search.weights_[f"split{i}_error"][0] for i in range(k)])
    half = t.ppf(0.95, k - 1) * np.sqrt((1 / k + 1 / (k - 1)) * errors.var(ddof=1))
    return errors.mean() - half, errors.mean() + half


def test_the_interval_of_a_score_is_nadeau_and_bengio_s():
    search = fitted(Ridge(), ALPHAS, scoring="r2", stability_weights=0.0)
    low, high = nadeau_and_bengio(search)
    assert_allclose(search.promise_interval_, [max(low, -1), high])


class FailsOn(RegressorMixin, BaseEstimator):
    """A line that is not found on training sets of one size with some row."""

    def __init__(self, row=None, slope=1.0):
        self.row = row
        self.slope = slope

    def fit(self, rows, y):
        """Fit, or fail."""
        if self.row is not None and (rows == X[self.row]).all(axis=1).any() and len(rows) == 45:
            raise ValueError("not these")
        self.n_features_in_ = rows.shape[1]
        return self

    def predict(self, rows):
        """A fixed line."""
        return self.slope * rows[:, 0]


@pytest.mark.parametrize(
    ("scoring", "best"),
    [
        ("r2", 1.0),
        ({"share": "r2", "other": "neg_max_error"}, 1.0),
        ("neg_root_mean_squared_error", 0.0),
    ],
    ids=str,
)
def test_the_interval_of_a_score_ends_at_the_best_one(scoring, best):
    """Where the folds differ so much that it would go beyond."""
    y = Y if best else np.where(np.arange(N) < 10, 1e3, 1.0) * Y
    how = {"refit": "share"} if isinstance(scoring, dict) else {}
    search = fitted(
        Ridge(), ALPHAS, y, FOLDS if best else KFold(4), scoring=scoring, stability_weights=0, **how
    )
    low, high = nadeau_and_bengio(search)
    assert low < -best < high
    assert search.promise_interval_ == pytest.approx((-best, high))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_what_failed_and_was_chosen_by_a_number_has_an_interval_by_its_errors():
    """error_score=-3 makes a failed fit better than a very bad one."""
    grid = {"row": [int(next(FOLDS.split(X))[0][0])], "slope": [1.0]}
    search = fitted(FailsOn(), grid, error_score=-3.0)
    assert (search.offers_["model"].errors == 3.0).sum() == 3
    low, high = search.promise_interval_
    assert low < search.promise_ < high
    with pytest.raises(ValueError, match="failed there"):
        search.predict_interval(X)
    for deliver in ("committee", "ensemble", "student"):
        with pytest.raises(ValueError, match="No average of models has an error in all views"):
            fitted(FailsOn(), grid, error_score=-3.0, deliver=deliver)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_the_bootstrap_leaves_out_what_failed():
    row = int(next(FOLDS.split(X))[0][0])
    grid = [{"slope": [1.0, 0.5]}, {"row": [row], "slope": [0.9]}]
    how = {"nested": False, "stability_weights": 0}
    search = fitted(FailsOn(), grid, error_score=-50.0, **how)
    assert search.promise_ == fitted(FailsOn(), grid[:1], **how).promise_
    failed = fitted(FailsOn(), grid[1:], error_score=-50.0, **how)
    with pytest.raises(AttributeError, match="the choice failed"):
        failed.promise_  # noqa: B018


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_without_nesting_the_promise_is_the_bootstrap_s(weight):
    search = fitted(Ridge(), ALPHAS, nested=False, stability_weights=weight)
    said = np.array([cross_val_predict(Ridge(a), X, Y, cv=FOLDS) for a in ALPHAS["alpha"]])
    found = bootstrap_promise(
        search.lattice_,
        search._judging(search._get_scorers()[0], X, Y, {}, {}),
        lambda split, some: {"predict": said[some][:, search.lattice_.splits[split].test]},
        penalty=weight * search.cv_results_["instability"] if weight else np.zeros(3),
    )
    assert search.promise_ == pytest.approx(found.promise)
    assert_allclose(search.promise_interval_, found.interval())
    assert set(search.offers_) == {"model"}


def test_a_bootstrap_by_hand():
    """Of a single candidate there is nothing to choose: the mean error of rows that were not drawn."""
    search = fitted(LogisticRegression(), {}, TWO, nested=False, stability_weights=0, scoring="roc_auc")
    said = cross_val_predict(LogisticRegression(), X, TWO, cv=FOLDS, method="decision_function")
    errors = []
    for b in range(200):
        left_out = np.setdiff1d(np.arange(N), np.random.default_rng((0, b)).integers(N, size=N))
        errors.append(-roc_auc_score(TWO[left_out], said[left_out]))
    assert search.promise_ == pytest.approx(np.mean(errors))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"cv": TimeSeriesSplit(3)}, "in time order"),
        ({"refit": lambda results: 0}, "a callable refit"),
        ({"scoring": lambda model, rows, y: -model.tree_.node_count}, "asks for more"),
    ],
)
def test_no_promise_has_a_reason_that_lasts(how, reason):
    tree = DecisionTreeRegressor()
    search = fitted(tree, {"max_depth": [1, 2]}, nested=False, stability_weights=0, **how)
    for each in (search, copy.deepcopy(search)):
        with pytest.raises(AttributeError, match=f"There is no promise: .*{reason}"):
            each.promise_  # noqa: B018


# The committee of the views' own choices, and the bound on its error.


def literal_choices(search):
    """By fold, the model of what the view chose at the chosen weight."""
    row = list(search.weights_["weight"]).index(search.stability_weight_)
    params = search.cv_results_["params"]
    return [
        (params[search.weights_[f"split{i}_index"][row]], train, test)
        for i, (train, test) in enumerate(FOLDS.split(X))
    ]


def test_the_outer_committee_has_the_views_own_choices():
    search = fitted(Ridge(), ALPHAS)
    models = [Ridge(**chosen).fit(X[train], Y[train]) for chosen, train, _ in literal_choices(search)]
    assert [member.alpha for member in search.outer_committee_.estimators_] == [m.alpha for m in models]
    assert_allclose(
        search.outer_committee_.predict(NEW), np.mean([m.predict(NEW) for m in models], axis=0)
    )
    with pytest.raises(AttributeError, match="not after pickling"):
        pickle.loads(pickle.dumps(search)).outer_committee_  # noqa: B018


@pytest.mark.parametrize("deliver", ["model", "committee"])
@pytest.mark.filterwarnings("ignore:The promise is")
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_that_of_the_outer_committee_s_members(deliver, seed):
    """Whatever else is promised: at other weights, or of the final choice."""
    labels = np.random.default_rng(seed).permutation(TWO)
    grid = {"max_depth": [1, 2, 4, 6], "min_samples_leaf": [1, 3]}
    how = {"loss": "brier", "rule": "paper", "use_paths": False}
    search = fitted(DecisionTreeClassifier(), grid, labels, deliver=deliver, **how)
    losses = []
    for chosen, train, test in literal_choices(search):
        tree = DecisionTreeClassifier(random_state=0, **chosen).fit(X[train], labels[train])
        losses.append((tree.predict_proba(X[test])[:, 1] - labels[test]) ** 2)
    distinct = [len(set(search.weights_[f"split{i}_index"])) for i in range(4)]
    expected = nested_bound(losses, distinct, loss_bound=1.0, delta=0.1)
    assert search.generalization_bound(1.0, 0.1) == pytest.approx(expected)


def test_the_bound_of_zero_one_losses_counts_them():
    search = fitted(DecisionTreeClassifier(), {"max_depth": [2]}, TWO, use_paths=False)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    wrong = cross_val_predict(tree, X, TWO, cv=FOLDS) != TWO
    expected = nested_bound([wrong[test] for _, test in FOLDS.split(X)], 1, loss_bound=1)
    assert search.generalization_bound(1.0) == pytest.approx(expected)


class MyFolds(KFold):
    """Folds that may look at anything."""


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"cv": StratifiedKFold(3)}, "StratifiedKFold"),
        ({"cv": 3}, "StratifiedKFold"),
        ({"cv": TimeSeriesSplit(4)}, "TimeSeriesSplit"),
        ({"cv": MyFolds(4)}, "MyFolds"),
        ({"cv": list(FOLDS.split(X))}, "not for"),
        ({"cv": GroupKFold(4), "fit": {"groups": np.arange(N) // 5}}, "GroupKFold"),
        ({"fit": {"groups": np.arange(N) // 5}}, "with groups"),
        ({"fit": {"sample_weight": np.arange(N) + 1.0}}, "with sample_weight"),
    ],
)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_where_there_is_no_bound(how, message):
    search = fitted(DecisionTreeClassifier(), {"max_depth": [1, 2]}, TWO, **how)
    with pytest.raises(ValueError, match=message):
        search.generalization_bound(1.0)


def test_there_are_two_kinds_of_bounds():
    with pytest.raises(ValueError, match="'nested' or 'theorem1', got 'theorem2'"):
        fitted(Ridge(), ALPHAS).generalization_bound(1.0, kind="theorem2")


def test_overlapping_test_rows_have_a_bound():
    cv = ShuffleSplit(4, random_state=0)
    search = fitted(KNeighborsClassifier(), {"n_neighbors": [3]}, TWO, cv=cv)
    model = KNeighborsClassifier(3)
    losses = [model.fit(X[a], TWO[a]).predict(X[b]) != TWO[b] for a, b in cv.split(X)]
    assert search.generalization_bound(1.0) == pytest.approx(nested_bound(losses, 1, loss_bound=1))
