"""Arrays that come in other shapes or types than they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers or text that came as objects, as what they are."""
    return np.array(array.tolist()) if array.dtype == object else array


def one_column(array: NDArray[Any]) -> NDArray[Any]:
    """A column as a vector, so that it is not spread against one."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
