"""Ridge regression on rows that come in blocks, beside the search that has them all."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV
from steadycv.large import LargeRidgeCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(203, 4)) + 100
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=203)
ALPHAS = np.logspace(-1, 3, 6)
BLOCKS = [(X[a:b], Y[a:b]) for a, b in [(0, 7), (7, 8), (8, 150), (150, 203)]]


def in_memory(X, y, n_folds=5, **options):
    fold = np.arange(len(y)) % n_folds
    cv = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
    search = StabilitySearchCV(Ridge(), {"alpha": ALPHAS}, cv=cv, scoring="neg_mean_squared_error")
    return search.set_params(**options).fit(X, y)


def assert_same(large, search):
    assert_allclose(large.ledger_.error, search.ledger_.error, rtol=1e-9)
    assert_allclose(large.ledger_.change, search.ledger_.change, rtol=1e-7)
    assert large.alpha_ == search.best_params_["alpha"]
    assert large.stability_weight_ == search.stability_weight_
    for name in ("cv_error_", "instability_", "nested_error_", "promise_"):
        assert getattr(large, name) == pytest.approx(getattr(search, name))
    assert_allclose(large.coef_, search.best_estimator_.coef_, rtol=1e-8)
    assert large.intercept_ == pytest.approx(search.best_estimator_.intercept_)


@pytest.mark.parametrize("rule", ["steady", "paper"])
def test_blocks_of_any_size_give_what_the_search_gives(rule):
    assert_same(LargeRidgeCV(ALPHAS, rule=rule).fit(BLOCKS), in_memory(X, Y, rule=rule))


def test_other_folds_and_no_intercept():
    found = LargeRidgeCV(ALPHAS, cv=4, fit_intercept=False).fit(lambda: iter(BLOCKS))
    expected = in_memory(X, Y, n_folds=4, estimator=Ridge(fit_intercept=False))
    assert_same(found, expected)
    assert found.intercept_ == 0


def test_arrays_of_numpy_and_dask(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "sparse", None
    )  # what Dask takes for a package is a folder of tests
    da = pytest.importorskip("dask.array")
    by_numpy = LargeRidgeCV(ALPHAS).fit(X, Y)
    by_dask = LargeRidgeCV(ALPHAS).fit(da.from_array(X, chunks=(60, 2)), da.from_array(Y, chunks=33))
    assert_same(by_numpy, in_memory(X, Y))
    assert_allclose(by_dask.ledger_.error, by_numpy.ledger_.error)


def test_an_arrow_data_set(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    dataset = pytest.importorskip("pyarrow.dataset")
    columns = {"price": Y} | {f"x{i}": X[:, i] for i in range(4)}
    parquet.write_table(pa.table(columns), tmp_path / "data.parquet", row_group_size=50)
    found = LargeRidgeCV(ALPHAS).fit(dataset.dataset(tmp_path / "data.parquet"), "price")
    assert_same(found, in_memory(X, Y))
    with pytest.raises(ValueError, match="no column 'cost'"):
        LargeRidgeCV(ALPHAS).fit(dataset.dataset(tmp_path / "data.parquet"), "cost")


SCRIPT = """
import resource, sys
import numpy as np
from steadycv.large import LargeRidgeCV
LargeRidgeCV([0.1, 1.0]).fit(np.eye(60, 10), np.arange(60.0))
def held():
    return int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
limit = held() + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
X = np.memmap(sys.argv[1], dtype="f8", mode="r").reshape(-1, 10)
y = np.memmap(sys.argv[2], dtype="f8", mode="r")
found = LargeRidgeCV([0.1, 1.0, 10.0, 100.0]).fit(X, y)
try:
    np.ones(X.shape)
except MemoryError:
    print(found.alpha_, repr(found.nested_error_), *found.coef_.tolist())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory are Linux's here")
def test_a_table_ten_times_the_memory_it_is_given(tmp_path):
    n, limit = 2_500_000, 20_000_000  # 200 MB of numbers
    X = np.memmap(tmp_path / "X", dtype="f8", mode="w+", shape=(n, 10))
    X[:] = RNG.normal(size=(n, 10))
    y = np.memmap(tmp_path / "y", dtype="f8", mode="w+", shape=n)
    y[:] = X[:, 0] + RNG.normal(size=n)
    X.flush(), y.flush()
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "X"), str(tmp_path / "y"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    alpha, error, *coefs = map(float, done.stdout.split())
    expected = LargeRidgeCV([0.1, 1.0, 10.0, 100.0]).fit(np.asarray(X), np.asarray(y))
    assert (alpha, error) == (expected.alpha_, pytest.approx(expected.nested_error_))
    direct = Ridge(alpha=alpha).fit(X, y)
    assert_allclose(coefs, direct.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alphas": [-1.0]}, "none negative"),
        ({"cv": 2}, "3 or more, got 2"),
        ({"rule": "one_standard_error"}, "one of"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        LargeRidgeCV(**options).fit(BLOCKS)


@pytest.mark.parametrize(
    ("blocks", "match"),
    [
        ([(X[:5], Y[:5])], "5 rows are too few"),
        ([(X[:5], Y[:4])], "5 rows and 4 targets"),
        ([(np.full((20, 2), np.nan), Y[:20])], "Rows 0 to 19"),
        ([(np.repeat(X[:, :1], 2, axis=1), Y)], "too small for the conditioning"),
        ([(X[:, 0], Y)], "one target a row"),
    ],
    ids=["few", "uneven", "missing", "collinear", "flat"],
)
def test_wrong_data_are_refused(blocks, match):
    with pytest.raises(ValueError, match=match):
        LargeRidgeCV([0.0]).fit(blocks)


def test_what_gives_no_rows_twice_is_refused():
    with pytest.raises(TypeError, match="got generator"):
        LargeRidgeCV().fit(block for block in BLOCKS)
