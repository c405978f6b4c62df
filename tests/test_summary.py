"""The summary says what was chosen and what to expect."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KernelDensity
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV, rules
from steadycv.error_words import ErrorWords
from steadycv.lattice import Lattice
from steadycv.split_words import SplitWords
from steadycv.summary import in_markdown
from steadycv.words import number

DATA = load_diabetes(return_X_y=True)
CLASSES = load_breast_cancer(return_X_y=True)
GRID = {"max_depth": [1, 2, 3]}


def sentences(search):
    """What the summary says under its table."""
    told = " ".join(search.summary().split("\n\n")[-1].split())
    kinds = "On new data expect|There is no promise|Predicting the|By the same fits"
    return [each for each in re.split(f" (?={kinds})", told) if not each.startswith("Predicting")]


def miss(error):
    """A typical miss, as it is told."""
    return f"{error**0.5:.3g}"


def test_both_choices_side_by_side():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)
    about = " ".join(search.summary().partition("\n\n")[0].split())
    assert about == (
        "DecisionTreeRegressor on 442 rows in 5 folds: 3 candidates, judged by the mean squared error."
    )
    lines = search.summary().partition("\n\n")[2].splitlines()
    assert lines[0].split() == ["plain", "choice", "steady", "choice"]
    assert lines[2].split() == ["max_depth", "2", "2"]
    assert lines[3].split()[-1] == number(search.cv_error_)
    assert lines[4].split()[-1] == f"{search.instability_:.4g}"
    assert lines[6].split()[-1] == f"{search.nested_error_:.4g}"
    assert max(map(len, lines[8:])) < 80
    low, high = search.promise_interval_
    delivered, expected, others = sentences(search)
    assert delivered == "Delivered: the choice, fitted on all data."
    on_folds = search.offers_["model"].errors
    assert expected.startswith(
        f"On new data expect a typical miss of about {miss(search.promise_)} in the units of the "
        f"target ({miss(min(on_folds))} to {miss(max(on_folds))} over the folds). The mean squared "
        f"error behind it is about {search.promise_:.4g} ({low:.4g} to {high:.4g}, nine times in ten). "
        "The CV error of the choice is "
    )
    committee = search.offers_["committee"].promise
    assert others.startswith(
        f"By the same fits, a committee of 5 fold models promises a typical miss of {miss(committee)} "
        f'instead of {miss(search.promise_)} (deliver="committee"), an ensemble of '
    )


@pytest.mark.parametrize(
    ("deliver", "what"),
    [
        ("committee", "the average of the 5 models of max_depth = 3, each trained without one fold"),
        ("ensemble", "the weighted average of 10 models of 2 candidates, each trained without one fold"),
        (
            "student",
            "a single model, max_depth = 3, that learned from the target and, to 50%, what the "
            "committee says",
        ),
    ],
)
def test_what_is_delivered_in_place_of_the_choice(deliver, what):
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, deliver=deliver).fit(*DATA)
    delivered, expected, others = sentences(search)
    assert delivered == f"Delivered: {what}."
    assert expected.startswith(f"On new data expect a typical miss of about {miss(search.promise_)} ")
    assert expected.endswith("nine times in ten).")
    assert f'instead of {miss(search.promise_)} (deliver="model")' in others
    assert f'deliver="{deliver}"' not in others


@pytest.mark.parametrize("weight", [0, 1.0])
def test_without_nesting_the_bootstrap_promises(weight):
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, nested=False, stability_weights=weight)
    text = " ".join(search.fit(*DATA).summary().split())
    assert "nested" not in text
    assert f"behind it is about {search.promise_:.4g} (" in text
    assert "over the folds" not in text
    assert "By the same fits" not in text
    assert ("not known" if weight == 0 else f"{search.instability_:.4g}") in text


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"refit": lambda results: 0}, "a callable refit cannot be asked to choose again"),
        ({"nested": False, "cv": TimeSeriesSplit(5), "stability_weights": 0}, "in time order"),
    ],
)
def test_why_nothing_is_promised(how, why):
    _, told = sentences(StabilitySearchCV(DecisionTreeRegressor(), GRID, **how).fit(*DATA))
    assert told.startswith("There is no promise: ")
    assert why in told


def worst_of_all_data(ledger, view):
    errors = rules.error(ledger, view)
    return int(errors.argmax() if view.split is None else errors.argmin())


def test_a_choice_that_does_clearly_worse_than_what_was_tried():
    grid = {"min_samples_leaf": [20, 200]}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, rule=worst_of_all_data)
    with pytest.warns(UserWarning, match="The promise is"):
        search.fit(*DATA)
    _, expected, _ = sentences(search)
    assert f"behind it is about {search.cv_error_:.4g} (" in expected
    assert (
        "It is the CV error of the choice. The choice does clearly worse than what was chosen without "
        f"each part of the data, whose nested error is {search.nested_error_:.4g}." in expected
    )


def test_one_view_and_a_score_have_no_interval():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=TimeSeriesSplit(2), scoring="r2")
    with pytest.warns(UserWarning, match="The stability weight is 0"):
        text = search.fit(*DATA).summary()
    told = " ".join(text.split())
    assert f"expect an r2 of about {-search.promise_:.4g}: 1 would be perfect" in told
    assert "nine times in ten" not in told


def test_nothing_is_delivered_without_refit():
    text = StabilitySearchCV(DecisionTreeRegressor(), GRID, refit=False).fit(*DATA).summary()
    assert "Delivered" not in text
    assert "expect a typical miss" in text


def test_a_grid_whose_candidates_have_different_parameters():
    grid = [{"max_depth": [1]}, {"min_samples_leaf": [5]}]
    text = (
        StabilitySearchCV(DecisionTreeRegressor(), grid, stability_weights=[1, 2]).fit(*DATA).summary()
    )
    assert "max_depth" in text
    assert "min_samples_leaf" in text


def of_classes(scoring, **options):
    options = {"stability_weights": [0, 1], **options}
    grid = {"max_depth": range(1, 8)}
    search = StabilitySearchCV(DecisionTreeClassifier(), grid, scoring=scoring, **options)
    return search.fit(*CLASSES)


def test_a_score_is_told_as_a_score():
    search = of_classes("roc_auc")
    text = search.summary()
    low, high = (f"{-end:.4g}" for end in reversed(search.promise_interval_))
    assert "CV roc_auc  " in text
    assert "instability (share of wrong predictions)" in text
    assert f"{search.best_score_:.4g}" in text
    _, expected, others = sentences(search)
    assert (
        f"over the folds; {low} to {high}, nine times in ten): 1 would be perfect, and 0.5 is guessing. "
        "The CV roc_auc of the choice is" in expected
    )
    higher = search.best_score_ >= -search.promise_
    assert expected.endswith(f"{'higher' if higher else 'lower'}.")
    committee = -search.offers_["committee"].promise
    assert f"a committee of 5 fold models promises a roc_auc of {committee:.4g} instead of" in others
    assert "error" not in text
    assert "-0." not in text


def share_of_ones(y, predictions):
    return np.mean(predictions == 1)


@pytest.mark.parametrize(
    ("scoring", "options", "name", "is_score"),
    [
        ("balanced_accuracy", {}, "balanced_accuracy", True),
        ({"a": "accuracy", "b": "roc_auc"}, {"refit": "b"}, "b", True),
        (make_scorer(share_of_ones), {}, "share_of_ones", True),
        (make_scorer(max_error, greater_is_better=False), {}, "max error", False),
        (lambda model, X, y: model.score(X, y), {}, "score", True),
        ("accuracy", {}, "share of wrong predictions", False),
        (None, {}, "share of wrong predictions", False),
        ("neg_log_loss", {"loss": "zero_one"}, "log loss", False),
    ],
)
def test_what_is_judged_has_a_name(scoring, options, name, is_score):
    words = ErrorWords.of(of_classes(scoring, **options))
    assert (words.name, words.is_score) == (name, is_score)


def test_models_without_targets():
    X, _ = DATA
    search = StabilitySearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}, cv=3).fit(X)
    assert ErrorWords.of(search).name == "score"
    told = " ".join(search.summary().split())
    assert f"expect a score of about {-search.nested_error_:.4g}" in told


def test_without_views_the_bootstrap_promises():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=2)
    with pytest.warns(UserWarning, match="No nested cross-validation"):
        text = search.fit(*DATA).summary()
    told = " ".join(text.split())
    assert "nested" not in told
    assert f"behind it is about {search.promise_:.4g} (" in told


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (KFold(4), "4 folds"),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "3 folds, 2 times"),
        (TimeSeriesSplit(4), "4 splits forward in time"),
        (ShuffleSplit(6, random_state=0), "6 splits"),
        (PredefinedSplit([-1] * 6 + [0, 0, 1, 1, 2, 2]), "3 splits"),
    ],
)
def test_splits_in_words(cv, words):
    lattice = Lattice(cv.split(range(12)), n_samples=12)
    assert SplitWords.of(lattice).in_words == words


def test_single_rows_have_no_range():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=KFold(8))
    X, y = DATA
    told = search.fit(X[:72], y[:72]).summary()
    assert "typical miss" in told
    assert "over the folds" not in told


def test_the_baseline_in_human_units():
    told = " ".join(of_classes("accuracy").summary().split())
    right = CLASSES[1].mean()  # the commoner class, in stratified folds
    assert f"Predicting the base rate has an accuracy of {right:.1%} on the same folds;" in told
    assert "of its mistakes are avoided." in told


def test_markdown():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)
    about, table, *paragraphs = search.summary("markdown").split("\n\n")
    assert "442 rows" in about
    head, rule, depth, *_ = table.splitlines()
    assert head == "|  | plain choice | steady choice |"
    assert rule == "| --- | ---: | ---: |"
    assert depth.startswith("| max\\_depth | ")
    in_text = search.summary().partition("Delivered")[2].split()
    assert " ".join(paragraphs).partition("Delivered")[2].split() == in_text
    assert in_markdown("a|b `c`\nd") == "a\\|b \\`c\\` d"


def test_other_formats_are_refused():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)
    with pytest.raises(ValueError, match="format must be 'text' or 'markdown', got 'html'"):
        search.summary(format="html")
