"""Errors of the user, told in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from steadycv.cli.interruption import EXIT_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Interruption", "UserError", "one_line", "say_error", "told_in_one_line"]


class UserError(Exception):
    """What a user asked for cannot be done; the message says why, and what can."""


class Interruption(Exception):  # noqa: N818  # it is none
    """Somebody stopped the work; the message says how to go on."""

    def __init__(self, message: str, exit_code: int = EXIT_CODE) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    @classmethod
    def by(cls, stop: BaseException, message: str) -> Interruption:
        """What Ctrl-C or SIGTERM, which becomes a SystemExit, is told as."""
        code = stop.code if isinstance(stop, SystemExit) else None
        return cls(message, code) if isinstance(code, int) else cls(message)


@contextmanager
def told_in_one_line(*errors: type[Exception]) -> Iterator[None]:
    """Print what the user can do something about as one line on standard error; the exit code is 2.

    Besides errors of the user, of imports and of files, these are the `errors` that are named.
    """
    told: tuple[type[Exception], ...] = (UserError, ImportError, OSError, *errors)
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads on: Typer ends the command in silence
    except told as error:
        say_error(str(error))
        raise typer.Exit(2) from None
    except ValueError as error:
        from steadycv.tables.errors import TableError  # not before there is one

        if not isinstance(error, TableError):
            raise
        say_error(str(error))
        raise typer.Exit(2) from None
    except Interruption as interruption:
        say_error(str(interruption))
        raise typer.Exit(interruption.exit_code) from None
    except KeyboardInterrupt:
        say_error("Interrupted. What is done is kept: the same command goes on.")
        raise typer.Exit(EXIT_CODE) from None


def say_error(message: str) -> None:
    """Print a line on standard error."""
    typer.echo(f"steadycv: {one_line(message)}", err=True)


def one_line(text: str) -> str:
    """A text that a terminal shows as it is: without line breaks and control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
