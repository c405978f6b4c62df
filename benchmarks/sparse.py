"""Sparse ridge regression beside other packages for it: one fit, tuning, certificates (`make bench`).

The problem is min |y - X beta|^2 / 2 + |beta|^2 / (2 gamma) with at most tau non-zero coefficients.
Data: Gaussian columns with correlation 0.3^|i-j|, centred, of squared length n; tau coefficients of +-1
at random places; signal-to-noise 5; gamma = 1 / sqrt(n). Times are CPU times of one thread, of all
packages in turns, medians over the seeds. The targets were set on another machine, so that what counts
is our time over abess's in the same run. Objectives are those of the ridge fit on the support that a
package found.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from steadycv import SparseRidge, StabilitySearchCV

RESULTS = Path(__file__).parent / "results" / "sparse.json"
PAGE = Path(__file__).parents[1] / "docs" / "sparse.md"
SEEDS = range(3)
GAMMAS = np.logspace(-3, 3, 20)
GAP, TIME_LIMIT = 1e-4, 40.0
KINDS = ("fit", "tuning", "certificates")


class Anchor(NamedTuple):
    """A problem, and the times that were aimed at for us beside those of abess where that was done."""

    shape: tuple[int, int, int]
    fit_ms: float
    abess_fit_ms: float
    plain_s: float
    nested_s: float
    abess_tuning_s: float


ANCHORS = [
    Anchor((50, 10, 5), 0.2, 0.3, 0.02, 0.06, 0.036),
    Anchor((100, 200, 5), 0.5, 1.3, 0.10, 0.3, 0.85),
    Anchor((200, 1000, 10), 5, 9.5, 0.40, 1.2, 3.06),
    Anchor((71, 4088, 5), 6, 13, 1.0, 3, 7.67),
    Anchor((1000, 5000, 10), 60, 165, 4, 12, 12.9),
]
# Rows, columns, sparsity; seconds aimed at.
CERTIFICATES = [
    ((100, 100, 5), 0.4),
    ((100, 100, 10), 3.5),
    ((200, 1000, 5), 4.5),
    ((200, 1000, 10), 15),
    ((10, 50, 5), 2),
]


def problem(n: int, p: int, tau: int, seed: int) -> tuple[Any, Any, Any]:
    """Columns, response and true coefficients."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.3 * X[:, j - 1] + np.sqrt(1 - 0.3**2) * X[:, j]
    X -= X.mean(axis=0)
    X *= np.sqrt(n) / np.linalg.norm(X, axis=0)
    beta = np.zeros(p)
    support = rng.choice(p, tau, replace=False)
    beta[support] = rng.choice([-1.0, 1.0], tau)
    signal = X @ beta
    y = signal + rng.normal(size=n) * np.sqrt(signal.var() / 5)
    return X, y - y.mean(), beta


def objective(X: Any, y: Any, coef: Any, gamma: float) -> float:
    """The least objective on the support of some coefficients."""
    columns = X[:, np.flatnonzero(coef)]
    gram = columns.T @ columns + np.eye(columns.shape[1]) / gamma
    return float(y @ (y - columns @ np.linalg.solve(gram, columns.T @ y)) / 2)


def cpu_seconds(work: Any, *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = work(*arguments)
    return time.process_time() - start, result


# One fit: functions of columns, response, sparsity and gamma that return coefficients.


def ours(X: Any, y: Any, tau: int, gamma: float) -> Any:
    return SparseRidge(tau, gamma).fit(X, y).coef_


def abess(X: Any, y: Any, tau: int, gamma: float) -> Any:
    """Compares supports by |y - X beta|^2 / (2 n) + alpha |beta|^2, which is our objective over n.

    The coefficients that it compares solve (X'X + alpha I) beta = X'y, however: nearly least squares.
    With alpha = 1 / gamma they would be ours, but the comparison of supports would be far off.
    """
    from abess import LinearRegression

    return LinearRegression(support_size=tau, alpha=1 / (2 * len(y) * gamma)).fit(X, y).coef_


def okridge(X: Any, y: Any, tau: int, gamma: float) -> Any:
    """Its beam search, which is what it does before the time limit is looked at."""
    return okridge_solve(X, y, tau, gamma, time_limit=-1)[1]


def okridge_solve(X: Any, y: Any, tau: int, gamma: float, **options: Any) -> Any:
    from okridge.tree import BNBTree

    with contextlib.redirect_stdout(io.StringIO()):
        return BNBTree(X, y, lambda2=1 / gamma).solve(tau, **options)


# Certificates: functions as above that return coefficients and the proven relative gap.


def ours_exact(X: Any, y: Any, tau: int, gamma: float) -> tuple[Any, float]:
    model = SparseRidge(tau, gamma, solver="exact", tol=GAP, time_limit=TIME_LIMIT).fit(X, y)
    return model.coef_, model.gap_


def okridge_exact(X: Any, y: Any, tau: int, gamma: float) -> tuple[Any, float]:
    """Its gap is relative to an objective without |y|^2 / 2, a larger number where the fit is good.

    With more columns than rows it asks itself for a method that it does not have.
    """
    _, coef, gap, *_ = okridge_solve(X, y, tau, gamma, gap_tol=GAP, time_limit=TIME_LIMIT)
    return coef, gap


def l0bnb_exact(X: Any, y: Any, tau: int, gamma: float) -> tuple[Any, float]:
    """With help: a price at which tau coefficients are best, a bound on them, our answer as start.

    It knows a price of a coefficient and not their number; with another number it proves nothing.
    """
    from l0bnb import BNBTree

    fewer, just, more = (SparseRidge(size, gamma).fit(X, y) for size in (tau - 1, tau, tau + 1))
    price = (fewer.objective_ - more.objective_) / 2
    bound = 1.5 * np.abs(just.coef_).max()
    solution = BNBTree(X, y).solve(
        price, 1 / (2 * gamma), bound, gap_tol=GAP, warm_start=just.coef_, time_limit=TIME_LIMIT
    )
    right_size = np.count_nonzero(solution.beta) == tau
    return solution.beta, solution.gap if right_size else 1.0


SOLVERS = {
    "one fit": {"ours": ours, "abess": abess, "okridge": okridge},
    "certificate": {"ours": ours_exact, "okridge": okridge_exact, "l0bnb": l0bnb_exact},
}


@functools.cache
def working(purpose: str) -> dict[str, Any]:
    """Those that solve a small problem, which also compiles what is compiled at the first call."""
    X, y, _ = problem(30, 8, 2, seed=0)
    kept = {}
    for package, solve in SOLVERS[purpose].items():
        try:
            solve(X, y, 2, 1.0)
        except Exception as error:  # packages of others fail in many ways
            if package == "ours":
                raise
            print(f"{purpose}: {package} does not work here: {type(error).__name__}: {error}")
        else:
            kept[package] = solve
    return kept


def measure_fit(name: str, anchor: Anchor) -> dict[str, Any]:
    solvers = working("one fit")
    n, p, tau = anchor.shape
    gamma = 1 / np.sqrt(n)
    seconds: dict[str, list[float]] = {package: [] for package in solvers}
    objectives: dict[str, list[float]] = {package: [] for package in solvers}
    for seed in SEEDS:
        X, y, _ = problem(n, p, tau, seed)
        turns: dict[str, list[float]] = {package: [] for package in solvers}
        for turn in range(100):
            for package, fit in solvers.items():
                if turn == 0 or sum(turns[package]) < 1:
                    spent, coef = cpu_seconds(fit, X, y, tau, gamma)
                    turns[package].append(spent)
                    if turn == 0:
                        objectives[package].append(objective(X, y, coef, gamma))
        for package in solvers:
            seconds[package].append(statistics.median(turns[package]))
    return {
        "case": name,
        "ms": {package: 1000 * statistics.median(values) for package, values in seconds.items()},
        "target_ms": anchor.fit_ms,
        "over_abess": median_ratio(seconds["ours"], seconds.get("abess")),
        "target_over_abess": anchor.fit_ms / anchor.abess_fit_ms,
        "objectives": objectives,
    }


def abess_tuning(X: Any, y: Any, folds: Any, sparsities: Any) -> Any:
    from abess import LinearRegression

    fold_of = np.empty(len(y), dtype=int)
    for fold, (_, test) in enumerate(folds.split(X)):
        fold_of[test] = fold
    alphas = 1 / (2 * 0.8 * len(y) * GAMMAS)
    model = LinearRegression(support_size=sparsities, alpha=alphas, cv=5)
    return model.fit(X, y, cv_fold_id=fold_of).coef_


def measure_tuning(name: str, anchor: Anchor) -> dict[str, Any]:
    n, p, tau = anchor.shape
    folds = KFold(5)
    sparsities = range(1, min(20, p) + 1)
    grid = {"sparsity": sparsities, "gamma": GAMMAS}
    plain = StabilitySearchCV(SparseRidge(1), grid, nested=False, stability_weights=0, cv=folds)
    nested = StabilitySearchCV(SparseRidge(1), grid, cv=folds)
    searches = {
        "ours, plain": lambda X, y: plain.fit(X, y).best_estimator_.coef_,
        "ours, nested": lambda X, y: nested.fit(X, y).best_estimator_.coef_,
        "abess": lambda X, y: abess_tuning(X, y, folds, sparsities),
    }
    if "abess" not in working("one fit"):
        del searches["abess"]
    searches["ours, plain"](*problem(n, p, tau, seed=0)[:2])
    seconds: dict[str, list[float]] = {search: [] for search in searches}
    errors: dict[str, list[float]] = {search: [] for search in searches}
    for seed in SEEDS:
        X, y, beta = problem(n, p, tau, seed)
        for search, tune in searches.items():
            spent, coef = cpu_seconds(tune, X, y)
            seconds[search].append(spent)
            errors[search].append(float(np.sum((coef - beta) ** 2) / tau))
    targets = {"ours, plain": anchor.plain_s, "ours, nested": anchor.nested_s}
    return {
        "case": name,
        "s": {search: statistics.median(values) for search, values in seconds.items()},
        "target_s": targets,
        "over_abess": {s: median_ratio(seconds[s], seconds.get("abess")) for s in targets},
        "target_over_abess": {s: target / anchor.abess_tuning_s for s, target in targets.items()},
        "coefficient_errors": errors,
    }


def measure_certificate(name: str, shape: Any, target: float) -> dict[str, Any]:
    solvers = working("certificate")
    n, p, tau = shape
    gamma = 1 / np.sqrt(n)
    runs: dict[str, list[Any]] = {package: [] for package in solvers}
    for seed in SEEDS:
        X, y, _ = problem(n, p, tau, seed)
        for package in list(runs):
            try:
                spent, (coef, gap) = cpu_seconds(solvers[package], X, y, tau, gamma)
            except AttributeError as error:
                if package != "okridge":
                    raise
                print(f"okridge fails on {name}: {error}")
                del runs[package]
            else:
                runs[package].append((spent, float(gap), objective(X, y, coef, gamma)))
    seconds, gaps, objectives = (
        {package: [run[k] for run in values] for package, values in runs.items()} for k in range(3)
    )
    return {
        "case": name,
        "s": {package: statistics.median(values) for package, values in seconds.items()},
        "target_s": target,
        "certified": {package: sum(gap <= GAP for gap in values) for package, values in gaps.items()},
        "seeds": len(SEEDS),
        "gaps": gaps,
        "objectives": objectives,
    }


def median_ratio(mine: list[float], theirs: list[float] | None) -> float | None:
    if theirs is None:
        return None
    return statistics.median(a / b for a, b in zip(mine, theirs, strict=True))


# What is printed, and written into the documentation.


def table(results: dict[str, list[dict[str, Any]]]) -> str:
    """The comparison as Markdown."""
    lines = [
        "One fit, CPU milliseconds (medians over the seeds), and the objective of the first seed:",
        "",
        "| rows x columns, sparsity | ours | abess | okridge's beam | ours / abess | aimed at "
        "| objective: ours | abess | okridge |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    packages = SOLVERS["one fit"]
    for row in results["fit"]:
        cells = [row["case"], *(number(row["ms"].get(package)) for package in packages)]
        cells += [number(row["over_abess"]), number(row["target_over_abess"])]
        cells += [number(row["objectives"].get(package, [None])[0], 6) for package in packages]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "Tuning by five folds, 20 penalties x sparsities up to 20, CPU seconds:",
        "",
        "| rows x columns, sparsity | ours, plain | ours, nested | abess | plain / abess | aimed at "
        "| nested / abess | aimed at |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in results["tuning"]:
        cells = [
            row["case"],
            *(number(row["s"].get(s)) for s in ("ours, plain", "ours, nested", "abess")),
        ]
        for search in ("ours, plain", "ours, nested"):
            cells += [number(row["over_abess"][search]), number(row["target_over_abess"][search])]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"Certificates with a gap of {GAP:g}, CPU seconds, and how many seeds were certified within "
        f"{TIME_LIMIT:g} s:",
        "",
        "| rows x columns, sparsity | ours | aimed at | okridge | l0bnb, with help |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in results["certificates"]:
        found = {
            package: f"{number(row['s'][package])} ({row['certified'][package]} of {row['seeds']})"
            for package in row["s"]
        }
        cells = [row["case"], found["ours"], number(row["target_s"])]
        cells += [found.get(package, "") for package in ("okridge", "l0bnb")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    """So many digits, never as a power of ten."""
    return "" if value is None else f"{float(f'{value:.{digits}g}'):.10g}"


def write_table(results: dict[str, list[dict[str, Any]]]) -> None:
    """Replace what the page has between its marks."""
    start, end = "<!-- sparse-table -->", "<!-- /sparse-table -->"
    before, _, rest = PAGE.read_text().partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}\n{table(results)}\n{end}{after}")


def show(kind: str, row: dict[str, Any]) -> None:
    print(f"\n{kind} {row['case']}")
    for what in [key for key in row if key != "case"]:
        print(f"  {what:18} {shown(row[what])}", flush=True)


def shown(values: Any) -> str:
    if isinstance(values, dict):
        return ", ".join(f"{key}: {shown(value)}" for key, value in values.items())
    if isinstance(values, list):
        return " ".join(map(shown, values))
    return number(values, 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    only = tuple(parser.parse_args().only)
    cases: list[tuple[Any, ...]] = [("fit", anchor.shape, measure_fit, anchor) for anchor in ANCHORS]
    cases += [("tuning", anchor.shape, measure_tuning, anchor) for anchor in ANCHORS]
    cases += [("certificates", shape, measure_certificate, shape, aim) for shape, aim in CERTIFICATES]
    stored = json.loads(RESULTS.read_text()) if only else {}
    results = {kind: {row["case"]: row for row in stored.get(kind, [])} for kind in KINDS}
    for kind, (n, p, tau), measure, *arguments in cases:
        name = f"{n}x{p}, {tau}"
        if not only or f"{kind} {name}".startswith(only):
            results[kind][name] = measure(name, *arguments)
            show(kind, results[kind][name])
    rows = {kind: list(by_name.values()) for kind, by_name in results.items()}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    write_table(rows)
