"""The ledger on disk: what is in the file is not fitted again, and no file is ever harmed."""

import functools
import importlib.metadata
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRegressor

from steadycv import StabilitySearchCV, ledger_file, versions
from steadycv.paths import find_path, register_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=24)
GRID = {"alpha": [0.1, 1.0, 10.0]}
PLANE = {"alpha": np.logspace(-2, 2, 5), "tol": [1e-5, 1e-4, 1e-3], "fit_intercept": [True, False]}
K = 3
PER_CANDIDATE = 1 + K + K * (K - 1) // 2


class Probe(Ridge):
    """Ridge that counts its fits and calls a hook before each."""

    n_fits = 0
    hook = None

    def fit(self, X, y, sample_weight=None):
        if Probe.hook is not None:
            Probe.hook(self)
        Probe.n_fits += 1
        return super().fit(X, y, sample_weight)


PROBE = Probe()


class OtherProbe(Probe):
    """The same under another name."""


@pytest.fixture(autouse=True)
def _fresh_probe(monkeypatch):
    monkeypatch.setattr(Probe, "n_fits", 0)
    monkeypatch.setattr(Probe, "hook", None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.ledger"


def fit(ledger=None, grid=GRID, *, estimator=PROBE, X=X, y=Y, cv=K, sample_weight=None, **params):
    search = StabilitySearchCV(estimator, grid, cv=cv, ledger=ledger, **params)
    return search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))


def interrupt_after(n_fits):
    def hook(_):
        if Probe.n_fits == n_fits:
            raise KeyboardInterrupt

    return staticmethod(hook)


def assert_same_results(one, other):
    for name in ("best_index_", "stability_weight_", "cv_error_", "kfold_index_", "best_score_"):
        assert getattr(one, name) == getattr(other, name)
    for table in ("cv_results_", "weights_"):
        mine, theirs = getattr(one, table), getattr(other, table)
        assert set(mine) == set(theirs)
        for key in mine:
            if "time" not in key:
                np.testing.assert_array_equal(mine[key], theirs[key], err_msg=key)
    np.testing.assert_array_equal(one.out_of_fold_predictions_, other.out_of_fold_predictions_)


def assert_valid(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def rewrite(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


# What is there is reused.

SEARCHES = {
    "grid": {},
    "coordinate": {"grid": PLANE, "search": "coordinate", "stability_weights": [0, 1, 100]},
    "not nested": {"nested": False, "stability_weights": 1.0},
    "repeats": {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)},
    "weights": {"sample_weight": np.arange(1.0, 25.0)},
    "scores": {
        "scoring": ["r2", "neg_mean_absolute_error"],
        "refit": "neg_mean_absolute_error",
        "return_train_score": True,
    },
    "probabilities": {"estimator": LogisticRegression(), "grid": {"C": [0.1, 1.0]}, "y": Y > 0},
}


@pytest.mark.parametrize("params", SEARCHES.values(), ids=SEARCHES)
def test_results_are_those_of_a_search_in_memory(path, params):
    in_memory = fit(**params)
    assert_same_results(fit(path, **params), in_memory)
    again = fit(path, **params)
    assert_same_results(again, in_memory)
    assert again.n_fits_ == 0
    assert_valid(path)


def test_second_run_fits_the_refit_only(path):
    fit(path)
    assert Probe.n_fits == 3 * PER_CANDIDATE + 1
    fit(path)
    assert Probe.n_fits == (3 * PER_CANDIDATE + 1) + 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["grid", "coordinate"])
def test_interrupted_search_goes_on(path, monkeypatch, kind, seed):
    params = SEARCHES[kind]
    whole = fit(**params)
    n_done = int(np.random.default_rng(seed).integers(whole.n_fits_))
    monkeypatch.setattr(Probe, "n_fits", 0)
    monkeypatch.setattr(Probe, "hook", interrupt_after(n_done))
    with pytest.raises(KeyboardInterrupt):
        fit(path, **params)
    monkeypatch.setattr(Probe, "hook", None)
    resumed = fit(path, **params)
    assert_same_results(resumed, whole)
    assert resumed.n_fits_ == whole.n_fits_ - n_done


def test_interruptions_one_after_the_other(path, monkeypatch):
    """Any number of interruptions, each of which leaves at least one candidate behind."""
    params = SEARCHES["coordinate"]
    whole = fit(**params)
    for _ in range(3):
        monkeypatch.setattr(Probe, "n_fits", 0)
        monkeypatch.setattr(Probe, "hook", interrupt_after(PER_CANDIDATE * 2))
        with pytest.raises(KeyboardInterrupt):
            fit(path, **params)
    monkeypatch.setattr(Probe, "hook", None)
    resumed = fit(path, **params)
    assert_same_results(resumed, whole)
    assert resumed.n_fits_ < whole.n_fits_


@pytest.mark.parametrize("n_done", [1, 4, 6, 10])
def test_interrupted_path_goes_on(path, monkeypatch, n_done):
    """One fit serves all candidates of a path; what it left behind is written down fit by fit."""
    params = {"estimator": Ridge(), "cv": 4}
    whole = fit(**params)
    assert whole.n_fits_ == 1 + 4 + 6
    with monkeypatch.context() as patch:
        seen = []

        def interrupt(file, task, cells):
            keep(file, task, cells)
            seen.append(task)
            if len(seen) == n_done:
                raise KeyboardInterrupt

        keep = ledger_file.LedgerFile.fitted
        patch.setattr(ledger_file.LedgerFile, "fitted", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(path, **params)
    resumed = fit(path, **params)
    assert_same_results(resumed, whole)
    assert resumed.n_fits_ == whole.n_fits_ - n_done
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM candidates").fetchone() == (3,)
        assert connection.execute("SELECT count(*) FROM waiting").fetchone() == (0,)


def test_losses_that_wait_have_a_budget(path, monkeypatch):
    """What is not written down of them is fitted again: no less, and the numbers are the same."""
    monkeypatch.setattr(ledger_file, "MOST_WAITING_BYTES", 0)
    monkeypatch.setattr(Probe, "hook", interrupt_after(5))
    with pytest.raises(KeyboardInterrupt):
        fit(path)
    monkeypatch.setattr(Probe, "hook", None)
    resumed = fit(path)
    assert_same_results(resumed, fit())
    assert (
        resumed.n_fits_ == 3 * PER_CANDIDATE - 5 + K
    )  # all data and two folds' are there, and compared


def test_error_of_the_user_loses_nothing(path, monkeypatch):
    def hook(probe):
        if probe.alpha == 10.0:
            raise RuntimeError("out of memory")

    monkeypatch.setattr(Probe, "hook", staticmethod(hook))
    with pytest.raises(RuntimeError, match="out of memory"):
        fit(path, error_score="raise")
    monkeypatch.setattr(Probe, "hook", None)
    assert fit(path).n_fits_ == PER_CANDIDATE


def slow_search(path, n_candidates, seconds, log=None):
    """Runs in a process of its own; a log has a letter for every fit that is done."""

    def hook(_):
        time.sleep(seconds)
        if log is not None:
            with Path(log).open("a") as file:
                file.write("x")

    Probe.hook = staticmethod(hook)
    return fit(path, {"alpha": np.logspace(-2, 2, n_candidates)})


def slow_path(path, seconds):
    """The same with a path, of which one fit serves all candidates."""

    fast = type(find_path(Ridge()))

    class Slow(fast):
        def outputs(self, *args):
            time.sleep(seconds)
            return super().outputs(*args)

    Slow.__module__, Slow.__qualname__ = fast.__module__, fast.__qualname__  # its numbers are the same
    register_path(Ridge, Slow())
    return fit(path, estimator=Ridge(), cv=5)


def start(call):
    command = [sys.executable, "-c", f"import test_ledger_file as t; t.{call}"]
    return subprocess.Popen(command, cwd=Path(__file__).parent, stderr=subprocess.PIPE, text=True)


def wait_for(condition, process):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


def n_candidates_in(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM candidates").fetchone()[0]
        except sqlite3.OperationalError:  # not made yet
            return 0


@pytest.mark.parametrize(("name", "n_before"), [("SIGKILL", 9), ("SIGKILL", 23), ("SIGTERM", 16)])
def test_killed_search_goes_on(path, tmp_path, name, n_before):
    """At most the fit that was running is done again; see `benchmarks/interruptions.py` too."""
    log = tmp_path / "fits"
    process = start(f"slow_search({str(path)!r}, 6, 0.1, {str(log)!r})")
    wait_for(lambda: log.exists() and log.stat().st_size >= n_before, process)
    process.send_signal(getattr(signal, name))
    process.communicate()
    assert process.returncode == (-signal.SIGKILL if name == "SIGKILL" else 128 + signal.SIGTERM)
    n_done = log.stat().st_size
    resumed = slow_search(path, 6, 0)
    assert_valid(path)
    assert resumed.n_fits_ <= 6 * PER_CANDIDATE - n_done + 1
    assert_same_results(resumed, slow_search(None, 6, 0))


def test_killed_path_goes_on(path):
    """A single group of candidates is on disk training set by training set."""
    process = start(f"slow_path({str(path)!r}, 0.15)")
    wait_for(lambda: n_candidates_in(path) == 3, process)
    time.sleep(0.5)
    process.kill()
    process.communicate()
    resumed = fit(path, estimator=Ridge(), cv=5)
    assert resumed.n_fits_ <= 16 - 3
    assert_same_results(resumed, fit(estimator=Ridge(), cv=5))


def test_quick_fits_are_written_at_once(path, monkeypatch):
    """However long the disk takes, which is asked for now and then."""
    clock, left = SimpleNamespace(seconds=0.0), []

    def pass_time(statement):
        clock.seconds += 1.0 if "checkpoint" in statement else 1e-4

    def load(file, *args):
        original.load(file, *args)
        file._connection.set_trace_callback(pass_time)

    def fitted(file, task, cells):
        clock.seconds += 0.01
        original.fitted(file, task, cells._replace(fit_time=0.01))
        left.append(len(file._pending))

    cls = ledger_file.LedgerFile
    original = SimpleNamespace(load=cls.load, fitted=cls.fitted)
    monkeypatch.setattr(cls, "load", load)
    monkeypatch.setattr(cls, "fitted", fitted)
    monkeypatch.setattr(ledger_file, "time", SimpleNamespace(monotonic=lambda: clock.seconds))
    fit(path, PLANE, race=False)
    assert left == [0] * 30 * PER_CANDIDATE


def test_two_searches_at_once(path):
    """Both write all the time; each finishes, and the file has the candidates of both."""
    calls = [f"slow_search({str(path)!r}, {n}, 0.003)" for n in (20, 39)]
    for process in [start(call) for call in calls]:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        assert "Warning" not in errors
    assert_valid(path)
    both = slow_search(path, 39, 0)
    assert both.n_fits_ == 0
    assert_same_results(both, slow_search(None, 39, 0))


def test_file_is_not_locked_while_a_candidate_is_fitted(path, monkeypatch):
    def hook(probe):
        if probe.alpha == 10.0:
            with closing(sqlite3.connect(path, timeout=0)) as other:
                other.execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(Probe, "hook", staticmethod(hook))
    fit(path, error_score="raise")


def test_search_at_the_same_time_takes_nothing_away(path, monkeypatch):
    def hook(_):
        monkeypatch.setattr(Probe, "hook", None)
        fit(path)  # from start to end, while the plain search is at its first fit

    monkeypatch.setattr(Probe, "hook", staticmethod(hook))
    fit(path, nested=False, stability_weights=0)
    assert fit(path).n_fits_ == 0


LARGER = {
    "more values": ({"alpha": [0.01, 0.1, 1.0, 10.0, 100.0]}, 2),
    "one more axis": ({**GRID, "fit_intercept": [True, False]}, 3),
    "a list of grids": ([GRID, {"alpha": [5.0]}], 1),
    "another order": ({"alpha": [10.0, 1.0, 0.1]}, 0),
    "numpy numbers": ({"alpha": np.array([0.1, 1.0, 10.0])}, 0),
    "a smaller grid": ({"alpha": [1.0]}, 0),
}


@pytest.mark.parametrize(("grid", "n_new"), LARGER.values(), ids=LARGER)
def test_other_grid_reuses_what_is_there(path, grid, n_new):
    fit(path)
    larger = fit(path, grid)
    assert larger.n_fits_ == n_new * PER_CANDIDATE
    assert_same_results(larger, fit(grid=grid))


def test_weights_are_not_part_of_the_file(path):
    fit(path)
    assert fit(path, stability_weights=[0.3, 7.0]).n_fits_ == 0


def test_nesting_is_added(path):
    """With weight 1 the file has all but the models without two folds and what they compare with."""
    fit(path, nested=False, stability_weights=1.0)
    nested = fit(path)
    assert nested.n_fits_ == 3 * (PER_CANDIDATE - 1)
    assert_same_results(nested, fit())
    assert fit(path, nested=False, stability_weights=1.0).n_fits_ == 0
    assert fit(path).n_fits_ == 0  # the search without nesting took nothing away


def test_instability_is_added(path):
    fit(path, nested=False, stability_weights=0)
    steady = fit(path, nested=False, stability_weights=1.0)
    assert_same_results(steady, fit(nested=False, stability_weights=1.0))


def neighbours(n_jobs=None, verbose=False):
    return Pipeline(
        [("scale", StandardScaler()), ("knn", KNeighborsRegressor(n_jobs=n_jobs))], verbose=verbose
    )


@pytest.mark.parametrize(
    "params",
    [
        {"n_jobs": 2},
        {"verbose": 2},
        {"estimator": neighbours(n_jobs=1)},
        {"estimator": neighbours(verbose=True), "use_paths": False},
    ],
    ids=["n_jobs", "verbose", "estimator's n_jobs", "estimator's verbose"],
)
def test_cores_and_printing_do_not_matter(path, params):
    grid = {"knn__n_neighbors": [1, 3, 5]}
    fit(path, grid, estimator=neighbours(), use_paths=params.get("use_paths", True))
    assert fit(path, grid, **{"estimator": neighbours(), **params}).n_fits_ == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # Python 3.12 on, of fork
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_backends(path, monkeypatch, backend):
    """Workers of multiprocessing inherit the open file, and must not touch it."""
    monkeypatch.setattr(ledger_file, "WRITING_SHARE", np.inf)  # after every fit
    with joblib.parallel_config(backend, n_jobs=2):
        fitted = fit(path)
    assert_same_results(fitted, fit())
    assert_valid(path)
    assert fit(path).n_fits_ == 0


def frame():
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=[True, False] * 12)


@pytest.mark.parametrize("make_X", [frame, lambda: scipy.sparse.csr_matrix(X)], ids=["frame", "sparse"])
def test_equal_data_are_the_same_data(path, make_X):
    data = make_X()
    y = pd.Series(Y, name="target")
    fit(path, X=data, y=y)
    assert fit(path, X=data, y=y).n_fits_ == 0  # though the fits have looked at them
    assert fit(path, X=make_X(), y=y.copy()).n_fits_ == 0


def test_sparse_data_that_were_looked_at_are_the_same_data(path):
    data = scipy.sparse.csr_matrix(X)
    data = scipy.sparse.csr_matrix((data.data, data.indices, data.indptr))  # nothing cached
    fit(path, X=data)
    assert data.has_sorted_indices
    assert data.has_canonical_format
    assert fit(path, X=data).n_fits_ == 0


# Another search's file is refused.


def changed(array):
    array = np.array(array)
    array[0] = array[0] + 1e-9
    return array


OTHERS = {
    "X": ("data", {"X": changed(X)}),
    "y": ("data", {"y": changed(Y)}),
    "columns": ("data", {"X": pd.DataFrame(X)}),
    "sample_weight": ("data", {"sample_weight": np.ones(24)}),
    "number of folds": ("folds", {"cv": 4}),
    "folds": ("folds", {"cv": KFold(3, shuffle=True, random_state=0)}),
    "estimator": ("estimator", {"estimator": Lasso()}),
    "class": ("estimator", {"estimator": OtherProbe()}),
    "fixed parameter": ("estimator", {"estimator": Probe(fit_intercept=False)}),
    "step of a pipeline": ("estimator", {"estimator": neighbours(), "grid": {"knn__p": [1, 2]}}),
    "loss": ("scoring", {"loss": "absolute_error"}),
    "driving score": ("scoring", {"scoring": "neg_mean_absolute_error"}),
    "reported score": ("scoring", {"scoring": "r2", "loss": "squared_error"}),
    "train scores": ("scoring", {"return_train_score": True}),
}


@pytest.mark.parametrize(("part", "params"), OTHERS.values(), ids=OTHERS)
def test_file_of_another_search_is_refused(path, part, params):
    fit(path)
    content, n_fits = path.read_bytes(), Probe.n_fits
    with pytest.raises(ValueError, match=rf"another search: its [\w, ]*\b{part}\b.* different"):
        fit(path, **params)
    assert Probe.n_fits == n_fits
    assert path.read_bytes() == content


def test_all_that_is_different_is_named(path):
    fit(path)
    with pytest.raises(ValueError, match="its data, folds, estimator, scoring are different"):
        fit(path, X=-X, cv=4, estimator=Lasso(), loss="absolute_error")


def test_other_sample_weight_is_refused(path):
    weight = np.arange(1.0, 25.0)
    fit(path, sample_weight=weight)
    with pytest.raises(ValueError, match="its data"):
        fit(path, sample_weight=changed(weight))


[XGBOOST] = importlib.metadata.packages_distributions()["xgboost"]  # there are several builds


@pytest.fixture
def other_version(monkeypatch):
    """Makes a package another version of itself."""

    def change(name):
        real = importlib.metadata.version
        monkeypatch.setattr(versions, "_version", lambda n: "99.0" if n == name else real(n))

    return change


@pytest.mark.parametrize("package", ["steadycv", "scikit-learn", "numpy", "numba"])
def test_other_version_is_refused(path, other_version, package):
    fit(path)
    other_version(package)
    with pytest.raises(ValueError, match="its set of versions is different"):
        fit(path)


class MyXGB(XGBRegressor):
    """Of a class of one's own, but not all of it."""


@pytest.mark.parametrize(
    "estimator",
    [
        XGBRegressor(n_estimators=2),
        MyXGB(n_estimators=2),
        make_pipeline(StandardScaler(), XGBRegressor(n_estimators=2)),
        TransformedTargetRegressor(XGBRegressor(n_estimators=2)),
    ],
    ids=["bare", "subclass", "pipeline", "inside another"],
)
def test_other_version_of_the_estimator_s_package_is_refused(path, other_version, estimator):
    search = StabilitySearchCV(estimator, [{}], cv=K, ledger=path, refit=False)
    search.fit(X, Y)
    other_version(XGBOOST)
    with pytest.raises(ValueError, match="its set of versions is different"):
        search.fit(X, Y)


def test_packages_of_a_candidate_are_its_own(path, other_version):
    """A grid may grow by estimators of another package; with another version these are fitted anew."""
    model = Pipeline([("model", Ridge())])

    def n_fits(models):
        search = StabilitySearchCV(model, {"model": models}, cv=K, ledger=path, refit=False)
        return search.fit(X, Y).n_fits_

    assert n_fits([Ridge()]) == PER_CANDIDATE
    assert n_fits([Ridge(), XGBRegressor(n_estimators=2)]) == PER_CANDIDATE
    other_version(XGBOOST)
    assert n_fits([Ridge(), XGBRegressor(n_estimators=2)]) == PER_CANDIDATE


def own_class(body):
    """A new class of one module and name, as after an edit of a script."""
    namespace = {"Ridge": Ridge, "__name__": "script"}
    exec(f"class Own(Ridge):\n    def predict(self, X): {body}", namespace)
    return namespace["Own"]


def test_edited_estimator_is_refused(path):
    def search(body):
        return StabilitySearchCV(own_class(body)(), GRID, cv=K, ledger=path, refit=False)

    search("return super(type(self), self).predict(X)").fit(X, Y)
    assert search("return super(type(self), self).predict(X)").fit(X, Y).n_fits_ == 0
    with pytest.raises(ValueError, match="its estimator is different"):
        search("return 2 * super(type(self), self).predict(X)").fit(X, Y)


def function(source):
    """A new function of one module and name, as after an edit of a script."""
    namespace = {"np": np, "__name__": "script"}
    exec(source, namespace)
    return namespace["f"]


EDITS = {
    "body": ("def f(y, p): return np.abs(y - p)", "def f(y, p): return 2 * np.abs(y - p)"),
    "operation": ("def f(y, p): return np.abs(y - p)", "def f(y, p): return np.square(y - p)"),
    "default": ("def f(y, p, a=1): return a * abs(y - p)", "def f(y, p, a=2): return a * abs(y - p)"),
    "inner function": (
        "def f(y, p): return (lambda e: e * e)(y - p)",
        "def f(y, p): return (lambda e: abs(e))(y - p)",
    ),
}


@pytest.mark.parametrize(("before", "after"), EDITS.values(), ids=EDITS)
def test_edited_loss_is_refused(path, before, after):
    fit(path, loss=function(before), scoring="r2")
    assert fit(path, loss=function(before), scoring="r2").n_fits_ == 0
    with pytest.raises(ValueError, match="its scoring"):
        fit(path, loss=function(after), scoring="r2")


def test_edited_keyword_only_default_is_refused(path):
    fit(path, loss=function("def f(y, p, *, a=1): return a * abs(y - p)"), scoring="r2")
    with pytest.raises(ValueError, match="its scoring"):
        fit(path, loss=function("def f(y, p, *, a=2): return a * abs(y - p)"), scoring="r2")


def test_other_value_in_a_closure_is_refused(path):
    def power(exponent):
        return lambda y, p: np.abs(y - p) ** exponent

    fit(path, loss=power(1), scoring="r2")
    assert fit(path, loss=power(1), scoring="r2").n_fits_ == 0
    with pytest.raises(ValueError, match="its scoring"):
        fit(path, loss=power(2), scoring="r2")


UNPICKLABLE = {
    "loss alone": {"loss": lambda y, p: np.abs(y - p)},
    "partial": {"loss": functools.partial(lambda a, y, p: a * np.abs(y - p), 2), "scoring": "r2"},
    "scorer": {"scoring": make_scorer(lambda y, p: 0.0), "loss": "squared_error"},
    "scorers": {"scoring": {"a": lambda e, X, y: 0.0, "b": "r2"}, "loss": "squared_error"},
}


@pytest.mark.parametrize("params", UNPICKLABLE.values(), ids=UNPICKLABLE)
def test_functions_need_not_be_picklable(path, params):
    fit(path, refit=False, **params)
    assert fit(path, refit=False, **params).n_fits_ == 0


def module_level_loss(y, p):
    return np.abs(y - p)


def module_level_score(y, p):
    return np.mean(y - p)


@pytest.mark.parametrize(
    ("edited", "params"),
    [
        (module_level_loss, {"loss": module_level_loss}),
        pytest.param(
            module_level_loss,
            {"loss": functools.partial(module_level_loss), "scoring": "r2"},
        ),
        pytest.param(
            module_level_score,
            {"scoring": make_scorer(module_level_score), "loss": "squared_error"},
        ),
    ],
    ids=["function", "partial", "scorer"],
)
def test_edited_function_of_a_module_is_refused(path, monkeypatch, edited, params):
    fit(path, **params)
    assert fit(path, **params).n_fits_ == 0
    monkeypatch.setattr(edited, "__code__", function("def f(y, p): return 3.0").__code__)
    with pytest.raises(ValueError, match="its scoring"):
        fit(path, **params)


def test_loss_may_call_itself(path):
    def distance(y, p, *, depth=1):
        return distance(y, p, depth=0) if depth else np.abs(y - p)

    fit(path, loss=distance, scoring="r2")
    assert fit(path, loss=distance, scoring="r2").n_fits_ == 0


# Failed fits.


class Fragile(Probe):
    """Cannot be fitted with alpha=1."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha == 1.0:
            Probe.n_fits += 1
            raise RuntimeError("alpha is 1")
        return super().fit(X, y, sample_weight)


def warns_of_failures():
    return pytest.warns(match="alpha is 1")


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
class TestFailures:
    def test_results_with_failures(self, path):
        with warns_of_failures():
            in_memory = fit(estimator=Fragile())
        with warns_of_failures():
            assert_same_results(fit(path, estimator=Fragile()), in_memory)

    def test_second_run_tells_of_failures_too(self, path):
        with warns_of_failures():
            first = fit(path, estimator=Fragile())
        with warns_of_failures():
            assert_same_results(fit(path, estimator=Fragile()), first)

    def test_larger_grid_of_failures(self, path):
        fit(path, {"alpha": [0.1, 10.0]}, estimator=Fragile())
        with warns_of_failures():
            assert fit(path, estimator=Fragile()).best_params_ == {"alpha": 0.1}

    def test_failures_in_the_file_are_raised_if_asked(self, path):
        with warns_of_failures():
            fit(path, estimator=Fragile())
        with pytest.raises(RuntimeError, match="alpha is 1"):
            fit(path, estimator=Fragile(), error_score="raise")

    def test_all_failed_twice(self, path):
        for _ in range(2):
            with pytest.raises(ValueError, match="alpha is 1"):
                fit(path, {"alpha": [1.0]}, estimator=Fragile())


def test_error_score_of_failed_scores_is_this_search_s(path):
    def broken(estimator, X, y):
        raise RuntimeError("no score")

    for error_score in (0.0, 7.0):
        with pytest.warns(UserWarning, match="Scoring failed"):
            search = fit(
                path, loss="squared_error", scoring=broken, error_score=error_score, refit=False
            )
        assert (search.cv_results_["mean_test_score"] == error_score).all()


# Files that are no ledger, or no longer one.


def truncate(path, size):
    with path.open("r+b") as file:
        file.truncate(size)


def overwrite(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


def number_in(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT float64 FROM numbers WHERE field = 'error'").fetchone()[0]


def garble(path):
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 16] = b"\xff" * 16
    path.write_bytes(content)


def foreign(path):
    path.unlink()
    rewrite(path, "CREATE TABLE diary (day TEXT)", "INSERT INTO diary VALUES ('Monday')")


def foreign_without_tables(path):
    path.unlink()
    rewrite(path, "PRAGMA application_id = 1234", "PRAGMA user_version = 3")


def set_numbers(path, value):
    rewrite(path, f"UPDATE numbers SET float64 = {value} WHERE field = 'error'")


NO_LEDGERS = {
    "pages overwritten": (garble, "damaged or not a ledger"),
    "header overwritten": (
        lambda p: overwrite(p, b"SQLite format 3", b"X" * 15),
        "damaged or not a ledger",
    ),
    "cut to half": (lambda p: truncate(p, p.stat().st_size // 2), "damaged or not a ledger"),
    "cut to a page": (lambda p: truncate(p, 4096), "damaged or not a ledger"),
    "cut to its header": (lambda p: truncate(p, 100), "damaged or not a ledger"),
    "cut to a few bytes": (lambda p: truncate(p, 10), "damaged or not a ledger"),
    "text": (lambda p: p.write_text("alpha,score\n1,2\n" * 100), "damaged or not a ledger"),
    "short text": (lambda p: p.write_text("hi"), "damaged or not a ledger"),
    "another program's database": (foreign, "not a ledger"),
    "newer format": (lambda p: rewrite(p, "PRAGMA user_version = 4"), "format 4.* reads format 3"),
}

DAMAGED_NUMBERS = {
    "another program's database without tables": foreign_without_tables,
    "one bit of a number": lambda p: overwrite(
        p, number_in(p), bytes([number_in(p)[0] ^ 1]) + number_in(p)[1:]
    ),
    "too few numbers": lambda p: set_numbers(p, "x'0011223344556677'"),
    "half a number": lambda p: set_numbers(p, "x'00112233'"),
    "text for numbers": lambda p: set_numbers(p, "'text'"),
    "a table missing": lambda p: rewrite(p, "DROP TABLE numbers"),
}


@pytest.mark.parametrize(("damage", "message"), NO_LEDGERS.values(), ids=NO_LEDGERS)
def test_file_that_is_no_ledger_is_left_alone(path, damage, message):
    fit(path)
    damage(path)
    content, n_fits = path.read_bytes(), Probe.n_fits
    with pytest.raises(ValueError, match=message) as caught:
        fit(path)
    assert str(path) in str(caught.value)
    assert "another path" in str(caught.value)
    assert Probe.n_fits == n_fits
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("damage", DAMAGED_NUMBERS.values(), ids=DAMAGED_NUMBERS)
def test_damaged_numbers_are_seen(path, damage):
    fit(path)
    damage(path)
    content = path.read_bytes()
    with pytest.raises(ValueError, match="ledger") as caught:
        fit(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content


def test_empty_file_is_an_empty_ledger(path):
    """As ``tempfile`` makes it."""
    path.touch()
    fit(path)
    assert fit(path).n_fits_ == 0


@pytest.mark.parametrize(
    "where", ["folder", "missing/search.ledger", "/proc/search.ledger", "/dev/full"]
)
def test_path_that_cannot_be_written_is_an_error_before_any_fit(tmp_path, where):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="cannot be opened for writing") as caught:
        fit(tmp_path / where)
    assert str(tmp_path / where) in str(caught.value)
    assert Probe.n_fits == 0
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def connect_with(monkeypatch, **changes):
    """Change how SQLite opens the file: tests may run as root, whom permissions do not stop."""
    connect = sqlite3.connect

    def changed_connect(path, **params):
        prefix = changes.get("uri", "{}")
        connection = connect(prefix.format(path), **params, uri="uri" in changes)
        for pragma in changes.get("pragmas", ()):
            connection.execute(pragma)
        return connection

    monkeypatch.setattr(sqlite3, "connect", changed_connect)


def test_read_only_file_is_an_error_before_any_fit(path, monkeypatch):
    fit(path)
    n_fits = Probe.n_fits
    with monkeypatch.context() as patch:
        connect_with(patch, uri="file:{}?mode=ro")
        with pytest.raises(OSError, match="readonly"):
            fit(path, {"alpha": [2.0]})
    assert Probe.n_fits == n_fits


def test_locked_file_is_an_error_before_any_fit(path, monkeypatch):
    fit(path)
    n_fits = Probe.n_fits
    with closing(sqlite3.connect(path)) as other, monkeypatch.context() as patch:
        other.execute("BEGIN EXCLUSIVE")
        connect_with(patch, pragmas=["PRAGMA busy_timeout = 1"])
        with pytest.raises(OSError, match=r"locked.*does another search use it"):
            fit(path)
    assert Probe.n_fits == n_fits


def test_disk_full_at_the_start_is_an_error(path, monkeypatch):
    connect_with(monkeypatch, pragmas=["PRAGMA max_page_count = 3"])
    with pytest.raises(OSError, match=r"full.*is there room on the disk"):
        fit(path)
    assert Probe.n_fits == 0


def test_disk_full_in_the_middle(path, monkeypatch):
    grid = {"alpha": np.logspace(-2, 2, 20)}
    monkeypatch.setattr(ledger_file, "WRITING_SHARE", np.inf)  # after every fit
    with monkeypatch.context() as patch:
        connect_with(patch, pragmas=["PRAGMA max_page_count = 20"])
        with pytest.warns(UserWarning, match="could not be written any more .*full") as caught:
            search = fit(path, grid)
    assert len(caught) == 1
    assert_same_results(search, fit(grid=grid))
    assert_valid(path)
    assert 0 < n_candidates_in(path) < 20
    resumed = fit(path, grid)
    assert resumed.n_fits_ < search.n_fits_
    assert_same_results(resumed, search)


def test_disk_full_at_the_end(path, monkeypatch):
    """The last numbers are written after the last fit, which must not be lost."""

    class Full(sqlite3.Connection):
        n_commits = 0

        def execute(self, statement, *params):
            Full.n_commits += statement == "COMMIT"
            if statement == "COMMIT" and Full.n_commits > 1:
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(statement, *params)

    in_memory = fit()
    monkeypatch.setattr(ledger_file.LedgerFile, "fitted", lambda *_: None)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Full))
        with pytest.warns(UserWarning, match="could not be written any more .disk I/O error"):
            search = fit(path)
    assert_same_results(search, in_memory)
    assert_valid(path)


# What is in a file.


def test_file_has_numbers_and_short_texts_only(path):
    search = fit(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT candidate, field, float64 FROM numbers").fetchall()
        texts = connection.execute("SELECT part, fingerprint FROM identity").fetchall()
        texts += connection.execute("SELECT candidate, settings FROM candidates").fetchall()
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()

    assert sorted(tables) == [
        (name,) for name in ("candidates", "identity", "numbers", "outputs", "students", "waiting")
    ]
    sizes = {"error": K + K * (K - 1), "change": K + K * (K - 1)}
    assert len(rows) == 3 * 5
    for _, field, blob in rows:
        assert type(blob) is bytes
        assert len(blob) == 8 * sizes.get(field, K)
    assert all(type(text) is str and len(text) < 200 for pair in texts for text in pair)

    settings = {key: text for key, text in texts if text.startswith("{")}
    errors = {settings[key]: np.frombuffer(blob) for key, field, blob in rows if field == "error"}
    for c, params in enumerate(search.cv_results_["params"]):
        assert errors[str(params)][:K].mean() == pytest.approx(
            search.cv_results_["cv_error"][c], rel=1e-14
        )


def test_nothing_is_unpickled(path, monkeypatch):
    fit(path)

    def refuse(*_, **__):
        raise AssertionError("unpickled")

    monkeypatch.setattr("pickle.load", refuse)
    monkeypatch.setattr("pickle.loads", refuse)
    monkeypatch.setattr("joblib.load", refuse)
    assert fit(path).n_fits_ == 0
