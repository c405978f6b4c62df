"""How often a truncated tree and a separately grown one differ by ties: the figures of docs/paths.md.

The share of held-out predictions that differ, over 10 depths x 9 sizes on the diabetes data: the path
against separate fits with the same seed, and separate fits with two seeds against each other.
"""

from itertools import combinations

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.tree import DecisionTreeRegressor

from steadycv.paths import PathData, find_path

SPLITS = 20
SEEDS = range(3)
settings = list(ParameterGrid({"max_depth": range(1, 11), "min_samples_split": range(2, 11)}))
X, y = load_diabetes(return_X_y=True)
path = find_path(DecisionTreeRegressor())
to_separate, between_seeds = [], []
for split in range(SPLITS):
    rows, held_out = (np.sort(part) for part in train_test_split(np.arange(len(y)), random_state=split))
    separate = {}
    for seed in SEEDS:
        tree = DecisionTreeRegressor(random_state=seed)
        fits = (DecisionTreeRegressor(random_state=seed, **s).fit(X[rows], y[rows]) for s in settings)
        separate[seed] = np.array([fit.predict(X[held_out]) for fit in fits])
        prepared = path.prepare(tree, X, y)
        data = PathData(X, y, rows, X[rows], y[rows], {}, prepared=prepared)
        truncated = path.outputs(tree, settings, data)["predict"][:, held_out]
        to_separate.append(np.mean(~np.isclose(truncated, separate[seed])))
    between_seeds += [np.mean(~np.isclose(separate[a], separate[b])) for a, b in combinations(SEEDS, 2)]
for name, shares in (("path against separate fits", to_separate), ("two seeds", between_seeds)):
    print(f"{name:28} mean {np.mean(shares):.1%}, from {np.min(shares):.1%} to {np.max(shares):.1%}")
