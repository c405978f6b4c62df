"""Pictures of a search."""

from steadycv.plotting.display import StabilityDisplay
from steadycv.plotting.nested import NestedDisplay

__all__ = ["NestedDisplay", "StabilityDisplay"]
