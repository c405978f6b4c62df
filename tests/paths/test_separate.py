"""Separate fits: what a candidate's own fit says, of all samples or of some."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from steadycv.paths import PathData
from steadycv.paths.separate import SEPARATE, fit_model, separate_outputs

X, Y = load_iris(return_X_y=True)
ROWS = np.arange(0, 150, 2)


def data(X=X, methods=("predict",), y=Y, **fit_params):
    X_train = X[np.ix_(ROWS, ROWS)] if X.shape[1] == len(X) else X[ROWS]
    return PathData(X, y, ROWS, X_train, None if y is None else y[ROWS], fit_params, methods)


@pytest.mark.parametrize("at", [None, np.array([3, 1, 140])])
def test_outputs_are_those_of_a_fit(at):
    methods = ("predict", "predict_proba")
    found = separate_outputs(LogisticRegression(max_iter=500), {"C": 0.1}, data(methods=methods), at)
    model = LogisticRegression(max_iter=500, C=0.1).fit(X[ROWS], Y[ROWS])
    for method in methods:
        assert_array_equal(found[method], getattr(model, method)(X if at is None else X[at]))


def test_every_setting_has_a_row():
    found = SEPARATE.outputs(SVC(), [{"C": 0.1}, {"C": 10.0}], data())
    assert_array_equal(found["predict"][1], SVC(C=10.0).fit(X[ROWS], Y[ROWS]).predict(X))


@pytest.mark.parametrize("at", [None, np.array([3, 1, 140])])
def test_kernels_between_samples(at):
    kernel = X @ X.T
    found = separate_outputs(SVC(kernel="precomputed"), {"C": 1.0}, data(kernel), at)
    expected = SVC(kernel="linear").fit(X[ROWS], Y[ROWS]).predict(X if at is None else X[at])
    assert_array_equal(found["predict"], expected)


def test_without_targets_and_with_weights():
    weight = np.ones(len(ROWS))
    model = fit_model(KernelDensity(), data(y=None, sample_weight=weight))
    expected = KernelDensity().fit(X[ROWS], sample_weight=weight)
    assert_array_equal(model.score_samples(X), expected.score_samples(X))


def test_a_model_that_writes_into_what_it_is_given():
    given, before = data(X.copy(), ("transform",)), X.copy()
    separate_outputs(StandardScaler(), {"copy": False}, given)
    assert_array_equal(given.X, before)
