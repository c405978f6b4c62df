"""How often an interval for the error on new data contains it: the figures of docs/promises.md.

Data are drawn again and again from populations whose errors are known; each time a search is fitted, and
what an interval could be made of is stored with the error of the delivered model on new data. Formulas
are then compared on what is stored, which takes seconds:

    python experiments/promise_coverage.py collect FOLDER  # an hour on one core; goes on where it was
    python experiments/promise_coverage.py compare FOLDER  # adds to results/promise_coverage.csv

What is in the results is not collected again, unless they are taken away.
Wine needs the raw files of steadycv.datasets.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from promise_formulas import OF_ERRORS, OF_INNER, OF_LOSSES, Known
from promise_problems import CHOSEN_ON, GROUP_SIZE, GROUPED, KEPT_APART, PROBLEMS, Sample
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.promise_intervals import inner_errors
from steadycv.sparse import SparseRidge

LOW = 0.88  # coverage that a formula should have everywhere
RESULTS = Path(__file__).parent / "results" / "promise_coverage.csv"
SIZES = {"max_depth": [1, 2, 3, 4, 6, 8], "min_samples_leaf": [1, 2, 5, 10, 20]}
NEIGHBORS = {"n_neighbors": [1, 2, 3, 5, 8, 12, 20, 30]}
LEARNERS: dict[bool, dict[str, tuple[Any, dict[str, Any]]]] = {
    False: {
        "tree": (DecisionTreeRegressor(random_state=0), SIZES),
        "ridge": (Ridge(), {"alpha": np.logspace(-1, 3, 12)}),
        "neighbors": (KNeighborsRegressor(), NEIGHBORS),
        "sparse ridge": (SparseRidge(1), {"sparsity": range(1, 9), "gamma": [0.1, 1.0]}),
    },
    True: {
        "tree": (DecisionTreeClassifier(random_state=0), SIZES),
        "logistic": (LogisticRegression(), {"C": [0.01, 0.1, 1.0]}),
        "neighbors": (KNeighborsClassifier(), NEIGHBORS),
    },
}


def has_classes(problem: str) -> bool:
    return problem.startswith("classes") or problem == "digits"


@dataclass(frozen=True)
class Cell:
    """A problem, a learner, and how it is asked."""

    problem: str
    learner: str
    n: int
    committee: bool = False
    scoring: str | None = None
    repeats: int = 1
    folds: int = 5
    forward: bool = False
    draws: int = 400

    @property
    def asked(self) -> str:
        asked = ["committee"] * self.committee
        asked += [] if self.scoring is None else [self.scoring]
        asked += [] if self.repeats == 1 else [f"{self.repeats} repeats"]
        asked += [] if self.folds == 5 else [f"{self.folds} folds"]
        asked += ["forward"] * self.forward
        return ", ".join(asked)

    @property
    def kind(self) -> str:
        if self.problem in GROUPED:
            return "groups"
        return self.asked or ("40 rows" if self.n == 40 else "one partition")

    @property
    def key(self) -> tuple[str, ...]:
        """By which it is known in the table of results."""
        return self.problem, self.learner, str(self.n), self.kind

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.problem, self.learner, f"{self.n} rows", self.asked)))


def cells() -> list[Cell]:
    learners = [(p, learner) for p in CHOSEN_ON | KEPT_APART for learner in LEARNERS[has_classes(p)]]
    in_classes = [(p, learner) for p, learner in learners if has_classes(p) and p != "classes, rare"]
    unsteady = [(p, learner) for p, learner in learners if learner in ("tree", "neighbors")]
    few = ("smooth", "linear, t5", "classes, linear", "product", "wine")
    in_few = [(p, learner) for p, learner in unsteady if p in few]
    averaged = [(p, learner) for p, learner in unsteady if learner == "tree" or p in few]
    two = [("smooth", "tree"), ("linear", "ridge"), ("product", "tree"), ("no signal", "ridge")]
    grouped = [(p, learner) for p in GROUPED for learner in ("tree", "ridge")]
    return [
        *(Cell(p, learner, 100) for p, learner in learners),
        *(Cell(p, learner, 300, draws=200) for p, learner in learners),
        *(Cell(p, learner, 100, committee=True, draws=200) for p, learner in averaged),
        *(Cell(p, learner, 300, scoring="roc_auc", draws=200) for p, learner in in_classes),
        *(Cell(p, learner, 100, repeats=3, draws=200) for p, learner in in_few),
        *(Cell(p, learner, 100, folds=folds, draws=200) for p, learner in two for folds in (3, 10)),
        *(Cell(p, learner, 40, draws=200) for p, learner in two),
        *(Cell(p, learner, 100, forward=True, draws=200) for p, learner in two),
        *(Cell(p, learner, 100, draws=300) for p, learner in grouped),
    ]


# What is stored of a draw.


class Material(NamedTuple):
    """All that an interval could be made of, a row a draw, and the error on new data.

    losses[d, r, i] is the nested loss of sample i in repeat r, in the fold folds[d, r, i]; errors[d, v]
    the error of view v's choice on its fold, and inner[d, v, w] on that of view w, trained without both.
    """

    losses: np.ndarray
    folds: np.ndarray
    errors: np.ndarray
    inner: np.ndarray
    truth: np.ndarray


def splitter(cell: Cell, draw: int) -> Any:
    if cell.forward:
        return TimeSeriesSplit(cell.folds)
    if cell.problem in GROUPED:
        return GroupKFold(cell.folds)
    kind = RepeatedStratifiedKFold if cell.problem == "classes, rare" else RepeatedKFold
    return kind(n_splits=cell.folds, n_repeats=cell.repeats, random_state=draw)


def collect(cell: Cell, draw: int) -> dict[str, Any]:
    rng = np.random.default_rng([draw, *cell.name.encode()])
    old, new = PROBLEMS[cell.problem].draw(cell.n, rng)
    estimator, grid = LEARNERS[has_classes(cell.problem)][cell.learner]
    search = StabilitySearchCV(estimator, grid, cv=splitter(cell, draw), scoring=cell.scoring)
    search.fit(old.X, old.y, groups=old.groups)
    lattice, weights = search.lattice_, search.weights_
    row = weights["weight"].tolist().index(search.stability_weight_)
    chosen = [int(weights[f"split{view.split}_index"][row]) for view in lattice.views]
    inner = inner_errors(search.ledger_, chosen)
    judged = [lattice.splits[view.split].test for view in lattice.views]
    folds = np.full((cell.repeats, cell.n), -1)
    for i, (view, rows) in enumerate(zip(lattice.views, judged, strict=True)):
        folds[lattice.repeat[view.split], rows] = i
    if cell.committee:
        losses, truth = committee_of(search, chosen, old, new)
        errors = [losses[:, rows].mean() for rows in judged]
    else:
        losses = loss_at(estimator, old.y, search.nested_predictions_).reshape(folds.shape)
        errors = [weights[f"split{view.split}_error"][row] for view in lattice.views]
        truth = error_of(estimator, new, outputs(search.best_estimator_, new.X), cell.scoring)
        assert np.isclose(np.mean(errors), search.nested_error_)
        assert cell.scoring or np.allclose(
            [losses[folds == i].mean() for i in range(len(judged))], errors
        )
    return {"losses": losses, "folds": folds, "errors": errors, "inner": inner, "truth": truth}


def outputs(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def loss_at(estimator: Any, y: np.ndarray, said: np.ndarray) -> np.ndarray:
    """The nested loss of each sample, of what was said of it."""
    return (said.argmax(axis=-1) != y).astype(float) if is_classifier(estimator) else (said - y) ** 2


def error_of(estimator: Any, new: Sample, said: np.ndarray, scoring: str | None = None) -> float:
    """The error on new data, with the noise that is known to be there."""
    if scoring == "roc_auc":
        return -roc_auc_score(new.y, said[:, 1])
    if is_classifier(estimator):
        return float(np.where(said.argmax(axis=1) == 1, 1 - new.mean, new.mean).mean())
    return float(((said - new.mean) ** 2 + new.variance).mean())


def committee_of(search: Any, chosen: list[int], old: Sample, new: Sample) -> tuple[np.ndarray, float]:
    """Nested losses of the averages of each view's models, and the error of the final view's."""
    lattice, params = search.lattice_, search.cv_results_["params"]

    def average(view: Any, candidate: int, X: np.ndarray) -> np.ndarray:
        said = []
        for e in view.evaluations:
            rows = lattice.rows(lattice.evaluations[e].training_set)
            model = clone(search.estimator).set_params(**params[candidate])
            said.append(outputs(model.fit(old.X[rows], old.y[rows]), X))
        return np.mean(said, axis=0)

    losses = np.empty((1, len(old.y)))
    for view, candidate in zip(lattice.views, chosen, strict=True):
        test = lattice.splits[view.split].test
        losses[0, test] = loss_at(search.estimator, old.y[test], average(view, candidate, old.X[test]))
    said = average(lattice.final, search.best_index_, new.X)
    return losses, error_of(search.estimator, new, said)


def collect_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    known = stored()
    for cell in cells():
        file = folder / f"{cell.name}.npz"
        if not (file.exists() or cell.key in known):
            found = [collect(cell, draw) for draw in range(cell.draws)]
            table = {name: np.array([row[name] for row in found]) for name in Material._fields}
            part = file.with_suffix(".part")
            with part.open("wb") as stream:
                np.savez_compressed(stream, **table)
            part.replace(file)
            print(cell.name, flush=True)


# What the formulas make of it.


def known_of(cell: Cell, material: Material, draw: int) -> Known:
    rows = np.zeros((cell.n, 1))
    groups = np.arange(cell.n) // GROUP_SIZE if cell.problem in GROUPED else None
    trained = [len(train) for train, _ in splitter(cell, 0).split(rows, rows > 0, groups)]
    losses, folds, errors, inner = (table[draw] for table in material[:4])
    n_train = float(np.mean(trained[-len(errors) :]))  # in time order the first split has no view
    return Known(losses, folds, errors, inner, cell.folds, n_train, groups)


def compare(cell: Cell, folder: Path) -> list[dict[str, Any]]:
    """Of each formula: how often it has the error on new data, and how wide it is."""
    with np.load(folder / f"{cell.name}.npz") as file:
        material = Material(*(file[name] for name in Material._fields))
    known = [known_of(cell, material, draw) for draw in range(cell.draws)]
    promise, truth = abs(np.mean([k.promise for k in known])), material.truth
    found = []
    for name, formula in formulas_for(cell).items():
        low, high = np.array([formula(k) for k in known]).T
        below, above = np.mean(truth < low), np.mean(truth > high)
        found.append(
            {
                "problem": cell.problem,
                "learner": cell.learner,
                "rows": cell.n,
                "kind": cell.kind,
                "kept apart": int(cell.problem in KEPT_APART),
                "formula": name,
                "coverage": round(1 - below - above, 4),
                "below": round(below, 4),
                "above": round(above, 4),
                "width": round(
                    np.mean(high - np.maximum(low, -np.inf if cell.scoring else 0)) / promise, 4
                ),
                "promise over truth": round(promise / abs(truth.mean()), 4),
            }
        )
    return found


def formulas_for(cell: Cell) -> dict[str, Any]:
    if cell.scoring:
        return OF_ERRORS
    if cell.committee or cell.forward:  # of which there are no inner errors, or too few
        return OF_ERRORS | OF_LOSSES
    return OF_ERRORS | OF_LOSSES | OF_INNER


def stored() -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The results that there are, by cell."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    if RESULTS.exists():
        for row in read_table():
            key = tuple(str(row[name]) for name in ("problem", "learner", "rows", "kind"))
            found.setdefault(key, []).append(row)
    return found


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def by_formula(rows: list[dict[str, Any]]) -> str:
    """Coverage and width of each formula, in Markdown: first on the problems that it was chosen on."""
    lines = [f"| formula {'| lowest | mean | below 0.88 | width ' * 2}|", "| --- " * 9 + "|"]
    for formula in dict.fromkeys(row["formula"] for row in rows):
        line = f"| {formula} "
        for apart in (0, 1):
            mine = [r for r in rows if r["formula"] == formula and r["kept apart"] == apart]
            coverage = np.array([r["coverage"] for r in mine] or [np.nan])
            width = np.mean([r["width"] for r in mine] or [np.nan])
            line += f"| {coverage.min():.2f} | {coverage.mean():.2f} "
            line += f"| {(coverage < LOW).sum()} of {len(mine)} | {width:.2f} "
        lines.append(line + "|")
    return "\n".join(lines)


TOLD = {
    "normal over losses (naive)": "normal, over losses",
    "**taken without losses**: Nadeau and Bengio over folds": (
        "Nadeau and Bengio, over folds; taken where there are no losses"
    ),
    "Bates and others": "Bates, Hastie and Tibshirani",
    "the same without inner errors": "twice the variance; taken for committees, ensembles and students",
    "**taken**: twice the variance and the difference between views, logarithms": (
        "twice the variance and the difference between views; taken for the choice"
    ),
}


def read_table() -> list[dict[str, Any]]:
    """What is stored, with numbers as numbers."""
    with RESULTS.open(newline="", encoding="utf-8") as stream:
        rows: list[dict[str, Any]] = list(csv.DictReader(stream))
    for row in rows:
        row |= {name: float(row[name]) for name in list(row)[6:]}
        row["kept apart"] = int(row["kept apart"])
    return rows


def told(rows: list[dict[str, Any]]) -> str:
    """The table of the page: some formulas, for the choice of one partition and for its committee."""
    lines = [f"| interval {'| lowest | mean | width ' * 2}|", "| --- " + "| ---: " * 6 + "|"]
    for formula, name in TOLD.items():
        line = f"| {name} "
        for kind in ("one partition", "committee"):
            mine = [r for r in rows if r["formula"] == formula and r["kind"] == kind]
            coverage = [r["coverage"] for r in mine]
            cells = (
                (min(coverage), np.mean(coverage), np.mean([r["width"] for r in mine])) if mine else ()
            )
            line += "".join(f"| {cell:.2f} " for cell in cells) or "| | | "
        lines.append(line + "|")
    return "\n".join(lines)


TAKEN = (
    "**taken**: twice the variance and the difference between views, logarithms",
    "the same without inner errors",
    "**taken without losses**: Nadeau and Bengio over folds",
)


def told_of_others(rows: list[dict[str, Any]]) -> str:
    """The other table: of each other way to ask, the first of the formulas taken that it has."""
    lines = ["| asked | cases | lowest | mean | width |", "| --- |" + " ---: |" * 4]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        if kind in ("one partition", "committee"):
            continue
        of_kind = [row for row in rows if row["kind"] == kind]
        formula = next(f for f in TAKEN if any(row["formula"] == f for row in of_kind))
        mine = [row for row in of_kind if row["formula"] == formula]
        coverage, width = [r["coverage"] for r in mine], np.mean([r["width"] for r in mine])
        lines.append(
            f"| {kind} | {len(mine)} | {min(coverage):.2f} | {np.mean(coverage):.2f} | {width:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "collect":
        collect_all(folder)
    else:
        done = [cell for cell in cells() if (folder / f"{cell.name}.npz").exists()]
        found = stored() | {cell.key: compare(cell, folder) for cell in done}
        table = [row for cell in cells() for row in found.get(cell.key, ())]
        write_table(table, RESULTS)
        for kind in dict.fromkeys(row["kind"] for row in table):
            print(f"\n{kind}\n\n{by_formula([row for row in table if row['kind'] == kind])}")
