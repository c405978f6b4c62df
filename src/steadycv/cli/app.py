"""The commands, put together."""

from __future__ import annotations

import typer

from steadycv.cli.compare import compare
from steadycv.cli.reproduce import reproduce

__all__ = ["app"]

app = typer.Typer(
    name="steadycv",
    help="Hyperparameters that are steady, and honestly reported.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(reproduce)
app.command()(compare)
