"""Boosting: a model of many rounds holds every model of fewer rounds.

What a round adds depends on the rounds before it, never on those to come, as long as nothing stops
the training early. The random numbers are drawn round by round, too.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from steadycv._compat import n_samples_of
from steadycv.estimators import methods_of
from steadycv.paths.common import ChecksDataOnce
from steadycv.paths.registry import register_path
from steadycv.paths.settings import key_of, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Outputs, PathData
    from steadycv.paths.settings import Key

__all__ = ["GradientBoostingPath", "HistGradientBoostingPath", "RoundsPath"]


class RoundsPath(ChecksDataOnce):
    """One fit of the largest number of rounds; what is kept after fewer of them is read off it."""

    parameter: ClassVar[str] = "n_estimators"
    # Parameters that take a fit of their own, but can share something with the other fits.
    sharing: ClassVar[tuple[str, ...]] = ()

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of rounds, and what leaves the preparation of the data as it is."""
        return (self.parameter, *self.sharing)

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """All that the estimator has."""
        return methods_of(estimator)

    def line(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """Every candidate is one of its own: a round knows nothing of those after it."""
        return key_of(setting)

    def in_one_fit(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of rounds; all others share no more than the bins."""
        return (self.parameter,)

    def run(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """Numbers of rounds are read off one run."""
        return key_of(setting, but=(self.parameter,))

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        rounds = self._rounds(estimator, setting)
        return isinstance(rounds, Integral) and int(rounds) >= 1

    def _rounds(self, estimator: Any, setting: dict[str, Any]) -> Any:
        return setting.get(self.parameter, getattr(estimator, self.parameter))

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Nothing: every training set is fitted by itself."""
        return None

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Outputs after each number of rounds."""
        others = [{name: s[name] for name in self.sharing if name in s} for s in settings]
        found: dict[int, Outputs] = {}
        shared: dict[str, Any] = {}
        for members in together(map(key_of, others)):
            rounds = {i: int(self._rounds(estimator, settings[i])) for i in members}
            numbers = sorted(set(rounds.values()))
            after = dict(self._stages(estimator, others[members[0]], numbers, data, shared))
            found |= {i: after[n] for i, n in rounds.items()}
        return {
            method: np.stack([found[i][method] for i in range(len(settings))]) for method in data.methods
        }

    def _longest(self, estimator: Any, setting: dict[str, Any], rounds: list[int]) -> Any:
        """The model to fit."""
        return clone(estimator).set_params(**setting, **{self.parameter: rounds[-1]})

    @abstractmethod
    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether nothing stops the training before the last round, and none depends on their number."""

    @abstractmethod
    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],
    ) -> Iterator[tuple[int, Outputs]]:
        """Fit with a setting, and give the outputs by number of rounds, for the ascending numbers asked.

        What is put into `shared` is there for the other fits on the same training set.
        """


class GradientBoostingPath(RoundsPath):
    """Rounds of scikit-learn's gradient boosting."""

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
        return estimator.n_iter_no_change is None

    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],  # noqa: ARG002
    ) -> Iterator[tuple[int, Outputs]]:
        model = self._longest(estimator, setting, rounds)
        model.fit(data.X_train, data.y_train, **data.fit_params)
        stages = [getattr(model, f"staged_{method}")(data.X) for method in data.methods]
        for n, outputs in enumerate(zip(*stages, strict=True), 1):
            if n in rounds:
                yield n, dict(zip(data.methods, map(_flat, outputs), strict=True))


class HistGradientBoostingPath(GradientBoostingPath):
    """Rounds of scikit-learn's gradient boosting on histograms."""

    parameter = "max_iter"

    # With "auto", a training set of more rows than this is stopped early.
    _LARGE = 10_000

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
        if estimator.early_stopping == "auto":
            return bool(n_samples_of(X) <= self._LARGE)
        return not estimator.early_stopping


def _flat(outputs: NDArray[Any]) -> NDArray[Any]:
    """Decision values of two classes as the estimator gives them, which its stages have as a column."""
    return outputs[:, 0] if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs


register_path(GradientBoostingClassifier, GradientBoostingPath())
register_path(GradientBoostingRegressor, GradientBoostingPath())
register_path(HistGradientBoostingClassifier, HistGradientBoostingPath())
register_path(HistGradientBoostingRegressor, HistGradientBoostingPath())
