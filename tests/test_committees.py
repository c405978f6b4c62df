"""`Committee`, held to averages and votes written out, and to scikit-learn's voting models."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from steadycv import SparseRidge
from steadycv.cli.saved_model import TRUSTED
from steadycv.committees import Committee, majority

X, Y = make_regression(n_samples=60, n_features=5, n_informative=3, noise=10.0, random_state=0)
NEW = np.random.default_rng(1).normal(size=(25, 5))
BOTH = np.column_stack([Y, X[:, 0] - Y])
POINTS, NUMBERS = make_classification(
    n_samples=90, n_features=5, n_informative=3, n_classes=3, random_state=0
)
LABELS = np.array(["apple", "cherry", "banana"])[NUMBERS]
TREE, STUMP = DecisionTreeRegressor(random_state=0), DecisionTreeRegressor(max_depth=1, random_state=0)
SORTS = DecisionTreeClassifier(random_state=0, max_leaf_nodes=5)
KERNEL = SVC(decision_function_shape="ovr")
WEIGHT = np.random.default_rng(2).uniform(0.1, 2.0, size=60)


def trained(estimator, X, y, cv=None, **fit):
    """The members, written out."""
    for rows, _ in (cv or KFold(5)).split(X, y):
        own = {name: values[rows] for name, values in fit.items()}
        yield clone(estimator).fit(X[rows], y[rows], **own)


# Averages.


@pytest.mark.parametrize("y", [Y, BOTH], ids=["one target", "two targets"])
@pytest.mark.parametrize("estimator", [TREE, Ridge(), KNeighborsRegressor()], ids=str)
def test_mean_of_members(estimator, y):
    expected = np.mean([member.predict(NEW) for member in trained(estimator, X, y)], axis=0)
    np.testing.assert_allclose(Committee([estimator]).fit(X, y).predict(NEW), expected)


def test_weights_are_of_candidates_and_shared_by_members():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    committee = Committee([TREE, Ridge()], weights=[3, 1], cv=cv).fit(X, Y)
    trees, ridges = (
        np.mean([member.predict(NEW) for member in trained(estimator, X, Y, cv)], axis=0)
        for estimator in (TREE, Ridge())
    )
    np.testing.assert_allclose(committee.predict(NEW), (3 * trees + ridges) / 4)
    np.testing.assert_allclose(committee.weights_, [1 / 8] * 6 + [1 / 24] * 6)


def frozen(committee):
    return [(str(i), FrozenEstimator(member)) for i, member in enumerate(committee.estimators_)]


def test_as_voting_regressor():
    committee = Committee([TREE, STUMP], weights=[1, 2]).fit(X, Y)
    voting = VotingRegressor(frozen(committee), weights=committee.weights_).fit(X, Y)
    np.testing.assert_allclose(committee.predict(NEW), voting.predict(NEW))
    assert committee.score(X, Y, WEIGHT) == pytest.approx(voting.score(X, Y, WEIGHT))


@pytest.mark.parametrize("second", [LogisticRegression(), KERNEL], ids=["probabilities", "votes"])
def test_as_voting_classifier(second):
    committee = Committee([SORTS, second], weights=[1, 2]).fit(POINTS, NUMBERS)
    how = "soft" if hasattr(committee, "predict_proba") else "hard"
    voting = VotingClassifier(frozen(committee), voting=how, weights=committee.weights_)
    voting.fit(POINTS, NUMBERS)
    np.testing.assert_array_equal(committee.predict(NEW), voting.predict(NEW))
    assert committee.score(POINTS, NUMBERS) == voting.score(POINTS, NUMBERS)
    if how == "soft":
        np.testing.assert_allclose(committee.predict_proba(NEW), voting.predict_proba(NEW))


def test_labels_of_any_type():
    cv = StratifiedKFold(5)
    members = list(trained(SORTS, POINTS, LABELS, cv))
    expected = np.mean([member.predict_proba(NEW) for member in members], axis=0)
    committee = Committee([SORTS]).fit(POINTS, LABELS)
    np.testing.assert_allclose(committee.predict_proba(NEW), expected)
    assert committee.classes_.tolist() == ["apple", "banana", "cherry"]
    np.testing.assert_array_equal(committee.predict(NEW), committee.classes_[expected.argmax(axis=1)])


def test_a_class_that_a_member_has_not_seen():
    order = np.argsort(LABELS, kind="stable")
    committee = Committee([SORTS], cv=KFold(3)).fit(POINTS[order], LABELS[order])
    shares = np.zeros((len(NEW), 3))
    for member, columns in zip(committee.estimators_, [[1, 2], [0, 2], [0, 1]], strict=True):
        assert member.classes_.tolist() == committee.classes_[columns].tolist()
        shares[:, columns] += member.predict_proba(NEW) / 3
    np.testing.assert_allclose(committee.predict_proba(NEW), shares)
    votes = Committee([KERNEL], cv=KFold(3)).fit(POINTS[order], LABELS[order])
    assert set(votes.predict(NEW)) <= set(LABELS)
    assert not hasattr(votes, "decision_function")


def test_of_classes_that_tie_the_first():
    said = np.array([["b", "c"], ["c", "b"], ["a", "a"]])
    classes = np.array(["a", "b", "c"])
    for weights, expected in (([0.1, 0.2, 0.3], ["a", "a"]), ([0.4, 0.4, 0.2], ["b", "b"])):
        assert majority(said, np.array(weights) / sum(weights), classes).tolist() == expected
    assert 0.1 + 0.2 > 0.3  # by rounding
    weights = np.array([0.1, 0.2, 0.3])
    assert majority(np.array([["b"], ["b"], ["a"]]), weights, classes).tolist() == ["a"]


def test_decisions_are_those_of_members_without_probabilities():
    committee = Committee([KERNEL]).fit(POINTS, LABELS)
    members = trained(KERNEL, POINTS, LABELS, StratifiedKFold(5))
    expected = np.mean([member.decision_function(NEW) for member in members], axis=0)
    np.testing.assert_allclose(committee.decision_function(NEW), expected)
    assert hasattr(Committee([KERNEL]), "decision_function")
    for estimators in ([LogisticRegression()], [KERNEL, SORTS], [TREE]):
        assert not hasattr(Committee(estimators), "decision_function")


def test_probabilities_are_there_where_all_members_have_them():
    assert hasattr(Committee([LogisticRegression(), SORTS]), "predict_proba")
    for estimators in ([LogisticRegression(), KERNEL], [TREE]):
        with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
            Committee(estimators).predict_proba(NEW)


# Members.


def test_members_have_a_seed():
    committee = Committee([DecisionTreeRegressor(max_features=1)]).fit(X, Y)
    again = clone(committee).fit(X, Y)
    np.testing.assert_array_equal(committee.predict(NEW), again.predict(NEW))
    assert {member.random_state for member in committee.estimators_} == {0}
    assert committee.estimators[0].random_state is None


def test_members_do_not_see_what_others_did_to_the_data():
    scaled = make_pipeline(StandardScaler(copy=False), TREE)
    expected = np.mean([member.predict(NEW.copy()) for member in trained(scaled, X, Y)], axis=0)
    seen = NEW.copy()
    np.testing.assert_allclose(Committee([scaled]).fit(X, Y).predict(seen), expected)
    np.testing.assert_array_equal(seen, NEW)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_precomputed_kernel(kind):
    of_kind, data, y = (SVR, X, Y) if kind == "regressor" else (SVC, POINTS, LABELS)
    cv = KFold(3, shuffle=True, random_state=0)
    linear = Committee([of_kind(kernel="linear")], cv=cv).fit(data, y)
    precomputed = Committee([of_kind(kernel="precomputed")], cv=cv).fit(data @ data.T, y)
    assert get_tags(precomputed).input_tags.pairwise
    assert precomputed.n_features_in_ == len(data)
    if kind == "classifier":
        np.testing.assert_array_equal(precomputed.predict(NEW @ data.T), linear.predict(NEW))
    else:
        np.testing.assert_allclose(precomputed.predict(NEW @ data.T), linear.predict(NEW), rtol=1e-6)
    with pytest.raises(ValueError, match="24 features"):
        precomputed.predict(data[:24] @ data[:24].T)


def of_members(committee, **options):
    """The same, of the models that it has."""
    n = len(committee.estimators_) // len(committee.estimators)
    members = [committee.estimators_[i : i + n] for i in range(0, len(committee.estimators_), n)]
    rows = getattr(committee, "training_rows_", None)
    return Committee.of_members(
        committee.estimators,
        members,
        weights=committee.weights,
        cv=committee.cv,
        training_rows=None if rows is None else [rows[i : i + n] for i in range(0, len(rows), n)],
        **options,
    )


@pytest.mark.parametrize(
    ("committee", "data", "y", "options"),
    [
        (Committee([TREE, Ridge()], weights=[1, 2]), X, Y, {}),
        (Committee([Ridge(), SparseRidge(2)], cv=3), pd.DataFrame(X).add_prefix("x"), Y, {}),
        (Committee([SORTS]), POINTS, LABELS, {}),
        (Committee([SORTS], cv=3), POINTS, LABELS, {"classes": np.unique(LABELS)}),
        (Committee([SVC(kernel="precomputed")]), POINTS @ POINTS.T, LABELS, {"n_features_in": 90}),
    ],
    ids=["trees and ridge", "linear", "classes", "classes told", "kernel"],
)
def test_of_members(committee, data, y, options):
    committee.fit(data, y)
    same = of_members(committee, **options)
    assert vars(same).keys() == vars(committee).keys()
    assert same.get_params() == committee.get_params()
    np.testing.assert_array_equal(same.predict(data), committee.predict(data))
    np.testing.assert_array_equal(same.weights_, committee.weights_)
    for name in ("classes_", "n_features_in_", "feature_names_in_", "coef_", "support_"):
        np.testing.assert_array_equal(getattr(same, name, ()), getattr(committee, name, ()))


def test_of_members_of_which_there_are_different_numbers():
    members = [list(trained(TREE, X, Y, KFold(2))), list(trained(STUMP, X, Y, KFold(3)))]
    committee = Committee.of_members([TREE, STUMP], members)
    np.testing.assert_allclose(committee.weights_, [1 / 4] * 2 + [1 / 6] * 3)


def test_of_members_that_are_missing():
    with pytest.raises(ValueError, match=r"for each of the 2 estimators, got \[1\]"):
        Committee.of_members([TREE, TREE], [[TREE]])
    with pytest.raises(ValueError, match=r"got \[1, 0\]"):
        Committee.of_members([TREE, TREE], [[TREE], []])
    with pytest.raises(ValueError, match="training_rows must have the rows"):
        Committee.of_members([SVR(kernel="precomputed")], [[SVR(kernel="precomputed")]])


# Linear models.


@pytest.mark.parametrize("y", [Y, BOTH], ids=["one target", "two targets"])
def test_linear_regressors_are_one_linear_model(y):
    candidates = [Ridge(), make_pipeline(MinMaxScaler(), LinearRegression())]
    committee = Committee(candidates, weights=[1, 3]).fit(X, y)
    each = [np.mean([m.predict(NEW) for m in trained(c, X, y)], axis=0) for c in candidates]
    expected = (each[0] + 3 * each[1]) / 4
    np.testing.assert_allclose(NEW @ committee.coef_.T + committee.intercept_, expected)
    np.testing.assert_allclose(committee.predict(NEW), expected)
    assert committee.coef_.shape == y.shape[1:] + X.shape[1:]
    assert np.shape(committee.intercept_) == y.shape[1:]


def test_linear_regressors_on_sparse_data():
    committee = Committee([Ridge()]).fit(sparse.csr_array(X), Y)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asarray, list):
        said = committee.predict(kind(NEW))
        np.testing.assert_allclose(said, NEW @ committee.coef_ + committee.intercept_)


@pytest.mark.parametrize(
    ("estimators", "y"),
    [([TREE, Ridge()], Y), ([PoissonRegressor()], np.abs(Y)), ([LogisticRegression()], Y > 0)],
)
def test_others_have_no_coefficients(estimators, y):
    committee = Committee(estimators).fit(X, y)
    assert not {"coef_", "intercept_", "support_"} & vars(committee).keys()


@pytest.mark.parametrize("scaler", ["passthrough", StandardScaler()], ids=str)
def test_sparse_ridge_says_which_columns_it_uses(scaler):
    pure_noise = np.random.default_rng(0).normal(size=(60, 20))
    committee = Committee([make_pipeline(scaler, SparseRidge(2))]).fit(pure_noise, Y)
    used = {int(i) for member in committee.estimators_ for i in member[-1].support_}
    assert committee.support_.tolist() == sorted(used)
    assert 2 < len(used) < 20


def test_another_fit_leaves_nothing_of_the_one_before():
    committee = Committee([Ridge()]).fit(pd.DataFrame(X).add_prefix("x"), Y)
    committee.set_params(estimators=[SORTS]).fit(POINTS, LABELS)
    assert vars(committee).keys() == vars(Committee([SORTS]).fit(POINTS, LABELS)).keys()


# What goes to the fits.


def test_sample_weights_are_sliced_and_go_to_the_last_step():
    scaled = make_pipeline(StandardScaler(), TREE)
    committee = Committee([TREE, scaled]).fit(X, Y, sample_weight=WEIGHT.tolist())
    members = [
        *trained(TREE, X, Y, sample_weight=WEIGHT),
        *trained(scaled, X, Y, decisiontreeregressor__sample_weight=WEIGHT),
    ]
    expected = np.mean([member.predict(NEW) for member in members], axis=0)
    np.testing.assert_allclose(committee.predict(NEW), expected)


def test_groups_go_to_the_splitter():
    groups = np.arange(60) % 6
    committee = Committee([TREE], cv=GroupKFold(3)).fit(X, Y, groups=groups)
    for rows, member in zip(GroupKFold(3).split(X, Y, groups), committee.estimators_, strict=True):
        assert member.tree_.n_node_samples[0] == len(rows[0])
        np.testing.assert_allclose(member.predict(X[rows[0]]), Y[rows[0]])


def test_a_fit_that_takes_no_sample_weights_says_so():
    with pytest.raises(TypeError, match="sample_weight"):
        Committee([KNeighborsRegressor()]).fit(X, Y, sample_weight=WEIGHT)


def test_metadata_routing():
    groups = np.arange(60) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = clone(TREE).set_fit_request(sample_weight=True)
        plain = clone(TREE).set_fit_request(sample_weight=False)
        committee = Committee([weighted, plain], weights=[1, 2], cv=GroupKFold(3))
        committee.fit(X, Y, sample_weight=WEIGHT, groups=groups)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            Committee([TREE]).fit(X, Y, sample_weight=WEIGHT)
    by_hand = [
        Committee([TREE], cv=GroupKFold(3)).fit(X, Y, groups=groups, **fit).predict(NEW)
        for fit in ({"sample_weight": WEIGHT}, {})
    ]
    np.testing.assert_allclose(committee.predict(NEW), (by_hand[0] + 2 * by_hand[1]) / 3)


# As an estimator.


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", [TREE, Ridge(), make_pipeline(StandardScaler(), TREE)], ids=str)
def test_data_frames(frame, estimator):
    names = [f"x{i}" for i in range(5)]
    table, new = (frame(dict(zip(names, data.T, strict=True))) for data in (X, NEW))
    committee = Committee([estimator]).fit(table, Y)
    np.testing.assert_allclose(committee.predict(new), Committee([estimator]).fit(X, Y).predict(NEW))
    assert committee.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names should match"):
        committee.predict(new[names[::-1]])


def test_members_may_hand_on_data_frames():
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), Ridge())
    table = pd.DataFrame(X).add_prefix("x")
    expected = np.mean([m.predict(table) for m in trained_on_frame(scaled, table)], axis=0)
    np.testing.assert_allclose(Committee([scaled]).fit(table, Y).predict(table), expected)


def trained_on_frame(estimator, table):
    for rows, _ in KFold(5).split(table):
        yield clone(estimator).fit(table.iloc[rows], Y[rows])


@pytest.mark.parametrize(
    ("estimators", "y"),
    [
        ([TREE, STUMP], Y),
        ([make_pipeline(StandardScaler(), Ridge()), SparseRidge(2)], Y),
        ([SORTS], LABELS[:60]),
        ([make_pipeline(StandardScaler(), KERNEL)], LABELS[:60]),
    ],
    ids=["trees", "linear", "classes", "votes"],
)
@pytest.mark.parametrize(
    "cv", [None, KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(3)], ids=str
)
def test_saved_and_loaded(estimators, y, cv):
    from skops import io

    committee = Committee(estimators, weights=list(range(1, len(estimators) + 1)), cv=cv).fit(X, y)
    content = io.dumps(committee)
    more = ("steadycv.committees.Committee", f"sklearn.model_selection._split.{type(cv).__name__}")
    by_skops = io.loads(content, trusted=list({*TRUSTED, *more}))
    for loaded in (by_skops, pickle.loads(pickle.dumps(committee))):
        np.testing.assert_array_equal(loaded.predict(NEW), committee.predict(NEW))
        assert vars(loaded).keys() == vars(committee).keys()
        np.testing.assert_array_equal(clone(loaded).fit(X, y).predict(NEW), committee.predict(NEW))


def test_picture():
    candidates = [DecisionTreeRegressor(max_depth=7), make_pipeline(StandardScaler(), Ridge())]
    for committee in (Committee(candidates, weights=[1 / 4, 1 / 3]), Committee(candidates)):
        for html in (committee._repr_html_(), committee.fit(X, Y)._repr_html_()):
            assert all(name in html for name in ("DecisionTreeRegressor", "StandardScaler", "Ridge"))
            assert ("weight 0.3333" in html) == (committee.weights is not None)


def test_not_fitted():
    for name in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(Committee([SORTS]), name)(POINTS)


@pytest.mark.parametrize(
    ("estimators", "sparse_too", "missing_too", "several"),
    [
        ([TREE], True, True, True),
        ([TREE, Ridge()], True, False, True),
        ([TREE, SVR()], True, False, False),
        ([SORTS], True, True, False),
    ],
)
def test_tags_are_true_of_all_members(estimators, sparse_too, missing_too, several):
    tags = get_tags(Committee(estimators))
    assert (tags.input_tags.sparse, tags.input_tags.allow_nan) == (sparse_too, missing_too)
    assert tags.target_tags.multi_output == several
    assert not tags.input_tags.pairwise
    assert is_classifier(Committee(estimators)) == is_classifier(estimators[0])
    assert is_regressor(Committee(estimators)) == is_regressor(estimators[0])


@pytest.mark.parametrize(
    ("committee", "message"),
    [
        (Committee([]), r"at least one estimator, got \[\]"),
        (Committee(TREE), "must be a list"),
        (Committee([TREE, SORTS]), r"DecisionTreeRegressor \(a regressor\), DecisionTreeClassifier"),
        (Committee([KMeans()]), r"KMeans \(a clusterer\)"),
        (Committee([SVR(), SVR(kernel="precomputed")]), "all take a kernel or distance matrix"),
        (Committee([TREE], weights=[1, 2]), r"each of the 1 estimators, got \[1, 2\]"),
        (Committee([TREE, TREE], weights=[1, -1]), r"from 0 on, and not all 0; got \[1, -1\]"),
        (Committee([TREE, TREE], weights=[0, 0]), r"not all 0; got \[0, 0\]"),
        (Committee([TREE], weights=[np.nan]), r"finite numbers.*got \[nan\]"),
        (Committee([TREE], cv=[(range(9), range(9))]), "trains and validates on the same samples"),
    ],
)
def test_what_makes_no_sense(committee, message):
    with pytest.raises(ValueError, match=message):
        committee.fit(X, Y)


NO_SAMPLE_WEIGHT_IN_SIGNATURE = {
    "check_classifiers_one_label_sample_weights": "it looks for sample_weight in the signature of fit, "
    "which hands on all that it is given, and so does not expect the support vector machine's error"
}


@pytest.mark.filterwarnings("ignore")  # the checks fit on data that are meant to go wrong
@pytest.mark.parametrize(
    ("estimators", "expected"),
    [
        ([DecisionTreeRegressor()], {}),
        ([Ridge()], {}),
        ([DecisionTreeRegressor(), KNeighborsRegressor()], {}),
        ([DecisionTreeClassifier()], {}),
        ([SVC()], NO_SAMPLE_WEIGHT_IN_SIGNATURE),
    ],
    ids=str,
)
def test_check_estimator(estimators, expected):
    results = check_estimator(Committee(estimators), on_skip=None, expected_failed_checks=expected)
    passed = [result for result in results if result["status"] == "passed"]
    assert len(passed) >= 51
