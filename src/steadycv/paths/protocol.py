"""What a path is, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from steadycv.paths.looked_up import LookedUp

    Outputs: TypeAlias = Mapping[str, NDArray[Any]] | Mapping[str, LookedUp]
    """By method, an array of shape (n_settings, n_samples, ...)."""

__all__ = ["FailedOutputs", "Outputs", "Path", "PathData", "TransformerPath", "failures_of"]


class FailedOutputs(dict[str, "NDArray[Any]"]):
    """Outputs where the fits of some settings failed, and what they say does not count.

    Parameters
    ----------
    outputs : mapping
        By method, as of a path.
    failures : dict of int to str
        By setting, what went wrong, as the last line of a traceback says it.
    """

    def __init__(self, outputs: Mapping[str, NDArray[Any]], failures: dict[int, str]) -> None:
        super().__init__(outputs)
        self.failures = failures


def failures_of(outputs: Outputs) -> dict[int, str]:
    """By setting, what went wrong, of a path's outputs."""
    return outputs.failures if isinstance(outputs, FailedOutputs) else {}


@dataclass(frozen=True)
class PathData:
    """One training set, as a path is given it.

    Attributes
    ----------
    X, y : data
        All samples.
    rows : ndarray of int
        The rows of the training set, in increasing order.
    X_train, y_train : data
        The training set.
    fit_params : dict
        What ``fit`` would be given besides: ``sample_weight`` of the training rows, or nothing.
    methods : tuple of str
        Whose outputs are wanted, ``"predict"``, ``"predict_proba"`` or ``"decision_function"``: some of
        those that the path's ``methods`` names.
    prepared : object
        What the path's ``prepare`` returned.
    blocks : ndarray of int or None
        Numbers of disjoint blocks of samples, one for every sample: the training set is made of whole
        blocks, as are those that it is compared with (of a partition, the folds). For paths that compute
        something once a block and add it up. None where there are no such blocks.
    """

    X: Any
    y: Any
    rows: NDArray[np.intp]
    X_train: Any
    y_train: Any
    fit_params: dict[str, Any]
    methods: tuple[str, ...] = ("predict",)
    prepared: Any = None
    blocks: NDArray[np.intp] | None = None


class Path(Protocol):
    """One fit, many candidates.

    The estimator that a path is given has all parameters of its first candidate set, has a seed, and
    is not fitted; it is used for all training sets, so a path fits clones of it. The candidates of
    one fit differ in the path's parameters only.

    These methods may be there besides:

    ``line(estimator, setting)``
        Something hashable. Candidates for which it is equal make a *line*, and are always asked for
        together, as their outputs depend on each other, be it by the rounding of a product. Without
        this method all are one line. Candidates of different lines may be asked for in one call or in
        several, and no bit of their outputs may depend on it.
    ``serves_each(estimator, settings, X, y)``, ``line_each(estimator, settings)``
        ``serves`` and ``line`` for several settings, in a list: for a path that can answer for all of
        them in less time than for one after the other, as it looks at the data once.
    ``at_most(estimator)``
        The number of candidates to ask for at a time, for a path whose work grows with them; or None.
    ``n_held(estimator, setting, n_samples)``
        How many numbers the outputs of a setting take, for a path that gives them as `LookedUp`; without
        this method one a sample. Groups are made no larger than memory allows.
    ``run(estimator, setting)``
        Something hashable. Candidates for which it is equal share a solver's run; those of other runs
        share less (a kernel matrix, binned data), so that a race between them is worth while. Without
        this method, or where it is None, all candidates of a fit share its run.
    ``in_one_fit(estimator)``
        Those of ``parameters`` whose values take no fit of their own; without this method all of them.
    ``outputs_many(estimator, settings, many)``
        ``outputs`` for several training sets, a sequence of `PathData`, one after the other.
    """

    def parameters(self, estimator: Any) -> Collection[str]:
        """The parameters in which the candidates of one fit may differ."""

    def methods(self, estimator: Any) -> Collection[str]:
        """The estimator's methods whose outputs the path can give."""

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether the estimator with this setting gets exactly the outputs of a separate fit.

        What a path does not serve is fitted separately.
        """

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:
        """What can be computed once for all training sets; None if nothing."""

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> Outputs:
        """Outputs of every setting for all rows of ``data.X``, trained on ``data.rows``.

        For each of ``data.methods`` an array of shape (n_settings, n_samples, ...), each row what that
        method of the estimator fitted with that setting would return. Where the separate fit of a
        setting would raise an error and those of others would not, a `FailedOutputs` says so.
        """


class TransformerPath(Protocol):
    """One fit of a transformer, many settings of it: for the steps of pipelines."""

    def parameters(self, transformer: Any) -> Collection[str]:
        """The parameters in which the settings of one fit may differ."""

    def shares(self, transformer: Any, X_train: Any) -> bool:
        """Whether the transformer gets exactly what its own fit would give."""

    def transformed(
        self, transformers: tuple[Any, ...], data: PathData, fit_params: dict[str, Any]
    ) -> Iterator[PathData]:
        """The data behind each of the transformers, `data` with other ``X`` and ``X_train``."""
