"""Results: the ledger and the choices as the tables that a fitted search has."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv import rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.candidates import Grid
    from steadycv.folds import Lattice, TrainingSet
    from steadycv.ledger import Ledger
    from steadycv.selection import Choices

__all__ = ["grid_search_results", "in_order_of_samples", "weights_table"]


def grid_search_results(search: Any, grid: Grid, ledger: Ledger) -> dict[str, Any]:
    """GridSearchCV's table, made by the code that makes GridSearchCV's."""
    failed = np.isinf(ledger.error)
    columns: dict[str, list[Any]] = {
        "fit_time": ledger.fit_time.ravel().tolist(),
        "score_time": ledger.score_time.ravel().tolist(),
    }
    kinds = {"test_scores": ledger.test_scores}
    if search.return_train_score:
        kinds["train_scores"] = ledger.train_scores
    for kind, tables in kinds.items():
        scores = {}
        for name, table in tables.items():
            known = ~(failed | np.isposinf(table))
            scores[name] = [
                score if is_known else float(search.error_score)
                for score, is_known in zip(table.flat, known.flat, strict=True)
            ]
        columns[kind] = (
            [dict(zip(scores, row, strict=True)) for row in zip(*scores.values(), strict=True)]
            if search.multimetric_
            else scores["score"]
        )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    with warnings.catch_warnings():
        # Not looked at, which is nothing to warn of, or failed, which was warned of already.
        if not np.isfinite(ledger.error).all():
            warnings.filterwarnings("ignore", message="One or more of the")
        results: dict[str, Any] = search._format_results(grid.candidates, search.n_splits_, rows)
    return results


def weights_table(
    ledger: Ledger, weights: NDArray[np.float64], choices: Choices
) -> dict[str, NDArray[Any]]:
    """Each weight, its outer errors, and its choices."""
    table: dict[str, NDArray[Any]] = {"weight": weights}
    if ledger.nested:
        chosen = choices.outer.reshape(len(weights), -1)
        errors = rules.outer_error(ledger, choices.outer).reshape(len(weights), -1)
        table |= {f"split{i}_error": column for i, column in enumerate(errors.T)}
        table["mean_error"] = errors.mean(axis=1)
        table |= {f"split{i}_index": column for i, column in enumerate(chosen.T)}
    table["index"] = choices.overall
    return table


def in_order_of_samples(lattice: Lattice, outputs: dict[TrainingSet, NDArray[Any]]) -> NDArray[Any]:
    """Put the outputs on the left-out folds in the order of the samples; NaN where there are none."""
    example = next(iter(outputs.values()), np.full(1, np.nan))
    whole = len(outputs) == lattice.n_repeats * lattice.n_folds
    assembled = np.full(
        (lattice.n_repeats, lattice.n_samples, *example.shape[1:]),
        example.flat[0] if whole else np.nan,
        dtype=np.result_type(*(each.dtype for each in outputs.values())) if whole else None,
    )
    for training_set, values in outputs.items():
        assembled[training_set.repeat, lattice.left_out(training_set)] = values
    return assembled if lattice.n_repeats > 1 else assembled[0]
