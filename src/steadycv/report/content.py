"""What a report says of one search: everything that its template needs, nothing that is drawn."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from steadycv.candidates import Grid
from steadycv.plotting.frontier import Frontier
from steadycv.plotting.grid_errors import MEASURES, GridErrors
from steadycv.plotting.weight_path import WeightPath
from steadycv.summary import Row, has_nested_error, side_by_side
from steadycv.words import loss_name, number, setting, value_text

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["Content", "Winner", "describe", "model_name"]

MOST_ROWS = 1000  # of the table of candidates
MOST_PARTS = 6  # of a list of grids, a picture each

_STRATEGIES = {"grid": "the whole grid", "coordinate": "coordinate descent along the axes of the grid"}


class Winner(NamedTuple):
    """A candidate that was chosen without some outer fold."""

    candidate: int  # -1 where every candidate failed
    setting: str
    times: int
    share: float  # of the outer folds


class Candidate(NamedTuple):
    """A row of the table."""

    candidate: int
    rank: int | None
    values: list[str]
    errors: list[float]
    state: str  # why there is no error


@dataclass(frozen=True)
class Content:
    """What a report says of one search.

    Errors are numbers, settings are texts, and what is not known is None.
    """

    name: str
    search: StabilitySearchCV
    loss: str
    in_other_words: str
    chosen: dict[str, str]
    choice: str
    plain_choice: str
    comparison: list[Row]
    nested_error: float | None
    plain_nested_error: float | None
    outer_errors: list[float]
    n_samples: int
    n_folds: int
    n_repeats: int
    n_candidates: int
    n_looked_at: int
    n_failed: int
    strategy: str
    frontier: Frontier | None
    weight_path: WeightPath | None
    grids: list[list[GridErrors]]
    n_parts: int
    winners: list[Winner]
    columns: list[str]
    measures: list[str]
    table: list[Candidate]
    seeds: dict[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether both choices are the same candidate."""
        return bool(self.search.best_index_ == self.search.kfold_index_)

    @property
    def n_weights(self) -> int:
        """How many weights there were to choose from."""
        return len(self.search.weights_["weight"])

    @property
    def disappointment(self) -> float | None:
        """How much lower the promise is than what to expect, as a share of the latter."""
        return 1 - self.search.cv_error_ / self.nested_error if self.nested_error else None

    @property
    def code(self) -> str:
        """The search as Python writes it, nothing left out."""
        return str(BaseEstimator.__repr__(self.search, N_CHAR_MAX=math.inf))

    @property
    def choice_code(self) -> str:
        """The choice as Python writes it."""
        params = self.search.best_params_.items()
        return repr({k: v.item() if isinstance(v, np.generic) else v for k, v in params})

    @property
    def times_chosen(self) -> int:
        """Without how many outer folds the choice was chosen as well."""
        return sum(w.times for w in self.winners if w.candidate == self.search.best_index_)

    def read_outs(self) -> list[str]:
        """What a chart says of each candidate that is pointed at."""
        results = self.search.cv_results_
        columns = results["cv_error"].tolist(), results["instability"].tolist()
        return [
            f"{setting(params)}: CV error {number(error)}, instability {number(instability)}"
            for params, error, instability in zip(results["params"], *columns, strict=True)
        ]

    def weight_read_outs(self) -> list[str]:
        """What the chart of the weights says of each of them."""
        path = self.weight_path
        if path is None:
            return []
        return [
            f"weight {number(weight)}: {number(error)} on the outer folds, with a standard deviation of "
            f"{number(spread)}; on all data it chooses {_setting_of(self.search, choice)}"
            for weight, error, spread, choice in zip(
                path.weight, path.mean_error, path.spread, path.choice, strict=True
            )
        ]


def describe(search: StabilitySearchCV, name: str) -> Content:
    """Find out what there is to say of a fitted search."""
    check_is_fitted(search)
    results = search.cv_results_
    error = results["cv_error"]
    path = WeightPath.from_search(search)
    nested = search.nested_error_ if has_nested_error(search) else None
    is_zero = search.weights_["weight"] == 0
    columns = list(dict.fromkeys(key for params in results["params"] for key in params))
    measures = [
        measure
        for measure in MEASURES
        if np.isfinite(results[measure]).any()
        and not (measure == "regularized_error" and search.stability_weight_ == 0)
    ]
    parts = Grid(search.param_grid).boxes
    grids = [
        [data for m in measures if (data := GridErrors.from_search(search, m, part=part)) is not None]
        for part in range(min(len(parts), MOST_PARTS))
    ]
    strategy = search.search if isinstance(search.search, str) else value_text(search.search)
    return Content(
        name=name,
        search=search,
        loss=loss_name(search.loss_),
        in_other_words=_in_other_words(search, search.cv_error_ if nested is None else nested),
        chosen={k: value_text(v) for k, v in search.best_params_.items()},
        choice=_setting_of(search, search.best_index_),
        plain_choice=_setting_of(search, search.kfold_index_),
        comparison=side_by_side(search),
        nested_error=nested,
        plain_nested_error=float(search.weights_["mean_error"][is_zero][0])
        if nested is not None and is_zero.any()
        else None,
        outer_errors=[] if path is None else path.error[path.chosen].tolist(),
        n_samples=int(search._fold_sizes[0].sum()),
        n_folds=len(search._fold_sizes[0]),
        n_repeats=len(search._fold_sizes),
        n_candidates=len(error),
        n_looked_at=int((~np.isnan(error)).sum()),
        n_failed=int(np.isposinf(error).sum()),
        strategy=_STRATEGIES.get(strategy, strategy),
        frontier=Frontier.from_search(search),
        weight_path=path,
        grids=[grid for grid in grids if grid],
        n_parts=len(parts),
        winners=[] if path is None else _winners(search, path),
        columns=columns,
        measures=measures,
        table=_table(search, columns, measures),
        seeds=_seeds(search),
    )


def model_name(search: StabilitySearchCV) -> str:
    """What to call a model: the class of the estimator, the last step's of a pipeline."""
    estimator = search.estimator
    while getattr(estimator, "steps", None):
        estimator = estimator.steps[-1][1]
    return type(estimator).__name__


def _setting_of(search: StabilitySearchCV, candidate: int) -> str:
    return "none, as all failed" if candidate < 0 else setting(search.cv_results_["params"][candidate])


def _in_other_words(search: StabilitySearchCV, error: float) -> str:
    """An error explained to someone who does not know the loss."""
    name = getattr(search.loss_, "name", None)
    if name == "squared_error":
        return f"a typical miss of about {_about(math.sqrt(error))} in the units of the target"
    if name == "absolute_error":
        return f"a miss of about {_about(error)} on average, in the units of the target"
    if name == "zero_one":
        return f"wrong about {_about(100 * error)} times in 100"
    if name == "log_loss":
        return (
            "0 would be perfect; what really happened was given a probability of "
            f"{math.exp(-error):.0%} on (geometric) average"
        )
    return "0 would be perfect"


def _about(value: float) -> str:
    return number(float(f"{value:.2g}"))


def _winners(search: StabilitySearchCV, path: WeightPath) -> list[Winner]:
    times = Counter(path.winner[path.chosen].tolist())
    total = sum(times.values())
    return [Winner(i, _setting_of(search, i), n, n / total) for i, n in times.most_common()]


def _table(search: StabilitySearchCV, columns: list[str], measures: list[str]) -> list[Candidate]:
    """The best candidates, best first, and in any case the two choices."""
    results = search.cv_results_
    order = np.argsort(results["rank_regularized_error"], kind="stable").tolist()
    shown = order[:MOST_ROWS]
    shown += [i for i in dict.fromkeys((search.best_index_, search.kfold_index_)) if i not in shown]
    known = np.isfinite(results["regularized_error"])
    return [
        Candidate(
            candidate=i,
            rank=int(results["rank_regularized_error"][i]) if known[i] else None,
            values=[
                value_text(results["params"][i][column]) if column in results["params"][i] else "-"
                for column in columns
            ],
            errors=[float(results[measure][i]) for measure in measures],
            state="failed" if np.isposinf(results["cv_error"][i]) else "not looked at",
        )
        for i in shown
    ]


def _seeds(search: StabilitySearchCV) -> dict[str, str]:
    """Where chance has a hand, and what it was fixed to."""
    seeds = {
        name: "0 in every fit (None was given)" if value is None else value_text(value)
        for name, value in search.estimator.get_params(deep=True).items()
        if name.rsplit("__", 1)[-1] == "random_state"
    }
    if getattr(search.cv, "random_state", None) is not None:
        seeds["the folds"] = value_text(search.cv.random_state)
    elif not hasattr(search.cv, "split") or not getattr(search.cv, "shuffle", True):
        seeds["the folds"] = "none, they are not shuffled"
    elif hasattr(search.cv, "random_state"):
        seeds["the folds"] = "none was given, so the folds are others each time"
    return {f"of {name}": value for name, value in seeds.items()}
