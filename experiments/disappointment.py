"""How far the promised error is from the error on new data: the figures of the README.

A decision tree is tuned on a random hundred of the 442 diabetes patients, a hundred times; the error
on the other patients is compared with what was promised.
"""

import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold, train_test_split
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

SPLITS = 100
RULES = ("plain", "paper", "steady")
GRID = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21)}
RESULTS = Path(__file__).parent / "results" / "disappointment.json"


def one_split(seed: int) -> dict[str, float]:
    data = load_diabetes(return_X_y=True)
    X, X_new, y, y_new = train_test_split(*data, train_size=100, random_state=seed)
    folds = KFold(5, shuffle=True, random_state=seed)
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=folds).fit(X, y)
    figures = {"cv_error": search.rules_["plain"].cv_error}
    for rule in RULES:
        chosen = search.rules_[rule]
        model = DecisionTreeRegressor(random_state=0, **chosen.params).fit(X, y)
        figures[f"{rule}_nested_error"] = chosen.nested_error
        figures[f"{rule}_test_error"] = mean_squared_error(y_new, model.predict(X_new))
    return figures


def ratio(promised: np.ndarray, found: np.ndarray) -> str:
    """Mean promised over mean found error, with a bootstrap standard error over the splits."""
    rng = np.random.default_rng(0)
    samples = rng.integers(len(found), size=(2000, len(found)))
    spread = np.std(promised[samples].mean(axis=1) / found[samples].mean(axis=1))
    return f"{promised.mean() / found.mean():.3f} +- {spread:.3f}"


if __name__ == "__main__":
    rows = Parallel(n_jobs=-1, verbose=1)(delayed(one_split)(seed) for seed in range(SPLITS))
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    figures = {
        "plain: promised (CV error)": f"{table['cv_error'].mean():.0f}",
        "plain: promised over new data": ratio(table["cv_error"], table["plain_test_error"]),
    }
    for rule in RULES:
        nested, test = table[f"{rule}_nested_error"], table[f"{rule}_test_error"]
        figures |= {
            f"{rule}: promised (nested error)": f"{nested.mean():.0f}",
            f"{rule}: on new data": f"{test.mean():.0f}",
            f"{rule}: nested error over new data": ratio(nested, test),
        }
        if rule != "plain":
            figures[f"new data: {rule} over plain"] = ratio(test, table["plain_test_error"])
    for name, value in figures.items():
        print(f"{name:34} {value}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"figures": figures, "splits": rows}, indent=1) + "\n")
