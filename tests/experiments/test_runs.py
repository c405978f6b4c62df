import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from small import RIDGE, TABLE, TREE, Slow, load

from steadycv.experiments import Table, run_table
from steadycv.experiments.result_file import WrongResultsError
from steadycv.experiments.running import fingerprint_of
from steadycv.experiments.splits import random_split

RUN_SLOWLY = """
import sys
from pathlib import Path
from small import Slow, load
from steadycv.experiments import Table, run_table
table = Table("slow", "Slow", (Slow(sys.argv[2], seconds=0.1),), 8)
run_table(table, Path(sys.argv[1]), names=["a"], load=load, jobs=int(sys.argv[3]))
"""


def run(path, table=TABLE, **how):
    run_table(table, path, names=["a", "b"], load=load, **how)
    return pd.read_csv(path)


def without_time(path):
    return pd.read_csv(path).drop(columns="seconds")


def test_rows(tmp_path):
    frame = run(tmp_path / "x.csv", seed=3)
    assert len(frame) == 2 * 2 * (3 + 1)  # data sets, splits, selections
    key = ["dataset", "split", "model", "selection"]
    assert not frame.duplicated(key).any()
    assert set(frame["table"]) == {"small"}
    assert set(frame["seed"]) == {3}
    assert (frame["n"] == 45).all()
    assert (frame["p"] == 3).all()
    assert (frame["seconds"] > 0).all()

    outcome = TREE.run(random_split(*load("b"), "b", 1, seed=3))[1]
    row = frame.set_index(key).loc["b", 1, "tree", "nested kCV"]
    for name in ("weight", "reported_error", "nested_error", "test_error", "same_choice"):
        assert row[name] == getattr(outcome, name)
    assert row["parameters"].startswith('{"max_depth": ')


def test_the_same_twice_in_parallel_and_in_parts(tmp_path):
    run(tmp_path / "once.csv")
    whole = without_time(tmp_path / "once.csv")
    run(tmp_path / "parallel.csv", jobs=2)
    pd.testing.assert_frame_equal(without_time(tmp_path / "parallel.csv"), whole)
    parts = tmp_path / "parts.csv"
    run(parts, n_splits=1, models=["ridge"])
    run_table(TABLE, parts, names=["b"], load=load)
    run(parts)
    pd.testing.assert_frame_equal(without_time(parts), whole)


def test_a_slow_model_may_have_fewer_splits(tmp_path):
    table = replace(TABLE, fewer={"tree": 1})
    frame = run(tmp_path / "x.csv", table).groupby(["model", "dataset"])["split"].nunique()
    assert frame["tree"].tolist() == [1, 1]
    assert frame["ridge"].tolist() == [2, 2]
    frame = run(tmp_path / "x.csv", table, n_splits=3).groupby(["model", "dataset"])["split"].nunique()
    assert set(frame) == {3}


def test_another_seed_is_another_result(tmp_path):
    first, second = (run(tmp_path / f"{seed}.csv", seed=seed) for seed in (0, 1))
    assert (first["test_error"] != second["test_error"]).all()


@pytest.mark.parametrize("other", ["seed", "grid", "estimator", "data"])
def test_results_of_something_else_are_refused(tmp_path, other):
    path = tmp_path / "x.csv"
    table = replace(TABLE, models=(RIDGE,))
    run(path, table)
    how, changed = {}, RIDGE
    if other == "seed":
        how["seed"] = 1
    elif other == "grid":
        changed = replace(RIDGE, grid=lambda X, y: {"alpha": [0.1, 1.0]})
    elif other == "estimator":
        changed = replace(RIDGE, estimator=lambda: Ridge(fit_intercept=False))
    before = path.read_bytes()
    data = (lambda name: (load(name)[0] + 1, load(name)[1])) if other == "data" else load
    with pytest.raises(WrongResultsError, match="another configuration"):
        run_table(replace(table, models=(changed,)), path, names=["a", "b"], load=data, **how)
    assert path.read_bytes() == before


def test_unknown_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="small has no model 'lasso'; it has tree, ridge"):
        run(tmp_path / "x.csv", models=["lasso"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_run_goes_on_and_does_nothing_twice(tmp_path, jobs):
    path, journal = tmp_path / "x.csv", tmp_path / "journal"
    command = [sys.executable, "-c", RUN_SLOWLY, str(path), str(journal), str(jobs)]
    here = str(Path(__file__).parent)
    python_path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": python_path}, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 120
        while not (path.exists() and path.read_text().count("\n") >= 4):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    stored = path.read_text().count("\n") - 1
    assert 3 <= stored < 8
    done = journal.read_text().splitlines()
    assert len(done) - stored in range(jobs + 1)  # the others were done, but not stored

    table = Table("slow", "Slow", (Slow(str(journal)),), 8)
    run_table(table, path, names=["a"], load=load)
    again = journal.read_text().splitlines()[len(done) :]
    assert len(again) == 8 - stored

    whole = tmp_path / "whole.csv"
    run_table(table, whole, names=["a"], load=load)
    pd.testing.assert_frame_equal(without_time(path), without_time(whole))


def test_progress_is_on_standard_error(tmp_path, capsys):
    run(tmp_path / "x.csv", progress=True)
    captured = capsys.readouterr()
    assert "8/8" in captured.err
    assert captured.out == ""


def test_fingerprints():
    assert fingerprint_of(1, [0.1 + 0.2]) == fingerprint_of(1, [0.3])
    assert fingerprint_of(1, [0.3]) != fingerprint_of(1, [0.31])
    assert fingerprint_of(np.arange(3)) != fingerprint_of(np.arange(4))
    assert fingerprint_of({"a": np.float64(1)}) == fingerprint_of({"a": 1.0})
    assert fingerprint_of(Ridge(alpha=1)) != fingerprint_of(Ridge(alpha=2))
