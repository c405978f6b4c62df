"""Which number of rounds to deliver, and what early stopping inside cross-validation is worth.

Boosted trees are tuned on nine tenths of a table, with the number of rounds stopped early, and tried on
the last tenth, over random splits; of generated data, on new rows. Delivered is the rule's choice, or
the mean of the views' best numbers; beside them stand the search over all numbers of rounds, and what is
common: a fifth of the rows as an eval set, with or without a refit on all rows.

    python experiments/early_stopping.py --models lightgbm --splits 10

adds to what is stored; without models it says what that comes to.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as from_sklearn
from sklearn.model_selection import ParameterGrid, train_test_split

from steadycv import EarlyStopping, StabilitySearchCV, datasets, rules
from steadycv.candidates import Grid
from steadycv.estimators import new_estimator
from steadycv.experiments.bootstrap import mean_ratio
from steadycv.experiments.result_file import ResultFile, Unit, read_frame
from steadycv.experiments.splits import Split, random_split
from steadycv.losses import get_loss
from steadycv.scoring import LossScorer

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "early_stopping.csv"
SUMMARY = RESULTS / "early_stopping.json"
KEY = ("model", "dataset", "split")
COLUMNS = ("way", "rounds", "test_error", "promise", "seconds")
CONFIGURATION = "1"  # of what is below; other results are refused

STOPPED = EarlyStopping(1000, step=10, patience=50)
RATES = {"learning_rate": [0.05, 0.2]}
MOST_ROWS = 600
RULE = "the rule's choice"
WAYS = {
    RULE: "the choice of the search",
    "mean": "mean of the views' best numbers",
    "whole": "the choice among all numbers up to 1000",
    "eval set": "the best on an eval set of a fifth of the rows",
    "eval set, refitted": "that number, fitted again on all rows",
}


def lightgbm(kind: str) -> Any:
    import lightgbm

    make = getattr(lightgbm, f"LGBM{kind}")
    return make(num_leaves=8, min_child_samples=5, n_jobs=1, random_state=0, verbose=-1)


def xgboost(kind: str) -> Any:
    import xgboost

    return getattr(xgboost, f"XGB{kind}")(max_depth=3, n_jobs=1, random_state=0)


MODELS = {
    "lightgbm": partial(lightgbm, "Regressor"),
    "xgboost": partial(xgboost, "Regressor"),
    "lightgbm, classes": partial(lightgbm, "Classifier"),
}
WIDE = ("topgear", "bardet", "vessel", "riboflavin")  # hundreds of columns, half a minute and more
MADE = ("friedman1", "friedman2", "friedman3")
TABLES = ("breast_cancer", "iris", "wine")


def names(model: str) -> list[str]:
    if "classes" in model:
        large = ("housing", "autompg", "hitters", "servo")
        return [*TABLES, *(f"{name} above" for name in large)]
    return [*(name for name in datasets.NAMES if name not in WIDE), *MADE]


def drawn(model: str, dataset: str, number: int, data_home: str | None) -> Split:
    """What to tune on, its folds, and what to test on."""
    if dataset in MADE:
        make = partial(getattr(from_sklearn, f"make_{dataset}"), random_state=number)
        X, y = make(2300)
        y = y + np.random.default_rng(number).normal(scale=y.std() / 2, size=len(y))
        return Split(X[:300], y[:300], X[300:], y[300:], np.arange(300) % 5)
    if "classes" in model and dataset in TABLES:
        X, y = getattr(from_sklearn, f"load_{dataset}")(return_X_y=True)
    else:
        X, y = datasets.load(dataset.removesuffix(" above"), data_home=data_home, return_X_y=True)
        y = (y > np.median(y)).astype(int) if "classes" in model else y
    rows = np.random.default_rng(number).permutation(len(y))[:MOST_ROWS]
    return random_split(np.asarray(X, dtype=np.float64)[rows], y[rows], dataset, number)


def one_split(model: str, dataset: str, number: int, data_home: str | None) -> list[dict[str, Any]]:
    split = drawn(model, dataset, number, data_home)
    estimator = MODELS[model]()
    loss = "log_loss" if "classes" in model else "squared_error"
    score = LossScorer(get_loss(loss))

    def test_error(params: dict[str, Any]) -> float:
        fitted = new_estimator(estimator, params).fit(split.X, split.y)
        return -float(score(fitted, split.X_test, split.y_test))

    def row(way: str, params: dict[str, Any], **more: float) -> dict[str, Any]:
        found = {"way": way, "rounds": params["n_estimators"], "test_error": test_error(params)}
        return {"promise": np.nan, "seconds": np.nan} | found | more

    rows = []
    for way, numbers in ((RULE, STOPPED), ("whole", list(STOPPED))):
        search = StabilitySearchCV(
            estimator, {"n_estimators": numbers} | RATES, loss=loss, cv=split.cv, race=False, refit=False
        )
        start = time.process_time()
        search.fit(split.X, split.y)
        seconds = time.process_time() - start
        rows.append(row(way, search.best_params_, promise=search.nested_error_, seconds=seconds))
        if way == RULE:
            rows.append(row("mean", search.best_params_ | {"n_estimators": mean_best(search)}))
    params, error = with_eval_set(estimator, split, score)
    rows.append(row("eval set", params, test_error=error))
    rows.append(row("eval set, refitted", params))
    return rows


def mean_best(search: StabilitySearchCV) -> int:
    """The mean over views of the best number of rounds, at the setting and the weight of the choice."""
    [series] = [s for s in Grid(search.param_grid).series if search.best_index_ in s.candidates]
    best = []
    for view in search.lattice_.views:
        error = rules.error(search.ledger_, view, series.candidates)
        instability = rules.instability(search.ledger_, view, series.candidates)
        values = rules.regularized_error(error, instability, search.stability_weight_)
        best.append(series.rounds[rules.first_minimum(values)])
    return round(float(np.mean(best)))


def with_eval_set(estimator: Any, split: Split, score: Any) -> tuple[dict[str, Any], float]:
    """The setting that does best on a fifth of the rows, and the test error of that very model."""
    is_class = hasattr(estimator, "predict_proba")
    kept = train_test_split(
        split.X, split.y, test_size=0.2, random_state=0, stratify=split.y if is_class else None
    )
    X, X_eval, y, y_eval = kept
    found = []
    for params in ParameterGrid(RATES):
        setting = params | {"n_estimators": STOPPED.most}
        if type(estimator).__module__.startswith("lightgbm"):
            from lightgbm import early_stopping

            stop = early_stopping(STOPPED.patience, verbose=False)
            model = new_estimator(estimator, setting)
            model.fit(X, y, eval_set=[(X_eval, y_eval)], callbacks=[stop])
            rounds = model.best_iteration_
        else:
            model = new_estimator(estimator, setting | {"early_stopping_rounds": STOPPED.patience})
            model.fit(X, y, eval_set=[(X_eval, y_eval)], verbose=False)
            rounds = model.best_iteration + 1
        of_eval = score(model, X_eval, y_eval)
        found.append((of_eval, params | {"n_estimators": rounds}, model))
    _, params, model = max(found, key=lambda each: each[0])
    return params, -float(score(model, split.X_test, split.y_test))


def run(model: str, splits: int, data_home: str | None) -> None:
    units = [
        Unit(
            {"model": model, "dataset": name, "split": number},
            CONFIGURATION,
            len(WAYS),
            partial(one_split, model, name, number, data_home),
        )
        for number in range(splits)
        for name in names(model)
    ]
    with ResultFile(FILE, KEY, COLUMNS) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single folds; what is chosen is looked at
        for unit in file.missing(units):
            file.append(unit, unit.work())


def summary() -> dict[str, Any]:
    """By model and way: the test error over the rule's choice's; what was promised, and its cost."""
    frame = read_frame(FILE, KEY, COLUMNS)
    found: dict[str, Any] = {}
    for model in [name for name in MODELS if (frame["model"] == name).any()]:
        tables = frame[frame["model"] == model].pivot_table(
            index=["dataset", "split"],
            columns="way",
            values=["test_error", "promise", "seconds", "rounds"],
        )
        by_dataset = [table for _, table in tables.groupby(level="dataset")]

        def of(column: str, way: str, by_dataset: Any = by_dataset) -> list[Any]:
            return [table[column, way].to_numpy() for table in by_dataset]

        found[model] = {
            "datasets": len(by_dataset),
            "searches": len(tables),
            "test": {
                way: _rounded(mean_ratio(of("test_error", way), of("test_error", RULE))) for way in WAYS
            },
            "rounds": {way: round(float(tables["rounds", way].mean())) for way in WAYS},
            "promise": _rounded(mean_ratio(of("promise", RULE), of("test_error", RULE))),
            "time": round(float(tables["seconds", RULE].sum() / tables["seconds", "whole"].sum()), 2),
        }
    return found


def table(found: dict[str, Any]) -> list[str]:
    """The same as a table of a page."""
    models = list(found)
    lines = [
        f"| delivered | {' | '.join(models)} |",
        f"| --- |{' ---: |' * len(models)}",
    ]
    for way, words in WAYS.items():
        cells = []
        for model in models:
            ratio, low, high = found[model]["test"][way]
            cells.append("1" if way == RULE else f"{ratio:.3f} ({low:.3f} to {high:.3f})")
        lines.append(f"| {words} | {' | '.join(cells)} |")
    for name, told in (
        ("searches, on so many data sets", "{searches} on {datasets}"),
        ("rounds of the choice, on average; with all numbers", "{rounds[0]}; {rounds[1]}"),
        ("time of the search over that with all numbers", "{time}"),
    ):
        cells = []
        for figures in found.values():
            rounds = [figures["rounds"][way] for way in (RULE, "whole")]
            cells.append(told.format(**figures | {"rounds": rounds}))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _rounded(ratio: Any) -> list[float]:
    return [round(value, 3) for value in (ratio.value, ratio.low, ratio.high)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--data-home", default=None, help="the folder of the raw files")
    given = parser.parse_args()
    for model in given.models:
        run(model, given.splits, given.data_home)
    measured = summary()
    SUMMARY.write_text(json.dumps(measured, indent=1) + "\n")
    print("\n".join(table(measured)))
    print(json.dumps(measured, indent=1))
