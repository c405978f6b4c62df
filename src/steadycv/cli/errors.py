"""Errors of the user, told in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from steadycv.experiments.pages import PageError
from steadycv.experiments.result_file import WrongResultsError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Interruption", "UserError", "one_line", "say_error", "told_in_one_line"]


class UserError(Exception):
    """What a user asked for cannot be done; the message says why, and what can."""


class Interruption(Exception):  # noqa: N818  # it is none
    """The user stopped the work; the message says how to go on."""


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Print what the user can do something about as one line on standard error; the exit code is 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads on: Typer ends the command in silence
    except (UserError, WrongResultsError, PageError, ImportError, OSError) as error:
        say_error(str(error))
        raise typer.Exit(2) from None
    except Interruption as interruption:
        say_error(str(interruption))
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        say_error("Interrupted. What is done is kept: the same command goes on.")
        raise typer.Exit(130) from None


def say_error(message: str) -> None:
    """Print a line on standard error."""
    typer.echo(f"steadycv: {one_line(message)}", err=True)


def one_line(text: str) -> str:
    """A text that a terminal shows as it is: without line breaks and control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
