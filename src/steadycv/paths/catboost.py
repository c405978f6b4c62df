"""CatBoost: rounds of its trees."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.base import clone, is_classifier

from steadycv.paths.boosting import RoundsPath
from steadycv.paths.registry import register_path
from steadycv.paths.settings import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadycv.paths.protocol import Outputs, PathData
    from steadycv.paths.settings import Key

__all__ = ["CatBoostPath"]

ROUNDS = ("iterations", "n_estimators", "num_boost_round", "num_trees")  # names of one parameter
DEFAULT = 1000


class CatBoostPath(RoundsPath):
    """Rounds of CatBoost's trees, where the learning rate is given.

    CatBoost makes one up from the number of rounds otherwise. It also shrinks or shakes a model by that
    number if it is told to, so that only parameters are taken of which it is known that they do not.
    """

    parameter = ROUNDS[0]

    _TAKEN = frozenset(
        (
            *ROUNDS,
            *("learning_rate", "eta", "loss_function", "objective", "boost_from_average"),
            *("depth", "max_depth", "grow_policy", "max_leaves", "num_leaves", "min_data_in_leaf"),
            *("min_child_samples", "l2_leaf_reg", "reg_lambda", "random_strength", "score_function"),
            *("random_seed", "random_state", "rsm", "colsample_bylevel", "boosting_type", "has_time"),
            *("bootstrap_type", "bagging_temperature", "subsample", "sampling_frequency", "mvs_reg"),
            *("leaf_estimation_iterations", "leaf_estimation_method", "border_count", "max_bin"),
            *("nan_mode", "class_weights", "auto_class_weights", "scale_pos_weight", "thread_count"),
            *("verbose", "logging_level", "silent", "verbose_eval", "allow_writing_files", "train_dir"),
        )
    )

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of rounds, by all its names."""
        return ROUNDS

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return ("predict", "predict_proba") if is_classifier(estimator) else ("predict",)

    def in_one_fit(self, estimator: Any) -> tuple[str, ...]:
        """All of them."""
        return self.parameters(estimator)

    def run(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """Numbers of rounds are read off one run."""
        return key_of(setting, but=ROUNDS)

    def _rounds(self, estimator: Any, setting: dict[str, Any]) -> Any:
        given = estimator.get_params() | setting
        numbers = [given[name] for name in ROUNDS if name in given]
        return DEFAULT if not numbers else numbers[0] if len(numbers) == 1 else None

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:  # noqa: ARG002
        params = {name: value for name, value in estimator.get_params().items() if value is not None}
        has_rate = "learning_rate" in params or "eta" in params
        loss = params.get("loss_function", params.get("objective", ""))
        return has_rate and isinstance(loss, str) and self._TAKEN.issuperset(params)

    def _stages(
        self,
        estimator: Any,
        setting: dict[str, Any],  # noqa: ARG002
        rounds: list[int],
        data: PathData,
        shared: dict[str, Any],  # noqa: ARG002
    ) -> Iterator[tuple[int, Outputs]]:
        model = clone(estimator)
        names = [name for name in ROUNDS if name in model.get_params()]
        model.set_params(**{(names or ROUNDS)[0]: rounds[-1]})
        model.fit(data.X_train, data.y_train, **data.fit_params)
        pool = import_module("catboost").Pool(data.X)
        # The staged predictions add trees up in another order.
        for n in rounds:
            end = min(n, model.tree_count_)
            yield n, {method: getattr(model, method)(pool, ntree_end=end) for method in data.methods}


register_path("catboost.core.CatBoostClassifier", CatBoostPath())
register_path("catboost.core.CatBoostRegressor", CatBoostPath())
