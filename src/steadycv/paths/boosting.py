"""Boosting: a model of many rounds holds every model of fewer rounds.

What a round adds depends on the rounds before it, never on those to come, as long as nothing stops
the training early. The random numbers are drawn round by round, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils import check_array

from steadycv._compat import n_samples_of
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["GradientBoostingPath", "HistGradientBoostingPath", "LightGBMPath", "XGBoostPath"]


class _RoundsPath(ABC):
    """One fit of the largest number of rounds; what is kept after fewer of them is read off it."""

    parameter: ClassVar[str] = "n_estimators"
    # Parameters that take a fit of their own, but can share something with the other fits.
    sharing: ClassVar[tuple[str, ...]] = ()

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of rounds, and what leaves the preparation of the data as it is."""
        return (self.parameter, *self.sharing)

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
        lines: dict[tuple[Any, ...], dict[int, int]] = {}
        for i, setting in enumerate(settings):
            others = tuple((name, setting[name]) for name in self.sharing if name in setting)
            lines.setdefault(others, {})[i] = int(setting.get(self.parameter, default))
        found: dict[int, NDArray[Any]] = {}
        shared: dict[str, Any] = {}
        for others, rounds in lines.items():
            numbers = sorted(set(rounds.values()))
            after = dict(self._stages(estimator, dict(others), numbers, data, shared))
            found |= {i: after[n] for i, n in rounds.items()}
        return np.stack([found[i] for i in range(len(settings))])

    def _longest(self, estimator: Any, setting: dict[str, Any], rounds: list[int]) -> Any:
        """The model to fit."""
        return clone(estimator).set_params(**setting, **{self.parameter: rounds[-1]})

    @abstractmethod
    def _runs_all(self, estimator: Any, X: Any) -> bool:
        """Whether nothing stops the training before the last round."""

    @abstractmethod
    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Fit with a setting, and give the outputs by number of rounds, for the ascending numbers asked.

        What is put into `shared` is there for the other fits on the same training set.
        """


class GradientBoostingPath(_RoundsPath):
    """Rounds of scikit-learn's gradient boosting."""

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        return estimator.n_iter_no_change is None

    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],  # noqa: ARG002
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        model = self._longest(estimator, setting, rounds)
        model.fit(data.X_train, data.y_train, **data.fit_params)
        stages = getattr(model, f"staged_{data.method}")(data.X)
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
    """Rounds of XGBoost's trees. The binned training set is shared by all that is fitted on it."""

    sharing = (
        "max_depth",
        "max_leaves",
        "learning_rate",
        "gamma",
        "min_child_weight",
        "max_delta_step",
        "subsample",
        "colsample_bytree",
        "colsample_bylevel",
        "colsample_bynode",
        "reg_alpha",
        "reg_lambda",
    )

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        # A "dart" round changes the weights of the rounds before it; "gblinear" has one model only.
        return (
            estimator.booster in (None, "gbtree")
            and estimator.early_stopping_rounds is None
            and estimator.callbacks is None
        )

    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        is_plain = isinstance(data.X, np.ndarray) or hasattr(data.X, "iloc")
        if "bins" in shared and estimator.objective == "reg:squarederror" and is_plain:
            yield from self._bare_stages(estimator, setting, rounds, data, shared)
            return
        model = self._longest(estimator, setting, rounds)

        def bin_once(*args: Any, **kwargs: Any) -> Any:
            if "bins" not in shared:
                shared["bins"] = type(model)._create_dmatrix(model, *args, **kwargs)
                shared["parameters"] = estimator.get_xgb_params()
            return shared["bins"]

        model._create_dmatrix = bin_once  # not public: without it every model would bin the data
        model.fit(data.X_train, data.y_train, **data.fit_params)
        # Every stage goes on from the sum of the trees before, to which XGBoost adds the next ones.
        margin, before = None, 0
        for n in rounds:
            later = {"base_margin": margin, "iteration_range": (before, n)}
            outputs = getattr(model, data.method)(data.X, **later)
            yield n, outputs
            if model.objective == "reg:squarederror":
                margin = outputs
            else:
                margin = model.predict(data.X, output_margin=True, **later)
            before = n

    def _bare_stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """The same for squared errors, without what the estimator does around every fit.

        With tens or hundreds of rows that takes longer than the trees.
        """
        bins = shared["bins"]
        booster = import_module("xgboost").Booster(shared["parameters"] | setting, [bins])
        margin, before = None, 0
        for n in rounds:
            for i in range(before, n):
                booster.update(bins, i)
            margin = booster.inplace_predict(
                data.X, iteration_range=(before, n), missing=estimator.missing, base_margin=margin
            )
            yield n, margin
            before = n


class LightGBMPath(_RoundsPath):
    """Rounds of LightGBM's trees."""

    # Other names of the rounds and of the kind of boosting, which LightGBM takes as well; and what
    # would do something else with data that it is to evaluate: stop early, or round them.
    _NOT_SERVED = frozenset(
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
            "early_stopping_round",
            "early_stopping_rounds",
            "early_stopping",
            "n_iter_no_change",
            "linear_tree",
            "linear_trees",
        )
    )

    def _runs_all(self, estimator: Any, X: Any) -> bool:  # noqa: ARG002
        # A "dart" round changes the weights of the rounds before it; "rf" takes their mean.
        return estimator.boosting_type in ("gbdt", "goss") and self._NOT_SERVED.isdisjoint(
            estimator.get_params()
        )

    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],  # noqa: ARG002
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        model = self._longest(estimator, setting, rounds)
        # LightGBM keeps up, round by round, with what it says of data that it is to evaluate: a
        # prediction after each stage would start from the first tree again.
        said: dict[int, NDArray[Any]] = {}

        def listen(environment: Any) -> None:
            n = environment.iteration + 1

            def keep(outputs: NDArray[Any], _: Any) -> tuple[str, float, bool]:
                said[n] = np.array(outputs)
                return "", 0.0, False

            if n in rounds:
                environment.model.eval_valid(keep)

        X, y_train, classes = data.X, np.asarray(data.y_train), None
        if not hasattr(X, "iloc"):
            X = check_array(X, accept_sparse=True, ensure_all_finite=False)
        if is_classifier(model):
            # LightGBM would number the classes itself, but 4.7 does not in what it evaluates.
            classes, y_train = np.unique(y_train, return_inverse=True)
            if isinstance(model.class_weight, dict):
                weight = model.class_weight
                numbered = {i: weight[c] for i, c in enumerate(classes.tolist()) if c in weight}
                model.set_params(class_weight=numbered)
        any_y = np.resize(y_train, n_samples_of(X))  # nobody looks at them
        listening: dict[str, Any] = {"callbacks": [listen]}
        if "eval_X" in signature(model.fit).parameters:  # from LightGBM 4.7 on
            listening |= {"eval_X": X, "eval_y": any_y}
        else:
            listening["eval_set"] = [(X, any_y)]
        model.set_params(metric="None")
        model.fit(data.X_train, y_train, **listening, **data.fit_params)
        for n in rounds:
            outputs = said[n]
            if classes is not None:
                outputs = np.column_stack([1 - outputs, outputs]) if outputs.ndim == 1 else outputs
                if data.method == "predict":
                    outputs = classes.take(outputs.argmax(axis=1))
            yield n, outputs


register_path(GradientBoostingClassifier, GradientBoostingPath())
register_path(GradientBoostingRegressor, GradientBoostingPath())
register_path(HistGradientBoostingClassifier, HistGradientBoostingPath())
register_path(HistGradientBoostingRegressor, HistGradientBoostingPath())
register_path("xgboost.sklearn.XGBClassifier", XGBoostPath())
register_path("xgboost.sklearn.XGBRegressor", XGBoostPath())
register_path("lightgbm.sklearn.LGBMClassifier", LightGBMPath())
register_path("lightgbm.sklearn.LGBMRegressor", LightGBMPath())
