"""Pipelines: every distinct beginning is fitted once a training set.

The candidates are put together by their setting of the first step, then of the second, and so on.
Some transformers give several settings from one fit (a PCA holds every PCA of fewer components), and
so does a last step whose class has a path.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import compress
from numbers import Integral, Real
from operator import not_
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, SelectKBest, SelectPercentile
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from steadycv import fitting  # the module: it may be half imported, as it imports this package
from steadycv._compat import n_samples_of, safe_split
from steadycv.paths.registry import find_path, register_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Path, PathData

__all__ = ["PipelinePath"]


class PipelinePath:
    """All parameters of a pipeline's steps, and the steps themselves."""

    def parameters(self, estimator: Any) -> set[str]:
        """What belongs to the steps, not to the pipeline itself."""
        return set(estimator.get_params()) - set(estimator.get_params(deep=False))

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:  # noqa: ARG002
        """Whether the steps can be fitted one by one, and share their data."""
        if (
            estimator.memory is not None
            or estimator.verbose
            or estimator.transform_input is not None
            or get_config()["enable_metadata_routing"]
        ):
            return False
        steps = [(setting.get(name, step), _part(setting, name)) for name, step in estimator.steps]
        first, last = steps[0][0], steps[-1][0]
        return (
            not _is_passthrough(last)
            and (_is_passthrough(first) or not get_tags(first).input_tags.pairwise)
            and all(_is_passthrough(step) or hasattr(step, "transform") for step, _ in steps[:-1])
            and all(_can_share_data(step, part) for step, part in steps)
        )

    def at_most(self, estimator: Any) -> int | None:
        """A few at a time where the last step is fitted for each: work that is done is kept sooner."""
        return None if find_path(estimator.steps[-1][1]) else 4

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing: all steps are fitted on the training rows."""

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Outputs of every setting, from as few fits as there are distinct beginnings."""
        names = {name for name, _ in estimator.steps}
        unknown = [name for name in data.fit_params if name.partition("__")[0] not in names]
        if unknown:
            raise ValueError(
                f"A pipeline's fit does not take {unknown}: name the step, as in "
                f"{estimator.steps[-1][0]}__{unknown[0]}."
            )
        found = dict(_outputs(estimator.steps, dict(enumerate(settings)), data))
        return np.stack([found[i] for i in range(len(settings))])


def _outputs(
    steps: list[tuple[str, Any]], settings: dict[int, dict[str, Any]], data: PathData
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Outputs of the settings, by their key; `data` are what the first of these steps is given."""
    (name, step), *rest = steps
    parts = {i: _part(setting, name) for i, setting in settings.items()}
    fit_params = _part(data.fit_params, name)
    if not rest:
        for line in _lines(step, parts, find_path):
            yield from _predicted(line, data, fit_params)
        return
    for line in _lines(step, parts, lambda step: _KEPT.get(type(step))):
        for served, transformed in _transformed(line, data, fit_params):
            yield from _outputs(rest, {i: settings[i] for i in served}, transformed)


def _part(params: dict[str, Any], step: str) -> dict[str, Any]:
    """The parameters of a step; what takes its place stands under the empty name."""
    return {
        name[len(step) :].removeprefix("__"): value
        for name, value in params.items()
        if name == step or name.startswith(f"{step}__")
    }


def _is_passthrough(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _can_share_data(step: Any, part: dict[str, Any]) -> bool:
    """Whether a step has these parameters, and leaves the data as they are when it is fitted."""
    params = {} if _is_passthrough(step) else step.get_params()
    if not part.keys() - {""} <= params.keys():
        return False
    copies = (value for name, value in (params | part).items() if name.rpartition("__")[2] in _COPIES)
    return all(copies)


_COPIES = ("copy", "copy_X", "copy_x")


class _Line(NamedTuple):
    """Settings of one step (by their key) that differ in the parameters of a shortcut only."""

    step: Any
    shortcut: Any
    parts: dict[int, dict[str, Any]]

    def distinct(self) -> Iterator[tuple[list[int], dict[str, Any]]]:
        """The keys of equal settings, and the parameters they set."""
        for keys in _alike(self.parts):
            yield keys, {name: v for name, v in self.parts[keys[0]].items() if name}


def _lines(
    step: Any, parts: dict[int, dict[str, Any]], find: Callable[[Any], Path | _Kept | None]
) -> Iterator[_Line]:
    replaced = {i: {"": part[""]} if "" in part else {} for i, part in parts.items()}
    for keys in _alike(replaced):
        used = replaced[keys[0]].get("", step)
        shortcut = find(used)
        moving = () if shortcut is None else shortcut.parameters(used)
        some = {i: parts[i] for i in keys}
        for line in _alike(some, set(moving)):
            yield _Line(used, shortcut, {i: parts[i] for i in line})


def _alike(parts: dict[int, dict[str, Any]], but: Collection[str] = ()) -> list[list[int]]:
    """The keys of settings that are equal in all parameters but some."""
    groups: dict[Any, list[int]] = {}
    for i, part in parts.items():
        key = tuple((name, *_identity(value)) for name, value in part.items() if name not in but)
        groups.setdefault(key, []).append(i)
    return list(groups.values())


def _identity(value: Any) -> tuple[type, Any]:
    # Numbers and strings lose their identity when they are sent to a worker; other values may
    # have no equality, and are the same object in all candidates of a grid.
    plain = value is None or isinstance(value, str | Real)
    return type(value), value if plain else id(value)


def _transformed(
    line: _Line, data: PathData, fit_params: dict[str, Any]
) -> Iterator[tuple[list[int], PathData]]:
    """The data behind a transformer, for each of its distinct settings."""
    if _is_passthrough(line.step):
        yield list(line.parts), data
        return
    alone = [(keys, fitting.new_estimator(line.step, params)) for keys, params in line.distinct()]
    kept = line.shortcut
    if kept is not None and len(alone) > 1:
        together, alone = _split(alone, lambda transformer: kept.shares(transformer, data.X_train))
        if together:
            keys, transformers = zip(*together, strict=True)
            yield from zip(keys, kept.transformed(transformers, data, fit_params), strict=True)
    for some, transformer in alone:
        yield some, _fit_transform(transformer, data, fit_params)


def _split(
    pairs: list[tuple[list[int], Any]], serves: Callable[[Any], bool]
) -> tuple[list[tuple[list[int], Any]], list[tuple[list[int], Any]]]:
    """What is served, and the rest."""
    served = [serves(setting) for _, setting in pairs]
    return list(compress(pairs, served)), list(compress(pairs, map(not_, served)))


def _fit_transform(transformer: Any, data: PathData, fit_params: dict[str, Any]) -> PathData:
    # The training rows as a pipeline has them: fit_transform may give something else (TargetEncoder).
    if hasattr(transformer, "fit_transform"):
        X_train = transformer.fit_transform(data.X_train, data.y_train, **fit_params)
    else:
        X_train = transformer.fit(data.X_train, data.y_train, **fit_params).transform(data.X_train)
    return replace(data, X_train=X_train, X=transformer.transform(data.X))


def _predicted(
    line: _Line, data: PathData, fit_params: dict[str, Any]
) -> Iterator[tuple[int, NDArray[Any]]]:
    """The outputs of the last step, for each of its distinct settings."""
    alone = list(line.distinct())
    if line.shortcut is not None and len(alone) > 1 and fit_params.keys() <= {"sample_weight"}:
        estimator = fitting.new_estimator(line.step, alone[0][1])
        inner = _rows_among_all(estimator, replace(data, fit_params=fit_params))
        if inner is not None:
            served, alone = _split(
                alone, lambda params: line.shortcut.serves(estimator, params, inner.X, inner.y)
            )
            yield from _by_path(line.shortcut, estimator, served, inner, n_samples_of(data.X))
    for keys, params in alone:
        fitted = fitting.new_estimator(line.step, params).fit(data.X_train, data.y_train, **fit_params)
        outputs = getattr(fitted, data.method)(data.X)
        yield from ((i, outputs) for i in keys)


def _by_path(
    path: Path,
    estimator: Any,
    served: list[tuple[list[int], dict[str, Any]]],
    data: PathData,
    n_samples: int,
) -> Iterator[tuple[int, NDArray[Any]]]:
    if not served:
        return
    data = replace(data, prepared=path.prepare(estimator, data.X, data.y), together=None)
    found = path.outputs(estimator, [params for _, params in served], data)
    for (keys, _), outputs in zip(served, found, strict=True):
        yield from ((i, outputs[-n_samples:]) for i in keys)


def _rows_among_all(estimator: Any, data: PathData) -> PathData | None:
    """The data as a path takes them: with the training set among all rows; None if impossible.

    Where a transformer gave the training set other values than the same rows among all (be it by
    rounding), the training set is put before all rows.
    """
    if get_tags(estimator).input_tags.pairwise:
        return None
    X_rows, _ = safe_split(estimator, data.X, data.y, data.rows)
    if sparse.issparse(X_rows) and sparse.issparse(data.X_train):
        if (X_rows != data.X_train).nnz == 0:
            return data
        X = sparse.vstack([data.X_train, data.X], format="csr")
    else:
        if np.array_equal(X_rows, data.X_train):
            return data
        if not isinstance(X_rows, np.ndarray):
            return None
        X = np.concatenate([data.X_train, data.X])
    y = np.concatenate([data.y_train, data.y])
    return replace(data, X=X, y=y, rows=np.arange(len(data.rows)), folds=None)


class _Kept(Protocol):
    """A transformer of which one fit gives several settings."""

    def parameters(self, transformer: Any) -> Collection[str]:
        """The parameters in which they may differ."""

    def shares(self, transformer: Any, X_train: Any) -> bool:
        """Whether a transformer gets exactly what its own fit would give."""

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        """The data behind each transformer."""


@dataclass(frozen=True)
class _Selection:
    """Selections of features: the fit is the same for any number kept."""

    parameter: str
    allowed: Callable[[Any], bool]

    def parameters(self, transformer: Any) -> tuple[str]:  # noqa: ARG002
        return (self.parameter,)

    def shares(self, transformer: Any, X_train: Any) -> bool:  # noqa: ARG002
        return self.allowed(getattr(transformer, self.parameter))

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        fitted = transformers[0].fit(data.X_train, data.y_train, **fit_params)
        for value in [getattr(transformer, self.parameter) for transformer in transformers]:
            fitted.set_params(**{self.parameter: value})
            yield replace(data, X_train=fitted.transform(data.X_train), X=fitted.transform(data.X))


class _Components:
    """Principal components, by the solvers that compute all of them and then keep some."""

    def parameters(self, transformer: Any) -> tuple[str]:  # noqa: ARG002
        return ("n_components",)

    def shares(self, transformer: Any, X_train: Any) -> bool:
        n_components = transformer.n_components
        return (
            isinstance(n_components, Integral)
            and 1 <= int(n_components) <= min(np.shape(X_train))
            and _pca_solver(transformer, X_train) in ("full", "covariance_eigh")
        )

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        largest = max(transformers, key=lambda transformer: int(transformer.n_components))
        solver = _pca_solver(largest, data.X_train)
        X_train = largest.fit_transform(data.X_train, data.y_train, **fit_params)
        for n_components in [int(transformer.n_components) for transformer in transformers]:
            # Cut before the data are transformed: the rounding of a product depends on its size.
            cut = copy.copy(largest)
            cut.components_ = largest.components_[:n_components]
            cut.explained_variance_ = largest.explained_variance_[:n_components]
            yield replace(
                data,
                X_train=(
                    getattr(X_train, "iloc", X_train)[:, :n_components]
                    if solver == "full"
                    else cut.transform(data.X_train)
                ),
                X=cut.transform(data.X),
            )


def _pca_solver(pca: Any, X_train: Any) -> str:
    """What ``svd_solver="auto"`` means for a training set, in scikit-learn 1.6 to 1.9."""
    solver: str = pca.svd_solver
    n_samples, n_features = np.shape(X_train)
    if solver != "auto":
        return solver
    if sparse.issparse(X_train):
        return "arpack"
    if n_features <= 1000 and n_samples >= 10 * n_features:
        return "covariance_eigh"
    if max(n_samples, n_features) <= 500 or pca.n_components >= 0.8 * min(n_samples, n_features):
        return "full"
    return "randomized"


def _is_number_kept(value: Any) -> bool:
    return (isinstance(value, Integral) and int(value) >= 0) or (
        isinstance(value, str) and value == "all"
    )


def _is_between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Real) and low <= float(value) <= high


_KEPT: dict[type, _Kept] = {
    PCA: _Components(),
    SelectKBest: _Selection("k", _is_number_kept),
    SelectPercentile: _Selection("percentile", _is_between(0, 100)),
    SelectFpr: _Selection("alpha", _is_between(0, 1)),
    SelectFdr: _Selection("alpha", _is_between(0, 1)),
    SelectFwe: _Selection("alpha", _is_between(0, 1)),
}

register_path(Pipeline, PipelinePath())
