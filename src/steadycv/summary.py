"""The result of a search in words: both choices, what is delivered and promised, and what is offered."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.error_words import ErrorWords, with_article
from steadycv.expectations import Expected
from steadycv.human_units import HumanUnits
from steadycv.split_words import SplitWords
from steadycv.thresholds import HALF
from steadycv.words import number, setting, short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.offers import Offer
    from steadycv.search import StabilitySearchCV

__all__ = [
    "PLAIN",
    "STEADY",
    "OfferRow",
    "Row",
    "about",
    "also_offered",
    "beside_baseline",
    "has_nested_error",
    "in_markdown",
    "model_name",
    "much_worse",
    "offer_rows",
    "on_edges",
    "on_threshold",
    "side_by_side",
    "summarize",
    "table_in_markdown",
    "what_to_expect",
    "what_was_delivered",
    "words_on_promise",
]

PLAIN = "plain choice"
STEADY = "steady choice"
FORMS = ("text", "markdown")
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


def summarize(search: StabilitySearchCV, form: str = "text") -> str:
    """Both choices side by side, what was delivered, and what to expect of it; or as Markdown."""
    if form not in FORMS:
        raise ValueError(f"format must be 'text' or 'markdown', got {form!r}.")
    told = words_on_promise(search)
    if form == "markdown":
        parts = [in_markdown(about(search)), table_in_markdown(search), *map(in_markdown, told)]
        return "\n\n".join(parts)
    rows = _rows(search)
    width, left, right = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{a:{width}}  {b:>{left}}  {c:>{right}}" for a, b, c in rows]
    table = [lines[0], "-" * len(lines[0]), *lines[1:]]
    return "\n".join([_filled(about(search)), "", *table, "", *map(_filled, told)])


def table_in_markdown(search: StabilitySearchCV) -> str:
    """Both choices side by side, as a table of Markdown."""
    head, *rows = [f"| {' | '.join(map(in_markdown, row))} |" for row in _rows(search)]
    return "\n".join([head, "| --- | ---: | ---: |", *rows])


def _rows(search: StabilitySearchCV) -> list[Row]:
    return [Row("", PLAIN, STEADY), *(Row(*map(_text, row)) for row in side_by_side(search))]


def about(search: StabilitySearchCV) -> str:
    """What was searched: the model, rows, splits and candidates, and what these are judged by."""
    results, splits = search.cv_results_, SplitWords.of(search.lattice_)
    n = len(results["params"])
    return (
        f"{model_name(search)} on {search.lattice_.n_samples:,} rows in {splits.in_words}: "
        f"{n:,} candidate{'' if n == 1 else 's'}, judged by the {ErrorWords.of(search).name}."
    )


def model_name(search: StabilitySearchCV) -> str:
    """What to call a model: the class of the estimator, the last step's of a pipeline."""
    estimator = search.estimator
    while getattr(estimator, "steps", None):
        estimator = estimator.steps[-1][1]
    return type(estimator).__name__


def in_markdown(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split()))


def side_by_side(search: StabilitySearchCV) -> list[Row]:
    """The parameters and the errors of both choices."""
    plain, steady = search.kfold_index_, search.best_index_
    results, weights, words = search.cv_results_, search.weights_, ErrorWords.of(search)
    error, instability = words.shown(results["cv_error"]), results["instability"]
    weight = search.stability_weight_
    chosen = (search.kfold_params_, search.best_params_)
    names = short_names(sorted({name for each in chosen for name in each}))
    rows = [
        Row(short, *(value_text(each[name]) if name in each else "-" for each in chosen))
        for name, short in names.items()
    ]
    rows += [
        Row(words.cv, error[plain], error[steady]),
        Row(words.instability, instability[plain], instability[steady]),
        Row("stability weight", "0", "-" if np.isnan(weight) else weight),
    ]
    if has_nested_error(search):
        is_plain = weights["weight"] == 0
        of_plain = words.shown(weights["mean_error"][is_plain][0]) if is_plain.any() else "-"
        rows.append(Row(words.nested, of_plain, words.shown(search.nested_error_)))
    return rows


def words_on_promise(search: StabilitySearchCV) -> list[str]:
    """What was delivered, what to expect of it, and what else could be done: sentences."""
    delivered = what_was_delivered(search)
    lines = [
        f"Delivered: {delivered}." if delivered else "",
        what_to_expect(search),
        beside_baseline(search),
        also_offered(search),
        on_threshold(search),
        on_edges(search),
    ]
    return [line for line in lines if line]


def what_was_delivered(search: StabilitySearchCV) -> str:
    """What ``best_estimator_`` is; empty without one."""
    if not hasattr(search, "best_estimator_"):
        return ""
    if search.deliver == "model":
        return _model(search)
    return _what(search, search.offers_[search.deliver])


def what_to_expect(search: StabilitySearchCV) -> str:
    """What to expect on new data, and how far the CV error of the choice is from that."""
    expected = Expected.of(search)
    if expected.error is None:
        return expected.sentence
    words = expected.words
    if expected.is_of_choice:
        return f"{expected.sentence} It is the {words.cv} of the choice. {much_worse(search)}"
    if search.deliver != "model":
        return expected.sentence
    better = words.disappointment(search.cv_error_, expected.error) or 0.0
    way = "higher" if (better >= 0) == words.is_score else "lower"
    gap = f"{words.difference(better)} {way}" if abs(better) >= words.least_gap else "the same"
    return f"{expected.sentence} The {words.cv} of the choice is {gap}."


def also_offered(search: StabilitySearchCV, ask: Callable[[str], str] = 'deliver="{}"'.format) -> str:
    """What else the same fits offer, in one sentence; empty if nothing."""
    expected = Expected.of(search)
    others = [offer for kind, offer in search.offers_.items() if kind != search.deliver]
    if expected.error is None or not others:
        return ""
    human = expected.human
    names = [_in_short(search, offer) for offer in others]
    values = [human.text(offer.promise) for offer in others]
    values[0] = f"promises {with_article(human.noun)} of {values[0]} instead of {expected.value}"
    told = [
        f"{name} {value} ({ask(offer.deliver)})"
        for name, value, offer in zip(names, values, others, strict=True)
    ]
    return f"By the same fits, {', '.join(told)}."


def beside_baseline(search: StabilitySearchCV) -> str:
    """What it would cost to look at no column, and how much of that is explained; empty if not known."""
    found, expected = search.baseline_, Expected.of(search)
    if found is None:
        return ""
    words, human = expected.words, expected.human
    line = (
        f"Predicting {found.what} has {with_article(human.noun)} of {human.text(found.error)} on the "
        f"same {expected.split}s"
    )
    if expected.error is None:
        return f"{line}."
    if expected.error >= found.error:
        return f"{line}: no column helps."
    if words.is_score:
        return f"{line}."
    share = found.explained(expected.error)
    told = "nearly all" if share > NEARLY_ALL else f"{share:.0%}"
    if human.kind == "share right":
        return f"{line}; {told} of its mistakes are avoided."
    return f"{line}; {told} of its {words.name} is explained."


def on_threshold(
    search: StabilitySearchCV,
    ask: str = "search.with_threshold()",
    names: Sequence[Any] | None = None,
) -> str:
    """What another threshold than 0.5 does, of two classes; empty where there is none.

    `names` are those of the classes, where they are numbered.
    """
    try:
        found = search.threshold_
    except AttributeError:
        return ""
    if found.value == HALF:
        return ""
    human = HumanUnits.of(ErrorWords.of(search))
    first, second = found.classes if names is None else names
    values = f"{human.text(found.error)} instead of {human.text(found.error_at_half)}"
    line = (
        f"Saying {value_text(second)} from a probability of {number(found.value, 2)} on, and not of "
        f"0.5, has {with_article(human.noun)} of {values} on rows that had no say in it"
    )
    if not found.helps:
        return f"{line}: 0.5 serves as well."
    (false, hit), (false_before, hit_before) = found.confusion[:, 1], found.confusion_at_half[:, 1]
    n_second = int(found.confusion[1].sum())
    return (
        f"{line}: of {n_second:,} that are {value_text(second)} it finds {hit:,} instead of "
        f"{hit_before:,}, and takes {false:,} instead of {false_before:,} that are {value_text(first)} "
        f"for one{f' ({ask})' if ask else ''}."
    )


def on_edges(search: StabilitySearchCV, ask: str = "") -> str:
    """Where the choice stands at an end of its grid, and what to try; empty where it does not."""
    found = search.edges_
    asks = [ask] if ask and not all(edge.is_flat for edge in found) else []
    return " ".join([*(edge.sentence for edge in found), *asks])


def much_worse(search: StabilitySearchCV) -> str:
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def _filled(text: str) -> str:
    return fill(text, WIDTH, break_on_hyphens=False)
