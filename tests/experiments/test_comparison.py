import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_squared_error, roc_auc_score, zero_one_loss
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from small import load, tree_grid

from steadycv import StabilitySearchCV
from steadycv.experiments import ComparedModel, TrainTest, run_comparison
from steadycv.experiments.comparison import PLAIN
from steadycv.experiments.result_file import WrongResultsError

X, Y = load("a")
LABELS = np.where(np.median(Y) < Y, "yes", "no")
GROUPS = np.arange(len(Y)) % 9
ORDER = np.random.default_rng(0).permutation(len(Y))
SPLIT = TrainTest(np.sort(ORDER[9:]), np.sort(ORDER[:9]))
SPLITS = [TrainTest(*split) for split in KFold(4, shuffle=True, random_state=0).split(X)]
MODEL = ComparedModel("tree", DecisionTreeRegressor(), tree_grid, cv=KFold(4))
NAMES = ("plain choice", "steady choice", "one standard error", "committee", "ensemble", "student")


def error_of_area(y, model, rows):
    return -roc_auc_score(y, model.predict_proba(rows)[:, 1])


def squared(y, model, rows):
    return mean_squared_error(y, model.predict(rows))


def wrong(y, model, rows):
    return zero_one_loss(y, model.predict(rows))


@pytest.mark.parametrize(
    ("estimator", "y", "how", "groups", "test_error"),
    [
        (DecisionTreeRegressor(), Y, {"cv": KFold(4)}, None, squared),
        (DecisionTreeRegressor(), Y, {"cv": GroupKFold(4)}, GROUPS, squared),
        (DecisionTreeRegressor(), Y, {"cv": TimeSeriesSplit(4)}, None, squared),
        (DecisionTreeClassifier(), LABELS, {"cv": StratifiedKFold(3)}, None, wrong),
        (
            DecisionTreeClassifier(),
            LABELS,
            {"cv": StratifiedKFold(3), "scoring": "roc_auc"},
            None,
            error_of_area,
        ),
    ],
    ids=["numbers", "groups", "time", "classes", "score"],
)
def test_everything_is_that_of_a_search_of_its_own(estimator, y, how, groups, test_error):
    model = ComparedModel("tree", estimator, tree_grid, **how)
    served = {each.served: each for each in model.run(X, y, SPLIT, groups)}
    assert tuple(served) == model.names == NAMES
    params = {} if groups is None else {"groups": groups[SPLIT.train]}
    for name, own in (
        ("plain choice", {"rule": "plain"}),
        ("steady choice", {}),
        ("one standard error", {"rule": "one_standard_error"}),
        ("committee", {"deliver": "committee"}),
        ("ensemble", {"deliver": "ensemble"}),
        ("student", {"deliver": "student"}),
    ):
        search = StabilitySearchCV(clone(estimator), tree_grid(X, y), **how, **own)
        search.fit(X[SPLIT.train], y[SPLIT.train], **params)
        expected = test_error(y[SPLIT.test], search, X[SPLIT.test])
        assert_allclose(served[name].test_error, expected, err_msg=name)
        if name in ("plain choice", "one standard error"):
            assert served[name].parameters == search.best_params_
        if name == "one standard error":
            assert_allclose(served[name].promise, search.nested_error_)
        elif name != "plain choice":
            assert_allclose(served[name].promise, search.promise_)
    lowest = search.cv_results_["cv_error"].min()
    assert_allclose(served["plain choice"].promise, lowest)


def test_a_search_is_fitted_once_whatever_is_delivered(monkeypatch):
    fits = []
    fit = StabilitySearchCV.fit
    monkeypatch.setattr(
        StabilitySearchCV, "fit", lambda self, *args, **how: (fits.append(1), fit(self, *args, **how))[1]
    )
    MODEL.run(X, Y, SPLIT)
    assert len(fits) == 1


def test_only_what_is_asked_for_is_delivered():
    choices = ComparedModel("tree", DecisionTreeRegressor(), tree_grid, cv=KFold(4), deliver=())
    some = ComparedModel("tree", DecisionTreeRegressor(), tree_grid, cv=KFold(4), deliver=("committee",))
    whole = MODEL.run(X, Y, SPLIT)
    assert choices.run(X, Y, SPLIT) == whole[:3]
    assert some.run(X, Y, SPLIT) == whole[:4]


def test_words_and_rows_without_a_score_are_known_before_any_fit():
    model = ComparedModel("l", LogisticRegression(), lambda X, y: {"C": [1.0]}, scoring="roc_auc")
    words, undefined = model.errors(X, LABELS)
    assert (words.name, words.is_score) == ("roc_auc", True)
    assert undefined(np.arange(len(Y))) is None
    assert "not defined" in undefined(np.flatnonzero(LABELS == "yes"))
    words, undefined = MODEL.errors(X, Y)
    assert (words.name, words.is_score) == ("mean squared error", False)
    assert undefined(np.arange(1)) is None


def test_words_are_those_of_a_fitted_search():
    from steadycv.error_words import ErrorWords

    for scoring in (None, "r2", "neg_mean_absolute_error"):
        model = ComparedModel("tree", DecisionTreeRegressor(), tree_grid, cv=KFold(4), scoring=scoring)
        fitted = model.search(X, Y).fit(X, Y)
        assert model.errors(X, Y)[0] == ErrorWords.of(fitted)


def run(path, splits=SPLITS, models=(MODEL,), **how):
    run_comparison(models, X, Y, splits, path, name="a", **how)
    return pd.read_csv(path).drop(columns="seconds")


def test_a_file_grows(tmp_path):
    path = tmp_path / "x.csv"
    first = run(path, SPLITS[:2])
    assert len(first) == 2 * len(NAMES)
    longer = run(path)
    pd.testing.assert_frame_equal(longer[longer["split"] < 2], first)
    pd.testing.assert_frame_equal(longer, run(tmp_path / "y.csv", jobs=2))
    assert set(run(path, only=[0])["split"]) == {0, 1, 2, 3}


def test_what_was_done_before_an_interruption_is_not_done_again(tmp_path, monkeypatch):
    path, done, fit = tmp_path / "x.csv", [], StabilitySearchCV.fit

    def interrupted(self, *args, **how):
        done.append(1)
        if len(done) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **how)

    monkeypatch.setattr(StabilitySearchCV, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(path)
    assert len(pd.read_csv(path)) == 2 * len(NAMES)
    found = run(path)
    assert len(done) == 5
    pd.testing.assert_frame_equal(found, run(tmp_path / "whole.csv"))


@pytest.mark.parametrize(
    "other",
    [
        {"models": [ComparedModel("tree", DecisionTreeRegressor(max_leaf_nodes=3), tree_grid)]},
        {"models": [ComparedModel("tree", DecisionTreeRegressor(), tree_grid, deliver=())]},
        {"splits": SPLITS[::-1]},
        {"groups": GROUPS},
    ],
    ids=["estimator", "deliver", "splits", "groups"],
)
def test_results_of_something_else_are_refused(tmp_path, other):
    path = tmp_path / "x.csv"
    run(path)
    with pytest.raises(WrongResultsError, match="another configuration"):
        run(path, **other)


def test_models_share_a_file(tmp_path):
    other = ComparedModel(
        "stump", DecisionTreeRegressor(max_depth=1), lambda X, y: {"min_samples_leaf": [1, 9]}
    )
    frame = run(tmp_path / "x.csv", SPLITS[:2], [MODEL, other])
    assert set(frame["model"]) == {"tree", "stump"}
    assert frame.loc[frame["served"] == PLAIN, "same_choice"].all()
