"""How sure the promise is: literal formulas, and what must not matter."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.promise_intervals import inner_errors, promise_interval

ROWS = np.arange(60).reshape(5, 12)
LOSSES = np.random.default_rng(0).exponential(size=(5, 12))
ERRORS = LOSSES.mean(axis=1)
X, Y = np.split(np.random.default_rng(0).normal(size=(61, 3)), [2], axis=1)
Y = Y.ravel()
WRONG = (LOSSES > 1.5).astype(float)


def test_losses_literally():
    spread = np.sqrt(2 * np.var(LOSSES, ddof=1) / 60)
    ratio = np.exp(stats.t.ppf(0.95, 59) * spread / LOSSES.mean())
    expected = LOSSES.mean() / ratio, LOSSES.mean() * ratio
    assert promise_interval(ERRORS, ROWS, [48] * 5, LOSSES) == pytest.approx(expected)


def test_what_views_show_of_each_other_adds_to_the_variance():
    inner = np.random.default_rng(1).exponential(size=(5, 5))
    inner[np.eye(5, dtype=bool)] = np.nan
    apart = [np.mean([inner[i, j] - ERRORS[j] for j in range(5) if j != i]) ** 2 for i in range(5)]
    spread = np.sqrt(2 * np.var(LOSSES, ddof=1) / 60 + np.mean(apart))
    expected = LOSSES.mean() * np.exp(stats.t.ppf(0.95, 59) * spread / LOSSES.mean())
    assert promise_interval(ERRORS, ROWS, [48] * 5, LOSSES, inner)[1] == pytest.approx(expected)


def test_views_that_see_no_other_add_nothing():
    unseen = np.full((5, 5), np.nan)
    expected = promise_interval(ERRORS, ROWS, [48] * 5, LOSSES)
    assert promise_interval(ERRORS, ROWS, [48] * 5, LOSSES, unseen) == expected


def test_errors_alone_literally():
    scale = np.std(-ERRORS, ddof=1) * np.sqrt(1 / 5 + 12 / 48)
    expected = stats.t.interval(0.8, 4, loc=-ERRORS.mean(), scale=scale)
    assert promise_interval(-ERRORS, ROWS, [48] * 5, coverage=0.8) == pytest.approx(expected)


def test_wrong_labels_have_the_interval_of_a_share_of_half_as_many():
    wrong = np.zeros((5, 800))
    wrong.flat[:4000:5] = 1
    found = promise_interval(wrong.mean(axis=1), np.arange(4000).reshape(5, 800), [3200] * 5, wrong)
    expected = stats.binomtest(400, 2000).proportion_ci(0.9, method="wilson")
    assert found == pytest.approx(tuple(expected), rel=1e-3)


@pytest.mark.parametrize("share", [0, 1])
def test_nothing_wrong_or_everything_is_no_certainty(share):
    low, high = promise_interval([share] * 5, ROWS, [48] * 5, np.full((5, 12), share))
    quantile = stats.t.ppf(0.95, 59)
    other = quantile**2 / (30 + quantile**2)
    assert (low, high) == pytest.approx((1 - other, 1) if share else (0, other), abs=1e-12)


@pytest.mark.parametrize("losses", [LOSSES, WRONG, None])
def test_more_coverage_is_wider_around_the_promise(losses):
    errors = ERRORS if losses is None else losses.mean(axis=1)
    narrow = promise_interval(errors, ROWS, [48] * 5, losses, coverage=0.5)
    wide = promise_interval(errors, ROWS, [48] * 5, losses, coverage=0.95)
    assert wide[0] < narrow[0] < errors.mean() < narrow[1] < wide[1]


def test_units_do_not_matter():
    low, high = promise_interval(ERRORS, ROWS, [48] * 5, LOSSES)
    assert promise_interval(7 * ERRORS, ROWS, [48] * 5, 7 * LOSSES) == pytest.approx((7 * low, 7 * high))


def test_the_same_partition_twice_tells_nothing_new():
    once = promise_interval(ERRORS, ROWS, [48] * 5, LOSSES)
    twice = promise_interval(
        np.tile(ERRORS, 2), np.tile(ROWS, (2, 1)), [48] * 10, np.tile(LOSSES, (2, 1))
    )
    assert twice == pytest.approx(once)


def test_rows_without_weight_do_not_count():
    weight = np.ones(60)
    weight[[3, 30]] = 0
    kept = [np.setdiff1d(rows, [3, 30]) for rows in ROWS]
    losses = [LOSSES.ravel()[rows] for rows in kept]
    errors = [loss.mean() for loss in losses]
    expected = promise_interval(errors, kept, [48] * 5, losses)
    assert promise_interval(errors, ROWS, [48] * 5, LOSSES, sample_weight=weight) == pytest.approx(
        expected
    )


def test_a_group_is_one_row_with_its_weight():
    counts = np.tile([1, 3], 30)
    weighted = np.sum(LOSSES * counts[ROWS], axis=1) / counts[ROWS].sum(axis=1)
    row = np.repeat(np.arange(60), counts)  # each row as often as it counts
    copies = [np.flatnonzero(np.isin(row, rows)) for rows in ROWS]
    losses = [LOSSES.ravel()[row[c]] for c in copies]
    assert promise_interval(weighted, copies, [96] * 5, losses, groups=row) == pytest.approx(
        promise_interval(weighted, ROWS, [48] * 5, LOSSES, sample_weight=counts)
    )


def fitted(splitter):
    tree = DecisionTreeRegressor(random_state=0)
    return StabilitySearchCV(tree, {"max_depth": [1, 3]}, cv=splitter).fit(X, Y)


def test_around_the_nested_error_of_a_search():
    search = fitted(KFold(5))
    rows = [search.lattice_.splits[view.split].test for view in search.lattice_.views]
    losses = [(Y[r] - search.nested_predictions_[r]) ** 2 for r in rows]
    errors = [loss.mean() for loss in losses]
    low, high = promise_interval(errors, rows, [61 - len(r) for r in rows], losses)
    assert np.sqrt(low * high) == pytest.approx(search.nested_error_)
    assert 0.3 < low / search.nested_error_ < 0.8


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_inner_errors_are_those_of_models_without_both(n_repeats):
    search = fitted(RepeatedKFold(n_splits=3, n_repeats=n_repeats, random_state=0))
    lattice, chosen = search.lattice_, np.arange(3 * n_repeats) % 2
    inner = inner_errors(search.ledger_, chosen)
    for i, j in np.ndindex(inner.shape):
        if i == j or i // 3 != j // 3:
            assert np.isnan(inner[i, j])
            continue
        train = np.intersect1d(lattice.splits[i].train, lattice.splits[j].train)
        model = DecisionTreeRegressor(max_depth=[1, 3][chosen[i]], random_state=0)
        test = lattice.splits[j].test
        found = model.fit(X[train], Y[train]).predict(X[test])
        assert inner[i, j] == pytest.approx(np.mean((Y[test] - found) ** 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"coverage": 90}, "coverage must be between 0 and 1, got 90."),
        ({"errors": [1.0], "rows": ROWS[:1], "n_train": [48]}, "two views or more, got 1."),
        ({"losses": LOSSES, "groups": np.zeros(60)}, "two samples, or groups, or more, got 1."),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        promise_interval(**{"errors": ERRORS, "rows": ROWS, "n_train": [48] * 5} | call)
