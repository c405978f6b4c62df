"""LightGBM: rounds of its trees, and one binned training set for all that is fitted on it."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
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
    """Rounds of LightGBM's trees. The binned training set is shared by all that is fitted on it."""

    sharing = (
        "num_leaves",
        "max_depth",
        "learning_rate",
        "min_split_gain",
        "min_child_weight",
        "subsample",
        "subsample_freq",
        "colsample_bytree",
        "reg_alpha",
        "reg_lambda",
    )

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
        shared: dict[str, Any],
    ) -> Iterator[tuple[int, Outputs]]:
        stages = _Stages(rounds)
        if "train" in shared:
            booster = import_module("lightgbm").Booster(shared["params"] | setting, shared["train"])
            stages.train(booster.add_valid(shared["all"], "all"))
        else:
            self._fit(self._longest(estimator, setting, rounds), stages, data, shared)
        for n in rounds:
            yield n, _by_method(stages.said[n], shared["classes"], data.methods)

    def _fit(self, model: Any, stages: _Stages, data: PathData, shared: dict[str, Any]) -> None:
        """Have the estimator begin to fit, and take over from its first round."""

        def take_over(environment: Any) -> None:
            booster = environment.model
            if callable(model.objective):  # which the estimator keeps to itself
                stages.hear(booster, environment.iteration + 1)
                return
            shared["params"], shared["train"] = environment.params, booster.train_set
            [shared["all"]] = booster.valid_sets
            stages.train(booster, after=1)
            raise _HeardAllError

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
        shared["classes"] = classes
        any_y = np.resize(y_train, n_samples_of(X))  # nobody looks at them
        listening: dict[str, Any] = {"callbacks": [take_over]}
        if "eval_X" in signature(model.fit).parameters:  # from LightGBM 4.7 on
            listening |= {"eval_X": X, "eval_y": any_y}
        else:
            listening["eval_set"] = [(X, any_y)]
        model.set_params(metric="None")
        with suppress(_HeardAllError):
            model.fit(data.X_train, y_train, **listening, **data.fit_params)


class _Stages:
    """What a model says after some numbers of rounds.

    LightGBM keeps up, round by round, with what it says of data that it is to evaluate: a prediction
    after each stage would start from the first tree again.
    """

    def __init__(self, rounds: list[int]) -> None:
        self._last, self._asked = rounds[-1], frozenset(rounds)
        self.said: dict[int, NDArray[Any]] = {}

    def train(self, booster: Any, after: int = 0) -> None:
        """Train to the last round, without what LightGBM's `train` does around each and at the end."""
        if after:
            self.hear(booster, after)
        for n in range(after + 1, self._last + 1):
            booster.update()
            self.hear(booster, n)

    def hear(self, booster: Any, n: int) -> None:
        """Keep what it says after the n-th round, if that is asked for."""

        def keep(outputs: NDArray[Any], _: Any) -> tuple[str, float, bool]:
            self.said[n] = np.array(outputs)
            return "", 0.0, False

        if n in self._asked:
            booster.eval_valid(keep)


class _HeardAllError(Exception):
    """All is there; the model itself would take as long to write down as hundreds of rounds."""


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
