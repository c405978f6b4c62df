"""MLflow: what a search logs, and what it does not, in a store on this machine."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # before the import: tests send nothing
os.environ["DO_NOT_TRACK"] = "true"

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that MLflow imports
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("mlflow.pyfunc")

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from typer.testing import CliRunner

from steadycv import Committee, StabilitySearchCV
from steadycv._compat.mlflow import without_autologging
from steadycv.cli.app import app
from steadycv.tools import log_to_mlflow

X, Y = load_diabetes(return_X_y=True, as_frame=True)
X, Y = X[:60], Y[:60]
TESTS = Path(__file__).resolve().parents[1]
FIT = SVR.fit
GRID = {"alpha": [1e-3, 0.1, 10.0]}

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def without_folders_of_tests():
    """Packages look for others, as sparse, and are not to find a folder of tests of that name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [path for path in sys.path if Path(path).resolve() != TESTS])
        yield


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    """A data base with MLflow's tables, which take seconds to make."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    mlflow.set_tracking_uri(f"sqlite:///{path}")
    mlflow.search_runs()
    return path


@pytest.fixture
def store(empty_store, tmp_path, monkeypatch):
    """A store of its own; whatever has no place goes there, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlflow.db").write_bytes(empty_store.read_bytes())
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("tests")
    return tmp_path


@pytest.fixture
def autologging(store):
    mlflow.sklearn.autolog(log_models=False, silent=True)
    yield store
    mlflow.sklearn.autolog(disable=True, silent=True)
    mlflow.utils.autologging_utils.revert_patches("sklearn")  # scikit-learn as other tests know it


@pytest.fixture(scope="module")
def search():
    return StabilitySearchCV(Ridge(), GRID).fit(X, Y)


def runs():
    return mlflow.search_runs(experiment_names=["tests"])


def test_telemetry_is_off():
    from mlflow.telemetry.utils import is_telemetry_disabled

    assert is_telemetry_disabled()


@pytest.mark.parametrize(("n_jobs", "deliver"), [(None, "student"), (2, "model")])
def test_fits_inside_a_search_are_quiet(autologging, n_jobs, deliver):
    search = StabilitySearchCV(SVR(), {"C": [1, 10]}, cv=3, n_jobs=n_jobs, deliver=deliver)
    assert len(search.fit(X, Y).outer_committee_.estimators_) == 3
    assert len(runs()) == 0


def test_fits_of_a_committee_are_quiet(autologging):
    Committee([SVR()], cv=3).fit(X, Y)
    assert len(runs()) == 0


def test_grid_search_beside_it_is_logged_as_ever(autologging):
    StabilitySearchCV(SVR(), {"C": [1, 10]}, cv=3).fit(X, Y)
    GridSearchCV(SVR(), {"C": [1, 10]}, cv=3).fit(X, Y)
    assert len(runs()) == 3  # the search, and two candidates


def test_autologging_goes_on_when_the_last_search_has_ended(autologging):
    with without_autologging():
        with without_autologging():
            pass
        SVR().fit(X, Y)
    assert len(runs()) == 0
    SVR().fit(X, Y)
    assert len(runs()) == 1


def test_no_test_leaves_scikit_learn_changed():
    assert SVR.fit is FIT


def test_autologging_that_was_off_stays_off(autologging):
    with mlflow.utils.autologging_utils.disable_autologging():
        StabilitySearchCV(SVR(), {"C": [1, 10]}, cv=3).fit(X, Y)
        SVR().fit(X, Y)
    assert len(runs()) == 0


def test_search_is_a_run_and_its_candidates_are_runs_under_it(store, search):
    run_id = log_to_mlflow(search, X)
    found = runs().set_index("run_id")
    children = found[found["tags.mlflow.parentRunId"] == run_id]
    assert len(found) == 1 + 3
    assert found.loc[run_id, "metrics.promise"] == search.promise_
    assert found.loc[run_id, "params.best_alpha"] == str(search.best_params_["alpha"])
    by_alpha = children.set_index(children["params.alpha"].astype(float))["metrics.cv_error"]
    for alpha, error in zip(GRID["alpha"], search.cv_results_["cv_error"], strict=True):
        assert by_alpha[alpha] == error
    assert set(found["status"]) == {"FINISHED"}


def test_report_table_and_summary_are_there(store, search):
    run_id = log_to_mlflow(search, model=False)
    folder = mlflow.artifacts.download_artifacts(run_id=run_id, dst_path=str(store / "down"))
    table = pd.read_csv(f"{folder}/candidates.csv")
    np.testing.assert_allclose(table["cv_error"], search.cv_results_["cv_error"])
    assert Path(folder, "summary.txt").read_text("utf-8") == search.summary()
    assert "<h1" in Path(folder, "report.html").read_text("utf-8")
    assert mlflow.get_run(run_id).data.tags["mlflow.note.content"] == search.summary("markdown")


@pytest.mark.parametrize("deliver", ["model", "committee"])
def test_model_is_loaded_and_predicts_the_same(store, deliver):
    pipeline = make_pipeline(StandardScaler(), Ridge())
    search = StabilitySearchCV(pipeline, {"ridge__alpha": [0.1, 1.0]}, deliver=deliver).fit(X, Y)
    run_id = log_to_mlflow(search, X)
    [logged] = mlflow.search_logged_models(output_format="list")
    assert logged.source_run_id == run_id
    model = mlflow.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(model.predict(X), search.predict(X))
    signature = mlflow.models.get_model_info(logged.model_uri).signature
    assert signature.inputs.input_names() == list(X.columns)


def test_run_that_is_active_is_used_and_left_open(store, search):
    with mlflow.start_run() as run:
        assert log_to_mlflow(search, model=False, max_tuning_runs=1) == run.info.run_id
        assert mlflow.active_run() is not None
    assert len(runs()) == 1 + 1


def test_best_candidates_come_first(store, search):
    log_to_mlflow(search, model=False, max_tuning_runs=1)
    [candidate] = runs()["tags.candidate"].dropna().astype(int)
    assert candidate == np.argmin(search.cv_results_["regularized_error"])


def test_score_that_drives_and_no_refit(store):
    search = StabilitySearchCV(Ridge(), GRID, scoring="r2", refit=False).fit(X, Y)
    metrics = mlflow.get_run(log_to_mlflow(search)).data.metrics
    assert metrics["nested_score"] == search.nested_scores_["score"].steady
    assert metrics["nested_error"] == search.nested_error_


def test_what_skops_cannot_save_leaves_all_else(store):
    pipeline = make_pipeline(FunctionTransformer(lambda X: X), Ridge())
    search = StabilitySearchCV(pipeline, {"ridge__alpha": [0.1, 1.0]}).fit(X, Y)
    with pytest.raises(ValueError, match=r"skops cannot save .*log_to_mlflow\(\.\.\., model=False\)"):
        log_to_mlflow(search)
    assert (runs()["metrics.promise"] == search.promise_).sum() == 1


def test_nonsense_is_refused_before_anything_is_logged(store, search):
    with pytest.raises(ValueError, match="max_tuning_runs must be a number from 0 on"):
        log_to_mlflow(search, max_tuning_runs=-1)
    assert len(runs()) == 0


def test_command_line_logs_every_model(store, monkeypatch):
    X.assign(target=Y).to_csv("data.csv", index=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{store}/mlflow.db")
    Path("grids.yaml").write_text("cart: {max_depth: [1, 2]}\nridge: {alpha: [1, 2]}\n")
    options = ["--target", "target", "--model", "cart,ridge", "--grid", "grids.yaml", "--mlflow"]
    done = CliRunner().invoke(app, ["tune", "data.csv", *options])
    assert done.exit_code == 0, done.output
    found = runs()
    parents = found[found["tags.mlflow.parentRunId"].isna()]
    assert sorted(parents["tags.mlflow.runName"]) == ["cart on data.csv", "ridge on data.csv"]
    assert "logged to MLflow" in " ".join(done.output.split())


def test_command_line_says_when_mlflow_refuses(store, monkeypatch):
    X.assign(target=Y).to_csv("data.csv", index=False)
    mlflow.set_tracking_uri(None)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "ftp://nowhere")
    done = CliRunner().invoke(app, ["tune", "data.csv", "--target", "target", "--mlflow"])
    assert done.exit_code == 2
    assert "MLflow" in done.stderr
    assert not (store / "steadycv-results").exists()  # known before anything was fitted
