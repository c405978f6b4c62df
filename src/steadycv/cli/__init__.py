"""The command line: ``steadycv``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from steadycv.cli.interruption import leave_when_interrupted

__all__ = ["main"]

NEEDED = ("jinja2", "pandas", "skops", "typer", "yaml")


def main() -> None:
    """Run the command line; without the packages that it needs, say what to install."""
    leave_when_interrupted()
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"steadycv: The command line needs {', '.join(missing)}: pip install 'steadycv[cli]'.",
            file=sys.stderr,
        )
        sys.exit(2)
    from steadycv.cli.app import app

    app()
