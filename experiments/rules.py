"""Which rule chooses best: the table of docs/rules.md.

Several models are tuned on nine tenths of each of the paper's data sets, by one search a split, whose
ledger says what every rule chooses; that is fitted on all nine tenths and tried on the other tenth. The
rows are in results/rules.csv. A run that was interrupted goes on, and with `--table` nothing is run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV, datasets
from steadycv.experiments import Results, Sheet, read_results
from steadycv.experiments.bootstrap import Ratio, mean_ratio
from steadycv.experiments.models import Choice, Outcome, outcomes
from steadycv.experiments.pages import fill
from steadycv.experiments.result_file import ResultFile
from steadycv.experiments.running import fingerprint_of, run_units
from steadycv.experiments.sheets import interval, percent
from steadycv.experiments.table_runs import COLUMNS, KEY, split_unit
from steadycv.model_catalogue import MODELS, Size

if TYPE_CHECKING:
    from steadycv.experiments.splits import Split

RESULTS = Path(__file__).parent / "results" / "rules.csv"
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
RULES = ("plain", "paper", "steady", "one_standard_error")
SPLITS = 50
FEWER = {("wine", "knn"): 5}  # half a minute each
WORST = 0.95  # the quantile beyond which is the worst twentieth


@dataclass(frozen=True)
class RuledModel:
    """A model of the catalogue with its grid, tuned by all rules at once."""

    name: str
    selections = RULES

    def estimator(self) -> Any:
        model = MODELS[self.name].regressor()
        return make_pipeline(StandardScaler(), model) if MODELS[self.name].scaled else model

    def grid(self, X: Any, y: Any) -> dict[str, list[Any]]:
        fewest = len(y) * 3 // 5  # in a training set without two folds
        grid = MODELS[self.name].grid(Size(len(y), fewest, X.shape[1], float(np.std(y))))
        estimator = self.estimator()
        step = f"{estimator.steps[-1][0]}__" if MODELS[self.name].scaled else ""
        return {step + name: values for name, values in grid.items()}

    def configuration(self, X: Any, y: Any) -> Any:
        return self.name, repr(self.estimator()), self.grid(X, y)

    def run(self, split: Split) -> list[Outcome]:
        search = StabilitySearchCV(
            self.estimator(),
            self.grid(split.X, split.y),
            loss="squared_error",
            cv=split.cv,
            refit=False,
            error_score="raise",
        ).fit(split.X, split.y)
        choices = [
            Choice(rule, found.candidate, found.weight, found.nested_error, found.nested_error)
            for rule, found in ((rule, search.rules_[rule]) for rule in RULES)
        ]
        return outcomes(search, choices, split)


RULED = [RuledModel(name) for name in ("cart", "ridge", "sparse-ridge", "knn")]


def run(data: dict[str, Any], jobs: int) -> None:
    """Do what the file does not have yet; data sets by name, as data and target."""
    units = [
        split_unit("rules", model, name, data[name], number, 0, fingerprint)
        for model in RULED
        for name in data
        for fingerprint in [fingerprint_of(0, *data[name], model.configuration(*data[name]))]
        for number in range(FEWER.get((name, model.name), SPLITS))
    ]
    with ResultFile(RESULTS, KEY, COLUMNS, seed=0) as file:
        run_units(units, file, jobs=jobs, progress=True)


def table(results: Results) -> Sheet:
    """A line for each model and rule, and for each rule over all models."""
    rows = [line(results, [model.name], rule) for model in RULED for rule in RULES]
    rows += [line(results, [model.name for model in RULED], rule) for rule in RULES]
    header = (
        *("model", "rule", "test MSE over plain's (95 %)", "worst twentieth of the splits"),
        *("nested error over test MSE (95 %)", "weights above 0", "another choice than plain's"),
    )
    notes = [
        "Geometric means over data sets, with 95 % intervals for new splits of the same data sets; "
        f"{results.frame.groupby(list(KEY)).ngroups} searches."
    ]
    return Sheet("The rules on the paper's data sets", header, rows, notes)


def line(results: Results, models: list[str], rule: str) -> tuple[str, ...]:
    pairs = [(name, model) for model in models for name in results.names(model)]

    def values(of: str, column: str) -> list[Any]:
        return [results.values(name, model, of, column) for name, model in pairs]

    test, of_plain = values(rule, "test_error"), values("plain", "test_error")
    # On a few tiny test sets both errors are 0.
    single = np.concatenate([a[b > 0] / b[b > 0] for a, b in zip(test, of_plain, strict=True)])
    weights = np.concatenate(values(rule, "weight"))
    same = np.concatenate(values(rule, "same_choice"))
    return (
        models[0] if len(models) == 1 else "all",
        rule,
        cell(mean_ratio(test, of_plain)) if rule != "plain" else "1",
        f"{np.quantile(single, WORST):.2f}" if rule != "plain" else "1",
        cell(mean_ratio(values(rule, "nested_error"), test)),
        "-" if np.isnan(weights).all() else percent(float((weights > 0).mean())),
        percent(1 - float(same.mean())),
    )


def cell(ratio: Ratio) -> str:
    return f"{ratio.value:.3f} ({interval(ratio.low, ratio.high)})"


def load(name: str, folder: Path | None) -> tuple[Any, Any]:
    """Data and target; from a folder of tables whose last column is the target, if there is one."""
    if folder is None:
        return datasets.load(name, return_X_y=True)
    [path] = folder.glob(f"{name}.csv*")
    values = pandas.read_csv(path).to_numpy(dtype=np.float64)
    return values[:, :-1], values[:, -1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with NAME.csv of each; fetched by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="run nothing, fill the page")
    args = parser.parse_args()
    if not args.table:
        run({name: load(name, args.data) for name in datasets.NAMES}, args.jobs)
    sheet = table(read_results(RESULTS))
    print(sheet.to_markdown())
    fill(PAGE, {"rules": sheet.to_markdown()})
