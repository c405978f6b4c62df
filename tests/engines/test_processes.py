"""Processes of this machine: data in files, once; and processes that die."""

import gc
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from workers import Mortal, X, Y, assert_deadly_failed, assert_same, few, search

from steadycv.engines import find_engine
from steadycv.engines.parcels import Parcel
from steadycv.engines.processes import MOST_COPIED, OnDisk


@pytest.mark.parametrize("size", [10, MOST_COPIED], ids=["small", "large"])
def test_a_parcel_on_disk(size, tmp_path):
    array = np.arange(float(size))
    value = {"a": array, "b": array[:3].astype(np.int8), "c": "text"}
    found = OnDisk.written(Parcel.of(value), tmp_path).read().opened()
    np.testing.assert_array_equal(found["a"], array)
    assert found["b"].tolist() == [0, 1, 2]
    assert found["c"] == "text"
    assert found["a"].flags.writeable == (size == 10)  # memory that workers share is read-only


def test_a_file_goes_with_the_last_reference(tmp_path):
    handle = OnDisk.written(Parcel.of("something"), tmp_path)
    path = Path(handle.path)
    assert path.exists()
    del handle
    gc.collect()
    assert not path.exists()


def test_by_name():
    assert find_engine("loky", 2, "2*n_jobs").n_workers == 2
    assert find_engine("loky", None, "2*n_jobs").n_workers >= 1
    assert find_engine(None, None, "2*n_jobs") is None


@pytest.mark.parametrize("engine", ["spark", 3])
def test_what_is_no_engine_is_told(engine):
    with pytest.raises(ValueError, match=r'"loky", "ray" or a dask.distributed.Client, got'):
        search(engine=engine).fit(X, Y)


def test_a_worker_that_dies_changes_nothing(tmp_path):
    mortal = search(Mortal(note=str(tmp_path / "note")), engine="loky", n_jobs=2)
    with pytest.warns(UserWarning, match="tasks were done again, as their worker died"):
        mortal.fit(X, Y)
    assert_same(mortal, search().fit(X, Y))


@pytest.mark.filterwarnings("ignore:.* tasks were done again")
def test_a_candidate_that_takes_every_worker_with_it_fails():
    mortal = few(Mortal(), n_jobs=2)
    with pytest.warns(FitFailedWarning, match="Its worker died each of the 3 times it was tried"):
        mortal.fit(X, Y)
    assert_deadly_failed(mortal)


@pytest.mark.filterwarnings("ignore:.* tasks were done again")
def test_such_a_candidate_ends_the_search_where_errors_do():
    with pytest.raises(RuntimeError, match=r"A fit failed. Its worker died .*'alpha': 10.0"):
        few(Mortal(), n_jobs=2, error_score="raise").fit(X, Y)
