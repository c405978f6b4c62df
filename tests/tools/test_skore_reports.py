"""skore's reports of what was chosen without each split: its numbers are the nested ones."""

import os
import warnings

import numpy as np
import pytest

os.environ["DO_NOT_TRACK"] = "true"  # tests send nothing

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that skore imports
    skore = pytest.importorskip("skore")

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.tools import skore_report

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
X, Y = load_diabetes(return_X_y=True, as_frame=True)
DEPTHS = {"max_depth": [2, 3, 4]}


@pytest.mark.parametrize("cv", [5, TimeSeriesSplit(5)])
def test_its_squared_error_is_the_nested_error(cv):
    search = StabilitySearchCV(DecisionTreeRegressor(), DEPTHS, cv=cv).fit(X, Y)
    report = skore_report(search, X, Y)
    errors = [each.metrics.rmse() ** 2 for each in report.reports_]
    np.testing.assert_allclose(errors, search.rules_["steady"].view_errors)
    assert len(errors) == len(search.lattice_.views)
    assert report.metrics.rmse().iloc[0, 0] == pytest.approx(np.mean(np.sqrt(errors)))


def test_its_area_under_the_curve_is_the_nested_score():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.01, 1.0]}
    search = StabilitySearchCV(model, grid, scoring="roc_auc", deliver="committee").fit(X, y)
    report = skore_report(search, X, y, pos_label=1)
    found = np.mean([each.metrics.roc_auc() for each in report.reports_])
    assert found == pytest.approx(search.nested_scores_["score"].steady)


def test_all_of_it_works():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    report = skore_report(search, X, Y)
    assert report.metrics.summarize().frame().loc["fit_time"].notna().all()
    assert len(report.inspection.coefficients().frame()) == 1 + X.shape[1]
    assert report.checks.summarize() is not None
    assert [each.estimator_.alpha for each in report.reports_] == [
        search.cv_results_["params"][i]["alpha"] for i in search.rules_["steady"].view_candidates
    ]


def test_other_data_are_refused():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    for other_X, other_y in ((X[1:], Y), (X, Y[::-1])):
        with pytest.raises(ValueError, match="must be the 442 rows that the search was fitted on"):
            skore_report(search, other_X, other_y)


def test_weights_are_refused():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    with pytest.raises(ValueError, match="skore knows no sample weights"):
        skore_report(search.fit(X, Y, sample_weight=np.ones(len(Y))), X, Y)


def test_no_nested_error_no_report():
    search = StabilitySearchCV(Ridge(), {"alpha": [1.0]}, nested=False, stability_weights=0.0).fit(X, Y)
    with pytest.raises(AttributeError, match="no nested error with nested=False"):
        skore_report(search, X, Y)
