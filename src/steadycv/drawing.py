"""Drawing: candidates from lists and distributions, before anything is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc, rv_discrete
from sklearn.model_selection import ParameterSampler
from sklearn.utils import check_random_state

from steadycv.candidates import Candidates

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

__all__ = ["SAMPLERS", "draw", "draw_lines"]

SAMPLERS = ("random", "sobol", "latin")

OPEN = 2.0**-53  # of the unit interval, at both ends: there some distributions are infinite
_NUMBER = "number of the dict"  # an axis beside those of a dict, where there are several


def draw(
    space: Any, n_iter: int, *, sampler: str = "random", random_state: Any = None
) -> list[dict[str, Any]]:
    """Draw candidates.

    Parameters
    ----------
    space : dict or list of dicts
        Lists of values, and distributions of scipy's kind, by name.
    n_iter : int
        How many; fewer where there are not so many.
    sampler : {"random", "sobol", "latin"}, default="random"
        ``"random"`` draws what :class:`~sklearn.model_selection.ParameterSampler` does. The others
        spread points evenly over the space, and take of equal candidates one.
    random_state : int, RandomState or None, default=None
        Where the numbers come from.

    Returns
    -------
    candidates : list of dict
        In the order in which they were drawn.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> even = draw({"a": uniform(0, 4)}, 4, sampler="sobol", random_state=0)
    >>> sorted(int(each["a"]) for each in even)
    [0, 1, 2, 3]
    """
    drawn = ParameterSampler(space, n_iter, random_state=random_state)  # and checks what it is given
    if sampler == "random":
        return list(drawn)
    spaces = [space] if isinstance(space, dict) else list(space)
    spaces = [dict(sorted(axes.items())) for axes in spaces]
    n_axes = max(len(axes) for axes in spaces)
    points = _points(sampler, 1 + n_axes, n_iter, check_random_state(random_state))
    candidates = Candidates()
    for which, *places in points.tolist():
        axes = spaces[int(which * len(spaces))]
        candidates.add(
            [{name: _value(name, axes[name], at) for name, at in zip(axes, places, strict=False)}]
        )
    return list(candidates)


def draw_lines(
    space: Any,
    n_iter: int,
    line_length: int,
    free: Collection[str],
    *,
    sampler: str = "random",
    random_state: Any = None,
) -> list[dict[str, Any]]:
    """Draw lines: candidates that have all parameters in common but the `free` ones.

    Parameters
    ----------
    space : dict or list of dicts
        As in `draw`.
    n_iter : int
        How many lines; fewer where there are not so many.
    line_length : int
        How many candidates a line has; fewer where there are not so many.
    free : collection of str
        The parameters in which the candidates of a line differ.
    sampler, random_state
        As in `draw`.

    Returns
    -------
    candidates : list of dict
        One line after the other.

    Examples
    --------
    >>> space = {"learning_rate": [0.1, 0.3], "n_estimators": [10, 20]}
    >>> for candidate in draw_lines(space, 2, 2, ["n_estimators"], random_state=0):
    ...     print(candidate)
    {'learning_rate': 0.1, 'n_estimators': 10}
    {'learning_rate': 0.1, 'n_estimators': 20}
    {'learning_rate': 0.3, 'n_estimators': 10}
    {'learning_rate': 0.3, 'n_estimators': 20}
    """
    rng = check_random_state(random_state)
    spaces = [space] if isinstance(space, dict) else list(space)
    fixed = [
        {name: axis for name, axis in axes.items() if name not in free} | {_NUMBER: [number]}
        for number, axes in enumerate(spaces)
    ]
    moving = [{name: axis for name, axis in axes.items() if name in free} for axes in spaces]
    candidates = Candidates()
    for line in draw(fixed, _at_most(fixed, n_iter), sampler=sampler, random_state=rng):
        axes = moving[line.pop(_NUMBER)]
        parts = draw(axes, _at_most(axes, line_length), sampler=sampler, random_state=rng)
        candidates.add([line | part for part in parts])
    return list(candidates)


def _at_most(space: Any, n: int) -> int:
    """How many candidates can be drawn: as many, or all that there are."""
    return len(ParameterSampler(space, n))


def _points(sampler: str, n_axes: int, n: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Points of the unit cube, spread evenly."""
    seed = np.random.default_rng(rng.randint(2**31 - 1))
    if sampler == "latin":
        points = qmc.LatinHypercube(n_axes, seed=seed).random(n)
    else:  # Sobol's points come in powers of two
        points = qmc.Sobol(n_axes, seed=seed).random_base2((n - 1).bit_length())[:n]
    inside: NDArray[np.float64] = np.clip(points, OPEN, 1 - OPEN)
    return inside


def _value(name: str, axis: Any, at: float) -> Any:
    """The value of an axis at a point between 0 and 1."""
    if not hasattr(axis, "rvs"):
        return axis[int(at * len(axis))]
    if not hasattr(axis, "ppf"):
        raise ValueError(
            f"Only sampler='random' draws from distributions without quantiles (a method ppf), and that "
            f"of {name!r} is one: {axis!r}."
        )
    value = axis.ppf(at)
    return int(value) if isinstance(getattr(axis, "dist", axis), rv_discrete) else float(value)
