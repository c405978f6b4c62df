"""Small tables, and networks that train in no time. Without PyTorch their tests are skipped."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

torch = pytest.importorskip("torch")

from steadycv.networks import NetworkClassifier, NetworkRegressor  # noqa: E402

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:90], Y[:90]
FLOWERS, LABELS = load_iris(return_X_y=True)
GRID = {"learning_rate": [0.003, 0.03], "weight_decay": [0.0, 1.0]}


def regressor(**params):
    return NetworkRegressor(**{"hidden": (16, 16), "epochs": 8, "random_state": 0} | params)


def classifier(**params):
    return NetworkClassifier(**{"hidden": (16, 16), "epochs": 8, "random_state": 0} | params)


def mixed(n=60):
    """A table with a category that matters, and its target."""
    random = np.random.default_rng(0)
    kind = random.choice(["low", "high", "middle"], size=n)
    table = pd.DataFrame({"kind": pd.Categorical(kind), "x": random.normal(size=n)})
    return table, table["x"].to_numpy() + 3.0 * (kind == "high")


def perceptron(n_inputs, n_outputs):
    """A module of one's own."""
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, n_outputs)
    )


def normalised(n_inputs, n_outputs):
    """One with a state, which cannot be stacked."""
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, n_outputs)
    )
