"""Pictures of a search."""

from steadycv.plotting.display import StabilityDisplay

__all__ = ["StabilityDisplay"]
