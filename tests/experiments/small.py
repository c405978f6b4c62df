"""Small stand-ins for the data sets and the tables of the paper."""

import time
import zlib
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from steadycv.experiments import Model, Table
from steadycv.experiments.models import Outcome


def load(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    X = rng.normal(size=(45, 3))
    return X, X[:, 0] + 0.5 * np.abs(X[:, 1]) + rng.normal(scale=0.7, size=45)


def tree_grid(X, y):
    return {"max_depth": [1, 2, 3, 4], "min_samples_split": [2, 6, 12]}


def ridge_grid(X, y):
    return {"alpha": [0.1, 1.0, 10.0]}


TREE = Model("tree", DecisionTreeRegressor, tree_grid, nested=True)
RIDGE = Model("ridge", Ridge, ridge_grid, in_paper="the other")
TABLE = Table("small", "Small", (TREE, RIDGE), n_splits=2)


@dataclass(frozen=True)
class Slow:
    """A model that takes its time, and writes down what it was asked to do."""

    journal: str
    seconds: float = 0.0
    name: str = "slow"
    nested: bool = False
    selections: tuple = ("kCV",)

    def configuration(self, X, y):
        return self.name

    def run(self, split):
        time.sleep(self.seconds)
        with open(self.journal, "a") as file:  # noqa: PTH123
            file.write(f"{split.y.sum()!r}\n")
        error = float(split.y_test.mean())
        return [Outcome("kCV", {}, np.nan, np.nan, error, np.nan, error, True)]
