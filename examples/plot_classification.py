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
search = StabilitySearchCV(model, grid, cv=folds).fit(X, y)
print(search.summary())

# %%
# Neighbours that all agree say "certainly", and a sample for which that is wrong costs about 36. Which
# fold has such samples decides the CV error of small numbers of neighbours, so the lowest one is partly
# luck: what was chosen without a fold did much worse on that fold than the CV error promised. Neighbours
# weighted by distance know a sample by heart as soon as it is trained on, so their losses change more
# when a fold is left out: they are the right half of the picture.

StabilityDisplay.from_search(search)
plt.show()

# %%
# Other losses answer other questions. The zero-one loss counts errors, the Brier score lies in
# between.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, loss in zip(axes, ("zero_one", "brier", "log_loss"), strict=True):
    one = StabilitySearchCV(model, grid, loss=loss, cv=folds).fit(X, y)
    StabilityDisplay.from_search(one, kind="weights", ax=ax)
    ax.set_title(f'loss="{loss}"')
plt.show()
