"""Ridge regression on tables that do not fit into memory: Dask arrays, Arrow data sets, any blocks.

What linear regression needs to know of a fold are the means of its columns and the sums of their
products. One pass over the rows finds these, the whole lattice of training sets follows by adding them
up, and a second pass finds what each model loses where.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from steadycv import rules
from steadycv.checks import check_weights
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.offers import choices_without_own
from steadycv.paths.moments import WORST_CONDITION, Moments, added, moments_of, solutions
from steadycv.promises import promise_of_model
from steadycv.results import choice_of, grid_table
from steadycv.weights import FEWEST_VIEWS, table_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    Blocks: TypeAlias = Callable[[], Iterable[tuple[Any, Any]]]

__all__ = ["LargeRidgeCV"]

ROWS_AT_ONCE = 2**14
LOSSES_AT_ONCE = 2**20  # of all models


class LargeRidgeCV(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose the penalty of a ridge regression by stability, in two passes over blocks of rows.

    The same choice, nested error and promise as of ``StabilitySearchCV(Ridge(), {"alpha": alphas})`` by
    the squared error, with row i in fold ``i % cv``; in memory is one block at a time. Neighbouring rows
    are in different folds, so data in time order or with groups are not for this class.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        The penalties; 0 is least squares. One that is too small for the conditioning of some training
        set is refused, as there are no rows left to ask a better solver.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    cv : int, default=5
        The number of folds, three or more.
    stability_weights : "auto", float or array-like of float, default="auto"
        The weights to choose from, as in :class:`~steadycv.StabilitySearchCV`.
    rule : {"steady", "paper", "plain"}, default="steady"
        How the weight is chosen, as there.

    Attributes
    ----------
    best_index_, alpha_ : int, float
        The chosen penalty.
    coef_, intercept_ : ndarray of shape (n_features,), float
        Its model of all rows.
    cv_error_, instability_, nested_error_, promise_, stability_weight_ : float
        As of a search.
    cv_results_ : dict of ndarrays
        ``param_alpha``, ``cv_error`` and ``instability`` of all penalties.
    weights_ : dict of ndarrays
        The weights and what they choose in each view.
    lattice_ : Lattice
        The lattice, of folds in place of rows.
    ledger_ : Ledger
        Errors and changes.
    n_samples_, n_features_in_ : int
        The size of the data.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from steadycv.large import LargeRidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [(X[:200], y[:200]), (X[200:], y[200:])]
    >>> model = LargeRidgeCV([0.01, 0.1, 1.0]).fit(blocks)
    >>> model.alpha_, model.predict(X[:2]).round().tolist()
    (0.01, [204.0, 70.0])
    """

    def __init__(
        self,
        alphas: ArrayLike = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        cv: int = 5,
        stability_weights: Any = "auto",
        rule: str = "steady",
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.stability_weights = stability_weights
        self.rule = rule

    def fit(self, X: Any, y: Any = None) -> LargeRidgeCV:
        """Choose a penalty, and fit it to all rows.

        Parameters
        ----------
        X : array, Dask array, Arrow data set, list or callable
            The data: an array (also one that NumPy maps from a file) or a Dask array, with `y`; a
            ``pyarrow.dataset.Dataset``, with the name of the target's column as `y`; or a list of
            pairs of arrays, or a function that returns a new iterator of such pairs, without `y`.
        y : array, Dask array or str, default=None
            The targets.

        Returns
        -------
        self : LargeRidgeCV
            The fitted model.
        """
        penalties = self._checked()
        weights = check_weights(self.stability_weights) if self.rule != "plain" else np.zeros(1)
        blocks = _blocks(X, y)
        lattice = Lattice(
            KFold(self.cv).split(range(self.cv)), n_samples=self.cv, source=f"cv={self.cv}"
        )
        folds = self._moments(blocks)
        coefs, intercepts = self._models(lattice, folds, penalties)
        sums = _Sums(lattice, coefs, intercepts)
        for fold, some, target in self._rows(blocks):
            sums.add(fold, some, target)
        self.n_samples_ = int(folds.weight.sum())
        self.lattice_, self.ledger_ = lattice, sums.ledger(folds.weight)
        self._choose(penalties, weights)
        self.coef_, self.intercept_ = coefs[0, self.best_index_], float(intercepts[0, self.best_index_])
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the chosen model says.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that fit into memory.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Its outputs.
        """
        check_is_fitted(self)
        said: NDArray[np.float64] = np.asarray(X, dtype=np.float64) @ self.coef_ + self.intercept_
        return said

    def _checked(self) -> NDArray[np.float64]:
        """The penalties, found sound like the other parameters."""
        penalties = np.asarray(self.alphas, dtype=np.float64)
        if (
            penalties.ndim != 1
            or not len(penalties)
            or not (0 <= penalties.min() <= penalties.max() < np.inf)
        ):
            raise ValueError(
                f"alphas is to be a list of finite numbers, none negative, got {self.alphas!r}."
            )
        if self.rule not in rules.HAVE_WEIGHT:
            raise ValueError(f"rule is one of {', '.join(rules.HAVE_WEIGHT)}, got {self.rule!r}.")
        if not isinstance(self.cv, Integral) or self.cv < FEWEST_VIEWS:
            raise ValueError(
                f"cv is a number of folds, {FEWEST_VIEWS} or more, got {self.cv!r}: row i is in fold "
                "i % cv. For splitters, which need all rows, there is StabilitySearchCV."
            )
        return penalties

    def _rows(self, blocks: Blocks) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
        """The rows of one fold after the other, a few at a time."""
        first = 0
        for X, y in blocks():
            if len(X) != len(y):
                raise ValueError(f"A block has {len(X)} rows and {len(y)} targets.")
            for start in range(0, len(X), ROWS_AT_ONCE):
                some = np.asarray(X[start : start + ROWS_AT_ONCE], dtype=np.float64)
                target = np.asarray(y[start : start + ROWS_AT_ONCE], dtype=np.float64)
                if some.ndim != 2 or target.ndim != 1:
                    raise ValueError(
                        f"Blocks are tables with one target a row, got {some.shape} and {target.shape}."
                    )
                if not (np.isfinite(some).all() and np.isfinite(target).all()):
                    raise ValueError(
                        f"Rows {first} to {first + len(some) - 1} have missing or infinite values."
                    )
                for fold in range(self.cv):
                    own = slice((fold - first) % self.cv, None, self.cv)
                    if len(target[own]):
                        yield fold, some[own], target[own]
                first += len(some)

    def _moments(self, blocks: Blocks) -> Moments:
        """Those of every fold."""
        found: dict[int, Moments] = {}
        for fold, some, target in self._rows(blocks):
            moments = moments_of(
                some, target[:, np.newaxis], np.arange(len(some)), centred=self.fit_intercept
            )
            if fold in found:
                moments = added(Moments(*map(np.concatenate, zip(found[fold], moments, strict=True))))
            found[fold] = moments
        n_rows = int(sum(moments.weight[0] for moments in found.values()))
        if n_rows < 2 * self.cv:
            raise ValueError(f"{n_rows} rows are too few for {self.cv} folds.")
        folds = Moments(
            *map(np.concatenate, zip(*(found[fold] for fold in range(self.cv)), strict=True))
        )
        self.n_features_in_ = folds.mean.shape[1] - 1
        return folds

    def _models(
        self, lattice: Lattice, folds: Moments, penalties: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """By training set and penalty, the coefficients and the intercept."""
        p = self.n_features_in_
        coefs = np.empty((lattice.n_training_sets, len(penalties), p))
        intercepts = np.empty(coefs.shape[:2])
        for training_set in range(lattice.n_training_sets):
            rows = lattice.rows(training_set)
            _, [mean], [products] = added(Moments(*(numbers[rows] for numbers in folds)))
            coefs[training_set], exact = solutions(products[:p, :p], products[:p, p:], penalties)
            if not exact.all():
                raise ValueError(
                    f"alphas={penalties[~exact].tolist()} are too small for the conditioning of the "
                    f"columns: the condition number would exceed {WORST_CONDITION:g}. Use larger "
                    "penalties, or columns on one scale and none twice."
                )
            intercepts[training_set] = mean[p] - coefs[training_set] @ mean[:p]
        return coefs, intercepts

    def _choose(self, penalties: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Read the choice and what it is worth off the ledger."""
        lattice, ledger = self.lattice_, self.ledger_
        self.weights_ = grid_table(ledger, table_weights(lattice, weights))
        candidates = [{"alpha": alpha} for alpha in penalties.tolist()]
        taken = choice_of(self.rule, ledger, candidates, self.weights_)
        self.best_index_, self.alpha_ = taken.candidate, float(penalties[taken.candidate])
        self.stability_weight_, self.nested_error_ = taken.weight, taken.nested_error
        error, instability = rules.error(ledger, lattice.final), rules.instability(ledger, lattice.final)
        self.cv_error_, self.instability_ = (
            float(error[taken.candidate]),
            float(instability[taken.candidate]),
        )
        self.cv_results_ = {"param_alpha": penalties, "cv_error": error, "instability": instability}
        _, errors = choices_without_own(self.rule, lattice, self.weights_, taken)
        of_choice = rules.judged_errors(ledger, np.full(len(lattice.views), taken.candidate))
        won = bool((taken.view_candidates == taken.candidate).any())
        self.promise_ = promise_of_model(errors, of_choice, won_in_a_view=won).error


class _Sums:
    """Sums of losses and of their changes, over the rows of one fold after the other."""

    def __init__(
        self, lattice: Lattice, coefs: NDArray[np.float64], intercepts: NDArray[np.float64]
    ) -> None:
        self._lattice = lattice
        self._coefs = coefs.reshape(-1, coefs.shape[2])
        self._intercepts = intercepts
        self._errors = np.zeros((len(lattice.evaluations), coefs.shape[1]))
        self._changes = np.zeros((len(lattice.comparisons), coefs.shape[1]))
        judged = [set(rows.tolist()) for rows in lattice.row_sets]
        self._judged = [judged[row_set] for _, row_set in lattice.evaluations]
        self._compared = [set(lattice.rows(reference).tolist()) for _, reference in lattice.comparisons]

    def add(self, fold: int, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Some rows of a fold."""
        evaluations = [e for e, folds in enumerate(self._judged) if fold in folds]
        comparisons = [q for q, folds in enumerate(self._compared) if fold in folds]
        size = max(1, LOSSES_AT_ONCE // len(self._coefs))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            losses = (self._coefs @ X[rows].T).reshape(*self._intercepts.shape, -1)
            losses += self._intercepts[:, :, np.newaxis] - y[rows]
            np.square(losses, out=losses)
            for e in evaluations:
                self._errors[e] += losses[self._lattice.evaluations[e].training_set].sum(axis=1)
            for q in comparisons:
                one, other = self._lattice.comparisons[q]
                self._changes[q] += np.abs(losses[one] - losses[other]).sum(axis=1)

    def ledger(self, n_rows: NDArray[np.float64]) -> Ledger:
        """The means, by the number of rows of each fold."""
        ledger = Ledger(self._lattice, n_candidates=self._errors.shape[1])
        for table, sums, parts in (
            (ledger.error, self._errors, self._judged),
            (ledger.change, self._changes, self._compared),
        ):
            table[:] = (sums / np.array([[n_rows[list(folds)].sum()] for folds in parts])).T
        ledger.freeze()
        return ledger


def _blocks(X: Any, y: Any) -> Blocks:
    """What gives the rows again and again, block by block."""
    if y is None and callable(X):
        given: Blocks = X
        return given
    if y is None and isinstance(X, list | tuple):
        return lambda: X
    if isinstance(y, str) and hasattr(X, "to_batches"):
        names = [name for name in X.schema.names if name != y]
        if len(names) == len(X.schema.names):
            raise ValueError(f"The data set has no column {y!r}: {', '.join(names)}.")
        return lambda: (
            (np.column_stack([batch[name].to_numpy(zero_copy_only=False) for name in names]), batch[y])
            for batch in X.to_batches(columns=[*names, y], batch_size=ROWS_AT_ONCE)
            if len(batch)
        )
    if y is not None and hasattr(X, "shape") and hasattr(y, "shape"):
        ends = np.cumsum([0, *getattr(X, "chunks", [[X.shape[0]]])[0]]).tolist()
        is_dask = hasattr(X, "chunks")
        return lambda: (
            (np.asarray(X[a:b]), np.asarray(y[a:b])) if is_dask else (X[a:b], y[a:b])
            for a, b in pairwise(ends)
        )
    raise TypeError(
        "Pass arrays X and y (also Dask's), an Arrow data set and the name of its target, or, without "
        "y, a list of pairs of arrays or a function that returns an iterator of such pairs; got "
        f"{type(X).__name__} and {type(y).__name__}."
    )
