"""What a notebook shows of a search: scikit-learn's diagram, the result and the lattice."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from steadycv.error_words import ErrorWords
from steadycv.expectations import Expected
from steadycv.lattice_picture import LatticeErrors, lattice_svg
from steadycv.notebook_style import CLASS, style
from steadycv.split_words import SplitWords
from steadycv.summary import PLAIN, STEADY, side_by_side, words_on_promise
from steadycv.words import number, setting, short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadycv.search import StabilitySearchCV

__all__ = ["ResultsInNotebook"]


class ResultsInNotebook:
    """Adds the result to the HTML block of a fitted search."""

    # scikit-learn 1.6 calls one function in both methods, 1.7 and later another.

    @property
    def _repr_html_(self) -> Callable[[], str]:
        of_scikit_learn = super()._repr_html_  # type: ignore[misc]
        return lambda: str(of_scikit_learn()) + _results(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _results(self)
        return bundle


def _results(search: Any) -> str:
    if not hasattr(search, "best_index_"):
        return ""
    lattice = LatticeErrors.from_search(search)
    picture = f"<p>{escape(lattice.explained)}</p>{lattice_svg(lattice)}"
    parts = (style(), _cards(search), _table(search), picture)
    return f'<div class="{CLASS}">{"".join(parts)}</div>'


def _cards(search: StabilitySearchCV) -> str:
    """What a report begins with: the choice, what to expect, and the error that is too good."""
    expected, words = Expected.of(search), ErrorWords.of(search)
    names = short_names(search.best_params_)
    chosen = [f"{names[name]} = {value_text(value)}" for name, value in search.best_params_.items()]
    plain = "The plain choice is the same."
    if search.best_index_ != search.kfold_index_:
        plain = f"The plain choice would have been {setting(search.kfold_params_)}."
    to_expect = [f"{expected.human.noun}{expected.human.unit}", expected.over_splits, expected.behind]
    split = SplitWords.of(search.lattice_).word
    cards = [
        ("Chosen", [], [*(chosen or ["the model as it is"]), plain]),
        (
            "To expect on new data",
            [expected.value],
            [expected.reason] if expected.error is None else to_expect,
        ),
        (
            f"{words.cv} of the choice",
            [number(words.shown(search.cv_error_))],
            [f"{words.name}; of a choice made on the same {split}s, so too good"],
        ),
    ]
    return '<div class="cards">' + "".join(map(_card, cards)) + "</div>"


def _card(parts: tuple[str, list[str], list[str]]) -> str:
    title, big, lines = parts
    told = [f'<p class="big">{escape(line)}</p>' for line in big]
    told += [f"<p>{escape(line)}</p>" for line in lines if line]
    return f'<div class="card"><b>{escape(title)}</b>{"".join(told)}</div>'


def _table(search: StabilitySearchCV) -> str:
    cells = [
        (row.name, *(_text(value) for value in (row.plain, row.steady))) for row in side_by_side(search)
    ]
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(plain)}</td><td>{escape(steady)}</td></tr>'
        for name, plain, steady in cells
    )
    promise = "".join(f"<p>{escape(line)}</p>" for line in words_on_promise(search))
    return (
        "<table><caption>What was chosen</caption>"
        f'<thead><tr><td></td><th scope="col">{PLAIN}</th><th scope="col">{STEADY}</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{promise}"
    )


def _text(value: Any) -> str:
    return number(value) if isinstance(value, float) else value_text(value)
