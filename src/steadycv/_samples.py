"""The samples that models are judged on, as scores see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Samples(NamedTuple):
    """True targets, with a column for each, or labels; weights; and all classes of the data."""

    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    classes: NDArray[Any] | None = None

    @property
    def counting(self) -> NDArray[Any]:
        """The targets of the samples that have a weight."""
        return self.y if self.weight is None else self.y[self.weight != 0]

    @property
    def there(self) -> NDArray[Any]:
        """The classes of the samples that have a weight."""
        return np.unique(self.counting)

    @property
    def known(self) -> NDArray[Any]:
        """All classes; those of the samples where no others are told."""
        if self.classes is None:
            return np.unique(self.y)
        if not np.isin(self.y, self.classes).all():
            strange = np.setdiff1d(self.y, self.classes).tolist()
            raise ValueError(f"y has classes that are not among the given ones: {strange}")
        return self.classes

    def mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The weighted mean over the last axis, the samples."""
        return weighted_mean(values, self.weight)

    def mean_target(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The weighted mean over the first axis, where targets have their samples."""
        return np.asarray(np.average(values, axis=0, weights=self.weight))


def weighted_mean(values: NDArray[Any], weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The weighted mean over the last axis."""
    values = np.ascontiguousarray(values)  # the order of a sum is that of the memory
    if weight is None:
        return np.asarray(values.mean(axis=-1))
    return np.asarray((values * weight).sum(axis=-1) / weight.sum())
