"""Neural networks for tables, and the path that trains those of a whole search side by side.

Needs PyTorch: ``pip install 'steadycv[networks]'``.
"""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("steadycv.networks needs PyTorch: pip install 'steadycv[networks]'.") from error

from steadycv.networks import search_path  # noqa: F401  # registers the path of these estimators
from steadycv.networks.estimators import NetworkClassifier, NetworkRegressor

__all__ = ["NetworkClassifier", "NetworkRegressor"]
