"""
How many folds, how many repeats
================================

The nested error depends on how the samples fall into folds. The same search on other partitions of the
same data shows how much, and what more folds and more repeats cost and buy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import RepeatedKFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

X, y = load_diabetes(return_X_y=True)
rows = np.random.default_rng(0).permutation(len(y))
X, X_new, y, y_new = X[rows[:150]], X[rows[150:]], y[rows[:150]], y[rows[150:]]
grid = {"max_depth": range(1, 11), "min_samples_split": [2, 5, 10, 20, 40]}
schemes = [(3, 1), (5, 1), (10, 1), (5, 5), (10, 5)]
seeds = range(8)

nested, found, fits = {}, {}, {}
for k, repeats in schemes:
    for seed in seeds:
        folds = RepeatedKFold(n_splits=k, n_repeats=repeats, random_state=seed)
        search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=folds).fit(X, y)
        nested.setdefault((k, repeats), []).append(search.nested_error_)
        found.setdefault((k, repeats), []).append(mean_squared_error(y_new, search.predict(X_new)))
    fits[k, repeats] = 1 + repeats * (k + k * (k - 1) // 2)

for k, repeats in schemes:
    mean, spread = np.mean(nested[k, repeats]), np.std(nested[k, repeats])
    print(f"{k:2} folds, {repeats} x, {fits[k, repeats]:3} training sets: {mean:.0f} +- {spread:.0f}")

# %%
# Each point is one partition of the same 150 patients; the cross is the mean error of the choices on the
# 292 other patients. Repeats narrow the cloud: they are the cheap way to a figure that does not depend
# on the seed. More folds train on more of the data, so their figures are for models more like the final
# one, and cost quadratically many fits. No number of either brings the cloud onto the cross: these 150
# patients are easier to predict than the others, and all partitions share them.

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
jitter = np.random.default_rng(0).uniform(-0.12, 0.12, len(seeds))
for place, scheme in enumerate(schemes):
    ax.plot(place + jitter, nested[scheme], "o", color="#0072b2", alpha=0.6, markeredgewidth=0)
    ax.plot(place, np.mean(found[scheme]), "x", color="#d55e00", markersize=11, markeredgewidth=2.5)
ax.plot([], [], "o", color="#0072b2", label="nested error, one partition each")
ax.plot([], [], "x", color="#d55e00", markersize=9, markeredgewidth=2.5, label="error on new data, mean")
labels = [
    f"{k} folds" + (f"\nrepeated {r} times" if r > 1 else "") + f"\n{fits[k, r]} training sets"
    for k, r in schemes
]
ax.set_xticks(range(len(schemes)), labels)
ax.set_ylabel("mean squared error")
ax.legend(frameon=False, loc="upper right")
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.show()
