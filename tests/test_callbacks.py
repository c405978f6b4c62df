"""scikit-learn's callbacks on what a search fits: joined to the search, as in GridSearchCV."""

import contextlib
import re
from collections import Counter

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV
from steadycv._compat import TaskTree, has_callbacks

SKLEARN_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
since_1_9 = pytest.mark.skipif(SKLEARN_VERSION < (1, 9), reason="callbacks came with 1.9")
pytestmark = [
    pytest.mark.filterwarnings("ignore:lbfgs failed to converge"),
    pytest.mark.filterwarnings("ignore:The estimator .* does not support callbacks"),
]

X, LABELS = load_iris(return_X_y=True)
TARGET = X[:, 0]
FEATURES = X[:, 1:]
LOGISTIC = LogisticRegression(max_iter=4)
GRID = {"C": [0.1, 1.0, 10.0]}
PIPELINE = make_pipeline(StandardScaler(), Ridge())
PIPELINE_GRID = {"ridge__alpha": [0.1, 1.0, 10.0]}
REFUSED = (
    "The sub-estimator (LogisticRegression) of a meta-estimator (StabilitySearchCV) can't have auto-"
)


def plain(estimator, grid, **params):
    """The search that does what GridSearchCV does."""
    # No accuracy: of candidates that tie the two do not choose the same.
    alike = {"cv": 3, "scoring": "neg_log_loss", "nested": False, "stability_weights": 0}
    return StabilitySearchCV(estimator, grid, **{**alike, **params})


def grid_search(estimator, grid, **params):
    return GridSearchCV(estimator, grid, **{"cv": 3, "scoring": "neg_log_loss", **params})


def monitor():
    from sklearn.callback import ScoringMonitor

    return ScoringMonitor(scoring="accuracy")


def bar():
    from sklearn.callback import ProgressBar

    return ProgressBar()


def rows(monitored):
    """The only log of a monitor: every task, with its place in the tree, its name and its score."""
    [log] = monitored.get_logs("all", include_lineage=True)
    searches = ("GridSearchCV", "StabilitySearchCV")
    return [
        {k: "search" if v in searches else v for k, v in row.items()}  # its name is its own
        for row in log.data
    ]


class Recorder:
    """Counts the hooks that are called; it does not propagate by itself."""

    def __init__(self):
        self.counts = Counter()

    def setup(self, estimator, context):
        self.counts["setup"] += 1

    def teardown(self, estimator, context):
        self.counts["teardown"] += 1

    def on_fit_task_begin(self, estimator, context):
        self.counts["begin"] += 1

    def on_fit_task_end(self, estimator, context):
        self.counts["end"] += 1


@since_1_9
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("backend", [None, "threading", "loky"])
def test_logs_are_those_of_grid_search(backend, refit):
    logs = []
    for search in (grid_search, plain):
        monitored = monitor()
        in_parallel = joblib.parallel_config(backend, n_jobs=2) if backend else contextlib.nullcontext()
        with in_parallel:
            search(clone(LOGISTIC).set_callbacks(monitored), GRID, refit=refit).fit(X, LABELS)
        logs.append(rows(monitored))
    theirs, ours = logs
    assert ours == theirs
    assert sum(row["task_name"] == "fit" for row in ours) == 1 + 9 + refit


@since_1_9
def test_logs_of_a_step_of_a_pipeline():
    logs = []
    for search in (grid_search, plain):
        monitored = monitor()
        pipeline = make_pipeline(StandardScaler(), clone(LOGISTIC).set_callbacks(monitored))
        search(pipeline, {"logisticregression__C": [0.1, 1.0]}).fit(X, LABELS)
        logs.append(rows(monitored))
    assert logs[1] == logs[0]


@since_1_9
def test_logs_of_an_estimator_in_the_grid():
    logs = []
    for search in (grid_search, plain):
        monitored = monitor()
        pipeline = make_pipeline(StandardScaler(), LOGISTIC)
        values = [clone(LOGISTIC).set_callbacks(monitored), LogisticRegression(C=1e-6)]
        search(pipeline, {"logisticregression": values}).fit(X, LABELS)
        logs.append(rows(monitored))
    assert logs[1] == logs[0]


@since_1_9
def test_logs_of_a_search_inside_a_pipeline():
    logs = []
    for search in (grid_search, plain):
        monitored = monitor()
        inside = search(clone(LOGISTIC).set_callbacks(monitored), {"C": [0.1, 1.0]})
        make_pipeline(StandardScaler(), inside).fit(X, LABELS)
        logs.append(rows(monitored))
    assert logs[1] == logs[0]
    assert logs[1][0]["estimator_name"] == "Pipeline"


@since_1_9
@pytest.mark.parametrize("strategy", ["grid", "coordinate"])
def test_one_log_has_all_fits_of_a_nested_search(strategy):
    monitored = monitor()
    search = StabilitySearchCV(clone(LOGISTIC).set_callbacks(monitored), GRID, cv=3, search=strategy)
    search.fit(X, LABELS)
    places = {row["task_id_path"] for row in rows(monitored)}
    assert len({place for place in places if place[:2] == (0, 0) and len(place) == 3}) == search.n_fits_
    assert (0, 1) in places  # the refit


@since_1_9
def test_each_fit_of_the_search_is_a_log_of_its_own():
    monitored = monitor()
    search = plain(clone(LOGISTIC).set_callbacks(monitored), GRID)
    search.fit(X, LABELS).fit(X, LABELS)
    assert len(monitored.get_logs("all")) == 2


@since_1_9
def test_results_do_not_depend_on_callbacks():
    quiet = StabilitySearchCV(LOGISTIC, GRID, cv=3).fit(X, LABELS)
    watched = StabilitySearchCV(clone(LOGISTIC).set_callbacks(monitor()), GRID, cv=3).fit(X, LABELS)
    for column in ("mean_test_score", "cv_error", "instability"):
        np.testing.assert_array_equal(watched.cv_results_[column], quiet.cv_results_[column])
    assert watched.nested_error_ == quiet.nested_error_


@since_1_9
def test_a_ledger_knows_no_callbacks(tmp_path):
    StabilitySearchCV(LOGISTIC, GRID, cv=3, ledger=tmp_path / "ledger").fit(X, LABELS)
    monitored = monitor()
    again = StabilitySearchCV(
        clone(LOGISTIC).set_callbacks(monitored), GRID, cv=3, ledger=tmp_path / "ledger"
    ).fit(X, LABELS)
    assert [row["task_id_path"] for row in rows(monitored) if row["task_name"] == "fit"][1:] == (
        [(0, 1), *((0, 0, task) for task in range(again.n_fits_))]
    )


# Callbacks that propagate by themselves.


@since_1_9
@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_callback_that_belongs_on_the_search(error_score):
    """GridSearchCV says the same of each fit."""
    recorder = Recorder()
    estimator = clone(LOGISTIC).set_callbacks(bar(), recorder)
    with pytest.raises(TypeError, match=re.escape(REFUSED)):
        plain(estimator, GRID, error_score=error_score).fit(X, LABELS)
    assert not recorder.counts  # before the first fit
    assert not hasattr(estimator, "_parent_callback_ctx")
    with pytest.raises((TypeError, ValueError)) as theirs:
        grid_search(estimator, GRID, error_score=error_score).fit(X, LABELS)
    assert REFUSED.replace("Stability", "Grid") in str(theirs.value)


@since_1_9
def test_callback_that_belongs_on_the_search_on_a_step():
    pipeline = make_pipeline(StandardScaler(), clone(LOGISTIC).set_callbacks(bar()))
    quoted = []
    for search in (grid_search, plain):
        with pytest.raises((TypeError, ValueError)) as caught:
            search(pipeline, {"logisticregression__C": [1.0]}).fit(X, LABELS)
        lines = str(caught.value).splitlines()
        quoted.append([line for line in lines if line.startswith("TypeError")])
    assert quoted[1] == quoted[0]
    assert "meta-estimator (Pipeline) can't have auto-propagated callbacks" in quoted[1][0]


@since_1_9
def test_bar_on_the_search_and_monitor_on_the_estimator(capfd):
    logs = []
    for search in (grid_search, plain):
        monitored = monitor()
        estimator = clone(LOGISTIC).set_callbacks(monitored)
        search(estimator, GRID).set_callbacks(bar()).fit(X, LABELS)
        logs.append(rows(monitored))
    assert logs[1] == logs[0]
    assert "StabilitySearchCV - fit" in capfd.readouterr().out


@since_1_9
def test_bar_on_a_pipeline_around_the_search(capfd):
    around = make_pipeline(StandardScaler(), plain(LOGISTIC, GRID)).set_callbacks(bar())
    around.fit(X, LABELS)
    assert "StabilitySearchCV - fit" in capfd.readouterr().out


# Paths.


@since_1_9
def test_an_estimator_with_callbacks_is_fitted_candidate_by_candidate():
    recorder = Recorder()
    by_path = StabilitySearchCV(PIPELINE, PIPELINE_GRID, cv=3).fit(FEATURES, TARGET)
    watched = StabilitySearchCV(clone(PIPELINE).set_callbacks(recorder), PIPELINE_GRID, cv=3)
    watched.fit(FEATURES, TARGET)
    assert watched.n_fits_ == 3 * by_path.n_fits_
    assert recorder.counts["setup"] == recorder.counts["teardown"] == watched.n_fits_ + 1
    assert recorder.counts["begin"] == recorder.counts["end"]
    assert watched.nested_error_ == pytest.approx(by_path.nested_error_)


@since_1_9
def test_a_path_is_one_task_of_a_search_with_callbacks():
    recorder = Recorder()
    search = StabilitySearchCV(PIPELINE, PIPELINE_GRID, cv=3).set_callbacks(recorder)
    search.fit(FEATURES, TARGET)
    assert search.n_fits_ == 1 + 3 + 3
    # The fit, the search, its fits, and the refit.
    assert recorder.counts["begin"] == recorder.counts["end"] == 1 + 1 + search.n_fits_ + 1


# Nothing to report to.


def test_no_callbacks():
    assert not has_callbacks(PIPELINE, LOGISTIC, GRID, [GRID], None, "text", Ridge, np.arange(3))
    assert not has_callbacks({"ridge": [Ridge(), None, "passthrough"]})


@since_1_9
def test_callbacks_at_any_depth():
    watched = clone(LOGISTIC).set_callbacks(Recorder())
    assert has_callbacks(watched)
    assert has_callbacks(make_pipeline(StandardScaler(), watched))
    assert has_callbacks(PIPELINE, [{"ridge": [Ridge()]}, {"ridge": [Ridge(), watched]}])
    assert has_callbacks({"ridge": np.array([Ridge(), watched], dtype=object)})
    assert not has_callbacks(watched.set_callbacks())


def test_without_callbacks_there_are_no_tasks():
    with TaskTree(plain(LOGISTIC, GRID), X, LABELS, {}, 9, GRID) as tasks:
        assert tasks.fit_task() is None


@since_1_9
def test_without_callbacks_there_are_no_tasks_inside_something_either():
    """A pipeline tells its steps of its tasks, whether somebody listens or not."""

    class Looks(StabilitySearchCV):
        def _refit(self, X, y, fit_params, tasks):
            self.inside_ = hasattr(self, "_parent_callback_ctx")
            self.task_ = tasks.fit_task()
            super()._refit(X, y, fit_params, tasks)

    search = Looks(LOGISTIC, GRID, cv=3)
    make_pipeline(StandardScaler(), search).fit(X, LABELS)
    assert search.inside_
    assert search.task_ is None
