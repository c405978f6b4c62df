"""What columns are worth, for the report that ``steadycv tune`` writes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from steadycv.explain.importance import column_importance
from steadycv.summary import has_nested_error

if TYPE_CHECKING:
    from steadycv.cli.tuning import Problem
    from steadycv.explain.importance import ColumnImportance
    from steadycv.search import StabilitySearchCV

__all__ = ["worth_of_columns"]

MOST_CELLS = 200_000  # of a table: of a larger one it would take longer than one waits for a picture
N_SHUFFLES = 3


def worth_of_columns(problem: Problem, search: StabilitySearchCV) -> ColumnImportance | None:
    """That of a fitted search; None without a nested error, and of large tables."""
    n_rows, n_columns = problem.X.shape
    if n_rows * n_columns > MOST_CELLS or n_columns < 2 or not has_nested_error(search):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search has told of them
        return column_importance(search, problem.X, problem.target.y, n_repeats=N_SHUFFLES)
