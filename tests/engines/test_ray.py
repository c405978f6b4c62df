"""A Ray cluster: the same numbers, workers that die, and a head that does."""

import logging
import os
import re
import subprocess
import sys

import joblib
import psutil
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.svm import SVR
from workers import Mortal, X, Y, assert_deadly_failed, assert_same, few, search

from steadycv import StabilitySearchCV, executor
from steadycv.engines import EngineLostError

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
ray = pytest.importorskip("ray")

# Ray's own, of files and sockets that it leaves to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    environment = pytest.MonkeyPatch()
    environment.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where Ray's workers look, too
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.CRITICAL,
    )
    yield
    ray.shutdown()
    environment.undo()


@pytest.mark.parametrize(
    "model",
    [
        (SVR(), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}),  # a path that prepares something
        (Mortal(note=__file__), {"alpha": [0.1, 10.0]}),
    ],
    ids=["path", "separate"],
)
def test_the_same_numbers(model):
    here = StabilitySearchCV(*model, cv=3).fit(X, Y)
    assert_same(clone(here).set_params(engine="ray").fit(X, Y), here)


def test_in_joblibs_context():
    from ray.util.joblib import register_ray

    register_ray()
    with joblib.parallel_config("ray"):
        assert executor.Executor().n_workers == 2
        found = search().fit(X, Y)
    assert_same(found, search().fit(X, Y))


def test_a_worker_that_dies_changes_nothing(tmp_path):
    mortal = search(Mortal(note=str(tmp_path / "note")), engine="ray", n_jobs=2)
    with pytest.warns(UserWarning, match="1 tasks were done again, as their worker died"):
        mortal.fit(X, Y)
    assert_same(mortal, search().fit(X, Y))


@pytest.mark.filterwarnings("ignore:.* tasks were done again")
def test_a_candidate_that_takes_every_worker_with_it_fails():
    with pytest.warns(FitFailedWarning, match="each of the 3 times it was tried. Ray says: WorkerCr"):
        found = few(Mortal(), engine="ray").fit(X, Y)
    assert_deadly_failed(found)


def test_errors_of_fits_come_back():
    with pytest.raises(ValueError, match="alpha"):
        StabilitySearchCV(
            Mortal(), {"alpha": [-1.0]}, engine="ray", error_score="raise", use_paths=False
        ).fit(X, Y)


def test_machines_with_other_packages_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(executor, "_versions", lambda problem: {"numpy": "0.1"})
    with pytest.raises(EngineLostError, match=r"The machine \d.* has numpy .* for 0.1"):
        search(engine="ray").fit(X, Y)


SCRIPT = """
import os, ray
from workers import X, Y, Mortal
from steadycv import StabilitySearchCV
from steadycv.engines import EngineLostError
ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=50)
alphas = [0.1 + 0.001 * i for i in range(500)]
search = StabilitySearchCV(
    Mortal(), {"alpha": alphas}, cv=3, use_paths=False, race=False, engine="ray", verbose=2
)
try:
    search.fit(X, Y)
except EngineLostError as error:
    print(error, flush=True)
os._exit(0)
"""


def test_a_head_that_dies_ends_the_search_in_one_line(tmp_path):
    found = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        n_fitted = 0
        while n_fitted < 10:
            n_fitted += "; alpha=" in found.stdout.readline()
        for process in psutil.Process(found.pid).children(recursive=True):
            if process.name() in ("gcs_server", "raylet"):
                process.kill()
        told = found.stdout.read()
    finally:
        found.kill()
        found.wait()
    last = told.splitlines()[-1]
    assert re.match(r"The head of the Ray cluster at \S+ is gone. What was finished is in the l", last)
