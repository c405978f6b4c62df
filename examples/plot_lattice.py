"""
The lattice: sixteen training sets instead of 256 fits
======================================================

Read literally, the method fits 256 models for each candidate with five folds and ten weights. Drawn as
training sets, almost all of them are the same sixteen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.lattice import Lattice

k = 5
lattice = Lattice(KFold(k).split(range(k)), n_samples=k)  # one sample stands for a fold
colors = np.full((lattice.n_training_sets, k), np.nan)
for training_set, row in enumerate(colors):
    row[lattice.rows(training_set)] = lattice.n_rows(training_set) - k + 3  # darker is larger

figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
ax.pcolormesh(colors.T, cmap="Blues", vmin=0, vmax=3.5, edgecolors="white", linewidth=4)
ax.set_yticks(np.arange(k) + 0.5, [f"fold {t}" for t in range(k)])
ax.set_xticks([0.5, 3.5, 11], ["all data", "without one fold", "without two folds"])
ax.tick_params(length=0)
ax.invert_yaxis()
ax.set_title("A column is a training set; each is fitted once for every candidate")
for side in ax.spines.values():
    side.set_visible(False)
plt.show()

# %%
# The first six columns give the CV error and the instability, all sixteen give the nested error of every
# stability weight. How many fits that takes on a grid of 90 trees, and how many are left where one
# tree holds all its truncations:

X, y = load_diabetes(return_X_y=True)
grid = {"max_depth": range(1, 11), "min_samples_split": range(2, 11)}
n_candidates = 90
tree = DecisionTreeRegressor()
fits = {
    "Algorithm 1, literally": 256 * n_candidates,
    "GridSearchCV, not nested": 5 * n_candidates,
    "the lattice": StabilitySearchCV(tree, grid, use_paths=False).fit(X, y).n_fits_,
    "the lattice and paths": StabilitySearchCV(tree, grid).fit(X, y).n_fits_,
}

figure, ax = plt.subplots(figsize=(9, 2.8), layout="constrained")
bars = ax.barh(list(fits), list(fits.values()), color=["#8a8a8a", "#d55e00", "#56b4e9", "#0072b2"])
ax.bar_label(bars, [f"{n:,}" for n in fits.values()], padding=4)
ax.set(xscale="log", xlabel="models fitted", xlim=(8, 1e5))
ax.invert_yaxis()
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.show()
