"""Boosting: a model of many rounds holds every model of fewer rounds.

What a round adds depends on the rounds before it, never on those to come, as long as nothing stops
the training early. The random numbers are drawn round by round, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
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
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["GradientBoostingPath", "HistGradientBoostingPath", "LightGBMPath", "XGBoostPath"]


class _RoundsPath(ABC):
    """One fit of the largest number of rounds; what is kept after fewer of them is read off it."""

    parameter: ClassVar[str] = "n_estimators"

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of rounds."""
        return (self.parameter,)

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:  # noqa: ARG002
        """Whether all rounds asked for are run, and do not depend on their number."""
        rounds = setting.get(self.parameter, getattr(estimator, self.parameter))
        return isinstance(rounds, Integral) and int(rounds) >= 1 and self._runs_all(estimator, X)

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Nothing: every training set is fitted by itself."""
        return None

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Outputs after each number of rounds."""
        default = getattr(estimator, self.parameter)
        rounds = [int(setting.get(self.parameter, default)) for setting in settings]
        longest = clone(estimator).set_params(**{self.parameter: max(rounds)})
        longest.fit(data.X_train, data.y_train, **data.fit_params)
        after = dict(self._stages(longest, sorted(set(rounds)), data))
        return np.stack([after[n] for n in rounds])

    @abstractmethod
    def _runs_all(self, estimator: Any, X: Any) -> bool:
        """Whether nothing stops the training before the last round."""

    @abstractmethod
    def _stages(
        self, fitted: Any, rounds: list[int], data: PathData
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """The outputs by number of rounds, for the ascending numbers that are wanted."""


class GradientBoostingPath(_RoundsPath):
    """Rounds of scikit-learn's gradient boosting."""

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        return estimator.n_iter_no_change is None

    def _stages(
        self, fitted: Any, rounds: list[int], data: PathData
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        stages = getattr(fitted, f"staged_{data.method}")(data.X)
        return ((n, stage) for n, stage in enumerate(stages, 1) if n in rounds)


class HistGradientBoostingPath(GradientBoostingPath):
    """Rounds of scikit-learn's gradient boosting on histograms."""

    parameter = "max_iter"

    # With "auto", a training set of more rows than this is stopped early.
    _LARGE = 10_000

    def _runs_all(self, estimator: Any, X: Any) -> bool:
        if estimator.early_stopping == "auto":
            return bool(n_samples_of(X) <= self._LARGE)
        return not estimator.early_stopping


class XGBoostPath(_RoundsPath):
    """Rounds of XGBoost's trees. Regressors that grow other trees share the prepared columns as well."""

    # How trees are grown; none of these changes how the columns are sorted or binned before.
    _GROWTH = (
        "max_depth",
        "max_leaves",
        "min_child_weight",
        "gamma",
        "learning_rate",
        "subsample",
        "colsample_bytree",
        "colsample_bylevel",
        "colsample_bynode",
        "reg_alpha",
        "reg_lambda",
    )

    def parameters(self, estimator: Any) -> tuple[str, ...]:
        """The number of rounds and, where the columns can be prepared before, how trees are grown."""
        return (self.parameter, *(self._GROWTH if self._prepares_columns(estimator) else ()))

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Outputs after each number of rounds, with each kind of trees."""
        alike: dict[Any, list[int]] = {}
        for i, setting in enumerate(settings):
            growth = tuple((name, value) for name, value in setting.items() if name != self.parameter)
            alike.setdefault(growth, []).append(i)
        shared = self._prepares_columns(estimator) and isinstance(data.X, np.ndarray)
        boosted = _Boosted(estimator, data) if shared else None
        found: dict[int, NDArray[Any]] = {}
        outputs: Iterable[NDArray[Any]]
        for growth, keys in alike.items():
            some = [settings[i] for i in keys]
            if boosted is None:
                outputs = super().outputs(clone(estimator).set_params(**dict(growth)), some, data)
            else:
                rounds = [int(s.get(self.parameter, estimator.n_estimators)) for s in some]
                outputs = boosted.outputs(dict(growth), rounds)
            found.update(zip(keys, outputs, strict=True))
        return np.stack([found[i] for i in range(len(settings))])

    def _prepares_columns(self, estimator: Any) -> bool:
        return (
            type(estimator).__name__ == "XGBRegressor"
            and estimator.tree_method in (None, "auto", "hist", "exact")
            and estimator.device in (None, "cpu")
            and isinstance(estimator.objective, str)
            and estimator.eval_metric is None
            and not estimator.enable_categorical
            and getattr(estimator, "feature_weights", None) is None
            and estimator.feature_types is None
        )

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        # A "dart" round changes the weights of the rounds before it; "gblinear" has one model only.
        return (
            estimator.booster in (None, "gbtree")
            and estimator.early_stopping_rounds is None
            and estimator.callbacks is None
        )

    def _stages(
        self, fitted: Any, rounds: list[int], data: PathData
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        predict = getattr(fitted, data.method)
        return ((n, predict(data.X, iteration_range=(0, n))) for n in rounds)


class _Boosted:
    """XGBoost on one training set whose columns are prepared once, as its regressor prepares them."""

    def __init__(self, estimator: Any, data: PathData) -> None:
        xgboost = import_module("xgboost")
        how = {"missing": estimator.missing, "nthread": estimator.n_jobs}
        samples = (data.X_train, data.y_train)
        weight = data.fit_params.get("sample_weight")
        if estimator.tree_method == "exact":
            self._train = xgboost.DMatrix(*samples, weight=weight, **how)
        else:
            bins = estimator.max_bin
            self._train = xgboost.QuantileDMatrix(*samples, weight=weight, max_bin=bins, **how)
        self._everywhere = xgboost.DMatrix(data.X, **how)
        self._params = estimator.get_xgb_params()
        self._booster = xgboost.Booster

    def outputs(self, growth: dict[str, Any], rounds: list[int]) -> list[NDArray[Any]]:
        """Predictions after each number of rounds."""
        booster = self._booster(self._params | growth, [self._train])
        for number in range(max(rounds)):
            booster.update(self._train, number)
        return [booster.predict(self._everywhere, iteration_range=(0, n)) for n in rounds]


class LightGBMPath(_RoundsPath):
    """Rounds of LightGBM's trees."""

    # Other names of the rounds and of the kind of boosting, which LightGBM takes as well.
    _ALIASES = frozenset(
        (
            "num_iterations",
            "num_iteration",
            "n_iter",
            "num_tree",
            "num_trees",
            "num_round",
            "num_rounds",
            "nrounds",
            "num_boost_round",
            "max_iter",
            "boosting",
            "boost",
        )
    )

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        # A "dart" round changes the weights of the rounds before it; "rf" takes their mean.
        return estimator.boosting_type in ("gbdt", "goss") and self._ALIASES.isdisjoint(
            estimator.get_params()
        )

    def _stages(
        self, fitted: Any, rounds: list[int], data: PathData
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        # A round that finds no split leaves no trees, and with random rounds the next one may find
        # some: then the number of trees no longer tells the number of rounds.
        counted = fitted.n_iter_ == rounds[-1]
        for n in rounds:
            if not counted:
                fitted = clone(fitted).set_params(n_estimators=n)
                fitted.fit(data.X_train, data.y_train, **data.fit_params)
            yield n, getattr(fitted, data.method)(data.X, num_iteration=n)


register_path(GradientBoostingClassifier, GradientBoostingPath())
register_path(GradientBoostingRegressor, GradientBoostingPath())
register_path(HistGradientBoostingClassifier, HistGradientBoostingPath())
register_path(HistGradientBoostingRegressor, HistGradientBoostingPath())
register_path("xgboost.sklearn.XGBClassifier", XGBoostPath())
register_path("xgboost.sklearn.XGBRegressor", XGBoostPath())
register_path("lightgbm.sklearn.LGBMClassifier", LightGBMPath())
register_path("lightgbm.sklearn.LGBMRegressor", LightGBMPath())
