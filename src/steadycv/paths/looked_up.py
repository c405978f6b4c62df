"""Outputs that take few values: of each sample is known where in a table they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LookedUp"]


class LookedUp:
    """Outputs of many settings on many samples that are only looked up when somebody asks for some.

    A tree says the same of all samples in a leaf. Of a million samples and four truncations that is a
    number a sample and four short tables, in place of four numbers a sample.

    Parameters
    ----------
    value : ndarray of shape (n_places, ...)
        What is said at a place.
    ends : ndarray of int of shape (n_settings, n_places)
        By setting, at which place those end that would come to a place.
    place : ndarray of int of shape (n_samples,)
        The place that each sample comes to.

    Examples
    --------
    >>> import numpy as np
    >>> value, place = np.array([0.5, 0.2, 0.9]), np.array([1, 2, 1])
    >>> outputs = LookedUp(value, np.array([[0, 0, 0], [0, 1, 2]]), place)
    >>> np.asarray(outputs)
    array([[0.5, 0.5, 0.5],
           [0.2, 0.9, 0.2]])
    >>> outputs[1, np.array([0, 1])]
    array([0.2, 0.9])
    >>> outputs[1]
    array([0.2, 0.9, 0.2])
    """

    def __init__(
        self, value: NDArray[Any], ends: NDArray[np.integer], place: NDArray[np.integer]
    ) -> None:
        self.value = value
        self._ends = ends
        self._place = place

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return int(self.value.nbytes + self._ends.nbytes + self._place.nbytes)

    def __getitem__(self, key: Any) -> Any:
        """Of several settings the same; what a setting says, or what some say of some samples."""
        if not isinstance(key, int | np.integer | tuple):
            return LookedUp(self.value, self._ends[key], self._place)
        settings, samples = key if isinstance(key, tuple) else (key, slice(None))
        ends = self._ends[settings]
        looked_up: NDArray[Any] = self.value.take(ends, axis=0).take(
            self._place[samples], axis=ends.ndim - 1
        )
        return looked_up

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found: NDArray[Any] = np.asarray(self[:, slice(None)], dtype=dtype)
        return found

    def on(self, samples: Any) -> LookedUp:
        """The same on some samples."""
        return LookedUp(self.value, self._ends, self._place[samples])

    def saying(self, value: NDArray[Any]) -> LookedUp:
        """The same with other things said."""
        return LookedUp(value, self._ends, self._place)
