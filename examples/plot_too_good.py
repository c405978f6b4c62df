"""
Why ``best_score_`` is too good
===============================

Tune a tree on sixty of the 442 diabetes patients, try it on the others, and compare what was promised
with what came. Then do it again, on 60 random splits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

data = load_diabetes(return_X_y=True)
grid = {"max_depth": range(1, 11), "min_samples_leaf": [1, 2, 4, 6, 9, 12, 16, 20]}


def promised_and_found(seed):
    """What `best_score_` and the nested error promise for one choice, and its error on new data."""
    X, X_new, y, y_new = train_test_split(*data, train_size=60, random_state=seed)
    folds = KFold(5, shuffle=True, random_state=seed)
    options = {"scoring": "neg_mean_squared_error", "stability_weights": 0, "cv": folds}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, **options).fit(X, y)
    return -search.best_score_, search.nested_error_, mean_squared_error(y_new, search.predict(X_new))


best, nested, found = np.array([promised_and_found(seed) for seed in range(60)]).T
print(f"best_score_ promised {best.mean():.0f}, the nested error {nested.mean():.0f}.")
print(f"On new data the error was {found.mean():.0f}.")

# %%
# With ``stability_weights=0`` the choice is that of plain cross-validation, so both promises are about
# the same trees. The lowest of 80 noisy figures is low in part because it is good and in part because it
# is lucky, and luck does not come again. The nested error is measured on folds that had no say in the
# choice. It is a noisy figure too, and about models trained on four fifths of the data, so it errs on
# both sides; but not on one side only.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, sharey=True, layout="constrained")
names = ("-best_score_", "nested error")
for ax, promised, name, color in zip(axes, (best, nested), names, ("#d55e00", "#0072b2"), strict=True):
    ax.scatter(promised, found, color=color, alpha=0.7, linewidths=0)
    ax.axline((4500, 4500), slope=1, color="grey", linewidth=1)
    broken = np.mean(found > promised)
    ax.set(xlabel=f"promised: {name}", title=f"{broken:.0%} of the promises were too good")
    ax.annotate("worse than promised", (0.04, 0.93), xycoords="axes fraction", color="grey")
    ax.annotate("better", (0.96, 0.05), xycoords="axes fraction", ha="right", color="grey")
axes[0].set(ylabel="error on 382 new patients", ylim=(3700, 7400))
plt.show()

# %%
# It is the same with scikit-learn: its search makes the same choice with the same figure.

X, _, y, _ = train_test_split(*data, train_size=60, random_state=0)
folds = KFold(5, shuffle=True, random_state=0)
theirs = GridSearchCV(
    DecisionTreeRegressor(random_state=0), grid, cv=folds, scoring="neg_mean_squared_error"
).fit(X, y)
ours = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=folds, use_paths=False).fit(X, y)
print(theirs.best_params_, f"{-theirs.best_score_:.0f}")
print(ours.kfold_params_, f"{ours.cv_results_['cv_error'][ours.kfold_index_]:.0f}")
