"""The command line: ``steadycv``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the packages that it needs, say what to install."""
    try:
        import pandas  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"steadycv: {error}. Install what the command line needs: pip install 'steadycv[cli]'.",
            file=sys.stderr,
        )
        sys.exit(2)
    from steadycv.cli.app import app

    app()
