"""The main job on data that come with scikit-learn: `make demo`."""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

X, y = load_diabetes(return_X_y=True)
grid = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21, 2)}
folds = KFold(5, shuffle=True, random_state=24)
search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=folds, n_jobs=-1, verbose=1)
search.fit(X, y)
print(search.summary())
