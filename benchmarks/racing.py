"""What a race saves: the nested search beside plain cross-validation (`make bench`).

Every candidate takes a fit of its own: there are no paths. In turns, on the same folds and one core with
one BLAS thread: GridSearchCV(cv=5) and the nested search with a race. Figures are GridSearchCV's time
over ours, medians over the turns, and the fits of ours over GridSearchCV's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from steadycv import StabilitySearchCV
from steadycv.experiments.pages import fill

RESULTS = Path(__file__).parent / "results" / "racing.json"
PAGE = Path(__file__).parent.parent / "docs" / "racing.md"

small = load_diabetes(return_X_y=True)
many_rows = make_friedman1(5000, 10, noise=1.0, random_state=0)
slow = make_pipeline(SelectKBest(partial(mutual_info_regression, random_state=0)), Ridge())

# Name, estimator, grid, data, score.
CASES: list[tuple[Any, ...]] = [
    (
        "SVR, 12 x 12, 442x10",
        SVR(),
        {"C": np.logspace(0, 3, 12), "gamma": np.logspace(-2, 1, 12)},
        small,
        "neg_mean_squared_error",
    ),
    (
        "random forest of 100, 8 x 5, 442x10",
        RandomForestRegressor(random_state=0),
        {"max_depth": range(1, 9), "min_samples_leaf": [1, 2, 4, 8, 16]},
        small,
        "neg_mean_squared_error",
    ),
    (
        "HistGradientBoosting, 4 x 4 x 3, 5000x10",
        HistGradientBoostingRegressor(random_state=0, early_stopping=False),
        {
            "learning_rate": [0.02, 0.05, 0.1, 0.2],
            "max_leaf_nodes": [5, 10, 20, 40],
            "l2_regularization": [0.0, 1.0, 10.0],
        },
        many_rows,
        "neg_mean_squared_error",
    ),
    (
        "slow transformer + ridge, 5 x 6, 442x10",
        slow,
        {"selectkbest__k": [2, 4, 6, 8, 10], "ridge__alpha": np.logspace(-3, 2, 6)},
        small,
        "neg_mean_squared_error",
    ),
]
try:
    from xgboost import XGBClassifier
except ImportError:
    print("xgboost is not installed: its case is left out")
else:
    CASES.insert(
        3,
        (
            "XGBoost, 4 x 5 x 3, 569x30, area under the curve",
            XGBClassifier(n_jobs=1, random_state=0, n_estimators=50),
            {
                "max_depth": [1, 2, 3, 5],
                "learning_rate": [0.03, 0.1, 0.2, 0.3, 0.5],
                "subsample": [0.5, 0.75, 1.0],
            },
            load_breast_cancer(return_X_y=True),
            "roc_auc",
        ),
    )


def seconds(work: Any) -> float:
    """Of the processor: others may be at work on the machine."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(
    name: str,
    estimator: Any,
    grid: dict[str, Any],
    data: Any,
    scoring: str,
    turns: int,
    n_rows: int | None,
) -> dict[str, Any]:
    X, y = (each[:n_rows] for each in data)
    options = {"scoring": scoring, "cv": 5, "refit": False}
    ours = StabilitySearchCV(estimator, grid, use_paths=False, **options)
    theirs = GridSearchCV(estimator, grid, **options)
    full = StabilitySearchCV(estimator, grid, race=False, **options).fit(X, y)
    times = [(seconds(lambda: ours.fit(X, y)), seconds(lambda: theirs.fit(X, y))) for _ in range(turns)]
    row = {
        "case": name,
        "grid_search_over_ours": statistics.median(theirs / ours for ours, theirs in times),
        "fits_over_grid_search": ours.n_fits_ / (5 * len(ParameterGrid(grid))),
        "seconds": [min(column) for column in zip(*times, strict=True)],
        "turns": turns,
        "cv_error_over_full": ours.cv_error_ / full.cv_error_,
        "nested_error_over_full": ours.nested_error_ / full.nested_error_,
    }
    print(
        f"{name:50} {row['grid_search_over_ours']:8.2f} {row['fits_over_grid_search']:8.2f} "
        f"{row['seconds'][0]:9.2f} {row['cv_error_over_full']:8.3f} "
        f"{row['nested_error_over_full']:8.3f}",
        flush=True,
    )
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """The same as a table of a page."""
    lines = [
        "| case | GridSearchCV's time over ours | fits, GridSearchCV = 1 "
        "| CV error of the choice, full search = 1 | nested error |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    names = ("grid_search_over_ours", "fits_over_grid_search")
    errors = ("cv_error_over_full", "nested_error_over_full")
    lines += [
        f"| {row['case']} | "
        + " | ".join([*(f"{row[n]:.2f}" for n in names), *(f"{row[n]:.3f}" for n in errors)])
        + " |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rows", type=int, default=None, help="at most so many, to try it out")
    given = parser.parse_args()
    only = tuple(given.only)
    print(f"{'case':50} {'vs grid':>8} {'fits':>8} {'ours, s':>9} {'CV err.':>8} {'nested':>8}")
    warnings.simplefilter("ignore")
    cases = {row["case"]: row for row in json.loads(RESULTS.read_text())} if only else {}
    for case in CASES:
        if not only or case[0].startswith(only):
            cases[case[0]] = measure(*case, turns=given.turns, n_rows=given.rows)
    RESULTS.write_text(json.dumps(list(cases.values()), indent=1) + "\n")
    fill(PAGE, {"racing-times": table(list(cases.values()))})
