"""
A handful of columns out of many
================================

Sparse ridge regression on the diabetes data with all products of two columns: 65 columns, of which a
readable model may use a few.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

from steadycv import SparseRidgeCV, StabilityDisplay, sparse_ridge_path

X, y = load_diabetes(return_X_y=True, as_frame=True)
products = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
X = products.fit_transform(X)
model = SparseRidgeCV(sparsities=range(1, 31)).fit(X, y)
print(model.search_.summary())

# %%
# The columns that were chosen, and their coefficients for columns of variance 1.

names = model.feature_names_in_[model.support_]
size = model.coef_[model.support_] * X.std().to_numpy()[model.support_]
figure, ax = plt.subplots(figsize=(7, 0.45 * len(names) + 1.2), layout="constrained")
order = np.argsort(np.abs(size))
ax.barh(names[order], size[order], color=np.where(size[order] > 0, "#0072b2", "#d55e00"))
ax.axvline(0, color="black", linewidth=0.8)
ax.set_xlabel("change in disease progression for one standard deviation")
for side in ("top", "right"):
    ax.spines[side].set_visible(False)
plt.show()

# %%
# All models of the grid were compared; the picture has both choices.

StabilityDisplay.from_search(model.search_, kind="grid", params=["gamma", "sparsity"])
plt.show()

# %%
# And how the model grows, one sparsity after the other, from a single call.

path = sparse_ridge_path(X, y, range(1, 16), [model.gamma_], standardize=True)
coefficients = path.coef.reshape(15, -1) * X.std().to_numpy()
figure, ax = plt.subplots(layout="constrained")
ever = np.flatnonzero(coefficients.any(axis=0))
for column in ever:
    inside = column in model.support_
    ax.plot(
        range(1, 16),
        coefficients[:, column],
        color="#0072b2" if inside else "#c0c0c0",
        zorder=2 if inside else 1,
    )
ax.axvline(model.sparsity_, color="#d55e00", linestyle=":", label=f"chosen: {model.sparsity_} columns")
ax.set(xlabel="columns allowed", ylabel="coefficient (columns of variance 1)")
ax.legend(frameon=False)
plt.show()
