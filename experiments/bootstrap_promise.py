"""Is the bootstrap of out-of-fold outputs as honest as the nested error?

Models are tuned by plain cross-validation on 30, 100 and 300 rows, each two hundred times. What three
figures promise is compared with the error on new rows: the CV error, the nested error, and the
bootstrap, which needs no fit beyond those of the CV error.

`python experiments/bootstrap_promise.py` goes on where it stopped, and prints all cases and the table of
the page.
"""

import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV

DRAWS = 200
ROWS = (30, 100, 300)
NEW_ROWS = 5000
TREES = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21)}
SMALL_TREES = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21, 2)}
NEIGHBORS = {"n_neighbors": range(1, 31), "weights": ["uniform", "distance"]}
RESULTS = Path(__file__).parent / "results" / "bootstrap_promise.csv"
KEY = ("problem", "model", "score", "n")
PROMISES = {"cv_error": "CV error", "nested_error": "nested error", "bootstrap": "bootstrap"}

Data = tuple[np.ndarray, np.ndarray]


def friedman(n: int, seed: int) -> Data:
    return make_friedman1(n, n_features=10, noise=1.0, random_state=seed)


def heavy_tails(n: int, seed: int) -> Data:
    """Five of twenty columns count; the noise is Student's t with four degrees of freedom."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    return X, X[:, :5].sum(axis=1) + rng.standard_t(4, size=n)


def two_classes(n: int, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    log_odds = 2 * X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3]
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-log_odds))).astype(int)


class Case(NamedTuple):
    data: Callable[[int, int], Data]
    name: str
    estimator: Any
    grid: dict[str, Any]
    scoring: str


REGRESSORS = {
    "tree": (DecisionTreeRegressor(), TREES),
    "ridge": (Ridge(), {"alpha": np.logspace(-2, 4, 30)}),
    "neighbours": (KNeighborsRegressor(), NEIGHBORS),
}
CLASSIFIERS = {
    "tree": (DecisionTreeClassifier(), SMALL_TREES),
    "neighbours": (KNeighborsClassifier(), NEIGHBORS),
}
CASES = [
    Case(data, name, *how, "neg_mean_squared_error")
    for data in (friedman, heavy_tails)
    for name, how in REGRESSORS.items()
] + [
    Case(two_classes, name, *how, scoring)
    for scoring in ("accuracy", "roc_auc")
    for name, how in CLASSIFIERS.items()
]


def one_draw(case: Case, n: int, draw: int) -> dict[str, float]:
    X, y = case.data(n, draw)
    X_new, y_new = case.data(NEW_ROWS, 10_000 + draw)
    is_loss = case.scoring.startswith("neg")
    folds = (KFold if is_loss else StratifiedKFold)(5, shuffle=True, random_state=draw)
    # No more neighbours than the smallest training set has rows.
    grid = {
        name: [value for value in values if name != "n_neighbors" or value <= n // 2]
        for name, values in case.grid.items()
    }
    how = {"scoring": case.scoring, "stability_weights": 0.0, "cv": folds}
    nested = StabilitySearchCV(case.estimator, grid, **how).fit(X, y)
    cheap = StabilitySearchCV(case.estimator, grid, nested=False, **how).fit(X, y)
    start = time.process_time()
    promise, (low, high) = cheap.promise_, cheap.promise_interval_
    seconds = time.process_time() - start
    best = 0.0 if is_loss else 1.0
    of_score = best if case.scoring == "roc_auc" else 0.0  # its errors are minus the score
    return {
        "cv_error": best - cheap.best_score_,
        "nested_error": of_score + nested.nested_error_,
        "bootstrap": of_score + promise,
        "low": of_score + low,
        "high": of_score + high,
        "test_error": best - cheap.score(X_new, y_new),
        "seconds": seconds,
    }


def stored() -> dict[tuple[str, ...], dict[str, np.ndarray]]:
    """By problem, model, score and number of rows, the columns of the file."""
    found: dict[tuple[str, ...], dict[str, list[float]]] = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                columns = found.setdefault(tuple(row.pop(name) for name in KEY), {})
                for name, value in row.items():
                    columns.setdefault(name, []).append(float(value))
    return {
        key: {name: np.array(values) for name, values in columns.items()}
        for key, columns in found.items()
    }


def run() -> None:
    """Do what the file does not have yet, a line at a time."""
    known = stored()
    for n in ROWS:
        for case in CASES:
            key = (case.data.__name__, case.name, case.scoring, str(n))
            done = known.get(key, {}).get("draw", ())
            for draw in sorted({*range(DRAWS)} - {*done}):
                figures = {name: f"{value:.5g}" for name, value in one_draw(case, n, draw).items()}
                row = dict(zip(KEY, key, strict=True)) | {"draw": draw} | figures
                is_new = not RESULTS.exists()
                with RESULTS.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, row, lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)


class Honesty(NamedTuple):
    """A promise in one case."""

    ratio: float  # of the mean promised to the mean found error
    off: float  # the root of the mean squared difference, over the mean found error
    covers: float  # how often the bootstrap's interval has the found error


def honesty(columns: dict[str, np.ndarray], promise: str) -> Honesty:
    promised, found = columns[promise], columns["test_error"]
    return Honesty(
        float(promised.mean() / found.mean()),
        float(np.sqrt(np.mean((promised - found) ** 2)) / found.mean()),
        float(np.mean((columns["low"] <= found) & (found <= columns["high"]))),
    )


def spread(promised: np.ndarray, found: np.ndarray) -> float:
    """The bootstrap standard error, over the draws, of mean promised over mean found error."""
    draws = np.random.default_rng(0).integers(len(found), size=(2000, len(found)))
    return float(np.std(promised[draws].mean(axis=1) / found[draws].mean(axis=1)))


def all_cases() -> str:
    """A line for each case."""
    lines = []
    for key, columns in sorted(stored().items(), key=lambda item: int(item[0][-1])):
        each = [honesty(columns, promise) for promise in PROMISES]
        spreads = [spread(columns[promise], columns["test_error"]) for promise in PROMISES]
        ratios = [f"{one.ratio:6.3f} ± {error:.3f}" for one, error in zip(each, spreads, strict=True)]
        off = [f"{one.off:4.0%}" for one in each]
        lines.append(
            " ".join([*(f"{part[:12]:12}" for part in key), *ratios, *off, f"{each[-1].covers:.3f}"])
        )
    return "\n".join(lines)


def table() -> str:
    """Over all cases with so many rows: how honest each promise is."""
    lines = [
        "| rows | promise | promised / found | lowest to highest | off by | 90 % interval covers |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    found = stored()
    for n in ROWS:
        for promise, name in PROMISES.items():
            each = [honesty(columns, promise) for key, columns in found.items() if key[-1] == str(n)]
            ratios = np.array([one.ratio for one in each])
            cells = [
                f"{np.exp(np.log(ratios).mean()):.3f}",
                f"{ratios.min():.2f} to {ratios.max():.2f}",
                f"{np.mean([one.off for one in each]):.0%}",
                " to ".join(f"{end([one.covers for one in each]):.3f}" for end in (min, max))
                if promise == "bootstrap"
                else "",
            ]
            lines.append("| " + " | ".join([str(n), name, *cells]) + " |")
    return "\n".join(lines)


def cost() -> str:
    """How long the bootstrap takes, where it takes longest."""
    means: dict[bool, list[float]] = {True: [], False: []}
    for (_, _, score, _), columns in stored().items():
        means[score == "roc_auc"].append(columns["seconds"].mean())
    of_losses, of_areas = max(means[False]), max(means[True])
    return f"{of_losses:.2f} s where a mean loss drives, and {of_areas:.2f} s for the area under a curve"


if __name__ == "__main__":
    run()
    print(all_cases(), table(), cost(), sep="\n\n")
