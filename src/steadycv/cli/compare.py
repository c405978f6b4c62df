"""``steadycv compare``: which choice or delivery serves best on one's own data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated

from steadycv.cli import options  # Typer reads the types
from steadycv.cli.errors import UserError, told_in_one_line
from steadycv.cli.interruption import interruptible
from steadycv.cli.options import HOW, WHAT, option
from steadycv.cli.request import COMPARISON, CompareRequest, Deliver

__all__ = ["compare"]


def compare(
    data: options.Data = None,
    target: options.Target = None,
    model: options.Model = ["cart"],  # noqa: B006  # Typer reads it, nobody changes it
    task: options.TaskOption = None,
    table: options.Table = None,
    keep: options.Keep = [],  # noqa: B006
    merge_rare: options.MergeRare = False,
    groups: options.Groups = None,
    time: options.Time = None,
    grid: options.Grid = None,
    scoring: options.Scoring = None,
    folds: options.Folds = 5,
    splits: Annotated[int | None, option("How often to tune and to test (50).", "N", HOW, min=2)] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    deliver: Annotated[
        list[str], option("committee, ensemble, student (all), or model for none.", "NAME", WHAT)
    ] = [*CompareRequest.deliver],  # noqa: B006
    out: Annotated[Path, option(f"Folder of the results ({COMPARISON}).", "DIR", WHAT)] = COMPARISON,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which way to choose or deliver serves best on your data, and how sure that is.

    A model is tuned on a part of the rows, many times. The plain choice, the steady choice, the rule of
    one standard error, the committee, the ensemble and the student are tested on the others.
    """
    with told_in_one_line():
        request = CompareRequest(
            data=data,
            target=target,
            model=options.models(model),
            task=task,
            table=table,
            keep=tuple(keep),
            merge_rare=merge_rare,
            groups=groups,
            time=time,
            grid=grid,
            scoring=scoring,
            folds=folds,
            splits=splits,
            seed=seed,
            jobs=jobs,
            deliver=_kinds(deliver),
            out=out,
        )
        from steadycv.cli.run_compare import run_compare

        with interruptible():
            run_compare(request, as_json=as_json, quiet=quiet)


def _kinds(given: list[str]) -> tuple[Deliver, ...]:
    names = options.listed(given)
    unknown = [name for name in names if name not in list(Deliver)]
    if unknown or not names:
        known = ", ".join(Deliver)
        raise UserError(f"--deliver takes {known}, got {unknown[0] if unknown else 'nothing'!r}.")
    return tuple(each for each in Deliver if each in names)
