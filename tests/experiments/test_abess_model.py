"""abess as the tables run it, against abess itself."""

import numpy as np
import pytest

from steadycv.experiments.abess_model import Abess

abess = pytest.importorskip("abess")


def test_is_abess_on_the_columns_that_vary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = X[:, 1] - 2 * X[:, 4] + rng.normal(size=40)
    plain = abess.LinearRegression(support_size=2, alpha=0.1).fit(X, y)
    with_constants = np.insert(X, [0, 3, 6], 7.0, axis=1)
    model = Abess(support_size=2, alpha=0.1).fit(with_constants, y)
    np.testing.assert_allclose(np.delete(model.coef_, [0, 4, 8]), plain.coef_)
    np.testing.assert_allclose(model.predict(with_constants), plain.predict(X))


def test_sizes_above_the_number_of_columns_mean_all_of_them():
    rng = np.random.default_rng(1)
    X = np.insert(rng.normal(size=(30, 3)), 1, 0.0, axis=1)
    y = X.sum(axis=1) + rng.normal(size=30)
    model = Abess(support_size=4).fit(X, y)
    assert np.flatnonzero(model.coef_).tolist() == [0, 2, 3]
