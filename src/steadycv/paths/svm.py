"""Support vector machines: one kernel matrix for all training sets and all values of C and epsilon.

The kernel is evaluated once for all pairs of samples, and libsvm is given parts of that matrix. The
fits stay separate, and equal to those without a path within the solver's tolerance; most of the time
of small problems goes into kernel evaluations, when fitting and, even more, when predicting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from steadycv._compat import to_numpy
from steadycv.paths.common import ChecksDataOnce
from steadycv.paths.registry import register_path
from steadycv.paths.separate import SEPARATE
from steadycv.paths.settings import key_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData
    from steadycv.paths.settings import Key

__all__ = ["KernelMachinePath"]

MAX_BYTES = 200 * 2**20  # of a matrix of all pairs of samples


class KernelMachinePath(ChecksDataOnce):
    """Serves ``C``, ``epsilon`` and ``nu``; the fits are separate, so every candidate is a line.

    Parameters
    ----------
    *names : str
        Those of them that the machine has.
    """

    def __init__(self, *names: str) -> None:
        self._names = names

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Those of them that the machine has."""
        return self._names

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers decision values."""
        return ("predict", "decision_function") if is_classifier(estimator) else ("predict",)

    def run(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """One for each: all that they share is the kernel matrix."""
        return key_of(setting)

    def in_one_fit(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """None."""
        return ()

    def line(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """Every candidate is one of its own."""
        return key_of(setting)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
        """Kernels that scikit-learn names, dense numbers, and a matrix that fits into memory."""
        return (
            estimator.kernel in ("linear", "poly", "rbf", "sigmoid")
            and getattr(estimator, "probability", False) is not True
            and isinstance(X, np.ndarray)
            and X.dtype.kind in "fiu"
            and bool(np.isfinite(X).all())
            and 8 * X.shape[0] ** 2 <= MAX_BYTES
        )

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        return True

    def prepare(self, estimator: Any, X: Any, y: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """What the kernel is a function of: squared distances, or scalar products."""
        X = X.astype(np.float64, copy=False)
        if estimator.kernel != "rbf":
            return np.asarray(X @ X.T)
        return np.asarray(euclidean_distances(X, squared=True))

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Fit every setting on the kernel matrix of the training rows."""
        weight = data.fit_params.get("sample_weight")
        if weight is not None and not (to_numpy(weight) > 0).all():
            # libsvm leaves such samples out, and then takes the wrong columns of a given kernel.
            return SEPARATE.outputs(estimator, settings, data)
        kernel = _kernel(estimator, data)
        to_train = kernel[:, data.rows]
        outputs: dict[str, list[NDArray[Any]]] = {method: [] for method in data.methods}
        for setting in settings:
            params = {name: setting[name] for name in self._names if name in setting}
            machine = clone(estimator).set_params(kernel="precomputed", **params)
            machine.fit(to_train[data.rows], data.y_train, **data.fit_params)
            for method in data.methods:
                outputs[method].append(getattr(machine, method)(to_train))
        return {method: np.stack(found) for method, found in outputs.items()}


def _kernel(estimator: Any, data: PathData) -> NDArray[np.float64]:
    """The kernel of all samples with all samples, as libsvm computes it from the training set."""
    if estimator.kernel == "linear":
        matrix: NDArray[np.float64] = data.prepared
        return matrix
    gamma = estimator.gamma
    if gamma == "scale":
        # Of the numbers as libsvm takes them, and not in the precision that they came in.
        variance = data.X_train.astype(np.float64, copy=False).var()
        gamma = 1.0 / (data.X_train.shape[1] * variance) if variance != 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / data.X_train.shape[1]
    if estimator.kernel == "rbf":
        return np.asarray(np.exp(-gamma * data.prepared))
    product = gamma * data.prepared + estimator.coef0
    return np.asarray(np.tanh(product) if estimator.kernel == "sigmoid" else product**estimator.degree)


register_path(SVC, KernelMachinePath("C"))
register_path(SVR, KernelMachinePath("C", "epsilon"))
register_path(NuSVC, KernelMachinePath("nu"))
register_path(NuSVR, KernelMachinePath("C", "nu"))
