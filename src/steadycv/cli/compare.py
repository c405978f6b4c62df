"""``steadycv compare``: which selection serves best on one's own data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from steadycv.cli.data_files import name_of, read_table
from steadycv.cli.errors import Interruption, told_in_one_line
from steadycv.cli.models import find_model
from steadycv.cli.preparation import find_columns
from steadycv.cli.targets import Task, features_and_target
from steadycv.experiments.comparison import run_comparison
from steadycv.experiments.summary import read_results
from steadycv.experiments.verdict import judge

__all__ = ["compare"]


def compare(
    data: Annotated[Path, typer.Argument(help="A table: CSV, TSV or Parquet.", show_default=False)],
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    model: Annotated[str, typer.Option(help="A model of tune that predicts numbers.")] = "cart",
    splits: Annotated[int, typer.Option(min=2, help="How many random splits.")] = 50,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes work at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The splits depend on it.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A CSV file to keep the results in, and to go on from.")
    ] = None,
) -> None:
    """Compare ways to choose hyperparameters on your own data.

    A model is tuned on random nine tenths of the rows, by plain cross-validation (kCV), by nested
    stability regularized cross-validation, by the rule of one standard error and with fixed stability
    weights; what each chose is tried on the other tenth.
    """
    with told_in_one_line():
        chosen = find_model(model, Task.regression)
        features, found = features_and_target(read_table(data), target, Task.regression)
        X, columns = find_columns(features)
        compared = chosen.on(model, columns)
        compared.estimator()  # says what is not installed
        console, name = Console(), Path(name_of(data)).name
        with tempfile.TemporaryDirectory() as folder:
            path = out or Path(folder) / "results.csv"
            try:
                run_comparison(
                    compared,
                    X,
                    found.y,
                    path,
                    name=name,
                    n_splits=splits,
                    seed=seed,
                    jobs=jobs,
                    progress=True,
                )
            except KeyboardInterrupt:
                if out:
                    raise
                kept = "Interrupted. Nothing is kept; with --out FILE.csv the same command would go on."
                raise Interruption(kept) from None
            results = read_results(path)
        verdict = judge(results.only(n_splits=splits), name, model, compared.selections)
        for line in columns.in_words():
            console.print(line, markup=False, highlight=False)
        console.print(verdict.sheet.to_rich(console.width))
        for line in verdict.words:
            console.print(line, markup=False, highlight=False)
        if out:
            console.print(f"Results: {out}", markup=False, highlight=False)
