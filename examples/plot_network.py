"""
A network, chosen, promised and delivered
=========================================

Five lines: a grid, a search, what to expect, and a committee of networks to predict with.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from steadycv import StabilityDisplay, StabilitySearchCV
from steadycv.networks import NetworkRegressor

X, y = load_diabetes(return_X_y=True)
grid = {"weight_decay": [0.1, 1.0, 10.0], "epochs": range(4, 61, 4)}
search = StabilitySearchCV(NetworkRegressor(), grid, deliver="committee", race=False).fit(X, y)
print(search.summary())
print(search.predict(X[:3]))

# %%
# 45 candidates took 48 trainings side by side: three for each of 16 training sets, as one training has
# all numbers of epochs. Where to stop is chosen like everything else, by errors on rows that were not
# trained on. A network that is trained for long knows its patients by heart, and its losses change much
# when a fold is left out: that is the instability. A strong weight decay keeps them steady for as long
# as one likes, at hardly more error.

results = search.cv_results_
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharex=True)
for ax, name in zip(axes, ("cv_error", "instability"), strict=True):
    for decay in grid["weight_decay"]:
        of_decay = results["param_weight_decay"] == decay
        ax.plot(grid["epochs"], results[name][of_decay], marker="o", label=f"{decay:g}")
    ax.set_xlabel("epochs")
    ax.set_title(name.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].axhline(search.promise_, color="black", linestyle=":", label="promised, committee")
axes[0].legend(title="weight decay")
plt.show()

# %%
# The picture of the whole grid has both choices.

StabilityDisplay.from_search(search, kind="grid", params=["epochs", "weight_decay"])
plt.show()
