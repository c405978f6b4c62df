"""Support vector machines: one kernel matrix for all training sets and all values of C and epsilon.

The kernel is evaluated once for all pairs of samples, and libsvm is given parts of that matrix. The
fits stay separate, and equal to those without a path within the solver's tolerance; most of the time
of small problems goes into kernel evaluations, when fitting and, even more, when predicting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["KernelMachinePath"]

MAX_BYTES = 200 * 2**20  # of a matrix of all pairs of samples


class KernelMachinePath:
    """Serves ``C``, ``epsilon`` and ``nu``."""

    def parameters(self, estimator: Any) -> Collection[str]:
        """Those of them that the machine has."""
        return {"C", "epsilon", "nu"} & set(estimator.get_params(deep=False))

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:  # noqa: ARG002
        """Kernels that scikit-learn names, dense numbers, and a matrix that fits into memory."""
        return (
            estimator.kernel in ("linear", "poly", "rbf", "sigmoid")
            and getattr(estimator, "probability", False) is not True
            and isinstance(X, np.ndarray)
            and X.dtype.kind in "fiu"
            and bool(np.isfinite(X).all())
            and 8 * X.shape[0] ** 2 <= MAX_BYTES
        )

    def prepare(self, estimator: Any, X: Any, y: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """What the kernel is a function of: squared distances, or scalar products."""
        X = X.astype(np.float64, copy=False)
        if estimator.kernel != "rbf":
            return np.asarray(X @ X.T)
        return np.asarray(euclidean_distances(X, squared=True))

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Fit every setting on the kernel matrix of the training rows."""
        kernel = _kernel(estimator, data)
        to_train = kernel[:, data.rows]
        names = self.parameters(estimator)
        outputs = []
        for setting in settings:
            params = {name: setting[name] for name in names if name in setting}
            machine = clone(estimator).set_params(kernel="precomputed", **params)
            machine.fit(to_train[data.rows], data.y_train, **data.fit_params)
            outputs.append(getattr(machine, data.method)(to_train))
        return np.stack(outputs)


def _kernel(estimator: Any, data: PathData) -> NDArray[np.float64]:
    """The kernel of all samples with all samples, as libsvm computes it from the training set."""
    if estimator.kernel == "linear":
        matrix: NDArray[np.float64] = data.prepared
        return matrix
    gamma = estimator.gamma
    if gamma == "scale":
        variance = data.X_train.var()
        gamma = 1.0 / (data.X_train.shape[1] * variance) if variance != 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / data.X_train.shape[1]
    if estimator.kernel == "rbf":
        return np.asarray(np.exp(-gamma * data.prepared))
    product = gamma * data.prepared + estimator.coef0
    return np.asarray(np.tanh(product) if estimator.kernel == "sigmoid" else product**estimator.degree)


for _machine in (SVC, SVR, NuSVC, NuSVR):
    register_path(_machine, KernelMachinePath())
