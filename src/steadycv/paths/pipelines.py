"""Pipelines: every distinct beginning is fitted once a training set.

The candidates are put together by their setting of the first step, then of the second, and so on.
Some transformers give several settings from one fit (a PCA holds every PCA of fewer components), and
so does a last step whose class has a path.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from steadycv._compat import n_samples_of, safe_split
from steadycv.estimators import methods_of, new_estimator, overwrites
from steadycv.paths.common import joined
from steadycv.paths.plan import in_one_fit, plan, runs_of
from steadycv.paths.protocol import FailedOutputs, failures_of
from steadycv.paths.registry import find_path, register_path
from steadycv.paths.separate import SEPARATE
from steadycv.paths.settings import alike, key_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from steadycv.paths.protocol import Outputs, Path, PathData
    from steadycv.paths.settings import Key

__all__ = ["PipelinePath"]


class PipelinePath:
    """All parameters of a pipeline's steps, and the steps themselves."""

    def parameters(self, estimator: Any) -> set[str]:
        """What belongs to the steps, not to the pipeline itself."""
        names = set(estimator.get_params()) - set(estimator.get_params(deep=False))
        return names | {f"{name}__{own}" for name, step in estimator.steps for own in _of_path(step)}

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """All that the last step has: by its path, or by a fit of its own on what the others give."""
        return methods_of(estimator)

    def line(self, estimator: Any, setting: dict[str, Any]) -> Key:
        """Candidates that differ in their last step only, and there belong to one line."""
        return self.line_each(estimator, [setting])[0]

    def line_each(self, estimator: Any, settings: Sequence[dict[str, Any]]) -> list[Key]:
        """The same for several settings."""
        name, replaced = estimator.steps[-1]
        keys = [key_of(setting) for setting in settings]
        for step in _by_step(replaced, [_part(setting, name) for setting in settings]):
            path = find_path(step.estimator)
            if not hasattr(path, "serves"):
                continue
            moving = path.parameters(step.estimator)
            names = {f"{name}__{own}" for own in moving}
            for some in alike(step.parts, but=moving):
                of_step = _lines_of_step(path, step.estimator, [step.parts[i] for i in some], moving)
                for i, line in zip(some, of_step, strict=True):
                    position = step.positions[i]
                    keys[position] = key_of(settings[position], but=names), line
        return keys

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether the steps can be fitted one by one, and share their data."""
        return self.serves_each(estimator, [setting], X, y)[0]

    def serves_each(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        X: Any,  # noqa: ARG002
        y: Any,  # noqa: ARG002
    ) -> list[bool]:
        """The same for several settings."""
        fitted_by_step = not (
            estimator.memory is not None
            or estimator.verbose
            or estimator.transform_input is not None
            or get_config()["enable_metadata_routing"]
        )
        serves = np.full(len(settings), fitted_by_step)
        last = len(estimator.steps) - 1
        for position, (name, step) in enumerate(estimator.steps):
            for used, positions, parts in _by_step(step, [_part(setting, name) for setting in settings]):
                fits = _is_fit_for(used, is_first=position == 0, is_last=position == last)
                params = {} if _is_passthrough(used) else used.get_params()
                known = params.keys() | _of_path(used)
                not_copied = {n for n, value in params.items() if overwrites([(n, value)])}
                serves[positions] &= [
                    fits
                    and part.keys() <= known
                    and not_copied <= part.keys()
                    and not overwrites(part.items())
                    for part in parts
                ]
        return serves.tolist()

    def at_most(self, estimator: Any) -> int | None:
        """A few at a time where the last step is fitted for each: work that is done is kept sooner."""
        return None if hasattr(find_path(estimator.steps[-1][1]), "serves") else 4

    def in_one_fit(self, estimator: Any) -> list[str]:
        """Those of the last step; what comes before it makes another training set of it."""
        name, last = estimator.steps[-1]
        return [f"{name}__{own}" for own in in_one_fit(last)]

    def run(self, estimator: Any, setting: dict[str, Any]) -> Key:
        """That of the last step, for each setting of the others."""
        name, replaced = estimator.steps[-1]
        part = _part(setting, name)
        last = part.pop("", replaced)
        [run] = runs_of(find_path(last), last, [part])
        return None if run is None else (key_of(setting, but=[f"{name}__{own}" for own in part]), run)

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing: all steps are fitted on the training rows."""

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> Outputs:
        """Outputs of every setting, from as few fits as there are distinct beginnings."""
        members, parts = zip(
            *_outputs(estimator.steps, settings, range(len(settings)), data), strict=True
        )
        return joined(members, parts)


def _part(params: dict[str, Any], step: str) -> dict[str, Any]:
    """The parameters of a step; what takes its place stands under the empty name."""
    part = {}
    for name, value in params.items():
        of, _, own = name.partition("__")
        if of == step:
            part[own] = value
    return part


def _of_path(step: Any) -> set[str]:
    """The parameters of a step that its path covers: CatBoost itself tells of none that is not set."""
    path = None if _is_passthrough(step) else find_path(step)
    return set() if path is None else set(path.parameters(step))


def _is_passthrough(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_fit_for(step: Any, *, is_first: bool, is_last: bool) -> bool:
    """Whether a step can have its place in a pipeline that is fitted step by step."""
    if _is_passthrough(step):
        return not is_last
    return (is_last or hasattr(step, "transform")) and not (
        is_first and get_tags(step).input_tags.pairwise
    )


def _by_step(step: Any, parts: list[dict[str, Any]]) -> Iterator[_Step]:
    """The parts, by what takes the place of a step."""
    if not any("" in part for part in parts):
        yield _Step(step, list(range(len(parts))), parts)
        return
    for members in alike([{"": part[""]} if "" in part else {} for part in parts]):
        own = [{name: value for name, value in parts[i].items() if name} for i in members]
        yield _Step(parts[members[0]].get("", step), members, own)


def _lines_of_step(
    path: Path, step: Any, parts: list[dict[str, Any]], moving: Collection[str]
) -> list[Key]:
    """The lines within a last step of settings that differ in its path's parameters only."""
    if not hasattr(path, "line"):
        return [None] * len(parts)
    others = {name: value for name, value in parts[0].items() if name not in moving}
    last = new_estimator(step, others) if others else step
    return [path.line(last, part) for part in parts]


class _Step(NamedTuple):
    """A step, and its parameters in settings at some positions."""

    estimator: Any
    positions: list[int]
    parts: list[dict[str, Any]]


def _outputs(
    steps: list[tuple[str, Any]], settings: list[dict[str, Any]], members: Sequence[int], data: PathData
) -> Iterator[tuple[list[int], Outputs]]:
    """Outputs of some settings, with their positions; `data` are what the first of these steps gets."""
    (name, replaced), *rest = steps
    fit_params = _part(data.fit_params, name)
    for step in _by_step(replaced, [_part(settings[i], name) for i in members]):
        if not rest:
            for last, outputs in _predicted(step, replace(data, fit_params=fit_params)):
                yield [members[step.positions[i]] for i in last], outputs
            continue
        for some, transformed in _transformed(step, data, fit_params):
            yield from _outputs(rest, settings, [members[step.positions[i]] for i in some], transformed)


def _transformed(
    step: _Step, data: PathData, fit_params: dict[str, Any]
) -> Iterator[tuple[Sequence[int], PathData]]:
    """The data behind a transformer, for each of its distinct settings, with its numbers."""
    transformer, _, parts = step
    if _is_passthrough(transformer):
        yield range(len(parts)), data
        return
    path = find_path(transformer)
    moving = path.parameters(transformer) if hasattr(path, "shares") else ()
    for line in alike(parts, but=moving):
        equal = [[line[i] for i in some] for some in alike([parts[i] for i in line])]
        transformers = [new_estimator(transformer, parts[some[0]]) for some in equal]
        shares = [len(equal) > 1 and path.shares(each, data.X_train) for each in transformers]
        if any(shares):
            together = tuple(compress(transformers, shares))
            found = path.transformed(together, data, fit_params)
            yield from zip(compress(equal, shares), found, strict=True)
        for some, alone, is_done in zip(equal, transformers, shares, strict=True):
            if not is_done:
                yield some, _fit_transform(alone, data, fit_params)


def _fit_transform(transformer: Any, data: PathData, fit_params: dict[str, Any]) -> PathData:
    # The training rows as a pipeline has them: fit_transform may give something else (TargetEncoder).
    if hasattr(transformer, "fit_transform"):
        X_train = transformer.fit_transform(data.X_train, data.y_train, **fit_params)
    else:
        X_train = transformer.fit(data.X_train, data.y_train, **fit_params).transform(data.X_train)
    return replace(data, X_train=X_train, X=transformer.transform(data.X))


def _predicted(step: _Step, data: PathData) -> Iterator[tuple[list[int], Outputs]]:
    """The outputs of the last step, with the numbers of its settings."""
    last, _, parts = step
    n_samples = n_samples_of(data.X)
    path = find_path(last)
    inner = _rows_among_all(last, data) if path and _shares(path, parts) else None
    known = data if inner is None else inner
    groups = plan(
        last,
        parts,
        known.X,
        known.y,
        methods=data.methods,
        fit_params=data.fit_params,
        use_paths=inner is not None,
    )
    for group in groups:
        settings = [parts[i] for i in group.members]
        if group.path is SEPARATE or not _shares(group.path, settings):
            found: Outputs = SEPARATE.outputs(last, settings, data)
        else:
            prepared = group.path.prepare(group.estimator, known.X, known.y)
            found = group.path.outputs(group.estimator, settings, replace(known, prepared=prepared))
        rows = {name: np.asarray(each)[:, -n_samples:] for name, each in found.items()}
        yield group.members.tolist(), FailedOutputs(rows, failures_of(found))


def _shares(path: Any, candidates: Sequence[Any]) -> bool:
    """Whether a path can have something to share among candidates.

    One that could be shared with other lines must be served by the path also when it comes alone.
    """
    return len(candidates) > 1 or hasattr(path, "line")


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
    return replace(data, X=X, y=y, rows=np.arange(len(data.rows)), blocks=None)


register_path(Pipeline, PipelinePath())
