"""The model that is saved, and how it is loaded: with skops, which runs no code of the file."""

from __future__ import annotations

import warnings
import zipfile
from copy import copy
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from steadycv._compat import PRIVATE_TYPES_OF_MODELS
from steadycv._files import write_whole
from steadycv.cli.errors import UserError
from steadycv.committees import Committee
from steadycv.intervals import residual_interval, sets_by_surprise
from steadycv.tables.readings import Reading
from steadycv.tables.table import as_models_take_them

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = [
    "TRUSTED",
    "TunedModel",
    "load_model",
    "save_model",
    "sorted_residuals",
    "versions",
    "without_splitter",
]

TRUSTED = (
    "numpy.dtype",
    *PRIVATE_TYPES_OF_MODELS,
    "steadycv.cli.saved_model.TunedModel",
    "steadycv.committees.Committee",
    "steadycv.sparse.estimator.SparseRidge",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRegressor",
)
"""What a saved model may be made of, besides what skops trusts itself: nothing that runs code."""

FORMAT_VERSION = 2
"""Of the file; it grows when something in it is renamed, removed or changes its meaning."""

PACKAGES = ("steadycv", "scikit-learn")


class TunedModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted model that takes a table as it was read, and predicts.

    Parameters
    ----------
    name : str
        The model, by the name that a user gives.
    pipeline : Pipeline
        The preparation and the model, fitted.
    columns : list of dict
        How each column of the table that it was tuned on is read, see `steadycv.tables.Reading`.
    target : str
        What it predicts.
    classes : list
        The classes, in the order of the pipeline's; empty for a number.
    versions : dict of str to str
        The packages that it was fitted with.
    splits : str
        How the rows were split when it was tuned, in words.
    residuals : ndarray or None
        How far rows were from what would have been saved without them, sorted, a row for each repeat of
        the splits: what intervals are made of. None where there are none.
    format_version : int
        Of the file.
    """

    def __init__(
        self,
        name: str,
        pipeline: Any,
        columns: list[dict[str, Any]],
        target: str,
        classes: list[Any],
        versions: dict[str, str],
        splits: str,
        residuals: NDArray[np.float64] | None = None,
        format_version: int = FORMAT_VERSION,
    ) -> None:
        self.name = name
        self.pipeline = pipeline
        self.columns = columns
        self.target = target
        self.classes = classes
        self.versions = versions
        self.splits = splits
        self.residuals = residuals
        self.format_version = format_version

    @property
    def readings(self) -> list[Reading]:
        """How each column of the table that it was tuned on is read."""
        return [Reading.from_dict(each) for each in self.columns]

    def missing_columns(self, table: Any) -> list[str]:
        """The columns that the model needs and a table lacks."""
        return [
            each.name for each in self.readings if not each.left_out and each.name not in table.columns
        ]

    def predict(self, table: Any) -> NDArray[Any]:
        """A number or a class for each row of a data frame."""
        predictions = self.pipeline.predict(self._features(table))
        return np.array(self.classes)[predictions] if self.classes else np.asarray(predictions)

    def predict_proba(self, table: Any) -> NDArray[np.float64] | None:
        """The probability of each class for each row; None of models without probabilities."""
        if not self.classes or not hasattr(self.pipeline, "predict_proba"):
            return None
        return np.asarray(self.pipeline.predict_proba(self._features(table)))

    def predict_interval(self, table: Any, coverage: float) -> NDArray[np.float64]:
        """The lower and the upper end of an interval for the number of each row."""
        return residual_interval(self.predict(table), self._residuals(), coverage)

    def predict_set(self, table: Any, coverage: float) -> NDArray[np.bool_]:
        """Whether a class is in the set of each row; the most probable one always is."""
        probabilities = self.predict_proba(table)
        if probabilities is None:
            raise ValueError(f"Sets of classes are made of probabilities, and {self.name} has none.")
        return sets_by_surprise(probabilities, self._residuals(), coverage)

    def _residuals(self) -> NDArray[np.float64]:
        residuals = getattr(self, "residuals", None)  # an older file has none
        if not isinstance(residuals, np.ndarray):
            raise ValueError(
                "The model was saved without what intervals are made of: tune it again to have some."
            )
        return np.asarray(residuals, dtype=np.float64)

    def _features(self, table: Any) -> Any:
        return as_models_take_them(table, self.readings)


def without_splitter(model: Any) -> Any:
    """A model as it is saved: a committee needs its splitter to be fitted anew, and not to predict."""
    if not isinstance(model, Committee):
        return model
    committee = copy(model)
    committee.cv = None
    return committee


def sorted_residuals(search: StabilitySearchCV) -> NDArray[np.float64] | None:
    """What intervals are made of, no longer in the order of the rows; None where there is nothing."""
    try:
        residuals = np.atleast_2d(np.abs(search.nested_residuals_))
    except (AttributeError, ValueError):  # no probabilities, or a choice without a fold that failed
        return None
    known = residuals[:, ~np.isnan(residuals).any(axis=0)]
    return np.sort(known, axis=None).reshape(known.shape)


def save_model(path: Path, model: TunedModel) -> None:
    """Write the file of a model, as a whole."""
    from skops import io

    write_whole(path, io.dumps(model, compression=zipfile.ZIP_DEFLATED))


def load_model(path: Path) -> TunedModel:
    """The model of a file; a file that has anything else in it is refused."""
    from skops import io

    try:
        content = path.read_bytes()
        unknown = sorted(set(io.get_untrusted_types(data=content)) - set(TRUSTED))
        if unknown:
            raise UserError(
                f"{path} is refused: it has {', '.join(unknown[:3])} in it, and no model that steadycv "
                "saves has."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # told otherwise
            model = io.loads(content, trusted=list(TRUSTED))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except UserError:
        raise
    except (ImportError, AttributeError) as error:  # something that the file names is not here
        here = ", ".join(f"{name} {number}" for name, number in versions().items())
        raise UserError(
            f"{path} cannot be loaded: {error}. It was made with other packages; this is {here}."
        ) from None
    except Exception as error:  # a damaged file can fail anywhere
        raise UserError(f"{path} is not a model saved by steadycv tune: {error}") from None
    if not isinstance(model, TunedModel):
        raise UserError(f"{path} is not a model saved by steadycv tune: it is a {type(model).__name__}.")
    found = getattr(model, "format_version", 1)
    if found != FORMAT_VERSION:
        raise UserError(
            f"{path} has the format {found}, and this release of steadycv reads {FORMAT_VERSION}: "
            "tune it again."
        )
    return model


def versions() -> dict[str, str]:
    """The versions here of the packages that the fitted state of a model depends on."""
    return {name: version(name) for name in PACKAGES}
