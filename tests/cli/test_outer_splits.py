import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.outer_splits import inner_folds, outer_splits
from steadycv.cli.preparing import prepared
from steadycv.cli.request import CompareRequest, Task

N = 60


@pytest.fixture
def problem(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=list("ab"))
    frame["y"] = rng.normal(size=N)
    frame["kind"] = np.repeat(["often", "rare"], [N - 9, 9])
    frame["shop"] = rng.integers(0, 25, N)
    frame["few"] = np.arange(N) % 6
    frame["day"] = rng.permutation(N)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)

    def of(target="y", **how):
        return prepared(CompareRequest(data=path, target=target, **how))

    return of


def parts_of(splits):
    return [test.tolist() for _, test in splits]


def test_at_random_all_rows_are_tested_equally_often(problem):
    splits = outer_splits(problem(), 20)
    assert [len(train) + len(test) for train, test in splits] == [N] * 20
    assert all(not np.intersect1d(train, test).size for train, test in splits)
    counts = np.bincount(np.concatenate([test for _, test in splits]))
    assert counts.tolist() == [2] * N


def test_first_splits_do_not_depend_on_their_number(problem):
    few, many = outer_splits(problem(), 7), outer_splits(problem(), 25)
    assert parts_of(many)[:7] == parts_of(few)
    assert parts_of(outer_splits(problem(seed=1), 7)) != parts_of(few)
    assert len(outer_splits(problem(), None)) == 50


def test_classes_are_spread_evenly(problem):
    target = problem("kind").target
    rare = [int((target.y[test] == 1).sum()) for _, test in outer_splits(problem("kind"), 30)]
    assert set(rare) <= {0, 1}


@pytest.mark.parametrize("target", ["y", "kind"])
def test_groups_stay_together(problem, target):
    found = problem(target, groups="shop")
    splits = outer_splits(found, 20)
    for train, test in splits:
        assert not set(found.groups[train]) & set(found.groups[test])
    assert len(set(map(tuple, parts_of(splits)))) == 20


def test_no_part_comes_twice(problem):
    found = problem(groups="few")
    assert len(outer_splits(found, None)) == 6
    with pytest.raises(UserError, match="--splits 7 is too many: there are 6 ways"):
        outer_splits(found, 7)


def test_forward_in_time(problem):
    splits = outer_splits(problem(time="day"), 10)
    assert np.concatenate([test for _, test in splits]).tolist() == [*range(N // 2, N)]
    assert [len(train) for train, _ in splits] == [*range(30, 60, 3)]
    assert all(train.tolist() == [*range(test[0])] for train, test in splits)
    assert len(outer_splits(problem(time="day"), None)) == 30
    with pytest.raises(UserError, match="--splits 31 is too many: the later half of 60 rows"):
        outer_splits(problem(time="day"), 31)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": "few", "folds": 6}, "In split 1, of 50 of 60 rows to tune on: There are 5 groups"),
        ({"target": "kind", "folds": 9}, "In split ., of 5. of 60 rows to tune on: 1 of 2 classes"),
    ],
)
def test_what_is_tuned_on_has_to_suffice(problem, how, message):
    found = problem(**how)
    with pytest.raises(UserError, match=message):
        inner_folds(found, found.request, outer_splits(found, None))


def test_rare_classes_are_merged_so_that_what_is_tuned_on_suffices(problem):
    found = problem("shop", task=Task.classification, merge_rare=True, folds=4)
    inner_folds(found, found.request, outer_splits(found, 10))
