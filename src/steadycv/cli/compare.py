"""``steadycv compare``: which selection serves best on one's own data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated

import typer

from steadycv.cli.errors import told_in_one_line
from steadycv.cli.interruption import interruptible

__all__ = ["compare"]


def compare(
    data: Annotated[
        Path, typer.Argument(help="A table: CSV, Excel, Parquet, SQLite, ...", show_default=False)
    ],
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
        from steadycv.cli.run_compare import run_compare

        with interruptible():
            run_compare(data, target, model, splits=splits, jobs=jobs, seed=seed, out=out)
