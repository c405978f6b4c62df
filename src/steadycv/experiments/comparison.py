"""Several selections on one's own data, from the fits of one search a split.

Nested selection has the default weights here: the paper's ten, and 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.candidates import Grid as CandidateGrid
from steadycv.experiments.models import NESTED, PLAIN, WEIGHTS, Choice, outcomes
from steadycv.experiments.result_file import ResultFile
from steadycv.experiments.running import fingerprint_of, run_units
from steadycv.experiments.table_runs import COLUMNS, KEY, split_unit
from steadycv.rules import first_minimum
from steadycv.search import StabilitySearchCV

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from steadycv.experiments.models import Outcome
    from steadycv.experiments.splits import Split

__all__ = ["FIXED_WEIGHTS", "ONE_STANDARD_ERROR", "ComparedModel", "run_comparison"]

ONE_STANDARD_ERROR = "one standard error"
FIXED_WEIGHTS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class ComparedModel:
    """A model whose selections are compared.

    Attributes
    ----------
    name : str
        What it is called.
    estimator : callable
        Makes it.
    grid : callable
        The grid, given the data to tune on: a dict whose values go from the simplest on. The first axis
        counts most. The rule of one standard error takes the first candidate that is good enough.
    """

    name: str
    estimator: Callable[[], Any]
    grid: Callable[[Any, Any], dict[str, list[Any]]]

    @property
    def selections(self) -> tuple[str, ...]:
        """The selections that a run gives an outcome of."""
        return (PLAIN, NESTED, ONE_STANDARD_ERROR, *map(fixed_name, FIXED_WEIGHTS))

    def configuration(self, X: Any, y: Any) -> Any:
        """What its results on some data depend on."""
        return self.name, repr(self.estimator()), self.grid(X, y)

    def run(self, split: Split) -> list[Outcome]:
        """Tune on one split, and try what was chosen on the test data."""
        grid = self.grid(split.X, split.y)
        search = StabilitySearchCV(
            self.estimator(),
            grid,
            stability_weights=np.union1d([0.0, *WEIGHTS], FIXED_WEIGHTS),
            rule="paper",
            loss="squared_error",
            cv=split.cv,
            refit=False,
            error_score="raise",
        ).fit(split.X, split.y)
        cv_error = search.cv_results_["cv_error"]
        weights, index, error = (search.weights_[name] for name in ("weight", "index", "mean_error"))
        is_default = ~np.isin(weights, FIXED_WEIGHTS)
        best = int(np.flatnonzero(is_default)[first_minimum(error[is_default])])
        simple = simplest_within_one_standard_error(search, grid)
        choices = [
            Choice(PLAIN, search.plain_index_, 0.0, float(cv_error.min()), float(error[0])),
            _weighed(NESTED, best, weights, index, error),
            Choice(ONE_STANDARD_ERROR, simple, nan, float(cv_error[simple]), nan),
        ]
        for weight in FIXED_WEIGHTS:
            [i] = np.flatnonzero(weights == weight).tolist()
            choices.append(_weighed(fixed_name(weight), i, weights, index, error))
        return outcomes(search, choices, split)


def run_comparison(
    model: ComparedModel,
    X: Any,
    y: NDArray[np.float64],
    path: Path,
    *,
    name: str = "data",
    n_splits: int = 50,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = False,
) -> None:
    """Compare the selections of a model on random splits, or go on with it; rows are in a CSV file.

    Parameters
    ----------
    model : ComparedModel
        The model.
    X, y : data
        The samples.
    path : Path
        The file, as that of :func:`run_table`.
    name : str, default="data"
        What the data are called; the splits depend on it.
    n_splits : int, default=50
        How many random splits.
    seed, jobs, progress
        As in :func:`run_table`.
    """
    described = X.to_csv() if hasattr(X, "to_csv") else X
    fingerprint = fingerprint_of(seed, name, described, y, model.configuration(X, y))
    unit = partial(split_unit, "comparison", model, name, (X, y), seed=seed, fingerprint=fingerprint)
    with ResultFile(path, KEY, COLUMNS, seed=seed) as file:
        run_units([unit(i) for i in range(n_splits)], file, jobs=jobs, progress=progress)


def fixed_name(weight: float) -> str:
    """What the selection with a fixed weight is called."""
    return f"weight {weight:g}"


def simplest_within_one_standard_error(search: StabilitySearchCV, grid: dict[str, list[Any]]) -> int:
    """The simplest candidate whose CV error is within a standard error of the lowest one.

    The standard error is that of the lowest one's mean over folds. Simpler is what comes first in the
    grid as it is written, whose first axis counts most.
    """
    cv_error = search.cv_results_["cv_error"]
    best = search.plain_index_
    of_folds = search.ledger_.error[best, search.lattice_.final.evaluations]
    limit = cv_error[best] + of_folds.std(ddof=1) / sqrt(len(of_folds))
    [box] = CandidateGrid(grid).boxes
    ordered = box.table().ravel()
    return int(ordered[np.argmax(cv_error[ordered] <= limit)])


def _weighed(name: str, i: int, weights: Any, index: Any, error: Any) -> Choice:
    return Choice(name, int(index[i]), float(weights[i]), float(error[i]), float(error[i]))
