"""Progress: a bar on the terminal, a picture in a notebook, or a line for every fit."""

from __future__ import annotations

from contextlib import AbstractContextManager
from itertools import product
from typing import TYPE_CHECKING, Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from steadycv.lattice_view import LatticeView, is_notebook
from steadycv.scores import BEYOND
from steadycv.steps import heard_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.lattice import Lattice
    from steadycv.ledger import Ledger
    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["FitLines", "ProgressBar", "progress"]


def progress(ledger: Ledger) -> ProgressBar | LatticeView:
    """A bar on the terminal; in a notebook the lattice, which fills."""
    return LatticeView(ledger) if is_notebook() else ProgressBar()


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A bar on standard error with the fits done and to go (``verbose=1``).

    An adaptive search learns on the way what it has to fit, so its total grows.
    """

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("Fitting"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("fits, time left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[step]}"),
            console=Console(stderr=True),
        )
        self._bar = self._progress.add_task("fit", total=0, step="")
        self._total = 0
        self._hearing = heard_by(self._told)

    def grown(self) -> None:
        """There are more candidates."""

    def start(self, tasks: Sequence[Task]) -> None:
        """Tasks begin."""
        self._total += sum(len(task.training_sets) for task in tasks)
        self._progress.update(self._bar, total=self._total)
        self._progress.start()

    def fitted(self, task: Task, cells: Cells) -> None:  # noqa: ARG002
        """A task is done with some training sets."""
        self._progress.update(self._bar, advance=len(cells.training_sets), step="")

    def _told(self, step: str) -> None:
        """A task is at a step of its own."""
        self._progress.update(self._bar, step=f"({step})")

    def __enter__(self) -> Self:
        self._hearing.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._hearing.__exit__(None, None, None)
        self._progress.stop()


class FitLines:
    """A line on standard output for every fit, with its score (``verbose=2`` and more)."""

    def __init__(self, lattice: Lattice, *, with_scores: bool) -> None:
        self._lattice = lattice
        self._with_scores = with_scores

    def grown(self) -> None:
        """There are more candidates."""

    def start(self, tasks: Sequence[Task]) -> None:
        """Tasks begin."""
        n_models = sum(len(task.candidates) * len(task.training_sets) for task in tasks)
        n_candidates = len(np.unique(np.concatenate([task.candidates for task in tasks])))
        print(f"Fitting {n_models} models for {n_candidates} candidates")

    def fitted(self, task: Task, cells: Cells) -> None:
        """A task is done with some training sets."""
        for training_set, (row, params) in product(cells.training_sets, enumerate(task.settings)):
            settings = ", ".join(f"{name}={params[name]}" for name in sorted(params))
            parts = [self._lattice.name(training_set), settings]
            if row in cells.failures:
                parts.append("failed")
            elif self._with_scores:
                parts += [
                    _score_text(name, split, cells, row) for name, split in sorted(cells.test_scores)
                ]
            print("; ".join(part for part in parts if part))


def _score_text(name: str, split: int, cells: Cells, row: int) -> str:
    test = _number(cells.test_scores[name, split][row])
    if (name, split) in cells.train_scores:
        return f"{name}=(train={_number(cells.train_scores[name, split][row])}, test={test})"
    return f"{name}={test}"


def _number(score: float) -> str:
    return f"{score:.3f}" if score < BEYOND else "inf"
