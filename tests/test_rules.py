"""Rules: arithmetic on a ledger, as a view sees it."""

from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ParameterGrid, RepeatedKFold, TimeSeriesSplit

import literal
from steadycv import StabilitySearchCV, rules
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger

LATTICE = Lattice(KFold(3).split(range(12)), 12)


def ledger(lattice=LATTICE, n_candidates=4, seed=0, **how):
    filled = Ledger(lattice, n_candidates, **how)
    rng = np.random.default_rng(seed)
    filled.error[:] = rng.exponential(size=filled.error.shape)
    filled.change[:] = rng.exponential(size=filled.change.shape)
    return filled


def test_error_is_the_mean_over_evaluations():
    known = ledger()
    assert rules.error(known, LATTICE.final) == pytest.approx(known.error[:, :3].mean(axis=1))
    view = LATTICE.views[1]
    assert rules.error(known, view, [2]) == pytest.approx(known.error[2, view.evaluations].mean())


def test_instability_is_the_largest_change():
    known = ledger()
    for view in (LATTICE.final, *LATTICE.views):
        assert_array_equal(rules.instability(known, view), known.change[:, view.comparisons].max(axis=1))


def test_instability_of_repeats_is_the_mean_of_the_largest():
    repeated = Lattice(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(range(12)), 12)
    known = ledger(repeated)
    changes = known.change[:, repeated.final.comparisons]
    expected = (changes[:, :3].max(axis=1) + changes[:, 3:].max(axis=1)) / 2
    assert rules.instability(known, repeated.final) == pytest.approx(expected)


def test_what_is_not_known_stays_so():
    known = ledger()
    known.error[1, 0] = known.change[2, 0] = np.nan
    assert np.isnan(rules.error(known, LATTICE.final)).tolist() == [False, True, False, False]
    assert np.isnan(rules.instability(known, LATTICE.final)).tolist() == [False, False, True, False]


@pytest.mark.parametrize("failed_error", [np.inf, 7.0])
def test_what_a_failure_counts_as(failed_error):
    known = ledger(failed_error=failed_error)
    known.error[1, 0] = np.inf
    rest = known.error[1, 1:3].sum()
    assert rules.error(known, LATTICE.final)[1] == pytest.approx((failed_error + rest) / 3)


@pytest.mark.parametrize("failed_error", [np.inf, 0.0, -np.inf])
def test_what_has_no_number_for_a_score_is_never_chosen(failed_error):
    known = ledger(failed_error=failed_error)
    known.error[1, 0] = -np.inf
    assert rules.error(known, LATTICE.final)[1] == np.inf
    known.error[1, LATTICE.views[0].judged] = -np.inf
    assert rules.judged_errors(known, np.array([1, 2, 3]))[0] == np.inf


def test_a_choice_is_judged_where_it_was_not_made():
    known, chosen = ledger(), np.array([[3, 0], [-1, 1], [2, 2]])
    expected = [
        [known.error[c, v.judged] for c in row] for v, row in zip(LATTICE.views, chosen, strict=True)
    ]
    expected[1][0] = np.inf
    assert_array_equal(rules.judged_errors(known, chosen), expected)
    assert_array_equal(rules.judged_errors(known, chosen[:, 0]), [row[0] for row in expected])


def test_regularized_error():
    error, instability = np.array([1.0, 2.0]), np.array([3.0, np.nan])
    assert_array_equal(rules.regularized_error(error, instability, 0.0), error)
    assert_array_equal(rules.regularized_error(error, instability, 2.0), [7.0, np.nan])


@pytest.mark.parametrize(
    ("errors", "first", "rank"),
    [
        ([3.0, 1.0, 2.0], 1, [3, 1, 2]),
        ([0.3, 0.1 + 0.2, 0.4], 0, [1, 1, 3]),
        ([0.1 + 0.2, 0.3, 0.1], 2, [2, 2, 1]),
        ([np.nan, 2.0, np.inf, 2.0], 1, [3, 1, 3, 1]),
        ([np.inf, np.inf], 0, [1, 1]),
        ([-1.0, -1.0 - 1e-14, 5.0], 0, [1, 1, 3]),
        ([0.0, 0.0], 0, [1, 1]),
    ],
)
def test_the_first_of_ties(errors, first, rank):
    assert rules.first_minimum(np.array(errors)) == first
    assert rules.rank(np.array(errors)).tolist() == rank


# Which weight.


def steady_literally(errors):
    """The smallest weight within a standard error of the best; `errors` has a list for each weight."""
    means = [mean(of_views) for of_views in errors]
    best = min(range(len(errors)), key=means.__getitem__)
    for w, of_views in enumerate(errors):
        excess = [a - b for a, b in zip(of_views, errors[best], strict=True)]
        if w == best or mean(excess) <= stdev(excess) / sqrt(len(excess)):
            return w
    return None


def test_steady_weight_is_the_smallest_within_a_standard_error():
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        errors = rng.normal(size=(5, 1)) + rng.normal(0.2 * rng.normal(size=4), 0.2, size=(5, 4))
        found.append(rules.choose_weight("steady", errors))
        assert found[-1] == steady_literally(errors.T.tolist())
        assert rules.choose_weight("paper", errors) == errors.mean(axis=0).argmin()
    assert set(found) == {0, 1, 2, 3}


def test_weights_that_tie_are_chosen_from_the_smallest():
    errors = np.array([[0.3, 0.1 + 0.2, 0.2], [0.1 + 0.2, 0.3, 0.4], [0.5, 0.5, 0.5]])
    assert [rules.choose_weight(rule, errors) for rule in ("paper", "steady")] == [0, 0]
    lower = errors - [0.0, 0.1 + 1e-14, 0.1]
    assert [rules.choose_weight(rule, lower) for rule in ("paper", "steady")] == [1, 1]


def test_weight_without_a_choice_somewhere_is_not_chosen():
    errors = np.array([[np.inf, 5.0, 4.0], [1.0, 5.0, 4.0], [1.0, 5.0, 4.0]])
    assert [rules.choose_weight(rule, errors) for rule in ("paper", "steady")] == [2, 2]
    assert rules.choose_weight("steady", np.full((3, 2), np.inf)) == 0


def test_a_weight_can_be_chosen_by_any_views():
    errors = np.array([[5.0, 5.0], [5.0, 5.0], [9.0, 1.0]])
    assert [rules.choose_weight("paper", errors[views]) for views in ([0, 1, 2], [0, 1])] == [1, 0]
    assert rules.choose_weight("steady", errors[[2]]) == 1  # of one view there is no standard error


# Which candidate.


def test_candidate_of_the_lowest_regularized_error_by_weight():
    known = ledger()
    for view in (LATTICE.final, *LATTICE.views):
        error, instability = rules.error(known, view), rules.instability(known, view)
        expected = [error.argmin(), (error + 0.5 * instability).argmin()]
        assert_array_equal(rules.weighted_choices(error, instability, [0.0, 0.5]), expected)
    known.error[:, 0] = np.inf
    assert rules.weighted_choices(rules.error(known, LATTICE.final), instability, [0.5]) == [-1]


def test_with_weight_0_the_instability_need_not_be_known():
    error, instability = np.array([2.0, 1.0, np.nan]), np.array([0.1, np.inf, 0.1])
    assert_array_equal(rules.weighted_choices(error, instability, [0.0, 1.0]), [1, 0])


def test_one_standard_error_takes_the_steadiest_of_the_good():
    found = []
    for seed in range(100):
        known = ledger(n_candidates=6, seed=seed)
        for view in (LATTICE.final, *LATTICE.views):
            errors = [known.error[c, view.evaluations].tolist() for c in range(6)]
            changes = known.change[:, view.comparisons].max(axis=1)
            best = min(range(6), key=lambda c: mean(errors[c]))
            limit = mean(errors[best]) + stdev(errors[best]) / sqrt(len(errors[best]))
            good = [c for c in range(6) if mean(errors[c]) <= limit]
            found.append(rules.one_standard_error(known, view))
            assert found[-1] == min(good, key=changes.__getitem__)
    assert set(found) == set(range(6))


def test_one_standard_error_where_little_is_known():
    known = ledger()
    known.error[:2, 0] = np.inf
    known.change[2:] = np.inf
    assert rules.one_standard_error(known, LATTICE.final) in (2, 3)
    known.error[:] = np.inf
    assert rules.chosen_by(rules.one_standard_error, known, LATTICE.final) == -1
    forward = Lattice(TimeSeriesSplit(4).split(range(15)), 15)
    known, [first, *_] = ledger(forward), forward.views
    best = known.error[:, first.evaluations[0]].argmin()  # one evaluation has no standard error
    assert rules.one_standard_error(known, first) == best


def test_a_rule_sees_what_its_view_sees():
    known, seen = ledger(), []
    known.fit_time[:], known.test_scores["r2"] = 1.0, np.ones((4, 3))
    for view in (LATTICE.final, *LATTICE.views):
        rules.chosen_by(lambda ledger, view: seen.append(ledger) or 0, known, view)
        assert_array_equal(np.flatnonzero(~np.isnan(seen[-1].error[0])), np.sort(view.evaluations))
        assert_array_equal(np.flatnonzero(~np.isnan(seen[-1].change[0])), np.sort(view.comparisons))
        assert_array_equal(rules.error(seen[-1], view), rules.error(known, view))
        assert_array_equal(seen[-1].fit_time, known.fit_time)
    assert [list(each.test_scores) for each in seen] == [["r2"], [], [], []]


@pytest.mark.parametrize("choice", [4, -1, 1.0, None, "2"])
def test_a_rule_returns_a_candidate(choice):
    def mine(ledger, view):
        return choice

    with pytest.raises(ValueError, match=f"from 0 to 3; mine returned {choice!r}"):
        rules.chosen_by(mine, ledger(), LATTICE.final)


# Whole searches, against models that are fitted one by one.

RNG = np.random.default_rng(36)
X = RNG.normal(size=(40, 8))
Y = X[:, 0] + 2 * RNG.normal(size=40)
ALPHAS = {"alpha": [0.01, 10.0, 30.0, 100.0]}
WEIGHTS = [0.0, 0.1, 1.0, 10.0]
CV = KFold(5)


def second_best(ledger, view):
    return int(np.argsort(rules.error(ledger, view))[1])


class Seen:
    """What a view sees of each candidate."""

    def __init__(self, models, view):
        self.each = range(len(models.candidates))
        terms = [models.terms(view, c) for c in self.each]
        self.errors = [mean(errors) for errors, _ in terms]
        self.standard_errors = [stdev(errors) / sqrt(len(errors)) for errors, _ in terms]
        self.changes = [change for _, change in terms]
        judged = view.judged or view.reference  # the final view is judged nowhere
        self.judged = [models.error(view.reference, judged, c) for c in self.each]

    def lowest(self, numbers, among=None):
        return min(self.each if among is None else among, key=numbers.__getitem__)

    def weighted(self, weight):
        return self.lowest([e + weight * c for e, c in zip(self.errors, self.changes, strict=True)])

    def one_standard_error(self):
        best = self.lowest(self.errors)
        limit = self.errors[best] + self.standard_errors[best]
        return self.lowest(self.changes, [c for c in self.each if self.errors[c] <= limit])

    def second_best(self):
        return sorted(self.each, key=self.errors.__getitem__)[1]


@pytest.fixture(scope="module")
def seen():
    """By view, the final one last."""
    data = literal.Data(Ridge(), X, Y, literal.LOSSES["squared_error"], None)
    models = literal.Models(data, list(ParameterGrid(ALPHAS)), None)
    outer, [final] = literal.views(CV.split(X), len(X))
    return [Seen(models, view) for view in (*outer.values(), final)]


def expected_choices(rule, seen):
    if rule in ("one_standard_error", second_best):
        return [getattr(view, getattr(rule, "__name__", rule))() for view in seen]
    chosen = [[view.weighted(weight) for view in seen] for weight in WEIGHTS]
    errors = [[view.judged[c] for view, c in zip(seen[:-1], row[:-1], strict=True)] for row in chosen]
    best = min(range(len(WEIGHTS)), key=lambda w: mean(errors[w]))
    return chosen[{"plain": 0, "paper": best, "steady": steady_literally(errors)}[rule]]


@pytest.mark.parametrize("rule", ["paper", "steady", "plain", "one_standard_error", second_best])
def test_what_a_rule_chooses_is_nested(rule, seen):
    weights = WEIGHTS if rule in rules.CHOOSE_WEIGHT else "auto"
    search = StabilitySearchCV(Ridge(), ALPHAS, cv=CV, rule=rule, stability_weights=weights).fit(X, Y)
    *inner, final = expected_choices(rule, seen)
    taken = search.rules_[rule]
    assert taken.candidate == search.best_index_ == final
    assert taken.params == search.best_params_ == {"alpha": ALPHAS["alpha"][final]}
    assert taken.view_candidates.tolist() == inner
    assert_allclose(taken.view_errors, [v.judged[c] for v, c in zip(seen[:-1], inner, strict=True)])
    assert search.nested_error_ == taken.nested_error == pytest.approx(taken.view_errors.mean())
    assert search.cv_error_ == taken.cv_error == pytest.approx(seen[-1].errors[final])
    assert_array_equal(taken.weight, search.stability_weight_)
    for (train, test), c in zip(CV.split(X), inner, strict=True):
        model = Ridge(alpha=ALPHAS["alpha"][c]).fit(X[train], Y[train])
        assert_allclose(search.nested_predictions_[test], model.predict(X[test]))


def test_rules_differ_on_these_data(seen):
    named = ["paper", "steady", "plain", "one_standard_error", second_best]
    assert len({tuple(expected_choices(rule, seen)) for rule in named}) >= 4
