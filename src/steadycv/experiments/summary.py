"""What the results of a table say, beside the paper's figures."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.datasets import NAMES
from steadycv.experiments import paper
from steadycv.experiments.bootstrap import Ratio, mean_ratio, standard_error
from steadycv.experiments.models import NESTED, NESTED_OR_PLAIN, PLAIN
from steadycv.experiments.result_file import read_frame
from steadycv.experiments.sheets import Sheet, interval, number, percent, with_error
from steadycv.experiments.table_runs import COLUMNS, KEY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steadycv.experiments.models import Model
    from steadycv.experiments.tables import Table

__all__ = ["Results", "read_results", "summarize_shortly", "summarize_table"]

FEWEST_SPLITS = 10  # of a data set that is told of in short: with fewer, intervals mean nothing


def read_results(path: Path) -> Results:
    """The results that a run left in a file."""
    return Results(read_frame(path, KEY, COLUMNS, kind="model"))


class Results:
    """The rows of a result file, by data set, model and selection.

    Parameters
    ----------
    frame : data frame
        The rows.
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame.sort_values("split")

    def only(
        self,
        *,
        datasets: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        n_splits: int | None = None,
        seed: int | None = None,
    ) -> Results:
        """Some of the results."""
        frame = self.frame if seed is None else self.frame[self.frame["seed"] == seed]
        for column, wanted in (("dataset", datasets), ("model", models)):
            frame = frame if wanted is None else frame[frame[column].isin(wanted)]
        return Results(frame if n_splits is None else frame[frame["split"] < n_splits])

    def names(self, model: str) -> list[str]:
        """The data sets on which a model was run, in the paper's order, then others."""
        there = self.frame.loc[self.frame["model"] == model, "dataset"].unique().tolist()
        return [name for name in NAMES if name in there] + sorted(set(there) - set(NAMES))

    def names_with_errors(self, model: str) -> list[str]:
        """Those of which there is more than one split, so that errors can be told; if none has, all."""
        names = self.names(model)
        n_splits = self.frame[self.frame["model"] == model].groupby("dataset")["split"].nunique()
        return [name for name in names if n_splits[name] > 1] or names

    def values(self, dataset: str, model: str, selection: str, column: str) -> NDArray[Any]:
        """A column, one value for each split in order."""
        frame = self.frame
        chosen = (
            (frame["dataset"] == dataset) & (frame["model"] == model) & (frame["selection"] == selection)
        )
        values: NDArray[Any] = frame.loc[chosen, column].to_numpy()
        return values

    def warnings(self, model: str, selection: str) -> list[str]:
        """A sentence on the data sets on which fits gave warnings, if there are any."""
        if "warnings" not in self.frame:
            return []
        counts = {
            name: int(self.values(name, model, selection, "warnings").sum())
            for name in self.names(model)
        }
        told = ", ".join(f"{name} ({n})" for name, n in counts.items() if n > 0)
        return [f"Fits that gave a warning, over all splits: {told}."] if told else []

    def ratio(
        self, datasets: Sequence[str], model: str, above: tuple[str, str], below: tuple[str, str]
    ) -> Ratio:
        """The geometric mean over data sets of the ratio of two means; each is (selection, column)."""
        return mean_ratio(
            [self.values(name, model, *above) for name in datasets],
            [self.values(name, model, *below) for name in datasets],
        )


def summarize_table(table: Table, results: Results) -> list[Sheet]:
    """The sheets of a table: errors by data set, choices compared, and errors promised and found."""
    models = [model for model in table.models if results.names(model.name)]
    sheets = [
        _errors(table, model, selection, results)
        for model in models
        for selection in model.selections
        if selection != NESTED_OR_PLAIN  # not in the paper; the other sheets have it
    ]
    for model in models:
        if model.nested:
            sheets += [_choices(table, model, results), _overall(table, model, results)]
    return [*sheets, _disappointment(table, models, results)]


def summarize_shortly(tables: dict[str, Table], results: dict[str, Results]) -> Sheet:
    """The method beside plain cross-validation, in a line for each model; by name of the table."""
    rows: list[tuple[str, ...]] = []
    for name, stored in results.items():
        for model in tables[name].models:
            tests = ((NESTED, "test_error"), (PLAIN, "test_error"))
            counts = {d: len(stored.values(d, model.name, *tests[0])) for d in stored.names(model.name)}
            datasets = [d for d, n in counts.items() if n >= FEWEST_SPLITS]
            if not model.nested or not datasets:
                continue
            printed = {s: _printed(tables[name], model, s) for s in (PLAIN, NESTED)}
            known = [d for d in datasets if d in printed[PLAIN]]
            theirs = [printed[NESTED][d].test_error / printed[PLAIN][d].test_error for d in known]
            ratio = stored.ratio(datasets, model.name, *tests)
            numbers = [counts[d] for d in datasets]
            splits = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
            cells = [
                model.name,
                f"{len(datasets)} x {splits}",
                number(_geometric_mean(theirs)),
                _cell(ratio),
            ]
            for selection in (PLAIN, NESTED):
                promised = ((selection, "reported_error"), (selection, "test_error"))
                lines = [printed[selection][d] for d in known]
                honest = _geometric_mean([line.reported_error / line.test_error for line in lines])
                cells += [number(honest), _cell(stored.ratio(datasets, model.name, *promised))]
            rows.append(tuple(cells))
    header = (
        *("model", "data sets x splits", "test MSE, nested kCV / kCV: paper", "ours"),
        *("promised / test MSE, kCV: paper", "ours", "the same, nested kCV: paper", "ours"),
    )
    notes = ["Geometric means over data sets, with 95 % intervals for new splits of the same data sets."]
    return Sheet("The method beside plain cross-validation", header, rows, notes)


def _cell(ratio: Ratio) -> str:
    return f"{ratio.value:.3f} ({interval(ratio.low, ratio.high)})"


def _errors(table: Table, model: Model, selection: str, results: Results) -> Sheet:
    """Sparsity, reported error and test error on each data set."""
    printed = _printed(table, model, selection)
    has_coef = bool(results.frame.loc[results.frame["model"] == model.name, "sparsity"].notna().any())
    rows = []
    for name in results.names(model.name):
        sparsity, reported, test = (
            results.values(name, model.name, selection, column)
            for column in ("sparsity", "reported_error", "test_error")
        )
        theirs = printed.get(name, paper.Printed(nan, nan, nan))
        sizes = (results.values(name, model.name, selection, column)[0] for column in ("n", "p"))
        rows.append(
            (
                name,
                *map(str, sizes),
                str(len(test)),
                *((number(theirs.sparsity), number(float(sparsity.mean()))) if has_coef else ()),
                number(theirs.reported_error),
                with_error(float(reported.mean()), standard_error(reported)),
                number(theirs.test_error),
                with_error(float(test.mean()), standard_error(test)),
            )
        )
    error = "CV error" if selection == PLAIN else "nested error"
    header = (
        *("data set", "n", "p", "splits"),
        *(("sparsity: paper", "ours") if has_coef else ()),
        *(f"{error}: paper", "ours", "test MSE: paper", "ours"),
    )
    title = f"{_title(model)}, {selection}" if model.nested else _title(model)
    return Sheet(title, header, rows, results.warnings(model.name, selection))


def _choices(table: Table, model: Model, results: Results) -> Sheet:
    """The nested choice's test error over plain cross-validation's, on each data set."""
    plain, nested = (_printed(table, model, selection) for selection in (PLAIN, NESTED))
    rows = []
    for name in results.names(model.name):
        theirs = nested[name].test_error / plain[name].test_error if name in plain else nan
        cells = [name, number(theirs)]
        for selection in (NESTED, NESTED_OR_PLAIN):
            ratio = results.ratio([name], model.name, (selection, "test_error"), (PLAIN, "test_error"))
            same = results.values(name, model.name, selection, "same_choice").mean()
            cells += [with_error(ratio.value, ratio.standard_error), percent(same)]
        rows.append(tuple(cells))
    header = ("data set", "paper", "ours", "same choice", "ours, weight 0 too", "same choice")
    return Sheet(f"{_title(model)}: test MSE of nested kCV over that of kCV", header, rows)


def _overall(table: Table, model: Model, results: Results) -> Sheet:
    """The same over groups of data sets."""
    plain, nested = (_printed(table, model, selection) for selection in (PLAIN, NESTED))
    rows: list[tuple[str, ...]] = []
    notes = []
    names = results.names_with_errors(model.name)
    own_name = model.in_paper or model.name
    for group, members in _groups(names).items():
        theirs = _geometric_mean(
            [nested[d].test_error / plain[d].test_error for d in members if d in plain]
        )
        for selection in (NESTED, NESTED_OR_PLAIN):
            same = np.concatenate(
                [results.values(d, model.name, selection, "same_choice") for d in members]
            )
            ratio = results.ratio(members, model.name, (selection, "test_error"), (PLAIN, "test_error"))
            is_paper, is_all = selection == NESTED, set(members) == set(NAMES)
            rows.append(
                (
                    f"{group} ({len(members)})",
                    selection,
                    number(theirs if is_paper else nan),
                    with_error(ratio.value, ratio.standard_error),
                    interval(ratio.low, ratio.high),
                    interval(ratio.far_low, ratio.far_high),
                    percent(paper.SAME_CHOICE.get(own_name, nan) if is_paper and is_all else nan),
                    percent(float(same.mean())),
                )
            )
            if group == "all":
                notes.append(_verdict(selection, ratio))
    header = (
        *("data sets", "selection", "paper", "ours", "95 %, new splits"),
        *("95 %, new data sets too", "same choice: paper", "ours"),
    )
    title = f"{_title(model)}: geometric mean over data sets of test MSE over that of kCV"
    return Sheet(title, header, rows, notes)


def _disappointment(table: Table, models: list[Model], results: Results) -> Sheet:
    """Reported over test error, over all data sets."""
    rows: list[tuple[str, ...]] = []
    for model in models:
        names = results.names_with_errors(model.name)
        promises = [(s, "reported_error", s) for s in model.selections]
        if model.nested:
            promises.insert(1, (PLAIN, "nested_error", f"{PLAIN}, its nested error"))
        for selection, column, text in promises:
            ratio = results.ratio(names, model.name, (selection, column), (selection, "test_error"))
            printed = _printed(table, model, selection) if column == "reported_error" else {}
            theirs = [printed[d].reported_error / printed[d].test_error for d in names if d in printed]
            rows.append(
                (
                    f"{_title(model)}, {text}" if model.nested else _title(model),
                    number(_geometric_mean(theirs)),
                    with_error(ratio.value, ratio.standard_error),
                    interval(ratio.low, ratio.high),
                    interval(ratio.far_low, ratio.far_high),
                )
            )
    header = ("method", "paper", "ours", "95 %, new splits", "95 %, new data sets too")
    notes = ["Below 1 the test error is larger than what was promised: the user is disappointed."]
    return Sheet(
        "Disappointment: geometric mean over data sets of reported error over test MSE",
        header,
        rows,
        notes,
    )


def _printed(table: Table, model: Model, selection: str) -> dict[str, paper.Printed]:
    """What the paper prints; nothing of selections and tables that it does not have."""
    return paper.TABLES.get(table.name, {}).get((model.in_paper or model.name, selection), {})


def _title(model: Model) -> str:
    return f"{model.name} (paper: {model.in_paper})" if model.in_paper else model.name


def _groups(names: list[str]) -> dict[str, list[str]]:
    groups = {
        "all": names,
        "without alcohol2": [name for name in names if name != "alcohol2"],
        "overdetermined": [name for name in names if name in paper.OVERDETERMINED],
        "underdetermined": [name for name in names if name in paper.UNDERDETERMINED],
    }
    return {group: members for group, members in groups.items() if members}


def _geometric_mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else nan


def _verdict(selection: str, ratio: Ratio) -> str:
    """A ratio of test errors in words."""
    change = f"{abs(ratio.value - 1):.1%} {'lower' if ratio.value < 1 else 'higher'}"
    if change.startswith("0.0%"):
        change = "not 0.1% lower or higher"
    if isnan(ratio.low):
        return f"{selection}: test MSE {change} than that of kCV, on one split: that tells little."
    between = f"(95 % interval of the ratio: {interval(ratio.low, ratio.high)})"
    if ratio.low <= 1 <= ratio.high:
        return (
            f"{selection}: test MSE {change} than that of kCV {between}. "
            "That may be chance: no difference was shown."
        )
    others = "On other data sets it may be different." if ratio.far_low <= 1 <= ratio.far_high else ""
    return f"{selection}: test MSE {change} than that of kCV {between}. {others}".strip()
