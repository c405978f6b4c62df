"""The bootstrap of out-of-fold outputs, against the authors' algorithm with scikit-learn's metrics."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_squared_error,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeavePGroupsOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from steadycv import bootstrap
from steadycv.bootstrap import NoBootstrapError, bootstrap_promise
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss, Rows, Scored
from steadycv.scores import find_score
from steadycv.scoring import Judging, Scores

N, C, B = 60, 7, 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = RNG.normal(size=N)
CLASSES = np.array(["no", "perhaps", "yes"])
LABELS = CLASSES[(Y > -0.3).astype(int) + (Y > 0.6)]
TWO = (Y > 0.5).astype(int)
WEIGHT = RNG.uniform(size=N)
GROUPS = RNG.integers(15, size=N)
FOLDS = KFold(4, shuffle=True, random_state=0)
REPEATED = RepeatedKFold(n_splits=3, n_repeats=3, random_state=0)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    assert bootstrap.N_RESAMPLES == 200
    monkeypatch.setattr(bootstrap, "N_RESAMPLES", B)


def said(n_splits, *shape):
    """What candidates say of everybody, by split: numbers, some better than others."""
    noise = np.linspace(0.6, 1.2, C).reshape(C, 1, *[1] * len(shape))
    target = Y.reshape(N, *[1] * len(shape)) if not shape else (LABELS[:, None] == CLASSES) * 2.0
    return [target + noise * RNG.normal(size=(C, N, *shape)) for _ in range(n_splits)]


def shares(numbers):
    return np.exp(numbers) / np.exp(numbers).sum(axis=2, keepdims=True)


def mean_loss(name, y=Y, weight=None, classes=None):
    measure = MeanLoss.of(LOSSES[name], y)
    return Judging(measure, None, 0.0, None, measure.loss, weight, classes)


def scored(y, scorer, weight=None, *, raises=False):
    name, common = "score", find_score(scorer)
    known = None if y.dtype.kind == "f" else np.unique(y)
    scores = Scores(
        X=X,
        y=y,
        common={} if common is None else {name: common},
        equal={name: scorer},
        weights={name: weight},
        scorer=None if common is not None else scorer,
        names=(name,),
        classes=known,
        raises=raises,
    )
    return Judging(Scored(scores, name, None), name, 0.0, None, None, weight, known)


def promised(cv, judging, method, tables, *, penalty=None, groups=None, y=LABELS):
    lattice = Lattice(
        cv.split(X, y, groups),
        N,
        nested=False,
        undefined=lambda rows: judging.measure.undefined(Rows(rows, judging.weight, N)),
    )

    def outputs(split, candidates):
        return {method: tables[split][candidates][:, lattice.splits[split].test]}

    penalty = np.zeros(C) if penalty is None else penalty
    return bootstrap_promise(lattice, judging, outputs, penalty=penalty, groups=groups)


def literal(cv, error, tables, *, penalty=None, units=None, groups=None, y=LABELS):
    """BBC-CV, row by row: `error(rows, outputs)` of one candidate, at every turn."""
    units = np.arange(N) if units is None else units
    penalty = np.zeros(C) if penalty is None else penalty
    repeats = []  # by row, the split that tests it
    for split, (_, test) in enumerate(cv.split(X, y, groups)):
        free = [repeat for repeat in repeats if not any(row in repeat for row in test)]
        if not free:
            repeats.append({})
            free = repeats[-1:]
        free[0].update(dict.fromkeys(test, split))
    tested = [row for row in range(N) if any(row in repeat for repeat in repeats)]
    known = sorted({units[row] for row in tested})

    def mean_error(candidate, rows):
        errors = []
        for repeat in repeats:
            own = [row for row in rows if row in repeat]
            if own:
                said = [tables[repeat[row]][candidate][row] for row in own]
                errors.append(error(np.array(own), np.array(said)))
        return sum(errors) / len(errors)

    found, number = [], 0
    while len(found) < B:
        draws = np.random.default_rng((0, number)).integers(len(known), size=len(known))
        number += 1
        times = {unit: list(draws).count(i) for i, unit in enumerate(known)}
        inside = [row for row in tested for _ in range(times[units[row]])]
        outside = [row for row in tested if times[units[row]] == 0]
        try:
            errors = [
                mean_error(c, inside) + penalty[c] if np.isfinite(penalty[c]) else np.inf
                for c in range(C)
            ]
            found.append(mean_error(int(np.argmin(errors)), outside))
        except ZeroDivisionError:  # it is not defined there
            continue
    return found


def squares(rows, outputs):
    return mean_squared_error(Y[rows], outputs)


@pytest.mark.parametrize(
    "cv", [FOLDS, REPEATED, ShuffleSplit(3, test_size=0.3, random_state=0)], ids=str
)
def test_mean_loss(cv):
    tables = said(9)
    found = promised(cv, mean_loss("squared_error"), "predict", tables)
    assert found.errors == pytest.approx(literal(cv, squares, tables), rel=1e-12)
    assert found.promise == pytest.approx(found.errors.mean())


def test_sample_weights_count_as_often_as_rows_are_drawn():
    tables = said(4)
    found = promised(FOLDS, mean_loss("squared_error", weight=WEIGHT), "predict", tables)
    expected = literal(FOLDS, lambda i, p: mean_squared_error(Y[i], p, sample_weight=WEIGHT[i]), tables)
    assert found.errors == pytest.approx(expected, rel=1e-12)


def test_probabilities():
    tables = [shares(t) for t in said(4, 3)]
    found = promised(FOLDS, mean_loss("log_loss", LABELS, classes=CLASSES), "predict_proba", tables)
    expected = literal(FOLDS, lambda i, p: log_loss(LABELS[i], p, labels=CLASSES), tables)
    assert found.errors == pytest.approx(expected, rel=1e-12)


def test_labels_that_are_text():
    tables = [CLASSES[t.argmax(axis=2)] for t in said(4, 3)]
    tables[2] = np.where(tables[2] == "perhaps", "no", tables[2])  # shorter texts in one split
    judging = mean_loss("zero_one", LABELS)
    found = promised(FOLDS, judging, "predict", tables)
    expected = literal(FOLDS, lambda i, p: 1 - accuracy_score(LABELS[i], p), tables)
    assert found.errors == pytest.approx(expected, abs=1e-12)


def auc(weight=None):
    def error(rows, outputs):
        if len(set(TWO[rows])) < 2:
            raise ZeroDivisionError
        share = None if weight is None else weight[rows]
        return -roc_auc_score(TWO[rows], outputs, sample_weight=share)

    return error


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("cv", [FOLDS, REPEATED], ids=str)
def test_area_under_the_curve(cv, weight):
    tables = said(9)
    judging = scored(TWO, get_scorer("roc_auc"), weight)
    found = promised(cv, judging, "decision_function", tables)
    assert found.errors == pytest.approx(literal(cv, auc(weight), tables), rel=1e-12)


def test_a_score_that_is_no_mean_is_that_of_pooled_outputs():
    tables = said(4)
    judging = scored(Y, get_scorer("neg_root_mean_squared_error"))
    found = promised(FOLDS, judging, "predict", tables)
    expected = literal(FOLDS, lambda i, p: root_mean_squared_error(Y[i], p), tables)
    assert found.errors == pytest.approx(expected, rel=1e-12)


def test_any_scorer():
    def half_right(y, p):
        return f1_score(y, p, pos_label="yes", average="binary", zero_division=0)

    tables = [np.where(t > 0.6, "yes", "no") for t in said(4)]
    y = np.where(LABELS == "yes", "yes", "no")
    found = promised(FOLDS, scored(y, make_scorer(half_right)), "predict", tables)
    expected = literal(FOLDS, lambda i, p: -half_right(y[i], p), tables)
    assert found.errors == pytest.approx(expected, rel=1e-12)


def test_who_has_no_number_for_a_score_is_never_chosen():
    def strange(y, p):
        return np.nan if p[0] > 100 else -mean_squared_error(y, p)

    tables = said(4)
    for table in tables:
        table[3] += 1000
    found = promised(FOLDS, scored(Y, make_scorer(strange)), "predict", tables)
    assert found.errors == pytest.approx(literal(FOLDS, squares, tables), rel=1e-12)


def test_resamples_where_a_score_is_not_defined_are_passed_over():
    rare = np.zeros(N, dtype=int)
    rare[[3, 30, 45]] = 1
    tables = said(3)

    def error(rows, outputs):
        if len(set(rare[rows])) < 2:
            raise ZeroDivisionError
        return -roc_auc_score(rare[rows], outputs)

    cv = StratifiedKFold(3)
    judging = scored(rare, get_scorer("roc_auc"))
    found = promised(cv, judging, "decision_function", tables, y=rare)
    assert found.errors == pytest.approx(literal(cv, error, tables, y=rare), rel=1e-12)


@pytest.mark.parametrize(
    ("cv", "groups"), [(GroupKFold(5), GROUPS), (LeavePGroupsOut(2), GROUPS % 5)], ids=["", "pairs"]
)
def test_whole_groups_are_drawn_where_splits_keep_them_together(cv, groups):
    tables = said(10)
    found = promised(cv, mean_loss("squared_error"), "predict", tables, groups=groups)
    expected = literal(cv, squares, tables, units=groups, groups=groups)
    assert found.errors == pytest.approx(expected, rel=1e-12)
    names = np.array([f"patient {g:02}" for g in groups], dtype=object)
    named = promised(cv, mean_loss("squared_error"), "predict", tables, groups=names)
    assert named.promise == found.promise


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_rows_are_drawn_where_splits_do_not_keep_groups_together():
    tables = said(4)
    judging = mean_loss("squared_error")
    with_groups = promised(FOLDS, judging, "predict", tables, groups=GROUPS)
    assert with_groups.promise == promised(FOLDS, judging, "predict", tables).promise


def test_instability_counts_in_every_resample_and_failures_never():
    tables = said(4)
    tables[1][2] = np.nan  # it failed
    penalty = np.array([0.2, 0.0, np.inf, 0.05, 0.1, np.nan, 0.0])
    found = promised(FOLDS, mean_loss("squared_error"), "predict", tables, penalty=penalty)
    expected = literal(FOLDS, squares, tables, penalty=np.where(np.isnan(penalty), np.inf, penalty))
    assert found.errors == pytest.approx(expected, rel=1e-12)
    plain = promised(FOLDS, mean_loss("squared_error"), "predict", said(4))
    assert plain.promise != found.promise


def test_rows_that_are_never_validated_are_left_out():
    tables = said(3)
    cv = ShuffleSplit(1, test_size=0.4, random_state=1)
    found = promised(cv, mean_loss("squared_error"), "predict", tables)
    assert found.errors == pytest.approx(literal(cv, squares, tables), rel=1e-12)


def test_memory_is_bounded_and_changes_nothing(monkeypatch):
    tables = said(9)
    at_once = promised(REPEATED, mean_loss("squared_error"), "predict", tables)
    monkeypatch.setattr(bootstrap, "NUMBERS_AT_ONCE", 2 * N)
    in_blocks = promised(REPEATED, mean_loss("squared_error"), "predict", tables)
    assert (in_blocks.errors == at_once.errors).all()


@pytest.mark.parametrize(
    "cv",
    [TimeSeriesSplit(4), TimeSeriesSplit(4, gap=2), TimeSeriesSplit(4, max_train_size=9)],
    ids=str,
)
def test_refused_in_time_order(cv):
    with pytest.raises(NoBootstrapError, match=r"in time order: .* nested=True"):
        promised(cv, mean_loss("squared_error"), "predict", said(4))


def test_refused_where_too_few_resamples_can_be_judged():
    one = np.zeros(N, dtype=int)
    one[7] = 1
    judging = scored(one, get_scorer("roc_auc"))
    cv = ShuffleSplit(1, test_size=0.9, random_state=0)
    with pytest.raises(NoBootstrapError, match=r"0 of 2000 resamples of 54 rows could be judged"):
        promised(cv, judging, "decision_function", said(1))


def test_refused_where_a_scorer_asks_for_the_models():
    judging = scored(Y, lambda model, X, y: -model.coef_[0], raises=True)
    with pytest.raises(NoBootstrapError, match="asks for more than what models say"):
        promised(FOLDS, judging, "predict", said(4))


def test_interval():
    found = bootstrap.BootstrapPromise(2.0, np.linspace(1.0, 3.0, 201))
    assert found.interval() == pytest.approx((1.1, 2.9))
    assert found.interval(0.5) == pytest.approx((1.5, 2.5))


def test_the_best_of_many_guessers_is_promised_to_guess():
    """Honest where the CV error is not: what is chosen by luck is worth what the others are worth."""
    cv_errors, promises = [], []
    for _ in range(30):
        y = RNG.integers(2, size=N)
        guesses = RNG.integers(2, size=(40, N))
        judging = mean_loss("zero_one", y)
        cv_errors.append((guesses != y).mean(axis=1).min())
        found = promised(FOLDS, judging, "predict", [guesses] * 4, penalty=np.zeros(40), y=y)
        promises.append(found.promise)
    assert np.mean(cv_errors) < 0.4
    assert np.mean(promises) == pytest.approx(0.5, abs=0.02)
