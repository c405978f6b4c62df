import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

from steadycv.model_catalogue import MODELS, Size, make_estimator

REGRESSION = Size(n_rows=100, n_fewest=60, n_columns=7, spread=20.0)
CLASSIFICATION = REGRESSION._replace(spread=None)
IMPORTED = """
import sys
from steadycv.model_catalogue import MODELS
{}
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {{"numpy", "sklearn", "numba"}}))
"""


def made(maker):
    if "xgboost" in repr(maker):
        pytest.importorskip("xgboost")
    return maker()


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_each_is_what_it_is_called(model):
    assert model.regressor is None or is_regressor(made(model.regressor))
    assert model.classifier is None or is_classifier(made(model.classifier))
    assert model.regressor or model.classifier


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_grids_are_of_parameters_that_there_are(model):
    for maker, size in ((model.regressor, REGRESSION), (model.classifier, CLASSIFICATION)):
        if maker is not None:
            grid = model.grid(size)
            made(maker).set_params(**{name: values[0] for name, values in grid.items()})
            assert all(isinstance(values, list) for values in grid.values())


def test_grids_in_the_units_of_the_target():
    small, large = (
        {name: model.grid(REGRESSION._replace(spread=spread)) for name, model in MODELS.items()}
        for spread in (1.0, 50.0)
    )
    for name, parameter in (("elastic-net", "alpha"), ("svm", "C"), ("svm", "epsilon")):
        expected = 50 * np.array(small[name][parameter])
        np.testing.assert_allclose(large[name][parameter], expected, rtol=1e-12)


def test_no_more_neighbours_than_rows():
    for n_fewest, most in ((1, 1), (60, 35), (1000, 100)):
        assert MODELS["knn"].grid(REGRESSION._replace(n_fewest=n_fewest))["n_neighbors"][0] == most


def test_what_is_to_be_installed_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(
        ImportError, match=r"XGBRegressor needs xgboost: pip install 'steadycv\[xgboost\]'"
    ):
        make_estimator("xgboost.XGBRegressor")


@pytest.mark.parametrize(
    ("code", "imported"),
    [("", ""), ("MODELS['ridge'].grid", ""), ("MODELS['ridge'].regressor()", "numpy sklearn")],
)
def test_nothing_is_imported_that_was_not_named(code, imported):
    command = [sys.executable, "-c", IMPORTED.format(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == imported
