"""Failures: the fits and scores that failed, counted by their error and told once."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import FitFailedWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HOW_TO_SEE_ALL", "Failures"]

HOW_TO_SEE_ALL = "With verbose=1 or more the whole tracebacks are shown."

QUOTED = 3  # different errors that are quoted
STACK = 4  # from a warning here to the caller of ``fit``


class Failures:
    """Counts fits, and the errors of those that failed; results do not depend on their order."""

    def __init__(self) -> None:
        self.n_fits = 0
        self._fits: Counter[str] = Counter()
        self._scorings: Counter[str] = Counter()
        self._first: dict[str, tuple[int, dict[str, Any]]] = {}

    def count(
        self, n_fits: int, fits: Iterable[tuple[int, dict[str, Any], str]], scorings: Iterable[str]
    ) -> None:
        """Take note of fits: of those that failed the candidate, its settings and the traceback."""
        self.n_fits += n_fits
        for candidate, settings, error in fits:
            self._fits[error] += 1
            if error not in self._first or candidate < self._first[error][0]:
                self._first[error] = (candidate, settings)
        self._scorings.update(scorings)

    def report(self, error_score: float | str, *, any_worked: bool, in_full: bool) -> None:
        """Warn once of the fits and once of the scores that failed; raise if none worked."""
        n_failed = self._fits.total()
        if n_failed and not any_worked:
            wrong_type = all(last_line(error).startswith("TypeError") for error in self._fits)
            raise (TypeError if wrong_type else ValueError)(
                f"All the {n_failed} fits failed: your model is misconfigured for these data or "
                "this grid. Set error_score='raise' to stop at the first error.\n\n"
                f"Below are more details:\n{self._details(in_full=in_full)}"
            )
        if n_failed:
            warnings.warn(
                f"\n{n_failed} fits failed out of a total of {self.n_fits}.\n"
                "The score on these train-test partitions for these parameters will be set to "
                f"{error_score}.\nIf these failures are not expected, you can try to debug them by "
                "setting error_score='raise'.\n\nBelow are more details about the failures:\n"
                f"{self._details(in_full=in_full)}",
                FitFailedWarning,
                stacklevel=STACK,
            )
        if self._scorings:
            error = min(self._scorings, key=lambda error: (-self._scorings[error], error))
            warnings.warn(
                f"Scoring failed {self._scorings.total()} times. The score on these train-test "
                f"partitions for these parameters will be set to {error_score}. The most frequent "
                f"error:\n{error if in_full else last_line(error)}",
                UserWarning,
                stacklevel=STACK,
            )

    def _details(self, *, in_full: bool) -> str:
        """The most frequent errors: their last lines, or all of them."""
        told: Counter[str] = Counter()
        first: dict[str, tuple[int, dict[str, Any]]] = {}
        for error, number in self._fits.items():
            text = error.strip() if in_full else last_line(error)
            told[text] += number
            first[text] = min(
                first.get(text, self._first[error]), self._first[error], key=lambda f: f[0]
            )
        ordered = sorted(told, key=lambda text: (-told[text], first[text][0]))
        lines = [
            f"{'-' * 80}\n{told[text]} fits failed with the following error, first for "
            f"{first[text][1]}:\n{text}\n"
            for text in ordered[:QUOTED]
        ]
        if len(ordered) > QUOTED:
            lines.append(f"{'-' * 80}\nand {len(ordered) - QUOTED} other errors.")
        return "".join(lines) + ("" if in_full else f"\n{HOW_TO_SEE_ALL}")


def last_line(text: str) -> str:
    """What went wrong, without the way there: the line of a traceback after the last frame."""
    lines = text.strip().split("\n")
    for before, line in zip(lines[-2::-1], lines[:0:-1], strict=False):
        if before.startswith("  ") and not line.startswith(" "):
            return line
    return lines[0]
