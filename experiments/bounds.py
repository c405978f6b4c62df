"""How far bounds are above the error, how they fall with the number of rows, and how often they fail.

Three learners search over their grids, many times on fresh rows; the risk of the views' own choices, and
of the refitted choice, is taken on many more rows. A fourth is made to fail: its folds err together.
"""

import json
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.bound import generalization_bound, nested_bound

SIZES = (100, 200, 500, 1000, 2000, 5000)
FOLDS = 5
DELTA = 0.05
N_NEW = 20_000
N_MADE = 10_000
RESULTS = Path(__file__).parent / "results" / "bounds.json"

TREES = {"max_depth": range(1, 11), "min_samples_leaf": [1, 5, 20]}
LEARNERS = {
    "tree, zero-one": (DecisionTreeClassifier(random_state=0), TREES),
    "tree, absolute": (DecisionTreeRegressor(random_state=0), TREES),
    "ridge, clipped absolute": (Ridge(), {"alpha": np.logspace(-2, 4, 30)}),
}


def clipped(y, output):
    """The absolute error of outputs that are cut off where no target is."""
    return np.abs(y - np.clip(output, 0, 1))


LOSSES = {"tree, zero-one": None, "tree, absolute": "absolute_error", "ridge, clipped absolute": clipped}


def rows(learner, n, rng):
    X = rng.uniform(-1, 1, size=(n, 10))
    signal = 0.5 + 0.25 * np.sin(3 * X[:, 0]) + 0.2 * X[:, 1] * (X[:, 2] > 0)
    if learner == "tree, zero-one":
        return X, (rng.uniform(size=n) < np.clip(2.5 * signal - 0.75, 0.05, 0.95)).astype(int)
    return X, np.clip(signal + rng.normal(scale=0.1, size=n), 0, 1)


def losses_of(learner, y, output):
    return y != output if learner == "tree, zero-one" else clipped(y, output)


def committee(learner, outputs):
    """The average of what the members say, or their majority."""
    mean = np.mean(outputs, axis=0)
    return mean > 0.5 if learner == "tree, zero-one" else mean


def one_search(learner, n, seed):
    rng = np.random.default_rng([n, seed])
    X, y = rows(learner, n, rng)
    X_new, y_new = rows(learner, N_NEW, rng)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    estimator, grid = LEARNERS[learner]
    search = StabilitySearchCV(estimator, grid, loss=LOSSES[learner], cv=folds).fit(X, y)
    weight = search.weights_["weight"].tolist().index(search.stability_weight_)
    losses, n_choices, outputs = [], [], []
    for split, (train, test) in enumerate(folds.split(X)):
        choices = search.weights_[f"split{split}_index"]
        params = search.cv_results_["params"][choices[weight]]
        member = clone(estimator).set_params(**params).fit(X[train], y[train])
        losses.append(losses_of(learner, y[test], member.predict(X[test])))
        n_choices.append(len(set(choices.tolist())))
        outputs.append(np.clip(member.predict(X_new), 0, 1))
    found = {
        "nested_error": search.nested_error_,
        "risk": np.mean([losses_of(learner, y_new, output).mean() for output in outputs]),
        "committee": losses_of(learner, y_new, committee(learner, outputs)).mean(),
        "bound": nested_bound(losses, n_choices, loss_bound=1.0, delta=DELTA),
        "hoeffding": search.nested_error_ + hoeffding(n, len(choices)),
        "n_choices": np.exp(np.log(n_choices).mean()),
        "refitted": losses_of(learner, y_new, search.predict(X_new)).mean(),
        "theorem1": generalization_bound(
            search.cv_error_, search.instability_, loss_bound=1.0, n_folds=FOLDS, delta=DELTA
        ),
    }
    return {name: round(float(value), 4) for name, value in found.items()}


def hoeffding(n, n_weights):
    return np.sqrt(FOLDS * np.log(n_weights / DELTA) / (2 * n))


def made_to_fail(n, n_values=20):
    """Fair coins as labels; a model says, for each value of x, the product of the folds' majorities."""
    rng = np.random.default_rng(n)
    excess, failed = [], 0
    for _ in range(N_MADE):
        x = rng.integers(n_values, size=(FOLDS, n // FOLDS))
        y = rng.choice([-1, 1], size=x.shape)
        votes = np.array([np.bincount(a, b, minlength=n_values) for a, b in zip(x, y, strict=True)])
        signs = np.where(votes >= 0, 1, -1)
        products = signs.prod(axis=0) * signs  # of the other folds' signs
        wrong = [y[i] != products[i, x[i]] for i in range(FOLDS)]
        excess.append(0.5 - np.mean(wrong))
        failed += nested_bound(wrong, loss_bound=1.0, delta=DELTA) < 0.5
    return {
        "runs": N_MADE,
        "failed": failed,
        "failed without k": int(np.sum(np.array(excess) > hoeffding(n, 1) / np.sqrt(FOLDS))),
        "spread of the mean over that of one fold": round(
            float(np.std(excess) * 2 * np.sqrt(n / FOLDS)), 3
        ),
    }


def table(results):
    """What the page shows of the searches."""
    lines = [
        "| learner, loss | rows | nested error | members, new data | committee, new data | bound "
        "| Hoeffding's form | Theorem 1 | bound failed |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for learner, sizes in results["searches"].items():
        for n, runs in sizes.items():
            column = {name: np.array(values) for name, values in runs.items()}
            failed = (column["risk"] > column["bound"]).sum()
            names = ("nested_error", "risk", "committee", "bound", "hoeffding", "theorem1")
            means = " | ".join(f"{column[name].mean():.3f}" for name in names)
            lines.append(f"| {learner} | {n} | {means} | {failed} of {len(column['risk'])} |")
    return lines


def table_of_made(results):
    """What it shows of the learner that is made to fail."""
    lines = [
        "| rows | spread of the mean over that of one fold | bound failed | failed with n for n / k |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for n, found in results["made to fail"].items():
        shares = [
            f"{100 * found[name] / found['runs']:.1f} %" for name in ("failed", "failed without k")
        ]
        spread = found["spread of the mean over that of one fold"]
        lines.append(f"| {n} | {spread:.2f} | {shares[0]} | {shares[1]} |")
    return lines


def columns(runs):
    return {name: [run[name] for run in runs] for name in runs[0]}


def n_runs(n):
    return 100 if n <= 1000 else 30


if __name__ == "__main__":
    if "--table" not in sys.argv:
        searches = {
            learner: {
                str(n): columns(
                    Parallel(n_jobs=-1)(delayed(one_search)(learner, n, s) for s in range(n_runs(n)))
                )
                for n in SIZES
            }
            for learner in LEARNERS
        }
        made = {str(n): made_to_fail(n) for n in (100, 500, 5000)}
        RESULTS.write_text(json.dumps({"searches": searches, "made to fail": made}) + "\n")
    results = json.loads(RESULTS.read_text("utf-8"))
    print("\n".join([*table(results), "", *table_of_made(results)]))
