"""Equal things have equal fingerprints, and different things different ones."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline

from steadycv.fingerprint import fingerprint
from steadycv.losses import pinball_loss


def absolute(y, p):
    return abs(y - p)


def squared(y, p):
    return (y - p) ** 2


def power(exponent):
    return lambda y, p: abs(y - p) ** exponent


X = np.arange(6.0).reshape(3, 2)
SAME = [
    (lambda: X, lambda: X.copy()),
    (lambda: pd.DataFrame(X), lambda: pd.DataFrame(X.copy())),
    (lambda: scipy.sparse.csr_array(X), lambda: scipy.sparse.csr_array(X.copy())),
    (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}),
    (lambda: Ridge(alpha=0.1), lambda: Ridge(alpha=np.float64(0.1))),
    (lambda: RandomForestRegressor(n_jobs=2, verbose=1), lambda: RandomForestRegressor()),
    (lambda: get_scorer("r2"), lambda: get_scorer("r2")),
    (lambda: power(2), lambda: power(2)),
    (lambda: pinball_loss(0.3), lambda: pinball_loss(0.3)),
]
DIFFERENT = [
    (X, X + 1e-15),
    (X, X.astype(np.float32)),
    (X, X.T),
    (X, pd.DataFrame(X)),
    (pd.DataFrame(X), pd.DataFrame(X, columns=["a", "b"])),
    (1, 1.0),
    (1, True),
    (Ridge(), Lasso()),
    (Ridge(), Ridge(alpha=2.0)),
    (make_pipeline(Ridge()), make_pipeline(Ridge(alpha=2.0))),
    (get_scorer("r2"), get_scorer("accuracy")),
    (absolute, squared),
    (power(2), power(3)),
    (pinball_loss(0.3), pinball_loss(0.4)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one, other):
    assert fingerprint(one()) == fingerprint(other())


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one, other):
    assert fingerprint(one) != fingerprint(other)
