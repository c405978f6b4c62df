"""What a race changes, and what it costs: the table of docs/racing.md.

Several models are tuned on nine tenths of each of the paper's data sets, with a race and without one,
and what either chooses is tried on the other tenth. The rows are in results/racing.csv. A run that was
interrupted goes on, and with `--table` nothing is run.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV, datasets
from steadycv.experiments.bootstrap import mean_ratio
from steadycv.experiments.pages import fill
from steadycv.experiments.result_file import ResultFile, Unit, read_frame
from steadycv.experiments.splits import Split, random_split
from steadycv.model_catalogue import MODELS, Size
from steadycv.racing import SHARE, TOLERANCE, rounds_of

if TYPE_CHECKING:
    from steadycv.lattice import View

RESULTS = Path(__file__).parent / "results" / "racing.csv"
PAGE = Path(__file__).parent.parent / "docs" / "racing.md"
KEY = ("model", "dataset", "split")
COLUMNS = ("race", "test_error", "nested_error", "fits", "same_choice")
RACES = ("full", "race", "one", "two")  # the last two at so many standard errors, and no other limit
VALUES = {"full": False, "race": True, "one": 1.0, "two": 2.0}
RACED = ("cart", "sparse-ridge", "xgboost", "ridge", "knn", "svm", "random-forest", "elastic-net")
SPLITS = {"cart": 30, "ridge": 30, "knn": 30, "sparse-ridge": 20}
FEWER = 10  # of the others, which are slow
LARGE = ("wine",)  # is left out where a search of it takes minutes
NOTHING = np.zeros(0, dtype=np.intp)
CONFIGURATION = f"2, {TOLERANCE}, {SHARE}"  # other results are refused


def problem(model: str, split: Split) -> tuple[Any, dict[str, Any]]:
    """An estimator, and its grid for the data."""
    X, y = split.X, split.y
    fewest = len(y) * 3 // 5  # in a training set without two folds
    grid = dict(MODELS[model].grid(Size(len(y), fewest, X.shape[1], float(np.std(y)))))
    if model == "knn":
        grid["weights"] = ["uniform", "distance"]
    estimator = MODELS[model].regressor()
    if not MODELS[model].scaled:
        return estimator, grid
    pipeline = make_pipeline(StandardScaler(), estimator)
    step = pipeline.steps[-1][0]
    return pipeline, {f"{step}__{name}": values for name, values in grid.items()}


def one_split(model: str, dataset: str, number: int, data: tuple[Any, Any]) -> list[dict[str, Any]]:
    split = random_split(*data, dataset, number)
    estimator, grid = problem(model, split)
    found = {}
    with TemporaryDirectory() as folder:
        for race in RACES[::-1]:  # what one has fitted, the next finds in the file
            found[race] = StabilitySearchCV(
                estimator,
                grid,
                loss="squared_error",
                cv=split.cv,
                race=VALUES[race],
                ledger=Path(folder) / "ledger",
            ).fit(split.X, split.y)
    return [
        {
            "race": race,
            "test_error": float(np.mean((search.predict(split.X_test) - split.y_test) ** 2)),
            "nested_error": search.nested_error_,
            "fits": n_models(search) / (len(search.ledger_) * search.n_splits_),
            "same_choice": int(search.best_index_ == found["full"].best_index_),
        }
        for race, search in found.items()
    ]


def n_models(search: Any) -> int:
    """How many models a search takes, each fitted by itself."""
    lattice, ledger = search.lattice_, search.ledger_
    fitted = np.zeros((len(ledger), lattice.n_training_sets), dtype=bool)

    def look(view: View, held: Any) -> None:
        judged = [] if view.judged is None else [view.judged]
        for evaluation in [*view.evaluations.tolist(), *judged]:
            fitted[held, lattice.evaluations[evaluation].training_set] = True
        for comparison in view.comparisons.tolist():
            fitted[held, lattice.comparisons[comparison].training_set] = True
            fitted[held, lattice.comparisons[comparison].reference] = True

    if ledger.with_parts:
        for number, views in enumerate(rounds_of(lattice)):
            for view in views[:-1]:  # the final view asks for nothing itself
                left = ledger.left_from(view)
                look(replace(view, comparisons=NOTHING), (left == 0) | (left > number))
    for view in (lattice.final, *lattice.views):
        look(view, ledger.left_from(view) == 0)
    return int(fitted.sum())


def names(model: str) -> list[str]:
    return [n for n in datasets.NAMES if n not in LARGE or model in ("cart", "ridge", "sparse-ridge")]


def run(models: list[str], splits: int | None, folder: Path | None) -> None:
    units = [
        Unit(
            {"model": model, "dataset": name, "split": number},
            CONFIGURATION,
            len(RACES),
            partial(one_split, model, name, number, load(name, folder)),
        )
        for number in range(max(SPLITS.values()))
        for model in models
        for name in names(model)
        if number < min(SPLITS.get(model, FEWER), splits or 10**6)
    ]
    with ResultFile(RESULTS, KEY, COLUMNS) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of single searches; what is chosen is looked at
        for unit in file.missing(units):
            file.append(unit, unit.work())


def load(name: str, folder: Path | None) -> tuple[Any, Any]:
    """Data and target; from a folder of tables whose last column is the target, if there is one."""
    if folder is None:
        return datasets.load(name, return_X_y=True)
    [path] = folder.glob(f"{name}.csv*")
    values = pandas.read_csv(path).to_numpy(dtype=np.float64)
    return values[:, :-1], values[:, -1]


def table() -> list[str]:
    """A line for each model and kind of race, and one over all models for each kind."""
    frame = read_frame(RESULTS, KEY, COLUMNS)
    n_splits = frame.groupby(["model", "dataset"])["split"].transform("nunique")
    frame = frame[n_splits.groupby(frame["model"]).transform("min") > 1]  # one has no interval
    lines = [
        "| model | tables x splits | race | fits, GridSearchCV = 1 "
        "| test error over the full search's (95 %) | nested error over the full search's (95 %) "
        "| same choice |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    models = [model for model in RACED if model in set(frame["model"])]
    for model, some in [
        *((model, frame[frame["model"] == model]) for model in models),
        ("all", frame),
    ]:
        by_race = {
            race: [table for _, table in rows.sort_values("split").groupby(["model", "dataset"])]
            for race, rows in some.groupby("race")
        }
        sizes = [len(table) for table in by_race["full"]]
        splits = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        for race in RACES[1:]:
            ratios = [
                mean_ratio(
                    [table[column].to_numpy() for table in by_race[race]],
                    [table[column].to_numpy() for table in by_race["full"]],
                )
                for column in ("test_error", "nested_error")
            ]
            fits = np.mean([table["fits"].mean() for table in by_race[race]])
            same = np.mean([table["same_choice"].mean() for table in by_race[race]])
            test, nested = (f"{r.value:.3f} ({r.low:.3f} to {r.high:.3f})" for r in ratios)
            lines.append(
                f"| {model} | {len(sizes)} x {splits} | {WORDS[race]} | {fits:.2f} | {test} | {nested} "
                f"| {same:.0%} |"
            )
    return lines


WORDS = {"race": "`True`", "one": "`1.0`", "two": "`2.0`"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with NAME.csv of each; fetched by default")
    parser.add_argument("--models", default=",".join(RACED))
    parser.add_argument("--splits", type=int, help="at most so many; more can be added later")
    parser.add_argument("--table", action="store_true", help="run nothing, fill the page")
    args = parser.parse_args()
    if not args.table:
        run(args.models.split(","), args.splits, args.data)
    lines = table()
    print("\n".join(lines))
    if PAGE.exists():
        fill(PAGE, {"racing": "\n".join(lines)})
