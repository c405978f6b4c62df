"""Results: the ledger and the choices as the tables that a fitted search has."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv import rules
from steadycv._compat import format_results
from steadycv.scores import BEYOND
from steadycv.weights import chosen_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.candidates import Candidates
    from steadycv.ledger import Ledger
    from steadycv.rules import Rule
    from steadycv.selection import Choices

__all__ = [
    "NestedScore",
    "RuleChoice",
    "choice_of",
    "grid_search_results",
    "grid_table",
    "nested_scores",
    "results_frame",
    "weights_table",
    "why_no_choice",
]

NO_CHOICE = (
    "Every candidate failed on some training set, or its score there is no number, so there is none to "
    "choose. {}Where something failed the warning above has the errors; with error_score='raise' the "
    "first one stops the search."
)
NOWHERE = (
    "On the test rows of split {} no candidate has a score. If they lack a class or some targets that "
    "the score needs, stratified, shuffled or larger test sets have them. "
)


class NestedScore(NamedTuple):
    """The mean score on rows that the choice was made without.

    Attributes
    ----------
    steady, plain : float
        Of what is chosen at the chosen stability weight, and at weight 0.
    """

    steady: float
    plain: float


class RuleChoice(NamedTuple):
    """What a rule chooses, and what that is worth.

    Attributes
    ----------
    candidate : int
        The choice on all data, as its number in ``cv_results_``; -1 where all candidates failed.
    params : dict
        Its parameters.
    weight : float
        The stability weight that the rule chose; NaN for a rule that has none.
    cv_error : float
        The choice's cross-validation error, minus the score where one drives.
    nested_error : float
        The mean error in the views of what the rule chooses there; NaN without a view, or where an
        adaptive search did not look.
    view_candidates : ndarray of int
        What it chooses in each of ``lattice_.views``; -1 where all candidates failed.
    view_errors : ndarray
        The error of that on the rows that the view has never seen.
    """

    candidate: int
    params: dict[str, Any]
    weight: float
    cv_error: float
    nested_error: float
    view_candidates: NDArray[np.intp]
    view_errors: NDArray[np.float64]


def grid_search_results(
    search: Any, candidates: Candidates, ledger: Ledger, driving: str | None
) -> dict[str, Any]:
    """GridSearchCV's table, made by the code that makes GridSearchCV's.

    `driving` names the score that drives the selection, if one does.
    """
    judged = np.flatnonzero(ledger.lattice.evaluation_of_split >= 0)
    error = ledger.error[:, ledger.lattice.evaluation_of_split[judged]]
    times = (table[:, judged].ravel().tolist() for table in (ledger.fit_time, ledger.score_time))
    rows = [{"fit_time": fit, "score_time": score} for fit, score in zip(*times, strict=True)]
    kinds = {"test_scores": ledger.test_scores}
    if search.return_train_score:
        kinds["train_scores"] = ledger.train_scores
    for kind, tables in kinds.items():
        scores = _filled({name: t[:, judged] for name, t in tables.items()}, error, search.error_score)
        found: list[Any] = (
            [dict(zip(scores, row, strict=True)) for row in zip(*scores.values(), strict=True)]
            if search.multimetric_
            else scores["score"]
        )
        for row, each in zip(rows, found, strict=True):
            row[kind] = each
    with warnings.catch_warnings():
        # A driving score that is no number is worth a warning; not a candidate that nobody looked at, a
        # fit that failed, which was warned of, or another score that is not defined.
        driven = ledger.test_scores.get(driving or "", np.zeros(ledger.fit_time.shape))[:, judged]
        is_number = np.isfinite(driven) & (driven < BEYOND)
        if (is_number | np.isposinf(driven) | np.isnan(error)).all():
            warnings.filterwarnings("ignore", message="One or more of the")
        results: dict[str, Any] = format_results(search, list(candidates), len(judged), rows)
    return results if len(judged) == len(ledger.lattice.splits) else _renumbered(results, judged, ledger)


def _filled(
    tables: dict[str, NDArray[np.float64]], error: NDArray[np.float64], error_score: float | str
) -> dict[str, list[float]]:
    """Scores by name, with the error score where the fit or the scorer failed."""
    # Where a fit failed, scores whose names only a result tells were never heard of.
    lost = np.isposinf(error) & np.all([~np.isfinite(t) for t in tables.values()], axis=0)
    filled = {}
    for name, table in tables.items():
        failed = np.isposinf(table) | (np.isnan(table) & lost)
        scores = np.where(table == BEYOND, np.inf, table)
        if failed.any():
            scores[failed] = float(error_score)
        filled[name] = scores.ravel().tolist()
    return filled


def _renumbered(results: dict[str, Any], judged: NDArray[np.intp], ledger: Ledger) -> dict[str, Any]:
    """The columns of splits under their own numbers; NaN for splits on which nobody can be judged."""
    found: dict[str, Any] = {}
    numbers = {f"split{i}": f"split{split}" for i, split in enumerate(judged.tolist())}
    left_out = sorted(set(range(len(ledger.lattice.splits))) - set(judged.tolist()))
    for name, column in results.items():
        split, _, what = name.partition("_")
        found[f"{numbers[split]}_{what}" if split in numbers else name] = column
        if split == f"split{len(judged) - 1}":
            found |= {f"split{i}_{what}": np.full(len(ledger), np.nan) for i in left_out}
    return found


def weights_table(ledger: Ledger, weights: Sequence[float], choices: Choices) -> dict[str, NDArray[Any]]:
    """Each weight, its errors in the views, and its choices."""
    final = [choices.final[w] for w in weights]
    is_known = all(w in choices.inner for w in weights)
    inner = np.stack([choices.inner[w] for w in weights], axis=1) if is_known else None
    return _table(ledger, weights, final, inner)


def results_frame(results: dict[str, Any], package: str) -> Any:
    """GridSearchCV's table as a data frame of polars or, of whatever else the data were, of pandas."""
    columns = {name: values for name, values in results.items() if name != "params"}
    if package != "polars":
        import pandas

        return pandas.DataFrame(columns)
    import polars

    return polars.DataFrame({name: _of_one_type(values.tolist()) for name, values in columns.items()})


def _of_one_type(values: list[Any]) -> list[Any]:
    """Numbers, or texts and nothing else; None where there is no value."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {int, float} or types in ({bool}, {str}):
        return [
            float(value) if types == {int, float} and value is not None else value for value in values
        ]
    return [None if value is None else str(value) for value in values]


def grid_table(ledger: Ledger, weights: Sequence[float]) -> dict[str, NDArray[Any]]:
    """The same where all candidates are known, whatever was asked for."""
    final, *inner = (
        rules.weighted_choices(rules.error(ledger, view), rules.instability(ledger, view), weights)
        for view in (ledger.lattice.final, *ledger.lattice.views)
    )
    return _table(ledger, weights, final.tolist(), np.array(inner, dtype=np.intp))


def _table(
    ledger: Ledger, weights: Sequence[float], final: list[int], inner: NDArray[np.intp] | None
) -> dict[str, NDArray[Any]]:
    """The table of weights; `inner` has a row for each view and a column for each weight."""
    table: dict[str, NDArray[Any]] = {"weight": np.array(weights, dtype=np.float64)}
    views = ledger.lattice.views
    if views and inner is not None:
        errors = rules.judged_errors(ledger, inner)
        table |= {f"split{v.split}_error": row for v, row in zip(views, errors, strict=True)}
        table["mean_error"] = errors.mean(axis=0)
        table |= {f"split{v.split}_index": row for v, row in zip(views, inner, strict=True)}
    table["index"] = np.array(final, dtype=np.intp)
    return table


def choice_of(
    rule: str | Rule,
    ledger: Ledger,
    candidates: Sequence[dict[str, Any]] | Candidates,
    table: dict[str, NDArray[Any]],
) -> RuleChoice:
    """What a rule chooses; one that chooses a weight finds the weights in `table`."""
    views, weight = ledger.lattice.views, np.nan
    in_views: Sequence[int] = []
    if isinstance(rule, str) and rule in rules.HAVE_WEIGHT:
        row = chosen_row(rule, ledger.lattice, table)
        weight, final = float(table["weight"][row]), int(table["index"][row])
        if "mean_error" in table:
            in_views = [table[f"split{view.split}_index"][row] for view in views]
    else:
        function = rules.OF_CANDIDATES[rule] if isinstance(rule, str) else rule
        final, *in_views = (
            rules.chosen_by(function, ledger, view) for view in (ledger.lattice.final, *views)
        )
    chosen = np.array(in_views, dtype=np.intp)
    errors = rules.judged_errors(ledger, chosen) if len(chosen) else np.zeros(0)
    return RuleChoice(
        candidate=final,
        params=candidates[final] if final >= 0 else {},
        weight=weight,
        cv_error=float(rules.error(ledger, ledger.lattice.final, [final])[0]) if final >= 0 else np.inf,
        nested_error=float(errors.mean()) if len(errors) else np.nan,
        view_candidates=chosen,
        view_errors=errors,
    )


def nested_scores(
    ledger: Ledger, steady: NDArray[np.intp], plain: NDArray[np.intp] | None
) -> dict[str, NestedScore]:
    """By reported score, its mean over the views, each judged on the rows that it has never seen."""
    return {
        name: NestedScore(
            _mean_score(ledger, table, steady),
            np.nan if plain is None else _mean_score(ledger, table, plain),
        )
        for name, table in ledger.test_scores.items()
    }


def _mean_score(ledger: Ledger, table: NDArray[np.float64], chosen: NDArray[np.intp]) -> float:
    splits = np.array([view.split for view in ledger.lattice.views], dtype=np.intp)
    scores = np.where(chosen < 0, np.nan, table[chosen, splits])
    return float(np.where(np.isfinite(scores) & (scores < BEYOND), scores, np.nan).mean())


def why_no_choice(ledger: Ledger) -> str:
    """What to say where none can be chosen: on which splits nobody has a score, and what helps."""
    judged = np.flatnonzero(ledger.lattice.evaluation_of_split >= 0)
    error = ledger.error[:, ledger.lattice.evaluation_of_split[judged]]
    nowhere = judged[np.isinf(error).any(axis=0) & ~np.isfinite(error).any(axis=0)]
    numbers = ", ".join(map(str, nowhere.tolist()))
    return NO_CHOICE.format(NOWHERE.format(numbers) if numbers else "")
