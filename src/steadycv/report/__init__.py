"""The report: one HTML page that says what was chosen, why, and what to expect."""

from steadycv.report.write import write_report

__all__ = ["write_report"]
