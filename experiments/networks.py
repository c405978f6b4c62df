"""Table 4: neural networks on the paper's 13 data sets, beside trees and sparse regression.

Each model is tuned on nine tenths of a table and tried on the last one, over random splits: the plain
choice, the steady choice and, of networks, a committee and an ensemble. How unsteady a model is: its
instability over its CV error. `python experiments/networks.py --splits 10` adds to what is stored; with
`--splits 0` it says what that comes to.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from delivered import PLAIN, cart, sparse_ridge

from steadycv import StabilitySearchCV, datasets
from steadycv.estimators import new_estimator
from steadycv.experiments.bootstrap import mean_ratio
from steadycv.experiments.result_file import ResultFile, Unit, read_frame
from steadycv.experiments.splits import random_split

RESULTS = Path(__file__).parent / "results"
KEY = ("model", "dataset", "split")
COLUMNS = ("choice", "promise", "test_error", "cv_error", "instability")
CONFIGURATION = "1"  # of what is below; other results are refused
STEADY = "model"


def network(X: Any, y: Any) -> Any:
    from steadycv.networks import NetworkRegressor

    grid = {
        "learning_rate": [0.001, 0.003, 0.01],
        "weight_decay": [0.1, 1.0],
        "dropout": [0.0, 0.2],
        "epochs": [10, 20, 50, 100, 200],
    }
    return NetworkRegressor(), grid


MODELS = {
    "network": (network, (STEADY, "committee", "ensemble")),
    "cart": (cart, (STEADY,)),
    "sparse ridge": (sparse_ridge, (STEADY,)),
}


def one_split(model: str, dataset: str, number: int, data_home: str | None) -> list[dict[str, Any]]:
    X, y = datasets.load(dataset, data_home=data_home, return_X_y=True)
    split = random_split(X, y, dataset, number)
    make, deliveries = MODELS[model]
    estimator, grid = make(split.X, split.y)

    def test_error(fitted: Any) -> float:
        return float(np.mean((fitted.predict(split.X_test) - split.y_test) ** 2))

    def steadiness(index: int) -> dict[str, float]:
        results = search.cv_results_
        return {name: float(results[name][index]) for name in ("cv_error", "instability")}

    rows = []
    with TemporaryDirectory() as folder:
        for deliver in deliveries[::-1]:  # what the first one fits, the others find in the file
            search = StabilitySearchCV(
                estimator,
                grid,
                loss="squared_error",
                cv=split.cv,
                deliver=deliver,
                ledger=Path(folder) / "ledger",
                race=False,
            ).fit(split.X, split.y)
            told = {"choice": deliver, "promise": search.promise_, "test_error": test_error(search)}
            rows.append(told | steadiness(search.best_index_))
    plain = new_estimator(estimator, search.kfold_params_).fit(split.X, split.y)
    of_plain = steadiness(search.kfold_index_)
    told = {"choice": PLAIN, "promise": of_plain["cv_error"], "test_error": test_error(plain)}
    return [*rows, told | of_plain]


def path_of(model: str) -> Path:
    return RESULTS / f"table4-{model.replace(' ', '-')}.csv"


def run(model: str, splits: int, only: list[str], data_home: str | None) -> None:
    units = [
        Unit(
            {"model": model, "dataset": name, "split": number},
            CONFIGURATION,
            len(MODELS[model][1]) + 1,
            partial(one_split, model, name, number, data_home),
        )
        for number in range(splits)
        for name in only or datasets.NAMES
    ]
    with ResultFile(path_of(model), KEY, COLUMNS) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single folds; what is chosen is looked at
        for unit in file.missing(units):
            file.append(unit, unit.work())


def summary() -> dict[str, Any]:
    """By model and choice: test error over the plain choice's, promise over test error, unsteadiness."""
    found: dict[str, Any] = {}
    for model, (_, deliveries) in MODELS.items():
        if not path_of(model).exists():
            continue
        frame = read_frame(path_of(model), KEY, COLUMNS)
        frame["unsteadiness"] = frame["instability"] / frame["cv_error"]
        values = ["promise", "test_error", "unsteadiness"]
        tables = frame.pivot_table(index=["dataset", "split"], columns="choice", values=values)
        by_dataset = [table for _, table in tables.groupby(level="dataset")]
        n_splits = [len(table) for table in by_dataset]
        found[model] = {"datasets": len(by_dataset), "splits": [min(n_splits), max(n_splits)]}
        plain = [table["test_error", PLAIN].to_numpy() for table in by_dataset]
        for choice in (PLAIN, *deliveries):
            test = [table["test_error", choice].to_numpy() for table in by_dataset]
            promise = [table["promise", choice].to_numpy() for table in by_dataset]
            unsteady = [float(np.median(table["unsteadiness", choice])) for table in by_dataset]
            found[model][choice] = {
                "test_over_plain": _rounded(mean_ratio(test, plain)),
                "promise_over_test": _rounded(mean_ratio(promise, test)),
                "instability_over_cv_error": round(float(np.median(unsteady)), 2),
            }
    return found


def table(found: dict[str, Any]) -> list[str]:
    """The same as a table of a page."""
    lines = [
        "| model | tables x splits | choice | test error over plain's (95 %) | promised / test error "
        "| instability / CV error |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
    ]
    names = {PLAIN: "plain", STEADY: "steady"}
    for model, figures in found.items():
        fewest, most = figures["splits"]
        splits = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        for choice in (PLAIN, *MODELS[model][1]):
            of_kind = figures[choice]
            ratio, low, high = of_kind["test_over_plain"]
            told = f"{ratio:.3f} ({low:.3f} to {high:.3f})" if choice != PLAIN else "1"
            promised, below, above = of_kind["promise_over_test"]
            of_choice = choice in names
            unsteady = f"{of_kind['instability_over_cv_error']:.2f}" if of_choice else ""
            lines.append(
                f"| {model} | {figures['datasets']} x {splits} | {names.get(choice, choice)} | {told} "
                f"| {promised:.3f} ({below:.3f} to {above:.3f}) | {unsteady} |"
            )
    return lines


def _rounded(ratio: Any) -> list[float]:
    return [round(value, 3) for value in (ratio.value, ratio.low, ratio.high)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--datasets", default="")
    parser.add_argument("--data-home", default=None, help="the folder of the raw files")
    given = parser.parse_args()
    for model in given.models.split(","):
        run(model, given.splits, list(filter(None, given.datasets.split(","))), given.data_home)
    found = summary()
    (RESULTS / "table4.json").write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(table(found)))
