"""What a search of 10,000 candidates on 100,000,000 rows would take on 1,000 workers: docs/scale.md.

`measure` times, on this machine, a fit and the reduction of what its model says, by the row, and Dask's
scheduler, and weighs a task and its cells. A small simulation of the workers, one event after the other,
says what follows: tasks go to whoever is free, the scheduler takes its time for each, machines differ, a
few tasks straggle or die with their worker, and what straggles is begun again elsewhere once nothing is
left to begin. Without `--measure` it simulates from what was measured.
"""

from __future__ import annotations

import argparse
import heapq
import json
import pickle
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

from steadycv.experiments.pages import fill
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.paths.separate import SEPARATE
from steadycv.scoring import Judging
from steadycv.tasks import Problem, Task, run_task

RESULTS = Path(__file__).parent / "results" / "scale.json"
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"

N_CANDIDATES, N_ROWS, N_COLUMNS, N_WORKERS = 10_000, 10**8, 20, 1_000
N_TRAINING_SETS, N_FOLDS = 16, 5
BYTES_A_SECOND = 1.25e9  # of a network of 10 Gbit/s
MACHINES = 0.1  # how far machines differ: the standard deviation of the logarithm of their speed
STRAGGLING, LONGEST = 0.01, 20.0  # the share of tasks that straggle, and how many times as long at most
DEATHS_AN_HOUR = 1 / 500  # of one worker
LATE = 1.5  # times the usual length, from which a task is begun again elsewhere


class Case(NamedTuple):
    """How the work is cut into tasks."""

    name: str
    n_tasks: int  # in each of its rounds, one after the other
    fits_a_task: float
    n_rounds: int = 1
    again: bool = True  # whether stragglers are begun again


CASES = [
    Case("a fit a task, stragglers are waited for", N_CANDIDATES * N_TRAINING_SETS, 1, again=False),
    Case("a fit a task, stragglers begun again", N_CANDIDATES * N_TRAINING_SETS, 1),
    Case("a candidate a task, stragglers begun again", N_CANDIDATES, N_TRAINING_SETS),
    Case("the price of a race, in five rounds", N_CANDIDATES, 1, n_rounds=N_FOLDS),
]


class Simulated(NamedTuple):
    """What a simulation says."""

    hours: float
    busy: float  # the share of the workers' time that went into what counts
    scheduler: float  # the share of the time that the scheduler was at work
    done_again: int


def simulate(case: Case, fit_seconds: float, scheduler_seconds: float, seed: int) -> Simulated:
    """Run a search's tasks on workers that differ, straggle and die."""
    rng = np.random.default_rng(seed)
    speeds = np.exp(MACHINES * rng.normal(size=N_WORKERS))
    usual = fit_seconds * case.fits_a_task
    now = useful = scheduled = 0.0
    done_again = 0
    for _ in range(case.n_rounds):
        free = [(now, worker) for worker in range(N_WORKERS)]
        heapq.heapify(free)
        waiting, ends, scheduler_free = case.n_tasks, [], now
        while waiting:
            at, worker = heapq.heappop(free)
            start = scheduler_free = max(at, scheduler_free) + scheduler_seconds
            scheduled += scheduler_seconds
            waiting -= 1
            plain = usual / speeds[worker]
            late = rng.uniform(2, LONGEST) if rng.random() < STRAGGLING else 1.0
            died = rng.exponential(3600 / DEATHS_AN_HOUR)
            if died < plain * late:  # found out at once: another worker has its place
                heapq.heappush(free, (start + died, worker))
                waiting += 1
                done_again += 1
                continue
            useful += plain
            ends.append((start, start + plain * late))
            heapq.heappush(free, (start + plain * late, worker))
        if case.again:
            last_begun = max(start for start, _ in ends)
            finished = []
            for start, end in ends:
                # Once nothing is left to begin, whoever is late is begun again by a free worker.
                again = max(last_begun, start + LATE * usual) + scheduler_seconds + usual
                done_again += again < end
                finished.append(min(end, again))
            now = max(finished)
        else:
            now = max(end for _, end in ends)
    return Simulated(now / 3600, useful / (N_WORKERS * now), scheduled / now, done_again)


def measure() -> dict[str, float]:
    """Seconds and bytes on this machine."""
    rng = np.random.default_rng(0)
    n_rows = 100_000
    X = rng.normal(size=(n_rows, N_COLUMNS))
    y = X[:, 0] + rng.normal(size=n_rows)
    lattice = Lattice(KFold(N_FOLDS).split(X), n_rows)
    loss = MeanLoss.of(LOSSES["squared_error"], y)
    model = HistGradientBoostingRegressor(max_iter=100, early_stopping=False, random_state=0)
    problem = Problem(model, X, y, lattice, Judging(loss, None, 0.0, None, loss.loss, None, None))
    task = Task(
        candidates=np.zeros(1, dtype=np.intp),
        settings=[{"learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20}],
        lines=[np.zeros(1, dtype=np.intp)],
        training_sets=[1],
        path=SEPARATE,
        estimator=model,
    )
    start = time.process_time()
    [cells] = run_task(problem, task)
    fit = time.process_time() - start
    return {
        "fit_seconds_a_row": fit / n_rows,
        "task_bytes": len(pickle.dumps(task.without_preparation())),
        "cells_bytes": len(pickle.dumps(cells._replace(waiting={}))),
        "scheduler_seconds_a_task": scheduler_seconds(),
    }


def scheduler_seconds(n_tasks: int = 2_000) -> float:
    """Of a Dask scheduler for a task that does nothing, with workers in one process."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        client.gather(client.map(_nothing, range(50), pure=False))
        start = time.process_time()
        client.gather(client.map(_nothing, range(n_tasks), pure=False))
        return (time.process_time() - start) / n_tasks


def _nothing(number: int) -> int:
    return number


def broadcast_seconds(n_bytes: float, n_workers: int) -> dict[str, float]:
    """How long the data take to every worker: from one machine, and passed on in pieces down a tree."""
    once = n_bytes / BYTES_A_SECOND
    # Each machine passes every piece on to two others, and pieces follow each other.
    return {"from_one": once * n_workers, "by_a_tree": 2 * once}


def simulated(measured: dict[str, float], cases: list[Case]) -> dict[str, Any]:
    """What was measured, and what follows."""
    fit = measured["fit_seconds_a_row"] * N_ROWS
    found = {}
    for case in cases:
        runs = [simulate(case, fit, measured["scheduler_seconds_a_task"], seed) for seed in range(3)]
        found[case.name] = dict(
            zip(Simulated._fields, np.median(np.array(runs), axis=0).tolist(), strict=True)
        )
    n_bytes = N_ROWS * (N_COLUMNS + 1) * 8.0
    return {
        "measured": measured,
        "cases": found,
        "data_bytes": n_bytes,
        "broadcast": broadcast_seconds(n_bytes, N_WORKERS),
    }


def table(results: dict[str, Any]) -> str:
    """The cases, in Markdown."""
    lines = [
        "| tasks | number | hours | workers busy with what counts | scheduler at work | begun again |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in CASES:
        row = Simulated(**results["cases"][case.name])
        lines.append(
            f"| {case.name} | {case.n_tasks * case.n_rounds:,} | {row.hours:.1f} | {row.busy:.0%} | "
            f"{row.scheduler:.2%} | {row.done_again:,.0f} |"
        )
    return "\n".join(lines)


def bytes_moved(results: dict[str, Any]) -> str:
    """What travels, in Markdown."""
    measured, data = results["measured"], results["data_bytes"]
    n_tasks = N_CANDIDATES * N_TRAINING_SETS
    small = n_tasks * (measured["task_bytes"] + measured["cells_bytes"])
    losses = n_tasks * N_ROWS * 8.0
    by_one, by_tree = results["broadcast"]["from_one"], results["broadcast"]["by_a_tree"]
    return "\n".join(
        [
            "| what | bytes | at 10 Gbit/s |",
            "| --- | ---: | ---: |",
            f"| data, to every worker once | {data * N_WORKERS / 1e12:,.0f} TB | "
            f"{by_tree:.0f} s by a tree, {by_one / 3600:.1f} h from one machine |",
            f"| the same with every fit | {data * n_tasks / 1e12:,.0f} TB | "
            f"{data * n_tasks / BYTES_A_SECOND / 86400:,.0f} days from one machine |",
            f"| tasks ({measured['task_bytes']:,} bytes each) and cells ({measured['cells_bytes']:,}) | "
            f"{small / 1e9:.2f} GB | {small / BYTES_A_SECOND:.1f} s |",
            f"| losses of all rows instead of cells | {losses / 1e12:,.0f} TB | "
            f"{losses / BYTES_A_SECOND / 3600:,.0f} h into one machine |",
        ]
    )


def told(results: dict[str, Any]) -> dict[str, str]:
    """What the page tells, by its place."""
    measured = results["measured"]
    fit = measured["fit_seconds_a_row"]
    sentence = (
        f"A fit takes {1e6 * fit:.1f} µs a row (100 rounds of histogram boosting on 100,000 rows x "
        f"{N_COLUMNS}, one core), so {fit * N_ROWS / 60:.0f} minutes on all rows; Dask's scheduler "
        f"takes {1e3 * measured['scheduler_seconds_a_task']:.2f} ms for a task."
    )
    return {
        "scale-measured": sentence,
        "scale-time": table(results),
        "scale-bytes": bytes_moved(results),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure on this machine first")
    args = parser.parse_args()
    known = measure() if args.measure else json.loads(RESULTS.read_text("utf-8"))["measured"]
    results = simulated(known, CASES)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    for text in told(results).values():
        print(text, end="\n\n")
    fill(PAGE, told(results))
