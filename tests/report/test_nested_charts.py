"""The charts of nested predictions stand where the numbers are."""

import numpy as np
import pytest
import searches
from searches import Page
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from steadycv import StabilitySearchCV, write_report
from steadycv.error_words import ErrorWords
from steadycv.explain import Confusion, Judged, LearningCurve, column_importance, roc_curves
from steadycv.report import explained
from steadycv.report.explained import DrawnRows, Explained
from steadycv.report.nested_charts import (
    calibration_chart,
    confusion_chart,
    curves_chart,
    importance_chart,
    learning_chart,
    models_chart,
    predicted_chart,
    rows_chart,
)
from steadycv.split_words import SplitWords

WORDS = ErrorWords("mean squared error")


def line(svg, class_):
    """The points of a line."""
    [found] = (e for e in svg.iter("polyline") if e.get("class") == class_)
    return np.array([point.split(",") for point in found.get("points").split()], dtype=float)


def circles(svg, class_):
    return np.array(
        [(e.get("cx"), e.get("cy")) for e in svg.iter("circle") if class_ in e.get("class").split()],
        dtype=float,
    )


def assert_on_scales(x, y, drawn):
    """Places are values on two linear scales, the upright one upwards, to a tenth of a unit."""
    for values, places, rises in ((x, drawn[:, 0], True), (y, drawn[:, 1], False)):
        slope, start = np.polyfit(np.asarray(values, dtype=float), places, 1)
        assert (slope > 0) == rises
        np.testing.assert_allclose(start + slope * np.asarray(values), places, atol=0.12)


@pytest.fixture(scope="module")
def tree():
    return searches.tree()


@pytest.fixture(scope="module")
def classes():
    return Judged.from_search(searches.classes())


def test_rows_stand_at_their_numbers(tree):
    drawn = DrawnRows.of(Judged.from_search(tree))
    actual = searches.DATA[1]
    assert_on_scales(actual, drawn.predicted, circles(predicted_chart(drawn, "fold"), "dot"))
    over = circles(rows_chart(drawn, in_time=False), "dot")
    assert_on_scales(np.arange(len(actual)), actual - drawn.predicted, over)
    assert drawn.read_outs()[3] == f"row 3: actual {actual[3]:.0f}, predicted {drawn.predicted[3]:.4g}"


def test_very_many_rows_are_drawn_evenly(tree, monkeypatch):
    monkeypatch.setattr(explained, "MOST_ROWS", 100)
    drawn = DrawnRows.of(Judged.from_search(tree))
    assert drawn.rows.tolist() == list(range(0, 442, 5))
    assert (drawn.step, len(drawn.over.rows)) == (5, 442)


def test_curves_and_what_they_say(classes):
    curves = roc_curves(classes)
    svg = curves_chart(curves, ("x", "y"), "ROC")
    drawn = line(svg, "steady")
    assert_on_scales([0, 1], [0, 1], drawn[[0, -1]])
    middle = drawn[:, 0].mean()
    at = np.interp(middle, drawn[:, 0], drawn[:, 1])
    share = (middle - drawn[0, 0]) / (drawn[-1, 0] - drawn[0, 0])
    height = (at - drawn[0, 1]) / (drawn[-1, 1] - drawn[0, 1])
    assert height == pytest.approx(np.interp(share, curves[0].x, curves[0].y), abs=0.03)
    assert len([e for e in svg.iter("polyline") if e.get("class") == "view"]) == 5
    assert f"well, all rows: {curves[0].area:.3g}" in svg.get("aria-label")


def test_calibration_has_a_knot_for_each_bin(classes):
    from steadycv.explain import calibrations

    [found] = calibrations(classes)
    assert_on_scales(found.said, found.happened, circles(calibration_chart([found]), "knot"))


def test_confusions_are_written_into_their_cells(classes):
    found = Confusion.of(classes)
    svg = confusion_chart(found)
    texts = [e.text for e in svg.iter("text") if "on" in e.get("class").split()]
    assert texts == [str(n) for n in found.n_rows.ravel()]
    rights = np.trace(found.n_rows) / found.n_rows.sum()
    assert f"{rights:.1%} of rows" in svg.get("aria-label")


def test_learning_curve_ends_before_all_rows(tree):
    curve = LearningCurve.from_search(tree)
    svg = learning_chart(curve, WORDS, SplitWords.of(tree.lattice_))
    drawn = line(svg, "steady")
    [guide] = (float(e.get("x1")) for e in svg.iter("line") if e.get("class") == "guide")
    mean = curve.errors.mean(axis=1)
    assert_on_scales([*curve.shares, 1], [*mean, mean[1]], np.vstack([drawn, [guide, drawn[1, 1]]]))


def test_models_and_columns_stand_under_each_other(tree):
    from steadycv.explain import Difference

    models = [Difference("a", 1.0, 0.0, (0.0, 0.0)), Difference("b", 3.0, 2.0, (-1.0, 5.0))]
    svg = models_chart(models, WORDS)
    assert_on_scales([0, 2], [0, -1], circles(svg, "steady"))
    low, high = (
        (float(e.get("x1")), float(e.get("x2"))) for e in svg.iter("line") if e.get("class") == "whisker"
    )
    assert low[0] == low[1]
    assert high[0] < circles(svg, "steady")[0, 0] < high[1]
    importance = column_importance(tree, *searches.DATA, n_repeats=1)
    dots = circles(importance_chart(importance, WORDS), "knot")
    values = importance.by_view[:, importance.order].T
    places = -np.repeat(np.arange(values.shape[0]), values.shape[1])
    assert_on_scales(values.ravel(), places, dots)


def test_names_of_models_and_columns_are_on_the_page(tree, tmp_path):
    importance = column_importance(tree, *searches.DATA, n_repeats=1)
    path = write_report(tree, tmp_path / "r.html", importance=importance)
    words = Page(path.read_text("utf-8")).words
    assert "What columns are worth (permutation importance)" in words
    assert f"column {importance.order[0]} " in words
    assert "Would more rows help? (learning curve)" in words
    with pytest.raises(ValueError, match="importance must be a dict by the names"):
        write_report({"a": tree, "b": tree}, tmp_path / "r.html", importance=importance)
    with pytest.raises(ValueError, match=r"importance names \['c'\], and the searches are \['a'\]"):
        write_report({"a": tree}, tmp_path / "r.html", importance={"c": importance})


def test_three_classes_have_lines_of_their_own(tmp_path):
    search = StabilitySearchCV(
        KNeighborsClassifier(), {"n_neighbors": [3, 9]}, cv=KFold(3, shuffle=True, random_state=0)
    ).fit(*load_iris(return_X_y=True))
    page = Page(write_report(search, tmp_path / "r.html").read_text("utf-8"))
    assert len(page.find("polyline", "several2")) == 2 * 3  # a chart and its legend, three times
    assert "Predicted and actual classes (confusion matrix)" in page.words


def test_nothing_to_explain_is_not_spoken_of(tmp_path):
    search = StabilitySearchCV(Ridge(), {"alpha": [1.0, 2.0]}, nested=False, stability_weights=0)
    search.fit(*searches.DATA)
    assert Explained.of(search, None).is_empty
    words = Page(write_report(search, tmp_path / "r.html").read_text("utf-8")).words
    assert "How good it is on rows that it never saw" not in words
