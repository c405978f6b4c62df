"""The run of ``steadycv compare``: a model of the catalogue on random splits of a table."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from rich.console import Console

from steadycv.cli.errors import Interruption, told_in_one_line
from steadycv.cli.pipelines import behind, default_grid, find_model
from steadycv.experiments.comparison import ComparedModel, run_comparison
from steadycv.experiments.result_file import WrongResultsError
from steadycv.experiments.summary import read_results
from steadycv.experiments.verdict import judge
from steadycv.tables import hints
from steadycv.tables.files import name_of, read_file
from steadycv.tables.remarks import remarks
from steadycv.tables.table import find_used
from steadycv.tables.targets import features_and_target

__all__ = ["run_compare"]


def run_compare(
    data: Path, target: str, model: str, *, splits: int, jobs: int, seed: int, out: Path | None
) -> None:
    """Compare the selections of a model, and show the verdict."""
    with told_in_one_line(WrongResultsError):
        chosen = find_model(model, "regression")
        frame, about = read_file(data)
        features, found = features_and_target(frame, target, "regression")
        X, readings = find_used(features)
        compared = ComparedModel(
            model,
            partial(behind, readings, chosen, "regression"),
            partial(default_grid, chosen, "regression"),
        )
        compared.estimator()  # says what is not installed
        console, name = Console(), Path(name_of(data)).name
        with tempfile.TemporaryDirectory() as folder:
            path = out or Path(folder) / "results.csv"
            try:
                run_comparison(
                    compared,
                    X,
                    found.y,
                    path,
                    name=name,
                    n_splits=splits,
                    seed=seed,
                    jobs=jobs,
                    progress=True,
                )
            except KeyboardInterrupt:
                if out:
                    raise
                kept = "Interrupted. Nothing is kept; with --out FILE.csv the same command would go on."
                raise Interruption(kept) from None
            results = read_results(path)
        verdict = judge(results.only(n_splits=splits), name, model, compared.selections)
        warned = [
            *hints.leaks(X, readings, found),
            *hints.order(features, readings, found, "steadycv tune --time {}"),
        ]
        for line in [*about, *remarks(readings), *found.notes, *warned]:
            console.print(line, markup=False, highlight=False)
        console.print(verdict.sheet.to_rich(console.width))
        for line in verdict.words:
            console.print(line, markup=False, highlight=False)
        if out:
            console.print(f"Results: {out}", markup=False, highlight=False)
