"""
A first search, and its three pictures
======================================

A decision tree for the diabetes data: the plain choice, the steady choice, and why they
differ.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityDisplay, StabilitySearchCV

X, y = load_diabetes(return_X_y=True)
grid = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21, 2)}
folds = KFold(5, shuffle=True, random_state=24)
search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=folds).fit(X, y)
print(search.summary())

# %%
# Every candidate has a CV error and an instability: how much its losses change when a fold is left out.
# The candidates that are best for *some* stability weight form the frontier. Plain cross-validation
# takes its lower end, whatever the instability there; nested cross-validation decides how far to walk
# to the left.

StabilityDisplay.from_search(search)
plt.show()

# %%
# How it decides: for each weight, a candidate is chosen on four fifths of the data and tried on the
# fifth that had no say. The smallest weight whose mean error on these outer folds is the lowest, or no
# more than a standard error above it, wins, and that error is what to expect on new data.

StabilityDisplay.from_search(search, kind="weights")
plt.show()

# %%
# Where the two choices lie on the grid, with the regularized error at the chosen weight as colour.

StabilityDisplay.from_search(search, kind="grid", error="regularized_error")
plt.show()
