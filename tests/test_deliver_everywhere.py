"""Every kind of delivery with every kind of data, splits, scores and company."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.students import TEACHINGS

KINDS = ("model", "committee", "ensemble", "student")
AVERAGES = KINDS[1:]
RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.normal(scale=0.5, size=N)
LABELS = np.array(list("abc"))[(Y > 0.5).astype(int) + (Y > 1.5)]
FOLDS = KFold(4, shuffle=True, random_state=1)
ALPHAS = {"alpha": [0.1, 10.0, 1000.0]}
DEPTHS = {"max_depth": [1, 3]}
FRAME = pd.DataFrame(X, columns=list("uvw"))


def fitted(estimator, grid, y=Y, x=X, cv=FOLDS, fit=None, **how):
    return StabilitySearchCV(estimator, grid, cv=cv, **how).fit(x, y, **(fit or {}))


def polars(x):
    return pytest.importorskip("polars").DataFrame(x, schema=list("uvw"))


@pytest.mark.parametrize("deliver", KINDS)
@pytest.mark.parametrize(
    "of",
    [np.ndarray.tolist, pd.DataFrame, polars, sp.csr_matrix, sp.csc_array],
    ids=lambda of: of.__name__,
)
def test_what_holds_the_data_is_no_matter(of, deliver):
    plain = fitted(DecisionTreeRegressor(), DEPTHS, deliver=deliver)
    other = fitted(DecisionTreeRegressor(), DEPTHS, x=of(X), deliver=deliver)
    assert other.promise_ == pytest.approx(plain.promise_)
    assert_allclose(other.predict(of(X)), plain.predict(X))
    assert_allclose(other.outer_committee_.predict(of(X)), plain.outer_committee_.predict(X))


@pytest.mark.parametrize("deliver", KINDS)
@pytest.mark.parametrize("of", [list, pd.Series, lambda y: pd.Series(y, dtype="category")])
def test_what_holds_the_classes_is_no_matter(of, deliver):
    plain = fitted(DecisionTreeClassifier(), DEPTHS, LABELS, deliver=deliver)
    other = fitted(DecisionTreeClassifier(), DEPTHS, of(LABELS), FRAME, deliver=deliver)
    assert (other.promise_, other.promise_interval_) == (plain.promise_, plain.promise_interval_)
    assert_array_equal(other.predict_proba(FRAME), plain.predict_proba(X))
    assert_array_equal(other.predict_set(FRAME, 0.8), plain.predict_set(X, 0.8))


@pytest.mark.parametrize("deliver", KINDS)
def test_what_classes_are_called_is_no_matter(deliver):
    plain = fitted(DecisionTreeClassifier(), DEPTHS, LABELS, deliver=deliver)
    numbers = fitted(
        DecisionTreeClassifier(), DEPTHS, np.searchsorted(list("abc"), LABELS), deliver=deliver
    )
    assert numbers.promise_ == plain.promise_
    assert_array_equal(np.array(list("abc"))[numbers.predict(X)], plain.predict(X))


@pytest.mark.parametrize("deliver", KINDS)
def test_equal_weights_are_none(deliver):
    plain = fitted(Ridge(), ALPHAS, deliver=deliver)
    weighted = fitted(Ridge(), ALPHAS, fit={"sample_weight": np.full(N, 2.0)}, deliver=deliver)
    halved = fitted(Ridge(), {"alpha": np.divide(ALPHAS["alpha"], 2)}, deliver=deliver)
    assert weighted.promise_ != pytest.approx(plain.promise_)  # twice the weight is half the penalty
    assert weighted.promise_ == pytest.approx(halved.promise_)
    assert_allclose(weighted.promise_interval_, halved.promise_interval_)
    assert_allclose(weighted.predict_interval(X), halved.predict_interval(X))


@pytest.mark.parametrize("deliver", KINDS)
@pytest.mark.parametrize("make", [DecisionTreeRegressor, Ridge])
def test_a_target_twice_is_judged_as_once(make, deliver):
    grid = DEPTHS if make is DecisionTreeRegressor else ALPHAS
    once, twice = (fitted(make(), grid, y, deliver=deliver) for y in (Y, np.c_[Y, Y]))
    assert twice.promise_ == pytest.approx(once.promise_)
    assert_allclose(twice.predict(X), np.c_[once.predict(X), once.predict(X)])


@pytest.mark.parametrize("deliver", KINDS)
@pytest.mark.parametrize(
    ("kernel", "raw", "y"),
    [
        (SVR(kernel="precomputed"), SVR(kernel="linear"), Y),
        (KNeighborsRegressor(metric="precomputed"), KNeighborsRegressor(), Y),
    ],
    ids=["kernel", "distances"],
)
def test_a_kernel_is_as_good_as_its_features(kernel, raw, y, deliver, monkeypatch):
    # Of a kernel no more rows can be made.
    monkeypatch.setattr("steadycv.delivery.TEACHINGS", TEACHINGS[:4])
    grid = {"C": [0.1, 1.0]} if isinstance(raw, SVR) else {"n_neighbors": [2, 5]}
    far = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=-1))
    matrix = X @ X.T if isinstance(raw, SVR) else far
    found = fitted(kernel, grid, y, matrix, deliver=deliver)
    expected = fitted(raw, grid, y, deliver=deliver)
    assert found.promise_ == pytest.approx(expected.promise_, rel=1e-2)
    assert_allclose(found.predict(matrix), expected.predict(X), atol=0.02)


def test_a_classifier_of_a_kernel_has_no_teacher():
    with pytest.warns(UserWarning, match="no teacher"):
        search = fitted(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, LABELS, X @ X.T, deliver="student")
    assert search.delivered_.share == 0
    assert search.delivered_.params == (search.kfold_params_,)


FAMILIES = {"model": [Ridge(), DecisionTreeRegressor(max_depth=2), KNeighborsRegressor(3)]}


@pytest.mark.parametrize("deliver", KINDS)
def test_models_of_several_classes(deliver):
    pipeline = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    search = fitted(pipeline, FAMILIES, deliver=deliver, use_paths=False)
    assert search.promise_ == search.offers_[deliver].errors.mean()
    if deliver == "ensemble":
        of_one = [
            [
                clone(make_pipeline(StandardScaler(), p["model"])).fit(X[t], Y[t])
                for t, _ in FOLDS.split(X)
            ]
            for p in search.delivered_.params
        ]
        for candidate in of_one:
            for model in candidate:
                if hasattr(model[-1], "max_depth"):
                    model[-1].set_params(random_state=0)
        means = [np.mean([model.predict(X) for model in each], axis=0) for each in of_one]
        assert_allclose(search.predict(X), np.average(means, axis=0, weights=search.delivered_.weights))


@pytest.mark.parametrize("deliver", AVERAGES)
def test_a_class_that_some_folds_do_not_have(deliver):
    labels = np.where(Y > 0.7, "b", "a")
    labels[:3] = "c"  # all of them in the first fold
    search = fitted(DecisionTreeClassifier(), DEPTHS, labels, cv=KFold(5), deliver=deliver)
    assert search.predict_proba(X).shape == (N, 3)
    assert 0 < search.promise_ < 1
    assert_array_equal(search.classes_, ["a", "b", "c"])
    for i, tables in enumerate(search.offers_[deliver].said.by_view):
        assert tables["predict_proba"].shape == (1, 8, 3)
        assert (tables["predict_proba"][..., 2].max() == 0) == (i == 0)


@pytest.mark.parametrize("deliver", AVERAGES)
def test_groups_are_what_the_splitter_makes_of_them(deliver):
    groups = np.arange(N) // 5
    splits = list(GroupKFold(4).split(X, Y, groups))
    search = fitted(Ridge(), ALPHAS, cv=GroupKFold(4), fit={"groups": groups}, deliver=deliver)
    listed = fitted(Ridge(), ALPHAS, cv=splits, deliver=deliver)
    assert search.promise_ == listed.promise_
    assert_array_equal(search.predict(X), listed.predict(X))


@pytest.mark.parametrize("deliver", AVERAGES)
@pytest.mark.parametrize(
    "cv",
    [LeaveOneOut(), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 3],
    ids=["one out", "repeats", "three"],
)
def test_few_rows(cv, deliver):
    search = fitted(Ridge(), ALPHAS, Y[:7], X[:7], cv=cv, deliver=deliver)
    low, high = search.promise_interval_
    assert low < search.promise_ < high


@pytest.mark.filterwarnings("ignore:.*as many as plain cross-validation")
def test_many_training_sets_are_heard_only_for_what_is_delivered():
    model, committee = (
        fitted(Ridge(), {"alpha": [1.0, 9.0]}, Y[:24], X[:24], cv=LeaveOneOut(), deliver=d)
        for d in ("model", "committee")
    )
    assert model.lattice_.n_training_sets == 301
    assert set(model.offers_) == {"model"}
    assert committee.delivered_.n_members == 24
    assert committee.offers_["model"].promise == model.promise_


@pytest.mark.parametrize("deliver", KINDS)
def test_a_constant_target_is_known_for_sure(deliver):
    search = fitted(DecisionTreeRegressor(), DEPTHS, np.ones(N), deliver=deliver)
    assert search.promise_ == 0
    assert search.promise_interval_[0] == 0
    assert_array_equal(search.predict_interval(X), np.ones((N, 2)))


def cost(model, rows, y):
    """Asks for what only a fitted tree has."""
    return -model.tree_.node_count - ((y - model.predict(rows)) ** 2).mean()


def test_a_score_that_asks_for_models_offers_a_model_only():
    search = fitted(DecisionTreeRegressor(), DEPTHS, scoring=cost)
    assert set(search.offers_) == {"model"}
    assert pickle.loads(pickle.dumps(search)).promise_ == search.promise_
    assert "expect" in search.summary()
    for deliver in AVERAGES:
        with pytest.raises(ValueError, match="judged by what they say, and the score that drives asks"):
            fitted(DecisionTreeRegressor(), DEPTHS, scoring=cost, deliver=deliver)


def test_averages_are_of_one_target():
    twice = np.c_[LABELS, LABELS]
    assert set(fitted(DecisionTreeClassifier(), DEPTHS, twice).offers_) == {"model"}
    for deliver in AVERAGES:
        with pytest.raises(ValueError, match="classifiers of one target, and y has 2"):
            fitted(DecisionTreeClassifier(), DEPTHS, twice, deliver=deliver)


@pytest.mark.parametrize("deliver", KINDS)
def test_an_estimator_with_a_score_of_its_own(deliver):
    counts = np.round(np.abs(Y))
    search = fitted(
        PoissonRegressor(), {"alpha": [0.1, 10.0]}, counts, loss="poisson_deviance", deliver=deliver
    )
    assert search.promise_ == search.offers_[deliver].errors.mean()
    assert search.score(X, counts) < 1


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [("r2", True), (["r2", "neg_mean_absolute_error"], "neg_mean_absolute_error")],
)
@pytest.mark.parametrize("deliver", KINDS)
def test_the_promise_has_the_sign_of_the_error(scoring, refit, deliver):
    search = fitted(Ridge(), ALPHAS, scoring=scoring, refit=refit, deliver=deliver)
    alone = fitted(Ridge(), ALPHAS, scoring=scoring if refit is True else refit, deliver=deliver)
    assert search.promise_ == alone.promise_
    assert search.promise_ == pytest.approx(search.offers_[deliver].errors.mean())
    assert (search.promise_ < 0) == (refit is True)


class Picky(RegressorMixin, BaseEstimator):
    """A ridge regression that takes the targets of its teacher's school only."""

    def __init__(self, alpha=1.0, picky=True):
        self.alpha = alpha
        self.picky = picky

    def fit(self, rows, y):
        """Fit, unless taught."""
        if self.picky and not np.isin(y, Y).all():
            raise ValueError("no pupil")
        self.model_ = Ridge(self.alpha).fit(rows, y)
        return self

    def predict(self, rows):
        """As a ridge regression does."""
        return self.model_.predict(rows)


def test_who_cannot_be_taught_has_no_teacher():
    with pytest.warns(FitFailedWarning, match="no pupil"):
        search = fitted(Picky(), ALPHAS, deliver="student")
    errors = np.array(
        [
            [((Ridge(a).fit(X[i], Y[i]).predict(X[j]) - Y[j]) ** 2).mean() for i, j in FOLDS.split(X)]
            for a in ALPHAS["alpha"]
        ]
    )
    chosen = [np.delete(errors, i, axis=1).mean(axis=1).argmin() for i in range(4)]
    assert search.delivered_.share == 0
    assert search.promise_ == pytest.approx(errors[chosen, range(4)].mean())
    with pytest.raises(ValueError, match="no pupil"):
        fitted(Picky(), ALPHAS, deliver="student", error_score="raise")


def test_those_who_cannot_be_taught_leave_the_others_alone():
    easy = {"alpha": [10.0], "picky": [False]}
    with pytest.warns(FitFailedWarning, match="no pupil"):
        both = fitted(Picky(), [{"alpha": [1e6], "picky": [True]}, easy], deliver="student")
    assert both.offers_["student"].promise == fitted(Picky(), easy, deliver="student").promise_


@pytest.mark.parametrize("deliver", AVERAGES)
def test_one_path_or_many_fits(deliver):
    for estimator, grid, y in (
        (Ridge(), ALPHAS, Y),
        (KNeighborsClassifier(), {"n_neighbors": [1, 4]}, LABELS),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 9.0]}, Y),
    ):
        if deliver == "student" and y is LABELS:
            continue
        one, many = (fitted(estimator, grid, y, deliver=deliver, use_paths=u) for u in (True, False))
        assert one.promise_ == pytest.approx(many.promise_)
        assert one.delivered_ == many.delivered_


def test_adaptive_searches_deliver_what_they_looked_at():
    grid = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 3, 9]}
    for deliver in AVERAGES:
        search = fitted(DecisionTreeRegressor(), grid, search="coordinate", deliver=deliver)
        looked_at = np.isfinite(search.ledger_.error[:, search.lattice_.judged]).all(axis=1)
        assert looked_at[list(search.offers_[deliver].candidates)].all()
        assert search.promise_ == search.offers_[deliver].errors.mean()


class Stops(DecisionTreeRegressor):
    """Is interrupted after some fits."""

    left = np.inf

    def fit(self, *args, **kwargs):
        """Fit, or stop."""
        type(self).left -= 1
        if type(self).left < 0:
            raise KeyboardInterrupt
        return super().fit(*args, **kwargs)


@pytest.mark.parametrize("n_fits", [5, 30, 60])
def test_a_student_that_was_interrupted_goes_on(n_fits, tmp_path, monkeypatch):
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 4]}
    whole = fitted(Stops(), grid, deliver="student")
    assert whole.n_fits_ > 60
    monkeypatch.setattr(Stops, "left", n_fits)
    with pytest.raises(KeyboardInterrupt):
        fitted(Stops(), grid, deliver="student", ledger=tmp_path / "ledger")
    monkeypatch.setattr(Stops, "left", np.inf)
    again = fitted(Stops(), grid, deliver="student", ledger=tmp_path / "ledger")
    assert again.delivered_ == whole.delivered_
    assert (again.promise_, again.promise_interval_) == (whole.promise_, whole.promise_interval_)
    assert_array_equal(again.predict(X), whole.predict(X))
    for kind, offer in whole.offers_.items():
        assert_array_equal(again.offers_[kind].errors, offer.errors)


@pytest.mark.parametrize("deliver", KINDS)
def test_searches_inside_of_others(deliver):
    search = StabilitySearchCV(Ridge(), ALPHAS, cv=3, deliver=deliver)
    literal = []
    for train, test in KFold(2).split(X):
        own = clone(search).fit(X[train], Y[train])
        literal.append(own.score(X[test], Y[test]))
    assert_allclose(cross_val_score(search, X, Y, cv=KFold(2), error_score="raise"), literal)
    piped = make_pipeline(StandardScaler(), search).fit(X, Y)
    assert_allclose(
        piped.predict(X), search.fit(StandardScaler().fit_transform(X), Y).predict(piped[0].transform(X))
    )
    assert BaggingRegressor(search, n_estimators=2, random_state=0).fit(X, Y).predict(X).shape == (N,)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_committee_of_any_splits_is_the_average_of_their_models(data):
    n_splits = data.draw(st.integers(3, 5))
    folds = data.draw(st.lists(st.integers(0, n_splits - 1), min_size=N, max_size=N))
    folds[:n_splits] = range(n_splits)
    folds = np.array(folds)
    splits = [(np.flatnonzero(folds != i), np.flatnonzero(folds == i)) for i in range(n_splits)]
    alphas = data.draw(st.lists(st.sampled_from([0.01, 1.0, 30.0, 900.0]), min_size=1, unique=True))
    search = fitted(Ridge(), {"alpha": alphas}, cv=splits, deliver="committee")
    [chosen] = search.delivered_.params
    models = [Ridge(**chosen).fit(X[train], Y[train]) for train, _ in splits]
    assert_allclose(search.predict(X), np.mean([model.predict(X) for model in models], axis=0))
    low, high = search.promise_interval_
    assert low <= search.promise_ <= high
    for i, (train, test) in enumerate(splits):
        inside = [np.intersect1d(train, splits[j][0]) for j in range(n_splits) if j != i]
        errors = []
        for alpha in alphas:
            said = np.mean([Ridge(alpha).fit(X[r], Y[r]).predict(X[test]) for r in inside], axis=0)
            errors.append(((Y[test] - said) ** 2).mean())
        assert np.isclose(search.offers_["committee"].errors[i], errors).any()


def test_votes_and_guesses():
    voting = fitted(RidgeClassifier(), ALPHAS, LABELS, deliver="ensemble")
    assert set(voting.predict(X)) <= set("abc")
    with pytest.raises(ValueError, match="does not have"):
        voting.predict_set(X)
    guess = fitted(DummyRegressor(), {"strategy": ["mean", "median"]}, deliver="student")
    assert len(set(guess.predict(X))) == 1


def test_routed_weights_are_those_that_are_given():
    from sklearn import config_context

    weight = RNG.uniform(0.5, 2, size=N)
    grid = {"logisticregression__C": [0.1, 10.0]}
    for deliver in KINDS:
        plain = fitted(
            make_pipeline(StandardScaler(), LogisticRegression()),
            grid,
            LABELS,
            fit={"sample_weight": weight},
            deliver=deliver,
        )
        with config_context(enable_metadata_routing=True):
            pipeline = make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False),
                LogisticRegression().set_fit_request(sample_weight=True),
            )
            routed = fitted(pipeline, grid, LABELS, fit={"sample_weight": weight}, deliver=deliver)
        assert routed.promise_ == plain.promise_
        assert_array_equal(routed.predict_proba(X), plain.predict_proba(X))
