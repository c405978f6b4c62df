"""Training: all models of a chunk at once, each on its own rows in an order of its own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from steadycv.networks.objectives import loss_of_rows
from steadycv.networks.updating import AdamW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from steadycv.networks.tables import Inputs

__all__ = ["Run", "TrainingSet", "models_at_once", "one_thread", "say", "train"]

BYTES_IN_CACHE = 6 * 2**20  # of a chunk of models on a CPU: fewer wait for Python, more for memory
MOST_AT_ONCE = 8192  # models, wherever
BYTES_OF_ROWS = 2**18  # of what predicting keeps at a time, of one model


@dataclass(frozen=True)
class TrainingSet:
    """A training set as networks are trained on it.

    Attributes
    ----------
    inputs : Inputs
        Numbers and codes.
    target : ndarray of float
        Scaled numbers, or the numbers of classes.
    weight : ndarray of float
        The weights of the rows; their mean is 1.
    batch_size : int
        The most rows to a step.
    """

    inputs: Inputs
    target: NDArray[np.float32]
    weight: NDArray[np.float32]
    batch_size: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.target)

    @property
    def shape(self) -> tuple[int, int]:
        """Steps an epoch and rows a step, as equal as can be; what is missing is filled up."""
        n_steps = -(-self.n_rows // self.batch_size)
        return n_steps, max(2, -(-self.n_rows // n_steps))


class Run(NamedTuple):
    """A model to be trained."""

    training_set: TrainingSet
    learning_rate: float
    weight_decay: float
    dropout: float
    seed: int


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are taken the same way whatever the number of cores; those are for other fits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def models_at_once(program: Any, training_set: TrainingSet, device: torch.device) -> int:
    """How many models of a kind are trained together: on a CPU as many as its caches hold."""
    if program.one_by_one:
        return 1
    _, n_rows = training_set.shape
    of_model = 4 * (6 * program.n_parameters + n_rows * program.n_activations)
    room = BYTES_IN_CACHE
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        room = free // 4  # the rest is for the rows, for predictions and for others
        of_model += 4 * training_set.inputs.numbers.size
    return int(np.clip(room // of_model, 1, MOST_AT_ONCE))


def train(
    program: Any,
    loss: str,
    quantile: float,
    runs: Sequence[Run],
    epochs: Sequence[int],
    device: torch.device,
    told: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, list[Tensor]]]:
    """Train models whose training sets have one shape; yield the parameters after some epochs.

    What is yielded goes on changing, and is to be used at once.

    Parameters
    ----------
    program : Perceptron or Module
        What the models are.
    loss : str
        What is made small.
    quantile : float
        For the pinball loss.
    runs : sequence of Run
        The models.
    epochs : sequence of int
        After which epochs parameters are wanted, ascending.
    device : torch.device
        Where.
    told : callable
        Called after every epoch.
    """
    starts = [program.start(run.seed) for run in runs]
    parameters = [torch.stack(each).to(device).requires_grad_() for each in zip(*starts, strict=True)]
    optimizer = AdamW(
        parameters,
        program.decays,
        np.array([run.learning_rate for run in runs], dtype=np.float32),
        np.array([run.weight_decay for run in runs], dtype=np.float32),
    )
    rows = _Rows(runs, device)
    masks = _Masks(program, runs, rows.n_rows, device)
    with program.training(runs[0].seed, device):
        for epoch in range(1, epochs[-1] + 1):
            for numbers, codes, target, weight in rows.batches():
                outputs = program.outputs(parameters, numbers, codes, masks.draw())
                losses = loss_of_rows(loss, outputs, target, quantile)
                total = (losses * weight).sum() / rows.n_rows
                optimizer.step(torch.autograd.grad(total, parameters))
            told()
            if epoch in epochs:
                yield epoch, optimizer.averages


class _Rows:
    """The rows of the models' batches, shuffled anew each epoch by a model's seed and nothing else."""

    def __init__(self, runs: Sequence[Run], device: torch.device) -> None:
        sets = {id(run.training_set): run.training_set for run in runs}
        place = {key: number for number, key in enumerate(sets)}
        self.n_steps, self.n_rows = runs[0].training_set.shape
        self._n_filled = self.n_steps * self.n_rows
        self._device = device
        self._numbers, self._codes, self._target, self._weight = (
            torch.as_tensor(np.concatenate([self._filled(part) for part in parts])).to(device)
            for parts in zip(*((*s.inputs, s.target, s.weight) for s in sets.values()), strict=True)
        )
        self._first = np.array([place[id(run.training_set)] for run in runs]) * self._n_filled
        keys = [(run.seed, run.training_set.n_rows) for run in runs]
        self._orders = {key: np.random.default_rng(key[0]) for key in keys}
        self._keys = keys

    def _filled(self, part: NDArray[Any]) -> NDArray[Any]:
        """Rows of weight 0 behind the others, so that batches are full."""
        missing = self._n_filled - len(part)
        return np.pad(part, ((0, missing), *[(0, 0)] * (part.ndim - 1)))

    def batches(self) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """The batches of an epoch."""
        filled = np.arange(self._n_filled)
        orders = {
            (seed, n): np.concatenate([random.permutation(n), filled[n:]])
            for (seed, n), random in self._orders.items()
        }
        places = np.stack([orders[key] for key in self._keys]) + self._first[:, np.newaxis]
        at = torch.as_tensor(places).to(self._device).view(len(places), self.n_steps, self.n_rows)
        for step in range(self.n_steps):
            chosen = at[:, step].flatten()
            numbers, codes, target, weight = (
                part.index_select(0, chosen).view(len(at), self.n_rows, *part.shape[1:])
                for part in (self._numbers, self._codes, self._target, self._weight)
            )
            yield numbers, codes, target, weight


class _Masks:
    """Which units drop out: drawn by the models' seeds, so that equal seeds are equally lucky."""

    def __init__(self, program: Any, runs: Sequence[Run], n_rows: int, device: torch.device) -> None:
        rates = torch.tensor([run.dropout for run in runs], device=device).view(-1, 1, 1)
        self._are_wanted = bool((rates > 0).any())
        if not self._are_wanted:
            return
        seeds = sorted({run.seed for run in runs})
        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self._of = torch.tensor([seeds.index(run.seed) for run in runs], device=device)
        self._rates = rates
        self._shapes = [(n_rows, width) for width in program.filled[1:-1]]
        self._device = device

    def draw(self) -> list[Tensor] | None:
        """For each hidden layer what its units are multiplied by."""
        if not self._are_wanted:
            return None
        masks = []
        for shape in self._shapes:
            drawn = torch.stack(
                [torch.rand(shape, generator=each, device=self._device) for each in self._generators]
            )
            of_models = drawn if len(drawn) == 1 else drawn[self._of]
            masks.append((of_models >= self._rates) / (1 - self._rates))
        return masks


def say(program: Any, parameters: Sequence[Any], inputs: Sequence[Inputs]) -> NDArray[np.float64]:
    """Outputs of models, each with parameters and inputs of its own or all with the same inputs."""
    stacked = [torch.as_tensor(each).to(program.precision) for each in parameters]
    device = stacked[0].device
    n_models, n_rows = len(stacked[0]), len(inputs[0].numbers)
    n_at_once = max(2, BYTES_OF_ROWS // (8 * program.n_activations))  # however many models there are
    found = np.empty((n_models, n_rows, program.n_outputs))
    with torch.no_grad(), program.predicting(device):
        for first in range(0, n_rows, n_at_once):
            some = slice(first, first + n_at_once)
            numbers, codes = (
                torch.stack([torch.as_tensor(each[part][some]) for each in inputs]).to(device)
                for part in (0, 1)
            )
            outputs = program.outputs(
                stacked,
                numbers.to(program.precision).expand(n_models, -1, -1),
                codes.expand(n_models, -1, -1),
            )
            found[:, some] = outputs.cpu().numpy()
    return found
