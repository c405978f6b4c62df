"""Early stopping: numbers of rounds to try one after the other, and the candidates that they make."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EarlyStopping", "Series"]


class EarlyStopping(Sequence[int]):
    """Numbers of rounds to try, one after the other until the best is `patience` rounds behind.

    For the number of rounds, or of anything that is added up one by one, in a ``param_grid``. It is a
    list of numbers, `step`, ``2 * step`` and so on up to `most`; but for each setting of the other
    parameters, each view looks only as far as it takes. The choice is made among what it has looked at,
    like that of any other parameter.

    Parameters
    ----------
    most : int, default=2000
        No more rounds than this are tried, however good they are.
    step : int, default=10
        The distance between the numbers of rounds.
    patience : int, default=50
        How many rounds the best number must be behind.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from steadycv import EarlyStopping, StabilitySearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"max_iter": EarlyStopping(most=1000), "learning_rate": [0.1, 0.3]}
    >>> search = StabilitySearchCV(HistGradientBoostingRegressor(max_depth=2), grid).fit(X, y)
    >>> search.best_params_
    {'learning_rate': 0.1, 'max_iter': 50}
    """

    def __init__(self, most: int = 2000, *, step: int = 10, patience: int = 50) -> None:
        for name, value in (("most", most), ("step", step), ("patience", patience)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} of EarlyStopping must be a number of rounds, got {value!r}.")
        if step > min(most, patience):
            raise ValueError(
                f"step of EarlyStopping must not be larger than most and patience, got step={step}, "
                f"most={most} and patience={patience}."
            )
        self.most, self.step, self.patience = int(most), int(step), int(patience)
        self._rounds = range(self.step, self.most + 1, self.step)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> range: ...
    def __getitem__(self, index: int | slice) -> int | range:
        return self._rounds[index]

    def __len__(self) -> int:
        return len(self._rounds)

    def __repr__(self) -> str:
        return f"EarlyStopping(most={self.most}, step={self.step}, patience={self.patience})"


class Series(NamedTuple):
    """Candidates that differ in their number of rounds only.

    Attributes
    ----------
    candidates : ndarray of int
        By increasing number of rounds.
    rounds : ndarray of int
        These numbers.
    patience : int
        How many rounds the best one must be behind.
    """

    candidates: NDArray[np.intp]
    rounds: NDArray[np.intp]
    patience: int
