"""A tree grown here is scikit-learn's, split for split."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv.paths.growing import Columns, grow, seed_of

PER_NODE = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
)


def smooth(rng, n, p):
    return rng.normal(size=(n, p))


def tied(rng, n, p):
    """Few values, a column twice, a constant one."""
    X = rng.integers(0, rng.integers(2, 6), size=(n, p)).astype(float)
    X[:, -1] = X[:, 0]
    X[:, p // 2] = 1.0
    return X


def close(rng, n, p):
    """Values about as close as those that some releases take as one."""
    return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-8, -5)


def half_tied(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, ::2] = tied(rng, n, p)[:, ::2]
    return X


def limits(rng):
    return {
        "max_depth": rng.choice([None, None, 1, 3, 6]),
        "min_samples_split": int(rng.choice([2, 2, 5, 20])),
        "min_samples_leaf": int(rng.choice([1, 1, 1, 2, 5])),
        "min_impurity_decrease": float(rng.choice([0, 0, 0.01, 0.05])),
    }


def both(seed, make, criterion, target, weights):
    """scikit-learn's tree and ours, of a random problem, with all samples."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 100)), int(rng.integers(1, 15))
    X = make(rng, n, p).astype(np.float32)
    y = target(rng, n)
    rows = np.sort(rng.permutation(n)[: max(1, int(n * rng.choice([0.5, 0.8, 1])))])
    sample_weight = weights(rng, len(rows))
    n_classes = 0
    if criterion != "squared_error":
        classes, indices = np.unique(y[rows], return_inverse=True)
        y, n_classes = np.zeros(n), len(classes)
        y[rows] = indices
    kind = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    params, fraction = limits(rng), float(rng.choice([0, 0, 0.05, 0.2]))
    fitted = kind(
        criterion=criterion, min_weight_fraction_leaf=fraction, random_state=seed, **params
    ).fit(X[rows], y[rows], sample_weight)
    weight = np.zeros(n)
    weight[rows] = 1.0 if sample_weight is None else sample_weight
    total = len(rows) if sample_weight is None else np.sum(sample_weight)
    grown = grow(
        Columns.of(X),
        y,
        weight,
        seed_of(seed),
        criterion=criterion,
        n_classes=n_classes,
        min_weight_leaf=fraction * total,
        **params,
    )
    return fitted.tree_, grown, X


def whole_numbers(rng, n):
    return rng.integers(0, rng.integers(2, 300), size=n).astype(float)


def numbers(rng, n):
    return rng.normal(size=n)


def labels(rng, n):
    return rng.integers(0, rng.integers(2, 5), size=n)


def no_weights(rng, n):
    return None


def halves(rng, n):
    weight = rng.integers(0, 4, size=n) / 2
    return weight + (weight.sum() == 0)


def any_weights(rng, n):
    return rng.uniform(0.1, 2, size=n) * (np.arange(n) % 7 > 0) + (n == 1)


@pytest.mark.parametrize(
    ("make", "weights"),
    [
        # Sums that are exact in any order, so that the order inside a tie does not matter.
        *((make, weights) for make in (tied, half_tied) for weights in (no_weights, halves)),
        # No ties.
        *((make, weights) for make in (smooth, close) for weights in (no_weights, halves, any_weights)),
    ],
)
@pytest.mark.parametrize(
    ("criterion", "target"),
    [("squared_error", whole_numbers), ("gini", labels), ("entropy", labels)],
)
def test_the_tree_is_the_same_to_the_last_bit(make, criterion, target, weights):
    for seed in range(25):
        expected, grown, X = both(seed, make, criterion, target, weights)
        for name in PER_NODE:
            np.testing.assert_array_equal(getattr(grown, name), getattr(expected, name), err_msg=name)
        np.testing.assert_array_equal(grown.value, expected.value[:, 0])
        np.testing.assert_array_equal(grown.leaf, expected.apply(X))
        assert grown.max_depth == expected.max_depth


@pytest.mark.parametrize("weights", [no_weights, any_weights])
@pytest.mark.parametrize("make", [smooth, close])
def test_and_so_it_is_for_any_numbers_without_ties(make, weights):
    for seed in range(50):
        expected, grown, _ = both(seed, make, "squared_error", numbers, weights)
        for name in PER_NODE:
            np.testing.assert_array_equal(getattr(grown, name), getattr(expected, name), err_msg=name)


def decrease(tree, node):
    """What a split gains, in total; nothing at a leaf."""
    left, right = tree.children_left[node], tree.children_right[node]
    of = tree.impurity * tree.weighted_n_node_samples
    return 0.0 if left < 0 else of[node] - of[left] - of[right]


@pytest.mark.parametrize(
    ("criterion", "target"), [("squared_error", numbers), ("gini", labels), ("entropy", labels)]
)
def test_with_ties_and_sums_that_round_it_differs_only_between_equally_good_splits(criterion, target):
    n_different = 0
    for seed in range(100):
        expected, grown, _ = both(seed, half_tied, criterion, target, any_weights)
        n = min(len(grown.feature), expected.node_count)
        different = np.flatnonzero(
            (grown.feature[:n] != expected.feature[:n]) | (grown.threshold[:n] != expected.threshold[:n])
        )
        until = different[0] if len(different) else n
        for name in PER_NODE[4:]:
            np.testing.assert_allclose(
                getattr(grown, name)[:until], getattr(expected, name)[:until], rtol=1e-9, atol=1e-12
            )
        if len(different):
            n_different += 1
            gain = decrease(expected, until)
            assert decrease(grown, until) == pytest.approx(gain, rel=1e-9, abs=1e-12)
    assert n_different <= 10


def test_numbers_too_large_to_be_squared():
    X = np.arange(6, dtype=np.float32)[:, np.newaxis]
    y = np.array([1e200, -1e200, 1.0, 2.0, 1e155, 3.0])
    with np.errstate(over="ignore", invalid="ignore"):
        grown = grow(Columns.of(X), y, np.ones(6), seed_of(0), criterion="squared_error")
    expected = DecisionTreeRegressor(random_state=0).fit(X, y).tree_
    np.testing.assert_array_equal(grown.feature, expected.feature)
    np.testing.assert_array_equal(grown.threshold, expected.threshold)


def test_the_seed_zero():
    # A state of zero would give zeros for ever, so the generator replaces it.
    X = np.random.default_rng(0).integers(0, 2, size=(30, 6)).astype(np.float32)

    class Zero(np.random.RandomState):
        def randint(self, *args, **kwargs):
            return 0

    y = X.sum(axis=1, dtype=np.float64)
    expected = DecisionTreeRegressor(random_state=Zero()).fit(X, y).tree_
    grown = grow(Columns.of(X), y, np.ones(30), 0, criterion="squared_error")
    np.testing.assert_array_equal(grown.feature, expected.feature)


@pytest.mark.parametrize("make", [tied, smooth, close])
def test_a_large_table_is_sorted_for_each_training_set(make, monkeypatch):
    rng = np.random.default_rng(0)
    X = make(rng, 40, 3).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = -0.0  # equal to 0
    y, weight = rng.normal(size=40), rng.integers(0, 2, size=40).astype(float)
    np.testing.assert_array_equal(Columns.of(X).order, np.argsort(X.T, kind="stable", axis=1))
    expected = grow(Columns.of(X), y, weight, 0, criterion="squared_error")
    monkeypatch.setattr("steadycv.paths.growing.MOST_SORTED", 0)
    assert not len(Columns.of(X).order)
    found = grow(Columns.of(X), y, weight, 0, criterion="squared_error")
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(each, other)
