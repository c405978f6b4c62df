"""AdamW for stacked models, each with a rate and a decay of its own, and averages of their weights.

The rate warms up and then stays, and what predicts is an average of the last ninth or so of the way: so
no step depends on how many are to come, and the model after 50 epochs is the same whether training stops
there or goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch

from steadycv._jit import fast_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    Flat: TypeAlias = list[NDArray[Any]]

__all__ = ["AdamW", "Moments", "Step", "update_compiled", "update_on_device"]

MEAN, SQUARE = 0.9, 0.999  # how much of the old the averages of gradients and of their squares keep
TINY = 1e-8
WARM = 50  # steps until the rate is the whole one
RECENT = 8.0  # the larger, the fewer steps the average of the weights reaches back


class Moments(NamedTuple):
    """Of one parameter of all models: it, the averages of its gradient, and its own average."""

    parameter: Tensor
    first: Tensor
    second: Tensor
    average: Tensor


class Step(NamedTuple):
    """The numbers of one step that all parameters share."""

    first_scale: float
    second_scale: float
    share: float


class AdamW:
    """Takes steps.

    Parameters
    ----------
    parameters : list of Tensor of shape (models, ...)
        What is trained, in place.
    decays : list of bool
        To which of them weight decay applies.
    rates, decay : ndarray of shape (models,)
        The models' learning rates and weight decays.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        decays: Sequence[bool],
        rates: NDArray[np.float32],
        decay: NDArray[np.float32],
    ) -> None:
        self._moments = [
            Moments(p.detach(), torch.zeros_like(p), torch.zeros_like(p), p.detach().clone())
            for p in parameters
        ]
        # Looked at once, as a step is short.
        self._on_cpu = parameters[0].device.type == "cpu"
        self._arrays = [_flat(each) for each in self._moments] if self._on_cpu else []
        self._rates = rates
        self._decays = [decay if each else np.zeros_like(decay) for each in decays]
        self._n_steps = 0

    @property
    def averages(self) -> list[Tensor]:
        """The averages of the weights, which go on changing."""
        return [moments.average for moments in self._moments]

    def step(self, gradients: Sequence[Tensor]) -> None:
        """One step of all models."""
        self._n_steps += 1
        n = self._n_steps
        rates = (self._rates * np.float32(min(1.0, n / WARM))).astype(np.float32)
        step = Step(1 / (1 - MEAN**n), 1 / (1 - SQUARE**n), (1 + RECENT) / (n + RECENT))
        shrinks = [rates * decay for decay in self._decays]
        if self._on_cpu:
            update_compiled(self._arrays, gradients, rates, shrinks, step)
        else:
            update_on_device(self._moments, gradients, rates, shrinks, step)


def _flat(tensors: Sequence[Tensor]) -> Flat:
    """The same memory as arrays of NumPy's, a row for each model."""
    return [each.flatten(1).numpy() for each in tensors]


def update_compiled(
    arrays: Sequence[Flat],
    gradients: Sequence[Tensor],
    rates: NDArray[np.float32],
    shrinks: Sequence[NDArray[np.float32]],
    step: Step,
) -> None:
    """One pass over memory for all that a step does."""
    shared = np.float32(step.first_scale), np.float32(step.second_scale), np.float32(step.share)
    for parts, gradient, shrink in zip(arrays, _flat(gradients), shrinks, strict=True):
        parameter, first, second, average = parts
        _update(parameter, first, second, average, gradient, rates, shrink, *shared)


@fast_kernel
def _update(
    parameter: NDArray[np.float32],
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    average: NDArray[np.float32],
    gradient: NDArray[np.float32],
    rates: NDArray[np.float32],
    shrinks: NDArray[np.float32],
    first_scale: np.float32,
    second_scale: np.float32,
    share: np.float32,
) -> None:
    tiny = np.float32(TINY)
    new_mean, new_square = np.float32(1 - MEAN), np.float32(1 - SQUARE)
    for i in range(parameter.shape[0]):
        rate, shrink = rates[i], shrinks[i]
        for j in range(parameter.shape[1]):
            g = gradient[i, j]
            m = first[i, j] + new_mean * (g - first[i, j])
            v = second[i, j] + new_square * (g * g - second[i, j])
            p = parameter[i, j]
            p = p - shrink * p - rate * (m * first_scale) / (np.sqrt(v * second_scale) + tiny)
            first[i, j], second[i, j], parameter[i, j] = m, v, p
            average[i, j] += share * (p - average[i, j])


def update_on_device(
    moments: Sequence[Moments],
    gradients: Sequence[Tensor],
    rates: NDArray[np.float32],
    shrinks: Sequence[NDArray[np.float32]],
    step: Step,
) -> None:
    """The same where there is no compiled pass."""
    for (parameter, first, second, average), gradient, shrink in zip(
        moments, gradients, shrinks, strict=True
    ):
        shape = (-1, *[1] * (parameter.ndim - 1))
        rate = torch.as_tensor(rates, device=parameter.device).view(shape)
        shrinking = torch.as_tensor(shrink, device=parameter.device).view(shape) * parameter
        first.lerp_(gradient, 1 - MEAN)
        second.lerp_(gradient.square(), 1 - SQUARE)
        move = first * step.first_scale / ((second * step.second_scale).sqrt() + TINY)
        parameter.sub_(shrinking + rate * move)
        average.lerp_(parameter, step.share)
