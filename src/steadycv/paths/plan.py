"""The plan: which candidates one fit serves, and which of them are asked for together."""

from __future__ import annotations

from inspect import Parameter, getattr_static, signature
from itertools import compress
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._compat import n_samples_of
from steadycv.estimators import ANSWERS, methods_of, new_estimator, overwrites
from steadycv.paths.registry import find_path
from steadycv.paths.separate import SEPARATE
from steadycv.paths.settings import alike, key_of, together

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Path
    from steadycv.paths.settings import Key

__all__ = ["Group", "in_one_fit", "kinds", "plan", "runs_of", "takes_weights"]

MOST_BYTES = 2**27  # of what a group holds in memory, or as many as the data take
AT_WORK = 5  # tables of the size of a group's outputs besides those that wait to be compared


class Group(NamedTuple):
    """Candidates that one fit of a path serves; a single one where it is fitted separately.

    Attributes
    ----------
    members : ndarray of int
        The candidates, in increasing order.
    lines : ndarray of int
        The number of each member's line within the group. A path is asked for whole lines.
    path : Path
        What serves them.
    estimator : estimator
        Not fitted, and with the first member's parameters; where it is fitted separately, as it came.
    """

    members: NDArray[np.intp]
    lines: NDArray[np.intp]
    path: Path
    estimator: Any


def plan(
    estimator: Any,
    settings: Sequence[dict[str, Any]],
    X: Any,
    y: Any,
    *,
    methods: Collection[str] = ("predict",),
    fit_params: Collection[str] = (),
    use_paths: bool = True,
    n_held: int = 1,
) -> list[Group]:
    """Put candidates that a path serves together into groups, and all others alone.

    Parameters
    ----------
    estimator : estimator
        The estimator whose parameters a candidate sets.
    settings : sequence of dict
        The candidates.
    X, y : data
        All samples.
    methods : collection of str, default=("predict",)
        The methods of the estimator whose outputs are wanted.
    fit_params : collection of str, default=()
        The names of what ``fit`` is given besides.
    use_paths : bool, default=True
        Whether paths are used at all.
    n_held : int, default=1
        For how many training sets something of the size of the outputs is held at the same time.

    Returns
    -------
    groups : list of Group
        Every candidate is a member of one of them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> settings = [{"alpha": 0.1}, {"alpha": 1.0, "solver": "lsqr"}, {"alpha": 10.0}]
    >>> [group.members.tolist() for group in plan(Ridge(), settings, *load_diabetes(return_X_y=True))]
    [[0, 2], [1]]
    """
    path = find_path(estimator) if use_paths else None
    if path is None or not hasattr(path, "serves"):  # one of transformers is none here
        return [_separate(estimator, candidate) for candidate in range(len(settings))]
    most_bytes = max(MOST_BYTES, getattr(X, "nbytes", 0))
    most = most_bytes // (8 * (n_held + AT_WORK))
    planner = _Planner(path, estimator, settings, X, y, set(methods), fit_params, most)
    return [
        group
        for members in alike(settings, but=path.parameters(estimator))
        for group in planner.groups(members)
    ]


def _separate(estimator: Any, candidate: int) -> Group:
    return Group(np.array([candidate]), np.zeros(1, dtype=np.intp), SEPARATE, estimator)


class _Planner(NamedTuple):
    """What all groups of a plan share."""

    path: Any
    estimator: Any
    settings: Sequence[dict[str, Any]]
    X: Any
    y: Any
    methods: set[str]
    fit_params: Collection[str]
    most: int

    def groups(self, members: list[int]) -> Iterator[Group]:
        """What the path serves of candidates that differ in its parameters only; the rest alone."""
        served, estimator = self._served(members)
        if served and self._is_usable(estimator):
            yield from self._packed(served, estimator)
        else:
            served = []
        for candidate in sorted(set(members) - set(served)):
            yield _separate(self.estimator, candidate)

    def _served(self, members: list[int]) -> tuple[list[int], Any]:
        """The candidates that the path serves, and the estimator of the first."""
        for position, member in enumerate(members):
            try:
                estimator = new_estimator(self.estimator, self.settings[member])
            except (AttributeError, ValueError):  # a wrong name is the separate fit's to report
                continue
            possible = members[position:]
            settings = [self.settings[member] for member in possible]
            if hasattr(self.path, "serves_each"):
                serves = self.path.serves_each(estimator, settings, self.X, self.y)
            else:
                serves = [self.path.serves(estimator, each, self.X, self.y) for each in settings]
            served = list(compress(possible, serves))
            if served and served[0] != member:
                estimator = new_estimator(self.estimator, self.settings[served[0]])
            return served, estimator
        return [], None

    def _is_usable(self, estimator: Any) -> bool:
        """Whether the path gives what is wanted, from what fit is given."""
        return (
            self.methods <= set(self.path.methods(estimator))
            and all(takes_weights(estimator, name) for name in self.fit_params)
            and not overwrites(estimator.get_params(deep=True).items())
        )

    def _packed(self, members: list[int], estimator: Any) -> Iterator[Group]:
        """Groups of whole lines, no larger than they may be."""
        size = max(1, self.most // self._n_held(members, estimator))
        if hasattr(self.path, "at_most"):
            size = min(size, self.path.at_most(estimator) or size)
        for lines in _packs(self._lines(members, estimator), size):
            candidates = np.concatenate(lines)
            numbers = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
            order = np.argsort(candidates)
            if candidates[order[0]] != members[0]:
                estimator = new_estimator(self.estimator, self.settings[candidates[order[0]]])
            yield Group(candidates[order], numbers[order], self.path, estimator)

    def _n_held(self, members: list[int], estimator: Any) -> int:
        """How many numbers the outputs of a candidate take."""
        n_samples = int(n_samples_of(self.X))
        if not hasattr(self.path, "n_held"):
            return n_samples
        return max(int(self.path.n_held(estimator, self.settings[each], n_samples)) for each in members)

    def _lines(self, members: list[int], estimator: Any) -> list[list[int]]:
        if not hasattr(self.path, "line"):
            return [members]
        settings = [self.settings[member] for member in members]
        if hasattr(self.path, "line_each"):
            keys = self.path.line_each(estimator, settings)
        else:
            keys = [self.path.line(estimator, each) for each in settings]
        return [[members[i] for i in line] for line in together(keys)]


def _packs(lines: list[list[int]], size: int) -> Iterator[list[list[int]]]:
    """Lines by the pack. Those that are too long are cut, by nothing but their own order."""
    pack: list[list[int]] = []
    for line in lines:
        for part in (line[i : i + size] for i in range(0, len(line), size)):
            if sum(map(len, pack)) + len(part) > size:
                yield pack
                pack = []
            pack.append(part)
    yield pack


def kinds(estimator: Any, settings: Sequence[dict[str, Any]]) -> list[tuple[Any, list[int]]]:
    """Settings by the methods that they leave an estimator: one that has these, and the positions.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> settings = [{"C": 1.0}, {"probability": True}, {"C": 2.0}]
    >>> [positions for _, positions in kinds(SVC(), settings)]
    [[0, 2], [1]]
    """
    if not settings or all(_is_fixed(type(estimator), name) for name in ANSWERS):
        return [(estimator, list(range(len(settings))))]
    choices = together(  # numbers change no methods
        key_of({name: value for name, value in setting.items() if not _is_number(value)})
        for setting in settings
    )
    found: dict[tuple[str, ...], tuple[Any, list[int]]] = {}
    for positions in choices:
        one = new_estimator(estimator, settings[positions[0]])
        found.setdefault(methods_of(one), (one, []))[1].extend(positions)
    return [(one, sorted(positions)) for one, positions in found.values()]


def _is_fixed(cls: type, method: str) -> bool:
    """Whether all estimators of a class have a method, or none."""
    found = getattr_static(cls, method, None)
    return isinstance(found, FunctionType) or (found is None and not hasattr(cls, "__getattr__"))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def runs_of(path: Any, estimator: Any, settings: Sequence[dict[str, Any]]) -> list[Key]:
    """By setting, the solver's run that it is a part of; None where it is shared with all others."""
    if not hasattr(path, "serves") or path is SEPARATE:  # no path, or one of transformers
        return list(map(key_of, settings))
    if not hasattr(path, "run"):
        return [None] * len(settings)
    return [path.run(estimator, setting) for setting in settings]


def in_one_fit(estimator: Any) -> Collection[str]:
    """The parameters whose values all come with one fit, as far as a path serves them.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> in_one_fit(GradientBoostingRegressor())
    ('n_estimators',)
    """
    path = find_path(estimator)
    if not hasattr(path, "serves"):  # no path, or one of transformers
        return ()
    found: Collection[str] = getattr(path, "in_one_fit", path.parameters)(estimator)
    return found


def takes_weights(estimator: Any, name: str) -> bool:
    """Whether a fit parameter is weights that fit takes; of a pipeline, the fit of the step it names."""
    if hasattr(estimator, "named_steps"):
        step, _, name = name.partition("__")
        return takes_weights(estimator.named_steps.get(step), name)
    if name != "sample_weight" or not hasattr(estimator, "fit"):
        return False
    parameters = signature(estimator.fit).parameters
    return name in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
