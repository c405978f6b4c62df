"""Ridge regression without a row or two, beside fits of its own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from steadycv.paths.protocol import PathData
from steadycv.paths.registry import find_path

RNG = np.random.default_rng(0)
ALPHAS = np.logspace(-4, 4, 7)
SETTINGS = [{"alpha": alpha} for alpha in ALPHAS]
MODELS = [Ridge(), Ridge(fit_intercept=False), KernelRidge(kernel="rbf"), KernelRidge(kernel="linear")]


def data_of(model, X, y, left_out):
    rows = np.setdiff1d(np.arange(len(X)), left_out)
    prepared = find_path(model).prepare(model, X, y)
    return PathData(X, y, rows, X[rows], y[rows], {}, ("predict",), prepared)


def assert_as_separate_fits(model, X, y, choices):
    sets = [data_of(model, X, y, left_out) for left_out in choices]
    found = find_path(model).outputs_many(model, SETTINGS, sets)
    for data, outputs in zip(sets, found, strict=True):
        for setting, said in zip(SETTINGS, outputs["predict"], strict=True):
            fitted = clone(model).set_params(**setting).fit(X[data.rows], y[data.rows])
            np.testing.assert_allclose(said, fitted.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("shape", [(12, 3), (9, 20)], ids=["rows", "columns"])
def test_one_row_two_rows_and_more_left_out(model, shape):
    X = RNG.normal(size=shape)
    assert_as_separate_fits(
        model, X, X[:, 0] + RNG.normal(size=len(X)), [[3], [0, 5], [1, 2, 4], [], [8]]
    )


def test_several_targets_and_a_far_origin():
    X = RNG.normal(size=(15, 4)) + 1e3
    assert_as_separate_fits(Ridge(), X, RNG.normal(size=(15, 2)), [[0], [13, 14]])


def test_a_row_that_alone_decides_a_coefficient():
    X = RNG.normal(size=(10, 3))
    X[:, 2] = 0.0
    X[4, 2] = 1e6
    assert_as_separate_fits(Ridge(), X, RNG.normal(size=10), [[4], [3, 4], [2, 3]])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_bit_depends_on_company(model):
    X, y = RNG.normal(size=(40, 5)), RNG.normal(size=40)
    sets = [data_of(model, X, y, [i, j]) for i in range(10) for j in range(i, 40)]
    path = find_path(model)
    for data, found in zip(sets, path.outputs_many(model, SETTINGS, sets), strict=True):
        np.testing.assert_array_equal(found["predict"], path.outputs(model, SETTINGS, data)["predict"])
