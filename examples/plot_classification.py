"""
Classification: how sure may a model be?
========================================

Nearest neighbours for the breast cancer data, tuned for the log loss, which asks for good
probabilities and not only for the right class.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilityDisplay, StabilitySearchCV

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), KNeighborsClassifier())
grid = {
    "kneighborsclassifier__n_neighbors": range(5, 61, 5),
    "kneighborsclassifier__weights": ["uniform", "distance"],
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
search = StabilitySearchCV(model, grid, scoring="neg_log_loss", cv=folds).fit(X, y)
print(search.summary())

# %%
# Neighbours that all agree say "certainly", and a patient for whom that is wrong costs about 36. There
# are such patients up to 40 neighbours, a few less in each group of points from the upper right to the
# lower left, and the CV error hangs on them. From 45 neighbours on there are none left. Of these
# candidates, those weighted by distance have the lower CV error by a little, and they know by heart what
# they were trained on, so their losses change more when a fold is left out. Which kind and how many
# neighbours look best without a fold depends on who is in it: on folds that had no say, plain
# cross-validation's choices did much worse than promised.

StabilityDisplay.from_search(search)
plt.show()

# %%
# Other losses answer other questions. The zero-one loss, the default, counts errors; the Brier score
# lies in between.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, loss in zip(axes, ("zero_one", "brier", "log_loss"), strict=True):
    one = StabilitySearchCV(model, grid, loss=loss, cv=folds).fit(X, y)
    StabilityDisplay.from_search(one, kind="weights", ax=ax)
    ax.set_title(f'loss="{loss}"')
    ax.legend().set_visible(loss == "log_loss")
plt.show()
