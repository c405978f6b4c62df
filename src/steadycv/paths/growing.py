"""Growing a tree: scikit-learn's own, split for split, from columns that are sorted beforehand.

scikit-learn sorts every column anew at every node. Here all columns are sorted once for all training
sets, or of a large table once for each; the order of a training set is a part of that order, and a node
hands its own on to its children.
All else is done as scikit-learn does it: features are drawn with the same random numbers, the first of
equally good splits is taken, and sums are added up in the same order, since a tie may hang on the last
bit. Only inside a run of equal values of a column is its order not known here.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from steadycv._compat.trees import tie_width
from steadycv._jit import kernel, kernel_part
from steadycv.paths.truncation import GrownTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Columns", "grow", "seed_of"]

_CRITERIA = {"squared_error": 0, "gini": 1, "entropy": 2, "log_loss": 2}
_SQUARED_ERROR, _GINI = 0, 1
_PURE = np.finfo(np.float64).eps  # a smaller impurity or decrease is none
_LARGEST = np.iinfo(np.int32).max
_N_DRAWS = 2**31  # random numbers are below this
MOST_SORTED = 2**20  # numbers whose order is held: of more, sorting is little beside growing


class Columns(NamedTuple):
    """The features of all samples, one a row, and the samples in the order of each feature.

    The order of a large table has no row: it would take as much memory as the features.
    """

    values: NDArray[np.float32]
    order: NDArray[np.uint32]

    @classmethod
    def of(cls, X: NDArray[np.float32]) -> Columns:
        """Sort the columns of X."""
        values = np.ascontiguousarray(X.T)
        sorted_now = values if values.size <= MOST_SORTED else values[:0]
        order = np.empty(sorted_now.shape, dtype=np.uint32)
        samples = np.arange(values.shape[1], dtype=np.uint32)
        for one, in_order in zip(sorted_now, order, strict=True):
            in_order[:] = _sorted_by(one, samples)
        return cls(values, order)

    def lists(self, weight: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Room for what `_fill` writes from the order; where there is none, filled."""
        n_features, n_samples = self.values.shape
        if len(self.order):
            return np.empty((n_features + 2, n_samples), dtype=np.uint32)
        n = int(np.count_nonzero(weight))
        lists = np.empty((n_features + 2, max(n, n_samples - n)), dtype=np.uint32)
        lists[-2, :n] = np.flatnonzero(weight)
        lists[-1, : n_samples - n] = np.flatnonzero(weight == 0)
        for values, in_order in zip(self.values, lists, strict=False):
            in_order[:n] = _sorted_by(values, lists[-2, :n])
        return lists


def _sorted_by(values: NDArray[np.float32], samples: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Some samples in the order of a feature, in the lower halves of integers; equal ones as they come.

    A number and its sample are sorted as one integer, which is many times as fast as both apart.
    """
    keys = np.empty(len(samples), dtype=np.uint64)
    _write_keys(values.view(np.uint32), samples, keys)
    keys.sort()
    return keys


@kernel
def _write_keys(bits: NDArray[np.uint32], samples: NDArray[np.uint32], keys: NDArray[np.uint64]) -> None:
    """The bits of numbers, turned so that they have the numbers' order, over those of the samples."""
    for q in range(len(samples)):
        i = samples[q]
        number = bits[i]
        if number == np.uint32(0x80000000):  # -0 is 0
            number = np.uint32(0)
        turned = number ^ (np.uint32(0xFFFFFFFF) if number >> 31 else np.uint32(0x80000000))
        keys[q] = (np.uint64(turned) << np.uint64(32)) | np.uint64(i)


def seed_of(random_state: Any) -> int:
    """The number that scikit-learn's tree starts its drawing of features from."""
    return int(check_random_state(random_state).randint(0, _LARGEST))


def grow(
    columns: Columns,
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    seed: int,
    *,
    criterion: str,
    n_classes: int = 0,
    max_depth: int | None = None,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    min_impurity_decrease: float = 0.0,
) -> GrownTree:
    """Grow a tree on the samples that have a weight.

    Parameters
    ----------
    columns : Columns
        All samples.
    target : ndarray of shape (n_samples,)
        Their numbers, or the indices of their classes.
    weight : ndarray of shape (n_samples,)
        Their weights; zero for those outside the training set.
    seed : int
        See `seed_of`.
    criterion : str
        ``"squared_error"``, ``"gini"``, ``"entropy"`` or ``"log_loss"``.
    n_classes : int
        The number of classes, 0 for numbers.
    max_depth, min_samples_split, min_samples_leaf, min_weight_leaf, min_impurity_decrease
        As scikit-learn's builders take them: with numbers of samples and weights, not fractions.
    """
    n_samples, n_train = len(target), int(np.count_nonzero(weight))
    amount = weight if n_classes else weight * target
    group = target.astype(np.uint32) if n_classes else np.zeros(n_samples, dtype=np.uint32)
    if not target.flags.writeable:  # the kernel would be compiled once more
        target = target.copy()
    samples = _Samples(columns.values, amount, target, weight, group)
    limits = _Limits(
        _CRITERIA[criterion],
        tie_width(),
        _LARGEST if max_depth is None else int(max_depth),
        max(int(min_samples_split), 2 * int(min_samples_leaf)),
        int(min_samples_leaf),
        float(min_weight_leaf),
        float(min_impurity_decrease),
    )
    n_nodes = 2 * n_train - 1
    if limits.max_depth < n_train.bit_length():
        n_nodes = min(n_nodes, 2 ** (limits.max_depth + 1) - 1)
    tree = GrownTree.empty(n_nodes, max(n_classes, 1), n_samples)
    waiting = np.zeros((n_train + 1, 7), dtype=np.int64)
    waiting[0, :4] = 0, n_train, 0, n_samples - n_train
    lists = columns.lists(weight)
    n_nodes, depth = _grow(samples, columns.order, limits, np.uint32(seed), tree, lists, waiting)
    return tree.cut(n_nodes, depth)


class _Samples(NamedTuple):
    """What is added up: weighted numbers, and times the numbers; or weights by class."""

    values: NDArray[np.float32]
    amount: NDArray[np.float64]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    group: NDArray[np.uint32]


class _Limits(NamedTuple):
    """What ends a tree, and what a split must keep to."""

    criterion: int
    tie: np.float32
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_impurity_decrease: float


@kernel
def _grow(
    samples: _Samples,
    order: NDArray[np.uint32],
    limits: _Limits,
    state: np.uint32,
    tree: GrownTree,
    lists: NDArray[np.uint32],
    waiting: NDArray[np.int64],
) -> tuple[int, int]:
    """Fill a tree; say how many nodes it has, and its depth.

    `lists` are the training samples in the order of each feature, then as scikit-learn would hold
    them, then the other samples. A node is a part of each list. `waiting` has the nodes to come: the
    part of the training samples, that of the others, depth, parent, number of constant features.
    """
    n_features, n_samples = samples.values.shape
    held, others = n_features, n_features + 1
    if len(order):
        _fill(lists, order, samples.weight)
    n_sums = tree.value.shape[1]
    total, left, right = np.empty(n_sums), np.empty(n_sums), np.empty(n_sums)
    features, constant = np.arange(n_features), np.empty(n_features, dtype=np.int64)
    goes_left = np.empty(n_samples, dtype=np.uint8)
    spare = np.empty(n_samples, dtype=np.uint32)
    impurities = np.empty(len(waiting))
    all_weight = left_impurity = right_impurity = cut = 0.0
    for i in range(n_samples):
        all_weight += samples.weight[i]

    n_waiting, n_nodes, depth_of_tree, n_constant, chosen = 1, 0, 0, 0, -1
    while n_waiting > 0:
        n_waiting -= 1
        start, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        other_start, other_end = waiting[n_waiting, 2], waiting[n_waiting, 3]
        depth, parent, n_known = waiting[n_waiting, 4], waiting[n_waiting, 5], waiting[n_waiting, 6]
        node = n_nodes
        n_nodes += 1
        depth_of_tree = max(depth_of_tree, depth)
        if node == parent + 1:
            tree.children_left[parent] = node
        elif node > 0:
            tree.children_right[parent] = node
        total_square = total_weight = 0.0
        for c in range(n_sums):
            total[c] = 0.0
        for q in range(start, end):
            i = lists[held, q]
            total[samples.group[i]] += samples.amount[i]
            total_square += samples.amount[i] * samples.target[i]
            total_weight += samples.weight[i]
        if node == 0:
            impurities[0] = _impurity(limits.criterion, total, total_square, total_weight)
        impurity = impurities[n_waiting]
        tree.impurity[node] = impurity
        tree.n_node_samples[node] = end - start
        tree.weighted_n_node_samples[node] = total_weight
        for c in range(n_sums):
            tree.value[node, c] = total[c] / total_weight

        pos = end
        if (
            depth < limits.max_depth
            and end - start >= limits.min_samples_split
            and total_weight >= 2 * limits.min_weight_leaf
            and not (impurity <= _PURE)  # it may have overflowed to NaN
        ):
            # Features are drawn from between those found to be constant, which come first, and those
            # drawn already, which come last.
            best, chosen, last = -np.inf, -1, -1
            n_found = n_drawn = 0
            n_open = n_features
            while n_open > n_known + n_found:
                state = _next(state)
                k = n_drawn + (state % _N_DRAWS) % (n_open - n_found - n_drawn)
                if k < n_known:
                    features[k], features[n_drawn] = features[n_drawn], features[k]
                    n_drawn += 1
                    continue
                k += n_found
                f = features[k]
                lowest = samples.values[f, lists[f, start]]
                highest = samples.values[f, lists[f, end - 1]]
                if lowest < highest:
                    last = f
                if highest <= lowest + limits.tie:
                    features[k], features[n_known + n_found] = features[n_known + n_found], f
                    n_found += 1
                    continue
                n_open -= 1
                features[k], features[n_open] = features[n_open], f
                if limits.criterion == _SQUARED_ERROR:
                    better, at = _better_for_numbers(
                        samples, limits, lists, f, start, end, total[0], total_weight, best
                    )
                else:
                    better, at = _better_for_classes(
                        samples, limits, lists, f, start, end, total, total_weight, best, left, right
                    )
                if better > best:
                    best, chosen, pos = better, f, at
            n_constant = n_known + n_found
            for k in range(n_known):
                features[k] = constant[k]
            for k in range(n_known, n_constant):
                constant[k] = features[k]

        if pos < end:
            cut = (
                samples.values[chosen, lists[chosen, pos - 1]] / 2.0
                + samples.values[chosen, lists[chosen, pos]] / 2.0
            )
            # scikit-learn holds them in the order that it sorted last, and swaps them apart.
            for q in range(start, end):
                goes_left[lists[chosen, q]] = q < pos
                lists[held, q] = lists[last, q]
            _swap_apart(lists, held, start, end, goes_left)
            for c in range(n_sums):
                left[c] = 0.0
            left_weight = _move(samples, lists, held, start, pos, end, total, total_weight, left, 0.0)
            left_square = 0.0
            for q in range(start, pos):
                i = lists[held, q]
                left_square += samples.amount[i] * samples.target[i]
            right_weight = total_weight - left_weight
            for c in range(n_sums):
                right[c] = total[c] - left[c]
            left_impurity = _impurity(limits.criterion, left, left_square, left_weight)
            right_impurity = _impurity(limits.criterion, right, total_square - left_square, right_weight)
            decrease = (total_weight / all_weight) * (
                impurity
                - right_weight / total_weight * right_impurity
                - left_weight / total_weight * left_impurity
            )
            if decrease + _PURE < limits.min_impurity_decrease:
                pos = end

        if pos == end:
            for q in range(start, end):
                tree.leaf[lists[held, q]] = node
            for q in range(other_start, other_end):
                tree.leaf[lists[others, q]] = node
            continue
        tree.feature[node] = chosen
        tree.threshold[node] = cut
        if depth + 1 < limits.max_depth and max(pos - start, end - pos) >= limits.min_samples_split:
            for k in range(n_constant, n_features):
                if features[k] != chosen:
                    _divide(lists, features[k], start, end, goes_left, spare)
        for q in range(other_start, other_end):
            i = lists[others, q]
            goes_left[i] = samples.values[chosen, i] <= cut
        other_pos = _divide(lists, others, other_start, other_end, goes_left, spare)
        for side in range(2):
            is_left = side == 1  # the left child is looked at first, so it comes last
            waiting[n_waiting, 0] = start if is_left else pos
            waiting[n_waiting, 1] = pos if is_left else end
            waiting[n_waiting, 2] = other_start if is_left else other_pos
            waiting[n_waiting, 3] = other_pos if is_left else other_end
            waiting[n_waiting, 4] = depth + 1
            waiting[n_waiting, 5] = node
            waiting[n_waiting, 6] = n_constant
            impurities[n_waiting] = left_impurity if is_left else right_impurity
            n_waiting += 1
    return n_nodes, depth_of_tree


@kernel_part
def _fill(lists: NDArray[np.uint32], order: NDArray[np.uint32], weight: NDArray[np.float64]) -> None:
    """The samples that have a weight, in the order of each feature and in their own; and the others."""
    n_features, n_samples = order.shape
    for f in range(n_features):
        n = 0
        for q in range(n_samples):
            i = order[f, q]
            lists[f, n] = i
            n += weight[i] != 0
    n = 0
    for i in range(n_samples):
        if weight[i] != 0:
            lists[n_features, n] = i
            n += 1
        else:
            lists[n_features + 1, i - n] = i


@kernel_part
def _next(state: np.uint32) -> np.uint32:
    """The next random number: a xorshift of 32 bits, as scikit-learn has it."""
    if state == 0:
        state = np.uint32(1)
    state ^= np.uint32(state << np.uint32(13))
    state ^= np.uint32(state >> np.uint32(17))
    return np.uint32(state ^ np.uint32(state << np.uint32(5)))


@kernel_part
def _better_for_numbers(
    samples: _Samples,
    limits: _Limits,
    lists: NDArray[np.uint32],
    f: int,
    start: int,
    end: int,
    total: float,
    total_weight: float,
    best: float,
) -> tuple[float, int]:
    """The best split by a feature, if it is better than the best so far, and where it is."""
    moved, best_pos = start, end
    left = left_weight = 0.0
    i = lists[f, start]
    before = samples.values[f, i]
    for pos in range(start + 1, end):
        left += samples.amount[i]
        left_weight += samples.weight[i]
        i = lists[f, pos]
        value = samples.values[f, i]
        tied = value <= before + limits.tie
        before = value
        if tied or min(pos - start, end - pos) < limits.min_samples_leaf:
            continue
        # From the right if that is shorter: sums are added in scikit-learn's order.
        if pos - moved > end - pos:
            left, left_weight = total, total_weight
            for q in range(end - 1, pos - 1, -1):
                left -= samples.amount[lists[f, q]]
                left_weight -= samples.weight[lists[f, q]]
        moved = pos
        right, right_weight = total - left, total_weight - left_weight
        if min(left_weight, right_weight) < limits.min_weight_leaf:
            continue
        found = left * left / left_weight + right * right / right_weight
        if found > best:
            best, best_pos = found, pos
    return best, best_pos


@kernel_part
def _better_for_classes(
    samples: _Samples,
    limits: _Limits,
    lists: NDArray[np.uint32],
    f: int,
    start: int,
    end: int,
    total: NDArray[np.float64],
    total_weight: float,
    best: float,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> tuple[float, int]:
    """The same for classes."""
    moved, best_pos = start, end
    left_weight = 0.0
    for c in range(len(left)):
        left[c] = 0.0
    before = samples.values[f, lists[f, start]]
    for pos in range(start + 1, end):
        value = samples.values[f, lists[f, pos]]
        tied = value <= before + limits.tie
        before = value
        if tied or min(pos - start, end - pos) < limits.min_samples_leaf:
            continue
        left_weight = _move(samples, lists, f, moved, pos, end, total, total_weight, left, left_weight)
        moved = pos
        right_weight = total_weight - left_weight
        if min(left_weight, right_weight) < limits.min_weight_leaf:
            continue
        for c in range(len(left)):
            right[c] = total[c] - left[c]
        found = -right_weight * _impurity(limits.criterion, right, 0.0, right_weight)
        found -= left_weight * _impurity(limits.criterion, left, 0.0, left_weight)
        if found > best:
            best, best_pos = found, pos
    return best, best_pos


@kernel_part
def _move(
    samples: _Samples,
    lists: NDArray[np.uint32],
    row: int,
    moved: int,
    pos: int,
    end: int,
    total: NDArray[np.float64],
    total_weight: float,
    left: NDArray[np.float64],
    left_weight: float,
) -> float:
    """Make the sums up to `moved` those up to `pos`, from the right if that is shorter."""
    if pos - moved <= end - pos:
        for q in range(moved, pos):
            i = lists[row, q]
            left[samples.group[i]] += samples.amount[i]
            left_weight += samples.weight[i]
        return left_weight
    for c in range(len(left)):
        left[c] = total[c]
    left_weight = total_weight
    for q in range(end - 1, pos - 1, -1):
        i = lists[row, q]
        left[samples.group[i]] -= samples.amount[i]
        left_weight -= samples.weight[i]
    return left_weight


@kernel_part
def _impurity(criterion: int, sums: NDArray[np.float64], square: float, weight: float) -> float:
    """Variance, Gini index or entropy of a node."""
    if criterion == _SQUARED_ERROR:
        mean = float(sums[0]) / weight
        return square / weight - mean * mean
    if criterion == _GINI:
        squares = 0.0
        for c in range(len(sums)):
            squares += float(sums[c]) * float(sums[c])
        return 1.0 - squares / (weight * weight)
    entropy = 0.0
    for c in range(len(sums)):
        if sums[c] > 0.0:
            share = float(sums[c]) / weight
            entropy -= share * (log(share) / log(2.0))
    return entropy


@kernel_part
def _swap_apart(
    lists: NDArray[np.uint32], row: int, start: int, end: int, goes_left: NDArray[np.uint8]
) -> None:
    """Bring those that go left to the front by swapping, as scikit-learn does."""
    while start < end:
        if goes_left[lists[row, start]]:
            start += 1
        else:
            end -= 1
            lists[row, start], lists[row, end] = lists[row, end], lists[row, start]


@kernel_part
def _divide(
    lists: NDArray[np.uint32],
    row: int,
    start: int,
    end: int,
    goes_left: NDArray[np.uint8],
    spare: NDArray[np.uint32],
) -> int:
    """Bring those that go left to the front, all in their order; say where the others begin."""
    pos, n_right = start, 0
    for q in range(start, end):
        i = lists[row, q]
        lists[row, pos] = i
        spare[n_right] = i
        pos += goes_left[i]
        n_right += 1 - goes_left[i]
    for q in range(n_right):
        lists[row, pos + q] = spare[q]
    return pos
