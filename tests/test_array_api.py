"""Arrays of other libraries, on other devices: the result is that of NumPy's.

scikit-learn dispatches only where SCIPY_ARRAY_API=1 was set before it was imported, so this file runs
itself as a program and reads what it prints. `array_api_strict` stands for such libraries: it has
nothing that the standard does not have, and devices that do not convert to NumPy by themselves.
"""

import json
import os
import subprocess
import sys
import traceback

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from steadycv import StabilitySearchCV
from steadycv.committees import Committee

SKLEARN_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
DEVICES = ["CPU_DEVICE", "device1"]
RIDGE = Ridge(solver="svd")
ALPHAS = {"alpha": [0.01, 0.1, 1.0, 10.0]}
LOGISTIC = LogisticRegression(tol=1e-8)  # to where scikit-learn's two ways of computing agree
LDA = LinearDiscriminantAnalysis()
TOLERANCES = {"tol": [1e-4, 0.3]}
WEIGHT = np.random.default_rng(0).uniform(0.1, 2.0, size=442)
# What is fitted, the parameters of the search, and what goes to its fit.
CASES = {
    "ridge": (RIDGE, ALPHAS, {}, {}),
    "ridge, absolute error": (RIDGE, ALPHAS, {"scoring": "neg_mean_absolute_error"}, {}),
    "ridge, two scores": (
        RIDGE,
        ALPHAS,
        {
            "scoring": ["r2", "neg_mean_squared_error"],
            "refit": "neg_mean_squared_error",
            "return_train_score": True,
        },
        {},
    ),
    "ridge, weights": (RIDGE, ALPHAS, {}, {"sample_weight": WEIGHT}),
    "ridge, two cores": (RIDGE, ALPHAS, {"n_jobs": 2}, {}),
    "ridge in a pipeline": (make_pipeline(MinMaxScaler(), RIDGE), {"ridge__alpha": [0.1, 1.0]}, {}, {}),
    "discriminant": (LDA, TOLERANCES, {}, {}),
    "discriminant, log loss": (LDA, TOLERANCES, {"scoring": "neg_log_loss"}, {}),
    "discriminant, Brier": (LDA, TOLERANCES, {"loss": "brier"}, {}),
    "logistic": (LOGISTIC, {"C": [0.01, 0.1]}, {}, {}),
    "logistic, log loss": (LOGISTIC, {"C": [0.01, 0.1]}, {"scoring": "neg_log_loss"}, {}),
    "committee": (Committee([make_pipeline(MinMaxScaler(), RIDGE)]), {"weights": [[1]]}, {}, {}),
    "committee of classifiers": (Committee([LDA]), {"weights": [[1]]}, {}, {}),
}
# scikit-learn's splitters take no groups from other devices; here they are.
GROUPS = {"ridge, groups": (RIDGE, ALPHAS, {"cv": GroupKFold(5)}, {"groups": np.arange(442) % 10})}


def data(estimator):
    load = load_diabetes if "ridge" in repr(estimator).lower() else load_iris
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def run(search_class, case, device=None):
    """What a search finds, of NumPy's arrays or of others on a device."""
    estimator, grid, params, fit_params = {**CASES, **GROUPS}[case]

    def there(array):
        if device is None:
            return array
        import array_api_strict

        return array_api_strict.asarray(array, device=array_api_strict.Device(device))

    try:
        with sklearn.config_context(array_api_dispatch=device is not None):
            X, y = map(there, data(estimator))
            search = search_class(estimator, grid, **{"cv": 3, "error_score": "raise", **params})
            search.fit(X, y, **{name: there(value) for name, value in fit_params.items()})
            score = float(search.score(X, y))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "details": traceback.format_exc()}
    found = {"best_index": int(search.best_index_), "score": score}
    if search_class is StabilitySearchCV:
        found["nested_error"] = search.nested_error_
        found["predictions"] = type(search.out_of_fold_predictions_).__name__
    return found


def everything():
    """Of all cases: with NumPy, and by device with GridSearchCV and here."""
    try:
        with sklearn.config_context(array_api_dispatch=True):
            pass
    except (ImportError, RuntimeError) as error:
        return {"none": f"scikit-learn {sklearn.__version__} does not dispatch here: {error}"}
    found = {case: {"numpy": run(StabilitySearchCV, case)} for case in [*CASES, *GROUPS]}
    for case, results in found.items():
        for device in DEVICES:
            results[device] = run(StabilitySearchCV, case, device)
            if "loss" not in {**CASES, **GROUPS}[case][2]:  # GridSearchCV has none
                results[f"GridSearchCV {device}"] = run(GridSearchCV, case, device)
    return found


@pytest.fixture(scope="module")
def results():
    pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if "none" in found:
        pytest.skip(found["none"])
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES)
def test_result_is_that_of_numpy(results, case, device):
    theirs = results[case].get(f"GridSearchCV {device}", {})
    if "error" in theirs and SKLEARN_VERSION < (1, 9):
        pytest.skip(f"scikit-learn {sklearn.__version__}'s own search: {theirs['error']}")
    assert "error" not in theirs, theirs["details"]
    assert_same(results[case][device], results[case]["numpy"])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", GROUPS)
def test_groups_come_from_any_device(results, case, device):
    if "error" in results["ridge"][f"GridSearchCV {device}"] and SKLEARN_VERSION < (1, 9):
        pytest.skip(f"scikit-learn {sklearn.__version__} fits no Ridge on {device}")
    assert_same(results[case][device], results[case]["numpy"])


def assert_same(found, expected):
    assert "error" not in found, found["details"]
    assert found["best_index"] == expected["best_index"]
    assert found["nested_error"] == pytest.approx(expected["nested_error"], rel=1e-6)
    assert found["score"] == pytest.approx(expected["score"], rel=1e-6)
    assert found["predictions"] == "ndarray"


if __name__ == "__main__":
    print(json.dumps(everything()))
