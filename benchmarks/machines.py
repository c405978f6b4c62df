"""Engines on this machine, with real clusters of two workers: `python benchmarks/machines.py --store`.

How many bytes go over the loopback for 128 separate fits; how much faster Dask, Ray and processes are
than one core, with workers that are warm; whether a search ends with the same result when a worker is
killed at a random moment; and what is fitted again after the scheduler, or the head, was killed. Needs
Linux, the extras `dask` and `ray`, and two cores that have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from sklearn.base import BaseEstimator, RegressorMixin

from steadycv import StabilitySearchCV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
RESULTS = Path(__file__).parent / "results" / "machines.json"
WORKERS = 2
LOST = 3  # exit code of a search whose engine is gone


class Busy(RegressorMixin, BaseEstimator):
    """A mean that takes its time: so many products of matrices."""

    def __init__(self, level: float = 0.0, products: int = 1) -> None:
        self.level = level
        self.products = products

    def fit(self, X: Any, y: Any) -> Busy:
        matrix = np.random.default_rng(0).normal(size=(200, 200)) / 20
        for _ in range(self.products):
            matrix = matrix @ matrix
            matrix /= np.abs(matrix).max()
        self.mean_ = self.level * float(np.mean(y)) + 0.0 * float(matrix[0, 0])
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def data(n_rows: int = 200, n_columns: int = 5) -> tuple[Any, Any]:
    numbers = np.random.default_rng(0)
    return numbers.normal(size=(n_rows, n_columns)), numbers.normal(1.0, size=n_rows)


def search(n_candidates: int, products: int, **params: Any) -> StabilitySearchCV:
    levels = {"level": np.linspace(0, 1, n_candidates).tolist()}
    return StabilitySearchCV(Busy(products=products), levels, race=False, **params)


def numbers_of(fitted: StabilitySearchCV) -> tuple[bytes, ...]:
    """All that must be the same, bit for bit."""
    tables = (fitted.ledger_.error, fitted.ledger_.change, fitted.nested_predictions_)
    return tuple(np.ascontiguousarray(table).tobytes() for table in tables)


# Clusters.


@contextmanager
def dask_cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def ray_cluster() -> Iterator[Any]:
    import ray

    ray.init(
        address="local",
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.CRITICAL,
    )
    yield "ray"
    ray.shutdown()


@contextmanager
def processes() -> Iterator[Any]:
    yield "loky"


CLUSTERS = {"Dask": dask_cluster, "Ray": ray_cluster, "loky": processes}


def workers_of(engine: str, cluster: Any) -> list[int]:
    """The processes that fits run in."""
    if engine == "Dask":
        return list(cluster.run(os.getpid).values())
    mark = {"Ray": "ray::", "loky": "popen_loky"}[engine]
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it went meanwhile
            line = " ".join(child.cmdline())
            if mark in line and "resource_tracker" not in line and "Agent" not in line:
                found.append(child.pid)
    return found


# What is measured.


def bytes_over_loopback(n_fits: int, n_rows: int) -> dict[str, Any]:
    """Separate fits by two workers of Dask; their data have 100 columns."""
    X, y = data(n_rows, 100)
    made = search(n_fits // 16, 1)
    with dask_cluster() as client:
        client.submit(sum, [1, 2]).result()
        before = sent()
        made.set_params(engine=client).fit(X, y)
        found = sent() - before
    assert made.n_fits_ == n_fits
    return {"fits": n_fits, "data": X.nbytes, "sent": found}


def sent() -> int:
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    raise RuntimeError("There is no loopback.")


def speed(engine: str, n_candidates: int, products: int, turns: int) -> dict[str, Any]:
    """Seconds on one core over those of an engine, in turns, with workers that are warm."""
    X, y = data()
    ratios, serial_seconds = [], []
    with CLUSTERS[engine]() as cluster:
        n_jobs = WORKERS if engine == "loky" else None
        search(4, 1, engine=cluster, n_jobs=n_jobs).fit(X, y)
        for _ in range(turns):
            start = time.perf_counter()
            serial = search(n_candidates, products).fit(X, y)
            middle = time.perf_counter()
            other = search(n_candidates, products, engine=cluster, n_jobs=n_jobs).fit(X, y)
            end = time.perf_counter()
            assert numbers_of(other) == numbers_of(serial)
            ratios.append((middle - start) / (end - middle))
            serial_seconds.append(middle - start)
    seconds = round(statistics.median(serial_seconds), 1)
    return {"engine": engine, "seconds": seconds, "ratio": round(statistics.median(ratios), 2)}


def workers_killed(engine: str, times: int, n_candidates: int, products: int) -> dict[str, Any]:
    """Searches in which a worker was killed, and how many ended with the right numbers."""
    X, y = data()
    expected = numbers_of(search(n_candidates, products).fit(X, y))
    moments, n_same, n_killed = random.Random(0), 0, 0
    n_jobs = WORKERS if engine == "loky" else None
    with ExitStack() as stack:
        cluster = None
        for _ in range(times):
            if cluster is None or engine == "Dask":  # whose nannies may give up a worker that was killed
                stack.close()
                cluster = stack.enter_context(CLUSTERS[engine]())
                made = search(n_candidates, products, engine=cluster, n_jobs=n_jobs).fit(X, y)
                start = time.perf_counter()
                made.fit(X, y)
                seconds = time.perf_counter() - start
            victims: list[int] = []
            arguments = (engine, cluster, moments, victims)
            killer = threading.Timer(moments.uniform(0, seconds), kill_one, arguments)
            killer.start()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made.fit(X, y)
            killer.join()
            n_killed += len(victims)
            n_same += numbers_of(made) == expected
    return {"engine": engine, "searches": times, "killed": n_killed, "same": n_same}


def kill_one(engine: str, cluster: Any, moments: random.Random, victims: list[int]) -> None:
    there = workers_of(engine, cluster)
    if there:
        victims.append(moments.choice(there))
        os.kill(victims[-1], signal.SIGKILL)


# A scheduler, or a head, in processes of its own, and a search beside it.


@contextmanager
def dask_processes() -> Iterator[tuple[str, list[int]]]:
    with ExitStack() as stack:
        address = "tcp://127.0.0.1:8797"
        scheduler = started(
            stack, "distributed.cli.dask_scheduler", "--port", "8797", "--dashboard-address", ":0"
        )
        for _ in range(WORKERS):
            started(stack, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard")
        yield address, [scheduler]


def started(stack: ExitStack, module: str, *arguments: str) -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process.pid


@contextmanager
def ray_processes() -> Iterator[tuple[str, list[int]]]:
    ray = str(Path(sys.executable).with_name("ray"))
    subprocess.run([ray, "stop", "--force"], check=False, capture_output=True)
    command = [ray, "start", "--head", "--port", "8798", "--num-cpus", str(WORKERS)]
    subprocess.run([*command, "--include-dashboard=false"], check=True, capture_output=True)
    names = ("gcs_server", "raylet")
    heads = [each.pid for each in psutil.process_iter(["name"]) if each.info["name"] in names]
    try:
        yield "127.0.0.1:8798", heads
    finally:
        subprocess.run([ray, "stop", "--force"], check=False, capture_output=True)


APART = {"Dask": dask_processes, "Ray": ray_processes}


def heads_killed(engine: str, times: int, n_candidates: int, products: int) -> dict[str, Any]:
    """Searches whose scheduler or head was killed: what they said, and what was fitted once more."""
    moments, expected = random.Random(1), numbers_of(search(n_candidates, products).fit(*data()))
    found = {"engine": engine, "searches": times, "told": 0, "resumed": 0, "fitted_again": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            run = Path(folder) / str(number)
            run.mkdir()
            with APART[engine]() as (address, heads):
                arguments = [engine, address, str(run), str(n_candidates), str(products)]
                child = subprocess.Popen(
                    [sys.executable, __file__, "--search", *arguments],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                assert child.stdout is not None
                for line in child.stdout:
                    if line == "begins\n":
                        break
                time.sleep(moments.uniform(0.5, 4.0))
                for head in heads:
                    os.kill(head, signal.SIGKILL)
                told = child.stdout.read()
                child.wait()
                found["told"] += child.returncode == LOST and "is gone" in told
            finished = sum("; level=" in line for line in told.splitlines())  # a line for each
            made = search(n_candidates, products, ledger=str(run / "ledger")).fit(*data())
            found["resumed"] += numbers_of(made) == expected
            found["fitted_again"] += made.n_fits_ - (16 * n_candidates - finished)
    return found


def search_by(engine: str, address: str, folder: str, n_candidates: str, products: str) -> None:
    """A search with a ledger; ends with a code of its own where its engine is gone."""
    from steadycv.engines import EngineLostError

    if engine == "Dask":
        from distributed import Client

        cluster: Any = Client(address)
        cluster.wait_for_workers(WORKERS)
    else:
        import ray

        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        cluster = "ray"
    ledger = str(Path(folder) / "ledger")
    made = search(int(n_candidates), int(products), engine=cluster, ledger=ledger, verbose=2)
    print("begins", flush=True)
    try:
        made.fit(*data())
    except EngineLostError as error:
        print(error, flush=True)
        os._exit(LOST)


def table(stored: dict[str, list[dict[str, Any]]]) -> str:
    """What was measured, in Markdown."""
    lines = ["| what | Dask | Ray | loky |", "| --- | ---: | ---: | ---: |"]

    def row(what: str, kind: str, told: str) -> None:
        by_engine = {each.get("engine", "Dask"): told.format(**each) for each in stored.get(kind, ())}
        if by_engine:
            lines.append(f"| {what} | {' | '.join(by_engine.get(e, '') for e in CLUSTERS)} |")

    for each in stored.get("bytes", ()):
        each["mb"], each["data_mb"] = each["sent"] / 1e6, each["data"] / 1e6
        what = f"MB over the loopback, {each['fits']} separate fits of {each['data_mb']:.0f} MB"
        row(what, "bytes", "{mb:.1f}")
    for each in stored.get("speed", ())[:1]:
        what = f"one core's time over that of two workers, a search of {each['seconds']:.0f} s"
        row(what, "speed", "{ratio:.2f}")
    row("worker killed: finished, with the same numbers", "workers", "{same} of {searches}")
    row("scheduler or head killed: told in one line", "heads", "{told} of {searches}")
    row("... and resumed with the same numbers", "heads", "{resumed} of {searches}")
    row("... fits done again of those that had been finished", "heads", "{fitted_again}")
    return "\n".join(lines)


ROWS = ("bytes", "speed", "workers", "heads")


def main() -> None:
    """Measure, show, and keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", default=ROWS, choices=ROWS, help="what to measure")
    parser.add_argument("--engines", nargs="+", default=list(CLUSTERS), choices=list(CLUSTERS))
    parser.add_argument("--times", type=int, default=20, help="workers to kill; half as many heads")
    parser.add_argument("--products", type=int, default=45, help="of matrices, that a fit takes")
    parser.add_argument("--candidates", type=int, default=40, help="of the searches that are timed")
    parser.add_argument("--store", action="store_true", help="keep the figures as results")
    given = parser.parse_args()
    n_few = max(4, given.candidates // 4)
    work: dict[str, Callable[[str], dict[str, Any]]] = {
        "bytes": lambda _: bytes_over_loopback(128, 10_000),
        "speed": lambda e: speed(e, given.candidates, given.products, 3),
        "workers": lambda e: workers_killed(e, given.times, n_few, given.products),
        "heads": lambda e: heads_killed(e, max(1, given.times // 2), given.candidates, given.products),
    }
    engines = {"bytes": ["Dask"], "heads": list(APART)}
    for kind in given.rows:
        rows: list[dict[str, Any]] = []
        for engine in engines.get(kind, list(CLUSTERS)):
            if engine not in given.engines:
                continue
            rows.append(work[kind](engine))
            print(kind, " ".join(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
            if given.store:
                stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
                RESULTS.write_text(json.dumps(stored | {kind: rows}, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--search"]:
        search_by(*sys.argv[2:])
    else:
        main()
