"""What to expect on new data, in words: human units first, and the error behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadycv.error_words import ErrorWords, with_article
from steadycv.human_units import HumanUnits
from steadycv.promises import OF_CHOICE
from steadycv.split_words import SplitWords
from steadycv.words import number

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["Expected"]

FEWEST_JUDGED = 10  # rows of a split: of fewer, one error says nothing of a range


@dataclass(frozen=True)
class Expected:
    """What is promised of what was delivered; errors are minus the score where one drives.

    Attributes
    ----------
    error : float or None
        The promise; None where there is none.
    interval : tuple of float or None
        Its interval.
    reason : str
        Why it is that figure, or that there is none and why.
    of_choice : float or None
        What is promised of the choice itself, whatever was delivered.
    by_view : tuple of float
        The error on the rows of each view; empty where there is none, or where it says nothing.
    words : ErrorWords
        The words for errors.
    human : HumanUnits
        What they are told as.
    split : str
        What to call a split.
    """

    error: float | None
    interval: tuple[float, float] | None
    reason: str
    of_choice: float | None
    by_view: tuple[float, ...]
    words: ErrorWords
    human: HumanUnits
    split: str

    @classmethod
    def of(cls, search: StabilitySearchCV) -> Expected:
        """What a fitted search promises."""
        words = ErrorWords.of(search)
        last = (words, HumanUnits.of(words), SplitWords.of(search.lattice_).word)
        try:
            error = search.promise_
        except AttributeError as none:
            return cls(None, None, str(none), None, (), *last)
        reason, of_choice = search.promise_reason_, search.offers_["model"].promise
        return cls(error, _interval(search), reason, of_choice, _by_view(search), *last)

    @property
    def is_of_choice(self) -> bool:
        """Whether the choice is so much worse than what was tried that its own error is promised."""
        return self.reason == OF_CHOICE

    @property
    def value(self) -> str:
        """The number to tell people, in human units."""
        return "not known" if self.error is None else self.human.text(self.error)

    @property
    def over_splits(self) -> str:
        """Its range over the splits; empty where that is not known."""
        return f"{self.human.range(self.by_view)} over the {self.split}s" if self.by_view else ""

    @property
    def nine_in_ten(self) -> str:
        """Where the error should be nine times in ten; empty where that is not known."""
        if self.interval is None:
            return ""
        low, high = sorted(self.words.shown(end) for end in self.interval)
        return f"{number(low)} to {number(high)}"

    @property
    def meaning(self) -> str:
        """What is to be known of the number; empty where its noun says it."""
        return "" if self.error is None else self.human.meaning(self.error)

    @property
    def behind(self) -> str:
        """The error behind the number, in a sentence; empty where the number is the error."""
        if self.error is None or not self.human.is_other_number:
            return ""
        sure = f" ({self.nine_in_ten}, nine times in ten)" if self.interval else ""
        return f"The {self.words.name} behind it is about {number(self.error)}{sure}."

    @property
    def sentence(self) -> str:
        """What to expect, or why that is not known."""
        if self.error is None:
            return self.reason
        ranges = [self.over_splits]
        if self.interval is not None and not self.human.is_other_number:
            ranges.append(f"{self.nine_in_ten}, nine times in ten")
        within = "; ".join(filter(None, ranges))
        told = (
            f"On new data expect {with_article(self.human.noun)} of about {self.value}{self.human.unit}"
            f"{f' ({within})' if within else ''}{f': {self.meaning}' if self.meaning else ''}."
        )
        return f"{told} {self.behind}".strip()


def _interval(search: StabilitySearchCV) -> tuple[float, float] | None:
    try:
        low, high = search.promise_interval_
    except ValueError:  # one view, and no losses
        return None
    return (low, high) if np.isfinite([low, high]).all() else None


def _by_view(search: StabilitySearchCV) -> tuple[float, ...]:
    lattice = search.lattice_
    sizes = [len(lattice.splits[view.test_split].test) for view in lattice.views]
    if len(sizes) < 2 or min(sizes) < FEWEST_JUDGED or search.deliver not in search.offers_:
        return ()
    errors = search.offers_[search.deliver].errors
    return tuple(errors.tolist()) if len(errors) == len(sizes) and np.isfinite(errors).all() else ()
