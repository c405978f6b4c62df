"""Trees: the smaller ones are truncations of the one that was grown.

Where several splits are equally good, scikit-learn takes the one whose feature it drew first, and a
tree grown by itself may have drawn another first: the promise is the truncation.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight

from steadycv.estimators import methods_of
from steadycv.paths.common import ChecksDataOnce, are_weights, joined
from steadycv.paths.grower import Grower, checked, looks_at_all
from steadycv.paths.growing import seed_of
from steadycv.paths.looked_up import LookedUp
from steadycv.paths.registry import register_path
from steadycv.paths.settings import key_of, together
from steadycv.paths.truncation import CRITERIA, GrownTree, Limits, endings, loosest, read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Outputs, PathData
    from steadycv.paths.settings import Key

__all__ = ["TreePath", "TruncationPath", "as_grown"]

MOST_READ = 2**18  # numbers; where there would be more, they are looked up when they are asked for
_ALL_APART = ("max_depth", "min_samples_split", "min_impurity_decrease")


class TruncationPath(ChecksDataOnce):
    """What trees and ensembles of trees have in common.

    What is read off one growth is a line: how ties are broken depends on how far a tree is grown.
    """

    prefix = ""  # of a tree's parameters among the estimator's

    def parameters(self, estimator: Any) -> Collection[str]:  # noqa: ARG002
        """What ends a tree early."""
        return [self.prefix + name for name in Limits._fields]

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return methods_of(estimator)

    def line(self, estimator: Any, setting: dict[str, Any]) -> Key:
        """Candidates whose trees are grown as one; every candidate where they are grown apart."""
        return self.line_each(estimator, [setting])[0]

    def line_each(self, estimator: Any, settings: Sequence[dict[str, Any]]) -> list[Key]:
        """The same for several settings."""
        apart = self._apart(estimator)
        if not apart:
            return [()] * len(settings)
        if apart == _ALL_APART:
            return [key_of(setting) for setting in settings]
        return [_some(limits, apart) for limits in self._limits(estimator, settings)]

    def in_one_fit(self, estimator: Any) -> list[str]:
        """Those in which trees of one growth may differ."""
        apart = {self.prefix + name for name in self._apart(estimator)}
        return [name for name in self.parameters(estimator) if name not in apart]

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the data are of the usual kind; the separate fit judges the rest."""
        return not issparse(X) and not (isinstance(estimator, ClassifierMixin) and np.ndim(y) > 1)

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:  # noqa: ARG002
        (limits,) = self._limits(estimator, [setting])
        return limits.are_valid

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Nothing: every training set grows its own trees."""
        return None

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> Outputs:
        """Grow as little as possible, and read every setting off what was grown."""
        [outputs] = self.outputs_many(estimator, settings, [data])
        return outputs

    def outputs_many(
        self, estimator: Any, settings: list[dict[str, Any]], many: Sequence[PathData]
    ) -> Iterator[Outputs]:
        """The same for several training sets."""
        apart, of_shares = self._apart(estimator), self._limits(estimator, settings)
        for data in many:
            limits = [limit.for_rows(len(data.rows)) for limit in of_shares]
            grown = together(_some(limit, apart) for limit in limits) if apart else [range(len(limits))]
            parts = [
                self._outputs(estimator, [settings[i] for i in own], [limits[i] for i in own], data)
                for own in grown
            ]
            yield joined(grown, parts)

    def _apart(self, estimator: Any) -> tuple[str, ...]:
        """The limits in which trees of one growth must not differ.

        Trees that do not look at all features draw other ones when they are grown less far, and
        those that split their best leaf first end elsewhere. They share what is pruned afterwards.
        """
        tree = self._tree(estimator)
        if (
            not looks_at_all(tree, inf)  # as far as is known without the data, which lines are
            or tree.max_leaf_nodes is not None
            or self._splitter(tree) != "best"
        ):
            return _ALL_APART
        return () if tree.criterion in CRITERIA else ("min_impurity_decrease",)

    def _tree(self, estimator: Any) -> Any:
        """What has the parameters of a tree."""
        return estimator

    def _splitter(self, tree: Any) -> str:
        return str(tree.splitter)

    def _limits(self, estimator: Any, settings: Sequence[dict[str, Any]]) -> list[Limits]:
        """The limits of each setting."""
        own = self._tree(estimator)
        known = [(self.prefix + name, getattr(own, name)) for name in Limits._fields]
        return [Limits(*[setting.get(*each) for each in known]) for setting in settings]

    @abstractmethod
    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[Limits],
        data: PathData,
    ) -> dict[str, NDArray[Any]] | dict[str, LookedUp]:
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
        return _Prepared(grower.columns.values.T, grower, seed_of(deepcopy(estimator.random_state)))

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],  # noqa: ARG002
        limits: Sequence[Limits],
        data: PathData,
    ) -> dict[str, NDArray[Any]] | dict[str, LookedUp]:
        grow = loosest(limits)
        tree, classes = _own_tree(estimator, grow, data) or _fitted_tree(estimator, grow, data)
        values = dict.fromkeys(data.methods, tree.value)
        if classes is not None and "predict" in values:
            values["predict"] = classes.take(tree.value.argmax(axis=1))
        ends, n_samples = endings(tree, limits), len(tree.leaf)
        if len(ends) * n_samples > MOST_READ and _is_short(ends.shape[1], n_samples):
            leaf = tree.leaf.astype(np.min_scalar_type(ends.shape[1]))
            return {method: LookedUp(value, ends, leaf) for method, value in values.items()}
        return {method: read(value, ends, tree.leaf) for method, value in values.items()}

    def n_held(self, estimator: Any, setting: dict[str, Any], n_samples: int) -> int:
        """The nodes that a tree may have, where they are few."""
        depth = setting.get("max_depth", estimator.max_depth)
        n_nodes = n_samples if depth is None else 2 ** min(int(depth) + 1, 62)
        return n_nodes if _is_short(n_nodes, n_samples) else n_samples


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


def _is_short(n_nodes: int, n_samples: int) -> bool:
    """Whether a table of nodes takes much less memory than one of samples."""
    return 4 * n_nodes <= n_samples


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
