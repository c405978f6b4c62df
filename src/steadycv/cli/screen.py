"""What ``steadycv tune`` shows on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from steadycv.cli.errors import one_line
from steadycv.summary import (
    PLAIN,
    STEADY,
    also_offered,
    beside_baseline,
    much_worse,
    on_edges,
    on_threshold,
)
from steadycv.words import number, setting, short_names, value_text

if TYPE_CHECKING:
    from rich.console import Console

    from steadycv.cli.tuning import Problem
    from steadycv.error_words import ErrorWords
    from steadycv.report.content import Content

__all__ = ["say", "show_results"]


def say(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph, whatever is in it, as text."""
    console.print(Text(one_line(text), style=style))


def show_results(console: Console, problem: Problem, ranking: list[Content]) -> None:
    """The models compared, both choices of the best side by side, and what is promised."""
    best = ranking[0]
    console.print()
    if len(ranking) > 1:
        say(console, f"{len(ranking)} models on {problem.name}, the best first", "bold")
        console.print(_models(ranking))
    say(console, f"{best.name} on {problem.name}, predicting {problem.target.name}", "bold")
    console.print(_choices(best))
    for line in filter(None, _conclusion(problem, best, len(ranking))):
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
            f"CV {words.kind}",
            words.name,
            [number(words.shown(each)) for each in errors],
        ),
        (
            f"nested {words.kind}",
            "the same on data put aside",
            ["not known" if each is None else number(words.shown(each)) for each in nested],
        ),
        (
            "expected disappointment",
            f"how much the CV {words.kind} is too {'high' if words.is_score else 'low'}",
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
    """The models compared, by what is promised of them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 2))
    table.add_column("model and its steady choice", overflow="fold", min_width=18)
    kind = ranking[0].words.kind
    to_expect = f"{ranking[0].promised.human.noun}\nto expect"
    for name in (to_expect, "nine times\nin ten", f"CV\n{kind}", "\ninstability"):
        table.add_column(name, justify="right")
    for i, each in enumerate(ranking):
        search, promised = each.search, each.promised
        choice = one_line(setting(search.best_params_))
        table.add_row(
            Text.assemble((each.name, "" if i else "bold"), "\n", (choice, "dim")),
            promised.value,
            "not known" if promised.interval is None else promised.human.range(promised.interval),
            number(each.words.shown(search.cv_error_)),
            number(search.instability_),
        )
    return table


def _conclusion(problem: Problem, content: Content, n_models: int) -> list[str]:
    """What is saved, what to expect of it, and what else could be."""
    search, promised, request = content.search, content.promised, problem.request
    lines = [f"Saved: {content.delivered}.", promised.sentence]
    if promised.is_of_choice:
        lines.append(much_worse(search))
    if content.is_plain:
        lines.append("The plain choice is the same.")
    if n_models > 1:
        lines.append(
            f"The {content.words.best} of several models is partly luck; close ones are as good as "
            "equal."
        )
    return [
        " ".join(lines),
        beside_baseline(search),
        also_offered(search, "--deliver {}".format),
        on_threshold(
            search,
            "it is saved so" if request.tune_threshold else "--tune-threshold saves it so",
            problem.target.classes,
        ),
        on_edges(search, "" if request.widen else "--widen does."),
    ]


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
