"""What is delivered, held to slow and literal ways to say the same."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score, roc_auc_score
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.delivery import MOST_BYTES
from steadycv.made_rows import with_made_rows
from steadycv.students import TEACHINGS, Teaching

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.normal(scale=0.5, size=60)
LABELS = np.array(["a", "b", "c"])[(Y > 0.5).astype(int) + (Y > 1.5)]
FOLDS = KFold(4, shuffle=True, random_state=1)
ALPHAS = {"alpha": [0.1, 10.0, 1000.0]}
NUMBERS = {"n_neighbors": [1, 3, 7]}


def literal_errors(estimator, settings, y, cv, error, average):
    """By candidate and split, the error of the average of models without it and one more split."""
    splits = list(cv.split(X))
    table = []
    for setting in settings:
        model = clone(estimator).set_params(**setting)
        row = []
        for i, (train, test) in enumerate(splits):
            inside = [np.intersect1d(train, other) for j, (other, _) in enumerate(splits) if j != i]
            members = [clone(model).fit(X[rows], y[rows]) for rows in inside]
            row.append(error(y[test], average([(m, X[test]) for m in members])))
        table.append(row)
    return np.array(table)


def mean_of(method):
    return lambda asked: np.mean([getattr(model, method)(rows) for model, rows in asked], axis=0)


def votes(asked):
    said = np.array([model.predict(rows) for model, rows in asked])
    counts = np.array([(said == label).sum(axis=0) for label in "abc"])
    return np.array(list("abc"))[counts.argmax(axis=0)]


def labels_of_means(asked):
    return np.array(list("abc"))[mean_of("predict_proba")(asked).argmax(axis=1)]


def fitted(estimator, grid, y=Y, cv=FOLDS, **how):
    return StabilitySearchCV(estimator, grid, cv=cv, **how).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "grid", "y", "how", "error", "average"),
    [
        (Ridge(), ALPHAS, Y, {}, mean_squared_error, mean_of("predict")),
        (
            KNeighborsRegressor(),
            NUMBERS,
            Y,
            {"use_paths": False},
            mean_squared_error,
            mean_of("predict"),
        ),
        (
            Ridge(),
            ALPHAS,
            Y,
            {"scoring": "r2"},
            lambda y, said: -r2_score(y, said),
            mean_of("predict"),
        ),
        (
            KNeighborsClassifier(),
            NUMBERS,
            LABELS,
            {},
            lambda y, said: 1 - accuracy_score(y, said),
            labels_of_means,
        ),
        (RidgeClassifier(), ALPHAS, LABELS, {}, lambda y, said: 1 - accuracy_score(y, said), votes),
        (
            RidgeClassifier(),
            ALPHAS,
            LABELS == "a",
            {"scoring": "roc_auc"},
            lambda y, said: -roc_auc_score(y, said),
            mean_of("decision_function"),
        ),
    ],
    ids=["ridge", "neighbours", "r2", "probabilities", "votes", "decisions"],
)
def test_committees_are_judged_by_models_without_two_folds(estimator, grid, y, how, error, average):
    [(name, values)] = grid.items()
    settings = [{name: value} for value in values]
    expected = literal_errors(estimator, settings, y, FOLDS, error, average)
    search = fitted(estimator, grid, y, deliver="committee", **how)
    offer = search.offers_["committee"]
    best = expected.mean(axis=1).argmin()
    assert offer.candidates == (best,)
    chosen = [np.delete(expected, i, axis=1).mean(axis=1).argmin() for i in range(4)]
    assert_allclose(offer.errors, expected[chosen, range(4)], atol=1e-12)
    assert search.promise_ == pytest.approx(expected[chosen, range(4)].mean())


@pytest.mark.parametrize("cv", [TimeSeriesSplit(5), ShuffleSplit(5, random_state=0)])
def test_committees_of_other_splitters(cv):
    search = fitted(Ridge(), ALPHAS, cv=cv, deliver="committee")
    lattice, splits = search.lattice_, list(cv.split(X))
    for view, error in zip(lattice.views, search.offers_["committee"].errors, strict=True):
        train, test = splits[view.split]
        members = {
            tuple(np.intersect1d(train, other)) for j, (other, _) in enumerate(splits) if j != view.split
        }
        seen = {
            tuple(np.intersect1d(train, splits[j][0]))
            for j in range(len(splits))
            if j != view.split
            and np.intersect1d(train, splits[j][0]).size
            and np.isin(splits[j][1], train).any()
        }
        assert seen <= members
        errors = [
            mean_squared_error(
                Y[test],
                np.mean([Ridge(a).fit(X[list(r)], Y[list(r)]).predict(X[test]) for r in seen], axis=0),
            )
            for a in ALPHAS["alpha"]
        ]
        assert any(error == pytest.approx(each) for each in errors)


def test_a_committee_is_the_average_of_the_fold_models():
    search = fitted(DecisionTreeRegressor(), {"max_depth": [2, 4]}, deliver="committee")
    [params] = search.delivered_.params
    members = [
        DecisionTreeRegressor(random_state=0, **params).fit(X[train], Y[train])
        for train, _ in FOLDS.split(X)
    ]
    assert_allclose(search.predict(X), np.mean([m.predict(X) for m in members], axis=0))
    assert (search.delivered_.n_members, search.delivered_.weights) == (4, (1.0,))
    assert search.best_params_ == fitted(DecisionTreeRegressor(), {"max_depth": [2, 4]}).best_params_


def test_a_committee_takes_no_fit_but_its_members():
    grid = {"max_depth": [2, 4], "min_samples_leaf": [1, 5]}
    model = fitted(DecisionTreeRegressor(), grid)
    assert model.offers_.keys() == {"model", "committee", "ensemble"}
    for deliver in ("committee", "ensemble"):
        search = fitted(DecisionTreeRegressor(), grid, deliver=deliver)
        assert search.n_fits_ == model.n_fits_ + search.delivered_.n_members
        assert_array_equal(search.offers_[deliver].errors, model.offers_[deliver].errors)


def test_an_ensemble_is_chosen_greedily_and_not_by_the_fold_that_judges_it():
    settings = [{"n_neighbors": k} for k in NUMBERS["n_neighbors"]]
    search = fitted(KNeighborsRegressor(), NUMBERS, deliver="ensemble")
    splits = list(FOLDS.split(X))

    def said(setting, i):
        inside = [np.intersect1d(splits[i][0], splits[j][0]) for j in range(4) if j != i]
        models = [KNeighborsRegressor(**setting).fit(X[rows], Y[rows]) for rows in inside]
        return np.mean([model.predict(X[splits[i][1]]) for model in models], axis=0)

    table = [[said(setting, i) for i in range(4)] for setting in settings]

    def errors(chosen, folds):
        means = {i: np.mean([table[c][i] for c in chosen], axis=0) for i in folds}
        return np.mean([mean_squared_error(Y[splits[i][1]], means[i]) for i in folds])

    def greedy(folds):
        chosen = []
        for _ in range(20):
            chosen.append(int(np.argmin([errors([*chosen, c], folds) for c in range(3)])))
        return chosen

    by_fold = [errors(greedy([j for j in range(4) if j != i]), [i]) for i in range(4)]
    assert_allclose(search.offers_["ensemble"].errors, by_fold)
    counts = np.bincount(greedy(range(4)), minlength=3) / 20
    assert_allclose(search.delivered_.weights, counts[counts > 0])
    members = [
        [KNeighborsRegressor(**settings[c]).fit(X[train], Y[train]) for train, _ in splits]
        for c in search.offers_["ensemble"].candidates
    ]
    means = [np.mean([m.predict(X) for m in each], axis=0) for each in members]
    assert_allclose(search.predict(X), np.average(means, axis=0, weights=search.delivered_.weights))


def test_a_student_learns_from_the_committee():
    alphas = ALPHAS["alpha"]
    search = fitted(Ridge(), ALPHAS, deliver="student")
    expected = literal_errors(
        Ridge(), [{"alpha": a} for a in alphas], Y, FOLDS, mean_squared_error, mean_of("predict")
    )
    splits, shares = list(FOLDS.split(X)), [0.0, 0.5, 0.8, 1.0]

    def taught(rows, inside, teacher, share):
        said = np.mean([Ridge(teacher).fit(X[r], Y[r]).predict(X[rows]) for r in inside], axis=0)
        return (1 - share) * Y[rows] + share * said

    errors = np.empty((len(shares), len(alphas), 4))
    for i, (train, test) in enumerate(splits):
        teacher = alphas[np.delete(expected, i, axis=1).mean(axis=1).argmin()]
        inside = [np.intersect1d(train, splits[j][0]) for j in range(4) if j != i]
        for s, share in enumerate(shares):
            target = taught(train, inside, teacher, share)
            for a, alpha in enumerate(alphas):
                said = Ridge(alpha).fit(X[train], target).predict(X[test])
                errors[s, a, i] = mean_squared_error(Y[test], said)
    flat = errors.reshape(-1, 4)
    chosen = [np.delete(flat, i, axis=1).mean(axis=1).argmin() for i in range(4)]
    assert_allclose(search.offers_["student"].errors, flat[chosen, range(4)])
    share, alpha = np.unravel_index(flat.mean(axis=1).argmin(), errors.shape[:2])
    assert (search.delivered_.share, search.delivered_.params) == (
        shares[share],
        ({"alpha": alphas[alpha]},),
    )
    teacher = alphas[expected.mean(axis=1).argmin()]
    target = taught(np.arange(60), [train for train, _ in splits], teacher, shares[share])
    student = Ridge(alphas[alpha]).fit(X, target)
    assert_allclose(search.best_estimator_.coef_, student.coef_)


@pytest.fixture
def without_made_rows(monkeypatch):
    monkeypatch.setattr("steadycv.delivery.TEACHINGS", [t for t in TEACHINGS if not t.with_made_rows])


@pytest.mark.usefixtures("without_made_rows")
def test_a_student_of_classes_counts_rows_and_not_their_copies():
    grid = {"min_samples_leaf": [2, 5], "min_samples_split": [2, 20]}
    search = fitted(DecisionTreeClassifier(), grid, LABELS, loss="brier", deliver="student")
    student, share = search.best_estimator_, search.delivered_.share
    assert isinstance(student, DecisionTreeClassifier)
    assert student.min_samples_leaf == search.delivered_.params[0]["min_samples_leaf"]
    n_rows = np.bincount(student.apply(X))
    leaves = np.flatnonzero(student.tree_.children_left < 0)
    assert n_rows[leaves].min() >= student.min_samples_leaf
    counted = student.tree_.n_node_samples / (1 if share == 0 else 3)
    assert_allclose(counted[leaves], n_rows[leaves])


@pytest.mark.usefixtures("without_made_rows")
def test_soft_labels_are_weighted_copies():
    """A tree on copies of rows splits as a regression tree on the mixed probabilities does."""
    search = fitted(
        DecisionTreeClassifier(), {"max_depth": [2]}, LABELS, loss="brier", deliver="student"
    )
    share = search.delivered_.share
    assert share > 0
    hard = (LABELS[:, np.newaxis] == np.array(list("abc"))).astype(float)
    members = [
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[train], LABELS[train])
        for train, _ in FOLDS.split(X)
    ]
    said = np.mean([member.predict_proba(X) for member in members], axis=0)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, (1 - share) * hard + share * said)
    assert_allclose(search.predict_proba(X), tree.predict(X), atol=1e-6)


def test_a_student_learns_from_made_rows(monkeypatch):
    """Of these the teacher alone knows."""
    taught = Teaching(0.8, with_made_rows=True)
    monkeypatch.setattr("steadycv.delivery.TEACHINGS", (TEACHINGS[0], taught))
    search = fitted(KNeighborsRegressor(), {"n_neighbors": [1]}, deliver="student")
    splits = list(FOLDS.split(X))

    def student(rows, inside):
        more, source = with_made_rows(X, rows)
        models = [KNeighborsRegressor(1).fit(X[r], Y[r]) for r in inside]
        said = np.mean([model.predict(more) for model in models], axis=0)
        learnt = np.concatenate([rows, np.arange(60, 60 + len(source))])
        target = np.concatenate([0.2 * Y + 0.8 * said[:60], said[60:]])
        return KNeighborsRegressor(1).fit(more[learnt], target[learnt])

    errors = []
    for i, (train, test) in enumerate(splits):
        inside = [np.intersect1d(train, splits[j][0]) for j in range(4) if j != i]
        errors.append(mean_squared_error(Y[test], student(train, inside).predict(X[test])))
    assert_allclose(search.offers_["student"].errors, errors)
    assert (search.delivered_.share, search.delivered_.n_made_rows) == (0.8, 300)
    whole = student(np.arange(60), [train for train, _ in splits])
    assert_allclose(search.predict(X), whole.predict(X))


def test_without_sample_weights_a_classifier_has_no_teacher():
    with pytest.warns(UserWarning, match="no sample weights") as caught:
        search = fitted(KNeighborsClassifier(), NUMBERS, LABELS, deliver="student")
    assert caught[0].filename == __file__
    assert search.delivered_.share == 0
    assert search.delivered_.params == (search.kfold_params_,)


@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble", "student"])
def test_the_same_with_a_ledger_with_cores_and_after_pickling(deliver, tmp_path):
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    plain = fitted(DecisionTreeRegressor(), grid, deliver=deliver)
    small = {"max_depth": [1, 2], "min_samples_leaf": [5]}
    path = tmp_path / "ledger"
    fitted(DecisionTreeRegressor(), small, ledger=path)
    for how in ({"ledger": path}, {"ledger": path}, {"n_jobs": 2}):
        other = fitted(DecisionTreeRegressor(), grid, deliver=deliver, **how)
        assert_array_equal(other.predict(X), plain.predict(X))
        for kind, offer in plain.offers_.items():
            assert_array_equal(other.offers_[kind].errors, offer.errors)
    again = pickle.loads(pickle.dumps(plain))
    assert again.promise_ == plain.promise_
    assert again.offers_.keys() == plain.offers_.keys()
    assert again._delivery is None
    assert_array_equal(again.predict(X), plain.predict(X))


@pytest.mark.parametrize("deliver", ["committee", "ensemble"])
def test_what_does_not_fit_is_fitted_again(deliver, monkeypatch):
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    whole = fitted(DecisionTreeRegressor(), grid, deliver=deliver)
    monkeypatch.setitem(MOST_BYTES, "delivered", 5000)  # two candidates, and four averages
    parts = fitted(DecisionTreeRegressor(), grid, deliver=deliver)
    assert parts.n_fits_ > whole.n_fits_
    if deliver == "committee":
        assert_array_equal(parts.offers_[deliver].errors, whole.offers_[deliver].errors)
        assert_array_equal(parts.predict(X), whole.predict(X))


def test_repeats_judge_by_what_shares_no_row():
    cv = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)
    search = fitted(Ridge(), ALPHAS, cv=cv, deliver="committee")
    assert len(search.offers_["committee"].errors) == 8
    assert search.delivered_.n_members == 8


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"nested": False, "stability_weights": 0}, "needs nested=True"),
        ({"refit": False}, "refit=False"),
        ({"refit": lambda results: 0}, "the function refit"),
        ({"cv": 2}, "three or more views"),
        ({"deliver": "council"}, "deliver"),
    ],
)
@pytest.mark.filterwarnings("ignore:No nested cross-validation")
def test_what_cannot_be_delivered(how, message):
    with pytest.raises(ValueError, match=message):
        fitted(Ridge(), ALPHAS, **{"deliver": "committee"} | how)


def test_scaled_models_and_weights():
    weight = np.arange(60) % 3 + 0.5
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 10.0]}
    for deliver in ("committee", "ensemble", "student"):
        search = StabilitySearchCV(pipeline, grid, cv=FOLDS, loss="log_loss", deliver=deliver)
        search.fit(X, LABELS, sample_weight=weight)
        assert search.predict_proba(X).shape == (60, 3)
        assert search.promise_ > 0


@pytest.mark.parametrize("kind", ["model", "committee", "ensemble", "student"])
@pytest.mark.parametrize(
    ("estimator", "y"), [(KNeighborsRegressor(), Y), (KNeighborsClassifier(), LABELS)]
)
def test_delivered_as_is_what_another_deliver_delivers(estimator, y, kind):
    asked_for = "student" if kind == "student" else "committee"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*no teacher")
        search = fitted(estimator, NUMBERS, y, deliver=asked_for)
        other = fitted(estimator, NUMBERS, y, deliver=kind)
    found, n_fits = search.delivered_as(kind), search.n_fits_
    assert_array_equal(found.predict(X), other.predict(X))
    assert search.n_fits_ == n_fits


def test_delivered_as_names_what_there_is():
    search = fitted(Ridge(), ALPHAS)
    with pytest.raises(ValueError, match="one of offers_, model, committee, ensemble; got 'student'"):
        search.delivered_as("student")
    loaded = pickle.loads(pickle.dumps(search))
    assert_array_equal(loaded.delivered_as("model").predict(X), search.predict(X))
    with pytest.raises(AttributeError, match="not after pickling"):
        loaded.delivered_as("committee")
