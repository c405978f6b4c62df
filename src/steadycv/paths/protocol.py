"""What a path is, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Path", "PathData"]


@dataclass(frozen=True)
class PathData:
    """One training set, as a path is given it.

    Attributes
    ----------
    X, y : data
        All samples.
    rows : ndarray of int
        The rows of the training set.
    X_train, y_train : data
        The training set.
    fit_params : dict
        What ``fit`` would be given besides: ``sample_weight`` of the training rows, or nothing.
    method : str
        Whose outputs are wanted: ``"predict"`` or ``"predict_proba"``.
    prepared : object
        What the path's ``prepare`` returned.
    together : list of dict or None
        The settings of all candidates that one fit could serve; an adaptive search asks for some of
        them at a time. For paths whose fit depends on the settings that it is to serve.
    folds : ndarray of int or None
        The fold of every sample, in the partition whose folds the training set leaves out or not. For
        paths that compute something once a fold and add it up.
    """

    X: Any
    y: Any
    rows: NDArray[np.intp]
    X_train: Any
    y_train: Any
    fit_params: dict[str, Any]
    method: str
    prepared: Any = None
    together: list[dict[str, Any]] | None = None
    folds: NDArray[np.intp] | None = None


class Path(Protocol):
    """One fit, many candidates.

    The estimator that a path is given has all parameters of its first candidate set, has a seed, and
    is not fitted; it is used for all training sets, so a path fits clones of it. The candidates of
    one fit differ in the path's parameters only. A path whose work grows with the candidates may
    have a method ``at_most(estimator)``, the number of candidates to give it at a time.
    """

    def parameters(self, estimator: Any) -> Collection[str]:
        """The parameters in which the candidates of one fit may differ."""

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether the estimator with this setting gets exactly the outputs of a separate fit.

        What a path does not serve is fitted separately.
        """

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:
        """What can be computed once for all training sets; None if nothing."""

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Outputs of every setting for all rows of ``data.X``, trained on ``data.rows``.

        An array of shape (n_settings, n_samples, ...), each row what ``data.method`` of the
        estimator fitted with that setting would return.
        """
