"""Networks as estimators: scikit-learn's checks, what they learn, and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.datasets import make_friedman1
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from small_networks import FLOWERS, LABELS, X, Y, classifier, mixed, perceptron, regressor, torch


@pytest.mark.filterwarnings("ignore")  # some checks ask for them
@pytest.mark.parametrize(
    "estimator",
    [
        regressor(hidden=(64, 64), epochs=30),
        classifier(hidden=(64, 64), epochs=30),
        regressor(loss="absolute_error", embedding="quantile", epochs=60),
        classifier(embedding="periodic", epochs=60),
        regressor(module=perceptron, epochs=60, learning_rate=0.03),
    ],
    ids=["regressor", "classifier", "quantile", "periodic", "module"],
)
def test_checks_of_scikit_learn(estimator):
    found = check_estimator(estimator, on_fail=None, on_skip=None)
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []


def test_learns_what_a_network_of_scikit_learn_learns():
    X, y = make_friedman1(600, noise=0.5, random_state=0)
    scaled = StandardScaler().fit_transform(X)
    plain = MLPRegressor(hidden_layer_sizes=(64, 64), batch_size=64, max_iter=60, tol=0, random_state=0)
    with pytest.warns(UserWarning, match="converge"):
        plain.fit(scaled[:400], (y[:400] - y.mean()) / y.std())
    theirs = plain.score(scaled[400:], (y[400:] - y.mean()) / y.std())
    ours = regressor(hidden=(64, 64), epochs=60).fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert ours > theirs - 0.02
    assert ours > 0.85


@pytest.mark.parametrize("embedding", ["periodic", "quantile"])
def test_embedded_numbers_bend_more_easily(embedding):
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    y = np.sin(9 * X[:, 0])

    def score(embedding):
        model = regressor(embedding=embedding, embedding_size=16, epochs=40)
        return model.fit(X[:200], y[:200]).score(X[200:], y[200:])

    assert score(embedding) > score(None) + 0.2


def test_quantiles_and_medians():
    X, y = make_friedman1(400, noise=2.0, random_state=0)
    high = regressor(loss="pinball", quantile=0.9, epochs=30).fit(X, y).predict(X)
    middle = regressor(loss="absolute_error", epochs=30).fit(X, y).predict(X)
    assert 0.8 < np.mean(y < high) < 0.97
    assert 0.4 < np.mean(y < middle) < 0.6


def test_a_gaussian_knows_where_the_noise_is():
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 1))
    y = X[:, 0] + np.where(X[:, 0] > 0.5, 1.0, 0.1) * random.normal(size=600)
    mean, std = regressor(loss="gaussian", epochs=60).fit(X, y).predict(X, return_std=True)
    assert_allclose([std[X[:, 0] < 0.4].mean(), std[X[:, 0] > 0.6].mean()], [0.1, 1.0], rtol=0.3)
    assert 0.85 < np.mean(np.abs(y - mean) < norm.ppf(0.95) * std) < 0.95
    with pytest.raises(ValueError, match="Only loss='gaussian' has standard deviations"):
        regressor().fit(X, y).predict(X, return_std=True)


def test_categories_are_embedded_and_unknown_ones_count_for_nothing():
    table, y = mixed(200)
    model = regressor(epochs=60, learning_rate=0.02).fit(table, y)
    assert model.score(table, y) > 0.95
    as_numbers = table.assign(kind=table["kind"].cat.codes)
    same = regressor(epochs=60, learning_rate=0.02, categories=["kind"]).fit(as_numbers, y)
    assert_allclose(same.score(as_numbers, y), model.score(table, y), atol=0.02)
    by_place = regressor(epochs=60, learning_rate=0.02, categories=[0]).fit(as_numbers.to_numpy(), y)
    assert_array_equal(by_place.predict(as_numbers.to_numpy()), same.predict(as_numbers))
    unknown = table.assign(kind=pd.Categorical(["new"] * 200))
    assert np.isfinite(model.predict(unknown)).all()
    of_polars = pl.DataFrame({"kind": list(map(str, table["kind"])), "x": table["x"].to_numpy()})
    of_polars = of_polars.with_columns(pl.col("kind").cast(pl.Categorical))
    assert_array_equal(
        regressor(epochs=60, learning_rate=0.02).fit(of_polars, y).predict(of_polars),
        model.predict(table),
    )


def test_missing_categories_are_a_category():
    table, y = mixed(100)
    table.loc[:20, "kind"] = None
    assert np.isfinite(regressor().fit(table, y).predict(table)).all()


def test_order_of_rows_and_repeated_rows_make_no_difference():
    order = np.random.default_rng(1).permutation(len(X))
    model = regressor().fit(X, Y)
    assert_array_equal(regressor().fit(X[order], Y[order]).predict(X), model.predict(X))
    weight = np.arange(len(X)) % 3
    twice = regressor().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_array_equal(twice.predict(X), regressor().fit(X, Y, sample_weight=weight).predict(X))


def test_seeds():
    first, second = (regressor(random_state=seed).fit(X, Y).predict(X) for seed in (0, 1))
    assert_array_equal(regressor(random_state=0).fit(X, Y).predict(X), first)
    assert not np.array_equal(first, second)
    state = np.random.RandomState(0)
    assert_array_equal(regressor(random_state=state).fit(X, Y).predict(X), first)


def test_a_fitted_network_can_be_stored():
    for model in (regressor(), regressor(module=perceptron)):
        model.fit(X, Y)
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_number_of_threads_stays_what_it_was():
    before = torch.get_num_threads()
    regressor().fit(X, Y)
    assert torch.get_num_threads() == before


def test_documented_corner_cases():
    one = regressor().fit(X[:1], Y[:1])
    assert_allclose(one.predict(X[:1]), Y[:1])
    constant = np.column_stack([X, np.full(len(X), 1e8 / 3)])
    assert np.isfinite(regressor().fit(constant, Y).predict(constant)).all()
    assert_allclose(regressor().fit(X, np.full(len(X), 0.1)).predict(X), 0.1)
    wide = np.random.default_rng(0).normal(size=(30, 10_000))
    assert np.isfinite(regressor(epochs=2).fit(wide, Y[:30]).predict(wide)).all()
    assert regressor(hidden=()).fit(X, Y).score(X, Y) > 0


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"hidden": (0,)}, "hidden must be a tuple of widths of at least 1; got \\(0,\\)"),
        ({"hidden": 64}, "hidden must be a tuple"),
        ({"learning_rate": 0}, "learning_rate must be a positive number; got 0"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0"),
        ({"dropout": 1.0}, "dropout must be a number from 0 to below 1"),
        ({"epochs": 2.5}, "epochs must be a whole number of at least 1; got 2.5"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"loss": "huber"}, "loss must be one of .*pinball"),
        ({"quantile": 1}, "quantile must be a number between 0 and 1"),
        ({"embedding": "fourier"}, "embedding must be one of"),
        ({"embedding_size": 0}, "embedding_size must be"),
        ({"categories": "kind"}, 'categories must be "auto" or a list of columns'),
        ({"categories": ["kind"]}, "names the column 'kind', which the data do not have"),
        ({"categories": [10]}, "names the column 10, which"),
        ({"device": "abacus"}, "device must be \"auto\" or a device of PyTorch; got 'abacus'"),
        ({"module": torch.nn.Linear(3, 1)}, "module must be a callable that makes"),
        (
            {"module": perceptron, "embedding": "periodic"},
            "embedding='periodic' is for the network that",
        ),
        (
            {"learning_rate": 1e30},
            "The training diverged: .* A lower learning_rate than 1e\\+30 may help",
        ),
    ],
)
def test_parameters_that_make_no_sense(params, text):
    with pytest.raises(ValueError, match=text):
        regressor(**params).fit(X, Y)


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device='cuda' needs a GPU, and PyTorch sees none"):
        regressor(device="cuda").fit(X, Y)
    assert regressor()._chosen_device().type == "cpu"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "X contains NaN"),
        (lambda X, y: (X, np.where(y == y[0], np.inf, y)), "y contains infinity"),
        (lambda X, y: (X, np.column_stack([y, y])), "y should be a 1d array"),
        (lambda X, y: (pd.DataFrame({"a": ["text"] * len(y)}), y), "could not convert string to float"),
    ],
)
def test_data_that_make_no_sense(change, text):
    with pytest.raises(ValueError, match=text):
        regressor().fit(*change(X, Y))


def test_targets_and_weights_that_make_no_sense():
    with pytest.raises(ValueError, match="at least two classes; y has one class, 0"):
        classifier().fit(FLOWERS[:20], LABELS[:20])
    with pytest.raises(ValueError, match="zero"):
        regressor().fit(X, Y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="egative values"):
        regressor().fit(X, Y, sample_weight=np.full(len(X), -1.0))


def test_labels_may_be_words():
    words = np.array(["red", "green", "blue"])[LABELS]
    model = classifier(epochs=30).fit(FLOWERS, words)
    assert model.score(FLOWERS, words) > 0.9
    assert_allclose(model.predict_proba(FLOWERS).sum(axis=1), 1)
