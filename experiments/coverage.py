"""Coverage and width of intervals for single predictions: the figures of docs/intervals.md.

Models are searched on a hundred made-up rows, and a thousand new rows say how often their target is in
its interval of 90 %. A cell of a problem and a learner that the file of results has is not done again.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ParameterGrid, RepeatedKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import SparseRidge, StabilitySearchCV
from steadycv.intervals import class_sets, covering_quantile, cv_plus_interval, residual_interval
from steadycv.paths.plan import plan
from steadycv.paths.protocol import PathData

ROWS, NEW, COVERAGE, DRAWS = 100, 1000, 0.9, 300
RESULTS = Path(__file__).parent / "results" / "coverage.csv"
COLUMNS = ["problem", "learner", "method", "draws", "coverage", "coverage_se", "width", "width_se"]
MODEL, COMMITTEE, CV_PLUS = "residuals", "residuals, committee", "CV+"

Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


class Learner(NamedTuple):
    """An estimator, and what its search is given."""

    estimator: Any
    grid: dict[str, Any]
    options: dict[str, Any] = {}  # noqa: RUF012


def seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def linear(noise: Callable[[np.ndarray, np.random.Generator], np.ndarray], columns: int = 8) -> Draw:
    def draw(n, rng):
        X = rng.normal(size=(n, columns))
        return X, X[:, :5].sum(axis=1) + noise(X, rng)

    return draw


def steps(n, rng):
    X = rng.uniform(size=(n, 6))
    return X, 4 * (X[:, 0] > 0.5) + 2 * (X[:, 1] > 0.3) * (X[:, 2] > 0.6) + rng.normal(0, 0.7, n)


NUMBERS: dict[str, Draw] = {
    "friedman1": lambda n, rng: make_friedman1(n, noise=1, random_state=seed(rng)),
    "friedman2": lambda n, rng: make_friedman2(n, noise=125, random_state=seed(rng)),
    "friedman3": lambda n, rng: make_friedman3(n, noise=0.1, random_state=seed(rng)),
    "heavy tails": linear(lambda X, rng: 1.5 * rng.standard_t(3, len(X))),
    "uneven noise": linear(lambda X, rng: (0.5 + 2 * abs(X[:, 0])) * rng.normal(size=len(X))),
    "skewed noise": linear(lambda X, rng: 2 * rng.exponential(size=len(X))),
    "sparse, 40 columns": linear(lambda X, rng: 1.5 * rng.normal(size=len(X)), columns=40),
    "steps": steps,
}
REGRESSORS = {
    "trees": Learner(
        DecisionTreeRegressor(), {"max_depth": range(1, 9), "min_samples_leaf": [1, 2, 5, 10]}
    ),
    "ridge": Learner(Ridge(), {"alpha": np.logspace(-3, 4, 15)}),
    "sparse ridge": Learner(
        SparseRidge(1, standardize=True), {"sparsity": [1, 2, 3, 4], "gamma": [0.1, 1.0, 10.0]}
    ),
    "neighbours": Learner(
        KNeighborsRegressor(), {"n_neighbors": range(1, 21), "weights": ["uniform", "distance"]}
    ),
    "forests": Learner(RandomForestRegressor(20), {"max_depth": [2, 4, 8], "min_samples_leaf": [1, 5]}),
}


def classes(n_classes: int, apart: float) -> Draw:
    def draw(n, rng):
        return make_classification(
            n,
            n_features=8,
            n_informative=4,
            n_classes=n_classes,
            n_clusters_per_class=1,
            class_sep=apart,
            flip_y=0.05,
            random_state=seed(rng),
        )

    return draw


CLASSES = {"2 classes": classes(2, 0.6), "3 classes": classes(3, 1.0), "5 classes": classes(5, 1.2)}
_TREE_GRID = {"max_depth": range(1, 9), "min_samples_leaf": [1, 2, 5, 10]}
CLASSIFIERS = {
    "trees": Learner(DecisionTreeClassifier(), _TREE_GRID),
    "trees by Brier score": Learner(DecisionTreeClassifier(), _TREE_GRID, {"loss": "brier"}),
    "logistic": Learner(LogisticRegression(solver="newton-cholesky"), {"C": np.logspace(-3, 2, 6)}),
    "neighbours": Learner(KNeighborsClassifier(), {"n_neighbors": range(1, 31)}),
}


def series(drift: float, growth: float = 0.0) -> Draw:
    """A linear rule that drifts by random steps, and noise that grows."""

    def draw(n, rng):
        X = rng.normal(size=(n, 8))
        rule = 1 + np.cumsum(rng.normal(scale=drift, size=(n, 8)), axis=0)
        return X, (X * rule).sum(axis=1) + rng.normal(scale=1 + growth * np.arange(n) / n)

    return draw


SERIES = {"steady": series(0.0), "drifting": series(0.05), "doubling-noise": series(0.0, growth=1.0)}


# What is covered by an interval, and how wide it is.


def covered(y, interval, weight=None):
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    return np.average(inside, weights=weight), np.mean(interval[:, 1] - interval[:, 0])


def covered_by_sets(y, sets):
    return np.mean(sets[np.arange(len(y)), y]), np.mean(sets.sum(axis=1))


def signed_interval(predictions, residuals):
    """What was not taken: a quantile for each side."""
    one_side = (1 + COVERAGE) / 2
    low, high = covering_quantile(-residuals, one_side), covering_quantile(residuals, one_side)
    return np.column_stack([predictions - low, predictions + high])


def adaptive_sets(probabilities, nested, y):
    """What was not taken: the most probable classes, until their sum is enough."""

    def sums(p):
        order = np.argsort(-p, axis=1)
        found = np.empty_like(p)
        np.put_along_axis(found, order, np.take_along_axis(p, order, axis=1).cumsum(axis=1), axis=1)
        return found

    needed = covering_quantile(sums(nested)[np.arange(len(y)), y], COVERAGE)
    sets = sums(probabilities) <= needed + 1e-12
    sets[np.arange(len(sets)), probabilities.argmax(axis=1)] = True
    return sets


class Committee:
    """The committee of a search: what it says, and what it would have said without each row."""

    def __init__(self, search, X, y, method="predict"):
        settings = list(ParameterGrid(search.param_grid))
        groups = plan(search.estimator, settings, X, y, methods=(method,))
        prepared = [group.path.prepare(group.estimator, X, y) for group in groups]
        lattice, self._outputs = search.lattice_, []
        for rows in map(lattice.rows, range(lattice.n_training_sets)):
            outputs = {}
            for group, ready in zip(groups, prepared, strict=True):
                data = PathData(X, y, rows, X[rows], y[rows], {}, (method,), prepared=ready)
                said = group.path.outputs(group.estimator, [settings[c] for c in group.members], data)[
                    method
                ]
                outputs |= dict(zip(group.members.tolist(), said, strict=True))
            self._outputs.append(np.stack([outputs[c] for c in range(len(settings))]))
        self._lattice = lattice
        n, views = lattice.n_samples, lattice.views
        tests = [lattice.splits[view.split].test for view in views]
        seen = [self._mean(view)[:, test] for view, test in zip(views, tests, strict=True)]
        errors = np.stack(
            [_losses(search, y[test], said).mean(axis=1) for said, test in zip(seen, tests, strict=True)]
        )
        self.nested = np.full((n, *seen[0].shape[2:]), np.nan)
        for i, test in enumerate(tests):
            self.nested[test] = seen[i][np.delete(errors, i, axis=0).mean(axis=0).argmin()]
        self.new = self._mean(lattice.final)[errors.mean(axis=0).argmin(), n:]

    def models(self, candidate):
        """What the models of the splits say of the new rows."""
        lattice = self._lattice
        sets = [lattice.training_set_of(split) for split in range(len(lattice.splits))]
        return np.stack([self._outputs[each][candidate, lattice.n_samples :] for each in sets])

    def _mean(self, view):
        sets = [self._lattice.evaluations[e].training_set for e in view.evaluations]
        return np.mean([self._outputs[each] for each in sets], axis=0)


def _losses(search, y, said):
    if said.ndim == 2:
        return (said - y) ** 2
    if search.loss == "brier":
        return ((said - np.eye(said.shape[2])[y]) ** 2).sum(axis=2)
    return said.argmax(axis=2) != y


# The cells: by method, coverage and width in one draw.


def searched(learner, X, y, cv, **params):
    search = StabilitySearchCV(learner.estimator, learner.grid, cv=cv, **learner.options)
    return search.fit(X[:ROWS], y[:ROWS], **params)


def numbers(draw, learner, seed):
    X, y = draw(ROWS + NEW, np.random.default_rng(seed))
    known, new = y[:ROWS], y[ROWS:]
    search = searched(learner, X, y, KFold(5, shuffle=True, random_state=seed))
    committee, said = Committee(search, X, y), search.predict(X[ROWS:])
    nested = known - search.nested_predictions_
    out_of_fold = known - search.out_of_fold_predictions_
    outputs, tests = committee.models(search.best_index_), [s.test for s in search.lattice_.splits]
    intervals = {
        MODEL: residual_interval(said, nested, COVERAGE),
        "signed residuals": signed_interval(said, nested),
        "residuals of the choice": residual_interval(said, out_of_fold, COVERAGE),
        COMMITTEE: residual_interval(committee.new, known - committee.nested, COVERAGE),
        "signed residuals, committee": signed_interval(committee.new, known - committee.nested),
        CV_PLUS: cv_plus_interval(outputs, tests, out_of_fold, COVERAGE),
    }
    return {method: covered(new, interval) for method, interval in intervals.items()}


def repeats(draw, learner, seed):
    X, y = draw(ROWS + NEW, np.random.default_rng(seed))
    search = searched(learner, X, y, RepeatedKFold(n_splits=5, n_repeats=3, random_state=seed))
    said, nested = search.predict(X[ROWS:]), y[:ROWS] - search.nested_predictions_
    residuals = {"three repeats, together": nested, "three repeats, their means": nested.mean(axis=0)}
    return {
        method: covered(y[ROWS:], residual_interval(said, each, COVERAGE))
        for method, each in residuals.items()
    }


def weighted(draw, learner, seed):
    X, y = draw(ROWS + NEW, np.random.default_rng(seed))
    weight = np.exp(X[:, 0])
    cv = KFold(5, shuffle=True, random_state=seed)
    search = searched(learner, X, y, cv, sample_weight=weight[:ROWS])
    said, nested = search.predict(X[ROWS:]), y[:ROWS] - search.nested_predictions_
    with_weights = residual_interval(said, nested, COVERAGE, weight[:ROWS])
    return {
        "sample weights": covered(y[ROWS:], with_weights, weight[ROWS:]),
        "sample weights, not used": covered(
            y[ROWS:], residual_interval(said, nested, COVERAGE), weight[ROWS:]
        ),
    }


def in_time(draw, learner, seed):
    ahead = 20
    X, y = draw(ROWS + ahead, np.random.default_rng(seed))
    search = searched(learner, X, y, TimeSeriesSplit(5))
    nested = y[:ROWS] - search.nested_predictions_
    interval = residual_interval(search.predict(X[ROWS:]), nested, COVERAGE)
    return {"residuals, in time order": covered(y[ROWS:], interval)}


def sets(draw, learner, seed):
    X, y = draw(ROWS + NEW, np.random.default_rng(seed))
    known, new = y[:ROWS], y[ROWS:]
    search = searched(learner, X, y, StratifiedKFold(5, shuffle=True, random_state=seed))
    committee = Committee(search, X, y, "predict_proba")
    model = (search.predict_proba(X[ROWS:]), search.nested_predictions_, known)
    average = (committee.new, committee.nested, known)
    return {
        "probable enough": covered_by_sets(new, class_sets(*model, COVERAGE)),
        "probable enough, committee": covered_by_sets(new, class_sets(*average, COVERAGE)),
        "sum of probabilities": covered_by_sets(new, adaptive_sets(*model)),
        "sum of probabilities, committee": covered_by_sets(new, adaptive_sets(*average)),
    }


def cells() -> Iterator[tuple[str, str, Callable[[int], dict[str, tuple[float, float]]]]]:
    """Problem, learner, and a draw of them by its number."""
    some = {name: REGRESSORS[name] for name in ("trees", "ridge")}
    for kind, problems, learners in (
        (numbers, NUMBERS, REGRESSORS),
        (sets, CLASSES, CLASSIFIERS),
        (repeats, {f"{name}, repeats": NUMBERS[name] for name in ("friedman1", "steps")}, some),
        (weighted, {"uneven noise, weights": NUMBERS["uneven noise"]}, some),
        (in_time, {f"{name} series": draw for name, draw in SERIES.items()}, some),
    ):
        for problem, draw in problems.items():
            for name, learner in learners.items():
                yield problem, name, lambda i, k=kind, d=draw, lr=learner: k(d, lr, i)


def run(draws: int) -> None:
    """Do the cells that the file does not have."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(row["problem"], row["learner"]) for row in read()}
    for problem, learner, draw in cells():
        if (problem, learner) in done:
            continue
        found = defaultdict(list)
        for number in range(draws):
            for method, pair in draw(number).items():
                found[method].append(pair)
        rows = []
        for method, pairs in found.items():
            mean, se = np.mean(pairs, axis=0), np.std(pairs, axis=0, ddof=1) / np.sqrt(draws)
            figures = [f"{value:.5g}" for pair in zip(mean, se, strict=True) for value in pair]
            rows.append([problem, learner, method, draws, *figures])
            print(*rows[-1], sep="  ", flush=True)
        with RESULTS.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def read() -> list[dict[str, str]]:
    """The rows of the file, if there is one."""
    if not RESULTS.exists():
        RESULTS.write_text(",".join(COLUMNS) + "\n", "utf-8")
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# What docs/intervals.md tells of it.


def ratio(rows: list[dict[str, str]], method: str, other: str) -> float:
    """How wide a method's intervals are, over those of another one: the geometric mean over cells."""
    width = {(row["problem"], row["learner"], row["method"]): float(row["width"]) for row in rows}
    pairs = [(width[p, lr, m], width[p, lr, other]) for p, lr, m in width if m == method]
    return float(np.exp(np.mean([np.log(a / b) for a, b in pairs])))


def coverages(rows: list[dict[str, str]], method: str) -> str:
    """The lowest and the highest over the cells."""
    found = sorted(float(row["coverage"]) for row in rows if row["method"] == method)
    return f"{found[0]:.3f} to {found[-1]:.3f}"


def told() -> Iterator[str]:
    """Lines of tables, and phrases, that are on the page."""
    rows = read()
    of_numbers = [row for row in rows if row["problem"] in NUMBERS]
    for column, names in (("learner", [*REGRESSORS]), ("problem", [*NUMBERS]), ("all", ["all"])):
        for name in names:
            some = [row for row in of_numbers if row.get(column, "all") == name]
            fields = [
                f"{coverages(some, m)} | {ratio(some, m, CV_PLUS):.2f}" for m in (MODEL, COMMITTEE)
            ]
            yield f"| {name} | {' | '.join(fields)} | {coverages(some, CV_PLUS)} |"
    of_trees = [row for row in of_numbers if row["learner"] == "trees"]
    yield f"those of trees are {1 - ratio(of_trees, COMMITTEE, MODEL):.0%} narrower"
    wider = ratio(of_numbers, "signed residuals", MODEL) - 1
    yield f"cover as often ({coverages(of_numbers, 'signed residuals')}) and are {wider:.1%} wider"
    yield f"cover {coverages(of_numbers, 'residuals of the choice')}"
    yield f"({coverages(rows, 'sum of probabilities')})"
    for problem, learner in ((p, lr) for p in CLASSES for lr in CLASSIFIERS):
        fields = [
            f"{float(row['coverage']):.3f} | {float(row['width']):.2f}"
            for row in rows
            if (row["problem"], row["learner"]) == (problem, learner) and "sum" not in row["method"]
        ]
        yield f"| {problem} | {learner} | {' | '.join(fields)} |"
    for row in rows:
        if row["problem"] not in {*NUMBERS, *CLASSES}:
            name = row["problem"].partition(",")[0]
            yield f"| {name} | {row['learner']} | {row['method']} | {float(row['coverage']):.3f} |"


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS)
    print(*told(), sep="\n")
