"""Numbers, settings and losses as people read them: the same in pictures, notebooks and reports."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steadycv.losses import Loss

__all__ = ["loss_name", "number", "setting", "short_names", "superscript", "value_text"]

MOST_DIGITS = 13  # of a number that is written out: thousands of billions
LONGEST_VALUE = 60  # characters of a parameter's value that are shown

_LOSS_NAMES = {
    "squared_error": "mean squared error",
    "absolute_error": "mean absolute error",
    "squared_log_error": "mean squared logarithmic error",
    "absolute_percentage_error": "mean absolute percentage error",
    "poisson_deviance": "mean Poisson deviance",
    "gamma_deviance": "mean gamma deviance",
    "zero_one": "share of wrong predictions",
    "log_loss": "log loss",
    "brier": "Brier score",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """A measured number with so many significant digits; NaN is what is not known.

    Examples
    --------
    >>> [number(x) for x in (4108.7, 0.35938, 1, 24443210, 1.5e-7, float("nan"))]
    ['4109', '0.3594', '1', '24,440,000', '1.5 × 10⁻⁷', 'not known']
    """
    if not math.isfinite(value):
        return "not known" if math.isnan(value) else "infinite"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if value and not -4 <= power < MOST_DIGITS:
        return f"{_trimmed(mantissa)} × 10{superscript(power)}"
    decimals, rounded = max(0, digits - 1 - power), float(f"{value:.{digits - 1}e}")
    return _trimmed(f"{rounded:,.{decimals}f}" if power >= 4 else f"{rounded:.{decimals}f}")


def superscript(exponent: int) -> str:
    """An exponent in small raised digits."""
    return str(exponent).translate(_SUPERSCRIPTS)


def _trimmed(text: str) -> str:
    """Without the zeros at the end of decimals."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def value_text(value: Any) -> str:
    """The value of a parameter, on one line that is not too long.

    Examples
    --------
    >>> [value_text(x) for x in (3, 100.0, 1 / 3, None, "rbf", (1, 2), len)]
    ['3', '100', '0.3333', 'None', 'rbf', '(1, 2)', 'len']
    """
    if isinstance(value, Real) and not isinstance(value, (bool, Integral)):
        text = f"{float(value):.6g}"
        return text if float(text) == value else f"{float(value):.4g}"
    if not isinstance(value, (str, Integral)):
        value = getattr(value, "__name__", None) or repr(value)
    line = " ".join(str(value).split())
    return line if len(line) <= LONGEST_VALUE else f"{line[: LONGEST_VALUE - 1]}…"


def setting(params: Mapping[str, Any]) -> str:
    """A candidate in words.

    Examples
    --------
    >>> setting({"tree__max_depth": 3, "tree__min_samples_leaf": 19})
    'max_depth = 3, min_samples_leaf = 19'
    """
    names = short_names(params)
    text = ", ".join(f"{names[name]} = {value_text(value)}" for name, value in params.items())
    return text or "the model as it is"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names of parameters without the steps of a pipeline, where no two become the same.

    Examples
    --------
    >>> short_names(["a__alpha", "b__alpha", "b__beta"])
    {'a__alpha': 'a__alpha', 'b__alpha': 'b__alpha', 'b__beta': 'beta'}
    """
    last = {name: name.rsplit("__", 1)[-1] for name in names}
    return {
        name: short if list(last.values()).count(short) == 1 else name for name, short in last.items()
    }


def loss_name(loss: Loss) -> str:
    """What the mean of a loss is called.

    Examples
    --------
    >>> from steadycv.losses import get_loss, pinball_loss
    >>> loss_name(get_loss("squared_error")), loss_name(pinball_loss(0.9))
    ('mean squared error', 'pinball loss of the quantile 0.9')
    """
    name = getattr(loss, "name", None)
    if name in _LOSS_NAMES:
        return _LOSS_NAMES[name]
    if hasattr(loss, "alpha"):
        return f"pinball loss of the quantile {loss.alpha:g}"
    if hasattr(loss, "power"):
        return f"mean Tweedie deviance of the power {loss.power:g}"
    name = str(getattr(loss, "__name__", type(loss).__name__)).strip("<>")
    return "mean loss" if name == "lambda" else f"mean of {name}"
