"""Errors of the user, told in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from steadycv.experiments.pages import PageError
from steadycv.experiments.result_file import WrongResultsError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["UserError", "told_in_one_line"]


class UserError(Exception):
    """What a user asked for cannot be done; the message says why, and what can."""


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Print what the user can do something about as one line on standard error; the exit code is 2."""
    try:
        yield
    except (UserError, WrongResultsError, PageError, ImportError, OSError) as error:
        typer.echo(f"steadycv: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("steadycv: Interrupted. What is done is kept: the same command goes on.", err=True)
        raise typer.Exit(130) from None
