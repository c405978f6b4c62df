"""Tools that people already have: what a search knows, where they look at things."""

from __future__ import annotations

from steadycv.tools.mlflow_runs import log_to_mlflow
from steadycv.tools.onnx_graphs import register_onnx_converters
from steadycv.tools.optuna_studies import add_to_study
from steadycv.tools.skore_reports import skore_report

__all__ = ["add_to_study", "log_to_mlflow", "register_onnx_converters", "skore_report"]
