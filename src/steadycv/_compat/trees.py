"""What scikit-learn does not export of its trees."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree
from sklearn.tree._tree import _build_pruned_tree_ccp as build_pruned_tree

__all__ = ["NODE_DTYPE", "Tree", "build_pruned_tree", "tie_width"]


@cache
def tie_width() -> np.float32:
    """How close two values of a feature are to a tree that takes them as one."""
    # Up to 1.7 the width is zero by mistake: that shows in a split between values closer than it.
    apart = DecisionTreeRegressor().fit(np.array([[0.0], [5e-8]], dtype=np.float32), [0, 1])
    return np.float32(0.0 if apart.tree_.node_count > 1 else 1e-7)
