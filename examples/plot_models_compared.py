"""
Which model? Compare what they will do, not what they promise
=============================================================

Four kinds of models tuned on the same folds. The nested error compares them on folds that had no say in
the tuning, so that a model with a larger grid gets no head start.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from steadycv import SparseRidge, StabilitySearchCV, write_report

X, y = load_diabetes(return_X_y=True)
folds = KFold(5, shuffle=True, random_state=0)
models = {
    "decision tree": (
        DecisionTreeRegressor(),
        {"max_depth": range(1, 11), "min_samples_split": [2, 5, 10, 20, 40]},
    ),
    "nearest neighbours": (
        KNeighborsRegressor(),
        {"n_neighbors": range(1, 61), "weights": ["uniform", "distance"]},
    ),
    "elastic net": (
        ElasticNet(),
        {"alpha": np.logspace(-4, 0, 20), "l1_ratio": [0.1, 0.5, 0.9, 1.0]},
    ),
    "sparse ridge": (
        SparseRidge(1, standardize=True),
        {"sparsity": range(1, 11), "gamma": np.logspace(-3, 3, 10)},
    ),
}
searches = {
    name: StabilitySearchCV(model, grid, cv=folds).fit(X, y) for name, (model, grid) in models.items()
}

# %%
# Promised and to be expected, with the spread of the outer folds. Differences much smaller than the
# spread are no reason to prefer a model.

figure, ax = plt.subplots(figsize=(8.5, 3.8), layout="constrained")
ranking = sorted(searches, key=lambda name: searches[name].nested_error_)
for place, name in enumerate(ranking):
    search = searches[name]
    chosen = search.weights_["weight"] == search.stability_weight_
    outer = [search.weights_[f"split{view.split}_error"][chosen] for view in search.lattice_.views]
    plain = search.cv_results_["cv_error"][search.kfold_index_]
    ax.plot(outer, [place] * len(outer), "|", color="#8a8a8a", markersize=14)
    ax.plot(search.nested_error_, place, "o", color="#0072b2", markersize=10)
    ax.plot(plain, place, "s", markerfacecolor="none", color="#d55e00", markersize=11, markeredgewidth=2)
ax.plot([], [], "s", markerfacecolor="none", color="#d55e00", label="lowest CV error: what was promised")
ax.plot([], [], "o", color="#0072b2", label="nested error: what to expect")
ax.plot([], [], "|", color="#8a8a8a", label="each outer fold")
ax.set_yticks(range(len(ranking)), ranking)
ax.set_ylim(len(ranking) - 0.5, -0.5)
ax.set_xlabel("mean squared error")
figure.legend(frameon=False, ncols=3, loc="outside upper center")
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.show()

# %%
# All of it on one page, to hand on:

report = write_report(searches, Path(mkdtemp()) / "report.html", data_name="diabetes")
print(f"{report.name}: {report.stat().st_size / 1000:.0f} kB")
