"""Tables as people have them: read, decided on column by column, and ready for models."""

from __future__ import annotations

from steadycv.tables.dates import DateFormat
from steadycv.tables.errors import TableError
from steadycv.tables.numbers import NumberFormat
from steadycv.tables.readings import Kind, Reading
from steadycv.tables.table import Table, read
from steadycv.tables.targets import Target

__all__ = [
    "DateFormat",
    "Kind",
    "NumberFormat",
    "Reading",
    "Table",
    "TableError",
    "Target",
    "read",
]
