"""The paper's own figures, to stand beside ours.

From Cory-Wright and Gomez, *Stability Regularized Cross-Validation* (preprint in the style of ICML
2026): its Table 1, the table of its appendix on sparse ridge regression (here Table 2), and its table on
tree-based methods (here Table 3). Typed off the source of the paper, as printed.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple, TypeAlias

__all__ = ["EXCESS", "OVERDETERMINED", "SAME_CHOICE", "TABLES", "UNDERDETERMINED", "Printed"]

Method: TypeAlias = tuple[str, str]

OVERDETERMINED = (
    "wine",
    "housing",
    "autompg",
    "hitters",
    "prostate",
    "servo",
    "toxicity",
    "steam",
    "alcohol2",
)
UNDERDETERMINED = ("topgear", "bardet", "vessel", "riboflavin")


class Printed(NamedTuple):
    """What the paper prints of one method on one data set; NaN where it prints nothing."""

    sparsity: float
    reported_error: float
    test_error: float


SAME_CHOICE = {"sparse ridge": 0.67, "CART": 0.51, "XGBoost": 0.92}
"""The share of splits in which both selections chose the same hyperparameters, by model."""

EXCESS = {
    ("figure1", "overdetermined"): 0.006,
    ("figure1", "underdetermined"): 0.164,
    ("figure2", "overdetermined"): 0.011,
    ("figure2", "underdetermined"): 0.317,
}
"""How far the test error of the chosen setting is above the lowest one, by figure and setting."""

# Columns: sparsity, CV error and test error of kCV, of nested kCV, and of MCP.
_TABLE1 = """
wine        9.3   0.544  0.543   9.3   0.545  0.542  11    0.543  0.542
housing     11    23.60  23.68   11    23.73  23.70  11    23.79  23.66
autompg     18.5  8.524  8.608   18    8.647  8.703  18.7  9.051  8.828
hitters     11.7  0.076  0.082   14.7  0.080  0.080  11.5  0.077  0.082
prostate    5.1   0.529  0.559   4.8   0.571  0.549  7.1   0.570  0.552
servo       13.8  0.746  0.771   15.4  0.795  0.715  12    0.752  0.705
toxicity    3.8   0.037  0.054   3.8   0.044  0.057  2.7   0.050  0.060
steam       2.8   0.404  0.467   2.8   0.565  0.426  2.7   0.511  0.684
alcohol2    3.6   0.210  0.472   2.7   0.266  0.229  2.1   0.232  0.273
topgear     41.3  0.037  0.050   34.9  0.055  0.062  8.1   0.057  0.066
bardet      23.5  0.007  0.010   25.3  0.009  0.010  5.3   0.009  0.011
vessel      28.8  0.016  0.027   29.2  0.024  0.027  2.7   0.036  0.036
riboflavin  13.4  0.163  0.299   13.8  0.269  0.297  7.5   0.319  0.229
"""

# The same of SCAD, GLMNet and L0Learn.
_TABLE2 = """
wine        11    0.543  0.542   11    0.542  0.542  11    0.542  0.542
housing     11.2  24.34  23.69   12.1  23.33  23.79  11    23.48  23.61
autompg     17.3  8.894  9.028   19.6  8.705  8.880  15.7  8.766  8.979
hitters     12.1  0.083  0.085   12.2  0.075  0.080  8.9   0.077  0.082
prostate    6.7   0.529  0.557   6.9   0.508  0.569  3.2   0.511  0.547
servo       12.3  0.707  0.706   15.8  0.676  0.709  11.3  0.687  0.735
toxicity    3.5   0.044  0.055   6.1   0.038  0.054  3.2   0.032  0.063
steam       2.9   0.485  0.504   4.1   0.450  0.497  4.4   0.493  0.428
alcohol2    2.4   0.249  0.271   5.8   0.222  0.240  7.4   0.200  0.287
topgear     9.8   0.053  0.063   31.8  0.044  0.048  44.1  0.050  0.060
bardet      9.4   0.009  0.009   32.8  0.007  0.009  35.9  0.007  0.009
vessel      9.7   0.034  0.037   40.0  0.018  0.021  14.5  0.023  0.025
riboflavin  16.3  0.331  0.358   88.8  0.195  0.276  39.3  0.205  0.352
"""

# CV error and test error of CART by kCV and nested kCV, and of XGBoost by both.
_TABLE3 = """
wine        0.534   0.531   0.539   0.531   0.422   0.405   0.429   0.405
housing     17.385  19.183  18.912  19.040  11.092  12.464  12.155  12.464
autompg     15.351  15.878  16.55   16.004  10.36   11.872  11.395  11.628
hitters     0.050   0.057   0.055   0.058   0.038   0.039   0.042   0.039
prostate    0.717   0.788   0.815   0.796   0.581   0.696   0.648   0.679
servo       0.520   0.565   0.656   0.565   0.237   0.237   0.351   0.237
toxicity    0.081   0.118   0.092   0.114   0.066   0.081   0.078   0.081
steam       1.089   1.308   1.47    1.244   0.91    1.064   1.165   1.118
alcohol2    0.850   1.110   0.915   1.071   1.123   1.264   1.289   1.253
topgear     0.076   0.087   0.086   0.086   0.051   0.052   0.061   0.052
bardet      0.015   0.020   0.017   0.020   0.012   0.014   0.013   0.014
vessel      0.063   0.149   0.084   0.136   0.111   0.095   0.136   0.095
riboflavin  0.719   0.979   0.817   0.904   0.404   0.463   0.496   0.465
"""


def _parse(text: str, methods: tuple[Method, ...], width: int) -> dict[Method, dict[str, Printed]]:
    table: dict[Method, dict[str, Printed]] = {method: {} for method in methods}
    for line in text.strip().splitlines():
        dataset, *words = line.split()
        figures = [float(word) for word in words]
        for i, method in enumerate(methods):
            printed = figures[i * width : (i + 1) * width]
            table[method][dataset] = Printed(*[nan] * (3 - width), *printed)
    return table


TABLES: dict[str, dict[Method, dict[str, Printed]]] = {
    "table1": _parse(
        _TABLE1, (("sparse ridge", "kCV"), ("sparse ridge", "nested kCV"), ("MCP", "kCV")), 3
    ),
    "table2": _parse(_TABLE2, (("SCAD", "kCV"), ("GLMNet", "kCV"), ("L0Learn", "kCV")), 3),
    "table3": _parse(
        _TABLE3,
        (("CART", "kCV"), ("CART", "nested kCV"), ("XGBoost", "kCV"), ("XGBoost", "nested kCV")),
        2,
    ),
}
"""By table, model and selection, and data set."""
