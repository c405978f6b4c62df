"""abess as a regressor that takes what a table gives it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Abess"]


class Abess(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Best subset selection by abess, on the columns that vary.

    abess itself refuses columns that are constant in a training set, and more columns than there are.

    Parameters
    ----------
    support_size : int, default=1
        The largest number of columns.
    alpha : float, default=0.0
        The ridge penalty, as abess has it.
    """

    def __init__(self, support_size: int = 1, alpha: float = 0.0) -> None:
        self.support_size = support_size
        self.alpha = alpha

    def fit(self, X: Any, y: NDArray[np.float64]) -> Abess:
        """Choose columns and fit their coefficients."""
        try:
            package = import_module("abess")
        except ImportError as error:
            raise ImportError("Table 2 runs abess: pip install 'steadycv[bench]'.") from error
        X = np.asarray(X, dtype=np.float64)
        varying = np.flatnonzero(np.ptp(X, axis=0))
        size = min(self.support_size, len(varying))
        model = package.LinearRegression(support_size=size, alpha=self.alpha).fit(X[:, varying], y)
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[varying] = model.coef_
        self.intercept_ = float(model.intercept_)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target."""
        predictions: NDArray[np.float64] = np.asarray(X, dtype=np.float64) @ self.coef_ + self.intercept_
        return predictions
