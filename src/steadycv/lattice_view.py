"""A view in a notebook that fills while a search works: candidates by training sets."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from steadycv.lattice_picture import LatticeErrors, lattice_svg
from steadycv.notebook_style import CLASS, style
from steadycv.steps import heard_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.ledger import Ledger
    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["LatticeView", "is_notebook"]

EVERY = 0.4  # seconds, at least, between two pictures


def is_notebook() -> bool:
    """Whether this runs in a notebook's kernel, whose pictures can change."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class LatticeView(AbstractContextManager["LatticeView"]):
    """The lattice as far as it is filled (``verbose=1`` in a notebook).

    Parameters
    ----------
    ledger : Ledger
        What is known, which grows while the search works.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._handle: Any = None
        self._shown_at = 0.0
        self._n_fits = self._n_wanted = 0
        self._step = ""
        self._hearing = heard_by(self._told)

    def grown(self) -> None:
        """There are more candidates."""

    def start(self, tasks: Sequence[Task]) -> None:
        """Tasks begin."""
        self._n_wanted += sum(len(task.training_sets) for task in tasks)
        self._show()

    def fitted(self, task: Task, cells: Cells) -> None:  # noqa: ARG002
        """A task is done with some training sets."""
        self._n_fits += len(cells.training_sets)
        self._step = ""
        if time.monotonic() - self._shown_at > EVERY:
            self._show()

    def _told(self, step: str) -> None:
        """A task is at a step of its own."""
        self._step = f" ({step})"
        if time.monotonic() - self._shown_at > EVERY:
            self._show()

    def __enter__(self) -> Self:
        self._hearing.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._hearing.__exit__(None, None, None)
        self._step = ""
        if self._handle is not None:
            self._show()

    def _show(self) -> None:
        ipython: Any = import_module("IPython.display")  # there is one, where there is a kernel
        picture = ipython.HTML(self._html())
        if self._handle is None:
            self._handle = ipython.display(picture, display_id=True)
        else:
            self._handle.update(picture)
        self._shown_at = time.monotonic()

    def _html(self) -> str:
        data = LatticeErrors.of(self._ledger)
        told = (
            f"{self._n_fits} of {self._n_wanted} fits, for {len(data.error):,} candidates on "
            f"{len(data.depth)} training sets{self._step}"
        )
        return f'<div class="{CLASS}">{style()}<p>{told}. {data.explained}</p>{lattice_svg(data)}</div>'
