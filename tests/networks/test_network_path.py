"""The path: each network of a search says what it would say alone, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
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
    torch,
)

from steadycv.networks import search_path, training
from steadycv.paths import FailedOutputs, PathData, find_path
from steadycv.paths.plan import in_one_fit, plan
from steadycv.testing import check_path

EVERYTHING = GRID | {"dropout": [0.0, 0.3], "epochs": [1, 4, 9], "random_state": [0, 5]}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"batch_size": 32},
        {"embedding": "periodic"},
        {"embedding": "quantile", "loss": "pinball", "quantile": 0.9},
        {"loss": "gaussian", "hidden": (16, 7, 7)},
        {"hidden": ()},
    ],
)
def test_numbers(params):
    check_path(regressor(**params), EVERYTHING, X, Y)


def test_classes_and_weights():
    weight = np.random.default_rng(0).uniform(size=len(LABELS))
    methods = ("predict", "predict_proba")
    check_path(classifier(), EVERYTHING, FLOWERS, LABELS, sample_weight=weight, methods=methods)


def test_categories():
    check_path(regressor(), GRID, *mixed())


def check_modules(module):
    """Their products are not ours to arrange: they agree to a ten-thousandth of the spread."""
    model = regressor(module=module)
    settings = list(ParameterGrid(GRID | {"epochs": [4, 9], "random_state": [0, 5]}))
    found = find_path(model).outputs(model, settings, data_of(model, 80))["predict"]
    for setting, outputs in zip(settings, found, strict=True):
        alone = clone(model).set_params(**setting).fit(X[:80], Y[:80]).predict(X)
        assert_allclose(outputs, alone, rtol=0, atol=1e-4 * np.std(Y))


def test_modules():
    check_modules(perceptron)
    with pytest.raises(AssertionError, match="does not cover \\['dropout'\\]"):
        check_path(regressor(module=perceptron), {"dropout": [0.1, 0.2]}, X, Y)


def dropping(n_inputs, n_outputs):
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, n_outputs)
    )


def test_modules_that_draw_random_numbers():
    check_modules(dropping)


@pytest.mark.filterwarnings("ignore:These modules are trained one by one")
def test_modules_that_cannot_be_stacked():
    check_path(regressor(module=normalised), GRID | {"epochs": [2, 5]}, X, Y)


class Deciding(torch.nn.Module):
    """Another way for large numbers than for small ones."""

    def __init__(self, n_inputs, n_outputs):
        super().__init__()
        self.layer = torch.nn.Linear(n_inputs, n_outputs)

    def forward(self, rows):
        return self.layer(rows) if rows.sum() > 0 else -self.layer(rows)


@pytest.mark.parametrize(
    ("module", "reason"),
    [(normalised, "a state of their own .*running_mean"), (Deciding, "control flow")],
)
def test_what_cannot_be_stacked_is_said(module, reason):
    with pytest.warns(UserWarning, match=f"one by one, as they cannot be stacked: .*{reason}"):
        regressor(module=module).fit(X, Y)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (lambda n_inputs, n_outputs: torch.nn.Linear(n_inputs, 3), "must return 1 outputs for each row"),
        (lambda n_inputs, n_outputs: torch.nn.ReLU(), "without parameters to train"),
    ],
)
def test_modules_that_make_no_sense(module, text):
    with pytest.raises(ValueError, match=text):
        regressor(module=module).fit(X, Y)
    with pytest.raises(TypeError, match="it returned int"):
        regressor(module=lambda *_: 3).fit(X, Y)


def test_a_full_training_is_within_a_ten_thousandth_of_the_spread():
    grid = {"learning_rate": [0.001, 0.01, 0.1], "weight_decay": [0.0, 0.1, 10.0]}
    check_path(
        regressor(hidden=(64, 64), epochs=200),
        grid,
        X[:60],
        Y[:60],
        rtol=0,
        atol=1e-4 * np.std(Y) / Y.max(),
    )


def data_of(model, n_rows, methods=("predict",)):
    rows = np.arange(n_rows)
    return PathData(X, Y, rows, X[rows], Y[rows], {}, methods)


def test_epochs_are_one_training(monkeypatch):
    calls = []

    def spy(program, loss, quantile, runs, epochs, *more):
        calls.append((len(runs), epochs))
        return training.train(program, loss, quantile, runs, epochs, *more)

    monkeypatch.setattr(search_path, "train", spy)
    settings = [{"learning_rate": rate, "epochs": n} for rate in (0.01, 0.02) for n in (1, 3, 6)]
    model = regressor()
    path = find_path(model)
    path.outputs(model, settings, data_of(model, 80))
    assert calls == [(2, [1, 3, 6])]
    calls.clear()
    # Training sets with as many steps are trained together, others are not.
    list(path.outputs_many(model, settings, [data_of(model, n) for n in (80, 80, 90, 60)]))
    assert [n for n, _ in calls] == [4, 2, 2]


def test_epochs_alone_take_no_training_of_their_own():
    assert list(in_one_fit(regressor())) == ["epochs"]


def test_plan_puts_shapes_apart():
    settings = [
        {"hidden": (8,), "learning_rate": 0.1, "epochs": 3},
        {"hidden": (8, 8), "learning_rate": 0.1, "epochs": 3},
        {"hidden": (8,), "learning_rate": 0.2, "epochs": 3},
        {"hidden": (8,), "learning_rate": 0.2, "epochs": 5},
        {"hidden": (8,), "learning_rate": -1.0, "epochs": 5},
    ]
    groups = plan(regressor(), settings, X, Y)
    assert sorted(group.members.tolist() for group in groups) == [[0, 2, 3], [1], [4]]
    [large] = [group for group in groups if len(group.members) == 3]
    assert large.lines.tolist() == [0, 1, 1]


def test_what_diverges_fails_alone():
    model = regressor()
    settings = [{"learning_rate": rate} for rate in (0.01, 1e30, 0.02)]
    found = find_path(model).outputs(model, settings, data_of(model, 80))
    assert isinstance(found, FailedOutputs)
    assert list(found.failures) == [1]
    assert found.failures[1].startswith("ValueError: The training diverged: ")
    assert np.isfinite(found["predict"][[0, 2]]).all()


def test_small_chunks_change_nothing(monkeypatch):
    model = regressor()
    settings = [{"learning_rate": rate} for rate in np.logspace(-3, -1, 7)]
    expected = find_path(model).outputs(model, settings, data_of(model, 80))["predict"]
    for size in (1, 3, 5):
        monkeypatch.setattr(search_path, "models_at_once", lambda *_, size=size: size)
        found = find_path(model).outputs(model, settings, data_of(model, 80))["predict"]
        assert_array_equal(found, expected)


def test_outputs_are_those_of_the_estimator():
    model = regressor(loss="gaussian")
    [found] = find_path(model).outputs(model, [{"learning_rate": 0.02}], data_of(model, 80))["predict"]
    assert_allclose(found, regressor(loss="gaussian", learning_rate=0.02).fit(X[:80], Y[:80]).predict(X))
