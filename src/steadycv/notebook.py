"""What a notebook shows of a search: scikit-learn's diagram, and under it the result."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from steadycv.summary import PLAIN, STEADY, side_by_side, words_on_promise
from steadycv.words import number, value_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadycv.search import StabilitySearchCV

__all__ = ["ResultsInNotebook"]

_STYLE = (
    ".steadycv-results table {border-collapse: collapse; margin: 0.5em 0}"
    ".steadycv-results caption {text-align: left; font-weight: bold; padding: 0.25em 0}"
    ".steadycv-results :is(th, td) {padding: 0.2em 0.8em 0.2em 0; text-align: right}"
    ".steadycv-results tbody th {text-align: left; font-weight: normal}"
    ".steadycv-results tr {border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent)}"
)


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
    return _table(search) if hasattr(search, "best_index_") else ""


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
        f'<div class="steadycv-results"><style>{_STYLE}</style><table><caption>What was chosen</caption>'
        f'<thead><tr><td></td><th scope="col">{PLAIN}</th><th scope="col">{STEADY}</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{promise}</div>"
    )


def _text(value: Any) -> str:
    return number(value) if isinstance(value, float) else value_text(value)
