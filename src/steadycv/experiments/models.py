"""A model with its grid, and what it takes to tune it on one split."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from steadycv.estimators import new_estimator
from steadycv.rules import first_minimum
from steadycv.search import StabilitySearchCV
from steadycv.sparse.cv import share_trained_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from steadycv.experiments.splits import Split

    Grid: TypeAlias = dict[str, list[Any]] | list[dict[str, list[Any]]]

__all__ = [
    "NESTED",
    "NESTED_OR_PLAIN",
    "PLAIN",
    "WEIGHTS",
    "Choice",
    "Model",
    "Outcome",
    "Tuned",
    "outcomes",
]

PLAIN = "kCV"
NESTED = "nested kCV"
NESTED_OR_PLAIN = "nested kCV, weight 0 too"

WEIGHTS = np.logspace(-4, 4, 10)
"""The paper's ten stability weights. The default of the search has 0 as well."""


class Choice(NamedTuple):
    """What a selection chose, and the errors that it knows without looking at test data.

    `reported_error` is what it tells its user to expect: the CV error of plain cross-validation, the
    nested error of the method. `nested_error` is the error on outer folds of what this selection
    chooses without them; NaN where that was not computed.
    """

    selection: str
    candidate: int
    weight: float
    reported_error: float
    nested_error: float


class Outcome(NamedTuple):
    """A choice, fitted on all that was tuned on and tried on the test data.

    `sparsity` is the number of coefficients that are not zero, NaN for models without any.
    """

    selection: str
    parameters: dict[str, Any]
    weight: float
    sparsity: float
    reported_error: float
    nested_error: float
    test_error: float
    same_choice: bool


class Tuned(Protocol):
    """What is tuned on a split, by several selections at once."""

    @property
    def name(self) -> str:
        """What it is called in the results."""

    @property
    def selections(self) -> tuple[str, ...]:
        """The selections that a run gives an outcome of."""

    def run(self, split: Split) -> list[Outcome]:
        """Tune on one split, and try what was chosen on the test data."""


def unchanged(params: dict[str, Any], share: float) -> dict[str, Any]:  # noqa: ARG001
    """The parameters as they were chosen."""
    return params


@dataclass(frozen=True)
class Model:
    """A model to be tuned.

    Attributes
    ----------
    name : str
        What it is called in the results.
    estimator : callable
        Makes it; a function, so that its package is imported only when it is run.
    grid : callable
        The grid, given the data to tune on.
    nested : bool
        Whether it is tuned by the method: coordinate descent for all weights, beside plain
        cross-validation by coordinate descent. Otherwise by plain cross-validation over the grid.
    in_paper : str
        What the paper calls it, where that is something else.
    adjust : callable
        The parameters of the final model, given the chosen ones and the share of the samples that the
        splits train on, in the mean.
    """

    name: str
    estimator: Callable[[], Any]
    grid: Callable[[Any, Any], Grid]
    nested: bool = False
    in_paper: str = ""
    adjust: Callable[[dict[str, Any], float], dict[str, Any]] = unchanged

    @property
    def selections(self) -> tuple[str, ...]:
        """The selections that a run gives an outcome of."""
        return (PLAIN, NESTED, NESTED_OR_PLAIN) if self.nested else (PLAIN,)

    def configuration(self, X: Any, y: Any) -> Any:
        """What its results on some data depend on."""
        return self.name, self.nested, self.estimator().get_params(), self.grid(X, y)

    def run(self, split: Split) -> list[Outcome]:
        """Tune on one split, and try what was chosen on the test data."""
        search = StabilitySearchCV(
            self.estimator(),
            self.grid(split.X, split.y),
            stability_weights=[0.0, *WEIGHTS] if self.nested else 0.0,
            rule="paper",
            nested=self.nested,
            search="coordinate" if self.nested else "grid",
            loss="squared_error",
            cv=split.cv,
            refit=False,
            error_score="raise",
        ).fit(split.X, split.y)
        return outcomes(search, self._choices(search), split, self.adjust)

    def _choices(self, search: StabilitySearchCV) -> list[Choice]:
        plain = search.kfold_index_
        cv_error = float(search.cv_results_["cv_error"][plain])
        if not self.nested:
            return [Choice(PLAIN, plain, nan, cv_error, nan)]
        weights, index, error = (search.weights_[name] for name in ("weight", "index", "mean_error"))
        chosen = {NESTED: 1 + first_minimum(error[1:]), NESTED_OR_PLAIN: first_minimum(error)}
        return [Choice(PLAIN, plain, 0.0, cv_error, float(error[0]))] + [
            Choice(name, int(index[i]), float(weights[i]), float(error[i]), float(error[i]))
            for name, i in chosen.items()
        ]


def outcomes(
    search: StabilitySearchCV,
    choices: list[Choice],
    split: Split,
    adjust: Callable[[dict[str, Any], float], dict[str, Any]] = unchanged,
) -> list[Outcome]:
    """Fit each choice on all that was tuned on, and try it on the test data."""
    share = share_trained_on(search.lattice_)
    candidates = search.cv_results_["params"]
    fitted = {
        c: new_estimator(search.estimator, adjust(candidates[c], share)).fit(split.X, split.y)
        for c in {choice.candidate for choice in choices}
    }
    errors = {c: _mean_squared_error(model, split) for c, model in fitted.items()}
    return [
        Outcome(
            selection=choice.selection,
            parameters=candidates[choice.candidate],
            weight=choice.weight,
            sparsity=_sparsity(fitted[choice.candidate]),
            reported_error=choice.reported_error,
            nested_error=choice.nested_error,
            test_error=errors[choice.candidate],
            same_choice=choice.candidate == search.kfold_index_,
        )
        for choice in choices
    ]


def _mean_squared_error(model: Any, split: Split) -> float:
    return float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))


def _sparsity(model: Any) -> float:
    last = model[-1] if hasattr(model, "steps") else model
    return float(np.count_nonzero(last.coef_)) if hasattr(last, "coef_") else nan
