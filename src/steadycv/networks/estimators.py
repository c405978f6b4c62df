"""`NetworkRegressor` and `NetworkClassifier`: small neural networks for tables."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from steadycv._compat import check_sample_weight
from steadycv.networks.architecture import Perceptron
from steadycv.networks.modules import Module
from steadycv.networks.objectives import OF_NUMBERS, log_scale
from steadycv.networks.tables import Preparation, merged, read_table, weighted_scale
from steadycv.networks.training import Run, TrainingSet, one_thread, say, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from steadycv.networks.tables import Inputs

__all__ = ["DIVERGED", "NetworkClassifier", "NetworkRegressor", "TableNetwork"]

DIVERGED = "The training diverged: the outputs are not finite. A lower learning_rate than {:g} may help."
EMBEDDINGS = (None, "periodic", "quantile")


class Network(NamedTuple):
    """A trained network."""

    program: Any
    parameters: list[NDArray[np.float32]]


class TableNetwork(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both have in common."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> TableNetwork:
        """Train the network.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, none negative. A weight of 2 is a sample that is there twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        with one_thread():
            training_set = self._ready(X, y, sample_weight)
            program = self._program(training_set)
            device = self._chosen_device()
            for _, averages in train(
                program,
                self._loss_name,
                self._quantile_of_loss,
                [self._run(training_set)],
                [self.epochs],
                device,
            ):
                self.network_ = Network(program, [each.cpu().numpy().copy() for each in averages])
            outputs = say(program, self.network_.parameters, [training_set.inputs])
        if not np.isfinite(outputs).all():
            raise ValueError(DIVERGED.format(self.learning_rate))
        return self

    def __sklearn_tags__(self) -> Any:
        """Categories are taken where they are told."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    # What follows is for the path of a search, too.

    def _ready(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> TrainingSet:
        """Learn scales, quantiles, categories and classes, and give the training set by these."""
        self._check_parameters()
        table = read_table(self, X, self.categories, reset=True)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is "
                "None."
            )
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_consistent_length(table.numbers, y)
        target = self._target(y)
        weight = check_sample_weight(
            sample_weight, table.numbers, dtype=np.float64, ensure_non_negative=True
        )
        if not weight.any():
            raise ValueError("All sample weights are zero: there is nothing to train on.")
        table, target, weight = merged(table, target, weight)
        self.preparation_ = Preparation(
            table, weight, self.embedding_size if self.embedding == "quantile" else 0
        )
        return TrainingSet(
            self.preparation_.inputs(table),
            self._scaled(target, weight).astype(np.float32),
            (weight / weight.mean()).astype(np.float32),
            self.batch_size,
        )

    def _program(self, training_set: TrainingSet) -> Any:
        """What is trained."""
        n_numbers = training_set.inputs.numbers.shape[1]
        if self.module is not None:
            return Module(self.module, n_numbers, self._n_outputs())
        return Perceptron(
            n_numbers,
            self.preparation_.levels,
            tuple(int(width) for width in self.hidden),
            self._n_outputs(),
            self.embedding_size if self.embedding == "periodic" else 0,
        )

    def _run(self, training_set: TrainingSet) -> Run:
        """The model to train."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Run(
            training_set,
            float(self.learning_rate),
            float(self.weight_decay),
            0.0 if self.module is not None else float(self.dropout),
            seed,
        )

    def _inputs(self, X: Any) -> Inputs:
        """What the network is given of data."""
        return self.preparation_.inputs(read_table(self, X, self.categories, reset=False))

    @abstractmethod
    def _answers(self, outputs: NDArray[np.float64], method: str) -> NDArray[Any]:
        """What a method returns where networks have said this."""

    def _chosen_device(self) -> torch.device:
        """Where to train."""
        cuda = torch.cuda.is_available()
        if self.device == "auto":
            return torch.device("cuda" if cuda else "cpu")
        try:
            device = torch.device(self.device)
        except RuntimeError as error:
            raise ValueError(
                f'device must be "auto" or a device of PyTorch; got {self.device!r}.'
            ) from error
        if device.type == "cuda" and not cuda:
            raise ValueError(
                f"device={self.device!r} needs a GPU, and PyTorch sees none. Take device='auto' or "
                "'cpu', or a build of PyTorch for this GPU."
            )
        return device

    def _check_parameters(self) -> None:
        """Raise where a parameter has a value that makes no sense."""
        for name, (is_fine, words) in _RULES.items():
            value = getattr(self, name, None)
            if hasattr(self, name) and not is_fine(value):
                raise ValueError(f"{name} must be {words}; got {value!r}.")
        if self.module is not None:
            for name, plain in (("embedding", (None, "quantile")), ("categories", ("auto",))):
                if getattr(self, name) not in plain:
                    raise ValueError(
                        f"{name}={getattr(self, name)!r} is for the network that module= takes the "
                        "place of. Embed in the module what is to be embedded."
                    )
        self._chosen_device()

    @property
    @abstractmethod
    def _loss_name(self) -> str:
        """What the training makes small."""

    @property
    def _quantile_of_loss(self) -> float:
        """Which one the pinball loss asks for."""
        return float(getattr(self, "quantile", 0.5))

    @abstractmethod
    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The target as numbers."""

    @abstractmethod
    def _scaled(self, target: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[Any]:
        """The target as the network is trained on it."""

    @abstractmethod
    def _n_outputs(self) -> int:
        """How many numbers the network gives for a row."""

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        with one_thread():
            [outputs] = say(self.network_.program, self.network_.parameters, [self._inputs(X)])
        found: NDArray[np.float64] = outputs
        return found


class NetworkRegressor(RegressorMixin, TableNetwork):  # type: ignore[misc]
    """A neural network for numbers, trained on a table.

    A residual multilayer perceptron on scaled numbers and embedded categories, trained by AdamW; what
    predicts is an average of the weights over the last part of the training. In a search the networks
    of all settings and training sets are trained side by side, and one training serves all numbers of
    epochs.

    Parameters
    ----------
    hidden : tuple of int, default=(64, 64)
        Widths of the hidden layers, of rectified linear units. A layer as wide as the one before is
        added to it.
    learning_rate : float, default=0.003
        The rate of AdamW after the first 50 steps, in which it grows. It then stays: no step depends on
        how many are to come.
    weight_decay : float, default=0.1
        How fast weights (not biases) shrink: by `learning_rate` times this in each step.
    dropout : float, default=0.0
        The share of hidden units that are left out in each step.
    epochs : int, default=200
        How often the training goes through the samples. Choosing it is early stopping.
    batch_size : int, default=64
        The most samples in a step. Those of an epoch are shared out equally.
    loss : {"squared_error", "absolute_error", "pinball", "gaussian"}, default="squared_error"
        What the training makes small. ``"gaussian"`` is the likelihood of a normal distribution, whose
        standard deviation `predict` then returns too if asked.
    quantile : float, default=0.5
        Which one ``"pinball"`` predicts.
    embedding : {None, "periodic", "quantile"}, default=None
        How numbers are given to the network: scaled; with sines and cosines besides, at frequencies that
        are learnt; or cut into pieces at their quantiles.
    embedding_size : int, default=8
        How many frequencies or pieces of each number.
    categories : "auto" or list of int or str, default="auto"
        The columns that are categories: by name or position, or those that a data frame has as such.
        Each is embedded in 8 numbers. A category that was not there in training counts for nothing.
    module : callable, default=None
        ``module(n_inputs, n_outputs)`` makes a network of one's own, a :class:`torch.nn.Module` that
        takes a batch of rows. `hidden` and `dropout` then mean nothing.
    device : str, default="auto"
        Where to train: ``"cpu"``, ``"cuda"``, or ``"auto"`` for the GPU if there is one.
    random_state : int, RandomState instance or None, default=None
        Decides the first weights, the order of samples, and which units drop out.

    Attributes
    ----------
    network_ : Network
        What was trained: the program and its parameters.
    preparation_ : Preparation
        The scales, quantiles and categories of the training set.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they all had one.

    See Also
    --------
    NetworkClassifier : The same for classes.

    Notes
    -----
    Equal samples are trained on as one, with the sum of their weights. A column that does not vary says
    nothing. Of a single sample the network learns its target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from steadycv.networks import NetworkRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NetworkRegressor(epochs=20, random_state=0).fit(X[:400], y[:400])
    >>> model.predict(X[400:]).shape
    (42,)
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 64),
        *,
        learning_rate: float = 0.003,
        weight_decay: float = 0.1,
        dropout: float = 0.0,
        epochs: int = 200,
        batch_size: int = 64,
        loss: str = "squared_error",
        quantile: float = 0.5,
        embedding: str | None = None,
        embedding_size: int = 8,
        categories: str | list[int | str] = "auto",
        module: Callable[[int, int], torch.nn.Module] | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.loss = loss
        self.quantile = quantile
        self.embedding = embedding
        self.embedding_size = embedding_size
        self.categories = categories
        self.module = module
        self.device = device
        self.random_state = random_state

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.
        return_std : bool, default=False
            Whether the standard deviations are wanted too, with ``loss="gaussian"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        y_std : ndarray of shape (n_samples,)
            Their standard deviations. Only with `return_std`.
        """
        if return_std and self.loss != "gaussian":
            raise ValueError(
                f"Only loss='gaussian' has standard deviations; this is loss={self.loss!r}."
            )
        outputs = self._outputs(X)
        mean = self._answers(outputs, "predict")
        if not return_std:
            return mean
        return mean, self.target_scale_ * np.exp(log_scale(torch.from_numpy(outputs)).numpy())

    @property
    def _loss_name(self) -> str:
        """The parameter."""
        return self.loss

    def _answers(self, outputs: NDArray[np.float64], method: str) -> NDArray[Any]:  # noqa: ARG002
        """Predictions in the units of the target."""
        predicted: NDArray[np.float64] = self.target_mean_ + self.target_scale_ * outputs[..., 0]
        return predicted

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(y, dtype=np.float64)

    def _scaled(self, target: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[Any]:
        [self.target_mean_], [self.target_scale_] = weighted_scale(target[:, np.newaxis], weight)
        scaled: NDArray[np.float64] = (target - self.target_mean_) / self.target_scale_
        return scaled

    def _n_outputs(self) -> int:
        return 2 if self.loss == "gaussian" else 1


class NetworkClassifier(ClassifierMixin, TableNetwork):  # type: ignore[misc]
    """A neural network for classes, trained on a table.

    As :class:`NetworkRegressor`, with a logarithmic loss.

    Parameters
    ----------
    hidden : tuple of int, default=(64, 64)
        Widths of the hidden layers, of rectified linear units. A layer as wide as the one before is
        added to it.
    learning_rate : float, default=0.003
        The rate of AdamW after the first 50 steps, in which it grows. It then stays: no step depends on
        how many are to come.
    weight_decay : float, default=0.1
        How fast weights (not biases) shrink: by `learning_rate` times this in each step.
    dropout : float, default=0.0
        The share of hidden units that are left out in each step.
    epochs : int, default=200
        How often the training goes through the samples. Choosing it is early stopping.
    batch_size : int, default=64
        The most samples in a step. Those of an epoch are shared out equally.
    embedding : {None, "periodic", "quantile"}, default=None
        How numbers are given to the network: scaled; with sines and cosines besides, at frequencies that
        are learnt; or cut into pieces at their quantiles.
    embedding_size : int, default=8
        How many frequencies or pieces of each number.
    categories : "auto" or list of int or str, default="auto"
        The columns that are categories: by name or position, or those that a data frame has as such.
        Each is embedded in 8 numbers. A category that was not there in training counts for nothing.
    module : callable, default=None
        ``module(n_inputs, n_outputs)`` makes a network of one's own, a :class:`torch.nn.Module` that
        takes a batch of rows and returns a column for each class, of which the softmax is taken.
        `hidden` and `dropout` then mean nothing.
    device : str, default="auto"
        Where to train: ``"cpu"``, ``"cuda"``, or ``"auto"`` for the GPU if there is one.
    random_state : int, RandomState instance or None, default=None
        Decides the first weights, the order of samples, and which units drop out.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    network_ : Network
        What was trained: the program and its parameters.
    preparation_ : Preparation
        The scales, quantiles and categories of the training set.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, if they all had one.

    See Also
    --------
    NetworkRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadycv.networks import NetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NetworkClassifier(epochs=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (150, 3)
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 64),
        *,
        learning_rate: float = 0.003,
        weight_decay: float = 0.1,
        dropout: float = 0.0,
        epochs: int = 200,
        batch_size: int = 64,
        embedding: str | None = None,
        embedding_size: int = 8,
        categories: str | list[int | str] = "auto",
        module: Callable[[int, int], torch.nn.Module] | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.embedding = embedding
        self.embedding_size = embedding_size
        self.categories = categories
        self.module = module
        self.device = device
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        return self._answers(self._outputs(X), "predict")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probabilities of classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._answers(self._outputs(X), "predict_proba")

    @property
    def _loss_name(self) -> str:
        """The logarithmic one."""
        return "log_loss"

    def _answers(self, outputs: NDArray[np.float64], method: str) -> NDArray[Any]:
        """Labels or probabilities."""
        if method == "predict":
            labels: NDArray[Any] = self.classes_[outputs.argmax(axis=-1)]
            return labels
        raised = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
        probabilities: NDArray[np.float64] = raised / raised.sum(axis=-1, keepdims=True)
        return probabilities

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"A classifier needs at least two classes; y has one class, {self.classes_.item()!r}."
            )
        return numbers

    def _scaled(self, target: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[Any]:  # noqa: ARG002
        return target

    def _n_outputs(self) -> int:
        return len(self.classes_)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


_RULES: dict[str, tuple[Any, str]] = {
    "hidden": (
        lambda v: isinstance(v, tuple | list) and all(map(_is_count, v)),
        "a tuple of widths of at least 1",
    ),
    "learning_rate": (lambda v: _is_number(v) and v > 0, "a positive number"),
    "weight_decay": (lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
    "dropout": (lambda v: _is_number(v) and 0 <= v < 1, "a number from 0 to below 1"),
    "epochs": (_is_count, "a whole number of at least 1"),
    "batch_size": (_is_count, "a whole number of at least 1"),
    "loss": (lambda v: isinstance(v, str) and v in OF_NUMBERS, f"one of {list(OF_NUMBERS)}"),
    "quantile": (lambda v: _is_number(v) and 0 < v < 1, "a number between 0 and 1"),
    "embedding": (
        lambda v: v is None or (isinstance(v, str) and v in EMBEDDINGS),
        f"one of {list(EMBEDDINGS)}",
    ),
    "embedding_size": (_is_count, "a whole number of at least 1"),
    "categories": (
        lambda v: isinstance(v, list | tuple) or (isinstance(v, str) and v == "auto"),
        '"auto" or a list of columns',
    ),
    "module": (
        lambda v: v is None or (callable(v) and not isinstance(v, torch.nn.Module)),
        "a callable that makes a torch.nn.Module, or None",
    ),
}
