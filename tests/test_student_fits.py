"""Students' fits: none is lost, and what was there before changes no number."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.delivery import MOST_BYTES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(45, 3))
Y = X[:, 0] + np.abs(X[:, 1]) + RNG.normal(scale=0.5, size=45)
LABELS = np.where(Y > 0.7, "yes", "no")
ALPHAS = {"alpha": [0.1, 1.0, 10.0]}
TREES = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
K = 3
N_SHARES = 3  # of linear models: nothing is made up for these


class Probe(Ridge):
    """Ridge that tells of the fits to targets that are not the data's: those of students."""

    n_students = 0
    before = None

    def fit(self, X, y, sample_weight=None):
        is_student = not np.isin(y, Y).all()
        if is_student and Probe.before is not None:
            Probe.before()
        super().fit(X, y, sample_weight)
        Probe.n_students += is_student
        return self


@pytest.fixture(autouse=True)
def _fresh_probe(monkeypatch):
    monkeypatch.setattr(Probe, "n_students", 0)
    monkeypatch.setattr(Probe, "before", None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger"


def fit(path=None, grid=ALPHAS, estimator=None, y=Y, deliver="student", **how):
    search = StabilitySearchCV(
        Probe() if estimator is None else estimator,
        grid,
        cv=KFold(K, shuffle=True, random_state=1),
        deliver=deliver,
        ledger=path,
        **how,
    )
    return search.fit(X, y)


def assert_same(one, other):
    mine, theirs = one.offers_["student"], other.offers_["student"]
    assert (mine.candidates, mine.teaching) == (theirs.candidates, theirs.teaching)
    assert_array_equal(mine.errors, theirs.errors)
    assert one.promise_interval_ == other.promise_interval_
    assert_array_equal(one.predict(X), other.predict(X))


def test_every_student_is_fitted_once(path):
    whole = fit()
    n_delivered = int(whole.delivered_.share > 0)
    assert Probe.n_students == N_SHARES * K * 3 + n_delivered
    Probe.n_students = 0
    fit(path)
    again = fit(path)
    assert Probe.n_students == N_SHARES * K * 3 + 2 * n_delivered
    assert_same(again, whole)


@pytest.mark.parametrize("n_done", [0, 1, 7, 20])
def test_an_interrupted_search_goes_on_among_its_students(path, n_done):
    def interrupt():
        if Probe.n_students == n_done:
            Probe.before = None
            raise KeyboardInterrupt

    Probe.before = staticmethod(interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(path)
    resumed = fit(path)
    assert Probe.n_students == N_SHARES * K * 3 + int(resumed.delivered_.share > 0)
    assert_same(resumed, fit())


def slow_search(path, log):
    """Runs in a process of its own; a log has a letter for every student."""

    def before():
        time.sleep(0.05)
        with Path(log).open("a") as file:
            file.write("x")

    Probe.before = staticmethod(before)
    return fit(path)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_killed_search_goes_on_among_its_students(path, tmp_path, name):
    log = tmp_path / "students"
    call = f"import test_student_fits as t; t.slow_search({str(path)!r}, {str(log)!r})"
    process = subprocess.Popen([sys.executable, "-c", call], cwd=Path(__file__).parent)
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size >= 12):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(getattr(signal, name))
    process.wait()
    n_begun = log.stat().st_size
    resumed = fit(path)
    assert Probe.n_students <= N_SHARES * K * 3 + 1 - (n_begun - 1)
    assert_same(resumed, fit())


@pytest.mark.parametrize(
    ("estimator", "small", "large", "y"),
    [
        (Probe(), {"alpha": [0.1, 1.0]}, {"alpha": [0.01, 0.1, 1.0, 100.0]}, Y),
        (DecisionTreeRegressor(), {"max_depth": [1, 3]}, TREES, Y),
        (DecisionTreeClassifier(), {"max_depth": [1, 3]}, TREES, LABELS),
    ],
    ids=["separate", "path", "classes"],
)
def test_what_is_stored_before_is_no_matter(path, estimator, small, large, y):
    fresh = fit(None, large, estimator, y)
    fit(path, small, estimator, y)
    fit(path, large, estimator, y, deliver="model")
    for how in ({}, {}, {"n_jobs": 2}):
        assert_same(fit(path, large, estimator, y, **how), fresh)


def test_a_larger_grid_fits_its_new_students_only(path):
    few, many = {"alpha": [0.1, 1.0]}, {"alpha": [0.1, 1.0, 1e6]}  # nobody would learn from the last
    first = fit(path, few)
    n_before = Probe.n_students - int(first.delivered_.share > 0)
    second = fit(path, many)
    n_after = Probe.n_students - int(first.delivered_.share > 0) - int(second.delivered_.share > 0)
    assert (n_before, n_after) == (N_SHARES * K * 2, N_SHARES * K * 3)


@pytest.mark.parametrize("with_file", [False, True])
def test_outputs_have_a_budget(path, monkeypatch, with_file):
    trees = DecisionTreeRegressor()
    whole = fit(None, TREES, trees)
    file = path if with_file else None
    if with_file:
        fit(file, TREES, trees)
    monkeypatch.setitem(MOST_BYTES, "delivered", 6 * 8 * 45 * 4 - 1)  # candidates, rows, teachings
    parts = fit(file, TREES, trees, deliver="student")
    assert_same(parts, whole)
    assert parts.n_fits_ > (0 if with_file else whole.n_fits_)


def test_outputs_that_fit_are_not_fitted_again(monkeypatch):
    whole = fit(None, TREES, DecisionTreeRegressor())
    monkeypatch.setitem(MOST_BYTES, "delivered", 6 * 8 * 45 * 4)
    assert fit(None, TREES, DecisionTreeRegressor()).n_fits_ == whole.n_fits_


class Fragile(Probe):
    """Does not learn from others without a penalty."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha == 0.1 and not np.isin(y, Y).all():
            raise ValueError("taught")
        return super().fit(X, y, sample_weight)


def test_what_failed_is_tried_again(path):
    for n_students in (18, 0):
        Probe.n_students = 0
        with pytest.warns(FitFailedWarning, match="9 fits failed"):
            search = fit(path, estimator=Fragile())
        assert Probe.n_students == n_students + int(search.delivered_.share > 0)


@pytest.mark.parametrize("changed", ["bytes = zeroblob(8)", "checksum = ''", "name = 'predict'"])
def test_damage_is_seen(path, changed):
    fit(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM students WHERE name = 'predict'")
        connection.execute(f"UPDATE students SET {changed} WHERE name = 'error'")
    with pytest.raises(ValueError, match=r"damaged.*students"):
        fit(path)
