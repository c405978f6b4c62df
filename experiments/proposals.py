"""Proposals that all views share, and those of a study a view: the table of docs/searching.md.

Optuna proposes what the cross-validation errors on all data make it hope for, so that candidates that
all views choose among have seen what the views are judged on. Models are tuned on random parts of the
paper's data sets, with candidates drawn at random, with a study that all views share, and with a study
for each view; what was promised is compared with the error on the other rows. `shuffled tree` is a tree
for a target in random order, of which nothing can be learned.

`python experiments/proposals.py` goes on where it stopped; with `--table` nothing is run.
"""

from __future__ import annotations

import argparse
import csv
import warnings
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import OptunaSearch, StabilityRandomizedSearchCV, StabilitySearchCV, datasets
from steadycv.experiments.bootstrap import mean_ratio
from steadycv.experiments.pages import fill
from steadycv.experiments.sheets import interval

RESULTS = Path(__file__).parent / "results" / "proposals.csv"
PAGE = Path(__file__).parent.parent / "docs" / "searching.md"
KEY = ("dataset", "model", "split")
SPLITS = 5
TRIALS = 50
MOST_ROWS = 300  # that are tuned on, and at most three fifths
HOW = {"drawn": "drawn at random", "shared": "one study", "per_view": "a study a view"}
MOST_COLUMNS = 100  # for elastic nets, that take minutes of warm starts
LEFT_OUT = ("bardet", "riboflavin", "vessel")  # hundreds of columns, a minute a split


class Tuned(NamedTuple):
    estimator: Any
    space: dict[str, Any]


def tuned(model: str, y: np.ndarray) -> Tuned:
    scale = float(np.std(y))
    if model.endswith("tree"):
        space = {
            "max_depth": range(1, 16),
            "min_samples_leaf": range(1, 21),
            "ccp_alpha": loguniform(1e-6 * scale**2, scale**2),
            "max_features": uniform(0.1, 0.9),
        }
        return Tuned(DecisionTreeRegressor(), space)
    if model == "neighbours":
        space = {
            "kneighborsregressor__n_neighbors": range(1, min(31, len(y) // 2)),
            "kneighborsregressor__weights": ["uniform", "distance"],
            "pca__n_components": uniform(0.3, 0.69),  # of the variance
        }
        return Tuned(make_pipeline(StandardScaler(), PCA(), KNeighborsRegressor()), space)
    space = {
        "elasticnet__alpha": loguniform(1e-2 * scale, 10 * scale),
        "elasticnet__l1_ratio": uniform(0.05, 0.95),
    }
    return Tuned(make_pipeline(StandardScaler(), ElasticNet()), space)


MODELS = ("tree", "neighbours", "elastic net", "shuffled tree")


def search_of(how: str, model: Tuned, seed: int) -> Any:
    folds = {"cv": KFold(5, shuffle=True, random_state=seed)}
    if how == "drawn":
        return StabilityRandomizedSearchCV(*model, n_iter=TRIALS, random_state=seed, **folds)
    import optuna

    sampler = optuna.samplers.TPESampler(seed=seed)
    proposals = OptunaSearch(TRIALS, sampler, per_view=how == "per_view")
    return StabilitySearchCV(*model, search=proposals, **folds)


def one_split(X: np.ndarray, y: np.ndarray, name: str, model: str, split: int) -> dict[str, float]:
    rng = np.random.default_rng([split, zlib.crc32(name.encode())])
    order = rng.permutation(len(y))
    n_tuned = min(MOST_ROWS, len(y) * 3 // 5)
    here, new = np.sort(order[:n_tuned]), np.sort(order[n_tuned:])
    if model.startswith("shuffled"):
        y = rng.permutation(y)
    row: dict[str, float] = {}
    for how in HOW:
        search = search_of(how, tuned(model, y[here]), split)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # promises that are about the choice
            warnings.simplefilter("ignore", category=RuntimeWarning)
            search.fit(X[here], y[here])
        row[f"{how}_cv_error"] = search.cv_error_
        row[f"{how}_promise"] = search.promise_
        row[f"{how}_nested_error"] = search.nested_error_
        row[f"{how}_test_error"] = float(np.mean((search.predict(X[new]) - y[new]) ** 2))
        row[f"{how}_fits"] = search.n_fits_
    return row


def stored() -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """By data set and model, the columns of the file."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                columns = found.setdefault((row.pop("dataset"), row.pop("model")), {})
                for name, value in row.items():
                    columns.setdefault(name, []).append(float(value))
    return {
        key: {name: np.array(values) for name, values in columns.items()}
        for key, columns in found.items()
    }


def run(data: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Do what the file does not have yet, a line at a time."""
    done = {key: set(columns["split"]) for key, columns in stored().items()}
    for split in range(SPLITS):
        for name, (X, y) in data.items():
            for model in MODELS:
                is_slow = model == "elastic net" and X.shape[1] > MOST_COLUMNS
                if is_slow or split in done.get((name, model), ()):
                    continue
                figures = one_split(X, y, name, model, split)
                row = dict(zip(KEY, (name, model, split), strict=True))
                row |= {column: f"{value:.6g}" for column, value in figures.items()}
                is_new = not RESULTS.exists()
                with RESULTS.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, row, lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)


def table() -> str:
    """A line for each model and kind of proposals, and for each kind over all."""
    found = stored()
    names = sorted({name for name, _ in found})
    lines = [
        "| model | candidates | promise over test error | below 0.8 of it | test error over drawn's "
        "| fits over drawn's |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for model in (*MODELS, "all"):
        of_model = [columns for (_, each), columns in found.items() if model in (each, "all")]
        for how, text in HOW.items():
            low = np.concatenate([t[f"{how}_promise"] < 0.8 * t[f"{how}_test_error"] for t in of_model])
            cells = [model, text, ratio(of_model, f"{how}_promise", f"{how}_test_error")]
            cells.append(f"{low.mean():.0%}")
            cells += [
                "1" if how == "drawn" else ratio(of_model, f"{how}_{what}", f"drawn_{what}")
                for what in ("test_error", "fits")
            ]
            lines.append(f"| {' | '.join(cells)} |")
    n = sum(len(columns["split"]) for columns in found.values())
    per_view = {
        what: ratio(list(found.values()), f"shared_{what}", f"per_view_{what}")
        for what in ("promise", "nested_error")
    }
    cv_error = ratio(list(found.values()), "shared_cv_error", "shared_test_error")
    lines += [
        "",
        f"Geometric means over {len(names)} data sets with 95 % intervals for new splits of them; {n} "
        f"splits, {TRIALS} candidates a search (`experiments/proposals.py`). *Shuffled tree*: a tree "
        "for a target in random order, of which nothing can be learned. Over all, one study's promise "
        f"is {per_view['promise']} times that of a study a view, and its nested error "
        f"{per_view['nested_error']} times; the CV error of its choices is {cv_error} "
        "of the test error.",
    ]
    return "\n".join(lines)


def ratio(tables: list[dict[str, np.ndarray]], above: str, below: str) -> str:
    found = mean_ratio([t[above] for t in tables], [t[below] for t in tables])
    return f"{found.value:.3f} ({interval(found.low, found.high)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the raw files; fetched by default")
    parser.add_argument("--table", action="store_true", help="run nothing, fill the page")
    args = parser.parse_args()
    if not args.table:
        run(
            {
                name: datasets.load(name, data_home=args.data, return_X_y=True, as_frame=False)
                for name in datasets.NAMES
                if name not in LEFT_OUT
            }
        )
    print(table())
    fill(PAGE, {"proposals": table()})
