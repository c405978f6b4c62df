"""Trees, alone or in an ensemble: the smaller ones are truncations of the one that was grown.

Where several splits are equally good, scikit-learn takes the one whose feature it drew first, and a
tree grown by itself may have drawn another first: the promise is the truncation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight

from steadycv.paths.common import are_labels, are_weights
from steadycv.paths.growing import Columns, grow, seed_of
from steadycv.paths.registry import register_path
from steadycv.paths.truncation import CRITERIA, GrownTree, Limits, loosest, read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["BaggingPath", "ForestPath", "TreePath"]


class _TruncationPath(ABC):
    """What trees and ensembles of trees have in common."""

    prefix = ""  # of a tree's parameters among the estimator's

    def parameters(self, estimator: Any) -> Collection[str]:  # noqa: ARG002
        """What ends a tree early."""
        return [self.prefix + name for name in Limits._fields]

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether data and setting are of the usual kind; the separate fit judges the rest."""
        multi_output_labels = isinstance(estimator, ClassifierMixin) and np.ndim(y) > 1
        (limits,) = self._limits(estimator, [setting])
        return not issparse(X) and not multi_output_labels and limits.are_valid

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Nothing: every training set grows its own trees."""
        return None

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Grow as little as possible, and read every setting off what was grown."""
        limits = self._limits(estimator, settings, len(data.rows))
        # Grown as far as any candidate needs it, asked for now or not: how ties are broken depends
        # on how far a tree is grown, and must not depend on who else is asked for.
        possible = limits
        if data.together is not None and len(data.together) > len(settings):
            possible = self._limits(estimator, data.together, len(data.rows))
        apart = self._apart(estimator, np.shape(data.X)[1])
        if not apart:
            return self._outputs(estimator, settings, limits, loosest(possible), data)
        grown: dict[tuple[Any, ...], list[int]] = {}
        for i, limit in enumerate(limits):
            grown.setdefault(_some(limit, apart), []).append(i)
        parts = [
            self._outputs(
                estimator,
                [settings[i] for i in members],
                [limits[i] for i in members],
                loosest([limit for limit in possible if _some(limit, apart) == key]),
                data,
            )
            for key, members in grown.items()
        ]
        outputs = np.empty((len(settings), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for members, part in zip(grown.values(), parts, strict=True):
            outputs[members] = part
        return outputs

    def _apart(self, estimator: Any, n_features: int) -> tuple[str, ...]:
        """The limits in which trees of one growth must not differ.

        Trees that do not look at all features draw other ones when they are grown less far, and
        those that split their best leaf first end elsewhere. They share what is pruned afterwards.
        """
        tree = self._tree(estimator)
        if (
            not _looks_at_all(tree, n_features)
            or tree.max_leaf_nodes is not None
            or self._splitter(tree) != "best"
        ):
            return ("max_depth", "min_samples_split", "min_impurity_decrease")
        return () if tree.criterion in CRITERIA else ("min_impurity_decrease",)

    def _tree(self, estimator: Any) -> Any:
        """What has the parameters of a tree."""
        return estimator

    def _splitter(self, tree: Any) -> str:
        return str(tree.splitter)

    def _limits(
        self, estimator: Any, settings: Sequence[dict[str, Any]], n_rows: int | None = None
    ) -> list[Limits]:
        """The limits of each setting, with numbers of rows in place of fractions if it is known."""
        own = self._tree(estimator)
        columns = []
        for name in Limits._fields:
            key, default = self.prefix + name, getattr(own, name)
            columns.append([setting.get(key, default) for setting in settings])
        limits = list(map(Limits, *columns))
        return limits if n_rows is None else [limit.for_rows(n_rows) for limit in limits]

    @abstractmethod
    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[Limits],
        loosest: Limits,
        data: PathData,
    ) -> NDArray[Any]:
        """The outputs of settings that one growth serves."""


class TreePath(_TruncationPath):
    """A tree."""

    def prepare(self, estimator: Any, X: Any, y: Any) -> _Prepared | None:
        """The samples as a tree takes them, checked once for all; None if that is scikit-learn's to do.

        On small data its checks of every training set would take as long as all that is done here.
        """
        numbers, target = _as_float32(X), np.asarray(y)
        labels = isinstance(estimator, ClassifierMixin) and target.dtype.kind in "bOSU"
        if numbers is None or estimator.criterion == "poisson" or not (labels or _is_finite(target)):
            return None
        return _Prepared(numbers, _Growth.of(estimator, numbers, target))

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],  # noqa: ARG002
        limits: Sequence[Limits],
        loosest: Limits,
        data: PathData,
    ) -> NDArray[Any]:
        growth = None if data.prepared is None else data.prepared.growth
        grown = None if growth is None else growth.tree(estimator, loosest, data)
        tree, classes = grown or _fitted_tree(estimator, loosest, data)
        if classes is not None and data.method == "predict":
            tree = tree._replace(value=classes.take(tree.value.argmax(axis=1)))
        return read(tree, limits)


class _Prepared(NamedTuple):
    """Checked samples, and what it takes to grow trees on them, if that is not left to scikit-learn."""

    X: NDArray[np.float32]
    growth: _Growth | None


class _Growth(NamedTuple):
    """What it takes to grow trees of the common kind; the target are numbers, or indices of classes."""

    columns: Columns
    target: NDArray[Any]
    classes: NDArray[Any] | None
    seed: int

    @classmethod
    def of(cls, tree: Any, X: NDArray[np.float32], y: NDArray[Any]) -> _Growth | None:
        """None if trees are of another kind, or have parameters that scikit-learn would refuse."""
        is_classifier = isinstance(tree, ClassifierMixin)
        leaf, fraction = tree.min_samples_leaf, tree.min_weight_fraction_leaf
        if not (
            tree.criterion in (("gini", "entropy", "log_loss") if is_classifier else ("squared_error",))
            and tree.splitter == "best"
            and tree.max_leaf_nodes is None
            and tree.monotonic_cst is None
            and tree.random_state is not None
            and isinstance(leaf, int | float | np.number)
            and (leaf >= 1 if isinstance(leaf, Integral) else 0 < leaf < 1)
            and isinstance(fraction, int | float | np.number)
            and 0 <= fraction <= 0.5
            and y.ndim == 1
            and _looks_at_all(tree, X.shape[1])
        ):
            return None
        seed = seed_of(deepcopy(tree.random_state))
        if not is_classifier:
            return cls(Columns.of(X), y.astype(np.float64), None, seed)
        if not are_labels(y):
            return None
        classes, indices = np.unique(y, return_inverse=True)
        return cls(Columns.of(X), indices, classes, seed)

    def tree(
        self, estimator: Any, limits: Limits, data: PathData
    ) -> tuple[GrownTree, NDArray[Any] | None] | None:
        """The tree of a training set, and its classes; None if its weights are unusual."""
        classes, target, rows = self.classes, self.target, data.rows
        sample_weight = data.fit_params.get("sample_weight")
        if getattr(estimator, "class_weight", None) is not None:
            of_class = compute_sample_weight(estimator.class_weight, data.y_train)
            sample_weight = of_class if sample_weight is None else of_class * sample_weight
        if sample_weight is not None and not are_weights(sample_weight):
            return None
        weight = np.zeros(len(target))
        weight[rows] = 1.0 if sample_weight is None else sample_weight
        if classes is not None:
            known, indices = np.unique(target[rows], return_inverse=True)
            classes, target = classes[known], np.zeros(len(target))
            target[rows] = indices
        leaf = estimator.min_samples_leaf
        tree = grow(
            self.columns,
            target,
            weight,
            self.seed,
            criterion=estimator.criterion,
            n_classes=0 if classes is None else len(classes),
            max_depth=limits.max_depth,
            min_samples_split=int(limits.min_samples_split),
            min_samples_leaf=int(leaf) if isinstance(leaf, Integral) else ceil(leaf * len(rows)),
            min_weight_leaf=estimator.min_weight_fraction_leaf
            * (len(rows) if sample_weight is None else np.sum(sample_weight, dtype=np.float64)),
            min_impurity_decrease=limits.min_impurity_decrease,
        )
        return (tree._replace(value=tree.value[:, 0]) if classes is None else tree), classes


def _fitted_tree(
    estimator: Any, limits: Limits, data: PathData
) -> tuple[GrownTree, NDArray[Any] | None]:
    """The same from scikit-learn."""
    unchecked = data.prepared is None
    X = data.X if unchecked else data.prepared.X
    X_train = data.X_train if unchecked else X[data.rows]
    fitted = clone(estimator).set_params(**limits._asdict())
    fitted.fit(X_train, data.y_train, check_input=unchecked, **data.fit_params)
    leaf = fitted.apply(X, check_input=unchecked)
    return _as_grown(fitted, leaf), getattr(fitted, "classes_", None)


class ForestPath(_TruncationPath):
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

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether data and setting are of the usual kind; the separate fit judges the rest."""
        n_trees = _n_trees(estimator, setting)
        is_number = isinstance(n_trees, Integral) and int(n_trees) >= 1
        return is_number and super().serves(estimator, setting, X, y)

    def _splitter(self, tree: Any) -> str:  # noqa: ARG002
        return self._forest_splitter

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[Limits],
        loosest: Limits,
        data: PathData,
    ) -> NDArray[Any]:
        n_trees = np.array([_n_trees(estimator, setting) for setting in settings])
        distinct = list(dict.fromkeys(limits))
        which = [distinct.index(limit) for limit in limits]
        grown = self._with_limits(clone(estimator), loosest)
        grown.set_params(n_estimators=int(n_trees.max()))
        grown.fit(data.X_train, data.y_train, **data.fit_params)
        total: Any = 0.0
        means: dict[int, NDArray[np.float64]] = {}
        for n, (tree, leaves) in enumerate(self._members(grown, data.X), start=1):
            total = total + read(_as_grown(tree, leaves), distinct)
            means |= {i: total[which[i]] / n for i in np.flatnonzero(n_trees == n).tolist()}
        outputs = np.array([means[i] for i in range(len(settings))])
        if isinstance(grown, ClassifierMixin) and data.method == "predict":
            outputs = grown.classes_.take(outputs.argmax(axis=-1))
        return outputs

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

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether trees are bagged, and data and setting are of the usual kind."""
        # With routing, trees may be given rows instead of weights, and then not know all classes.
        routed = get_config()["enable_metadata_routing"]
        is_tree = type(self._tree(estimator)) is type(self._default)
        return is_tree and not routed and super().serves(estimator, setting, X, y)

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


def _n_trees(estimator: Any, setting: dict[str, Any]) -> Any:
    return setting.get("n_estimators", estimator.n_estimators)


def _as_float32(X: Any) -> NDArray[np.float32] | None:
    """The samples as trees hold them; None if scikit-learn would refuse them, or some are missing."""
    try:
        with np.errstate(over="ignore"):
            numbers: NDArray[np.float32] = check_array(X, dtype=np.float32, ensure_all_finite=False)
    except (TypeError, ValueError):
        return None
    return numbers if _is_finite(numbers) else None


def _is_finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fiu" and bool(np.isfinite(array).all())


def _looks_at_all(tree: Any, n_features: int) -> bool:
    """Whether a tree looks at all features at every split."""
    if isinstance(tree.max_features, Integral):
        return int(tree.max_features) >= n_features
    return tree.max_features is None or bool(tree.max_features == 1.0)


def _some(limits: Limits, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(limits, name) for name in names)


def _as_grown(fitted: Any, leaf: NDArray[np.intp]) -> GrownTree:
    """A tree that scikit-learn fitted; its values are numbers, or the shares of the classes."""
    value = fitted.tree_.value
    if isinstance(fitted, ClassifierMixin):
        value = value[:, 0]
    else:
        value = value[:, 0, 0] if fitted.n_outputs_ == 1 else value[:, :, 0]
    return GrownTree.of(fitted.tree_, value, leaf)


register_path(DecisionTreeRegressor, TreePath())
register_path(DecisionTreeClassifier, TreePath())
register_path(RandomForestRegressor, ForestPath("best"))
register_path(RandomForestClassifier, ForestPath("best"))
register_path(ExtraTreesRegressor, ForestPath("random"))
register_path(ExtraTreesClassifier, ForestPath("random"))
register_path(BaggingRegressor, BaggingPath(DecisionTreeRegressor()))
register_path(BaggingClassifier, BaggingPath(DecisionTreeClassifier()))
