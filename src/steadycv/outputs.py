"""Outputs: what the models of one training set say, be they fitted models or the rows of a path."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from steadycv._arrays import one_column, plain
from steadycv._compat import to_numpy
from steadycv.paths.looked_up import LookedUp
from steadycv.paths.separate import model_outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Outputs, PathData

__all__ = [
    "FittedModel",
    "ModelsOfPath",
    "OutputsOfModels",
    "Replay",
    "SeveralModels",
    "answering",
]


class OutputsOfModels(Protocol):
    """What some models, trained on the same rows, say of the samples; one row a model."""

    n_models: int
    trained_on: NDArray[np.intp]

    def says(self, methods: Sequence[str], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """What the first of these methods that there is says of some samples, or of all."""

    def model(self, i: int, rows: NDArray[np.intp]) -> Any:
        """A fitted estimator, or what answers like one when it is asked about these rows."""

    def only(self, i: int) -> OutputsOfModels:
        """One of the models."""

    def without(self, failed: NDArray[np.bool_]) -> OutputsOfModels:
        """The models, of which the failed ones are not asked again; nobody looks at their rows."""


class FittedModel:
    """A model that was fitted by itself."""

    n_models = 1

    def __init__(self, model: Any, data: PathData, classes: NDArray[Any] | None) -> None:
        self.trained_on = data.rows
        self._model = model
        self._data = data
        self._classes = classes
        self._everywhere: dict[str, NDArray[Any]] = {}
        self._last: tuple[str, NDArray[np.intp] | None, Any] = ("", None, None)

    def says(self, methods: Sequence[str], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """What it says; what it said of all samples is not asked again."""
        method = answering(self._model, methods)
        if rows is not None and method not in self._everywhere:
            if self._last[0] != method or self._last[1] is not rows:  # errors and their parts ask alike
                self._last = (method, rows, self._ask(method, rows)[np.newaxis])
            said: NDArray[Any] = self._last[2]
            return said
        if method not in self._everywhere:
            self._everywhere[method] = self._ask(method, None)
        outputs = self._everywhere[method]
        return (outputs if rows is None else outputs[rows])[np.newaxis]

    def elsewhere(self, X: Any) -> FittedModel:
        """The same model, to be asked about other samples."""
        return FittedModel(self._model, replace(self._data, X=X), self._classes)

    def _ask(self, method: str, rows: NDArray[np.intp] | None) -> NDArray[Any]:
        outputs = plain(model_outputs(self._model, method, self._data, rows))
        if method != "predict_proba" or self._classes is None:
            return one_column(outputs)
        return aligned(outputs, to_numpy(self._model.classes_), self._classes)

    def model(self, i: int, rows: NDArray[np.intp]) -> Any:  # noqa: ARG002
        """The model itself."""
        return self._model

    def only(self, i: int) -> FittedModel:  # noqa: ARG002
        """Itself."""
        return self

    def without(self, failed: NDArray[np.bool_]) -> FittedModel:  # noqa: ARG002
        """Itself, which has not failed."""
        return self


class ModelsOfPath:
    """The models that a path stands for; there are only their outputs."""

    def __init__(
        self,
        outputs: Outputs,
        trained_on: NDArray[np.intp],
        *,
        classes: NDArray[Any] | None = None,
        known: NDArray[Any] | None = None,
    ) -> None:
        self.trained_on = trained_on
        self._classes = classes
        self._known = classes if known is None else known
        self._outputs: dict[str, Any] = {
            method: _for_each_value(plain, said) for method, said in outputs.items()
        }
        if known is not None and classes is not None and "predict_proba" in self._outputs:
            said = self._outputs["predict_proba"]
            self._outputs["predict_proba"] = _for_each_value(aligned, said, known, classes)
        self.n_models = len(next(iter(self._outputs.values())))

    def says(self, methods: Sequence[str], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """What they say, as the path has it."""
        [method, *_] = [method for method in methods if method in self._outputs]
        outputs = self._outputs[method]
        return np.asarray(outputs) if rows is None else outputs[:, rows]

    def kept(self, method: str, rows: NDArray[np.intp]) -> Any:
        """What they say, as it takes the least room."""
        outputs = self._outputs[method]
        return outputs.on(rows) if isinstance(outputs, LookedUp) else outputs[:, rows]

    def model(self, i: int, rows: NDArray[np.intp]) -> Any:
        """A stand-in that says what the path said of these rows."""
        said = {method: outputs[i, rows] for method, outputs in self._outputs.items()}
        if self._classes is None or self._known is None:
            return Replay(said)
        if "predict_proba" in said and len(self._known) < len(self._classes):
            columns = np.searchsorted(self._classes, self._known)  # as the model itself has them
            said["predict_proba"] = said["predict_proba"][:, columns]
        return ReplayClassifier(said, self._known)

    def only(self, i: int) -> ModelsOfPath:
        """One of the models."""
        return self.some(slice(i, i + 1))

    def some(self, which: slice | NDArray[np.intp]) -> ModelsOfPath:
        """Some of the models."""
        some = {method: said[which] for method, said in self._outputs.items()}
        return ModelsOfPath(some, self.trained_on, classes=self._classes, known=self._known)

    @property
    def are_looked_up(self) -> bool:
        """Whether what they say is only looked up when somebody asks."""
        return any(isinstance(said, LookedUp) for said in self._outputs.values())

    def anywhere(self) -> ModelsOfPath:
        """The same models, with nothing known of where they were trained."""
        nowhere = np.zeros(0, dtype=np.intp)
        return ModelsOfPath(self._outputs, nowhere, classes=self._classes, known=self._known)

    def without(self, failed: NDArray[np.bool_]) -> ModelsOfPath:  # noqa: ARG002
        """All of them: what they say is known."""
        return self


class SeveralModels:
    """Models one by one, each fitted or a path's; None for those that could not be."""

    def __init__(self, models: Sequence[OutputsOfModels | None]) -> None:
        self._models = models
        self.n_models = len(models)
        self.trained_on = next(model.trained_on for model in models if model is not None)

    def says(self, methods: Sequence[str], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """What they say; nobody looks at the rows of failed ones."""
        said = [None if model is None else model.says(methods, rows) for model in self._models]
        any_said = next(each for each in said if each is not None)
        return np.concatenate([any_said if each is None else each for each in said])

    def model(self, i: int, rows: NDArray[np.intp]) -> Any:
        """The model itself."""
        model = self._models[i]
        assert model is not None
        return model.model(0, rows)

    def only(self, i: int) -> OutputsOfModels:
        """One of the models."""
        model = self._models[i]
        assert model is not None
        return model

    def without(self, failed: NDArray[np.bool_]) -> SeveralModels:
        """Those that have not failed."""
        return SeveralModels(
            [m if worked else None for m, worked in zip(self._models, ~failed, strict=True)]
        )


class Replay(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Stands in for a fitted model, for a scorer: says again what a path said of some rows."""

    score = None  # what the estimator itself would say is not known

    def __init__(self, said: dict[str, NDArray[Any]]) -> None:
        self._said = said
        self._about: Any = None

    def about(self, X: Any) -> Replay:
        """The same, from now on of these data and no others."""
        self._about = X
        return self

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_said", {}):

            def answer(X: Any) -> NDArray[Any]:
                return self._answer(name, X)

            answer.__name__ = name  # by which scikit-learn's scorers ask again
            return answer
        raise AttributeError(f"A path does not know {name!r}.")

    def _answer(self, name: str, X: Any) -> NDArray[Any]:
        if X is not self._about:
            raise ValueError("A path knows what its models say of the data that it was given.")
        return self._said[name]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ReplayClassifier(ClassifierMixin, Replay):  # type: ignore[misc]
    """The same of a classifier."""

    score = None

    def __init__(self, said: dict[str, NDArray[Any]], classes: NDArray[Any]) -> None:
        super().__init__(said)
        self.classes_ = classes


def _for_each_value(function: Any, said: Any, *others: Any) -> Any:
    """A function of outputs, of those that are looked up in a table a function of the table."""
    if isinstance(said, LookedUp):
        return said.saying(function(said.value, *others))
    return function(np.asarray(said), *others)


def answering(estimator: Any, methods: Sequence[str]) -> str:
    """The first of some methods that an estimator has; the last one where it has none."""
    return next((method for method in methods if hasattr(estimator, method)), methods[-1])


def aligned(outputs: NDArray[Any], known: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Probabilities of the `known` classes, the last axis, as probabilities of all classes."""
    if outputs.shape[-1] == len(classes):
        return outputs
    # A class that the training set does not have was given no probability.
    found = np.zeros((*outputs.shape[:-1], len(classes)), dtype=outputs.dtype)
    found[..., np.searchsorted(classes, known)] = outputs
    return found
