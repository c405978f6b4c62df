"""What a report says and draws is what the search found."""

import re
import sys
from copy import copy
from itertools import pairwise

import numpy as np
import pytest
import searches
from searches import EVIL, Page
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV, rules, write_report
from steadycv.error_words import ErrorWords
from steadycv.plotting.frontier import Frontier
from steadycv.plotting.grid_errors import GridErrors
from steadycv.plotting.weight_path import WeightPath
from steadycv.report.charts import frontier_chart, grid_chart, race_chart, weights_chart
from steadycv.split_words import SplitWords

ERRORS = ErrorWords("mean squared error")
FOLDS = SplitWords(5, 1, are_folds=True, are_forward=False)


@pytest.fixture(scope="module")
def tree():
    return searches.tree()


@pytest.fixture
def page(tmp_path):
    def read(search, **options):
        return Page(write_report(search, tmp_path / "report.html", **options).read_text("utf-8"))

    return read


def test_choice_promise_and_what_to_expect(tree, page):
    words = page(tree, data_name="diabetes").words
    assert "DecisionTreeRegressor tuned on diabetes" in words
    assert "Chosen max_depth 3 min_samples_leaf 19" in words
    assert "The plain choice would have been max_depth = 2, min_samples_leaf = 1." in words
    low, high = tree.promise_interval_
    assert (
        f"To expect on new data {tree.promise_**0.5:.3g} typical miss in the units of the target "
        in words
    )
    assert (
        f"The mean squared error behind it is about {tree.promise_:.0f} ({low:.0f} to {high:.0f}, nine"
        in words
    )
    assert f"CV error of the choice {tree.cv_error_:.0f} 1.1% lower" in words
    assert f"This is {tree.promise_reason_}." in words
    assert (
        f"The nested error is {tree.nested_error_:.0f}, which is slightly low, because it is the lowest "
        "over 11 weights" in words
    )
    assert "not always better than the plain choice" in words


def test_rules_in_words(page):
    steady, plain, steadiest = (
        page(searches.tree(rule=rule)).words for rule in ("steady", "plain", "one_standard_error")
    )
    assert "the smallest one whose choices did best, or within one standard error as well," in steady
    assert "This search was told to do the same (stability weight 0)." in plain
    assert "it takes the one with the lowest instability" in steadiest
    assert "What this search chooses when one fold after the other is put aside" in steadiest
    assert "nan" not in steadiest.split()


def second_best(ledger, view):
    return int(rules.error(ledger, view).argsort()[1])


def test_rule_of_ones_own(page):
    search = searches.tree(rule=second_best)
    words, errors = page(search).words, search.rules_[second_best].view_errors
    assert "This search chose by a rule of your own, second_best." in words
    assert f"To expect on new data {search.promise_**0.5:.3g} " in words
    assert f"it was from {errors.min():.0f} to {errors.max():.0f}" in words


@pytest.mark.parametrize("deliver", ["model", "ensemble"])
def test_what_is_delivered_and_what_else_is_offered(page, deliver):
    search = searches.tree(deliver=deliver)
    result = page(search)
    for kind, offer in search.offers_.items():
        assert f" {kind} {offer.promise:.0f} the " in result.words
    assert result.words.count("(delivered)") == 1
    assert "(delivered)" in result.words.partition(f" {deliver} {search.promise_:.0f} ")[2][:120]
    n = 5 * len(search.offers_["ensemble"].candidates)
    what = f"the weighted average of {n} models of {n // 5} candidates, each trained without one fold"
    assert what in result.words
    assert (f"Delivered in its place: {what}." in result.words) == (deliver == "ensemble")
    assert f"To expect on new data {search.promise_**0.5:.3g} " in result.words
    other = "committee" if deliver == "model" else "model"
    assert f'deliver="{other}" in Python, --deliver {other} on the command line' in result.words


def worst_of_all_data(ledger, view):
    errors = rules.error(ledger, view)
    return int(errors.argmax() if view.split is None else errors.argmin())


@pytest.mark.filterwarnings("ignore:The promise is")
def test_a_choice_that_does_clearly_worse_than_what_was_tried(page):
    search = searches.ridge(rule=worst_of_all_data)
    words = page(search).words
    assert f"To expect on new data {search.cv_error_**0.5:.3g} " in words
    assert f"chosen without each part of the data, {search.nested_error_:.0f}. So this is what" in words
    assert "The choice on all data does worse than what was tried." in words
    assert "disappointment" not in words


def test_all_candidates_are_in_the_table_and_can_be_pointed_at(tree, page):
    result = page(tree)
    assert len(result.json["m0-candidates"]) == 100
    assert len(result.json["m0-weights"]) == 11
    errors = [float(a["data-v"]) for a in result.find("td", "n") if a.get("data-v", "").count(".")]
    for column in ("cv_error", "instability", "regularized_error"):
        assert set(tree.cv_results_[column]) <= set(errors)


def test_wins_are_counted_over_the_outer_folds(tree, page):
    chosen = np.flatnonzero(tree.weights_["weight"] == tree.stability_weight_)[0]
    winners = [tree.weights_[f"split{t}_index"][chosen] for t in range(5)]
    words = page(tree).words
    assert len(re.findall(r"\d of 5", words)) == len(set(winners))
    for winner in set(winners):
        params = tree.cv_results_["params"][winner]
        text = f"max_depth = {params['max_depth']}, min_samples_leaf = {params['min_samples_leaf']}"
        assert f"{text} {winners.count(winner)} of 5" in words


def test_versions_seeds_and_command(tree, page):
    words = page(tree, command="steadycv tune", notes=["3 rows were left out."]).words
    assert "Run this: steadycv tune" in words
    assert "3 rows were left out." in words
    assert "cv=KFold(n_splits=5, random_state=1, shuffle=True)" in words
    assert "seed of random_state 0 in every fit (None was given) seed of the folds 1" in words
    assert "scikit-learn" in words


def test_seeds_are_seen_without_opening_anything(tree, tmp_path):
    page = write_report(tree, tmp_path / "report.html", command="steadycv tune").read_text("utf-8")
    assert "seed of the folds" in page.rpartition("</details>")[2]


def test_a_choice_that_gives_up_next_to_nothing(tree, page):
    search = copy(tree)
    search.cv_results_ = tree.cv_results_ | {"cv_error": tree.cv_results_["cv_error"].copy()}
    plain = search.cv_results_["cv_error"][tree.kfold_index_]
    search.cv_results_["cv_error"][tree.best_index_] = plain * 1.0001
    assert "The steady choice gives up less than 0.1% of CV error" in page(search).words


# Charts.


def places(svg, class_):
    found = [e for e in svg.iter() if class_ in e.get("class", "").split()]
    return {int(e.get("data-i")): (float(e.get("cx")), float(e.get("cy"))) for e in found}


def assert_on_a_line(values, drawn, *, rising):
    """Places are values on a linear scale, to a tenth of a unit."""
    slope, start = np.polyfit(values, drawn, 1)
    assert (slope > 0) == rising
    np.testing.assert_allclose(start + slope * np.asarray(values), drawn, atol=0.1)


def test_frontier_chart_has_a_dot_for_each_candidate_in_its_place(tree):
    data = Frontier.from_search(tree)
    svg = frontier_chart(data, ERRORS)
    dots = places(svg, "dot")
    assert sorted(dots) == sorted(data.in_view)
    x, y = zip(*dots.values(), strict=True)
    shown = list(dots)
    assert_on_a_line(tree.cv_results_["instability"][shown], x, rising=True)
    assert_on_a_line(tree.cv_results_["cv_error"][shown], y, rising=False)
    assert list(places(svg, "strong")) == data.frontier.tolist()
    [steady] = (e for e in svg.iter() if e.get("class") == "mark steady")
    assert (float(steady.get("cx")), float(steady.get("cy"))) == dots[tree.best_index_]
    [plain] = (e for e in svg.iter() if e.get("class") == "mark plain")
    middle = float(plain.get("x")) + 7, float(plain.get("y")) + 7
    assert middle == pytest.approx(dots[tree.kfold_index_])


def test_weights_chart_is_logarithmic_with_room_for_zero(tree):
    svg = weights_chart(WeightPath.from_search(tree), ERRORS, FOLDS)
    x, y = np.array(list(places(svg, "dot").values())).T
    np.testing.assert_allclose(np.diff(x), np.diff(x)[0], atol=0.2)
    assert_on_a_line(tree.weights_["mean_error"], y, rising=False)


def test_heat_map_has_a_cell_for_each_candidate_darker_where_the_error_is_low(tree):
    svg = grid_chart(GridErrors.from_search(tree), ERRORS)
    x, y, cells = ([float(v) for v in svg.get(f"data-{k}").split()] for k in ("x", "y", "cells"))
    assert len(x) == len(y) == 11
    error = {}
    for i, candidate in enumerate(map(int, cells)):
        params = tree.cv_results_["params"][candidate]
        assert (params["max_depth"], params["min_samples_leaf"]) == (1 + i // 10, 1 + 2 * (i % 10))
        corner = f"M{x[i // 10]:g} {y[i % 10]:g}H"
        [level] = (e.get("class") for e in svg.iter("path") if corner in e.get("d"))
        error.setdefault(level, []).append(tree.cv_results_["cv_error"][candidate])
    levels = [error[level] for level in sorted(error)]
    assert len(levels) > 4
    for better, worse in pairwise(levels):
        assert max(better) <= min(worse)


def test_three_axes_are_heat_maps_side_by_side(page):
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5], "max_features": [None, 3]}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=3).fit(*searches.DATA)
    data = GridErrors.from_search(search)
    cells = []
    for panel in data.panels():
        svg = grid_chart(panel, ERRORS)
        assert f"over the grid with {panel.where};" in svg.get("aria-label")
        cells += map(int, svg.get("data-cells").split())
        features = {search.cv_results_["params"][c]["max_features"] for c in panel.candidate.ravel()}
        assert panel.where == f"max_features = {features.pop()}"
        assert not features
    assert sorted(cells) == list(range(12))
    assert "max_features = None" in page(search).words


def test_line_chart_over_a_logarithmic_axis(page):
    search = searches.ridge()
    svg = grid_chart(GridErrors.from_search(search), ERRORS)
    x, y = np.array(list(places(svg, "dot").values())).T
    assert_on_a_line(np.linspace(-3, 4, 15), x, rising=True)
    assert_on_a_line(search.cv_results_["cv_error"], y, rising=False)
    labels = [e.text for e in svg.iter("text") if e.get("class") == "tick middle"]
    assert labels == ["0.01", "1", "100", "10000"]


def test_ticks_tell_close_numbers_apart():
    from steadycv.report.svg import Scale

    for low, high in ((3420.01, 3420.05), (1e-9, 5e-9), (0, 1e12), (-3, 2)):
        ticks = Scale(low, high).ticks()
        assert len({tick.label for tick in ticks}) == len(ticks) > 2


# Searches of all kinds.


def test_classifier_in_words(page):
    words = page(searches.classifier()).words
    assert "% accuracy" in words
    words = page(searches.classifier(loss="log_loss")).words
    assert "log loss: 0 would be perfect" in words


def test_a_score_is_told_as_a_score(page):
    search = searches.classifier(scoring="roc_auc", stability_weights=(0.0, 1.0))
    result = page(search)
    low, high = (f"{-end:.4g}" for end in reversed(search.promise_interval_))
    assert (
        f"To expect on new data {-search.promise_:.4g} roc_auc: 1 would be perfect, and 0.5 is guessing"
        in result.words
    )
    assert f"{low} to {high}, nine times in ten" in result.words
    assert f"CV roc_auc of the choice {-search.cv_error_:.4g}" in result.words
    assert "highest CV roc_auc" in result.words
    assert "Strong colours" not in result.words
    assert "nested roc_auc" in result.words
    assert not re.search(r"CV error|nested error|-0\.9|An error", result.words)
    scores = {float(a["data-v"]) for a in result.find("td", "n") if a.get("data-v", "").count(".")}
    assert set(search.cv_results_["mean_test_score"]) <= scores
    shown = [text for text in result.json["m0-candidates"] if "CV roc_auc 0." in text]
    assert len(shown) == 5


def test_good_scores_are_high_in_the_pictures():
    search = searches.classifier(scoring="roc_auc", stability_weights=(0.0, 1.0))
    words, scores = ErrorWords.of(search), search.cv_results_["mean_test_score"]
    dots = places(frontier_chart(Frontier.from_search(search), words), "dot")
    assert_on_a_line(scores[list(dots)], [y for _, y in dots.values()], rising=False)
    svg = grid_chart(GridErrors.from_search(search), words)
    assert_on_a_line(scores, [y for _, y in places(svg, "dot").values()], rising=False)
    assert f"it is highest, {scores.max():.4g}, at" in svg.get("aria-label")


def test_scores_of_an_area_of_the_grid():
    search = searches.tree(scoring="r2")
    svg = grid_chart(GridErrors.from_search(search), ErrorWords.of(search))
    best, worst = [e.text for e in svg.iter("text") if "tick" in e.get("class", "")][-2:]
    assert float(best) == pytest.approx(search.cv_results_["mean_test_score"].max(), abs=1e-4)
    assert worst.endswith(" or less")


def test_splits_forward_in_time(page):
    search = searches.forward()
    words = page(search).words
    assert "5 splits forward in time" in words
    assert "each predicted by a model that was trained on rows that come before" in words
    assert re.search(r"\d of 4", words)  # the first split has no other inside
    assert "The test rows of 4 splits were predicted" in words
    assert "fold" not in words.replace("TimeSeriesSplit", "").partition("To repeat it")[0]


def test_too_few_views_to_choose_a_weight(page):
    words = page(searches.forward(3)).words
    assert "these splits give 2" in words
    assert "The figure rests on 2 splits only." in words
    assert "slightly low" not in words
    assert "Error on new data for each weight" not in words


def test_no_views_no_nested_error(page):
    words = page(searches.without_views()).words
    assert f"To expect on new data {searches.without_views().promise_ ** 0.5:.3g} " in words
    assert "what the same rule chooses by rows drawn with replacement" in words
    assert "these splits give none" in words
    assert "nested=False" not in words


def test_parts_of_a_list_of_grids(page):
    search = searches.accuracy_of_neighbors()
    result = page(search)
    assert "Errors over the grid, part 1" in result.text
    assert "Errors over the grid, part 2" in result.text
    assert f"an accuracy of about {1 - search.promise_:.1%}" in result.words


def test_fixed_weight_and_repeats(page):
    words = page(searches.repeated()).words
    assert "The weight was fixed beforehand, at 1." in words
    assert "3 folds, 2 times" in words
    assert re.search(r"\d of 6", words)
    assert "slightly low" not in words  # one weight: the nested error is no minimum
    assert "Error on new data for each weight" not in words


def test_without_nesting(page):
    search = searches.ridge(nested=False, stability_weights=0)
    words = page(search).words
    assert f"To expect on new data {search.promise_**0.5:.3g} " in words
    assert "This search was told to do the same (stability weight 0)." in words
    assert "No instability is known" in words
    words = page(searches.ridge(nested=False, stability_weights=2.0)).words
    assert "The weight was fixed beforehand, at 2." in words
    assert "Error and instability of all candidates" in words


def test_a_choice_of_ones_own(page):
    words = page(searches.ridge(refit=lambda results: 3)).words
    assert "picked by a function of your own" in words
    assert (
        "To expect on new data not known There is no promise: a callable refit cannot be asked" in words
    )
    assert "Error on new data for each weight" in words


def test_adaptive_search(page):
    search = searches.tree(search="coordinate")
    looked_at = int((~np.isnan(search.cv_results_["cv_error"])).sum())
    assert looked_at < 100
    words = page(search).words
    assert f"the grid has 100, of which the search looked at {looked_at} (coordinate descent" in words
    assert "not looked at" in words


def test_race(page):
    search = searches.raced()
    words = page(search).words
    left = search.ledger_.left
    n_held = (left[:, 0] == 0).sum()
    assert (
        f"and the grid has 30. They raced: those that were clearly behind left, and {n_held} were"
        in words
    )
    assert "left in round 1" in words
    views = (search.lattice_.final, *search.lattice_.views)
    rounds = np.column_stack([search.ledger_.left_from(view) for view in views])
    held = [((rounds == 0) | (rounds > n)).sum(axis=0) for n in range(rounds.max() + 1)]
    chart = race_chart(np.array(held), FOLDS)
    lines = [line.get("points").split() for line in chart.iter("polyline")]
    assert len(lines) == 6
    for line, of_view in zip([lines[-1], *lines[:-1]], np.transpose(held), strict=True):
        heights = [float(point.split(",")[1]) for point in line]
        assert np.array_equal(np.argsort(heights, kind="stable"), np.argsort(-of_view, kind="stable"))
    assert f"on all data 30 at first and {n_held} in the end" in chart.get("aria-label")


def test_one_candidate(page):
    search = StabilitySearchCV(Ridge(), {"alpha": [1.0]}).fit(*searches.DATA)
    result = page(search)
    assert "The grid has one candidate" in result.words
    assert "1 candidate " in result.words
    assert "Pictures of the choice" not in result.words


def test_no_parameters_at_all(page):
    search = StabilitySearchCV(Ridge(), {}).fit(*searches.DATA)
    assert "Chosen the model as it is" in page(search).words


def test_many_candidates_are_capped(page):
    grid = {"alpha": np.logspace(-3, 3, 1100), "fit_intercept": [True, False]}
    search = StabilitySearchCV(Ridge(), grid, cv=3).fit(*searches.DATA)
    result = page(search)
    assert "The 1000 best of 2200 candidates" in result.words
    assert len(result.find("td", "n")) < 1002 * 4 + 40
    assert len(result.json["m0-candidates"]) == 2200


def test_models_compared(tree, page):
    result = page({"cart": tree, "ridge": searches.ridge(cv=searches.FOLDS)})
    assert "cart and ridge compared" in result.words
    assert "ridge promises the lowest error" in result.words
    ids = [attrs["id"] for _, attrs in result.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"][1:] for attrs in result.find("a")}
    assert targets <= set(ids)


def test_models_are_folded_but_for_the_best(tree, page):
    ridge = searches.ridge(cv=searches.FOLDS)
    result = page({"cart": tree, "ridge": ridge})
    folded = result.find("details", "model")
    assert ["open" in attrs for attrs in folded] == [True, False]
    apart = tree.promise_ - ridge.promise_
    [label] = (a["aria-label"] for a in result.find("svg", "chart") if "each model" in a["aria-label"])
    assert f"ridge 0, 0 to 0; cart {apart:.0f}" in label


def test_models_that_cannot_be_compared(tree, page):
    words = page({"cart": tree, "ridge": searches.repeated()}).words
    assert "tuned for different losses" in words
    words = page({"cart": tree, "ridge": searches.ridge(refit=lambda results: 3)}).words
    assert "It is not known of all models what to expect of them" in words


# Safety.


def test_what_comes_from_outside_stays_text(page):
    search = searches.malicious()
    result = page(
        {EVIL[0]: search, EVIL[1]: search},
        title=EVIL[2],
        data_name=EVIL[1],
        command=EVIL[0],
        notes=EVIL,
    )
    scripts = [attrs for attrs in result.find("script") if attrs.get("type") != "application/json"]
    assert len(scripts) == 1
    assert not result.find("img")
    assert not result.find("b")
    assert not any(name.startswith("on") for _, attrs in result.elements for name in attrs)
    for text in EVIL[:4]:
        assert text in result.text
    assert "failed" in result.words


def test_page_names_nothing_to_load(tree, page):
    result = page(tree)
    loading = [
        attrs[name] for _, attrs in result.elements for name in ("src", "href", "data") if name in attrs
    ]
    assert loading == ["#content"]


def test_pictures_and_tables_say_what_they_are(tree, page):
    result = page({"cart": tree, "knn": searches.accuracy_of_neighbors()})
    assert all(attrs.get("aria-label") for attrs in result.find("svg", "chart"))
    assert len(result.find("caption")) == len(result.find("table"))
    inputs = {attrs["id"] for attrs in result.find("input")}
    assert inputs == {attrs["for"] for attrs in result.find("label")}
    assert result.find("html") == [{"lang": "en"}]


def test_file_is_written_whole_or_not_at_all(tree, tmp_path, monkeypatch):
    path = tmp_path / "new" / "report.html"
    assert write_report(tree, path) == path
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tree, path, title="another")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_title_with_half_a_character(tree, tmp_path):
    text = write_report(tree, tmp_path / "r.html", title="a\ud800b").read_text("utf-8")
    assert "<title>a?b</title>" in text


def test_what_cannot_be_reported_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        write_report(StabilitySearchCV(Ridge(), {"alpha": [1]}), tmp_path / "r.html")
    with pytest.raises(ValueError, match="no search"):
        write_report({}, tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_without_jinja_it_says_what_to_install(tree, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'steadycv\[report\]'"):
        write_report(tree, tmp_path / "r.html")
