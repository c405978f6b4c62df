"""
Pictures that everybody asks for, honestly
==========================================

Predicted against actual, ROC, calibration, what columns are worth: usually drawn of a hold-out set, or
of the very folds that the model was chosen on. Here every row is judged by what was chosen *and* trained
without it, and nothing more is fitted for it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import NestedDisplay, StabilitySearchCV
from steadycv.explain import column_importance

X, y = load_diabetes(return_X_y=True, as_frame=True)
folds = KFold(5, shuffle=True, random_state=0)
searches = {
    "ridge": StabilitySearchCV(Ridge(), {"alpha": np.logspace(-3, 1, 9)}, cv=folds),
    "tree": StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 9)}, cv=folds),
    "neighbours": StabilitySearchCV(KNeighborsRegressor(), {"n_neighbors": range(1, 40, 3)}, cv=folds),
}
for search in searches.values():
    search.fit(X, y)

# %%
# Which model, and is it really the better one? The errors are compared fold by fold; an interval that
# holds zero says that the data cannot tell.

NestedDisplay.from_search(searches)
plt.show()

# %%
# How good is it? Above the diagonal too much was predicted. Errors in the order of the rows show whether
# it is as good at the end as at the beginning, which matters where rows came in the order of time.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
display = NestedDisplay.from_search(searches["ridge"], ax=axes[0])
display.plot(axes[1], kind="rows")
plt.show()

# %%
# What does it look at? Each outer model is asked again with one column shuffled, on rows that it was
# neither chosen nor trained with. Would more rows help? The lattice has models of three fifths of the
# rows anyway.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
importance = column_importance(searches["ridge"], X, y)
display = NestedDisplay.from_search(
    searches["ridge"], kind="importance", importance=importance, ax=axes[0]
)
display.plot(axes[1], kind="learning")
plt.show()

# %%
# Of classes: who is found, at what price, and whether probabilities mean what they say. Thin lines are
# single outer folds.

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": np.logspace(-3, 2, 6)}
search = StabilitySearchCV(model, grid, scoring="roc_auc", cv=folds).fit(X[:, :3], y)

figure, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
display = NestedDisplay.from_search(search, ax=axes[0, 0])
for ax, kind in zip(axes.flat[1:], ("roc", "precision_recall", "calibration"), strict=True):
    display.plot(ax, kind=kind)
plt.show()
