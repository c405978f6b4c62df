"""The result of a search in a few lines: plain cross-validation's choice and the steady one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.error_words import ErrorWords, with_article
from steadycv.words import short_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadycv.search import StabilitySearchCV

__all__ = ["PLAIN", "STEADY", "Row", "has_nested_error", "side_by_side", "summarize", "what_to_expect"]

PLAIN = "plain cross-validation"
STEADY = "stability regularized"


class Row(NamedTuple):
    """One line of the comparison; a value that is no number is told in words already."""

    name: str
    plain: Any
    steady: Any


def summarize(search: StabilitySearchCV) -> str:
    """Both choices side by side as a text, and what to expect."""
    rows = [Row("", PLAIN, STEADY)]
    rows += [Row(*map(_text, row)) for row in side_by_side(search)]
    width, left, right = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{a:{width}}  {b:>{left}}  {c:>{right}}" for a, b, c in rows]
    closing = what_to_expect(search, _text)
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *(["", closing] if closing else [])])


def side_by_side(search: StabilitySearchCV) -> list[Row]:
    """The parameters and the errors of both choices."""
    plain, steady = search.kfold_index_, search.best_index_
    results, weights, words = search.cv_results_, search.weights_, ErrorWords.of(search)
    error, instability = words.shown(results["cv_error"]), results["instability"]
    names = short_names(sorted({*search.kfold_params_, *search.best_params_}))
    rows = [
        Row(short, search.kfold_params_.get(name, "-"), search.best_params_.get(name, "-"))
        for name, short in names.items()
    ]
    rows += [
        Row(f"{words.cv} (promised)", error[plain], error[steady]),
        Row(words.instability, instability[plain], instability[steady]),
        Row("stability weight", 0, search.stability_weight_),
    ]
    if has_nested_error(search):
        is_plain = weights["weight"] == 0
        of_plain = words.shown(weights["mean_error"][is_plain][0]) if is_plain.any() else "-"
        rows.append(Row(f"{words.nested} (to expect)", of_plain, words.shown(search.nested_error_)))
    return rows


def what_to_expect(search: StabilitySearchCV, number: Callable[[float], str]) -> str:
    """The closing sentence; empty without a nested error."""
    if not has_nested_error(search):
        return ""
    words = ErrorWords.of(search)
    better = words.disappointment(search.cv_error_, search.nested_error_) or 0.0
    expected = number(words.shown(search.nested_error_))
    than_that = f"{'higher' if (better >= 0) == words.is_score else 'lower'} than that"
    difference = (
        f"{words.difference(better)} {than_that}" if better or not words.is_score else "the same"
    )
    return (
        f"On new data expect {with_article(words.noun)} of about {expected}; the {words.cv} of "
        f"the choice is {difference}."
    )


def has_nested_error(search: StabilitySearchCV) -> bool:
    """Whether the choice comes out of a nested cross-validation."""
    return "mean_error" in search.weights_ and not callable(search.refit)


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "not known" if np.isnan(value) else f"{value:.4g}"
    return str(value)
