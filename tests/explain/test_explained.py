"""The numbers behind the pictures, held to what scikit-learn says of predictions made by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    mean_squared_error,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.explain import (
    Confusion,
    Judged,
    LearningCurve,
    OverRows,
    calibrations,
    differences,
    precision_recall_curves,
    roc_curves,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [2.0, -1.0, 0.5] + RNG.normal(size=80)
FOLDS = KFold(5, shuffle=True, random_state=0)
TWO = load_breast_cancer(return_X_y=True)
TWO = TWO[0][:, :4], np.array(["ill", "well"])[TWO[1]]
THREE = load_wine(return_X_y=True)


def in_order(judged, values):
    found = np.empty((len(judged.rows), *np.shape(values)[1:]), dtype=values.dtype)
    found[judged.rows] = values
    return found


def searched(model, data, **options):
    """A search with nothing to choose: nested predictions are those of plain cross-validation."""
    return StabilitySearchCV(model, {}, cv=FOLDS, **options).fit(*data)


def test_predictions_are_those_of_cross_validation():
    judged = Judged.from_search(searched(Ridge(), (X, Y)))
    assert_allclose(in_order(judged, judged.predicted), cross_val_predict(Ridge(), X, Y, cv=FOLDS))
    assert_array_equal(in_order(judged, judged.targets), Y)
    for number, (_, test) in enumerate(FOLDS.split(X)):
        assert_array_equal(judged.rows[judged.view == number], test)


def test_of_many_candidates_they_are_the_nested_predictions():
    search = StabilitySearchCV(
        DecisionTreeClassifier(), {"max_depth": [1, 2, 4]}, cv=FOLDS, rule="plain"
    ).fit(*TWO)
    judged = Judged.from_search(search)
    assert_allclose(in_order(judged, judged.probabilities), search.nested_predictions_)
    assert_array_equal(judged.classes, ["ill", "well"])


@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble", "student"])
def test_they_are_of_what_is_delivered(deliver):
    search = StabilitySearchCV(
        DecisionTreeRegressor(), {"max_depth": [1, 2, 4, 8]}, cv=FOLDS, deliver=deliver
    ).fit(X, Y)
    judged = Judged.from_search(search)
    assert mean_squared_error(judged.targets, judged.predicted) == pytest.approx(search.promise_)
    assert_allclose(judged.residuals, judged.targets - judged.predicted)


def test_labels_alone():
    judged = Judged.from_search(searched(RidgeClassifier(), THREE, deliver="committee"))
    assert judged.probabilities is None
    assert set(judged.predicted) <= {0, 1, 2}
    assert_array_equal(judged.residuals, judged.predicted != judged.targets)
    assert roc_curves(judged) == calibrations(judged) == []


def test_repeats_have_every_row_again():
    folds = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    judged = Judged.from_search(StabilitySearchCV(Ridge(), {}, cv=folds).fit(X, Y))
    assert_array_equal(np.bincount(judged.rows), 2)
    said = np.zeros(len(Y))
    for train, test in folds.split(X):
        said[test] += Ridge().fit(X[train], Y[train]).predict(X[test]) / 2
    over = OverRows.of(judged)
    assert_allclose(over.residuals, Y - said)


def test_nothing_where_there_are_no_nested_predictions():
    searches = (
        StabilitySearchCV(Ridge(), {"alpha": [1.0, 2.0]}, nested=False, stability_weights=0),
        StabilitySearchCV(KNeighborsRegressor(), {"n_neighbors": [3]}),
    )
    targets = Y, np.stack([Y, Y], axis=1)
    for search, y in zip(searches, targets, strict=True):
        assert Judged.from_search(search.fit(X, y)) is None


# Classes.


@pytest.fixture(scope="module")
def two():
    return searched(KNeighborsClassifier(15), TWO, scoring="roc_auc")


def test_curves_of_two_classes_are_scikit_learns(two):
    said = cross_val_predict(KNeighborsClassifier(15), *TWO, cv=FOLDS, method="predict_proba")[:, 1]
    y = TWO[1] == "well"
    judged = Judged.from_search(two)
    roc, found = roc_curves(judged)[0], precision_recall_curves(judged)[0]
    fpr, tpr, _ = roc_curve(y, said)
    precision, recall, _ = precision_recall_curve(y, said)
    assert_allclose([roc.x, roc.y], [fpr, tpr])
    assert_allclose([found.x, found.y], [recall[::-1], precision[::-1]])
    assert roc.area == pytest.approx(roc_auc_score(y, said))
    assert found.area == pytest.approx(average_precision_score(y, said))
    assert (roc.positive, roc.view) == ("well", None)


def test_areas_of_single_folds_have_the_promise_as_their_mean(two):
    of_folds = [curve.area for curve in roc_curves(Judged.from_search(two)) if curve.view is not None]
    assert_allclose(
        of_folds, cross_val_score(KNeighborsClassifier(15), *TWO, cv=FOLDS, scoring="roc_auc")
    )
    assert np.mean(of_folds) == pytest.approx(-two.promise_)


def test_calibration_is_scikit_learns():
    search = searched(LogisticRegression(max_iter=5000), TWO)
    judged = Judged.from_search(search)
    [found] = calibrations(judged)
    happened, said = calibration_curve(
        judged.targets == "well", judged.probabilities[:, 1], n_bins=10, strategy="quantile"
    )
    assert_allclose([found.happened, found.said], [happened, said])
    assert found.n_rows.sum() == len(TWO[1])
    mean = np.average(found.said, weights=found.n_rows)
    assert mean == pytest.approx(judged.probabilities[:, 1].mean())


def test_each_of_three_classes_has_a_curve():
    judged = Judged.from_search(searched(KNeighborsClassifier(), THREE))
    curves = roc_curves(judged)
    areas = roc_auc_score(judged.targets, judged.probabilities, multi_class="ovr", average=None)
    assert_allclose([curve.area for curve in curves], areas)
    assert [curve.positive for curve in curves] == [each.positive for each in calibrations(judged)]


def test_confusions_are_counted():
    search = searched(KNeighborsClassifier(), THREE)
    predicted = cross_val_predict(KNeighborsClassifier(), *THREE, cv=FOLDS)
    table = Confusion.of(Judged.from_search(search))
    assert_array_equal(table.n_rows, confusion_matrix(THREE[1], predicted))
    assert_array_equal(table.classes, [0, 1, 2])


def test_weights_of_rows_count():
    weight = RNG.integers(0, 3, len(TWO[1])).astype(float)
    search = StabilitySearchCV(LogisticRegression(max_iter=5000), {}, cv=FOLDS)
    judged = Judged.from_search(search.fit(*TWO, sample_weight=weight))
    y, said = judged.targets == "well", judged.probabilities[:, 1]
    assert roc_curves(judged)[0].area == pytest.approx(
        roc_auc_score(y, said, sample_weight=weight[judged.rows])
    )
    assert Confusion.of(judged).n_rows.sum() == weight.sum()


def test_surprise_is_one_minus_the_probability_of_what_happened(two):
    judged = Judged.from_search(two)
    brier = brier_score_loss(judged.targets, judged.probabilities[:, 1], pos_label="well")
    assert np.mean(judged.residuals**2) == pytest.approx(brier)


# Rows, sizes and models.


def test_means_over_runs_of_rows_have_t_intervals():
    over = OverRows.of(Judged.from_search(searched(Ridge(), (X, Y))))
    residuals = Y - cross_val_predict(Ridge(), X, Y, cv=FOLDS)
    for number, part in enumerate(np.array_split(residuals, 10)):
        low, high = stats.ttest_1samp(part, 0).confidence_interval(0.9)
        assert_allclose(over.mean[number] + over.half[number] * np.array([-1, 1]), [low, high])
    assert_array_equal(over.rows, np.arange(80))


def test_learning_curve_judges_the_same_rows_with_models_of_two_sizes():
    search = searched(Ridge(), (X, Y))
    curve = LearningCurve.from_search(search)
    assert_array_equal(curve.n_rows, [48, 64])
    assert_allclose(curve.shares, [0.6, 0.8])
    parts = [test for _, test in FOLDS.split(X)]
    for i, test in enumerate(parts):
        errors = []
        for j in range(5):
            train = np.setdiff1d(np.arange(80), np.concatenate([test, parts[j]]))
            model = Ridge().fit(X[train], Y[train])
            errors.append(mean_squared_error(Y[test], model.predict(X[test])))
        fewer = [error for j, error in enumerate(errors) if j != i]
        assert_allclose(curve.errors[:, i], [np.mean(fewer), errors[i]])


def test_learning_curve_ends_at_what_is_promised_of_the_choice():
    search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2, 4, 8]}, cv=FOLDS).fit(X, Y)
    assert LearningCurve.from_search(search).errors[1].mean() == pytest.approx(search.promise_)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(4, test_size=0.5, random_state=0)])
def test_no_learning_curve_where_sizes_are_judged_on_other_rows(cv):
    assert LearningCurve.from_search(StabilitySearchCV(Ridge(), {}, cv=cv).fit(X, Y)) is None


def test_models_are_compared_fold_by_fold():
    models = {"tree": DecisionTreeRegressor(max_depth=2, random_state=0), "ridge": Ridge()}
    best, other = differences({name: searched(model, (X, Y)) for name, model in models.items()})
    errors = {
        name: -cross_val_score(model, X, Y, cv=FOLDS, scoring="neg_mean_squared_error")
        for name, model in models.items()
    }
    apart = errors["tree"] - errors["ridge"]
    spread = np.sqrt((1 / 5 + 16 / 64) * apart.var(ddof=1))
    assert (best.name, best.difference, other.name) == ("ridge", 0, "tree")
    assert other.error == pytest.approx(errors["tree"].mean())
    assert_allclose(other.interval, stats.t.interval(0.9, 4, loc=apart.mean(), scale=spread))


def test_what_has_other_splits_or_losses_is_not_compared():
    ridge = searched(Ridge(), (X, Y))
    others = [
        searched(Ridge(), (X, Y), loss="absolute_error"),
        searched(Ridge(), (X, Y), scoring="r2"),
        StabilitySearchCV(Ridge(), {}, cv=4).fit(X, Y),
        StabilitySearchCV(Ridge(), {}, nested=False, stability_weights=0).fit(X, Y),
    ]
    for other in others:
        assert differences({"one": ridge, "other": other}) == []
    assert differences({"one": ridge}) == differences(ridge) == []


def test_grids_of_one_search_are_compared_as_its_families():
    grids = [{"alpha": [0.1, 1.0]}, {"alpha": [1000.0]}]
    search = StabilitySearchCV(Ridge(), grids, cv=FOLDS).fit(X, Y)
    for found, family in zip(differences(search), search.families_, strict=True):
        assert found.name == family.name
        assert found[1:] == (family.nested_error, family.difference, family.interval, family.caution)
