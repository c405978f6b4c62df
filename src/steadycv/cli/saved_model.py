"""The model that is saved, and how it is loaded: with skops, which runs no code of the file."""

from __future__ import annotations

import warnings
import zipfile
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from steadycv._files import write_whole
from steadycv.cli.errors import UserError
from steadycv.cli.preparation import as_model_takes_them

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["TRUSTED", "TunedModel", "load_model", "save_model"]

TRUSTED = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.metrics._dist_metrics.ChebyshevDistance64",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.ManhattanDistance64",
    "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
    "steadycv.cli.saved_model.TunedModel",
    "steadycv.sparse.estimator.SparseRidge",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRegressor",
)
"""What a saved model may be made of, besides what skops trusts itself: nothing that runs code."""

PACKAGES = ("steadycv", "scikit-learn")


class TunedModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted model that takes a table as it was read, and predicts.

    Parameters
    ----------
    name : str
        The model, by the name that a user gives.
    pipeline : Pipeline
        The preparation and the model, fitted.
    numeric, text : list of str
        The columns that it takes as numbers and as categories.
    target : str
        What it predicts.
    classes : list
        The classes, in the order of the pipeline's; empty for a number.
    versions : dict of str to str
        The packages that it was fitted with.
    splits : str
        How the rows were split when it was tuned, in words.
    """

    def __init__(
        self,
        name: str,
        pipeline: Any,
        numeric: list[str],
        text: list[str],
        target: str,
        classes: list[Any],
        versions: dict[str, str],
        splits: str,
    ) -> None:
        self.name = name
        self.pipeline = pipeline
        self.numeric = numeric
        self.text = text
        self.target = target
        self.classes = classes
        self.versions = versions
        self.splits = splits

    def missing_columns(self, table: Any) -> list[str]:
        """The columns that the model needs and a table lacks."""
        return [name for name in (*self.numeric, *self.text) if name not in table.columns]

    def predict(self, table: Any) -> NDArray[Any]:
        """A number or a class for each row of a data frame."""
        predictions = self.pipeline.predict(self._features(table))
        return np.array(self.classes)[predictions] if self.classes else np.asarray(predictions)

    def predict_proba(self, table: Any) -> NDArray[np.float64] | None:
        """The probability of each class for each row; None of models without probabilities."""
        if not self.classes or not hasattr(self.pipeline, "predict_proba"):
            return None
        return np.asarray(self.pipeline.predict_proba(self._features(table)))

    def _features(self, table: Any) -> Any:
        missing = self.missing_columns(table)
        if missing:
            raise ValueError(f"The table lacks columns that the model needs: {', '.join(missing)}.")
        table = table.assign(**{name: _numbers(table[name]) for name in self.numeric})
        return as_model_takes_them(table, self.numeric, self.text)


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
    return model


def versions() -> dict[str, str]:
    """The versions here of the packages that the fitted state of a model depends on."""
    return {name: version(name) for name in PACKAGES}


def _numbers(column: Any) -> Any:
    """A column as numbers, also where some came as texts."""
    import pandas

    if pandas.api.types.is_numeric_dtype(column):
        return column
    truths = column.map({True: 1.0, False: 0.0})
    numbers = pandas.to_numeric(column, errors="coerce").where(truths.isna(), truths)
    wrong = column[numbers.isna() & column.notna()]
    if len(wrong):
        raise ValueError(
            f"The column {column.name!r} must have numbers; {len(wrong)} of its values are none, such "
            f"as {str(wrong.iloc[0])!r}."
        )
    return numbers.astype(np.float64)
