"""What a search over networks shares: one program for all settings of what leaves the shapes alone.

Each model has the arithmetic that it would have alone, so every training is a line of its own; those
that differ in the number of epochs are one training.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from steadycv.networks.estimators import DIVERGED, NetworkClassifier, NetworkRegressor
from steadycv.networks.training import models_at_once, one_thread, say, train
from steadycv.paths.protocol import FailedOutputs
from steadycv.paths.registry import register_path
from steadycv.paths.settings import key_of, together
from steadycv.steps import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    from steadycv.networks.tables import Inputs
    from steadycv.networks.training import Run
    from steadycv.paths.protocol import Outputs, PathData
    from steadycv.paths.settings import Key

__all__ = ["NetworkPath"]


class NetworkPath:
    """All settings of learning rate, weight decay, dropout, seed and epochs."""

    def parameters(self, estimator: Any) -> tuple[str, ...]:
        """Those that leave the shapes of the network and of its batches alone."""
        shared = ("learning_rate", "weight_decay", "epochs", "random_state")
        return shared if estimator.module is not None else (*shared, "dropout")

    def in_one_fit(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """One training passes through all numbers of epochs."""
        return ("epochs",)

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return ("predict", "predict_proba") if hasattr(estimator, "predict_proba") else ("predict",)

    def line(self, estimator: Any, setting: dict[str, Any]) -> Key:  # noqa: ARG002
        """One training, whatever the epochs after which it is looked at."""
        return key_of(setting, but=("epochs",))

    def run(self, estimator: Any, setting: dict[str, Any]) -> Key:
        """Side by side, but each is trained."""
        return self.line(estimator, setting)

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:  # noqa: ARG002
        """Whether parameters make sense and seeds can be used again; a separate fit says what is not."""
        try:
            _seeded(estimator, setting)._check_parameters()
        except ValueError:
            return False
        seed = setting.get("random_state", estimator.random_state)
        return np.ndim(y) == 1 and (seed is None or isinstance(seed, int | np.integer))

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing: scales are those of each training set."""

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> Outputs:
        """Outputs of every setting."""
        [outputs] = self.outputs_many(estimator, settings, [data])
        return outputs

    def outputs_many(
        self, estimator: Any, settings: list[dict[str, Any]], many: Sequence[PathData]
    ) -> Iterator[Outputs]:
        """The same for several training sets, together where shapes agree and there is room."""
        device = estimator._chosen_device()
        models = [_seeded(estimator, setting) for setting in settings]
        lines = together(key_of(setting, but=("epochs",)) for setting in settings)
        waiting: list[_Place] = []
        n_together = 0
        for data in many:
            place = _Place(estimator, data)
            if waiting and not (waiting[0].key == place.key and len(waiting) < n_together):
                yield from _together(waiting, models, lines, device)
                waiting = []
            if not waiting:
                n_together = max(1, place.room(device) // len(lines))
            waiting.append(place)
        yield from _together(waiting, models, lines, device)


class _Place:
    """A training set, ready, with what is to be said and how."""

    def __init__(self, estimator: Any, data: PathData) -> None:
        self.model = clone(estimator)
        self.training_set = self.model._ready(
            data.X_train, data.y_train, data.fit_params.get("sample_weight")
        )
        self.program = self.model._program(self.training_set)
        self.all_rows: Inputs = self.model._inputs(data.X)
        self.methods = data.methods

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal where models can be trained together."""
        program = self.program
        return (
            self.training_set.shape,
            program.n_numbers,
            self.model.preparation_.levels,
            program.n_outputs,
        )

    def room(self, device: torch.device) -> int:
        """How many models of this kind are trained at once."""
        return models_at_once(self.program, self.training_set, device)


class _Wanted(NamedTuple):
    """A model to train, where it is from and what is to be told of it: by epoch, which settings."""

    place: int
    run: Run
    settings: dict[int, list[int]]


def _together(
    places: list[_Place], models: list[Any], lines: list[list[int]], device: torch.device
) -> Iterator[Outputs]:
    """Train all lines on training sets of one shape."""
    wanted = []
    for number, place in enumerate(places):
        for line in lines:
            settings: dict[int, list[int]] = {}
            for i in line:
                settings.setdefault(int(models[i].epochs), []).append(i)
            wanted.append(_Wanted(number, models[line[0]]._run(place.training_set), settings))
    found = [_Found(place, models) for place in places]
    # Those that are trained as long are together; modules draw random numbers, so they share a seed.
    by_seed = models[0].module is not None

    def kind(each: _Wanted) -> tuple[int, int]:
        return max(each.settings), each.run.seed if by_seed else 0

    chunks: list[list[_Wanted]] = []
    for _, some in groupby(sorted(wanted, key=kind), kind):
        alike = list(some)
        n_chunks = -(-len(alike) // places[0].room(device))
        parts = np.array_split(np.arange(len(alike)), n_chunks)
        chunks += [[alike[i] for i in numbers] for numbers in parts]
    epochs = _Epochs(sum(max(chunk[0].settings) for chunk in chunks))
    with one_thread():
        for chunk in chunks:
            _train_chunk(chunk, places, found, device, epochs)
    yield from (each.outputs() for each in found)


class _Epochs:
    """Counts the epochs of all chunks of models, and tells of them."""

    def __init__(self, n_epochs: int) -> None:
        self._n_epochs = n_epochs
        self._n_done = 0

    def told(self) -> None:
        """One is over."""
        self._n_done += 1
        tell("epoch", self._n_done, self._n_epochs)


def _train_chunk(
    chunk: list[_Wanted],
    places: list[_Place],
    found: list[_Found],
    device: torch.device,
    counted: _Epochs,
) -> None:
    model, program = places[chunk[0].place].model, places[chunk[0].place].program
    epochs = sorted({epoch for each in chunk for epoch in each.settings})
    runs = [each.run for each in chunk]
    told = counted.told
    for epoch, averages in train(
        program, model._loss_name, model._quantile_of_loss, runs, epochs, device, told
    ):
        asked = [i for i, each in enumerate(chunk) if epoch in each.settings]
        parameters = averages if len(asked) == len(chunk) else [part[asked] for part in averages]
        inputs = [places[chunk[i].place].all_rows for i in asked]
        if len({id(each) for each in inputs}) == 1:
            inputs = inputs[:1]
        for i, outputs in zip(asked, say(program, parameters, inputs), strict=True):
            found[chunk[i].place].add(chunk[i].settings[epoch], outputs)


class _Found:
    """What the models of a training set say."""

    def __init__(self, place: _Place, models: list[Any]) -> None:
        self._place = place
        self._models = models
        self._outputs: dict[str, list[Any]] = {method: [None] * len(models) for method in place.methods}
        self._failures: dict[int, str] = {}

    def add(self, settings: list[int], outputs: NDArray[np.float64]) -> None:
        """What one model says, for the settings that it serves."""
        for i in settings:
            if not np.isfinite(outputs).all():
                self._failures[i] = f"ValueError: {DIVERGED.format(self._models[i].learning_rate)}"
            for method, rows in self._outputs.items():
                rows[i] = self._place.model._answers(outputs, method)

    def outputs(self) -> Outputs:
        """By method, those of all settings; with the failures if there are any."""
        stacked = {method: np.stack(rows) for method, rows in self._outputs.items()}
        return FailedOutputs(stacked, self._failures) if self._failures else stacked


def _seeded(estimator: Any, setting: dict[str, Any]) -> Any:
    """The model of a setting; without a seed of its own it has 0, as in all of a search."""
    model = clone(estimator).set_params(**setting)
    return model.set_params(random_state=0) if model.random_state is None else model


register_path(NetworkRegressor, NetworkPath())
register_path(NetworkClassifier, NetworkPath())
