"""``steadycv tune``: hyperparameters for one's own data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated

from steadycv.cli import options  # Typer reads the types
from steadycv.cli.errors import told_in_one_line
from steadycv.cli.interruption import interruptible
from steadycv.cli.options import HOW, WHAT, flag, option
from steadycv.cli.request import AUTO, OUT, Deliver, Rule, TuneRequest

__all__ = ["tune"]


class Search(StrEnum):
    """How the grid is searched."""

    grid = "grid"
    coordinate = "coordinate"


def tune(
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
    weights: Annotated[str, option("Stability weights, as 0,0.1,1 (auto).", "NUMBERS", HOW)] = AUTO,
    rule: Annotated[
        Rule, option("steady, paper, plain or one_standard_error (steady).", "NAME", HOW)
    ] = Rule.steady,
    search: Annotated[Search, option("grid or coordinate (grid).", "NAME", HOW)] = Search.grid,
    folds: options.Folds = 5,
    repeats: Annotated[int, option("How often to draw new folds (1).", "N", HOW, min=1)] = 1,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    deliver: Annotated[
        Deliver, option("model, committee, ensemble or student (model).", "NAME", WHAT)
    ] = Deliver.model,
    out: Annotated[Path, option(f"Folder of the results ({OUT}).", "DIR", WHAT)] = OUT,
    resume: Annotated[Path | None, option("Ledger to keep, and to go on from.", "FILE", WHAT)] = None,
    widen: Annotated[bool, flag("--widen", "Go on beyond an end of the grid.", HOW)] = False,
    dry_run: Annotated[bool, flag("--dry-run", "Say what it takes, and write nothing.", HOW)] = False,
    tune_threshold: Annotated[
        bool, flag("--tune-threshold", "Save the threshold that the score wants.", WHAT)
    ] = False,
    mlflow: Annotated[bool, flag("--mlflow", "Log to MLflow, too (MLFLOW_TRACKING_URI).", WHAT)] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose hyperparameters that are steady, and say what to expect on new data.

    Writes a report, all results and the fitted model. Without DATA: a tree on diabetes data.
    """
    with told_in_one_line():
        request = TuneRequest(
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
            weights=weights,
            rule=rule,
            deliver=deliver,
            search=search.value,
            folds=folds,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            out=out,
            resume=resume,
            mlflow=mlflow,
            widen=widen,
            tune_threshold=tune_threshold,
        )
        from steadycv.cli.run_tune import run_dry, run_tune

        with interruptible():
            if dry_run:
                run_dry(request)
            else:
                run_tune(request, as_json=as_json, quiet=quiet)
