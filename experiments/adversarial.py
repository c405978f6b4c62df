"""Cases that are made to disappoint: how often a promise is below 0.8 of the error on new data.

Trends that folds of neighbours do not know, outliers, heavy tails, very few rows, duplicates, and grids
whose candidates nearly tie. Promised is the CV error of plain cross-validation, the nested error of the
paper's rule (a minimum over the weights), and what a search promises of a model and of a committee.
`python experiments/adversarial.py` runs what is missing; a draw takes about a tenth of a second.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "adversarial.json"
DRAWS = 100
N_NEW = 2000
TOO_LOW = 0.8
PROMISES = ("CV error", "nested error, paper", "promise", "promise, committee")


def smooth(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] + np.sin(2 * X[:, 1])


def trend(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Rows in order, and a target that climbs: new rows lie among the old ones."""
    t = np.sort(rng.uniform(size=n))
    X = np.column_stack([t, rng.normal(size=(n, 4))])
    return X, 6 * t + rng.normal(size=n)


def outliers(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X, y = smooth(rng, n)
    return X, y + rng.normal(size=n) + 15 * (rng.uniform(size=n) < 0.02) * rng.normal(size=n)


def heavy(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X, y = smooth(rng, n)
    return X, y + rng.standard_t(3, size=n)


def noise(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Nothing to learn: all candidates nearly tie."""
    return rng.normal(size=(n, 10)), rng.normal(size=n)


def normal(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X, y = smooth(rng, n)
    return X, y + rng.normal(size=n)


def duplicates(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Every third row is there twice, with its noise: folds know what new rows do not."""
    X, y = normal(rng, n)
    again = np.concatenate([np.arange(n - n // 3), rng.choice(n - n // 3, n // 3, replace=False)])
    return X[again], y[again]


# By name: what draws the rows, how many, what new rows are, and whether folds are shuffled.
CASES: dict[str, tuple[Callable[..., Any], int, Callable[..., Any], bool]] = {
    "trend, folds of neighbours": (trend, 100, trend, False),
    "outliers": (outliers, 100, outliers, True),
    "heavy tails": (heavy, 100, heavy, True),
    "20 rows": (normal, 20, normal, True),
    "near ties": (noise, 60, noise, True),
    "duplicates": (duplicates, 100, normal, True),
    "none of these": (normal, 100, normal, True),
}
LEARNERS = {
    "tree": (
        DecisionTreeRegressor(),
        {"max_depth": range(1, 11), "min_samples_split": range(2, 11)},
    ),
    "neighbours": (KNeighborsRegressor(), {"n_neighbors": range(1, 13)}),
    "ridge": (Ridge(), {"alpha": np.logspace(-3, 4, 30)}),
}


def draw(case: str, learner: str, seed: int) -> list[float]:
    """Each promise over what was found of what it is about."""
    make, n, make_new, shuffled = CASES[case]
    rng = np.random.default_rng([seed, n])
    X, y = make(rng, n)
    X_new, y_new = make_new(rng, N_NEW)
    folds = KFold(5, shuffle=shuffled, random_state=seed if shuffled else None)
    estimator, grid = LEARNERS[learner]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the choice is much worse is what is looked at
        search = StabilitySearchCV(estimator, grid, cv=folds).fit(X, y)
        together = StabilitySearchCV(estimator, grid, cv=folds, deliver="committee").fit(X, y)
    params = search.cv_results_["params"]

    def found(candidate: int) -> float:
        model = type(estimator)(**search.best_estimator_.get_params() | params[candidate]).fit(X, y)
        return float(mean_squared_error(y_new, model.predict(X_new)))

    paper = search.rules_["paper"]
    return [
        float(search.cv_results_["cv_error"][search.kfold_index_]) / found(search.kfold_index_),
        paper.nested_error / found(paper.candidate),
        search.promise_ / found(search.best_index_),
        together.promise_ / float(mean_squared_error(y_new, together.predict(X_new))),
    ]


def run() -> dict[str, Any]:
    stored = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for case in CASES:
        for learner in LEARNERS:
            rows = stored.setdefault(case, {}).setdefault(learner, [])
            while len(rows) < DRAWS:
                rows.append([round(ratio, 4) for ratio in draw(case, learner, len(rows))])
                if len(rows) % 20 == 0:
                    RESULTS.write_text(json.dumps(stored) + "\n", "utf-8")
    return stored


def table(stored: dict[str, Any]) -> list[str]:
    """The share of draws, over the learners, in which each promise was too low; and its mean ratio."""
    lines = [f"| case | {' | '.join(PROMISES)} |", "| --- |" + " ---: |" * len(PROMISES)]
    for case, by_learner in stored.items():
        ratios = np.array([row for rows in by_learner.values() for row in rows])
        shares, middle = (ratios < TOO_LOW).mean(axis=0), np.exp(np.log(ratios).mean(axis=0))
        cells = [f"{share:.0%} ({ratio:.2f})" for share, ratio in zip(shares, middle, strict=True)]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(run())))
