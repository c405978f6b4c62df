"""What is delivered: model, committee, ensemble and student, beside the plain choice.

Each is tuned on nine tenths of a table and tried on the last one, over many random splits: regression on
the paper's 13 data sets (squared error), classification on tables that come with scikit-learn and on the
paper's with the target above its median (Brier score). `python experiments/delivered.py --models cart
--splits 30` adds to what is stored; without arguments it says what that comes to.
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
from sklearn import datasets as from_sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV, datasets
from steadycv.estimators import new_estimator
from steadycv.experiments.bootstrap import mean_ratio
from steadycv.experiments.result_file import ResultFile, Unit, read_frame
from steadycv.experiments.splits import random_split
from steadycv.losses import get_loss
from steadycv.offers import DELIVER
from steadycv.scoring import LossScorer

RESULTS = Path(__file__).parent / "results"
KEY = ("model", "dataset", "split")
COLUMNS = ("deliver", "promise", "test_error", "share", "n_candidates")
PLAIN = "plain"
CONFIGURATION = "1"  # of what is below; other results are refused


def cart(X: Any, y: Any) -> Any:
    return DecisionTreeRegressor(), {"max_depth": range(1, 11), "min_samples_split": range(2, 11)}


def sparse_ridge(X: Any, y: Any) -> Any:
    from steadycv.sparse import SparseRidge
    from steadycv.sparse.cv import largest_sparsity

    sparsities = range(1, min(40, largest_sparsity(*X.shape)) + 1)
    return SparseRidge(1, standardize=True), {"sparsity": sparsities, "gamma": np.logspace(-3, 3, 20)}


def knn(X: Any, y: Any, model: Any = KNeighborsRegressor) -> Any:
    numbers = range(1, min(30, int(0.6 * len(y))) + 1)
    estimator = make_pipeline(StandardScaler(), model())
    name = estimator.steps[-1][0]
    return estimator, {f"{name}__n_neighbors": numbers, f"{name}__weights": ["uniform", "distance"]}


def xgboost(X: Any, y: Any) -> Any:
    from xgboost import XGBRegressor

    grid = {"max_depth": [1, 2, 3, 5], "subsample": [0.5, 1.0], "n_estimators": [10, 25, 50, 100, 200]}
    return XGBRegressor(learning_rate=0.1, n_jobs=1, random_state=0), grid


def tree_classifier(X: Any, y: Any) -> Any:
    grid = {"max_depth": range(1, 11), "min_samples_leaf": [1, 2, 3, 5, 8, 12, 20]}
    return DecisionTreeClassifier(), grid


def logistic(X: Any, y: Any) -> Any:
    model = LogisticRegression(solver="newton-cholesky", max_iter=300)
    grid = {"logisticregression__C": np.logspace(-4, 3, 15)}
    return make_pipeline(StandardScaler(), model), grid


REGRESSION = {"cart": cart, "sparse ridge": sparse_ridge, "knn": knn, "xgboost": xgboost}
CLASSIFICATION = {
    "tree classifier": tree_classifier,
    "logistic": logistic,
    "knn classifier": partial(knn, model=KNeighborsClassifier),
}
TABLES = ("breast_cancer", "iris", "wine")


def load(name: str, model: str, data_home: str | None) -> tuple[Any, Any]:
    if model in CLASSIFICATION and name in TABLES:
        return getattr(from_sklearn, f"load_{name}")(return_X_y=True)
    name = name.removesuffix(" above")
    X, y = datasets.load(name, data_home=data_home, return_X_y=True)
    return X, (y > np.median(y)).astype(int) if model in CLASSIFICATION else y


def names(model: str) -> list[str]:
    """The tables: of classes those with 150 rows or more, as test sets are a tenth of them."""
    if model not in CLASSIFICATION:
        return list(datasets.NAMES)
    large = ("housing", "autompg", "hitters", "servo", "topgear", "vessel")
    return [*TABLES, *(f"{name} above" for name in large)]


def one_split(model: str, dataset: str, number: int, data_home: str | None) -> list[dict[str, Any]]:
    X, y = load(dataset, model, data_home)
    split = random_split(X, y, dataset, number)
    is_class = model in CLASSIFICATION
    estimator, grid = (CLASSIFICATION if is_class else REGRESSION)[model](split.X, split.y)
    loss = "brier" if is_class else "squared_error"

    def test_error(fitted: Any) -> float:
        return -LossScorer(get_loss(loss))(fitted, split.X_test, split.y_test)

    rows = []
    with TemporaryDirectory() as folder:
        for deliver in DELIVER[::-1]:  # what the first one fits, the others find in the file
            search = StabilitySearchCV(
                estimator,
                grid,
                loss=loss,
                cv=split.cv,
                deliver=deliver,
                ledger=Path(folder) / "ledger",
            ).fit(split.X, split.y)
            delivered = search.delivered_
            rows.append(
                {
                    "deliver": deliver,
                    "promise": search.promise_,
                    "test_error": test_error(search),
                    "share": delivered.share,
                    "n_candidates": len(delivered.params),
                }
            )
    plain = new_estimator(estimator, search.kfold_params_).fit(split.X, split.y)
    cv_error = float(search.cv_results_["cv_error"][search.kfold_index_])
    rows.append({"deliver": PLAIN, "promise": cv_error, "test_error": test_error(plain)} | NONE)
    return rows


NONE = {"share": 0.0, "n_candidates": 1}


def path_of(model: str) -> Path:
    return RESULTS / f"delivered-{model.replace(' ', '-')}.csv"


def run(model: str, splits: int, only: list[str], data_home: str | None) -> None:
    units = [
        Unit(
            {"model": model, "dataset": name, "split": number},
            CONFIGURATION,
            len(DELIVER) + 1,
            partial(one_split, model, name, number, data_home),
        )
        for number in range(splits)
        for name in only or names(model)
    ]
    with ResultFile(path_of(model), KEY, COLUMNS) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single folds; what is chosen is looked at
        for unit in file.missing(units):
            file.append(unit, unit.work())


def summary() -> dict[str, Any]:
    """By model and what is delivered: test error over plain choice's, promise over test error."""
    found: dict[str, Any] = {}
    for model in (*REGRESSION, *CLASSIFICATION):
        if not path_of(model).exists():
            continue
        frame = read_frame(path_of(model), KEY, COLUMNS)
        if frame.empty:
            continue
        tables = frame.pivot_table(
            index=["dataset", "split"], columns="deliver", values=["promise", "test_error"]
        )
        by_dataset = [table for _, table in tables.groupby(level="dataset")]
        n_splits = [len(table) for table in by_dataset]
        found[model] = {"datasets": len(by_dataset), "splits": [min(n_splits), max(n_splits)]}
        plain = [table["test_error", PLAIN].to_numpy() for table in by_dataset]
        for deliver in (PLAIN, *DELIVER):
            test = [table["test_error", deliver].to_numpy() for table in by_dataset]
            promise = [table["promise", deliver].to_numpy() for table in by_dataset]
            ratios = {
                name: float(t.mean() / p.mean())
                for (name, _), t, p in zip(tables.groupby(level="dataset"), test, plain, strict=True)
            }
            worst = max(ratios, key=ratios.__getitem__)
            found[model][deliver] = {
                "test_over_plain": _rounded(mean_ratio(test, plain)),
                "promise_over_test": _rounded(mean_ratio(promise, test)),
                "worst": [worst, round(ratios[worst], 3)],
            }
    return found


def table(found: dict[str, Any]) -> list[str]:
    """The same as a table of a page."""
    lines = [
        "| model | tables x splits | delivered | test error over plain's (95 %) | worst table "
        "| promised / test error |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for model, figures in found.items():
        fewest, most = figures["splits"]
        splits = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        for deliver in (PLAIN, *DELIVER):
            of_kind = figures[deliver]
            ratio, low, high = of_kind["test_over_plain"]
            told = f"{ratio:.3f} ({low:.3f} to {high:.3f})" if deliver != PLAIN else "1"
            worst = f"{of_kind['worst'][1]:.2f}" if deliver != PLAIN else ""
            promised, below, above = of_kind["promise_over_test"]
            lines.append(
                f"| {model} | {figures['datasets']} x {splits} | {deliver} | {told} | {worst} "
                f"| {promised:.3f} ({below:.3f} to {above:.3f}) |"
            )
    return lines


def _rounded(ratio: Any) -> list[float]:
    return [round(value, 3) for value in (ratio.value, ratio.low, ratio.high)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="")
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--datasets", default="")
    parser.add_argument("--data-home", default=None, help="the folder of the raw files")
    given = parser.parse_args()
    for model in filter(None, given.models.split(",")):
        run(model, given.splits, list(filter(None, given.datasets.split(","))), given.data_home)
    found = summary()
    (RESULTS / "delivered.json").write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(table(found)))
