"""The result of a search in words: both choices, what is delivered and promised, and what is offered."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.error_words import ErrorWords, with_article
from steadycv.promises import OF_CHOICE
from steadycv.split_words import SplitWords
from steadycv.words import setting, short_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadycv.offers import Offer
    from steadycv.search import StabilitySearchCV

__all__ = [
    "PLAIN",
    "STEADY",
    "OfferRow",
    "Promised",
    "Row",
    "also_offered",
    "beside_baseline",
    "has_nested_error",
    "much_worse",
    "offer_rows",
    "side_by_side",
    "summarize",
    "what_was_delivered",
    "words_on_promise",
]

PLAIN = "plain choice"
STEADY = "steady choice"
WIDTH = 79  # of the sentences in a text
NEARLY_ALL = 0.995  # the share that is no longer told as a number


class Row(NamedTuple):
    """One line of the comparison; a value that is no number is told in words already."""

    name: str
    plain: Any
    steady: Any


class OfferRow(NamedTuple):
    """A kind of delivery, its promise, and what it is."""

    deliver: str
    promise: float
    what: str
    is_delivered: bool


@dataclass(frozen=True)
class Promised:
    """What is promised of what was delivered; errors, minus the score where one drives.

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
    """

    error: float | None
    interval: tuple[float, float] | None
    reason: str
    of_choice: float | None

    @classmethod
    def of(cls, search: StabilitySearchCV) -> Promised:
        """What a fitted search promises."""
        try:
            error = search.promise_
        except AttributeError as none:
            return cls(None, None, str(none), None)
        return cls(error, _interval(search), search.promise_reason_, search.offers_["model"].promise)

    @property
    def is_of_choice(self) -> bool:
        """Whether the choice is so much worse than what was tried that its own error is promised."""
        return self.reason == OF_CHOICE


def summarize(search: StabilitySearchCV) -> str:
    """Both choices side by side as a text, what was delivered, and what to expect of it."""
    rows = [Row("", PLAIN, STEADY)]
    rows += [Row(*map(_text, row)) for row in side_by_side(search)]
    width, left, right = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{a:{width}}  {b:>{left}}  {c:>{right}}" for a, b, c in rows]
    told = [fill(line, WIDTH, break_on_hyphens=False) for line in words_on_promise(search, _text)]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *told])


def side_by_side(search: StabilitySearchCV) -> list[Row]:
    """The parameters and the errors of both choices."""
    plain, steady = search.plain_index_, search.best_index_
    results, weights, words = search.cv_results_, search.weights_, ErrorWords.of(search)
    error, instability = words.shown(results["cv_error"]), results["instability"]
    weight = search.stability_weight_
    names = short_names(sorted({*search.plain_params_, *search.best_params_}))
    rows = [
        Row(short, search.plain_params_.get(name, "-"), search.best_params_.get(name, "-"))
        for name, short in names.items()
    ]
    rows += [
        Row(words.cv, error[plain], error[steady]),
        Row(words.instability, instability[plain], instability[steady]),
        Row("stability weight", 0, "-" if np.isnan(weight) else weight),
    ]
    if has_nested_error(search):
        is_plain = weights["weight"] == 0
        of_plain = words.shown(weights["mean_error"][is_plain][0]) if is_plain.any() else "-"
        rows.append(Row(words.nested, of_plain, words.shown(search.nested_error_)))
    return rows


def words_on_promise(search: StabilitySearchCV, number: Callable[[float], str]) -> list[str]:
    """What was delivered, what to expect of it, and what else is offered: sentences."""
    delivered = what_was_delivered(search)
    lines = [
        f"Delivered: {delivered}." if delivered else "",
        _what_to_expect(search, number),
        beside_baseline(search, number),
        also_offered(search, number),
    ]
    return [line for line in lines if line]


def what_was_delivered(search: StabilitySearchCV) -> str:
    """What ``best_estimator_`` is; empty without one."""
    if not hasattr(search, "best_estimator_"):
        return ""
    if search.deliver == "model":
        return _model(search)
    return _what(search, search.offers_[search.deliver])


def also_offered(
    search: StabilitySearchCV,
    number: Callable[[float], str],
    ask: Callable[[str], str] = 'deliver="{}"'.format,
) -> str:
    """What else the same fits offer, in one sentence; empty if nothing."""
    promised = Promised.of(search)
    others = [offer for kind, offer in search.offers_.items() if kind != search.deliver]
    if promised.error is None or not others:
        return ""
    words = ErrorWords.of(search)
    names = [_in_short(search, offer) for offer in others]
    values = [number(words.shown(offer.promise)) for offer in others]
    values[0] = f"promises {values[0]} instead of {number(words.shown(promised.error))}"
    told = [
        f"{name} {value} ({ask(offer.deliver)})"
        for name, value, offer in zip(names, values, others, strict=True)
    ]
    return f"By the same fits, {', '.join(told)}."


def beside_baseline(search: StabilitySearchCV, number: Callable[[float], str]) -> str:
    """What it would cost to look at no column, and how much of that is explained; empty if not known."""
    found, promised, words = search.baseline_, Promised.of(search).error, ErrorWords.of(search)
    if found is None:
        return ""
    value = f"{with_article(words.noun)} of {number(words.shown(found.error))}"
    line = f"Predicting {found.what} has {value} on the same {SplitWords.of(search.lattice_).word}s"
    if promised is None:
        return f"{line}."
    if promised >= found.error:
        return f"{line}: no column helps."
    if words.is_score:
        return f"{line}."
    share = found.explained(promised)
    told = "nearly all" if share > NEARLY_ALL else f"{share:.0%}"
    return f"{line}; {told} of it is explained."


def much_worse(search: StabilitySearchCV, number: Callable[[float], str]) -> str:
    """What is said of a choice that does clearly worse than what was tried."""
    words = ErrorWords.of(search)
    return (
        "The choice does clearly worse than what was chosen without each part of the data, whose "
        f"{words.nested} is {number(words.shown(search.nested_error_))}."
    )


def offer_rows(search: StabilitySearchCV) -> list[OfferRow]:
    """What could be delivered for the same fits."""
    return [
        OfferRow(kind, offer.promise, _what(search, offer), kind == search.deliver)
        for kind, offer in search.offers_.items()
    ]


def has_nested_error(search: StabilitySearchCV) -> bool:
    """Whether the choice comes out of a nested cross-validation."""
    return "mean_error" in search.weights_ and not callable(search.refit)


def _what_to_expect(search: StabilitySearchCV, number: Callable[[float], str]) -> str:
    promised, words = Promised.of(search), ErrorWords.of(search)
    if promised.error is None:
        return promised.reason
    expected = number(words.shown(promised.error))
    about = f"On new data expect {with_article(words.noun)} of about {expected}"
    if promised.interval is not None:
        low, high = sorted(words.shown(end) for end in promised.interval)
        about += f" ({number(low)} to {number(high)}, nine times in ten)"
    if promised.is_of_choice:
        return f"{about}, the {words.cv} of the choice. {much_worse(search, number)}"
    if search.deliver != "model":
        return f"{about}."
    better = words.disappointment(search.cv_error_, promised.error) or 0.0
    than_that = f"{'higher' if (better >= 0) == words.is_score else 'lower'} than that"
    difference = f"{words.difference(better)} {than_that}" if better else "the same"
    return f"{about}; the {words.cv} of the choice is {difference}."


def _what(search: StabilitySearchCV, offer: Offer) -> str:
    """What would be delivered."""
    if offer.deliver == "model":
        return _model(search)
    params = [setting(search.cv_results_["params"][candidate]) for candidate in offer.candidates]
    if offer.deliver == "student":
        hears = {
            0.0: "the target alone",
            1.0: "what the committee says alone",
        }.get(offer.share, f"the target and, to {offer.share:.0%}, what the committee says")
        return f"a single model, {params[0]}, that learned from {hears}"
    words = SplitWords.of(search.lattice_)
    trained = "without one fold" if words.are_folds else "on the rows of one split"
    n = _n_members(search, offer)
    if len(params) == 1:
        return f"the average of the {n} models of {params[0]}, each trained {trained}"
    return f"the weighted average of {n} models of {len(params)} candidates, each trained {trained}"


def _model(search: StabilitySearchCV) -> str:
    return f"the choice, fitted on {'the last window' if search.last_window else 'all data'}"


def _in_short(search: StabilitySearchCV, offer: Offer) -> str:
    if offer.deliver == "model":
        return "the choice itself"
    article = "an" if offer.deliver == "ensemble" else "a"
    word = SplitWords.of(search.lattice_).word
    return f"{article} {offer.deliver} of {_n_members(search, offer)} {word} models"


def _n_members(search: StabilitySearchCV, offer: Offer) -> int:
    lattice = search.lattice_
    return len(lattice.members(lattice.final)) * len(offer.candidates)


def _interval(search: StabilitySearchCV) -> tuple[float, float] | None:
    try:
        low, high = search.promise_interval_
    except ValueError:  # one view, and no losses
        return None
    return (low, high) if np.isfinite([low, high]).all() else None


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "not known" if np.isnan(value) else f"{value:.4g}"
    return str(value)
