"""Estimators that end the process they are fitted in, and a search that all engines are held to."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X @ [1.0, 2.0, 0.0] + np.random.default_rng(1).normal(size=30)
ALPHAS = [0.1, 1.0, 10.0, 100.0, 1000.0]
DEADLY = 10.0


class Mortal(Ridge):
    """Ridge regression whose process dies at one penalty: once, if there is a place to note it."""

    def __init__(self, alpha=1.0, note=None):
        super().__init__(alpha=alpha)
        self.note = note

    def fit(self, X, y):
        if self.alpha == DEADLY and (self.note is None or not Path(self.note).exists()):
            if self.note is not None:
                Path(self.note).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Slow(Ridge):
    """Ridge regression that takes its time."""

    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


def search(estimator=None, alphas=ALPHAS, **params):
    estimator = Ridge() if estimator is None else estimator
    return StabilitySearchCV(estimator, {"alpha": alphas}, **{"cv": 3, "use_paths": False, **params})


def few(estimator=None, **params):
    """Two candidates on two training sets each."""
    two = {"alphas": [1.0, DEADLY], "cv": 2, "nested": False, "stability_weights": 0}
    return search(estimator, **two, **params)


def assert_same(found, expected):
    for name in ("error", "change"):
        np.testing.assert_array_equal(getattr(found.ledger_, name), getattr(expected.ledger_, name))
    np.testing.assert_array_equal(found.nested_predictions_, expected.nested_predictions_)
    assert found.promise_ == expected.promise_
    assert found.n_fits_ == expected.n_fits_


def assert_deadly_failed(found):
    """One of the two candidates failed; the other is as it would be without it."""
    there = ~np.isnan(found.ledger_.error).all(axis=0)
    assert np.isinf(found.ledger_.error[1, there]).all()
    np.testing.assert_array_equal(found.ledger_.error[0], few().fit(X, Y).ledger_.error[0])
    assert found.best_params_ == {"alpha": 1.0}
