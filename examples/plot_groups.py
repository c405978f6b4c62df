"""
Groups: when rows are not independent
=====================================

Four visits of each patient are four rows. If some visits of a patient are trained on and the others
validated on, the model is asked about people whom it knows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsRegressor

from steadycv import StabilitySearchCV

# %%
# Every diabetes patient comes four times, with measurements that vary a little from visit to visit. 150
# patients are known, the others are new.

rng = np.random.default_rng(0)
X, y = load_diabetes(return_X_y=True)
patients = np.repeat(np.arange(len(y)), 4)
X = X[patients] + rng.normal(scale=0.005, size=(len(patients), X.shape[1]))
y = y[patients] + rng.normal(scale=10, size=len(patients))
known = patients < 150
X_new, y_new = X[~known], y[~known]
X, y, patients = X[known], y[known], patients[known]

# %%
# With `KFold` the best number of neighbours is very small: the nearest neighbour of a visit is another
# visit of the same patient. `GroupKFold` keeps patients together, in the outer folds and, since inner
# and outer folds are the same ones, in the inner folds too.

grid = {"n_neighbors": range(1, 81)}
errors = {}
for name, cv, groups in (
    ("rows split at random", KFold(5, shuffle=True, random_state=0), None),
    ("patients kept together", GroupKFold(5), patients),
):
    search = StabilitySearchCV(KNeighborsRegressor(), grid, cv=cv).fit(X, y, groups=groups)
    new = mean_squared_error(y_new, search.predict(X_new))
    errors[name] = (search.nested_error_, new)
    print(f"{name}: {search.best_params_}, expect {search.nested_error_:.0f}, on new patients {new:.0f}")

# %%
# Nesting cannot repair a split that leaks: the nested error of the random rows is as wrong as the
# rest.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
place = np.arange(len(errors))
expected, found = np.array(list(errors.values())).T
for shift, values, label, color in (
    (-0.2, expected, "nested error: what to expect", "#0072b2"),
    (0.2, found, "error on new patients", "#d55e00"),
):
    bars = ax.bar(place + shift, values, 0.36, label=label, color=color)
    ax.bar_label(bars, fmt="%.0f")
ax.set_xticks(place, list(errors))
ax.set_ylabel("mean squared error")
ax.set_ylim(0, 1.25 * max(expected.max(), found.max()))
ax.legend(frameon=False, loc="upper left", ncols=2)
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.show()
