"""Candidates of which some have probabilities, or decisions, and others have not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from steadycv import StabilitySearchCV
from steadycv.committees import Committee

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SIGNAL = X[:, 0] + RNG.normal(scale=0.7, size=60)
LABELS = np.array(list("abc"))[(SIGNAL > 0).astype(int) + (X[:, 1] > 0.8)]
FOLDS = KFold(4, shuffle=True, random_state=1)
MODELS = [LogisticRegression(), RidgeClassifier(), DecisionTreeClassifier(max_depth=2, random_state=0)]
GRID = {"model": MODELS}


def pipeline(model):
    return Pipeline([("scale", StandardScaler()), ("model", model)])


def fitted(estimator, grid=GRID, y=LABELS, **how):
    return StabilitySearchCV(estimator, grid, cv=FOLDS, **how).fit(X, y)


def correct(model, X, y):
    """A score of whatever it likes."""
    return float(np.mean(model.predict(X) == y))


@pytest.mark.parametrize("use_paths", [True, False])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", correct])
@pytest.mark.parametrize("base", MODELS)
def test_nobody_is_lost(base, scoring, use_paths):
    y = SIGNAL > 0
    search = fitted(pipeline(base), y=y, scoring=scoring, use_paths=use_paths)
    plain = GridSearchCV(pipeline(base), GRID, cv=FOLDS, scoring=scoring).fit(X, y)
    scores = [f"split{i}_test_score" for i in range(4)]
    for name in scores:
        assert_allclose(search.cv_results_[name], plain.cv_results_[name])


@pytest.mark.parametrize("probability", [True, False])
@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
def test_a_parameter_that_takes_probabilities_away(probability):
    grid = {"probability": [True, False], "C": [0.1, 10.0]}
    search = fitted(SVC(probability=probability, random_state=0), grid)
    plain = GridSearchCV(SVC(random_state=0), grid, cv=FOLDS).fit(X, LABELS)
    assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_outputs_are_labels():
    search = fitted(pipeline(LogisticRegression()))
    assert search.nested_predictions_.dtype == LABELS.dtype
    nested = np.mean([np.mean((search.nested_predictions_ != LABELS)[t]) for _, t in FOLDS.split(X)])
    assert search.nested_error_ == pytest.approx(nested)
    with pytest.raises(ValueError, match="not all candidates"):
        search.predict_set(X)


def votes_of(setting, training_rows, rows):
    """What most models say, and of those that tie the first."""
    said = np.array(
        [clone(pipeline(setting)).fit(X[t], LABELS[t]).predict(X[rows]) for t in training_rows]
    )
    return np.array([(said == label).sum(axis=0) for label in "abc"])


def literal_errors():
    """By candidate and fold, the error of the vote of the models without it and one more."""
    splits, table = list(FOLDS.split(X)), np.empty((3, 4))
    for c, model in enumerate(MODELS):
        for i, (train, test) in enumerate(splits):
            inside = [np.intersect1d(train, t) for j, (t, _) in enumerate(splits) if j != i]
            voted = np.array(list("abc"))[votes_of(model, inside, test).argmax(axis=0)]
            table[c, i] = 1 - accuracy_score(LABELS[test], voted)
    return table


@pytest.mark.parametrize("base", MODELS)
def test_committees_vote_and_are_judged_by_votes(base):
    errors = literal_errors()
    search = fitted(pipeline(base), deliver="committee")
    best = errors.mean(axis=1).argmin()
    chosen = [np.delete(errors, i, axis=1).mean(axis=1).argmin() for i in range(4)]
    assert_allclose(search.offers_["committee"].errors, errors[chosen, range(4)], atol=1e-12)
    assert search.delivered_.params == ({"model": MODELS[best]},)
    votes = votes_of(MODELS[best], [train for train, _ in FOLDS.split(X)], np.arange(60))
    assert_array_equal(search.predict(X), np.array(list("abc"))[votes.argmax(axis=0)])
    assert not hasattr(search, "predict_proba")


def test_ensembles_vote():
    search = fitted(pipeline(LogisticRegression()), deliver="ensemble")
    counts = sum(
        weight * votes_of(params["model"], [train for train, _ in FOLDS.split(X)], np.arange(60))
        for params, weight in zip(search.delivered_.params, search.delivered_.weights, strict=True)
    )
    most = counts > counts.max(axis=0) - 1e-6
    assert_array_equal(search.predict(X), np.array(list("abc"))[most.argmax(axis=0)])


def test_a_student_is_taught_by_votes():
    search = fitted(pipeline(LogisticRegression()), deliver="student")
    assert search.promise_ == pytest.approx(search.offers_["student"].errors.mean())
    assert search.predict(X).shape == (60,)


def test_decisions_that_all_have_are_averaged():
    y, grid = SIGNAL > 0, {"model": MODELS[:2]}
    splits, errors = list(FOLDS.split(X)), np.empty((2, 4))
    for c, model in enumerate(MODELS[:2]):
        for i, (train, test) in enumerate(splits):
            inside = [np.intersect1d(train, t) for j, (t, _) in enumerate(splits) if j != i]
            members = [clone(pipeline(model)).fit(X[t], y[t]) for t in inside]
            said = np.mean([member.decision_function(X[test]) for member in members], axis=0)
            errors[c, i] = -roc_auc_score(y[test], said)
    search = fitted(pipeline(LogisticRegression()), grid, y, scoring="roc_auc", deliver="committee")
    chosen = [np.delete(errors, i, axis=1).mean(axis=1).argmin() for i in range(4)]
    assert_allclose(search.offers_["committee"].errors, errors[chosen, range(4)])
    members = search.best_estimator_.estimators_
    said = np.mean([member.decision_function(X) for member in members], axis=0)
    assert_allclose(search.decision_function(X), said)


@pytest.mark.parametrize("deliver", ["committee", "ensemble", "student"])
def test_what_cannot_be_averaged_is_refused(deliver):
    how = {"y": SIGNAL > 0, "scoring": "roc_auc"}
    with pytest.raises(ValueError, match="decision_function or predict_proba, and not all"):
        fitted(pipeline(LogisticRegression()), deliver=deliver, **how)
    assert fitted(pipeline(LogisticRegression()), **how).offers_.keys() == {"model"}


def test_without_probabilities_there_is_no_log_loss():
    with pytest.warns(FitFailedWarning, match="predict_proba"):
        search = fitted(pipeline(RidgeClassifier()), scoring="neg_log_loss")
    few = fitted(pipeline(LogisticRegression()), {"model": MODELS[::2]}, scoring="neg_log_loss")
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    assert search.promise_ == few.promise_
    assert_array_equal(search.nested_predictions_, few.nested_predictions_)
    assert_array_equal(search.offers_["committee"].errors, few.offers_["committee"].errors)


def test_a_file_knows_those_of_another_kind_as_well(tmp_path):
    path = tmp_path / "ledger"
    fitted(pipeline(LogisticRegression()), {"model": MODELS[:1]}, ledger=path)
    whole = fitted(pipeline(LogisticRegression()), deliver="ensemble")
    for _ in range(2):
        grown = fitted(pipeline(LogisticRegression()), deliver="ensemble", ledger=path)
        assert_array_equal(grown.offers_["ensemble"].errors, whole.offers_["ensemble"].errors)
        assert_array_equal(grown.nested_predictions_, whole.nested_predictions_)
    assert grown.n_fits_ == grown.delivered_.n_members


def test_one_that_comes_late_without_them_fails_as_a_fit():
    """What is kept was settled by those that were there before."""

    def late(grid):
        yield [0]
        yield grid.add([{"loss": "hinge"}])
        return 0

    with pytest.warns(FitFailedWarning, match="SGDClassifier has no predict_proba, by which"):
        search = fitted(SGDClassifier(), {"loss": ["log_loss"]}, search=late, race=False)
    assert search.best_params_ == {"loss": "log_loss"}


# What a search has is there before `fit` as after it.

METHODS = ("predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples")


@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble", "student"])
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RidgeClassifier(), LinearDiscriminantAnalysis(), DecisionTreeClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:RidgeClassifier takes:UserWarning")
@pytest.mark.filterwarnings("ignore:LinearDiscriminantAnalysis takes no sample weights:UserWarning")
def test_what_a_search_has_before_it_has_after(estimator, deliver):
    search = StabilitySearchCV(estimator, {}, cv=FOLDS, deliver=deliver)
    before = [hasattr(search, method) for method in METHODS]
    search.fit(X, LABELS)
    assert [hasattr(search, method) for method in METHODS] == before
    assert before == [hasattr(search.best_estimator_, method) for method in METHODS]
    for method, there in zip(METHODS, before, strict=True):
        if there:
            with np.errstate(divide="ignore"):
                said = [getattr(each, method)(X) for each in (search, search.best_estimator_)]
            assert_array_equal(*said)


def test_without_refit_there_is_nothing_to_ask():
    search = StabilitySearchCV(LogisticRegression(), {}, cv=FOLDS, refit=False)
    assert not any(hasattr(search, method) for method in METHODS)
    assert not any(hasattr(search.fit(X, LABELS), method) for method in METHODS)


# Committees that vote.


def test_a_committee_votes_where_it_is_asked_to():
    trees = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 3)]
    committee = Committee(trees, cv=3, voting="hard").fit(X, LABELS)
    said = np.array([member.predict(X) for member in committee.estimators_])
    counts = np.array([(said == label).sum(axis=0) for label in "abc"])
    assert_array_equal(committee.predict(X), np.array(list("abc"))[counts.argmax(axis=0)])
    assert not hasattr(committee, "predict_proba")
    assert hasattr(Committee(trees), "predict_proba")


def test_voting_is_soft_or_hard():
    with pytest.raises(ValueError, match="voting must be 'soft' or 'hard', got 'loud'"):
        Committee([Ridge()], voting="loud").fit(X, SIGNAL)
