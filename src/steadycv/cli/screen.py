"""What ``steadycv tune`` shows on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from steadycv.cli.errors import one_line
from steadycv.error_words import with_article
from steadycv.words import number, setting, short_names, value_text

if TYPE_CHECKING:
    from rich.console import Console

    from steadycv.cli.tuning import Problem
    from steadycv.error_words import ErrorWords
    from steadycv.report.content import Content

__all__ = ["say", "show_results"]

PLAIN = "plain CV's choice"
STEADY = "the steady choice"


def say(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph, whatever is in it, as text."""
    console.print(Text(one_line(text), style=style))


def show_results(console: Console, problem: Problem, ranking: list[Content]) -> None:
    """Both choices side by side, the models compared, and what to expect."""
    best = ranking[0]
    console.print()
    if len(ranking) > 1:
        say(console, f"{len(ranking)} models on {problem.name}, the best first", "bold")
        console.print(_models(ranking))
    say(console, f"{best.name} on {problem.name}, predicting {problem.target.name}", "bold")
    console.print(_choices(best))
    for line in _conclusion(ranking):
        console.print(Padding(Text(one_line(line)), (0, 0, 1, 0)))


def _choices(content: Content) -> Table:
    """The table of both choices, each measure explained."""
    search = content.search
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 2))
    table.add_column("")
    table.add_column(PLAIN, justify="right")
    table.add_column(STEADY, justify="right", style="bold")
    params = (search.kfold_params_, search.best_params_)
    for name, short in short_names(dict.fromkeys(key for each in params for key in each)).items():
        values = [value_text(each[name]) if name in each else "-" for each in params]
        table.add_row(Text(one_line(short)), *(Text(one_line(value)) for value in values))
    table.add_section()
    choices = (search.kfold_index_, search.best_index_)
    words = content.words
    errors = [float(search.cv_results_["cv_error"][i]) for i in choices]
    nested = [content.plain_nested_error, content.nested_error]
    for name, meaning, values in (
        (
            f"{words.kind} promised",
            f"CV {words.kind}: {words.name}",
            [number(words.shown(each)) for each in errors],
        ),
        (
            f"{words.kind} to expect on new data",
            f"nested {words.kind}: on data put aside",
            ["not known" if each is None else number(words.shown(each)) for each in nested],
        ),
        (
            "expected disappointment",
            f"how much the promise is too {'high' if words.is_score else 'low'}",
            [_gap(words, *each) for each in zip(errors, nested, strict=True)],
        ),
        (
            "instability",
            "change in loss when data are left out",
            [number(float(search.cv_results_["instability"][i])) for i in choices],
        ),
    ):
        table.add_row(Text.assemble((name, "bold"), "\n", (meaning, "dim")), *values)
    return table


def _models(ranking: list[Content]) -> Table:
    """The models compared, by what to expect of them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 2))
    table.add_column("model and its steady choice", overflow="fold", min_width=18)
    kind = ranking[0].words.kind
    for name in (f"{kind}\nto expect", f"{kind}\npromised", "expected\ndisappointment", "\ninstability"):
        table.add_column(name, justify="right")
    for i, each in enumerate(ranking):
        search = each.search
        choice = one_line(setting(search.best_params_))
        table.add_row(
            Text.assemble((each.name, "" if i else "bold"), "\n", (choice, "dim")),
            "not known" if each.nested_error is None else number(each.words.shown(each.nested_error)),
            number(each.words.shown(search.cv_error_)),
            _gap(each.words, search.cv_error_, each.nested_error),
            number(search.instability_),
        )
    return table


def _conclusion(ranking: list[Content]) -> list[str]:
    best = ranking[0]
    lines = []
    if best.nested_error is not None:
        slightly_low = (
            f" The figure is slightly {'high' if best.words.is_score else 'low'}, as the "
            f"{best.words.best} over {best.n_weights} stability weights."
            if best.n_weights > 1
            else ""
        )
        lines.append(
            f"On new data expect {with_article(best.words.name)} of about "
            f"{number(best.words.shown(best.nested_error))}: {best.in_other_words}.{slightly_low}"
        )
    else:
        lines.append(f"What to expect on new data is not known, because {best.no_nested_error}.")
    if best.is_plain:
        lines.append("Plain cross-validation chooses the same.")
    if len(ranking) > 1:
        lines.append(
            f"The {best.words.best} of several models is partly luck; close ones are as good as equal."
        )
    return [" ".join(lines)]


def _gap(words: ErrorWords, promised: float, expected: float | None) -> str:
    """The disappointment of those who would rely on the promise."""
    gap = words.disappointment(promised, expected)
    if gap is None:
        return "not known"
    if words.is_score:
        return number(gap, 2) if gap >= 0 else f"none ({number(gap, 2)})"
    if gap > -0.0005:
        return f"{max(gap, 0.0):.1%}"
    return f"none ({gap:.1%})"
