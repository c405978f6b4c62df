"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from steadycv.cli.compare import compare
from steadycv.cli.errors import say_error
from steadycv.cli.predict import predict
from steadycv.cli.reproduce import reproduce
from steadycv.cli.tune import tune

__all__ = ["app"]


class Commands(TyperGroup):
    """The commands; a wrong option or value is told in one line, as all other errors are."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            message = str(error.format_message()).rstrip(".")
            say_error(f"{message}. See steadycv {ctx.invoked_subcommand or ''} --help.")
            raise typer.Exit(2) from None


app = typer.Typer(
    name="steadycv",
    cls=Commands,
    help="Hyperparameters that are steady, and honestly reported.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"steadycv {version('steadycv')}")
        raise typer.Exit


@app.callback()
def _of_all(
    version: Annotated[  # its callback has done all
        bool,
        typer.Option(
            "--version",
            metavar="",
            help="Say which release this is.",
            callback=_say_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Hyperparameters that are steady, and honestly reported."""


app.command()(tune)
app.command()(predict)
app.command()(compare)
app.command()(reproduce)
