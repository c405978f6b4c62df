"""Transformers of which one fit gives several settings, for the steps of pipelines."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, SelectKBest, SelectPercentile

from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadycv.paths.protocol import PathData

__all__ = ["ComponentsPath", "SelectionPath"]


@dataclass(frozen=True)
class SelectionPath:
    """Selections of features: the fit is the same for any number kept.

    Attributes
    ----------
    parameter : str
        What says how many.
    allowed : callable
        Whether the transformer takes a value of it.
    """

    parameter: str
    allowed: Callable[[Any], bool]

    def parameters(self, transformer: Any) -> tuple[str]:  # noqa: ARG002
        """How many are kept."""
        return (self.parameter,)

    def shares(self, transformer: Any, X_train: Any) -> bool:  # noqa: ARG002
        """Whether the transformer would take the number."""
        return self.allowed(getattr(transformer, self.parameter))

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        """The features that each of the transformers keeps."""
        fitted = transformers[0].fit(data.X_train, data.y_train, **fit_params)
        for value in [getattr(transformer, self.parameter) for transformer in transformers]:
            fitted.set_params(**{self.parameter: value})
            yield replace(data, X_train=fitted.transform(data.X_train), X=fitted.transform(data.X))


class ComponentsPath:
    """Principal components, by the solvers that compute all of them and then keep some."""

    def parameters(self, transformer: Any) -> tuple[str]:  # noqa: ARG002
        """The number of components."""
        return ("n_components",)

    def shares(self, transformer: Any, X_train: Any) -> bool:
        """Whether it is a number, and the solver computes all of them."""
        n_components = transformer.n_components
        return (
            isinstance(n_components, Integral)
            and 1 <= int(n_components) <= min(np.shape(X_train))
            and _pca_solver(transformer, X_train) in ("full", "covariance_eigh")
        )

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        """The first components of the largest."""
        largest = max(transformers, key=lambda transformer: int(transformer.n_components))
        solver = _pca_solver(largest, data.X_train)
        X_train = largest.fit_transform(data.X_train, data.y_train, **fit_params)
        for n_components in [int(transformer.n_components) for transformer in transformers]:
            # Cut before the data are transformed: the rounding of a product depends on its size, and on
            # how the numbers lie in memory.
            cut = copy.copy(largest)
            cut.components_ = np.array(largest.components_[:n_components])
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


register_path(PCA, ComponentsPath())
register_path(SelectKBest, SelectionPath("k", _is_number_kept))
register_path(SelectPercentile, SelectionPath("percentile", _is_between(0, 100)))
register_path(SelectFpr, SelectionPath("alpha", _is_between(0, 1)))
register_path(SelectFdr, SelectionPath("alpha", _is_between(0, 1)))
register_path(SelectFwe, SelectionPath("alpha", _is_between(0, 1)))
