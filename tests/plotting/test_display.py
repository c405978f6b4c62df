"""The pictures show what the results say; every expectation is computed here from the tables."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityDisplay, StabilitySearchCV

mpl.use("Agg")
DATA = load_diabetes(return_X_y=True)
GRID = {"max_depth": [1, 2, 3, 4, 5, 7], "min_samples_leaf": [1, 20, 5]}


@pytest.fixture(scope="module")
def search():
    return StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def drawn(artist):
    return np.asarray(artist.get_xydata())


def test_frontier_shows_all_candidates_and_the_best_for_each_weight(search):
    display = StabilityDisplay.from_search(search)
    error, instability = (search.cv_results_[name] for name in ("cv_error", "instability"))
    points = display.artists_["candidates"].get_offsets()
    np.testing.assert_array_equal(points, np.stack([instability, error], axis=1))
    weights = np.concatenate([[0], np.logspace(-9, 9, 20_001)])
    best = dict.fromkeys(int(np.argmin(error + weight * instability)) for weight in weights)
    np.testing.assert_array_equal(
        np.unique(drawn(display.artists_["frontier"]), axis=0), np.unique(points[list(best)], axis=0)
    )
    np.testing.assert_array_equal(drawn(display.artists_["plain"]), points[[search.kfold_index_]])
    np.testing.assert_array_equal(drawn(display.artists_["steady"]), points[[search.best_index_]])


def test_weights_show_mean_and_standard_deviation_over_outer_folds(search):
    display = StabilityDisplay.from_search(search, kind="weights")
    table = search.weights_
    errors = np.array([table[f"split{t}_error"] for t in range(5)])
    np.testing.assert_allclose(
        drawn(display.artists_["line"]), np.stack([table["weight"], errors.mean(axis=0)], axis=1)
    )
    [outline] = display.artists_["spread"].get_paths()
    at_zero = outline.vertices[outline.vertices[:, 0] == 0, 1]
    mean, deviation = errors[:, 0].mean(), errors[:, 0].std()
    np.testing.assert_allclose([at_zero.min(), at_zero.max()], [mean - deviation, mean + deviation])
    np.testing.assert_allclose(
        drawn(display.artists_["steady"]), [[search.stability_weight_, search.nested_error_]]
    )
    np.testing.assert_allclose(drawn(display.artists_["plain"]), [[0, mean]])


def test_zero_and_the_next_weights_are_evenly_spaced(search):
    display = StabilityDisplay.from_search(search, kind="weights")
    display.figure_.canvas.draw()
    weights = search.weights_["weight"]
    places = display.ax_.transData.transform(np.stack([weights, weights], axis=1))[:, 0]
    np.testing.assert_allclose(np.diff(places), np.diff(places)[0])


def test_heat_map_has_an_error_for_each_pair(search):
    display = StabilityDisplay.from_search(search, kind="grid")
    mesh = display.artists_["mesh"].get_array().reshape(3, 6)
    for params, error in zip(search.cv_results_["params"], search.cv_results_["cv_error"], strict=True):
        row = [1, 5, 20].index(params["min_samples_leaf"])  # numbers are shown in order
        assert mesh[row, GRID["max_depth"].index(params["max_depth"])] == error
    best = search.best_params_
    at = drawn(display.artists_["steady"])
    np.testing.assert_array_equal(at, [[best["max_depth"], best["min_samples_leaf"]]])


@pytest.mark.parametrize("error", ["regularized_error", "instability"])
def test_line_over_one_axis_is_the_lowest_over_the_others(search, error):
    display = StabilityDisplay.from_search(search, kind="grid", params=["max_depth"], error=error)
    lowest = {
        depth: min(
            value
            for params, value in zip(
                search.cv_results_["params"], search.cv_results_[error], strict=True
            )
            if params["max_depth"] == depth
        )
        for depth in GRID["max_depth"]
    }
    np.testing.assert_array_equal(drawn(display.artists_["line"]), list(lowest.items()))
    assert "lowest over min_samples_leaf" in display.ax_.get_ylabel()


@pytest.mark.parametrize(
    ("values", "scale", "positions"),
    [
        ([10.0, 0.1, 1.0, 100.0], "log", [0.1, 1, 10, 100]),
        ([1, 2, 3, 4], "linear", [1, 2, 3, 4]),
        ([0, 1e-3, 1e-2, 0.1], "linear", [0, 1, 2, 3]),  # no scale suits it: as categories
    ],
)
def test_scale_of_an_axis(values, scale, positions):
    search = StabilitySearchCV(Ridge(), {"alpha": values}, cv=3).fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="grid")
    assert display.ax_.get_xscale() == scale
    np.testing.assert_array_equal(drawn(display.artists_["line"])[:, 0], positions)


def test_values_that_are_no_numbers_keep_their_order():
    grid = {"max_features": [None, "sqrt", 3], "max_depth": [2, None]}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=3).fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="grid")
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["None", "sqrt", "3"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["2", "None"]


def test_dollars_are_no_formula():
    search = StabilitySearchCV(Ridge(), {"solver": ["svd", "cholesky"]}, cv=3).fit(*DATA)
    search._boxes[0].axes = {"solver": [r"$\frac$", "cholesky"]}
    StabilityDisplay.from_search(search, kind="grid").figure_.canvas.draw()


def test_candidates_that_an_adaptive_search_did_not_look_at_are_left_out():
    grid = {"max_depth": range(1, 12), "min_samples_leaf": range(1, 40, 3)}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, search="coordinate", cv=3).fit(*DATA)
    known = np.isfinite(search.cv_results_["instability"])
    assert not known.all()
    display = StabilityDisplay.from_search(search)
    assert len(display.artists_["candidates"].get_offsets()) == known.sum()
    display.plot(kind="grid")
    shown = ~np.ma.getmaskarray(display.artists_["mesh"].get_array())
    assert shown.sum() == np.isfinite(search.cv_results_["cv_error"]).sum()


def test_of_a_list_of_grids_the_one_with_the_choice_is_shown():
    grids = [{"alpha": [1e6, 1e7]}, {"alpha": [0.1, 1.0], "fit_intercept": [True, False]}]
    search = StabilitySearchCV(Ridge(), grids, cv=3).fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="grid")
    assert [axis.values for axis in display.grid_errors.axes] == list(grids[1].values())


def test_a_hopeless_candidate_does_not_squeeze_the_others():
    grid = {"alpha": [1e-3, 1e-2, 1e-1, 1.0], "fit_intercept": [True, False]}
    search = StabilitySearchCV(Ridge(), grid, cv=3).fit(*DATA)
    search.cv_results_["cv_error"][3] = 1e9
    display = StabilityDisplay.from_search(search)
    assert display.ax_.get_ylim()[1] < 1e5


def test_dark_styles_get_light_marks(search):
    light = StabilityDisplay.from_search(search)
    with plt.style.context("dark_background"):
        dark = StabilityDisplay.from_search(search)
    for mark in ("frontier", "plain", "steady"):
        colors = [d.artists_[mark].get_markeredgecolor() for d in (light, dark)]
        assert sum(mpl.colors.to_rgb(colors[1])) > sum(mpl.colors.to_rgb(colors[0]))


def test_axes_that_are_given_are_drawn_on(search):
    _, ax = plt.subplots()
    display = StabilityDisplay.from_search(search, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "kind must be one of"),
        ({"error": "r2"}, "error must be one of"),
        ({"params": ["depth"]}, r"of \['max_depth', 'min_samples_leaf'\]; got \['depth'\]"),
        ({"params": ["max_depth"] * 2}, "one to three parameters"),
    ],
)
def test_what_cannot_be_drawn_is_refused(search, options, message):
    with pytest.raises(ValueError, match=message):
        StabilityDisplay.from_search(search, **options)


@pytest.mark.parametrize("kind", ["frontier", "weights", "grid"])
def test_what_is_not_known_cannot_be_drawn(kind):
    search = StabilitySearchCV(Ridge(), {"alpha": [1]}, nested=False, stability_weights=0).fit(*DATA)
    with pytest.raises(ValueError, match="nothing to draw"):
        StabilityDisplay.from_search(search, kind=kind)


def test_search_must_be_fitted():
    with pytest.raises(NotFittedError):
        StabilityDisplay.from_search(StabilitySearchCV(Ridge(), {"alpha": [1, 2]}))


def test_without_matplotlib_it_says_what_to_install(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'steadycv\[plots\]'"):
        StabilityDisplay.from_search(search)


# Scores in place of errors, and splits that are no folds.


@pytest.fixture(scope="module")
def scored():
    return StabilitySearchCV(DecisionTreeRegressor(), GRID, scoring="r2").fit(*DATA)


def test_scores_are_drawn_as_scores(scored):
    score, instability = (scored.cv_results_[name] for name in ("mean_test_score", "instability"))
    display = StabilityDisplay.from_search(scored)
    points = display.artists_["candidates"].get_offsets()
    np.testing.assert_allclose(points, np.stack([instability, score], axis=1))
    assert display.ax_.get_ylabel() == "CV r2"
    display.plot(kind="weights")
    line = drawn(display.artists_["line"])
    np.testing.assert_allclose(line[:, 1], -scored.weights_["mean_error"])
    assert display.ax_.get_ylabel() == "r2 on outer folds"


def test_heat_map_of_scores_is_darkest_where_they_are_high(scored):
    display = StabilityDisplay.from_search(scored, kind="grid")
    display.figure_.canvas.draw()
    mesh = display.artists_["mesh"]
    shown = mesh.get_array().ravel()
    np.testing.assert_allclose(np.sort(shown), np.sort(scored.cv_results_["mean_test_score"]))
    lightness = mesh.get_facecolors()[:, :3].sum(axis=1)
    order = np.argsort(shown)
    assert (np.diff(lightness[order]) <= 1e-9).all()
    assert lightness[order[-1]] < lightness[order[0]]
    assert display.artists_["colorbar"].ax.get_ylabel() == "CV r2"


def test_heat_map_of_one_score_for_all():
    grid = {"max_depth": [1, 2], "min_samples_leaf": [400, 401]}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, scoring="r2").fit(*DATA)
    StabilityDisplay.from_search(search, kind="grid").figure_.canvas.draw()


def test_splits_forward_in_time():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=TimeSeriesSplit(5)).fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="weights")
    errors = np.array([search.weights_[f"split{t}_error"] for t in range(1, 5)])
    np.testing.assert_allclose(drawn(display.artists_["line"])[:, 1], errors.mean(axis=0))
    assert display.ax_.get_ylabel() == "error on outer splits (mean squared error)"
    assert "fold" not in display.plot().ax_.get_xlabel()


def test_rule_without_a_weight():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, rule="one_standard_error").fit(*DATA)
    display = StabilityDisplay.from_search(search)
    steady = search.cv_results_["instability"][search.best_index_], search.cv_error_
    np.testing.assert_allclose(drawn(display.artists_["steady"]), [steady])
    with pytest.raises(ValueError, match="no weight was chosen by nested errors"):
        display.plot(kind="weights")


def test_chosen_weight_is_marked_where_views_are_too_few_to_choose():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=TimeSeriesSplit(3))
    with pytest.warns(UserWarning, match="The stability weight is 0"):
        search.fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="weights")
    np.testing.assert_allclose(drawn(display.artists_["steady"]), [[0, search.nested_error_]])


def test_no_picture_of_weights_without_views():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=2)
    with pytest.warns(UserWarning, match="No nested"):
        search.fit(*DATA)
    StabilityDisplay.from_search(search)
    with pytest.raises(ValueError, match="too few splits"):
        StabilityDisplay.from_search(search, kind="weights")


def test_lattice_shows_the_errors_of_all_that_was_fitted(search):
    from steadycv.lattice_picture import LatticeErrors

    display = StabilityDisplay.from_search(search, kind="lattice")
    mesh = display.artists_["mesh"].get_array()
    np.testing.assert_array_equal(mesh.mask[:, 0], True)
    np.testing.assert_array_equal(mesh[:, 1:], LatticeErrors.from_search(search).error[:, 1:])


THREE = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 5, 20], "max_features": [None, 3]}


def test_three_parameters_are_heat_maps_side_by_side_with_the_same_colours():
    search = StabilitySearchCV(DecisionTreeRegressor(), THREE, cv=3).fit(*DATA)
    display = StabilityDisplay.from_search(search, kind="grid")
    assert [ax.get_title() for ax in display.axes_] == ["max_features = None", "max_features = 3"]
    meshes = display.artists_["meshes"]
    assert len({(mesh.norm.vmin, mesh.norm.vmax) for mesh in meshes}) == 1
    by_setting = {
        tuple(params[name] for name in THREE): error
        for params, error in zip(
            search.cv_results_["params"], search.cv_results_["cv_error"], strict=True
        )
    }
    for mesh, features in zip(meshes, THREE["max_features"], strict=True):
        values = mesh.get_array().reshape(3, 4)
        for (depth, leaf, of), error in by_setting.items():
            if of == features:
                row, column = THREE["min_samples_leaf"].index(leaf), THREE["max_depth"].index(depth)
                assert values[row, column] == error
    best = search.best_params_
    mark = display.artists_["steady"]
    np.testing.assert_array_equal(drawn(mark), [[best["max_depth"], best["min_samples_leaf"]]])
    assert mark.axes.get_title() == f"max_features = {best['max_features']}"


def test_three_parameters_take_the_place_of_a_subplot():
    search = StabilitySearchCV(DecisionTreeRegressor(), THREE, cv=3).fit(*DATA)
    figure, axes = plt.subplots(1, 2, layout="constrained")
    display = StabilityDisplay.from_search(search, kind="grid", ax=axes[1])
    figure.canvas.draw()
    middle = figure.bbox.width / 2
    assert all(ax.get_window_extent().x0 > middle for ax in display.axes_)
    display.plot(axes[0], kind="weights")
    assert display.axes_ == [axes[0]]
    with pytest.raises(ValueError, match="in the place of a subplot"):
        display.plot(figure.add_axes([0, 0, 1, 1]), kind="grid")


def test_a_third_parameter_of_many_values_is_left_out_until_it_is_asked_for():
    grid = THREE | {"max_features": range(1, 9), "min_samples_leaf": range(1, 9)}
    grid["max_depth"] = range(1, 9)
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=3, nested=False, stability_weights=0)
    search.fit(*DATA)
    assert len(StabilityDisplay.from_search(search, kind="grid").axes_) == 1
    display = StabilityDisplay.from_search(search, kind="grid", params=list(THREE))
    assert len(display.axes_) == 8
