"""Errors in units that people use: a typical miss, a share of right answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.words import number

if TYPE_CHECKING:
    from steadycv.error_words import ErrorWords

__all__ = ["HumanUnits"]

DIGITS = 3  # of a number that is made of the error
IN_TARGET_UNITS = " in the units of the target"
AREAS = ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted")
SHARES_EXPLAINED = ("r2", "r2_score", "explained_variance")


@dataclass(frozen=True)
class HumanUnits:
    """What an error is told as, before the error itself.

    Attributes
    ----------
    noun : str
        What it is: a typical miss, an accuracy, or the name of what is measured.
    unit : str
        What follows the number in a sentence.
    kind : {"root", "same", "share right", "percent", "minus"}
        How it is made of an error.

    Examples
    --------
    >>> miss = HumanUnits("typical miss", IN_TARGET_UNITS, "root")
    >>> miss.text(3903.0)
    '62.5'
    >>> HumanUnits("accuracy", "", "share right").range([0.02, 0.041])
    '95.9% to 98.0%'
    """

    noun: str
    unit: str = ""
    kind: str = "same"

    @classmethod
    def of(cls, words: ErrorWords) -> HumanUnits:
        """The units for the errors of a search."""
        if words.is_score:
            return cls(words.name, kind="minus")
        known = {
            "mean squared error": cls("typical miss", IN_TARGET_UNITS, "root"),
            "root mean squared error": cls("typical miss", IN_TARGET_UNITS),
            "mean absolute error": cls("average miss", IN_TARGET_UNITS),
            "median absolute error": cls("middle miss", IN_TARGET_UNITS),
            "mean absolute percentage error": cls("average miss", " of the target", "percent"),
            "share of wrong predictions": cls("accuracy", kind="share right"),
        }
        return known.get(words.name) or cls(words.name)

    @property
    def is_other_number(self) -> bool:
        """Whether the number that is told is another one than the error."""
        return self.kind in ("root", "share right")

    def value(self, error: Any) -> Any:
        """The number or the numbers that are told."""
        if self.kind == "root":
            return np.sqrt(error)
        if self.kind == "share right":
            return 1.0 - np.asarray(error)
        return 0.0 - np.asarray(error) if self.kind == "minus" else error

    def text(self, error: float) -> str:
        """The number of one error."""
        value = float(self.value(error))
        if self.kind in ("share right", "percent"):
            return f"{value:.1%}"
        return number(value, DIGITS if self.is_other_number else 4)

    def range(self, errors: Any) -> str:
        """From the lowest to the highest number of several errors."""
        return " to ".join(self.text(end) for end in sorted([min(errors), max(errors)], key=self.value))

    def meaning(self, error: float) -> str:
        """What is to be known of the number; empty where the noun says it."""
        if self.kind == "minus":
            if self.noun in AREAS:
                return "1 would be perfect, and 0.5 is guessing"
            if self.noun in SHARES_EXPLAINED:
                return "1 would be perfect, and 0 is predicting the mean"
            return "the higher the better"
        if self.noun == "log loss":
            return (
                "0 would be perfect; what really happened was given a probability of "
                f"{math.exp(-error):.0%} on (geometric) average"
            )
        return "" if self.unit or self.kind == "share right" else "0 would be perfect"
