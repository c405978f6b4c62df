"""LightGBM: rounds of its trees."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_array

from steadycv._compat import n_samples_of
from steadycv.paths.boosting import RoundsPath
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Outputs, PathData

__all__ = ["LightGBMPath"]


class LightGBMPath(RoundsPath):
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

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return ("predict", "predict_proba") if is_classifier(estimator) else ("predict",)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
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
    ) -> Iterator[tuple[int, Outputs]]:
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
            yield n, _by_method(said[n], classes, data.methods)


def _by_method(
    outputs: NDArray[Any], classes: NDArray[Any] | None, methods: tuple[str, ...]
) -> dict[str, NDArray[Any]]:
    """What the estimator's methods make of numbers, or of probabilities."""
    if classes is None:
        return {"predict": outputs}
    probabilities = np.column_stack([1 - outputs, outputs]) if outputs.ndim == 1 else outputs
    found = dict.fromkeys(methods, probabilities)
    if "predict" in found:
        found["predict"] = classes.take(probabilities.argmax(axis=1))
    return found


register_path("lightgbm.sklearn.LGBMClassifier", LightGBMPath())
register_path("lightgbm.sklearn.LGBMRegressor", LightGBMPath())
