"""Running a table: every model on every split of every data set."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv import datasets
from steadycv.experiments.result_file import ResultFile, Unit
from steadycv.experiments.running import fingerprint_of, run_units
from steadycv.experiments.splits import random_split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steadycv.experiments.models import Tuned
    from steadycv.experiments.splits import Split
    from steadycv.experiments.tables import Table

__all__ = ["COLUMNS", "KEY", "run_table", "split_unit"]

KEY = ("table", "dataset", "split", "model")
COLUMNS = (
    "seed",
    "n",
    "p",
    "selection",
    "parameters",
    "weight",
    "sparsity",
    "reported_error",
    "nested_error",
    "test_error",
    "same_choice",
    "warnings",
    "seconds",
)


def run_table(
    table: Table,
    path: Path,
    *,
    n_splits: int | None = None,
    names: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = False,
    load: Callable[[str], tuple[Any, NDArray[np.float64]]] | None = None,
) -> None:
    """Run a table, or go on with it; its rows are in a CSV file.

    Parameters
    ----------
    table : Table
        One of ``steadycv.experiments.TABLES``.
    path : Path
        The file. A row is a selection by a model on a split of a data set; what is there already is not
        done again.
    n_splits : int, optional
        How many splits of each data set; by default as many as in the paper, or as the table says.
    names : sequence of str, optional
        The data sets; all 13 by default.
    models : sequence of str, optional
        The models of the table, by name; all by default.
    seed : int, default=0
        The splits, and with them all results, depend on it.
    jobs : int, default=1
        How many processes work at a time.
    progress : bool, default=False
        Whether there is a bar on standard error.
    load : callable, optional
        Gives data and target by the name of a data set; :func:`steadycv.datasets.load` by default.
    """
    known = [model.name for model in table.models]
    unknown = sorted(set(models or ()) - set(known))
    if unknown:
        raise ValueError(f"{table.name} has no model {unknown[0]!r}; it has {', '.join(known)}.")
    chosen = [model for model in table.models if models is None or model.name in models]
    if load is None:
        load = partial(datasets.load, return_X_y=True)
    data = {name: load(name) for name in names or datasets.NAMES}
    fingerprints = {
        (name, model.name): fingerprint_of(seed, X, y, model.configuration(X, y))
        for name, (X, y) in data.items()
        for model in chosen
    }
    wanted = {model.name: n_splits or table.fewer.get(model.name, table.n_splits) for model in chosen}
    # Splits in the outermost loop: when interrupted, all data sets have got equally far.
    units = [
        split_unit(table.name, model, name, data[name], number, seed, fingerprints[name, model.name])
        for number in range(max(wanted.values()))
        for name in data
        for model in chosen
        if number < wanted[model.name]
    ]
    with ResultFile(path, KEY, COLUMNS, seed=seed) as file:
        run_units(units, file, jobs=jobs, progress=progress)


def split_unit(
    table: str,
    model: Tuned,
    dataset: str,
    data: tuple[Any, NDArray[np.float64]],
    number: int,
    seed: int,
    fingerprint: str,
) -> Unit:
    """One model on one split."""
    key = {"table": table, "dataset": dataset, "split": number, "model": model.name}
    work = partial(_run_split, model, dataset, data, number, seed)
    return Unit(key, fingerprint, len(model.selections), work)


def _run_split(
    model: Tuned, dataset: str, data: tuple[Any, NDArray[np.float64]], number: int, seed: int
) -> list[dict[str, Any]]:
    split: Split = random_split(*data, dataset, number, seed)
    n_samples, n_features = np.shape(data[0])
    shared = {"seed": seed, "n": n_samples, "p": n_features}
    return [
        shared | outcome._asdict() | {"parameters": json.dumps(outcome.parameters, default=repr)}
        for outcome in model.run(split)
    ]
