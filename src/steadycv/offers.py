"""Offers: what could be delivered for the same fits, and what each would promise.

Whatever is judged on the rows of a view was chosen without the errors on these rows, so that no promise
is a minimum over what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv import rules
from steadycv.averages import Averages
from steadycv.promises import weights_without_own
from steadycv.students import NO_TEACHER
from steadycv.weights import FEWEST_VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steadycv.averages import FoldJudge, Tables
    from steadycv.lattice import Lattice
    from steadycv.promises import Promise
    from steadycv.results import RuleChoice
    from steadycv.rules import Rule
    from steadycv.students import Teaching

__all__ = [
    "DELIVER",
    "Offer",
    "choices_without_own",
    "committee_offer",
    "ensemble_offer",
    "model_offer",
    "others",
    "student_offer",
]

DELIVER = ("model", "committee", "ensemble", "student")
STEPS = 20  # of greedy selection: so many members of the same weight, with repetition
FEWEST = 2  # views that can choose for another one


@dataclass(frozen=True)
class Offer:
    """What one kind of delivery promises.

    Attributes
    ----------
    deliver : str
        The kind: ``"model"``, ``"committee"``, ``"ensemble"`` or ``"student"``.
    promise : float
        The error to expect of it.
    errors : ndarray
        By view, the error of what was chosen without the view's rows; their mean is the promise, unless
        `reason` says otherwise.
    candidates : tuple of int
        The candidates that it is made of, by their numbers in ``cv_results_``.
    weights : tuple of float
        The share of each.
    teaching : Teaching
        Of a student, the share of its target that is what the committee says, and whether it learns from
        made rows too.
    reason : str
        Why the promise is that figure.
    chosen : tuple of int
        Of a model, the candidate that was chosen without each view's rows.
    said : Averages
        What was chosen without a view's rows says of them.
    """

    deliver: str
    promise: float
    errors: NDArray[np.float64]
    candidates: tuple[int, ...]
    weights: tuple[float, ...] = (1.0,)
    teaching: Teaching = NO_TEACHER
    reason: str = ""
    chosen: tuple[int, ...] = ()
    said: Averages | None = field(default=None, repr=False)

    @property
    def share(self) -> float:
        """How much of a student's target is what the committee says; else 0."""
        return self.teaching.share


def others(lattice: Lattice) -> list[list[int]]:
    """By view, those whose errors may choose what is judged on its rows.

    They share no row with it, as far as there are some such; else they are all others.
    """
    tests = [set(lattice.splits[view.test_split].test.tolist()) for view in lattice.views]
    found = []
    for number, own in enumerate(tests):
        rest = [other for other in range(len(tests)) if other != number]
        apart = [other for other in rest if own.isdisjoint(tests[other])]
        found.append(apart if len(apart) >= FEWEST else rest)
    return found


def choices_without_own(
    rule: str | Rule, lattice: Lattice, weights: dict[str, NDArray[Any]], taken: RuleChoice
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """By view, what is chosen with the weight that the other views choose, and its error there."""
    if rule not in rules.CHOOSE_WEIGHT or len(lattice.views) < FEWEST_VIEWS:
        return taken.view_candidates, taken.view_errors
    table = np.stack([weights[f"split{view.split}_error"] for view in lattice.views])
    index = np.stack([weights[f"split{view.split}_index"] for view in lattice.views])
    table[:, ~np.isfinite(table).all(axis=0)] = np.inf  # what failed in some view
    rows = np.arange(len(table)), weights_without_own(str(rule), table, others(lattice))
    return index[rows], table[rows]


def model_offer(
    candidate: int,
    errors: NDArray[np.float64],
    promise: Promise,
    chosen: Sequence[int],
    said: Averages | None,
) -> Offer:
    """The choice, fitted on all data."""
    reason = promise.reason
    return Offer(
        "model", promise.error, errors, (candidate,), reason=reason, chosen=tuple(chosen), said=said
    )


def committee_offer(
    lattice: Lattice, candidates: NDArray[np.intp], errors: NDArray[np.float64], averages: Averages
) -> Offer:
    """The committee of the candidate whose committees do best in the views.

    `errors` are those of the committees of the candidates, by view.
    """
    best = rules.first_minimum(errors.mean(axis=1))
    chosen = [rules.first_minimum(errors[:, rest].mean(axis=1)) for rest in others(lattice)]
    by_view = errors[chosen, np.arange(len(chosen))]
    return Offer(
        "committee",
        float(by_view.mean()),
        by_view,
        (int(candidates[best]),),
        reason="the error of committees chosen without the rows that they are judged on",
        said=_one_a_view([averages.only([each]) for each in chosen]),
    )


def ensemble_offer(
    lattice: Lattice, candidates: NDArray[np.intp], averages: Averages, judge: FoldJudge
) -> Offer:
    """Committees of several candidates, by greedy selection with replacement."""
    weights = _greedy(averages, judge, range(len(lattice.views)))
    mixed = [averages.mixed(_greedy(averages, judge, rest)) for rest in others(lattice)]
    by_view = np.array([judge.errors(each, [view])[0, 0] for view, each in enumerate(mixed)])
    some = np.flatnonzero(weights)
    return Offer(
        "ensemble",
        float(by_view.mean()),
        by_view,
        tuple(candidates[some].tolist()),
        tuple((weights[some] / weights.sum()).tolist()),
        reason="the error of ensembles put together without the rows that they are judged on",
        said=_one_a_view(mixed),
    )


def _greedy(averages: Averages, judge: FoldJudge, views: Sequence[int]) -> NDArray[np.float64]:
    """How often each committee is taken, where each next one is the one that helps most."""
    errors = judge.errors(averages, views).mean(axis=1)
    taken = np.zeros(len(averages))
    total = None
    for step in range(STEPS):
        if total is not None:
            errors = judge.errors(averages.and_one_more(total, step), views).mean(axis=1)
        best = rules.first_minimum(errors)
        taken[best] += 1
        chosen = averages.only([best])
        total = chosen if total is None else total.plus(chosen)
    return taken


def student_offer(
    lattice: Lattice,
    candidates: NDArray[np.intp],
    teachings: Sequence[Teaching],
    errors: NDArray[np.float64],
    say: Callable[[int, int, int], Tables],
) -> Offer:
    """The student whose parameters and share do best.

    `errors` are of shape (n_shares, n_candidates, n_views); `say(share, candidate, view)` is what such a
    student says of the rows of the view, by the numbers of all three.
    """
    _, n_candidates, n_views = errors.shape
    flat = errors.reshape(-1, n_views)
    best = rules.first_minimum(flat.mean(axis=1))
    chosen = [rules.first_minimum(flat[:, rest].mean(axis=1)) for rest in others(lattice)]
    by_view = flat[chosen, np.arange(n_views)]
    return Offer(
        "student",
        float(by_view.mean()),
        by_view,
        (int(candidates[best % n_candidates]),),
        teaching=teachings[best // n_candidates],
        reason="the error of students whose parameters and teaching were chosen without the rows that "
        "they are judged on",
        said=Averages(
            [say(each // n_candidates, each % n_candidates, view) for view, each in enumerate(chosen)]
        ),
    )


def _one_a_view(chosen: Sequence[Averages]) -> Averages:
    """Of what was chosen for each view, what it says of that view's rows."""
    return Averages([each.by_view[view] for view, each in enumerate(chosen)])
