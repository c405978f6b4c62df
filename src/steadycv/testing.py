"""Checks that a path of one's own can be held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from steadycv._compat import safe_split
from steadycv.fitting import new_estimator
from steadycv.paths import PathData, find_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_path"]


def check_path(
    estimator: Any,
    param_grid: dict[str, Any],
    X: Any,
    y: Any,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    method: str = "predict",
    rtol: float = 1e-9,
    atol: float = 1e-9,
    serves: bool | None = True,
    seed: int = 0,
) -> None:
    """Check that a path gives every candidate the outputs of a separate fit.

    Three training sets of different size are tried. Candidates that the path does not serve are
    passed over.

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
    method : str, default="predict"
        The outputs to compare, ``"predict"`` or ``"predict_proba"``.
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
    prepared = path.prepare(first, X, y)
    n_samples = X.shape[0]
    for n_train in (n_samples, n_samples - n_samples // 5, n_samples // 2 + 1):
        rows = np.sort(np.random.default_rng(seed).permutation(n_samples)[:n_train])
        X_train, y_train = safe_split(first, X, y, rows)
        fit_params = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
        data = PathData(X, y, rows, X_train, y_train, fit_params, method, prepared)
        found = path.outputs(first, served, data)
        assert len(found) == len(served), f"{len(found)} outputs for {len(served)} settings"
        for candidate, outputs in zip(served, found, strict=True):
            separate = clone(new_estimator(estimator, candidate)).fit(X_train, y_train, **fit_params)
            expected = np.asarray(getattr(separate, method)(X))
            message = f"{candidate} trained on {n_train} of {n_samples} samples"
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(
                    outputs, expected, rtol=rtol, atol=atol * np.abs(expected).max(), err_msg=message
                )
            else:
                np.testing.assert_array_equal(outputs, expected, err_msg=message)
