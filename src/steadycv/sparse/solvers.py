"""The solvers behind one door: a training set and settings in, supports with coefficients out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from steadycv.sparse.beam import beam_search, likely
from steadycv.sparse.cuts import outer_approximation
from steadycv.sparse.exact import branch_and_bound
from steadycv.sparse.relaxation import solve_relaxations
from steadycv.sparse.rounding import round_relaxation
from steadycv.sparse.swaps import improve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.cuts import OuterApproximation
    from steadycv.sparse.exact import Proof
    from steadycv.sparse.gram import Gram

    Settings: TypeAlias = Sequence[tuple[int, float]]  # a sparsity and a gamma each

__all__ = ["SOLVERS", "Answer", "Options", "Training", "solve"]


class Answer(NamedTuple):
    """What a solver found for one setting.

    `coef` are the coefficients of the columns in `support`, as the solver sees the columns: centred and
    perhaps scaled. `lower_bound` is below every objective that the setting allows; 0 if the solver
    has none of its own. `limit` names the limit that stopped the solver, if one did.
    """

    support: NDArray[np.int64]
    coef: NDArray[np.float64]
    lower_bound: float = 0.0
    n_iter: int = 1
    limit: str | None = None


class Options(NamedTuple):
    """How to solve, by the names that `SparseRidge` gives them."""

    solver: str = "beam"
    beam_width: int = 4
    swaps: bool = True
    tol: float = 1e-4
    time_limit: float | None = None


@dataclass(frozen=True)
class Training:
    """One training set: its rows as they are, and the products of their columns."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    gram: Gram

    @cached_property
    def design(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Columns (in Fortran's order) and target as the solvers see them: centred, scaled, weighted."""
        gram = self.gram
        X = self.X.toarray() if issparse(self.X) else self.X
        X = np.asfortranarray(gram.varies * (X - gram.mean) / gram.scale)
        y = self.y - gram.y_mean
        if self.weight is not None:
            root = np.sqrt(self.weight)
            X *= root[:, np.newaxis]
            y = root * y
        return X, y


def solve(training: Training, settings: Settings, options: Options) -> list[Answer]:
    """The answer to each setting, a sparsity and a gamma.

    An answer does not depend on the other settings, but they share what work they can.
    """
    return SOLVERS[options.solver](training, settings, options)


def _beam(training: Training, settings: Settings, options: Options) -> list[Answer]:
    largest: dict[float, int] = {}
    for sparsity, gamma in settings:
        largest[gamma] = max(sparsity, largest.get(gamma, 0))
    passes = {
        gamma: beam_search(training.gram, sparsity, gamma, width=options.beam_width, swaps=options.swaps)
        for gamma, sparsity in largest.items()
    }
    answers = []
    for sparsity, gamma in settings:
        found = passes[gamma]
        size = found.size[sparsity - 1]
        support, coef = found.support[sparsity - 1, :size], found.coef[sparsity - 1, :size]
        answers.append(Answer(support, coef, n_iter=max(1, found.n_moves)))
    return answers


def _rounding(training: Training, settings: Settings, options: Options) -> list[Answer]:
    X, y = training.design
    gammas: dict[int, list[float]] = {}
    for sparsity, gamma in settings:
        gammas.setdefault(sparsity, []).append(gamma)
    relaxations = {
        (sparsity, gamma): relaxed
        for sparsity, line in gammas.items()
        for gamma, relaxed in zip(line, solve_relaxations(X, y, sparsity, line), strict=True)
    }
    answers = []
    for sparsity, gamma in settings:
        relaxed = relaxations[sparsity, gamma]
        support = round_relaxation(relaxed, sparsity)
        support, coef = improve(training.gram, support, gamma, swaps=options.swaps)
        limit = None if relaxed.converged else "number of iterations"
        answers.append(Answer(support, coef, relaxed.lower_bound, max(1, relaxed.n_iter), limit))
    return answers


def _exact(training: Training, settings: Settings, options: Options) -> list[Answer]:
    answers = []
    for setting in settings:
        proof = branch_and_bound(
            training.gram,
            *setting,
            likely(training.gram, *setting),
            tol=options.tol,
            time_limit=inf if options.time_limit is None else options.time_limit,
        )
        answers.append(_certified(training, setting, proof, proof.n_nodes))
    return answers


def _cuts(training: Training, settings: Settings, options: Options) -> list[Answer]:
    X, y = training.design
    answers = []
    for sparsity, gamma in settings:
        setting = sparsity, gamma
        start, _ = improve(training.gram, likely(training.gram, *setting), gamma)
        proof = outer_approximation(
            X,
            y,
            *setting,
            start,
            tol=options.tol,
            time_limit=inf if options.time_limit is None else options.time_limit,
        )
        answers.append(_certified(training, setting, proof, proof.n_cuts))
    return answers


def _certified(
    training: Training, setting: tuple[int, float], proof: Proof | OuterApproximation, n_iter: int
) -> Answer:
    """The answer with the coefficients of a support that comes with a bound."""
    _, gamma = setting
    support, coef = improve(training.gram, proof.support, gamma, swaps=False)
    limit = None if proof.status == "optimal" else proof.status.replace("_", " ")
    return Answer(support, coef, proof.lower_bound, n_iter, limit)


SOLVERS = {"beam": _beam, "rounding": _rounding, "exact": _exact, "cuts": _cuts}
