"""The paper's tables and figures, run again; and the same comparison on one's own data."""

from steadycv.experiments.comparison import ComparedModel, TrainTest, run_comparison
from steadycv.experiments.figure_summary import draw_figure, read_figure, summarize_figure
from steadycv.experiments.figures import FIGURES, run_figure
from steadycv.experiments.models import Model
from steadycv.experiments.sheets import Sheet
from steadycv.experiments.summary import Results, read_results, summarize_shortly, summarize_table
from steadycv.experiments.table_runs import run_table
from steadycv.experiments.tables import TABLES, Table
from steadycv.experiments.verdict import Verdict, judge

__all__ = [
    "FIGURES",
    "TABLES",
    "ComparedModel",
    "Model",
    "Results",
    "Sheet",
    "Table",
    "TrainTest",
    "Verdict",
    "draw_figure",
    "judge",
    "read_figure",
    "read_results",
    "run_comparison",
    "run_figure",
    "run_table",
    "summarize_figure",
    "summarize_shortly",
    "summarize_table",
]
