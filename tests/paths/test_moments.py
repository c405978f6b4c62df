"""Moments of rows, beside those of the whole table at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from steadycv import StabilitySearchCV
from steadycv.paths import moments
from steadycv.paths.moments import Moments, added, moments_of

RNG = np.random.default_rng(0)
X = RNG.normal((0.0, 1e6, -5.0), size=(60, 3))
Y = RNG.normal(size=(60, 2))
ROWS = np.flatnonzero(RNG.random(60) < 0.7)
WEIGHT = RNG.random(len(ROWS))


@pytest.fixture(params=[5, 10**6], ids=["a row at a time", "at once"])
def at_once(request, monkeypatch):
    monkeypatch.setattr(moments, "NUMBERS_AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_as_numpy_says(weight):
    table = np.hstack([X, Y])[ROWS]
    [total], [mean], [products] = moments_of(X, Y, ROWS, weight, centred=True)
    assert total == pytest.approx(len(ROWS) if weight is None else weight.sum())
    assert_allclose(mean, np.average(table, axis=0, weights=weight))
    expected = np.cov(table.T, aweights=weight, ddof=0) * total
    assert_allclose(products, expected, rtol=1e-9, atol=1e-7)


@pytest.mark.usefixtures("at_once")
def test_nothing_centred():
    table = np.hstack([X, Y])[ROWS]
    _, [mean], [products] = moments_of(X, Y, ROWS, centred=False)
    assert not mean.any()
    assert_allclose(products, table.T @ table)


def test_a_constant_has_no_products_however_large_it_is():
    parts = [moments_of(np.full((60, 1), 1e8), Y, rows, centred=True) for rows in (ROWS[:9], ROWS[9:])]
    [products] = added(Moments(*map(np.concatenate, zip(*parts, strict=True)))).products
    assert products[0, 0] == 0


def test_rows_without_weight():
    parts = [moments_of(X, Y, ROWS[:9], weight[:9], centred=True) for weight in (0 * WEIGHT, WEIGHT)]
    found = added(Moments(*map(np.concatenate, zip(*parts, strict=True))))
    assert_allclose(found.products, parts[1].products, rtol=1e-12)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("options", [{}, {"sample_weight": np.arange(60.0)}], ids=["plain", "weighted"])
def test_a_search_that_adds_up_blocks_is_one_of_separate_fits(options):
    asked = {"param_grid": {"alpha": [0.1, 10.0]}, "cv": KFold(4), "refit": False}
    found, separate = (
        StabilitySearchCV(Ridge(), **asked, use_paths=use_paths).fit(X, Y[:, 0], **options)
        for use_paths in (True, False)
    )
    assert_allclose(found.ledger_.error, separate.ledger_.error, rtol=1e-9)
    assert_allclose(found.ledger_.change, separate.ledger_.change, rtol=1e-7)
