"""What the nested search costs beside plain cross-validation: `make bench`.

Both search the same grid on the same folds and cores, in turns, with one BLAS thread. The fits alone
cost 16/5 = 3.2 of plain 5-fold cross-validation if every candidate is fitted separately; with paths, the
default, often less. Ratios are medians over the turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

RESULTS = Path(__file__).parent / "results" / "search.json"

diabetes = load_diabetes(return_X_y=True)
cancer = load_breast_cancer(return_X_y=True)
scaled_logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))

# Name, estimator, grid, data, score.
CASES: list[tuple[str, Any, dict[str, Any], Any, str]] = [
    (
        "SVR, 442x10, 6x6",
        SVR(),
        {"C": np.logspace(0, 3, 6), "gamma": np.logspace(-2, 1, 6)},
        diabetes,
        "neg_mean_squared_error",
    ),
    (
        "random forest of 50, 442x10, 4",
        RandomForestRegressor(50, random_state=0),
        {"max_depth": [2, 4, 6, 8]},
        diabetes,
        "neg_mean_squared_error",
    ),
    (
        "scaler + logistic, 569x30, 10",
        scaled_logistic,
        {"logisticregression__C": np.logspace(-2, 2, 10)},
        cancer,
        "neg_log_loss",
    ),
    (
        "decision tree, 442x10, 10x9",
        DecisionTreeRegressor(random_state=0),
        {"max_depth": range(1, 11), "min_samples_split": range(2, 11)},
        diabetes,
        "neg_mean_squared_error",
    ),
    (
        "ridge, 442x10, 50",
        Ridge(),
        {"alpha": np.logspace(-3, 3, 50)},
        diabetes,
        "neg_mean_squared_error",
    ),
]


def seconds(search: Any, X: Any, y: Any) -> float:
    start = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - start


def fit_milliseconds(estimator: Any, X: Any, y: Any) -> float:
    return 1000 * statistics.median(seconds(estimator, X, y) for _ in range(5))


def compare(only: tuple[str, ...], n_jobs: int, turns: int) -> list[dict[str, Any]]:
    print(f"\nn_jobs={n_jobs}: time of the nested search over GridSearchCV's")
    print(f"{'case':32} {'one fit, ms':>12} {'separate fits':>14} {'(range)':>15} {'default':>8}")
    rows = []
    for name, estimator, grid, (X, y), scoring in CASES:
        if only and not name.startswith(only):
            continue
        options = {"scoring": scoring, "cv": 5, "n_jobs": n_jobs, "refit": False}
        plain = GridSearchCV(estimator, grid, **options)
        nested = StabilitySearchCV(estimator, grid, **options, use_paths=False)
        default = StabilitySearchCV(estimator, grid, **options)
        seconds(nested, X, y)  # warm the workers up
        times = [[seconds(search, X, y) for search in (plain, nested, default)] for _ in range(turns)]
        ratios = sorted(separate / plain for plain, separate, _ in times)
        row = {
            "case": name,
            "n_jobs": n_jobs,
            "fit_ms": fit_milliseconds(estimator, X, y),
            "separate_fits": statistics.median(ratios),
            "separate_fits_range": [ratios[0], ratios[-1]],
            "default": statistics.median(default / plain for plain, _, default in times),
        }
        rows.append(row)
        print(
            f"{name:32} {row['fit_ms']:12.1f} {row['separate_fits']:14.2f} "
            f"{f'{ratios[0]:.2f} to {ratios[-1]:.2f}':>15} {row['default']:8.2f}",
            flush=True,
        )
    return rows


class Constant(RegressorMixin, BaseEstimator):
    """Costs nothing to fit, so that only the search's own memory shows."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Constant:
        self.mean_ = float(np.mean(y)) + self.shift
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def memory() -> dict[str, float]:
    X, y = np.zeros((100_000, 1)), np.random.default_rng(0).normal(size=100_000)
    grid = {"shift": np.linspace(0, 1, 1000)}
    tracemalloc.start()
    StabilitySearchCV(Constant(), grid).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    held = 1000 * 16 * 100_000 * 8 / 2**20
    print(f"\nPeak memory, 1,000 candidates on 100,000 rows: {peak:.0f} MiB; all losses: {held:.0f} MiB")
    return {"peak_mib": peak, "all_losses_mib": held}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    only = tuple(given.only)
    stored = json.loads(RESULTS.read_text()) if only else {}
    rows = {(row["n_jobs"], row["case"]): row for row in stored.get("ratios", [])}
    for n_jobs in (1, 2):
        rows |= {(n_jobs, row["case"]): row for row in compare(only, n_jobs, given.turns)}
    results = {
        "python": sys.version.split()[0],
        "ratios": list(rows.values()),
        "memory": stored.get("memory") or memory(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
