"""Tools that people already have: what a search knows, where they look at things."""

from __future__ import annotations

from steadycv.tools.mlflow_runs import log_to_mlflow

__all__ = ["log_to_mlflow"]
