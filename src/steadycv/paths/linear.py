"""Paths of linear models: every ridge penalty from one eigendecomposition, the rest by warm starts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    enet_path,
)
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.multiclass import type_of_target

from steadycv.estimators import methods_of
from steadycv.paths.common import (
    ChecksDataOnce,
    are_labels,
    are_numbers,
    complete,
    is_table,
)
from steadycv.paths.leave_out import MOST_LEFT_OUT, LeaveOut, Spectrum
from steadycv.paths.moments import WORST_CONDITION, Moments, added, chunks, moments_of, solutions
from steadycv.paths.registry import register_path
from steadycv.paths.separate import SEPARATE, separate_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = [
    "KernelRidgePath",
    "LogisticPath",
    "NetPath",
    "RidgeClassifierPath",
    "RidgePath",
]

AT_MOST = 1024  # penalties at a time
# Scores closer than this may be told apart by rounding alone; they are of the order of 1.
TIE = 1e-7
KERNELS = ("linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine")


class _AllPenalties(ChecksDataOnce):
    """All penalties from one eigendecomposition of the smaller Gram matrix.

    Served are the direct solvers on dense float64 data. A penalty too small for the training set's
    conditioning is fitted separately.
    """

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The penalty."""
        return ("alpha",)

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """All that the estimator has."""
        return methods_of(estimator)

    def at_most(self, estimator: Any) -> int:  # noqa: ARG002
        """A few hundred: the decomposition is quick beside what more of them would hold in memory."""
        return AT_MOST

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the solver is direct and the data dense."""
        return (
            estimator.solver in ("auto", "cholesky", "svd")
            and not estimator.positive
            and is_table(X)
            and self._takes_target(estimator, y)
        )

    def _takes_target(self, estimator: Any, y: Any) -> bool:  # noqa: ARG002
        return are_numbers(y)

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        return _is_number(setting.get("alpha", estimator.alpha))

    def prepare(self, estimator: Any, X: Any, y: Any) -> _Features | _Kernel:  # noqa: ARG002
        """The features, or with more features than samples the kernel."""
        X = np.asarray(X, dtype=np.float64)
        if X.shape[1] <= X.shape[0]:
            return _Features(X, centred=estimator.fit_intercept)
        if estimator.fit_intercept:
            X = X - X.mean(axis=0)  # a far origin would cost digits when a training set is centred
        return _Kernel(X @ X.T, centred=estimator.fit_intercept)


class RidgePath(_AllPenalties):
    """All penalties of ``Ridge`` from one eigendecomposition of the smaller Gram matrix.

    Served are the direct solvers on dense float64 data. Training sets that lack a row or two, as those
    of leave-one-out, come from the one of all rows. A penalty too small for the training set's
    conditioning is fitted separately.
    """

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Predictions for every penalty."""
        [outputs] = self.outputs_many(estimator, settings, [data])
        return outputs

    def outputs_many(
        self, estimator: Any, settings: list[dict[str, Any]], many: Sequence[PathData]
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """The same for several training sets; of those that lack a row or two, in closed form."""
        for data, values, exact in _ridge_of_many(estimator, settings, many):
            outputs = {"predict": values[..., 0] if np.ndim(data.y) == 1 else values}
            yield outputs if exact is None else complete(outputs, exact, estimator, settings, data)


class RidgeClassifierPath(_AllPenalties):
    """All penalties of ``RidgeClassifier``, as for ``Ridge``; without class weights.

    Where the scores of two classes are within rounding of each other, the estimator itself decides.
    """

    def _takes_target(self, estimator: Any, y: Any) -> bool:
        return estimator.class_weight is None and are_labels(y)

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Labels and scores for every penalty."""
        y = np.asarray(data.y)
        classes = np.unique(y[data.rows])
        if len(classes) < 2:
            return SEPARATE.outputs(estimator, settings, data)
        targets = np.where(y[:, np.newaxis] == classes[len(classes) == 2 :], 1.0, -1.0)
        scores, exact = _ridge(estimator, settings, data, targets)
        outputs = {"decision_function": scores[..., 0] if len(classes) == 2 else scores}
        if "predict" in data.methods:
            if len(classes) == 2:
                scores = np.concatenate([-scores, scores], axis=2)
            second, first = np.moveaxis(np.partition(scores, -2, axis=2)[..., -2:], 2, 0)
            exact &= ~(first - second <= TIE).any(axis=1)
            outputs["predict"] = classes[scores.argmax(axis=2)]
        outputs = {method: outputs[method] for method in data.methods}
        return complete(outputs, exact, estimator, settings, data)


class KernelRidgePath(RidgePath):
    """All penalties of ``KernelRidge`` from one eigendecomposition of the training set's kernel matrix.

    The kernel of all samples is computed once. Served are the named kernels that take any numbers.
    """

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the kernel is named."""
        if not (is_table(X) and are_numbers(y)):
            return False
        if isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
            X = np.asarray(X)
            # Which triangle a solver reads must not matter.
            return X.dtype == np.float64 and np.allclose(X, X.T)
        return isinstance(estimator.kernel, str) and estimator.kernel in KERNELS

    def prepare(self, estimator: Any, X: Any, y: Any) -> _Kernel:  # noqa: ARG002
        """The kernel of all samples."""
        params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
        X = np.asarray(X, dtype=np.float64)
        kernel = pairwise_kernels(X, metric=estimator.kernel, filter_params=True, **params)
        return _Kernel(kernel, centred=False)


class NetPath(ChecksDataOnce):
    """All penalties and ratios of ``Lasso`` and ``ElasticNet`` by warm starts.

    Penalties are taken from large to small, each start drawn from the solutions before, with the
    estimator's own tolerance on the duality gap: outputs are as near to the optimum as those of a
    separate fit. What does not converge is fitted separately.

    Parameters
    ----------
    *names : str
        The penalty, and the ratio if it is one of the estimator's parameters.
    """

    def __init__(self, *names: str) -> None:
        self._names = names

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The penalty, and the ratio if there is one."""
        return self._names

    def methods(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Predictions."""
        return ("predict",)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the data are dense, and coordinates visited in turn."""
        return (
            isinstance(estimator.max_iter, Integral)
            and estimator.selection == "cyclic"
            and not (estimator.positive or estimator.warm_start)
            and is_table(X)
            and are_numbers(y)
            and np.ndim(y) == 1
        )

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        alpha, ratio = _penalty(estimator, setting)
        return _is_number(alpha) and _is_number(ratio) and alpha > 0 < ratio <= 1

    def prepare(self, estimator: Any, X: Any, y: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """The data as the solver takes them."""
        return np.asarray(X, dtype=np.float64)

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Predictions for every penalty and ratio."""
        X: NDArray[np.float64] = data.prepared
        y = np.asarray(data.y_train, dtype=np.float64)
        n_samples = len(y)
        weight = _weight(data)
        weight = weight * (n_samples / weight.sum())
        centred = _centred(X[data.rows], y, weight, wanted=estimator.fit_intercept)
        design = np.asfortranarray(centred.X)
        solver = {"tol": estimator.tol, "max_iter": estimator.max_iter, "precompute": False}
        if n_samples > X.shape[1]:
            solver["precompute"] = np.ascontiguousarray(design.T @ design)
            solver["Xy"] = design.T @ centred.y
        penalties = np.array([_penalty(estimator, setting) for setting in settings])
        coefs = np.empty((len(settings), X.shape[1]))
        gaps = np.empty(len(settings))
        for ratio in np.unique(penalties[:, 1]):
            line = np.flatnonzero(penalties[:, 1] == ratio)
            line = line[np.argsort(-penalties[line, 0])]
            coefs[line], gaps[line] = _descent(design, centred.y, penalties[line, 0], ratio, solver)
        outputs = {"predict": coefs @ (X - centred.X_mean).T + centred.y_mean}
        converged = gaps * n_samples <= estimator.tol * (centred.y @ centred.y)
        return complete(outputs, converged, estimator, settings, data)


class LogisticPath(ChecksDataOnce):
    """All penalties of ``LogisticRegression`` by warm starts: two classes, solver "newton-cholesky".

    Its error is the same with and without a warm start. That of "lbfgs" is not: its default tolerance
    is loose enough for labels to change, so it is not served. Nor are more classes: scikit-learn 1.6
    converges elsewhere from a warm start.
    """

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The inverse penalty."""
        return ("C",)

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Labels, probabilities and decision values."""
        return methods_of(estimator)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the solver is Newton's, the penalty the default, and there are two classes."""
        return (
            estimator.solver == "newton-cholesky"
            and estimator.penalty in ("l2", "deprecated")
            and not (estimator.l1_ratio or estimator.warm_start)
            and getattr(estimator, "multi_class", "deprecated") == "deprecated"
            and (issparse(X) or is_table(X))
            and np.ndim(y) == 1
            and type_of_target(y) == "binary"
        )

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        C = setting.get("C", estimator.C)
        return _is_number(C) and C > 0

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing."""

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Outputs for every penalty."""
        warm = clone(estimator).set_params(warm_start=True)
        outputs: dict[int, dict[str, NDArray[Any]]] = {}
        # From strong to weak: the start is then inside the region where Newton's steps are full.
        for i in sorted(range(len(settings)), key=lambda i: settings[i].get("C", estimator.C)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the separate fit's to give
                warm.set_params(**settings[i]).fit(data.X_train, data.y_train, **data.fit_params)
            converged = (warm.n_iter_ < warm.max_iter).all()
            outputs[i] = (
                {method: getattr(warm, method)(data.X) for method in data.methods}
                if converged
                else separate_outputs(estimator, settings[i], data)
            )
        return {
            method: np.array([outputs[i][method] for i in range(len(settings))])
            for method in data.methods
        }


def _is_number(value: Any) -> bool:
    """Whether a value is one finite number that is not negative."""
    return isinstance(value, Real) and 0 <= float(value) < np.inf


def _penalty(estimator: Any, setting: dict[str, Any]) -> tuple[Any, Any]:
    return setting.get("alpha", estimator.alpha), setting.get("l1_ratio", estimator.l1_ratio)


def _weight(data: PathData) -> NDArray[np.float64]:
    weight = data.fit_params.get("sample_weight")
    return np.broadcast_to(
        np.float64(1.0) if weight is None else np.asarray(weight, np.float64), len(data.rows)
    )


def _descent(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    alphas: NDArray[np.float64],
    ratio: float,
    solver: dict[str, Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients and duality gaps for decreasing penalties, each found from those before."""
    coefs = np.zeros((len(alphas), X.shape[1]))
    gaps = np.empty(len(alphas))
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the separate fit's to give
        for i, alpha in enumerate(alphas):
            start = coefs[max(i - 1, 0)].copy()
            if i > 1 and 0 < alphas[i - 1] - alpha <= 2 * (alphas[i - 2] - alphas[i - 1]):
                # Until a coefficient becomes zero or leaves it, the lasso's are linear in the penalty.
                step = (alphas[i - 1] - alpha) / (alphas[i - 2] - alphas[i - 1])
                start += np.where(start == 0, 0.0, step * (coefs[i - 1] - coefs[i - 2]))
            _, found, gap = enet_path(
                X, y, l1_ratio=ratio, alphas=[alpha], coef_init=start, check_input=False, **solver
            )
            coefs[i], gaps[i] = found[:, 0], gap[0]
    return coefs, gaps


@dataclass(frozen=True)
class _Centred:
    """A training set without its means, its rows times the roots of their weights."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    X_mean: NDArray[np.float64]
    y_mean: NDArray[np.float64]


def _centred(
    X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64], *, wanted: bool
) -> _Centred:
    share = weight / weight.sum() if wanted else np.zeros(len(y))
    X_mean, y_mean, root = share @ X, share @ y, np.sqrt(weight)
    return _Centred((X - X_mean) * root[:, np.newaxis], ((y - y_mean).T * root).T, X_mean, y_mean)


def _penalties(estimator: Any, settings: list[dict[str, Any]]) -> NDArray[np.float64]:
    alphas = [setting.get("alpha", estimator.alpha) for setting in settings]
    return np.array(alphas, dtype=np.float64)


def _numbers(y: Any) -> NDArray[np.float64]:
    """Targets as a table of numbers."""
    numbers = np.asarray(y, dtype=np.float64)
    return numbers.reshape(len(numbers), -1)


def _ridge(
    estimator: Any, settings: list[dict[str, Any]], data: PathData, targets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of shape (n_settings, n_samples, n_targets), and which settings are exact.

    The targets are those of all samples; only those of the training set count.
    """
    prepared: _Features | _Kernel = data.prepared
    values, exact = prepared.values(data, targets, _penalties(estimator, settings))
    return values.swapaxes(1, 2), exact


def _ridge_of_many(
    estimator: Any, settings: list[dict[str, Any]], many: Sequence[PathData]
) -> Iterator[tuple[PathData, NDArray[np.float64], NDArray[np.bool_] | None]]:
    """The same for several training sets, each with its data; None where all settings are exact."""
    closed: LeaveOut | None = None
    waiting: list[tuple[PathData, tuple[int, int]]] = []

    def found() -> Iterator[tuple[PathData, NDArray[np.float64], NDArray[np.bool_] | None]]:
        if closed is None or not waiting:
            return
        tables = closed.without(np.array([left_out for _, left_out in waiting]))
        values, are_exact = tables[0].swapaxes(2, 3), tables[1]
        is_exact = np.logical_and.reduce(are_exact, axis=1).tolist()
        for at, (data, _) in enumerate(waiting):
            if is_exact[at]:
                yield data, values[at], None
            else:
                others, exact = _ridge(estimator, settings, data, _numbers(data.y))
                of_one = np.where(are_exact[at][:, np.newaxis, np.newaxis], values[at], others)
                yield data, of_one, exact | are_exact[at]
        waiting.clear()

    for data in many:
        left_out = _few_left_out(data)
        if left_out is None:
            yield from found()
            yield data, *_ridge(estimator, settings, data, _numbers(data.y))
            continue
        if closed is None:
            y, penalties = _numbers(data.y), _penalties(estimator, settings)
            closed = LeaveOut(data.prepared.spectrum, y, penalties, WORST_CONDITION)
        waiting.append((data, left_out))
        if len(waiting) == closed.at_once:
            yield from found()
    yield from found()


def _few_left_out(data: PathData) -> tuple[int, int] | None:
    """The row or two that a training set lacks, one of them twice; None where it lacks more or none."""
    n_samples, n_trained = len(data.y), len(data.rows)
    if (
        not 0 < n_samples - n_trained <= MOST_LEFT_OUT
        or data.fit_params.get("sample_weight") is not None
    ):
        return None
    # The rows are in order: each is as far from its position as rows are left out before it.
    before = data.rows - np.arange(n_trained)
    first, last = before.searchsorted((1, n_samples - n_trained))
    return first, last + n_samples - n_trained - 1


@dataclass(frozen=True)
class _Features:
    """Ridge regression by the Gram matrix of the features."""

    X: NDArray[np.float64]
    centred: bool
    _known: dict[int, _Blocks] = field(default_factory=dict, repr=False)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All samples."""
        X = self.X - self.X.mean(axis=0) if self.centred else self.X
        eigenvalues, vectors = np.linalg.eigh(X.T @ X)
        rotated = X @ vectors
        return Spectrum(rotated, rotated, eigenvalues, self.centred)

    def values(
        self, data: PathData, y: NDArray[np.float64], penalties: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """By penalty and target the values at all samples, and which penalties are exact."""
        n_features = self.X.shape[1]
        _, [mean], [products] = self._moments(data, y)
        coefs, exact = solutions(
            products[:n_features, :n_features], products[:n_features, n_features:], penalties
        )
        values = np.empty((len(coefs), len(self.X)))
        for chunk in chunks(len(self.X), n_features):
            np.matmul(coefs, (self.X[chunk] - mean[:n_features]).T, out=values[:, chunk])
        of_targets = values.reshape(len(penalties), y.shape[1], -1)
        of_targets += mean[n_features:, np.newaxis]
        return of_targets, exact

    def _moments(self, data: PathData, y: NDArray[np.float64]) -> Moments:
        """Those of a training set: of its blocks, where all samples are in some."""
        if data.blocks is None or data.fit_params.get("sample_weight") is not None:
            return moments_of(self.X, y, data.rows, _weight(data), centred=self.centred)
        known = self._known.get(id(data.blocks))
        if known is None or known.blocks is not data.blocks or not np.array_equal(known.y, y):
            known = _Blocks(data.blocks, y, self._of_blocks(data.blocks, y))
            self._known[id(data.blocks)] = known
        is_there = np.bincount(data.blocks.take(data.rows), minlength=len(known.moments.weight)) > 0
        return added(Moments(*(numbers[is_there] for numbers in known.moments)))

    def _of_blocks(self, blocks: NDArray[np.intp], y: NDArray[np.float64]) -> Moments:
        found = [
            moments_of(self.X, y, np.flatnonzero(blocks == block), centred=self.centred)
            for block in range(int(blocks.max()) + 1)
        ]
        return Moments(*map(np.concatenate, zip(*found, strict=True)))


class _Blocks(NamedTuple):
    """Blocks of rows, and what is known of them."""

    blocks: NDArray[np.intp]
    y: NDArray[np.float64]
    moments: Moments


@dataclass(frozen=True)
class _Kernel:
    """Ridge regression by a kernel matrix of all samples."""

    kernel: NDArray[np.float64]
    centred: bool

    @cached_property
    def spectrum(self) -> Spectrum:
        """All samples."""
        kernel = self.kernel
        if self.centred:
            means = kernel.mean(axis=0)
            kernel = kernel - means - (means - means.mean())[:, np.newaxis]
        eigenvalues, vectors = np.linalg.eigh(kernel)
        return Spectrum(vectors * eigenvalues, vectors, eigenvalues, self.centred)

    def values(
        self, data: PathData, y: NDArray[np.float64], penalties: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """By penalty and target the values at all samples, and which penalties are exact."""
        rows, weight = data.rows, _weight(data)
        kernel, y = self.kernel[rows], y[rows]
        y_mean = np.zeros(y.shape[1])
        if self.centred:  # in the space of features, at the training set's mean
            share = weight / weight.sum()
            at_mean = share @ kernel
            y_mean = share @ y
            kernel = kernel - at_mean - (at_mean[rows] - at_mean[rows] @ share)[:, np.newaxis]
        root = np.sqrt(weight)[:, np.newaxis]
        duals, exact = solutions(root * kernel[:, rows] * root.T, root * (y - y_mean), penalties)
        values = ((duals * root.T) @ kernel).reshape(len(penalties), len(y_mean), -1)
        values += y_mean[:, np.newaxis]
        return values, exact


register_path(Ridge, RidgePath())
register_path(RidgeClassifier, RidgeClassifierPath())
register_path(KernelRidge, KernelRidgePath())
register_path(Lasso, NetPath("alpha"))
register_path(ElasticNet, NetPath("alpha", "l1_ratio"))
register_path(LogisticRegression, LogisticPath())
