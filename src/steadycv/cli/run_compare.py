"""The run of ``steadycv compare``: what it tells, tunes, tests, writes and shows."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from steadycv._files import write_whole
from steadycv.cli.errors import Interruption, UserError, one_line
from steadycv.cli.folds import fewest_rows
from steadycv.cli.outer_splits import inner_folds, outer_splits
from steadycv.cli.preparing import prepared
from steadycv.cli.result_files import plain
from steadycv.cli.run_tune import make_folder
from steadycv.cli.saved_model import versions
from steadycv.cli.screen import say
from steadycv.cli.tuning import reason
from steadycv.experiments.comparison import ComparedModel, TrainTest, run_comparison
from steadycv.experiments.verdict import FEWEST_SPLITS, judge
from steadycv.report.served import write_served
from steadycv.words import number

if TYPE_CHECKING:
    from steadycv.cli.preparing import Prepared
    from steadycv.cli.request import CompareRequest
    from steadycv.error_words import ErrorWords
    from steadycv.experiments.verdict import Verdict

__all__ = ["FORMAT_VERSION", "run_compare"]

REPORT, JSON, SPLITS = "comparison.html", "comparison.json", "splits.csv"
FORMAT_VERSION = 1
"""Of the JSON file; it grows when something in it is renamed, removed or changes its meaning."""


def run_compare(request: CompareRequest, *, as_json: bool, quiet: bool) -> None:
    """Tune and test on all splits, write the files and show the verdict."""
    terminal = Console(stderr=True, quiet=quiet)
    watched = terminal.is_terminal and not quiet
    problem = prepared(request)
    models, splits = _compared(problem, request)
    words, known = _judged(problem, models, splits)
    make_folder(request.out)
    n_told = len(problem.notes) if watched else 0
    for note in problem.notes[:n_told]:
        say(terminal, note)
    if watched:
        say(terminal, f"{', '.join(request.model)}: {len(known)} splits, {request.how}.")
    path = request.out / SPLITS
    try:
        run_comparison(
            models,
            problem.X,
            problem.target.y,
            splits,
            path,
            name=problem.name,
            groups=problem.groups,
            only=known,
            jobs=request.jobs,
            progress=watched,
        )
    except (KeyboardInterrupt, SystemExit) as stop:
        raise Interruption.by(
            stop, f"Interrupted. What is done is kept. To go on: {request.command()}"
        ) from None
    except (ValueError, TypeError) as error:
        raise UserError(reason(error)) from error
    names = {model.name: model.names for model in models}
    verdict = judge(path, names, words, data=problem.name, splits=known)
    content = _as_json(problem, request, verdict)
    write_served(
        verdict,
        request.out / REPORT,
        data_name=problem.name,
        how=request.how,
        command=request.command(),
        notes=[problem.facts(), *problem.hints],
    )
    write_whole(request.out / JSON, content.encode())
    if as_json:
        typer.echo(content, nl=False)
    screen = Console(quiet=quiet or as_json)
    for note in problem.notes[n_told:]:
        say(screen, note)
    _show(screen, problem, request, verdict)
    say(screen, f"In {request.out}: {REPORT}, {JSON}, {SPLITS}.")


def _compared(problem: Prepared, request: CompareRequest) -> tuple[list[ComparedModel], list[TrainTest]]:
    """The models, and the splits."""
    splits = outer_splits(problem, request.splits)
    folds = inner_folds(problem, request, splits)
    in_time = request.time is not None
    n_fewest = min(fewest_rows(len(train), request.folds, in_time=in_time) for train, _ in splits)
    models = [
        ComparedModel(
            name,
            model.pipeline,
            partial(model.grid, problem.target, n_fewest=n_fewest),
            cv=folds,
            scoring=request.scoring,
            deliver=tuple(each.value for each in request.delivers),
        )
        for name, model in problem.models.items()
    ]
    return models, [TrainTest(*split) for split in splits]


def _judged(
    problem: Prepared, models: list[ComparedModel], splits: list[TrainTest]
) -> tuple[ErrorWords, list[int]]:
    """The words for errors, and the splits whose test rows can be judged; others are told of."""
    words, undefined = models[0].errors(problem.X, problem.target.y)
    reasons = {number: undefined(split.test) for number, split in enumerate(splits)}
    known = [number for number, why in reasons.items() if why is None]
    without = next((why for why in reasons.values() if why is not None), None)
    if len(known) < 2:
        raise UserError(
            f"The test rows of {len(splits) - len(known)} of {len(splits)} splits cannot be judged: "
            f"{without}. With fewer --splits they are more rows, or take another --scoring."
        )
    if without is not None:
        problem.notes.append(
            f"{len(splits) - len(known)} of {len(splits)} splits are left out, as nobody can be judged "
            f"on their test rows: {without}."
        )
    return words, known


def _show(console: Console, problem: Prepared, request: CompareRequest, verdict: Verdict) -> None:
    console.print()
    names = ", ".join(verdict.names_of_models)
    say(console, f"{names} on {problem.name}, predicting {problem.target.name}", "bold")
    say(console, f"{verdict.n_splits} splits: {request.how}.", "dim")
    console.print(_table(verdict))
    for sentence in verdict.sentences():
        console.print(Padding(Text(one_line(sentence)), (0, 0, 1, 0)))


def _table(verdict: Verdict) -> Table:
    """All that were compared, those that served best in bold."""
    words = verdict.words
    gap = "over" if all(line.over_plain.is_ratio for line in verdict.lines) else "less"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("served", no_wrap=True)
    for name in (
        f"test\n{words.kind}",
        f"{gap} plain's\n(95 in 100)",
        "best\n(prob.)",
        "same\nchoice",
        f"promise\n{gap} test",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    several = len(verdict.names_of_models) > 1
    for i, line in enumerate(verdict.lines):
        over = line.over_plain
        if several and line is verdict.plain_of(line):
            table.add_section()
            table.add_row(Text(one_line(line.model), style="bold"))
        table.add_row(
            f"{'  ' if several else ''}{line.name}",
            number(words.shown(float(line.errors.mean()))),
            Text(over.shown())
            if over.low == over.high
            else Text.assemble(over.shown(), "\n", (over.range(), "dim")),
            f"{line.lowest:.0%}" if verdict.is_enough else "-",
            f"{line.same_choice:.0%}" if line.is_choice else "-",
            line.promised.shown(),
            style="bold" if i in verdict.best else None,
        )
    return table


def _as_json(problem: Prepared, request: CompareRequest, verdict: Verdict) -> str:
    """All results; what is not known is null."""
    words = verdict.words
    content: dict[str, Any] = {
        "format": "steadycv compare",
        "format_version": FORMAT_VERSION,
        "command": request.command(),
        "versions": versions(),
        "data": {
            "name": problem.name,
            "n_rows": len(problem.X),
            "target": problem.target.name,
            "task": problem.target.task,
            "classes": problem.target.classes or None,
        },
        "n_splits": verdict.n_splits,
        "how": request.how,
        "folds": request.folds,
        "seed": request.seed,
        "errors_are": f"minus {words.name}" if words.is_score else words.name,
        "notes": problem.notes,
        "served_best": [verdict.title(verdict.lines[i]) for i in verdict.best],
        "probability": verdict.sureness if verdict.is_enough else None,
        "fewest_splits_for_a_probability": FEWEST_SPLITS,
        "verdict": verdict.sentences(),
        "compared": [
            {
                "model": line.model,
                "served": line.name,
                "test_error": float(line.errors.mean()),
                "beside_plain": line.over_plain._asdict(),
                "probability_of_best": line.lowest if verdict.is_enough else None,
                "same_choice_as_plain": line.same_choice if line.is_choice else None,
                "promise_beside_test": line.promised._asdict(),
            }
            for line in verdict.lines
        ],
    }
    return json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
