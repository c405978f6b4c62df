"""Networks of a nested search, trained side by side, beside GridSearchCV's (`make bench`).

5 learning rates x 6 weight decays of a (64, 64) network on 455 rows and 13 columns, 200 epochs,
batches of 64: GridSearchCV(MLPRegressor) takes 150 fits, our nested search trains 480 models. The
second case has every number of epochs as a third axis: 30,000 fits, and the same 480 models.
GridSearchCV's time is that of a few fits, measured in turns with ours, times their number (and, with
epochs, proportional to these). It is time of the processor, on one core with one thread; on a GPU ours
is time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from steadycv import StabilitySearchCV
from steadycv.networks import NetworkRegressor

RESULTS = Path(__file__).parent / "results" / "networks.json"
N_FOLDS = 5
RATES = np.logspace(-4, -2, 5).tolist()
DECAYS = np.logspace(-4, 1, 6).tolist()


def data(n_rows: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 13))
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.3 * random.normal(size=n_rows)


def seconds(work: Any, clock: Any = time.process_time) -> float:
    start = clock()
    work()
    return float(clock() - start)


def theirs(X: Any, y: Any, epochs: int) -> float:
    """Seconds of one fit of GridSearchCV's, without its predictions; the mean over decays."""
    rows = len(y) * (N_FOLDS - 1) // N_FOLDS
    times = []
    for rate, decay in ((RATES[0], DECAYS[0]), (RATES[2], DECAYS[3]), (RATES[4], DECAYS[5])):
        model = MLPRegressor(
            hidden_layer_sizes=(64, 64),
            batch_size=64,
            learning_rate_init=rate,
            alpha=decay,
            max_iter=epochs,
            tol=0.0,
            n_iter_no_change=10 * epochs,
            random_state=0,
        )
        times.append(seconds(lambda model=model: model.fit(X[:rows], y[:rows])))
    return statistics.mean(times)


def ours(X: Any, y: Any, grid: dict[str, Any], epochs: int, device: str) -> StabilitySearchCV:
    model = NetworkRegressor(epochs=epochs, device=device, random_state=0)
    return StabilitySearchCV(model, grid, cv=N_FOLDS, refit=False, race=False).fit(X, y)


def measure(device: str, n_rows: int, epochs: int, turns: int) -> list[dict[str, Any]]:
    X, y = data(n_rows)
    grid = {"learning_rate": RATES, "weight_decay": DECAYS}
    clock = time.process_time if device == "cpu" else time.perf_counter
    n_steps = (
        sum(n * -(-rows // 64) for n, rows in training_sets(n_rows)) * len(RATES) * len(DECAYS) * epochs
    )
    ours(X, y, grid, 2, device)  # compiles, and wakes the device
    rows = []
    for name, more, n_fits in (
        ("settings", {}, 150.0),
        ("settings x epochs", {"epochs": list(range(1, epochs + 1))}, 150 * (epochs + 1) / 2),
    ):
        pairs = [
            (
                seconds(lambda more=more: ours(X, y, grid | more, epochs, device), clock),
                theirs(X, y, epochs),
            )
            for _ in range(turns)
        ]
        row = {
            "case": name,
            "device": device_name(device),
            "rows": n_rows,
            "epochs": epochs,
            "grid_search_over_ours": statistics.median(n_fits * fit / search for search, fit in pairs),
            "ours_seconds": statistics.median(search for search, _ in pairs),
            "their_seconds_a_fit": statistics.median(fit for _, fit in pairs),
            "microseconds_a_model_step": 1e6 * min(search for search, _ in pairs) / n_steps,
            "turns": turns,
        }
        print(
            f"{row['case']:20} {row['device']:30} {row['grid_search_over_ours']:8.2f} "
            f"{row['ours_seconds']:8.2f} s {row['microseconds_a_model_step']:8.1f} us a model and step",
            flush=True,
        )
        rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The figures as a table of a page."""
    lines = [
        "| case | where | GridSearchCV / ours | ours, a model and step |",
        "| --- | --- | ---: | ---: |",
    ]
    lines += [
        f"| {row['case']} | {row['device']} | {row['grid_search_over_ours']:.1f} "
        f"| {row['microseconds_a_model_step'] / 1000:.3f} ms |"
        for row in rows
    ]
    return lines


def training_sets(n_rows: int) -> list[tuple[int, int]]:
    """How many there are of how many rows: all, without a fold, and without two."""
    fold = n_rows // N_FOLDS
    return [(1, n_rows), (N_FOLDS, n_rows - fold), (N_FOLDS * (N_FOLDS - 1) // 2, n_rows - 2 * fold)]


def device_name(device: str) -> str:
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=455)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--store", action="store_true", help="keep the figures as results")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if os.environ.get("OMP_NUM_THREADS") != "1":
        warnings.warn("OMP_NUM_THREADS should be 1 for figures that can be compared.", stacklevel=1)
    warnings.simplefilter("ignore", ConvergenceWarning)
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    found = [row for device in devices for row in measure(device, given.rows, given.epochs, given.turns)]
    print("\n".join(table(found)))
    if given.store:
        stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
        kept = [row for row in stored if row["device"] not in {row["device"] for row in found}]
        RESULTS.write_text(json.dumps(kept + found, indent=1) + "\n")
