"""Progress on the terminal: a bar, or a line for every fit."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.fitting import Fit, Job

__all__ = ["FitLines", "ProgressBar"]


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
            console=Console(stderr=True),
        )
        self._bar = self._progress.add_task("fit", total=0)
        self._total = 0

    def start(self, jobs: Sequence[Job]) -> None:
        """Jobs begin."""
        self._total += len(jobs)
        self._progress.update(self._bar, total=self._total)
        self._progress.start()

    def fitted(self, job: Job, fit: Fit) -> None:  # noqa: ARG002
        """A job is done."""
        self._progress.advance(self._bar)

    def complete(self, candidate: int) -> None:
        """Nothing to show."""

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class FitLines:
    """A line on standard output for every fit, with its score (``verbose=2`` and more)."""

    def __init__(self, candidates: list[dict[str, Any]], *, with_scores: bool) -> None:
        self._candidates = candidates
        self._with_scores = with_scores

    def start(self, jobs: Sequence[Job]) -> None:
        """Jobs begin."""
        n_models = sum(len(job.candidates) for job in jobs)
        n_candidates = len(np.unique(np.concatenate([job.candidates for job in jobs])))
        print(f"Fitting {n_models} models for {n_candidates} candidates")

    def fitted(self, job: Job, fit: Fit) -> None:
        """A job is done."""
        repeat, left_out = job.training_set
        where = f"without folds {', '.join(map(str, left_out))} of repeat {repeat}"
        for row, candidate in enumerate(job.candidates):
            params = self._candidates[candidate]
            settings = ", ".join(f"{name}={params[name]}" for name in sorted(params))
            parts = [where if left_out else "all data", settings]
            if row in fit.failures:
                parts.append("failed")
            elif self._with_scores:
                parts += [_score_text(name, fit, row) for name in sorted(fit.test_scores)]
            print("; ".join(part for part in parts if part))

    def complete(self, candidate: int) -> None:
        """Nothing to show."""


def _score_text(name: str, fit: Fit, row: int) -> str:
    test = f"{fit.test_scores[name][row]:.3f}"
    if name in fit.train_scores:
        return f"{name}=(train={fit.train_scores[name][row]:.3f}, test={test})"
    return f"{name}={test}"
