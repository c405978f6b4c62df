"""Trees: the smaller ones are truncations of the one that was grown.

Where several splits are equally good, scikit-learn takes the one whose feature it drew first, and a
tree grown by itself may have drawn another first: the promise is the truncation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight

from steadycv.paths.common import are_weights
from steadycv.paths.grower import Grower, checked, looks_at_all
from steadycv.paths.growing import seed_of
from steadycv.paths.registry import register_path
from steadycv.paths.truncation import CRITERIA, GrownTree, Limits, loosest, read

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["TreePath", "TruncationPath", "as_grown"]


class TruncationPath(ABC):
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
            not looks_at_all(tree, n_features)
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


class TreePath(TruncationPath):
    """A tree."""

    def prepare(self, estimator: Any, X: Any, y: Any) -> _Prepared | None:
        """The samples as a tree takes them, checked once for all; None if that is scikit-learn's to do.

        On small data its checks of every training set would take as long as all that is done here.
        """
        samples = None if estimator.criterion == "poisson" else checked(estimator, X, y)
        if samples is None:
            return None
        grower = Grower.of(estimator, *samples) if estimator.splitter == "best" else None
        if grower is None or estimator.random_state is None:
            return _Prepared(samples[0])
        return _Prepared(samples[0], grower, seed_of(deepcopy(estimator.random_state)))

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],  # noqa: ARG002
        limits: Sequence[Limits],
        loosest: Limits,
        data: PathData,
    ) -> NDArray[Any]:
        tree, classes = _own_tree(estimator, loosest, data) or _fitted_tree(estimator, loosest, data)
        if classes is not None and data.method == "predict":
            tree = tree._replace(value=classes.take(tree.value.argmax(axis=1)))
        return read(tree, limits)


class _Prepared(NamedTuple):
    """Checked samples, and who grows trees on them, if that is not left to scikit-learn."""

    X: NDArray[np.float32]
    grower: Grower | None = None
    seed: int = 0


def _own_tree(
    estimator: Any, limits: Limits, data: PathData
) -> tuple[GrownTree, NDArray[Any] | None] | None:
    """The tree of a training set, and its classes; None if scikit-learn is to fit it."""
    if data.prepared is None or data.prepared.grower is None:
        return None
    weight = data.fit_params.get("sample_weight")
    if getattr(estimator, "class_weight", None) is not None:
        of_class = compute_sample_weight(estimator.class_weight, data.y_train)
        weight = of_class if weight is None else of_class * weight
    if weight is not None and not are_weights(weight):
        return None
    grower = data.prepared.grower.on(data.rows)
    return grower.tree(estimator, limits, data.prepared.seed, weight), grower.classes


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
    return as_grown(fitted, leaf), getattr(fitted, "classes_", None)


def _some(limits: Limits, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(limits, name) for name in names)


def as_grown(fitted: Any, leaf: NDArray[np.intp]) -> GrownTree:
    """A tree that scikit-learn fitted; its values are numbers, or the shares of the classes."""
    value = fitted.tree_.value
    if isinstance(fitted, ClassifierMixin):
        value = value[:, 0]
    else:
        value = value[:, 0, 0] if fitted.n_outputs_ == 1 else value[:, :, 0]
    return GrownTree.of(fitted.tree_, value, leaf)


register_path(DecisionTreeRegressor, TreePath())
register_path(DecisionTreeClassifier, TreePath())
