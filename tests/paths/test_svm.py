"""Support vector machines on one kernel matrix equal those that compute their own."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from steadycv import StabilitySearchCV
from steadycv.paths import find_path
from steadycv.testing import check_path

X, y = make_regression(60, 4, noise=20, random_state=0)
X_class, labels = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
LABELS = np.array(["a", "b", "c"])[labels]
# The solver stops when it is within tol of optimal, so the fits agree within that.
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_regression(kernel, gamma):
    machine = SVR(kernel=kernel, gamma=gamma, coef0=0.5, tol=1e-6)
    check_path(machine, {"C": [0.1, 1.0, 20.0], "epsilon": [0.1, 1.0]}, X, y, **CLOSE)


@pytest.mark.parametrize("machine", [SVC(), SVC(class_weight="balanced", gamma=0.1), SVC(kernel="poly")])
def test_classification(machine):
    check_path(machine, {"C": [0.1, 1.0, 10.0]}, X_class, LABELS)


def test_nu_machines():
    check_path(NuSVR(tol=1e-6), {"C": [0.1, 1.0], "nu": [0.3, 0.6]}, X, y, **CLOSE)
    check_path(NuSVC(), {"nu": [0.1, 0.3]}, X_class, LABELS)


def test_duplicated_and_constant_columns_more_columns_than_rows_and_weights():
    wide = np.column_stack([np.round(X), np.round(X), np.ones(60), np.tile(X, 20)])
    weight = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    check_path(SVR(tol=1e-6), {"C": [0.5, 5.0]}, wide, y, sample_weight=weight, **CLOSE)
    check_path(SVC(tol=1e-6), {"C": [0.5, 5.0]}, wide, LABELS[:60], sample_weight=weight)


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVR(kernel="precomputed"), X @ X.T),
        (SVR(kernel=lambda a, b: a @ b.T), X),
        (SVR(), scipy.sparse.csr_array(X)),
    ],
)
def test_not_served(machine, data):
    check_path(machine, {"C": [0.1, 1.0]}, data, y, serves=False)


def test_search_is_that_of_separate_fits():
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    with_path = StabilitySearchCV(SVR(tol=1e-8), grid).fit(X, y)
    separate = StabilitySearchCV(SVR(tol=1e-8), grid, use_paths=False).fit(X, y)
    assert with_path.best_index_ == separate.best_index_
    assert with_path.nested_error_ == pytest.approx(separate.nested_error_, rel=1e-6)
    np.testing.assert_allclose(
        with_path.cv_results_["instability"], separate.cv_results_["instability"], rtol=1e-5
    )


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "sigmoid"])
def test_numbers_of_other_precision(kernel, kind):
    some = (10 * X).astype(kind)
    close = {"rtol": 1e-6, "atol": 1e-8}
    check_path(SVR(kernel=kernel, tol=1e-10), {"C": [0.1, 1.0]}, some, y, **close)
    machine = SVC(kernel=kernel, tol=1e-10)
    methods = ["predict", "decision_function"]
    check_path(machine, {"C": [0.1, 1.0]}, some, LABELS[:60], methods=methods, **close)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("break_ties", [False, True])
def test_decision_values(shape, break_ties):
    if break_ties and shape == "ovo":
        pytest.skip("scikit-learn refuses this")
    machine = SVC(decision_function_shape=shape, break_ties=break_ties)
    methods = ["predict", "decision_function"]
    check_path(machine, {"C": [0.1, 1.0]}, X_class, LABELS, methods=methods)
    check_path(machine, {"C": [0.1, 1.0]}, X_class, LABELS == "a", methods=methods)


@pytest.mark.filterwarnings("ignore:The `probability` parameter")
def test_machines_with_probabilities_are_not_served():
    check_path(SVC(probability=True), {"C": [0.1, 1.0]}, X_class, LABELS, serves=False)


def test_every_candidate_is_a_line():
    path = find_path(SVR())
    lines = {path.line(SVR(), {"C": c, "epsilon": e}) for c in (0.1, 1.0) for e in (0.1, 0.2)}
    assert len(lines) == 4
