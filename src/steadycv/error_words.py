"""How the errors of a search are told to people: as errors, or as the scores that they are minus of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from steadycv._compat import parts_of_scorer
from steadycv.words import loss_name, number

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["ErrorWords", "with_article"]

LEAST_SHARE = 0.0005  # that is not 0.0%
TIE = 1e-12  # scores closer than this are one score summed in another order


@dataclass(frozen=True)
class ErrorWords:
    """The words for the errors of a search.

    Attributes
    ----------
    name : str
        What is measured: the mean of a loss, or a score.
    noun : str
        What to call one number in a sentence: an error, or the name of the score.
    is_score : bool
        Whether the numbers that are shown are scores: minus the errors, the higher the better.
    loss : str
        What changes are measured in where that is not what errors are; else empty.

    Examples
    --------
    >>> words = ErrorWords("roc_auc", "roc_auc", is_score=True)
    >>> words.cv, words.shown(-0.93), words.best
    ('CV roc_auc', 0.93, 'highest')
    """

    name: str
    noun: str = "error"
    is_score: bool = False
    loss: str = ""

    @classmethod
    def of(cls, search: StabilitySearchCV) -> ErrorWords:
        """The words for a fitted search."""
        check_is_fitted(search)
        return cls.found(search.loss_, search.driving_score_, search.scorer_, search.scoring)

    @classmethod
    def found(cls, loss: Any, driving_score: str | None, scorer: Any, scoring: Any) -> ErrorWords:
        """The words for what a search has, or would have, in the attributes of these names."""
        of_loss = "" if loss is None else loss_name(loss)
        if driving_score is None:
            return cls(of_loss)
        name, is_score = _score(driving_score, scorer, scoring)
        return cls(name, name, True, of_loss) if is_score else cls(name, loss=of_loss)

    def shown(self, error: Any) -> Any:
        """The number or the numbers that people see."""
        return 0.0 - error if self.is_score else error

    @property
    def kind(self) -> str:
        """What the numbers are."""
        return "score" if self.is_score else "error"

    @property
    def cv(self) -> str:
        """What to call the mean over the splits."""
        return f"CV {self.noun}"

    @property
    def nested(self) -> str:
        """What to call what is to expect."""
        return f"nested {self.noun}"

    @property
    def instability(self) -> str:
        """What to call the instability, with what it is a change of."""
        return f"instability ({self.loss})" if self.loss else "instability"

    @property
    def cv_of_what(self) -> str:
        """The same, with the name of what is measured."""
        return self.cv if self.is_score else f"{self.cv} ({self.name})"

    def on_outer(self, splits: str) -> str:
        """What to call the numbers of single views."""
        of_what = "" if self.is_score else f" ({self.name})"
        return f"{self.noun} on outer {splits}{of_what}"

    @property
    def best(self) -> str:
        """Where the best are."""
        return "highest" if self.is_score else "lowest"

    def measure(self, name: str) -> str:
        """What to call a column of ``cv_results_`` that candidates are compared by."""
        sign = "\N{MINUS SIGN}" if self.is_score else "+"
        return {
            "cv_error": self.cv,
            "instability": "instability",
            "regularized_error": f"{self.cv} {sign} weight × instability",
        }[name]

    def shown_measure(self, name: str, values: Any) -> Any:
        """The numbers of such a column that people see."""
        return values if name == "instability" else self.shown(values)

    def best_of(self, name: str) -> str:
        """Where the best of them are."""
        return "lowest" if name == "instability" else self.best

    def disappointment(self, promised: float, expected: float | None) -> float | None:
        """How much better a promise is than what to expect.

        It is a share of the latter, and of scores, which have no zero of their own, the difference.
        """
        if expected is None:
            return None
        if self.is_score:
            return expected - promised if abs(expected - promised) > TIE else 0.0
        return 1 - promised / expected if expected else None

    def difference(self, amount: float) -> str:
        """A disappointment, or what a choice gives up, without its sign."""
        return number(abs(amount), 2) if self.is_score else f"{abs(amount):.1%}"

    @property
    def least_gap(self) -> float:
        """The smallest disappointment that is not shown as none."""
        return TIE if self.is_score else LEAST_SHARE

    def given_up(self, amount: float) -> str:
        """What a choice gives up, where it may be too little to show."""
        return self.difference(amount) if self.is_score or amount >= LEAST_SHARE else "less than 0.1%"


def with_article(noun: str) -> str:
    """A noun after its article.

    Examples
    --------
    >>> [with_article(noun) for noun in ("error", "roc_auc", "f1", "log loss")]
    ['an error', 'a roc_auc', 'an f1', 'a log loss']
    """
    return f"{'an' if re.match('[aeiou]|[flmnrsx][0-9]', noun) else 'a'} {noun}"


def _score(driving: str, scorer: Any, scoring: Any) -> tuple[str, bool]:
    """The name of the score that drives, and whether it is shown; if not, minus it is an error."""
    if isinstance(scorer, dict):
        scorer = scorer[driving]
    parts = parts_of_scorer(scorer)
    is_score = parts is None or parts.sign > 0
    if isinstance(scoring, str):
        name = scoring
    elif driving != "score":
        name = driving
    else:  # of a function
        function = scorer if parts is None else parts.function
        name = str(getattr(function, "__name__", "score")).replace("<lambda>", "score")
    return (name, True) if is_score else (name.removeprefix("neg_").replace("_", " "), False)
