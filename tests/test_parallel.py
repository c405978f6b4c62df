"""Cores, backends, metadata, containers, progress: nothing of these changes a result."""

import contextlib
import pickle
import threading
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.lattice import Lattice

N = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=N)
WEIGHT = RNG.uniform(0.1, 3.0, size=N)
GROUPS = np.repeat(range(6), 5)
RIDGE = Ridge()
GRID = {"alpha": [0.1, 1.0, 10.0, 100.0]}


def search(estimator=RIDGE, grid=GRID, **params):
    return StabilitySearchCV(estimator, grid, **{"cv": 3, **params})


def assert_same_results(one, other, *, rtol=0):
    for name in ("best_index_", "stability_weight_", "kfold_index_", "n_fits_", "n_splits_"):
        assert getattr(one, name) == getattr(other, name), name
    for table in ("cv_results_", "weights_"):
        mine, theirs = getattr(one, table), getattr(other, table)
        assert set(mine) == set(theirs)
        for key in mine:
            if key == "params" or key.startswith("param_"):
                assert list(mine[key]) == list(theirs[key])
            elif "time" not in key:
                np.testing.assert_allclose(mine[key], theirs[key], rtol=rtol, err_msg=key)
    np.testing.assert_allclose(one.out_of_fold_predictions_, other.out_of_fold_predictions_, rtol=rtol)


# Cores and backends.

FOREST = RandomForestRegressor(n_estimators=3)
PLANE = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 2, 4], "max_features": [1, 2]}
SEARCHES = {
    "grid": search(FOREST, {"max_depth": [1, 2, 3]}),
    "coordinate": search(FOREST, PLANE, search="coordinate", stability_weights=[0, 1, 10]),
}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # Python 3.12 on, of fork
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("backend", ["n_jobs", "loky", "threading", "multiprocessing"])
def test_result_does_not_depend_on_the_backend(kind, backend):
    serial = clone(SEARCHES[kind]).fit(X, Y)
    parallel = clone(SEARCHES[kind])
    if backend == "n_jobs":
        parallel.set_params(n_jobs=2).fit(X, Y)
    else:
        with joblib.parallel_config(backend, n_jobs=2):
            parallel.fit(X, Y)
    assert_same_results(parallel, serial)


@pytest.mark.parametrize("pre_dispatch", [1, "all"])
def test_result_does_not_depend_on_pre_dispatch(pre_dispatch):
    serial = search().fit(X, Y)
    with joblib.parallel_config("threading"):
        parallel = search(n_jobs=2, pre_dispatch=pre_dispatch).fit(X, Y)
    assert_same_results(parallel, serial)


def test_result_with_probabilities_and_several_scores():
    data, y = make_classification(60, 5, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
    params = {"scoring": ["accuracy", "neg_log_loss", "f1_macro"], "refit": "neg_log_loss"}
    searches = [
        search(LogisticRegression(), {"C": [0.1, 1.0]}, return_train_score=True, n_jobs=n_jobs, **params)
        for n_jobs in (1, 2)
    ]
    assert_same_results(*[each.fit(data, y) for each in searches])


def test_random_estimator_gives_the_same_result_twice():
    """Where random_state is None, every fit uses 0."""
    first, second = (clone(SEARCHES["grid"]).fit(X, Y) for _ in range(2))
    assert_same_results(first, second)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    seeded = search(RandomForestRegressor(n_estimators=3, random_state=0), {"max_depth": [1, 2, 3]})
    assert_same_results(first, seeded.fit(X, Y))


def test_random_step_of_a_pipeline_gives_the_same_result_twice():
    pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_features=1))
    grid = {"decisiontreeregressor__max_depth": [1, 2, 3]}
    assert_same_results(*[search(pipeline, grid).fit(X, Y) for _ in range(2)])
    assert pipeline[-1].random_state is None  # the user's own estimator is left alone


# Metadata.

routing = pytest.mark.parametrize("routing", [False, True], ids=["plain", "routing"])


def metadata_routing(enabled):
    return sklearn.config_context(enable_metadata_routing=enabled)


def weighted_fold_errors(cv, groups=None):
    """By hand, of Ridge(alpha=1): weights in the fit and in the mean."""
    errors = []
    for train, test in cv.split(X, Y, groups):
        model = Ridge(alpha=1.0).fit(X[train], Y[train], WEIGHT[train])
        errors.append(np.average((model.predict(X[test]) - Y[test]) ** 2, weights=WEIGHT[test]))
    return errors


@routing
def test_sample_weight_goes_to_fits_and_losses(routing):
    with metadata_routing(routing):
        ridge = Ridge().set_fit_request(sample_weight=True) if routing else Ridge()
        fitted = search(ridge, {"alpha": [1.0]}).fit(X, Y, sample_weight=WEIGHT)
    errors = fitted.ledger_.error[0, fitted.lattice_.evaluation_of_split]
    np.testing.assert_allclose(errors, weighted_fold_errors(KFold(3)))
    refitted = Ridge(alpha=1.0).fit(X, Y, WEIGHT)
    np.testing.assert_array_equal(fitted.predict(X), refitted.predict(X))


@routing
def test_groups_go_to_the_splitter(routing):
    with metadata_routing(routing):
        fitted = search(cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert_same_results(fitted, search(cv=list(GroupKFold(3).split(X, Y, GROUPS))).fit(X, Y))


@routing
def test_groups_and_sample_weight(routing):
    with metadata_routing(routing):
        ridge = Ridge().set_fit_request(sample_weight=True) if routing else Ridge()
        fitted = search(ridge, {"alpha": [1.0]}, cv=GroupKFold(3))
        fitted.fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
    assert fitted.cv_error_ == pytest.approx(np.mean(weighted_fold_errors(GroupKFold(3), GROUPS)))


def test_no_group_is_split_inside_an_outer_fold_either():
    lattice = Lattice(GroupKFold(3).split(X, Y, GROUPS), N)
    for training_set in range(lattice.n_training_sets):
        rows = lattice.rows(training_set)
        assert not set(GROUPS[rows]) & set(GROUPS[np.setdiff1d(range(N), rows)])


def test_groups_are_needed():
    with pytest.raises(ValueError, match="groups"):
        search(cv=GroupKFold(3)).fit(X, Y)


@routing
def test_driving_score_is_weighted(routing):
    scorer = get_scorer("neg_mean_absolute_error")
    with metadata_routing(routing):
        if routing:
            scorer = scorer.set_score_request(sample_weight=True)
        ridge = Ridge().set_fit_request(sample_weight=True) if routing else Ridge()
        fitted = search(ridge, scoring=scorer).fit(X, Y, sample_weight=WEIGHT)
    by_loss = search(loss="absolute_error").fit(X, Y, sample_weight=WEIGHT)
    assert fitted.cv_error_ == pytest.approx(by_loss.cv_error_)
    assert fitted.best_score_ == pytest.approx(-by_loss.cv_error_)
    assert fitted.nested_error_ == pytest.approx(by_loss.nested_error_)


@pytest.mark.parametrize("of_fit", [True, False, "mine"])
@pytest.mark.parametrize("of_score", [True, False, "mine"])
def test_routing_says_who_gets_which_weights(of_fit, of_score):
    """Both may ask for weights, under their own names; who does not ask gets none."""
    values = {True: WEIGHT, False: None, "mine": WEIGHT[::-1].copy()}
    errors = []
    for train, test in KFold(3).split(X):
        fit_weight, score_weight = values[of_fit], values[of_score]
        model = Ridge(alpha=1.0).fit(
            X[train], Y[train], None if fit_weight is None else fit_weight[train]
        )
        weights = None if score_weight is None else score_weight[test]
        errors.append(np.average(np.abs(model.predict(X[test]) - Y[test]), weights=weights))

    passed = {of_fit, of_score} - {False}
    params = {"sample_weight" if each is True else each: values[each] for each in passed}
    with metadata_routing(True):
        ridge = Ridge().set_fit_request(sample_weight=of_fit)
        scorer = get_scorer("neg_mean_absolute_error").set_score_request(sample_weight=of_score)
        fitted = search(ridge, {"alpha": [1.0]}, scoring=scorer).fit(X, Y, **params)
    assert fitted.cv_error_ == pytest.approx(np.mean(errors))
    assert fitted.best_score_ == pytest.approx(-np.mean(errors))


def test_routing_needs_to_be_told():
    with metadata_routing(True), pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search().fit(X, Y, sample_weight=WEIGHT)


def test_scorers_of_several_metrics_are_weighted():
    names = ["neg_mean_squared_error", "r2"]
    fitted = search(scoring=names, refit=names[0], grid={"alpha": [1.0]})
    fitted.fit(X, Y, sample_weight=WEIGHT)
    r2 = []
    for train, test in KFold(3).split(X):
        model = Ridge(alpha=1.0).fit(X[train], Y[train], WEIGHT[train])
        r2.append(model.score(X[test], Y[test], WEIGHT[test]))
    assert fitted.cv_results_["mean_test_r2"][0] == pytest.approx(np.mean(r2))


def test_score_without_weights_is_reported_with_a_warning():
    def unweighted(estimator, X, y):
        return 1.0

    fitted = search(scoring={"a": unweighted, "b": unweighted}, loss="squared_error")
    with pytest.warns(UserWarning, match="unweighted.* does not support sample_weight"):
        fitted.fit(X, Y, sample_weight=WEIGHT)
    assert fitted.cv_results_["mean_test_a"].tolist() == [1.0] * 4
    assert fitted.cv_error_ == search().fit(X, Y, sample_weight=WEIGHT).cv_error_


def ridge_pipeline():
    return Pipeline([("scale", StandardScaler()), ("ridge", Ridge())])


PIPELINE_GRID = {"ridge__alpha": GRID["alpha"]}


@routing
def test_last_step_of_a_pipeline_gets_the_weights(routing):
    with metadata_routing(routing):
        pipeline = ridge_pipeline()
        if routing:
            pipeline["scale"].set_fit_request(sample_weight=False)
            pipeline["ridge"].set_fit_request(sample_weight=True)
        fitted = search(pipeline, PIPELINE_GRID).fit(X, Y, sample_weight=WEIGHT)
    by_hand = ridge_pipeline().set_params(**fitted.best_params_).fit(X, Y, ridge__sample_weight=WEIGHT)
    np.testing.assert_allclose(fitted.predict(X), by_hand.predict(X))
    errors = []
    for train, test in KFold(3).split(X):
        model = clone(by_hand).fit(X[train], Y[train], ridge__sample_weight=WEIGHT[train])
        errors.append(np.average((model.predict(X[test]) - Y[test]) ** 2, weights=WEIGHT[test]))
    assert fitted.cv_error_ == pytest.approx(np.mean(errors))


def test_last_step_of_a_pipeline_in_a_pipeline_gets_the_weights():
    nested = Pipeline([("scale", StandardScaler()), ("model", ridge_pipeline())])
    grid = {"model__ridge__alpha": GRID["alpha"]}
    fitted = search(nested, grid).fit(X, Y, sample_weight=WEIGHT)
    flat = search(ridge_pipeline(), PIPELINE_GRID).fit(X, Y, sample_weight=WEIGHT)
    assert fitted.cv_error_ == pytest.approx(flat.cv_error_)


@pytest.mark.parametrize("container", [list, pd.Series, lambda w: w.astype(np.float32)])
def test_containers_of_weights(container):
    weight = np.round(WEIGHT * 4) / 4 + 0.25  # the same number in single precision
    fitted = search().fit(X, Y, sample_weight=container(weight))
    assert_same_results(fitted, search().fit(X, Y, sample_weight=weight), rtol=1e-9)


def test_equal_weights_are_no_weights():
    tree = search(DecisionTreeRegressor(), {"max_depth": [1, 2, 3]})
    weighted = clone(tree).fit(X, Y, sample_weight=np.full(N, 2.0))
    assert_same_results(weighted, tree.fit(X, Y), rtol=1e-9)


# A citizen of scikit-learn.


def test_clone_and_params():
    original = search(cv=4, stability_weights=[0, 1], n_jobs=2, ledger="some.file")
    assert clone(original).get_params().keys() == original.get_params().keys()
    assert clone(original).stability_weights == [0, 1]
    assert clone(original).ledger == "some.file"
    assert original.get_params()["estimator__alpha"] == 1.0
    original.set_params(estimator__fit_intercept=False, nested=False, stability_weights=0)
    fitted = original.set_params(n_jobs=None, ledger=None).fit(X, Y)
    assert fitted.best_estimator_.intercept_ == 0
    assert not hasattr(clone(fitted), "best_params_")


def test_pickle():
    fitted = search(ridge_pipeline(), PIPELINE_GRID).fit(X, Y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_same_results(copy, fitted)
    assert copy.nested_error_ == fitted.nested_error_
    assert copy.score(X, Y) == fitted.score(X, Y)
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))


COLUMNS = ["age", "height", "weight"]


def test_pandas():
    frame, target = pd.DataFrame(X, columns=COLUMNS), pd.Series(Y, name="target")
    shuffled_index = np.random.default_rng(1).permutation(N)
    frame.index = target.index = shuffled_index
    fitted = search().fit(frame, target)
    assert fitted.feature_names_in_.tolist() == COLUMNS
    assert fitted.n_features_in_ == 3
    assert_same_results(fitted, search().fit(X, Y), rtol=1e-9)  # other memory order
    np.testing.assert_allclose(fitted.predict(frame), search().fit(X, Y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[COLUMNS[::-1]])


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=COLUMNS)
    fitted = search().fit(frame, polars.Series("target", Y))
    assert fitted.feature_names_in_.tolist() == COLUMNS
    assert_same_results(fitted, search().fit(X, Y), rtol=1e-9)  # other memory order


def test_lists():
    assert_same_results(search().fit(X.tolist(), Y.tolist()), search().fit(X, Y))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_inside_cross_val_score(n_jobs):
    scores = cross_val_score(search(), X, Y, cv=KFold(3), n_jobs=n_jobs)
    by_hand = [
        search().fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in KFold(3).split(X)
    ]
    np.testing.assert_allclose(scores, by_hand)


def test_inside_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), search()).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(pipeline.predict(X), search().fit(scaled, Y).predict(scaled))
    assert pipeline.score(X, Y) == pytest.approx(search().fit(scaled, Y).score(scaled, Y))


def test_inside_a_search():
    outer = search(search(), {"estimator__fit_intercept": [True, False]}, stability_weights=[0, 1])
    fitted = outer.fit(X, Y)
    assert isinstance(fitted.best_estimator_, StabilitySearchCV)
    assert fitted.best_estimator_.best_params_["alpha"] in GRID["alpha"]


# Progress.


def test_bar(capfd):
    search(verbose=1, use_paths=False).fit(X, Y)
    captured = capfd.readouterr()
    assert "28/28" in captured.err
    assert captured.out == ""


def test_bar_of_an_adaptive_search(capfd):
    fitted = search(FOREST, PLANE, search="coordinate", verbose=1).fit(X, Y)
    assert f"{fitted.n_fits_}/{fitted.n_fits_}" in capfd.readouterr().err


def test_bar_of_a_search_in_parallel(capfd):
    with joblib.parallel_config("threading", n_jobs=2):
        search(verbose=1, use_paths=False).fit(X, Y)
    assert "28/28" in capfd.readouterr().err


def test_bar_stops_when_the_search_does():
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="NaN"):
        search(verbose=1, error_score="raise").fit(np.full_like(X, np.nan), Y)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=5)
        assert not thread.is_alive()


def test_silence(capfd):
    search().fit(X, Y)
    assert capfd.readouterr() == ("", "")


def test_lines(capsys):
    search(grid={"alpha": [0.5, 2.0]}, verbose=2).fit(X, Y)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "Fitting 14 models for 2 candidates"
    assert len(lines) == 14
    assert sum("alpha=2.0" in line for line in lines) == 7
    assert not any("score=" in line for line in lines)


def test_lines_with_scores(capsys):
    fitted = search(grid={"alpha": [0.5]}, verbose=3, return_train_score=True).fit(X, Y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "score=" in line]
    assert len(lines) == 3
    for t, line in enumerate(lines):
        train, test = (fitted.cv_results_[f"split{t}_{kind}_score"][0] for kind in ("train", "test"))
        assert line.endswith(f"alpha=0.5; score=(train={train:.3f}, test={test:.3f})")


def test_lines_with_several_scores_and_failures(capsys):
    grid = {"alpha": [1.0, -1.0]}
    params = {"scoring": ["r2", "neg_mean_squared_error"], "refit": "neg_mean_squared_error"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search(grid=grid, verbose=3, **params).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert sum("neg_mean_squared_error=" in line and "r2=" in line for line in lines) == 3
    assert sum(line.endswith("alpha=-1.0; failed") for line in lines) == 7


# scikit-learn's callbacks.

SKLEARN_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def callbacks(test):
    """Also those of estimators without callbacks, which scikit-learn warns of in GridSearchCV too."""
    test = pytest.mark.filterwarnings("ignore:The estimator .* does not support callbacks")(test)
    return pytest.mark.skipif(SKLEARN_VERSION < (1, 9), reason="callbacks came with 1.9")(test)


@callbacks
@pytest.mark.parametrize("backend", [None, "threading", "loky"])
@pytest.mark.parametrize("kind", ["grid", "coordinate"])
def test_progress_bar_of_scikit_learn(capfd, kind, backend):
    from sklearn.callback import ProgressBar

    plain = clone(SEARCHES[kind]).fit(X, Y)
    watched = clone(SEARCHES[kind]).set_callbacks(ProgressBar())
    in_parallel = joblib.parallel_config(backend, n_jobs=2) if backend else contextlib.nullcontext()
    with in_parallel:
        watched.fit(X, Y)
    assert "StabilitySearchCV" in capfd.readouterr().out
    assert_same_results(watched, plain)


@callbacks
def test_progress_bar_of_scikit_learn_with_a_ledger_file(tmp_path):
    from sklearn.callback import ProgressBar

    for _ in range(2):
        search(ledger=tmp_path / "ledger").set_callbacks(ProgressBar()).fit(X, Y)


@callbacks
def test_progress_bar_of_scikit_learn_with_failures():
    from sklearn.callback import ProgressBar

    with pytest.raises(ValueError, match="All the 28 fits failed"):
        search().set_callbacks(ProgressBar()).fit(np.full_like(X, np.nan), Y)
