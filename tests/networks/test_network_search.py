"""Networks in a search: everything that the search has works, and chooses what separate fits choose."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_networks import (
    FLOWERS,
    GRID,
    LABELS,
    X,
    Y,
    classifier,
    mixed,
    normalised,
    perceptron,
    regressor,
)

from steadycv import StabilitySearchCV
from steadycv.steps import heard_by

FOLDS = KFold(4, shuffle=True, random_state=0)
EPOCHS = GRID | {"epochs": [2, 5, 9]}


def searched(model, grid, X, y, **params):
    return StabilitySearchCV(model, grid, **{"cv": FOLDS} | params).fit(X, y)


@pytest.mark.parametrize(
    ("model", "data"), [(regressor(), (X, Y)), (classifier(), (FLOWERS, LABELS)), (regressor(), mixed())]
)
def test_choice_is_that_of_separate_fits(model, data):
    together = searched(model, EPOCHS, *data)
    apart = searched(model, EPOCHS, *data, use_paths=False)
    assert together.best_params_ == apart.best_params_
    assert together.stability_weight_ == apart.stability_weight_
    assert_allclose(together.ledger_.error, apart.ledger_.error, rtol=1e-9)
    assert_allclose(together.nested_error_, apart.nested_error_)
    assert (together.n_fits_, apart.n_fits_) == (11, 132)
    grid_search = GridSearchCV(model, EPOCHS, cv=FOLDS).fit(*data)
    assert together.kfold_params_ == grid_search.best_params_


def test_does_not_depend_on_cores_or_on_what_was_asked_before(tmp_path):
    expected = searched(regressor(), EPOCHS, X, Y)
    assert_array_equal(
        searched(regressor(), EPOCHS, X, Y, n_jobs=2).ledger_.error, expected.ledger_.error
    )
    file = tmp_path / "ledger"
    searched(regressor(), {"learning_rate": [0.03]}, X, Y, ledger=file)
    resumed = searched(regressor(), EPOCHS, X, Y, ledger=file)
    assert_array_equal(resumed.ledger_.error, expected.ledger_.error)
    assert_array_equal(resumed.ledger_.change, expected.ledger_.change)


@pytest.mark.parametrize("deliver", ["committee", "ensemble", "student"])
def test_deliveries(deliver):
    search = searched(regressor(), EPOCHS, X, Y, deliver=deliver)
    assert np.isfinite(search.promise_)
    assert search.predict(X).shape == Y.shape
    low, high = search.predict_interval(X).T
    assert 0.7 < np.mean((low <= Y) & (high >= Y)) <= 1


def test_committee_is_the_mean_of_networks_fitted_alone():
    search = searched(regressor(), GRID, X, Y, deliver="committee")
    [params] = search.delivered_.params
    members = [regressor(**params).fit(X[train], Y[train]) for train, _ in FOLDS.split(X)]
    assert_allclose(search.predict(X), np.mean([each.predict(X) for each in members], axis=0))


def test_scores_probabilities_and_sets():
    search = searched(classifier(), GRID, FLOWERS, LABELS, scoring="roc_auc_ovr")
    assert 0.8 < search.nested_scores_["score"].steady <= 1
    assert search.predict_set(FLOWERS).shape == (150, 3)


def test_time_order():
    search = searched(regressor(), EPOCHS, X, Y, cv=TimeSeriesSplit(4))
    assert search.n_fits_ == 5
    assert np.isfinite(search.nested_error_)


def test_racing_trains_less():
    grid = {"learning_rate": np.logspace(-4, -1, 6), "weight_decay": [0.0, 0.1, 1.0, 10.0]}
    raced = searched(regressor(), grid, X, Y)
    full = searched(regressor(), grid, X, Y, race=False)
    assert np.isnan(raced.ledger_.error).any()
    known = ~np.isnan(raced.ledger_.error)
    assert_array_equal(raced.ledger_.error[known], full.ledger_.error[known])


def test_what_diverges_is_a_failed_fit():
    grid = {"learning_rate": [0.01, 1e30]}
    for model, data in ((regressor(), (X, Y)), (classifier(), (FLOWERS, LABELS))):
        with pytest.warns(FitFailedWarning, match=r"11 fits failed out of a total of 22(?s:.)*diverged"):
            search = searched(model, grid, *data)
        assert search.best_params_ == {"learning_rate": 0.01}
        assert_array_equal(
            search.ledger_.error[0], searched(model, {"learning_rate": [0.01]}, *data).ledger_.error[0]
        )
    with pytest.raises(ValueError, match="diverged"):
        searched(regressor(), grid, X, Y, error_score="raise")
    with pytest.raises(ValueError, match=r"All the 11 fits failed(?s:.)*diverged"):
        searched(regressor(), {"learning_rate": [1e30]}, X, Y)


def test_what_diverges_in_a_pipeline_is_a_failed_fit():
    pipeline = make_pipeline(StandardScaler(), classifier())
    grid = {
        "networkclassifier__learning_rate": [0.01, 1e30],
        "networkclassifier__hidden": [(4,), (8,)],
    }
    with pytest.warns(FitFailedWarning, match="22 fits failed out of a total of (?s:.)*diverged"):
        search = searched(pipeline, grid, FLOWERS, LABELS)
    wild = search.cv_results_["param_networkclassifier__learning_rate"] == 1e30
    assert np.isposinf(search.ledger_.error[wild]).all()
    assert np.isfinite(search.ledger_.error[~wild]).all()


def test_frames_and_pipelines():
    expected = searched(regressor(), GRID, X, Y).ledger_.error
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    for table in (frame, pl.DataFrame(dict(frame.items()))):
        assert_array_equal(searched(regressor(), GRID, table, Y).ledger_.error, expected)
    pipeline = make_pipeline(StandardScaler(), regressor())
    grid = {f"networkregressor__{name}": values for name, values in GRID.items()}
    apart = searched(pipeline, grid, X, Y, use_paths=False)
    assert_allclose(searched(pipeline, grid, X, Y).ledger_.error, apart.ledger_.error)


def test_weights_are_for_fits_too():
    weight = np.random.default_rng(0).uniform(size=len(Y))
    search = StabilitySearchCV(regressor(), GRID, cv=FOLDS).fit(X, Y, sample_weight=weight)
    apart = StabilitySearchCV(regressor(), GRID, cv=FOLDS, use_paths=False)
    assert_allclose(search.ledger_.error, apart.fit(X, Y, sample_weight=weight).ledger_.error)


def test_modules():
    assert searched(regressor(module=perceptron), EPOCHS, X, Y).n_fits_ == 11
    with pytest.warns(UserWarning, match="trained one by one"):
        search = searched(regressor(module=normalised, epochs=3), {"learning_rate": [0.01, 0.1]}, X, Y)
    assert np.isfinite(search.nested_error_)


def test_a_training_set_of_one_class_is_a_failed_fit():
    one = (np.flatnonzero(LABELS == 0), np.flatnonzero(LABELS != 0))
    splits = [one, *KFold(3, shuffle=True, random_state=0).split(LABELS)]
    with pytest.warns(FitFailedWarning, match="at least two classes; y has one class, 0"):
        search = searched(
            classifier(),
            GRID,
            FLOWERS,
            LABELS,
            cv=splits,
            error_score=0.5,
            nested=False,
            stability_weights=0.0,
        )
    assert 0 < search.cv_error_ < 0.5


def test_epochs_are_told():
    told = []
    with heard_by(told.append):
        searched(regressor(), {"learning_rate": [1e-3, 1e-2], "epochs": [3, 5]}, X, Y)
    n_epochs = int(told[0].split()[-1])
    assert n_epochs % 5 == 0  # of so many chunks of models
    assert told[:n_epochs] == [f"epoch {i} of {n_epochs}" for i in range(1, n_epochs + 1)]
