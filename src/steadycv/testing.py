"""Checks that a path of one's own can be held to."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from steadycv._compat import safe_split
from steadycv.estimators import new_estimator
from steadycv.paths import PathData, find_path
from steadycv.paths.separate import separate_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["check_path"]


def check_path(
    estimator: Any,
    param_grid: dict[str, Any],
    X: Any,
    y: Any,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    methods: Sequence[str] = ("predict",),
    rtol: float = 1e-9,
    atol: float = 1e-9,
    serves: bool | None = True,
    seed: int = 0,
) -> None:
    """Check that a path gives every candidate the outputs of a separate fit, whoever else is asked for.

    Three training sets of different size are tried. Candidates that the path does not serve are
    passed over. The path's lines are asked for together, in two parts and one at a time, and where
    there is an ``outputs_many`` all training sets at once; outputs must be the same to the last bit.

    Parameters
    ----------
    estimator : estimator
        An estimator whose class has a path.
    param_grid : dict
        Values of the path's parameters.
    X, y : data
        The samples.
    sample_weight : ndarray, optional
        Their weights.
    methods : sequence of str, default=("predict",)
        The outputs to compare, ``"predict"``, ``"predict_proba"`` or ``"decision_function"``.
    rtol, atol : float
        How close the outputs must be; labels must be equal.
    serves : bool or None, default=True
        Whether the path must serve all candidates, or none; None: either.
    seed : int, default=0
        Chooses the training sets.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> check_path(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, *load_diabetes(return_X_y=True))
    """
    path = find_path(estimator)
    assert path is not None, f"no path is registered for {type(estimator).__name__}"
    candidates = list(ParameterGrid(param_grid))
    unknown = {name for c in candidates for name in c} - set(path.parameters(estimator))
    assert not unknown, f"the path does not cover {sorted(unknown)}"
    first = new_estimator(estimator, candidates[0])
    served = [c for c in candidates if path.serves(first, c, X, y)]
    if serves is not None:
        assert len(served) == (len(candidates) if serves else 0), (
            f"the path serves {len(served)} of {len(candidates)} candidates"
        )
    if not served:
        return
    first = new_estimator(estimator, served[0])
    missing = set(methods) - set(path.methods(first))
    assert not missing, f"the path does not give {sorted(missing)}"
    prepared = path.prepare(first, X, y)
    training_sets = list(_training_sets(first, X, y, sample_weight, tuple(methods), prepared, seed))
    if hasattr(path, "outputs_many"):
        _check_many(path, first, served, training_sets)
    for data in training_sets:
        found = path.outputs(first, served, data)
        message = f"trained on {len(data.rows)} of {X.shape[0]} samples"
        for method in methods:
            assert len(found[method]) == len(served), (
                f"{len(found[method])} outputs of {method} for {len(served)} settings"
            )
        for i, candidate in enumerate(served):
            expected = separate_outputs(estimator, candidate, data)
            for method in methods:
                _assert_close(
                    found[method][i], expected[method], f"{method} of {candidate} {message}", rtol, atol
                )
        for part in _parts(path, first, served):
            alone = path.outputs(first, [served[i] for i in part], data)
            for method in methods:
                np.testing.assert_array_equal(
                    np.asarray(alone[method]),
                    np.asarray(found[method])[part],
                    err_msg=f"{method} of candidates {part}, asked for apart, {message}",
                )


def _check_many(
    path: Any, estimator: Any, settings: list[dict[str, Any]], training_sets: list[PathData]
) -> None:
    together = list(path.outputs_many(estimator, settings, training_sets))
    assert len(together) == len(training_sets), (
        f"outputs_many gives {len(together)} outputs for {len(training_sets)} training sets"
    )
    for data, found in zip(training_sets, together, strict=True):
        for method, alone in path.outputs(estimator, settings, data).items():
            np.testing.assert_array_equal(
                found[method],
                alone,
                err_msg=f"{method} from outputs_many, trained on {len(data.rows)} samples",
            )


def _training_sets(
    estimator: Any, X: Any, y: Any, weight: Any, methods: tuple[str, ...], prepared: Any, seed: int
) -> Iterator[PathData]:
    n_samples = X.shape[0]
    for n_train in (n_samples, n_samples - n_samples // 5, n_samples // 2 + 1):
        rows = np.sort(np.random.default_rng(seed).permutation(n_samples)[:n_train])
        X_train, y_train = safe_split(estimator, X, y, rows)
        fit_params = {} if weight is None else {"sample_weight": weight[rows]}
        yield PathData(X, y, rows, X_train, y_train, fit_params, methods, prepared)


def _parts(path: Any, estimator: Any, settings: list[dict[str, Any]]) -> list[list[int]]:
    """Positions of whole lines: each line alone, then the first half of the lines and the rest."""
    lines: dict[Any, list[int]] = {}
    for i, setting in enumerate(settings):
        line = path.line(estimator, setting) if hasattr(path, "line") else None
        lines.setdefault(line, []).append(i)
    parts = list(lines.values())
    if len(parts) < 2:
        return []
    half = len(parts) // 2
    return [*parts, *(sorted(chain.from_iterable(some)) for some in (parts[:half], parts[half:]))]


def _assert_close(
    found: NDArray[Any], expected: NDArray[Any], message: str, rtol: float, atol: float
) -> None:
    if expected.dtype.kind == "f":
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol * scale, err_msg=message)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=message)
