"""The method, literally: Algorithm 1 of the paper, and the formula for any list of splits.

It shares no code with steadycv, which the tests hold against it. `algorithm_1` is the paper's, for
partitions: for loops, and every model fitted each time it is named. `any_splitter` is the one formula
for all splitters, with sets of rows. Where the paper leaves a choice, this file makes the documented
one: means of fold means, sample weights in every mean and in every fit, means over repeats, and of
what ties the first candidate and the smallest weight.
"""

import math
import warnings
from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

TIE = 1e-12


@dataclass
class Literal:
    """What Algorithm 1 finds; lists have the order of the weights or of the candidates."""

    weights: list
    outer_index: list = field(default_factory=list)  # [weight][repeat][fold]
    outer_error: list = field(default_factory=list)  # [weight][repeat][fold]
    mean_outer_error: list = field(default_factory=list)  # [weight]
    weight: float = math.nan
    cv_error: list = field(default_factory=list)  # [candidate]
    instability: list = field(default_factory=list)  # [candidate]
    index_at: list = field(default_factory=list)  # [weight]
    index: int = -1
    params: dict = field(default_factory=dict)
    plain_index: int = -1
    looked_at: set = field(default_factory=set)  # what the final choices asked for
    out_of_fold: list = field(default_factory=list)  # [repeat][sample], of the chosen candidate


@dataclass
class Data:
    """The dataset, the learning algorithm and the loss: what stays the same throughout."""

    estimator: object
    X: object
    y: object
    loss: object
    sample_weight: object = None

    def without(self, *folds):
        return [i for i in range(self.X.shape[0]) if not any(i in fold for fold in folds)]

    def fit_model(self, rows, theta):
        model = clone(self.estimator).set_params(**theta)
        params = {}
        if self.sample_weight is not None:
            step = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
            params[f"{step}sample_weight"] = np.asarray(self.sample_weight)[rows]
        return model.fit(_safe_indexing(self.X, rows), _safe_indexing(self.y, rows), **params)

    def losses(self, rows, theta):
        """The loss at every sample of the model trained on some rows."""
        return np.array(self.loss(self.fit_model(rows, theta), self.X, self.y))

    def mean(self, values, rows):
        weight = np.ones(self.X.shape[0]) if self.sample_weight is None else self.sample_weight
        return sum(weight[i] * values[i] for i in rows) / sum(weight[i] for i in rows)


def algorithm_1(
    estimator,
    candidates,
    X,
    y,
    repeats,
    loss,
    weights,
    *,
    sample_weight=None,
    search=None,
    nested=True,
):
    """Run the algorithm on `repeats`, a list of partitions, each a list of index arrays.

    `loss(model, X, y)` gives the loss at every row. `search` minimises an objective over the
    candidates; all are tried unless it is given.
    """
    data = Data(estimator, X, y, loss, sample_weight)
    search = search or exhaustive(len(candidates))
    repeats = [[set(map(int, fold)) for fold in folds] for folds in repeats]
    found = Literal(weights)

    for weight in weights if nested else []:
        indices, errors = [], []
        for folds in repeats:
            k = len(folds)
            chosen = [search(inner_objective(data, candidates, folds, t, weight)) for t in range(k)]
            m = [
                data.mean(data.losses(data.without(folds[t]), candidates[chosen[t]]), folds[t])
                for t in range(k)
            ]
            indices.append(chosen)
            errors.append(m)
        found.outer_index.append(indices)
        found.outer_error.append(errors)
        found.mean_outer_error.append(sum(sum(m) / len(m) for m in errors) / len(repeats))
    best = first_smallest(found.mean_outer_error) if nested else 0
    found.weight = weights[best]

    for theta in candidates:
        s, mu = zip(*(final_terms(data, theta, folds) for folds in repeats), strict=True)
        found.cv_error.append(sum(s) / len(repeats))
        found.instability.append(sum(mu) / len(repeats))
    found.index_at = [search(final_objective(found, weight)) for weight in weights]
    found.index = found.index_at[best]
    found.params = candidates[found.index]
    found.plain_index = search(final_objective(found, 0.0))
    found.out_of_fold = [out_of_fold(data, found.params, folds) for folds in repeats]
    return found


def inner_objective(data, candidates, folds, t, weight):
    """The inner loop: mean inner CV score plus weight times instability, never looking at fold t."""
    rest = data.without(folds[t])

    def objective(c):
        mu = 0.0
        s = []
        of_rest = data.losses(rest, candidates[c])
        for t2 in range(len(folds)):
            if t2 != t:
                of_train = data.losses(data.without(folds[t], folds[t2]), candidates[c])
                s.append(data.mean(of_train, folds[t2]))
                mu = max(mu, data.mean(abs(of_train - of_rest), rest))
        return sum(s) / (len(folds) - 1) + weight * mu

    return objective


def final_terms(data, theta, folds):
    """The second half of the algorithm: CV error and instability of a candidate."""
    mu = 0.0
    s = []
    of_everything = data.losses(data.without(), theta)
    for fold in folds:
        of_rest = data.losses(data.without(fold), theta)
        s.append(data.mean(of_rest, fold))
        mu = max(mu, data.mean(abs(of_rest - of_everything), data.without()))
    return sum(s) / len(folds), mu


def final_objective(found, weight):
    def objective(c):
        found.looked_at.add(c)
        return found.cv_error[c] + weight * found.instability[c]

    return objective


def out_of_fold(data, theta, folds):
    """What the candidate says of each sample, trained without its fold."""
    outputs = {}
    for fold in folds:
        model = data.fit_model(data.without(fold), theta)
        for i in fold:
            row = _safe_indexing(data.X, [i])
            if hasattr(model, "predict_proba"):
                probability = dict(zip(model.classes_, model.predict_proba(row)[0], strict=True))
                outputs[i] = [probability.get(c, 0.0) for c in sorted(set(data.y))]
            else:
                outputs[i] = model.predict(row)[0]
    return np.array([outputs[i] for i in range(len(outputs))])


# Searches: what minimises an objective over the candidates.


def first_smallest(values):
    smallest = min(values)
    return next(i for i, value in enumerate(values) if value <= smallest + TIE * abs(smallest))


def exhaustive(n_candidates):
    return lambda objective: first_smallest([objective(c) for c in range(n_candidates)])


def coordinate(param_grid):
    """The paper's cyclic coordinate descent, on each dict of the grid by itself."""
    grids = [param_grid] if isinstance(param_grid, dict) else param_grid
    first = np.cumsum([0, *(math.prod(map(len, axes.values())) for axes in grids)])

    def search(objective):
        found = []
        for start, axes in zip(first[:-1], grids, strict=True):
            index_of = {setting: start + i for i, setting in enumerate(_settings(axes))}
            setting = _descend(axes, lambda setting, index_of=index_of: objective(index_of[setting]))
            found.append(index_of[setting])
        return int(found[first_smallest([objective(c) for c in found])])

    return search


def _settings(axes):
    """Positions on the axes, in the order of scikit-learn's ParameterGrid: by name, last fastest."""
    by_name = sorted(axes)
    for positions in product(*(range(len(axes[name])) for name in by_name)):
        at = dict(zip(by_name, positions, strict=True))
        yield tuple(at[name] for name in axes)


def _descend(axes, objective):
    sizes = [len(values) for values in axes.values()]
    setting = tuple((size - 1) // 2 for size in sizes)
    been_at = []
    for _ in range(10):
        been_at.append(setting)
        for axis in range(len(sizes) - 1, -1, -1):
            line = [(*setting[:axis], i, *setting[axis + 1 :]) for i in range(sizes[axis])]
            setting = line[first_smallest([objective(point) for point in line])]
        if setting in been_at:
            break
    return setting


# Any list of splits.


@dataclass
class View:
    """A seat from which a choice is made; rows are lists in increasing order."""

    reference: list  # the training set of what would be delivered from here
    judged: list  # the rows that the delivered model is judged on, none for a final view
    evaluations: dict  # number of the split: (training rows, rows judged on)


def views(splits, n_samples, *, counts=None, last_window=False):
    """The outer views by the number of their split, and the final views, one for each repeat.

    `counts(training, judged)` says of rows that are there whether they make an evaluation: whether
    there is weight and a defined score. With `last_window` the final reference of rolling windows is
    no longer all rows but as many of the last as the last split trains on.

    What the design does not say: rows that a split names twice (a bootstrap) are refused here. A split
    of the list itself without a training or a test row is an error; only what lies inside a view is
    skipped. Being judged is an evaluation too: where test_i has no weight or no defined score there is
    no view i. Whether windows roll is asked of the whole list, not of each repeat, and their last split
    is the one that comes last in that order.
    """
    splits = checked(splits, n_samples)
    rolling = are_rolling_windows(splits)
    everything = list(range(n_samples))
    if last_window:
        if not rolling:
            raise ValueError("Only rolling windows have a last window.")
        size = len(max(splits, key=lambda split: (max(split[0]), min(split[0])))[0])
        everything = everything[n_samples - size :]

    def evaluations(block, inside):
        found = {}
        for j in block:
            training, judged = sorted(splits[j][0] & inside), sorted(splits[j][1] & inside)
            if training and judged and (counts is None or counts(training, judged)):
                found[j] = (training, judged)
        return found

    outer, final = {}, []
    for block in repeats(splits):
        final.append(View(everything, [], evaluations(block, set(range(n_samples)))))
        for i in block:
            train, test = splits[i]
            seen = set(range(max(train) + 1)) if rolling else train
            inner = evaluations([j for j in block if j != i], seen)
            if inner and i in final[-1].evaluations:
                outer[i] = View(sorted(train), sorted(test), inner)
    return outer, final


def checked(splits, n_samples):
    """Pairs of sets of rows, given as numbers or as masks."""
    splits = [(rows_of(train), rows_of(test)) for train, test in splits]
    if not splits:
        raise ValueError("There are no splits.")
    for number, (train, test) in enumerate(splits):
        if not train or not test:
            raise ValueError(f"Split {number} has no row to train or to validate on.")
        if train & test:
            raise ValueError(f"Split {number} trains on rows that it validates on.")
        if min(train | test) < 0 or max(train | test) >= n_samples:
            raise ValueError(f"Split {number} has rows that the data do not have.")
    return splits


def rows_of(index):
    index = np.asarray(index)
    if index.dtype == bool:
        return {i for i in range(len(index)) if index[i]}
    rows = {int(i) for i in index}
    if len(rows) < len(index):
        raise ValueError("A split names a row twice.")
    return rows


def repeats(splits):
    """The numbers of the splits, in blocks that are repeats of one another, or in one block."""
    tests = [test for _, test in splits]
    length, union = 0, set()
    while length < len(tests) and not union & tests[length]:
        union |= tests[length]
        length += 1
    if length < 3 or length == len(tests) or len(tests) % length:
        return [range(len(tests))]
    blocks = [range(i, i + length) for i in range(0, len(tests), length)]
    for block in blocks:
        rows = [row for j in block for row in tests[j]]
        if set(rows) != union or len(rows) != len(union):
            return [range(len(tests))]
    return blocks


def are_rolling_windows(splits):
    for train, test in splits:
        if max(train) - min(train) + 1 != len(train) or max(train) >= min(test):
            return False
    first_rows = [first for _, first in sorted((max(train), min(train)) for train, _ in splits)]
    return all(a <= b for a, b in pairwise(first_rows)) and first_rows[-1] > first_rows[0]


@dataclass
class Found:
    """What `any_splitter` finds; lists have the order of the weights or of the candidates."""

    weights: list
    outer: dict  # number of the split: View
    final: list  # of View, one for each repeat
    cv_error: list = field(default_factory=list)  # [candidate]
    instability: list = field(default_factory=list)  # [candidate]
    outer_index: dict = field(default_factory=dict)  # number of the split: [weight]
    outer_error: dict = field(default_factory=dict)  # number of the split: [weight]
    mean_outer_error: list = field(default_factory=list)  # [weight], none without a view
    weight: float = math.nan
    index_at: list = field(default_factory=list)  # [weight]
    index: int = -1
    plain_index: int = -1
    nested_error: float = math.nan  # not a number without a view
    out_of_fold: object = None  # [sample], or with repeats [repeat][sample]
    nested_predictions: object = None  # the same; None without a view
    n_training_sets: int = 0
    n_plain_sets: int = 0  # those of plain cross-validation
    without_weight: bool = False  # whether an evaluation was skipped because no row has weight
    undefined_score: bool = False  # or because its score is not defined


def any_splitter(
    estimator,
    candidates,
    X,
    y,
    splits,
    loss,
    weights,
    *,
    sample_weight=None,
    score=None,
    nested=True,
    last_window=False,
):
    """The search on any list of (train, test) pairs.

    `loss(model, X, y)` gives the loss at every row. With `score(model, X, y)`, which is given the
    rows' `sample_weight` too where there is one, the error is minus the score, and the instability
    stays that of the loss.

    What the design does not say: a skipped evaluation leaves out the change of its training set and
    its out-of-fold predictions too, and so takes no fit. The floors are about choosing a weight, so
    that a single weight that was given stays; otherwise weight 0 is tried whether given or not. Where
    a view or a repeat has no evaluation, means are over those that have one.
    """
    models = Models(Data(estimator, X, y, loss, sample_weight), candidates, score)
    outer, final = views(splits, X.shape[0], counts=models.counts, last_window=last_window)
    counted = [view for view in final if view.evaluations]
    if not counted:
        raise ValueError("There is no split with an evaluation.")
    outer = outer if nested else {}
    weights = sorted(set(map(float, weights)))
    is_free = nested and len(weights) > 1
    if is_free and len(outer) < 3:
        weights = sorted({0.0, *weights})
    found = Found(weights, outer, final)
    found.without_weight = models.without_weight
    found.undefined_score = models.undefined_score
    each = range(len(candidates))

    for c in each:
        errors, largest_changes = [], []
        for view in counted:
            errors_here, change = models.terms(view, c)
            errors += errors_here
            largest_changes.append(change)
        found.cv_error.append(sum(errors) / len(errors))
        found.instability.append(sum(largest_changes) / len(largest_changes))

    for i, view in outer.items():
        terms = [models.terms(view, c) for c in each]
        found.outer_index[i] = [
            first_smallest([sum(errors) / len(errors) + weight * change for errors, change in terms])
            for weight in weights
        ]
        found.outer_error[i] = [
            models.error(view.reference, view.judged, c) for c in found.outer_index[i]
        ]
    if outer:
        found.mean_outer_error = [
            sum(errors[w] for errors in found.outer_error.values()) / len(outer)
            for w in range(len(weights))
        ]

    at = 0
    if is_free:
        at = first_smallest(found.mean_outer_error) if len(outer) >= 3 else weights.index(0.0)
    found.weight = weights[at]
    found.index_at = [
        first_smallest([found.cv_error[c] + weight * found.instability[c] for c in each])
        for weight in weights
    ]
    found.index = found.index_at[at]
    found.plain_index = first_smallest(found.cv_error)

    found.out_of_fold = models.averaged(
        [(training, rows, found.index) for training, rows in view.evaluations.values()] for view in final
    )
    if outer:
        found.nested_error = found.mean_outer_error[at]
        found.nested_predictions = models.averaged(
            [
                (outer[i].reference, outer[i].judged, found.outer_index[i][at])
                for i in block
                if i in outer
            ]
            for block in repeats(checked(splits, X.shape[0]))
        )

    plain = {tuple(training) for view in final for training, _ in view.evaluations.values()}
    inner = {tuple(training) for view in outer.values() for training, _ in view.evaluations.values()}
    references = {tuple(view.reference) for view in [*counted, *outer.values()]}
    found.n_plain_sets = len(plain)
    found.n_training_sets = len(plain | inner | references)
    return found


class Models:
    """The candidates' models. One is named by its rows, so that it need not be fitted twice."""

    def __init__(self, data, candidates, score):
        self.data, self.candidates, self.score = data, candidates, score
        self.fitted = {}
        self.known_losses = {}
        self.known_scores = {}
        self.without_weight = False
        self.undefined_score = False

    def model(self, rows, c):
        key = (tuple(rows), c)
        if key not in self.fitted:
            self.fitted[key] = self.data.fit_model(list(rows), self.candidates[c])
        return self.fitted[key]

    def losses(self, rows, c):
        """The loss at every sample of the model trained on some rows."""
        key = (tuple(rows), c)
        if key not in self.known_losses:
            data = self.data
            self.known_losses[key] = np.array(data.loss(self.model(rows, c), data.X, data.y))
        return self.known_losses[key]

    def counts(self, training, judged):
        """Whether there is weight, and a score that is defined for some candidate."""
        weight = self.data.sample_weight
        if weight is not None and sum(weight[i] for i in judged) == 0:
            self.without_weight = True
            return False
        if self.score is None:
            return True
        scores = [self.score_on(training, judged, c) for c in range(len(self.candidates))]
        if all(math.isnan(score) for score in scores):
            self.undefined_score = True
            return False
        return True

    def score_on(self, training, rows, c):
        """Not a number where it is not defined."""
        key = (tuple(training), tuple(rows), c)
        if key not in self.known_scores:
            data, weight = self.data, {}
            if data.sample_weight is not None:
                weight["sample_weight"] = np.asarray(data.sample_weight)[rows]
            X, y = _safe_indexing(data.X, rows), _safe_indexing(data.y, rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    score = float(self.score(self.model(training, c), X, y, **weight))
                except ValueError:  # how some scores say it
                    score = math.nan
            self.known_scores[key] = score
        return self.known_scores[key]

    def error(self, training, rows, c):
        if self.score is not None:
            return -self.score_on(training, rows, c)
        return self.data.mean(self.losses(training, c), rows)

    def terms(self, view, c):
        """The errors of a candidate seen from a view, and its instability."""
        errors, largest = [], 0.0
        of_reference = self.losses(view.reference, c)
        for training, rows in view.evaluations.values():
            errors.append(self.error(training, rows, c))
            change = abs(self.losses(training, c) - of_reference)
            largest = max(largest, self.data.mean(change, view.reference))
        return errors, largest

    def outputs(self, training, rows, c):
        """Probabilities of all classes where the model has them, else its predictions."""
        model, X = self.model(training, c), _safe_indexing(self.data.X, rows)
        if not hasattr(model, "predict_proba"):
            return np.asarray(model.predict(X), dtype=float)
        classes = sorted(set(self.data.y))
        return np.array([[p.get(k, 0.0) for k in classes] for p in _probabilities(model, X)])

    def averaged(self, by_repeat):
        """The mean of what is said of each row, one array for each repeat where there are several.

        `by_repeat` has for each repeat a list of (training rows, rows, candidate).
        """
        arrays = []
        for said in by_repeat:
            of_row = [[] for _ in range(self.data.X.shape[0])]
            for training, rows, c in said:
                for i, output in zip(rows, self.outputs(training, rows, c), strict=True):
                    of_row[i].append(output)
            arrays.append(of_row)
        shape = next(np.shape(o) for of_row in arrays for outputs in of_row for o in outputs)
        nothing = np.full(shape, math.nan)
        means = np.array([[sum(o) / len(o) if o else nothing for o in of_row] for of_row in arrays])
        return means if len(means) > 1 else means[0]


# Losses: plain formulas, one sample at a time; of several outputs, the mean.


def of_predictions(formula):
    def losses(model, X, y):
        return [
            np.mean([formula(t, p) for t, p in zip(np.ravel(true), np.ravel(predicted), strict=True)])
            for true, predicted in zip(np.asarray(y), model.predict(X), strict=True)
        ]

    return losses


def poisson_formula(t, p):
    return 2 * ((t * math.log(t / p) if t > 0 else 0.0) - t + p)


def pinball(alpha):
    return of_predictions(lambda t, p: alpha * (t - p) if t >= p else (1 - alpha) * (p - t))


def zero_one(model, X, y):
    return [float(np.any(t != p)) for t, p in zip(np.asarray(y), model.predict(X), strict=True)]


def log_loss(model, X, y):
    eps = np.finfo(np.float64).eps
    return [
        -math.log(min(max(probability.get(t, 0.0), eps), 1 - eps))
        for t, probability in zip(y, _probabilities(model, X), strict=True)
    ]


def brier(model, X, y):
    classes = sorted(set(y))
    counted = classes[1:] if len(classes) == 2 else classes
    return [
        sum((probability.get(c, 0.0) - (c == t)) ** 2 for c in counted)
        for t, probability in zip(y, _probabilities(model, X), strict=True)
    ]


def _probabilities(model, X):
    return [dict(zip(model.classes_, row, strict=True)) for row in model.predict_proba(X)]


LOSSES = {
    "squared_error": of_predictions(lambda t, p: (t - p) ** 2),
    "absolute_error": of_predictions(lambda t, p: abs(t - p)),
    "poisson_deviance": of_predictions(poisson_formula),
    "gamma_deviance": of_predictions(lambda t, p: 2 * (math.log(p / t) + t / p - 1)),
    "zero_one": zero_one,
    "log_loss": log_loss,
    "brier": brier,
}
