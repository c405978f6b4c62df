"""XGBoost: rounds of its trees, and one binned training set for all that is fitted on it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from steadycv._compat import bin_once
from steadycv.paths.boosting import RoundsPath
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadycv.paths.protocol import Outputs, PathData

__all__ = ["XGBoostPath"]


class XGBoostPath(RoundsPath):
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

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return ("predict", "predict_proba") if is_classifier(estimator) else ("predict",)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
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
    ) -> Iterator[tuple[int, Outputs]]:
        is_plain = isinstance(data.X, np.ndarray) or hasattr(data.X, "iloc")
        if "bins" in shared and estimator.objective == "reg:squarederror" and is_plain:
            yield from self._bare_stages(estimator, setting, rounds, data, shared)
            return
        model = self._longest(estimator, setting, rounds)
        bin_once(model, shared)
        shared.setdefault("parameters", estimator.get_xgb_params())
        model.fit(data.X_train, data.y_train, **data.fit_params)
        # Every stage goes on from the sum of the trees before, to which XGBoost adds the next ones.
        margin, before = None, 0
        for n in rounds:
            later = {"base_margin": margin, "iteration_range": (before, n)}
            outputs = {method: getattr(model, method)(data.X, **later) for method in data.methods}
            yield n, outputs
            if model.objective == "reg:squarederror":
                margin = outputs["predict"]
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
    ) -> Iterator[tuple[int, Outputs]]:
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
            yield n, {"predict": margin}
            before = n


register_path("xgboost.sklearn.XGBClassifier", XGBoostPath())
register_path("xgboost.sklearn.XGBRegressor", XGBoostPath())
