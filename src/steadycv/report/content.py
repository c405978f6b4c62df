"""What a report says of one search: everything that its template needs, nothing that is drawn."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from steadycv.error_words import ErrorWords
from steadycv.expectations import Expected
from steadycv.lattice_picture import LatticeErrors
from steadycv.plotting.frontier import Frontier
from steadycv.plotting.grid_errors import MEASURES, GridErrors
from steadycv.plotting.weight_path import WeightPath
from steadycv.report.explained import Explained
from steadycv.split_words import SplitWords
from steadycv.strategies import get_proposals
from steadycv.summary import (
    OfferRow,
    Row,
    beside_baseline,
    has_nested_error,
    offer_rows,
    side_by_side,
    what_was_delivered,
)
from steadycv.weights import FEWEST_VIEWS
from steadycv.words import number, setting, value_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.explain.importance import ColumnImportance
    from steadycv.results import RuleChoice
    from steadycv.search import StabilitySearchCV

__all__ = ["Content", "Winner", "describe"]

MOST_ROWS = 1000  # of the table of candidates
MOST_PARTS = 6  # of a list of grids, a picture each

_STRATEGIES = {"coordinate": "coordinate descent along the axes of the grid"}


class Winner(NamedTuple):
    """A candidate that was chosen in some view."""

    candidate: int  # -1 where every candidate failed
    setting: str
    times: int
    share: float  # of the views


class Candidate(NamedTuple):
    """A row of the table."""

    candidate: int
    rank: int | None
    values: list[str]
    errors: list[float | None]
    state: str  # why there is no error


@dataclass(frozen=True)
class Content:
    """What a report says of one search.

    Errors are numbers, minus the score where one drives; settings are texts, and what is not known is
    None.
    """

    name: str
    search: StabilitySearchCV
    words: ErrorWords
    splits: SplitWords
    chosen: dict[str, str]
    choice: str
    plain_choice: str
    comparison: list[Row]
    promised: Expected
    delivered: str
    offers: list[OfferRow]
    nested_error: float | None
    plain_nested_error: float | None
    no_nested_error: str
    outer_errors: NDArray[np.float64]
    n_samples: int
    n_judged: int
    n_views: int
    n_candidates: int
    n_looked_at: int
    n_failed: int
    strategy: str
    where_from: str
    frontier: Frontier | None
    weight_path: WeightPath | None
    grids: list[list[GridErrors]]
    held: NDArray[np.intp] | None
    n_parts: int
    winners: list[Winner]
    columns: list[str]
    measures: list[str]
    table: list[Candidate]
    seeds: dict[str, str]
    explained: Explained
    lattice: LatticeErrors

    @property
    def is_plain(self) -> bool:
        """Whether both choices are the same candidate."""
        return bool(self.search.best_index_ == self.search.kfold_index_)

    @property
    def n_weights(self) -> int:
        """How many weights there were to choose from: one where the views are too few to choose."""
        return 1 if self.has_too_few_views else len(self.search.weights_["weight"])

    @property
    def has_too_few_views(self) -> bool:
        """Whether several weights were given, and too few views to choose one."""
        return self.n_views < FEWEST_VIEWS and len(self.search.weights_["weight"]) > 1

    @property
    def disappointment(self) -> float | None:
        """How much better the CV error of the choice is than what to expect of it."""
        return self.words.disappointment(self.search.cv_error_, self.promised.of_choice)

    @property
    def beside_baseline(self) -> str:
        """What it would cost to look at no column."""
        return beside_baseline(self.search)

    @property
    def interval(self) -> list[float] | None:
        """The ends of the promise's interval as they are shown, the lower one first."""
        ends = self.promised.interval
        return None if ends is None else sorted(self.words.shown(end) for end in ends)

    @property
    def given_up(self) -> float:
        """How much worse the choice is in cross-validation than the plain one."""
        error = self.search.cv_results_["cv_error"]
        steady, plain = error[self.search.best_index_], error[self.search.kfold_index_]
        if self.words.is_score:
            return float(steady - plain)
        return float(steady / plain - 1) if plain else 0.0

    @property
    def instability(self) -> float | None:
        """The instability of the choice."""
        return _finite(self.search.cv_results_["instability"][self.search.best_index_])

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
        """In how many views the choice was chosen as well."""
        return sum(w.times for w in self.winners if w.candidate == self.search.best_index_)

    def read_outs(self) -> list[str]:
        """What a chart says of each candidate that is pointed at."""
        results = self.search.cv_results_
        columns = self.words.shown(results["cv_error"]).tolist(), results["instability"].tolist()
        return [
            f"{setting(params)}: {self.words.cv} {number(error)}, instability {number(instability)}"
            for params, error, instability in zip(results["params"], *columns, strict=True)
        ]

    def weight_read_outs(self) -> list[str]:
        """What the chart of the weights says of each of them."""
        path, on_outer = self.weight_path, f"on the outer {self.splits.word}s"
        if path is None:
            return []
        return [
            f"weight {number(weight)}: {number(error)} {on_outer}, with a standard "
            f"deviation of {number(spread)}; on all data it chooses {_setting_of(self.search, choice)}"
            for weight, error, spread, choice in zip(
                path.weight, self.words.shown(path.mean_error), path.spread, path.choice, strict=True
            )
        ]


def describe(
    search: StabilitySearchCV, name: str, importance: ColumnImportance | None = None
) -> Content:
    """Find out what there is to say of a fitted search."""
    check_is_fitted(search)
    results = search.cv_results_
    error = results["cv_error"]
    taken = search.rules_[search.rule] if "mean_error" in search.weights_ else None
    nested = search.nested_error_ if has_nested_error(search) else None
    promised = Expected.of(search)
    words = ErrorWords.of(search)
    is_zero = search.weights_["weight"] == 0
    columns = list(dict.fromkeys(key for params in results["params"] for key in params))
    measures = [
        measure
        for measure in MEASURES
        if np.isfinite(results[measure]).any()
        and (measure != "regularized_error" or search.stability_weight_ > 0)
    ]
    parts = search._boxes
    grids = [
        [data for m in measures if (data := GridErrors.from_search(search, m, part=part)) is not None]
        for part in range(min(len(parts), MOST_PARTS))
    ]
    return Content(
        name=name,
        search=search,
        words=words,
        splits=SplitWords.of(search.lattice_),
        chosen={k: value_text(v) for k, v in search.best_params_.items()},
        choice=_setting_of(search, search.best_index_),
        plain_choice=_setting_of(search, search.kfold_index_),
        comparison=side_by_side(search),
        promised=promised,
        delivered=what_was_delivered(search),
        offers=offer_rows(search),
        nested_error=nested,
        plain_nested_error=float(search.weights_["mean_error"][is_zero][0])
        if nested is not None and is_zero.any()
        else None,
        no_nested_error="" if nested is not None else _why_no_nested_error(search),
        outer_errors=np.zeros(0) if nested is None else search.offers_[search.deliver].errors,
        n_samples=search.lattice_.n_samples,
        n_judged=round(float(np.mean([len(split.test) for split in search.lattice_.splits]))),
        n_views=len(search.lattice_.views),
        n_candidates=len(error),
        n_looked_at=int((~np.isnan(error)).sum()),
        n_failed=int(np.isposinf(error).sum()),
        strategy=_strategy(search),
        where_from=_where_from(search, len(error)),
        frontier=Frontier.from_search(search),
        weight_path=WeightPath.from_search(search),
        grids=[grid for grid in grids if grid],
        held=_held(search),
        n_parts=len(parts),
        winners=[] if taken is None else _winners(search, taken),
        columns=columns,
        measures=measures,
        table=_table(search, words, columns, measures),
        seeds=_seeds(search),
        explained=Explained.of(search, importance),
        lattice=LatticeErrors.from_search(search),
    )


def _setting_of(search: StabilitySearchCV, candidate: int) -> str:
    return "none, as all failed" if candidate < 0 else setting(search.cv_results_["params"][candidate])


def _where_from(search: StabilitySearchCV, n_candidates: int) -> str:
    if hasattr(search, "param_distributions"):
        return f"{n_candidates} were drawn at random"
    if get_proposals(search.search) is not None:
        return f"{n_candidates} were proposed while the search ran"
    return f"the grid has {n_candidates}"


def _strategy(search: StabilitySearchCV) -> str:
    """In what way a search looks at some candidates only."""
    if get_proposals(search.search) is not None:
        return "for the choice on all data; the others for those without a part of them"
    strategy = search.search if isinstance(search.search, str) else value_text(search.search)
    return _STRATEGIES.get(strategy, strategy)


def _why_no_nested_error(search: StabilitySearchCV) -> str:
    if not search.nested:
        return "the search ran with nested=False"
    if not search.lattice_.views:
        return "none of the splits sees another one inside its training rows"
    return "the candidate was picked by a function outside the nested cross-validation"


def _held(search: StabilitySearchCV) -> NDArray[np.intp] | None:
    """After each round of a race, how many candidates the views hold, the final one first."""
    lattice, ledger = search.lattice_, search.ledger_
    if not ledger.with_parts or not lattice.views:
        return None
    left = np.column_stack([ledger.left_from(view) for view in (lattice.final, *lattice.views)])
    return np.array([((left == 0) | (left > n)).sum(axis=0) for n in range(int(left.max()) + 1)])


def _winners(search: StabilitySearchCV, taken: RuleChoice) -> list[Winner]:
    times = Counter(taken.view_candidates.tolist())
    total = sum(times.values())
    return [Winner(i, _setting_of(search, i), n, n / total) for i, n in times.most_common()]


def _table(
    search: StabilitySearchCV, words: ErrorWords, columns: list[str], measures: list[str]
) -> list[Candidate]:
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
            errors=[_finite(words.shown_measure(measure, results[measure][i])) for measure in measures],
            state=_why_no_error(search, i),
        )
        for i in shown
    ]


def _why_no_error(search: StabilitySearchCV, candidate: int) -> str:
    if np.isposinf(search.cv_results_["cv_error"][candidate]):
        return "failed"
    left = search.ledger_.left[candidate, 0]
    return f"left in round {left}" if left and search.ledger_.with_parts else "not looked at"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _seeds(search: StabilitySearchCV) -> dict[str, str]:
    """Where chance has a hand, and what it was fixed to."""
    seeds = {
        name: "0 in every fit (None was given)" if value is None else value_text(value)
        for name, value in search.estimator.get_params(deep=True).items()
        if name.rsplit("__", 1)[-1] == "random_state"
    }
    splits = f"the {SplitWords.of(search.lattice_).word}s"
    if getattr(search.cv, "random_state", None) is not None:
        seeds[splits] = value_text(search.cv.random_state)
    elif not hasattr(search.cv, "split") or not getattr(search.cv, "shuffle", True):
        seeds[splits] = "none, they are not shuffled"
    elif hasattr(search.cv, "random_state"):
        seeds[splits] = f"none was given, so {splits} are others each time"
    return {f"of {name}": value for name, value in seeds.items()}
