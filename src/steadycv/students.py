"""Students: single models that are fitted to what a committee says, in part or in whole.

A regressor learns from ``(1 - share) y + share * committee``. A classifier learns from copies of each
row, one a class, weighted by the same mixture of what is known and what the committee thinks likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._compat import check_method_params, is_pairwise, safe_split, to_numpy
from steadycv.estimators import new_estimator
from steadycv.metadata import routes_weights, weights_of_fit
from steadycv.paths.plan import takes_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.tasks import Problem

__all__ = [
    "NO_TEACHER",
    "TEACHINGS",
    "Lesson",
    "Teaching",
    "can_learn",
    "fitted_student",
]


class Teaching(NamedTuple):
    """What a student hears of its teacher: a share of the targets, and perhaps of made rows too."""

    share: float
    with_made_rows: bool = False


NO_TEACHER = Teaching(0.0)
TEACHINGS = (NO_TEACHER, *map(Teaching, (0.5, 0.8, 1.0)), Teaching(0.8, with_made_rows=True))
LEAST_WEIGHT = 1e-9  # of a copy: all copies of a row are to be there, as rows are counted
COUNTS_ROWS = ("min_samples_split", "min_samples_leaf", "min_child_samples", "min_data_in_leaf")


def can_learn(problem: Problem) -> bool:
    """Whether a student can be taught: a classifier by sample weights and copies of rows."""
    if problem.judging.classes is None:
        return True
    estimator = problem.estimator
    takes = routes_weights(estimator)
    takes = takes_weights(estimator, weights_of_fit(estimator)) if takes is None else takes
    return takes and not is_pairwise(estimator, problem.X)


@dataclass(frozen=True)
class Lesson:
    """What a student is fitted on.

    Made rows stand behind the others; of a classifier there are `n_copies` of all, one block after the
    other.
    """

    X: Any
    y: Any
    fit_params: dict[str, Any]
    n_samples: int
    n_made: int = 0
    n_copies: int = 1

    @classmethod
    def of(
        cls,
        problem: Problem,
        X: Any,
        taught: NDArray[Any] | None,
        share: float,
        source: NDArray[np.intp],
    ) -> Lesson:
        """The targets of a problem, mixed with what a teacher says of all rows of X.

        Behind those of the problem are made rows, each of a `source`; of these the teacher alone knows.
        None in the place of what the teacher says makes a lesson of the same kind, to plan by.
        """
        classes, n, n_made = problem.judging.classes, problem.lattice.n_samples, len(source)
        at = np.concatenate([np.arange(n), source])
        if taught is None:
            width = to_numpy(problem.y).shape[1:] if classes is None else classes.shape
            taught = np.zeros((len(at), *width))
        known = np.concatenate([np.full(n, 1 - share), np.zeros(n_made)])
        if classes is None:
            y = to_numpy(problem.y)[at]
            known = known.reshape(-1, *[1] * (y.ndim - 1))
            soft = known * y + (1 - known) * taught.reshape(y.shape)
            params = check_method_params(problem.X, params=problem.fit_params, indices=at)
            return cls(X, soft, params, n, n_made)
        hard = to_numpy(problem.y).ravel()[at, np.newaxis] == classes
        shares = known[:, np.newaxis] * hard + (1 - known[:, np.newaxis]) * taught
        k, name = len(classes), weights_of_fit(problem.estimator)
        params = check_method_params(problem.X, params=problem.fit_params, indices=np.tile(at, k))
        own = params.get(name)
        weight = np.maximum(shares.T.ravel(), LEAST_WEIGHT) * (1 if own is None else to_numpy(own))
        copies, _ = safe_split(problem.estimator, X, None, np.tile(np.arange(len(at)), k))
        return cls(copies, np.repeat(classes, len(at)), {**params, name: weight}, n, n_made, k)

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return (self.n_samples + self.n_made) * self.n_copies

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """All copies of some rows, and of all that are made."""
        n = self.n_samples + self.n_made
        own = np.concatenate([rows, np.arange(self.n_samples, n)])
        return np.concatenate([copy * n + own for copy in range(self.n_copies)])

    def settings(self, estimator: Any, setting: dict[str, Any]) -> dict[str, Any]:
        """A setting where every row is there several times: what counts rows counts as many."""
        if self.n_copies == 1:
            return setting
        params = new_estimator(estimator, setting).get_params(deep=True)
        counts = {
            name: value * self.n_copies
            for name, value in params.items()
            if name.rpartition("__")[2] in COUNTS_ROWS and isinstance(value, (int, np.integer))
        }
        return setting | counts


def fitted_student(problem: Problem, params: dict[str, Any], lesson: Lesson) -> Any:
    """The student that is delivered: fitted on the rows of the final view."""
    lattice = problem.lattice
    rows = lesson.rows(lattice.rows(lattice.final.reference))
    student = new_estimator(problem.estimator, lesson.settings(problem.estimator, params))
    X, y = safe_split(student, lesson.X, lesson.y, rows)
    student.fit(X, y, **check_method_params(lesson.X, params=lesson.fit_params, indices=rows))
    # Its parameters are those that were chosen, counted in rows and not in copies of them.
    own = new_estimator(problem.estimator, params).get_params(deep=True)
    counts = [name for name in own if name.rpartition("__")[2] in COUNTS_ROWS]
    return student.set_params(**{name: own[name] for name in counts})
