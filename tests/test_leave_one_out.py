"""Leave-one-out: many small training sets, found in closed form and reduced together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, LeavePOut

from steadycv import StabilitySearchCV

pytestmark = pytest.mark.filterwarnings("ignore:24 splits need:UserWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = X[:, 0] + RNG.normal(size=24)
GRID = {"alpha": np.logspace(-2, 3, 6)}


def search(**options):
    options = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"} | options
    return StabilitySearchCV(Ridge(), GRID, **options).fit(X, Y)


def assert_same_ledgers(one, other):
    assert_array_equal(one.ledger_.error, other.ledger_.error)
    assert_array_equal(one.ledger_.change, other.ledger_.change)


def test_as_fitted_one_by_one():
    found, separate = search(), search(use_paths=False)
    assert_allclose(found.ledger_.error, separate.ledger_.error, rtol=1e-9)
    assert_allclose(found.ledger_.change, separate.ledger_.change, rtol=1e-8)
    assert found.nested_error_ == pytest.approx(separate.nested_error_)
    assert found.n_fits_ == 1 + 24 + 24 * 23 // 2


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"verbose": 2}, {"ledger": "file"}], ids=str)
def test_to_the_last_bit_however_it_is_run(options, tmp_path):
    if "ledger" in options:
        options = {"ledger": tmp_path / "search.ledger"}
    assert_same_ledgers(search(), search(**options))


def test_splits_of_two_rows():
    options = {"cv": LeavePOut(2), "nested": False, "stability_weights": 1.0}
    found, separate = search(**options), search(**options, use_paths=False)
    assert_allclose(found.ledger_.error, separate.ledger_.error, rtol=1e-8)
    assert_allclose(found.ledger_.change, separate.ledger_.change, rtol=1e-8)
