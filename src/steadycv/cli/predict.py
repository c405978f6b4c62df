"""``steadycv predict``: predictions of a saved model."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated

import typer

from steadycv.cli.errors import told_in_one_line
from steadycv.cli.interruption import interruptible

__all__ = ["predict"]


def predict(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model.skops that tune wrote.", show_default=False),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A table: CSV, Excel, Parquet, SQLite, ...; - for standard input.",
            show_default=False,
        ),
    ],
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Sheet or table of DATA, or a SELECT.", show_default=False),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Add ends, or a set, that should hold this share of the truth, as 0.9.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A CSV file for the predictions (standard output)."),
    ] = None,
) -> None:
    """Predict with a saved model.

    Writes CSV with a row for each row of the table: the prediction and, for classes, the probability
    of each; with --interval also where the truth should be. Columns that the model needs must be
    there; others are named on standard error.
    """
    with told_in_one_line():
        from steadycv.cli.run_predict import run_predict

        with interruptible():
            run_predict(model, data, out, interval, table)
