"""``steadycv reproduce``: the paper's tables and figures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steadycv.cli.errors import told_in_one_line
from steadycv.cli.interruption import interruptible

__all__ = ["Experiment", "reproduce"]


class Experiment(StrEnum):
    """What there is to reproduce."""

    table1 = "table1"
    table2 = "table2"
    table3 = "table3"
    figure1 = "figure1"
    figure2 = "figure2"


def reproduce(
    what: Annotated[Experiment, typer.Argument(help="Which table or figure.", show_default=False)],
    splits: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Splits of each data set (the paper's; 10 for XGBoost), or seeds of a figure (20).",
        ),
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Names of data sets, with commas between (all 13).")
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Names of models of the table, with commas between (all).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes work at a time.")] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The splits of a table depend on it (0).")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the results.")] = Path("results"),
    summary_only: Annotated[
        bool, typer.Option("--summary-only", metavar="", help="Run nothing; show what is stored.")
    ] = False,
    docs: Annotated[
        Path | None, typer.Option(help="A page to put the results into, between its markers.")
    ] = None,
) -> None:
    """Run a table or figure of the paper again, and show it beside the paper's figures.

    Results are kept in a CSV file as they come: after an interruption the same command goes on, and
    with more splits it adds to what is there.
    """
    with told_in_one_line():
        from steadycv.cli.run_reproduce import run_reproduce

        with interruptible():
            run_reproduce(
                what.value,
                splits=splits,
                datasets=datasets,
                models=models,
                jobs=jobs,
                seed=seed,
                out=out,
                run=not summary_only,
                docs=docs,
            )
