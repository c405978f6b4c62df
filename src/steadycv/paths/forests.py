"""Ensembles of trees: a smaller one is its first trees, and each tree may be cut short."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array, check_random_state

from steadycv.paths.grower import Grower, checked
from steadycv.paths.growing import seed_of
from steadycv.paths.registry import register_path
from steadycv.paths.trees import TruncationPath, as_grown
from steadycv.paths.truncation import endings, loosest, read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData
    from steadycv.paths.truncation import GrownTree, Limits

__all__ = ["BaggingPath", "ForestPath"]


class ForestPath(TruncationPath):
    """A forest: a smaller one is its first trees, and each tree may be cut short.

    Parameters
    ----------
    splitter : str
        How its trees split.
    """

    def __init__(self, splitter: str) -> None:
        self._forest_splitter = splitter

    def parameters(self, estimator: Any) -> Collection[str]:
        """The number of trees, and what ends a tree early."""
        return ["n_estimators", *super().parameters(estimator)]

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:
        n_trees = _n_trees(estimator, setting)
        is_number = isinstance(n_trees, Integral) and int(n_trees) >= 1
        return is_number and super()._allows(estimator, setting, X)

    def prepare(self, estimator: Any, X: Any, y: Any) -> Grower | None:
        """Who grows the trees; None if that is left to scikit-learn."""
        common = (
            self._forest_splitter == "best"
            and estimator.random_state is not None
            and estimator.max_samples is None
            and estimator.n_jobs in (None, 1)
            and not (estimator.oob_score or estimator.warm_start or estimator.verbose)
            and getattr(estimator, "class_weight", None) is None
        )
        samples = checked(estimator, X, y) if common else None
        return None if samples is None else Grower.of(estimator, *samples)

    def _splitter(self, tree: Any) -> str:  # noqa: ARG002
        return self._forest_splitter

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[Limits],
        data: PathData,
    ) -> dict[str, NDArray[Any]]:
        n_trees = np.array([_n_trees(estimator, setting) for setting in settings])
        distinct = list(dict.fromkeys(limits))
        which = [distinct.index(limit) for limit in limits]
        trees, classes = self._trees(estimator, int(n_trees.max()), loosest(limits), data)
        total: Any = 0.0
        means: dict[int, NDArray[np.float64]] = {}
        for n, tree in enumerate(trees, start=1):
            total = total + read(tree.value, endings(tree, distinct), tree.leaf)
            means |= {i: total[which[i]] / n for i in np.flatnonzero(n_trees == n).tolist()}
        mean = np.array([means[i] for i in range(len(settings))])
        outputs = dict.fromkeys(data.methods, mean)
        if classes is not None and "predict" in outputs:
            outputs["predict"] = classes.take(mean.argmax(axis=-1))
        return outputs

    def _trees(
        self, estimator: Any, n_trees: int, limits: Limits, data: PathData
    ) -> tuple[Iterator[GrownTree], NDArray[Any] | None]:
        """The trees of a training set, and its classes."""
        if data.prepared is not None and data.fit_params.get("sample_weight") is None:
            grower = data.prepared.on(data.rows)
            return _own_trees(estimator, n_trees, limits, grower), grower.classes
        fitted = self._with_limits(clone(estimator), limits).set_params(n_estimators=n_trees)
        fitted.fit(data.X_train, data.y_train, **data.fit_params)
        members = self._members(fitted, data.X)
        return (as_grown(*member) for member in members), getattr(fitted, "classes_", None)

    def _with_limits(self, forest: Any, limits: Limits) -> Any:
        return forest.set_params(**limits._asdict())

    def _members(self, forest: Any, X: Any) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """The trees, each with the leaf that every sample falls into."""
        return zip(forest.estimators_, forest.apply(X).T, strict=True)


class BaggingPath(ForestPath):
    """Bagged trees.

    Parameters
    ----------
    default : estimator
        The tree that is bagged if none is given.
    """

    prefix = "estimator__"

    def __init__(self, default: Any) -> None:
        self._default = default

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether trees are bagged, and the data of the usual kind."""
        # With routing, trees may be given rows instead of weights, and then not know all classes.
        routed = get_config()["enable_metadata_routing"]
        is_tree = type(self._tree(estimator)) is type(self._default)
        return is_tree and not routed and super()._takes(estimator, X, y)

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing: scikit-learn grows the trees."""

    def _tree(self, estimator: Any) -> Any:
        return self._default if estimator.estimator is None else estimator.estimator

    def _splitter(self, tree: Any) -> str:
        return str(tree.splitter)

    def _with_limits(self, forest: Any, limits: Limits) -> Any:
        return forest.set_params(estimator=clone(self._tree(forest)).set_params(**limits._asdict()))

    def _members(self, forest: Any, X: Any) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        X = check_array(X, dtype=np.float32, ensure_all_finite=False)
        for tree, features in zip(forest.estimators_, forest.estimators_features_, strict=True):
            yield tree, tree.apply(X[:, features])


def _own_trees(forest: Any, n_trees: int, limits: Limits, grower: Grower) -> Iterator[GrownTree]:
    """The trees of a random forest. The seed of a tree draws its samples, and once more its features."""
    seeds = check_random_state(deepcopy(forest.random_state))
    generator, n_rows = np.random.RandomState(), len(grower.rows)
    for _ in range(n_trees):
        seed, times_drawn = seeds.randint(np.iinfo(np.int32).max), None
        if forest.bootstrap:
            generator.seed(seed)
            times_drawn = np.bincount(generator.randint(0, n_rows, n_rows), minlength=n_rows)
        generator.seed(seed)
        yield grower.tree(forest, limits, seed_of(generator), times_drawn)


def _n_trees(estimator: Any, setting: dict[str, Any]) -> Any:
    return setting.get("n_estimators", estimator.n_estimators)


register_path(RandomForestRegressor, ForestPath("best"))
register_path(RandomForestClassifier, ForestPath("best"))
register_path(ExtraTreesRegressor, ForestPath("random"))
register_path(ExtraTreesClassifier, ForestPath("random"))
register_path(BaggingRegressor, BaggingPath(DecisionTreeRegressor()))
register_path(BaggingClassifier, BaggingPath(DecisionTreeClassifier()))
