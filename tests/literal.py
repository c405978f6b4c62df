"""Algorithm 1 of the paper, literally: for loops, and every model fitted each time it is named.

It shares no code with steadycv, which the tests hold against it. Where the paper leaves a choice,
this file makes the documented one: means of fold means, sample weights in every mean and in every
fit, means over repeats, and of what ties the first candidate and the smallest weight.
"""

import math
from dataclasses import dataclass, field
from itertools import product

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
    kfold_index: int = -1
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
    found.kfold_index = search(final_objective(found, 0.0))
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
            if data.loss in LOSSES_OF_PROBABILITIES:
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
LOSSES_OF_PROBABILITIES = (log_loss, brier)
