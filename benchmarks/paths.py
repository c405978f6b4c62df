"""What paths save: the whole nested search beside plain cross-validation (`make bench`).

In turns, on the same folds and one core with one BLAS thread: GridSearchCV(cv=5), a bare loop of
clone().fit().predict(), and the nested stability-regularised search. Figures are GridSearchCV's (or the
loop's) time over ours, medians over the turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV

RESULTS = Path(__file__).parent / "results" / "paths.json"
SCORING = "neg_mean_squared_error"

small = load_diabetes(return_X_y=True)
many_rows = make_friedman1(6497, 11, noise=1.0, random_state=0)
wide = make_regression(200, 1000, n_informative=20, noise=10.0, random_state=0)
cart_grid = {"max_depth": range(1, 11), "min_samples_split": range(2, 11)}
net_grid = {"alpha": np.logspace(-2, 1, 20), "l1_ratio": [0.1, 0.3, 0.5, 0.7, 0.9]}
rounds = {"n_estimators": range(50, 501, 50), "max_depth": [1, 2, 3]}
penalties = {"alpha": np.logspace(-3, 3, 50)}
components = make_pipeline(StandardScaler(), PCA(), Ridge())

# Name, estimator, grid, data, at least this much faster than GridSearchCV; options if there are some.
CASES: list[tuple[Any, ...]] = [
    ("CART, 10 x 9, 442x10", DecisionTreeRegressor(random_state=0), cart_grid, small, 30),
    ("CART, 10 x 9, 6497x11", DecisionTreeRegressor(random_state=0), cart_grid, many_rows, 20),
    (
        "kNN, 40 x 2, 442x10",
        KNeighborsRegressor(),
        {"n_neighbors": range(1, 41), "weights": ["uniform", "distance"]},
        small,
        30,
    ),
    ("ridge, 50, 442x10", Ridge(), penalties, small, 30),
    ("ridge, 50, 200x1000", Ridge(), penalties, wide, 8),
    ("elastic net, 20 x 5, 442x10", ElasticNet(), net_grid, small, 5),
    (
        "elastic net, 20 x 5, 200x1000",
        ElasticNet(max_iter=10_000),
        {**net_grid, "alpha": np.logspace(-1, 2, 20)},
        wide,
        1.5,
    ),
    (
        "random forest of 100, 10 depths",
        RandomForestRegressor(random_state=0),
        {"max_depth": range(1, 11)},
        small,
        2,
    ),
    ("gradient boosting, 10 x 3", GradientBoostingRegressor(random_state=0), rounds, small, 1.5),
    (
        "scaler + PCA + ridge, 10 x 20",
        components,
        {"pca__n_components": range(1, 11), "ridge__alpha": np.logspace(-3, 3, 20)},
        small,
        10,
    ),
    (
        "scaler + kNN, 40 x 2, 442x10",
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        {
            "kneighborsregressor__n_neighbors": range(1, 41),
            "kneighborsregressor__weights": ["uniform", "distance"],
        },
        small,
        12,
    ),
    (
        "CART, 10 x 9, 569x30, area under the curve",
        DecisionTreeClassifier(random_state=0),
        cart_grid,
        load_breast_cancer(return_X_y=True),
        15,
        {"scoring": "roc_auc"},
    ),
    (
        "SVR, 12 x 12",
        SVR(),
        {"C": np.logspace(0, 3, 12), "gamma": np.logspace(-2, 1, 12)},
        small,
        0.29,
    ),
]
try:
    from xgboost import XGBRegressor
except ImportError:
    print("xgboost is not installed: its case is left out")
else:
    booster = XGBRegressor(n_jobs=1, random_state=0)
    CASES.insert(-4, ("XGBoost, 10 x 3", booster, rounds, small, 1.5))
    CASES.insert(-4, ("XGBoost, 10 x 3, racing", booster, rounds, small, 4, {"race": True}))
try:
    from lightgbm import LGBMRegressor
except ImportError:
    print("lightgbm is not installed: its case is left out")
else:
    silent = LGBMRegressor(n_jobs=1, random_state=0, verbose=-1)
    CASES.insert(-4, ("LightGBM, 10 x 3", silent, rounds, small, 1.5))
    CASES.insert(-4, ("LightGBM, 10 x 3, racing", silent, rounds, small, 4, {"race": True}))


def seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare_loop(estimator: Any, grid: dict[str, Any], X: Any, y: Any) -> None:
    for params in ParameterGrid(grid):
        for train, test in KFold(5).split(X):
            clone(estimator).set_params(**params).fit(X[train], y[train]).predict(X[test])


def measure(
    name: str,
    estimator: Any,
    grid: dict[str, Any],
    data: Any,
    target: float,
    more: dict[str, Any] | None = None,
    *,
    turns_at_most: int,
) -> dict[str, Any]:
    X, y = data
    options = {"scoring": SCORING, "cv": 5, "refit": False, "race": False} | (more or {})
    ours = StabilitySearchCV(estimator, grid, **options)
    del options["race"]
    theirs = GridSearchCV(estimator, grid, **options)
    seconds(lambda: ours.fit(X, y))
    turns = []
    while len(turns) < turns_at_most and sum(map(sum, turns)) < 20:
        turns.append(
            (
                seconds(lambda: ours.fit(X, y)),
                seconds(lambda: theirs.fit(X, y)),
                seconds(lambda: bare_loop(estimator, grid, X, y)),
            )
        )
    row = {
        "case": name,
        "target": target,
        "grid_search_over_ours": statistics.median(theirs / ours for ours, theirs, _ in turns),
        "bare_loop_over_ours": statistics.median(loop / ours for ours, _, loop in turns),
        "seconds": [min(column) for column in zip(*turns, strict=True)],
        "n_fits": ours.n_fits_,
        "turns": len(turns),
    }
    print(
        f"{name:44} {target:7.2f} {row['grid_search_over_ours']:8.2f} {row['bare_loop_over_ours']:8.2f} "
        f"{row['seconds'][0]:9.3f}",
        flush=True,
    )
    return row


def growth() -> list[dict[str, Any]]:
    """Seconds against the size of the grid, with and without paths."""
    X, y = small
    rows = []
    for size in (1, 2, 5, 10, 20, 50, 100):
        for name, estimator, grid in (
            ("tree", DecisionTreeRegressor(random_state=0), {"min_samples_split": range(2, size + 2)}),
            ("ridge", Ridge(), {"alpha": np.logspace(-3, 3, size)}),
        ):
            for use_paths in (True, False):
                search = StabilitySearchCV(
                    estimator, grid, scoring=SCORING, refit=False, use_paths=use_paths
                )
                times = [seconds(lambda search=search: search.fit(X, y)) for _ in range(3)]
                rows.append(
                    {
                        "model": name,
                        "size": size,
                        "paths": use_paths,
                        "seconds": statistics.median(times),
                    }
                )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    parser.add_argument("--turns", type=int, default=5, help="at most, of each case")
    given = parser.parse_args()
    only = tuple(given.only)
    print(f"{'case':44} {'target':>7} {'vs grid':>8} {'vs loop':>8} {'ours, s':>9}")
    stored = json.loads(RESULTS.read_text()) if only else {}
    cases = {row["case"]: row for row in stored.get("cases", [])}
    for case in CASES:
        if not only or case[0].startswith(only):
            cases[case[0]] = measure(*case, turns_at_most=given.turns)
    results = {"cases": list(cases.values()), "growth": stored.get("growth") or growth()}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
