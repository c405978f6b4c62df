"""Stability weights: which are tried, and which is taken where few views can choose."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

from steadycv import StabilitySearchCV, rules
from steadycv.lattice import Lattice
from steadycv.weights import chosen_row, table_weights, too_few_views, weights_to_run

X = np.random.default_rng(0).normal(size=(20, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(size=20)
MANY, FEW, NONE = (Lattice(cv.split(X), 20) for cv in (KFold(4), TimeSeriesSplit(3), KFold(2)))
ONE_OR_TWO = np.array([0.5, 2.0])


def table(lattice, errors):
    return {"weight": np.arange(len(errors[0]))} | {
        f"split{view.split}_error": np.array(row)
        for view, row in zip(lattice.views, errors, strict=True)
    }


def test_the_rule_chooses_where_enough_views_do():
    errors = [[5.0, 4.0], [5.0, 5.1], [5.0, 4.9], [5.0, 5.1]]
    assert chosen_row("paper", MANY, table(MANY, errors)) == 1
    assert chosen_row("steady", MANY, table(MANY, errors)) == 0


def test_few_views_take_the_first_weight():
    assert chosen_row("paper", FEW, table(FEW, [[5.0, 1.0], [5.0, 1.0]])) == 0
    assert table_weights(FEW, ONE_OR_TWO) == [0.0, 0.5, 2.0]
    assert table_weights(MANY, ONE_OR_TWO) == [0.5, 2.0]
    assert table_weights(FEW, ONE_OR_TWO[:1]) == [0.5]


def test_weight_0_is_tried_where_it_costs_nothing():
    assert weights_to_run(MANY, ONE_OR_TWO, everywhere=True) == ([0.0, 0.5, 2.0], [0.0, 0.5, 2.0])
    assert weights_to_run(MANY, ONE_OR_TWO, everywhere=False) == ([0.0, 0.5, 2.0], [0.5, 2.0])
    assert weights_to_run(NONE, ONE_OR_TWO, everywhere=True) == ([0.0, 0.5, 2.0], [])


@pytest.mark.parametrize(
    ("lattice", "rule", "line"),
    [
        (NONE, "steady", "The plain choice is made"),
        (NONE, "plain", "The plain choice is made"),
        (NONE, "one_standard_error", "The rule chooses all the same"),
        (FEW, "one_standard_error", "The nested error rests on 2 views only"),
    ],
)
def test_what_few_views_can_do_is_said(lattice, rule, line):
    weights = ONE_OR_TWO if rule == "steady" else np.zeros(1)
    assert line in " ".join(too_few_views(lattice, weights, rule))


@pytest.mark.parametrize("cv", [KFold(2), TimeSeriesSplit(3)], ids=str)
def test_a_rule_of_candidates_needs_no_views(cv):
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 10.0, 99.0]}, cv=cv, rule="one_standard_error")
    with pytest.warns(UserWarning, match="nested"):
        search.fit(X, Y)
    ledger = search.ledger_
    assert search.best_index_ == rules.one_standard_error(ledger, search.lattice_.final)
    chosen = [rules.one_standard_error(ledger, view) for view in search.lattice_.views]
    assert search.rules_["one_standard_error"].view_candidates.tolist() == chosen
    assert hasattr(search, "nested_error_") == bool(chosen)
