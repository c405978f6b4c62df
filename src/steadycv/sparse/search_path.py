"""What a search over sparsities and gammas shares: a pass for all sparsities, products for all else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_X_y

from steadycv.paths.registry import register_path
from steadycv.sparse.estimator import SparseRidge, is_count, is_gamma, plain_setting
from steadycv.sparse.gram import Gram, blocks_of_folds
from steadycv.sparse.path import coefficients
from steadycv.sparse.solvers import Training, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData
    from steadycv.sparse.gram import Block

__all__ = ["SparseRidgeSearchPath"]


class SparseRidgeSearchPath:
    """All sparsities and gammas of ``SparseRidge``, with the solvers that gain by it."""

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The sparsity and the penalty."""
        return ("sparsity", "gamma")

    def methods(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Predictions."""
        return ("predict",)

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether the setting is valid; the separate fit says what is wrong with others."""
        sparsity, gamma = _setting(estimator, setting)
        return (
            estimator.solver in ("beam", "rounding")
            and np.ndim(y) == 1
            and len(np.shape(X)) == 2
            and is_count(sparsity, np.shape(X)[1])
            and is_gamma(gamma)
        )

    def prepare(self, estimator: Any, X: Any, y: Any) -> _Prepared:
        """The data as numbers."""
        X, y = check_X_y(
            X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, estimator=estimator
        )
        return _Prepared(X, y.astype(np.float64, copy=False), centre=bool(estimator.fit_intercept))

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[np.float64]]:
        """Predictions for every sparsity and gamma."""
        X, y = data.prepared.X, data.prepared.y
        training = _training(estimator, X[data.rows], y[data.rows], data)
        plain = [plain_setting(*_setting(estimator, setting), X.shape[1]) for setting in settings]
        answers = solve(training, plain, estimator._options())
        coef, intercept = coefficients(training.gram, answers)
        used = np.flatnonzero(coef.any(axis=0))
        return {"predict": coef[:, used] @ X[:, used].T + intercept[:, np.newaxis]}


class _Prepared:
    """The data, and their products block by block; those of the last blocks are kept."""

    def __init__(self, X: Any, y: NDArray[np.float64], *, centre: bool) -> None:
        self.X, self.y = X, y
        self._centre = centre
        self._last: tuple[bytes, list[Block]] | None = None

    def products(self, blocks: NDArray[np.intp]) -> list[Block]:
        key = blocks.tobytes()
        last = self._last
        if last is None or last[0] != key:
            last = self._last = (key, blocks_of_folds(self.X, self.y, blocks, centre=self._centre))
        return last[1]


def _training(estimator: Any, X: Any, y: NDArray[np.float64], data: PathData) -> Training:
    """The training rows, with products from those of the blocks where these are exact enough."""
    weight = data.fit_params.get("sample_weight")
    if weight is None and data.blocks is not None:
        products = data.prepared.products(data.blocks)
        members = [products[block] for block in np.unique(data.blocks[data.rows])]
        centre, standardize = bool(estimator.fit_intercept), bool(estimator.standardize)
        gram = Gram(members, centre=centre, standardize=standardize)
        rough = X[:, gram.rough]
        # Digits that are lost in the sums of a constant are not missed.
        if not (_varies(rough.toarray() if issparse(X) else rough) or (gram.y_is_rough and _varies(y))):
            return Training(X, y, None, gram)
    training: Training = estimator._training(X, y, weight)
    return training


def _varies(values: NDArray[np.float64]) -> bool:
    return bool((values != values[0]).any())


def _setting(estimator: Any, setting: dict[str, Any]) -> tuple[Any, Any]:
    return setting.get("sparsity", estimator.sparsity), setting.get("gamma", estimator.gamma)


register_path(SparseRidge, SparseRidgeSearchPath())
