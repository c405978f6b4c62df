"""A Dask cluster: the same numbers, data once, and what comes and goes."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import joblib
import pytest
from distributed import Client, KilledWorker, LocalCluster
from sklearn.base import clone
from sklearn.svm import SVR
from workers import Mortal, Slow, X, Y, assert_same, search

from steadycv import StabilitySearchCV, executor
from steadycv.engines import EngineLostError
from steadycv.engines.of_dask import LOOK, DaskEngine
from steadycv.engines.protocol import Died
from steadycv.progress import FitLines

# Dask's own, of connections that end.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def started_cluster():
    """Two workers; on a busy machine Dask sometimes gives up before they are there."""
    for _ in range(3):
        try:
            return LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            failed = error
    raise failed


@pytest.fixture(scope="module")
def client():
    with started_cluster() as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    "model",
    [
        (SVR(), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}),  # a path that prepares something
        (Mortal(note=__file__), {"alpha": [0.1, 10.0]}),
    ],
    ids=["path", "separate"],
)
def test_the_same_numbers(client, model):
    here = StabilitySearchCV(*model, cv=3).fit(X, Y)
    assert_same(clone(here).set_params(engine=client).fit(X, Y), here)


def test_in_joblibs_context(client):
    with joblib.parallel_config("dask"):
        assert type(executor.Executor()._engine) is DaskEngine
        found = search().fit(X, Y)
    assert_same(found, search().fit(X, Y))


def test_no_more_at_a_time_than_n_jobs(client):
    assert DaskEngine(client, None).n_workers == 2
    assert DaskEngine(client, 1).n_workers == 1


def test_a_clone_has_the_same_client_and_a_copy_elsewhere_none(client):
    made = search(engine=client)
    assert clone(made).engine is client
    assert made.__getstate__()["engine"] is None


def test_workers_that_come_later_get_work(client):
    engine = DaskEngine(client, None)
    assert engine.n_workers == 2
    client.cluster.scale(3)
    client.wait_for_workers(3)
    time.sleep(LOOK)
    assert engine.n_workers == 3
    found = search(Slow(), engine=client).fit(X, Y)
    tasks = client.run(lambda dask_worker: len(dask_worker.state.log))
    assert min(tasks.values()) > 0
    assert_same(found, search().fit(X, Y))
    client.cluster.scale(2)


def test_who_stops_listening_cancels_what_runs(client, monkeypatch):
    made = search(Slow(), engine=client, verbose=2)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FitLines, "fitted", stop)
    with pytest.raises(KeyboardInterrupt):
        made.fit(X, Y)
    deadline = time.monotonic() + 30
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())


def test_data_that_no_worker_has_any_more_are_sent_again(client):
    def kill_all():
        for worker in client.run(os.getpid).values():
            os.kill(worker, signal.SIGKILL)

    killer = threading.Timer(0.5, kill_all)
    killer.start()
    found = search(Slow(), engine=client).fit(X, Y)  # takes longer than that
    killer.join()
    assert_same(found, search().fit(X, Y))


def test_errors_of_fits_come_back(client):
    with pytest.raises(ValueError, match="alpha"):
        StabilitySearchCV(
            Mortal(), {"alpha": [-1.0]}, engine=client, error_score="raise", use_paths=False
        ).fit(X, Y)


def test_workers_with_other_packages_are_refused_by_name(client, monkeypatch):
    monkeypatch.setattr(executor, "_versions", lambda problem: {"numpy": "0.1"})
    with pytest.raises(EngineLostError, match=r"No worker can be used. tcp://.* has numpy .* for 0.1"):
        search(engine=client).fit(X, Y)


class TwoWorkers:
    """A client of a cluster one of whose workers has another package; another one is just going."""

    status = "running"
    scheduler = SimpleNamespace(address="tcp://scheduler")

    def nthreads(self):
        return {"tcp://good": 2, "tcp://other": 2, "tcp://gone": 2}

    def run(self, function, versions, workers, on_error):
        said = {"tcp://good": "", "tcp://other": "numpy 1 for 2", "tcp://gone": OSError("gone")}
        return {worker: said[worker] for worker in workers}

    def submit(self, function, *arguments, workers=None, **params):
        self.workers = workers
        return self

    def result(self, timeout):
        return None


class GivesUp(TwoWorkers):
    """A client of a cluster on which the worker of every task dies."""

    def gather(self, future, direct):
        raise KilledWorker("fit-1", SimpleNamespace(address="tcp://last"), 3)


def test_a_task_that_dasks_scheduler_gives_up():
    left = DaskEngine(GivesUp(), None)._result(None, None)
    assert isinstance(left, Died)
    assert left.reason.startswith("Dask's scheduler says: Attempted to run task 'fit-1' on 4 diff")


def test_one_with_other_packages_is_left_out():
    client = TwoWorkers()
    engine = DaskEngine(client, None)
    with pytest.warns(UserWarning, match="left out: tcp://other has numpy 1 for 2"):
        engine.check({"numpy": "2"})
    assert engine.n_workers == 2


SCRIPT = """
import sys
from distributed import Client
from workers import X, Y, Mortal
from steadycv import StabilitySearchCV
from steadycv.engines import EngineLostError
with Client(sys.argv[1]) as client:
    alphas = [0.1 + 0.001 * i for i in range(500)]
    search = StabilitySearchCV(
        Mortal(), {"alpha": alphas}, cv=3, use_paths=False, race=False, engine=client, verbose=2,
        ledger=sys.argv[2],
    )
    try:
        search.fit(X, Y)
    except EngineLostError as error:
        print(error)
"""


def test_a_scheduler_that_dies_ends_the_search_in_one_line(tmp_path):
    """And what was finished is not fitted again."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",
    }
    module, quiet = [sys.executable, "-m"], {"stderr": subprocess.DEVNULL, "env": environment}
    address = "tcp://127.0.0.1:18785"
    started = [
        subprocess.Popen(
            [*module, "distributed.cli.dask_scheduler", "--port", "18785", "--dashboard-address", ":0"],
            **quiet,
        ),
        subprocess.Popen(
            [*module, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"],
            **quiet,
        ),
    ]
    ledger = str(tmp_path / "ledger")
    found = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, address, ledger],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        **quiet,
    )
    try:
        lines = [found.stdout.readline() for _ in range(60)]  # so many fits
        started[0].kill()
        rest = found.stdout.read()
    finally:
        for process in (*started, found):
            process.kill()
            process.wait()
    told = [*lines, *rest.splitlines()]
    assert told[-1].startswith(f"The Dask scheduler at {address} is gone.")
    finished = sum("; alpha=" in line for line in told)
    alphas = [0.1 + 0.001 * i for i in range(500)]
    again = StabilitySearchCV(
        Mortal(), {"alpha": alphas}, cv=3, use_paths=False, race=False, ledger=ledger
    )
    assert again.fit(X, Y).n_fits_ == 7 * len(alphas) - finished
