"""Time and memory where there are many candidates, many rows or many training sets: `make bench`.

Every search runs in a process of its own, after a small one of the same kind. Its memory is the peak of
what the process holds in RAM above what it held before the search (Linux).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.experiments.pages import fill

RESULTS = Path(__file__).parent / "results" / "sizes.json"
PAGE = Path(__file__).parent.parent / "docs" / "machines.md"
SEARCHES = {"GridSearchCV": GridSearchCV, "StabilitySearchCV": StabilitySearchCV}
SCORING = "neg_mean_squared_error"


class Case(NamedTuple):
    """A search that is large in one way."""

    name: str
    estimator: Any
    grid: dict[str, Any]
    n_rows: int
    n_columns: int
    cv: Any = 5

    def data(self, n_rows: int) -> tuple[Any, Any]:
        if isinstance(self.cv, LeaveOneOut):
            X, y = load_diabetes(return_X_y=True)
            return X[:n_rows], y[:n_rows]
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, self.n_columns))
        y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n_rows)
        return X, y


ALPHAS = np.logspace(-3, 3, 10)
CASES = {
    "penalties": Case(
        "ridge, 20,000 penalties", Ridge(), {"alpha": np.logspace(-3, 3, 20_000)}, 200, 10
    ),
    "ridge": Case("ridge, 10 penalties", Ridge(), {"alpha": ALPHAS}, 10**6, 20),
    "trees": Case(
        "decision tree, 4 depths",
        DecisionTreeRegressor(random_state=0),
        {"max_depth": [2, 4, 6, 8]},
        10**6,
        20,
    ),
    "boosting": Case(
        "HistGradientBoosting of 20, 6 x 4, with a race",
        HistGradientBoostingRegressor(max_iter=20, early_stopping=False, random_state=0),
        {"learning_rate": [0.03, 0.06, 0.1, 0.15, 0.2, 0.3], "max_leaf_nodes": [7, 15, 31, 63]},
        10**6,
        20,
    ),
    "leave-one-out": Case(
        "ridge, 10 penalties, leave-one-out",
        Ridge(),
        {"alpha": ALPHAS},
        150,
        10,
        LeaveOneOut(),
    ),
}


def measure(case: str, search: str, n_rows: int) -> dict[str, float]:
    """What one search takes, in this process."""
    warnings.simplefilter("ignore")
    _, estimator, grid, *_, cv = CASES[case]
    options: dict[str, Any] = {"scoring": SCORING, "cv": cv, "refit": False}
    if search == "StabilitySearchCV" and case == "boosting":
        options["race"] = True
    kind = SEARCHES[search]
    few = {name: values[:2] for name, values in grid.items()}
    kind(estimator, few, **options).fit(*CASES[case].data(min(n_rows, 100)))
    X, y = CASES[case].data(n_rows)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before = memory("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    kind(estimator, grid, **options).fit(X, y)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": memory("VmHWM") - before,
    }


def memory(name: str) -> float:
    """What the process holds, or has held at the most, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [kilobytes] = [line.split()[1] for line in lines if line.startswith(name)]
    return float(kilobytes) / 1000


def measured(case: str, search: str, n_rows: int) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", case, search, str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(case: str, n_rows: int, turns: int) -> dict[str, Any]:
    """Both searches in turns; of each the least."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(turns):
        for search in SEARCHES:
            once = measured(case, search, n_rows)
            least = found.setdefault(search, once)
            found[search] = {name: min(least[name], once[name]) for name in once}
    ours, theirs = found["StabilitySearchCV"], found["GridSearchCV"]
    return {
        "rows": n_rows,
        "searches": found,
        "time": ours["cpu_seconds"] / theirs["cpu_seconds"],
        "memory": ours["peak_mb"] / theirs["peak_mb"],
    }


def table(stored: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    lines = [
        "| search | rows | GridSearchCV: CPU s, MB | steadycv: CPU s, MB | ratio of times, of memory |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for case in CASES:
        if case in stored:
            row = stored[case]
            both = [
                f"{found['cpu_seconds']:.3g}, {found['peak_mb']:.0f}"
                for found in (row["searches"][name] for name in SEARCHES)
            ]
            ratios = f"{row['time']:.2g}, {row['memory']:.3g}"
            columns = [CASES[case].name, f"{row['rows']:,}", *both, ratios]
            lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--rows", type=int, default=None, help="at most so many, to try it out")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--store", action="store_true", help="keep what is measured in results/")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "SEARCH", "ROWS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one[0], args.one[1], int(args.one[2]))))
        sys.exit()
    if unknown := set(args.cases) - set(CASES):
        parser.error(f"unknown cases {sorted(unknown)}; there are {', '.join(CASES)}")
    for case in args.cases:
        n_rows = CASES[case].n_rows
        row = compare(case, n_rows if args.rows is None else min(n_rows, args.rows), args.turns)
        print(json.dumps(row), flush=True)
        if args.store:
            stored = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
            stored |= {case: row}
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
            fill(PAGE, {"sizes": table(stored)})
