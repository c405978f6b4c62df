"""What is wrong with a table."""

from __future__ import annotations

__all__ = ["TableError"]


class TableError(ValueError):
    """A table that cannot be used; the message says what is wrong, and what would be right."""
