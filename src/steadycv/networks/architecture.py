"""The network itself: a residual multilayer perceptron, many of them stacked."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["EMBEDDED", "Perceptron"]

EMBEDDED = 8  # numbers that stand for a category
FREQUENCY = 0.2  # standard deviation of the frequencies that periodic features start from
# Widths are filled up with zeros to whole lines of memory. Where a model lies in the stack then makes no
# difference to how its products are summed: it has the bits that it has alone.
LINE = 16


@dataclass(frozen=True)
class Perceptron:
    """Layers of rectified linear units, each added to the one before it where their widths are equal.

    All parameters and inputs have a first axis for the models; no model's arithmetic depends on how many
    others there are.

    Attributes
    ----------
    n_numbers : int
        Columns of numbers.
    levels : tuple of int
        By column of categories, how many there are, with the unknown one.
    hidden : tuple of int
        Widths of the hidden layers.
    n_outputs : int
        What is wanted of a row.
    n_frequencies : int
        Of each number, so many sines and cosines are given besides, at frequencies that are learnt.
    """

    n_numbers: int
    levels: tuple[int, ...]
    hidden: tuple[int, ...]
    n_outputs: int
    n_frequencies: int = 0

    precision = torch.float64  # of predictions, which then do not depend on the company of rows
    one_by_one = False

    @property
    def widths(self) -> tuple[int, ...]:
        """Of the layers, from the inputs to the outputs."""
        n_inputs = self.n_numbers * (1 + 2 * self.n_frequencies) + EMBEDDED * len(self.levels)
        return (n_inputs, *self.hidden, self.n_outputs)

    @property
    def filled(self) -> tuple[int, ...]:
        """The same in whole lines."""
        return tuple(-(-width // LINE) * LINE for width in self.widths)

    @property
    def n_parameters(self) -> int:
        """Of one model."""
        return sum(start.numel() for start in self.start(0))

    @property
    def n_activations(self) -> int:
        """Numbers that one model needs for a row of a batch, backwards too."""
        return 2 * self.filled[0] + 6 * sum(self.filled[1:])

    def start(self, seed: int) -> list[Tensor]:
        """The parameters to start from: first those of embeddings, then weights and biases."""
        generator = torch.Generator().manual_seed(seed)
        parameters = []
        if self.n_frequencies:
            shape = (self.n_numbers, self.n_frequencies)
            parameters.append(FREQUENCY * torch.randn(shape, generator=generator))
        if self.levels:
            table = EMBEDDED**-0.5 * torch.randn((sum(self.levels), EMBEDDED), generator=generator)
            table[self._first_codes()] = 0.0  # of what is not known nothing is learnt
            parameters.append(table)
        for i, (n_in, n_out) in enumerate(pairwise(self.widths)):
            weight, bias = torch.zeros(self.filled[i : i + 2]), torch.zeros(1, self.filled[i + 1])
            if i < len(self.hidden):  # the last layer starts from zero: the first prediction is the mean
                drawn = torch.randn((n_in, n_out), generator=generator)
                weight[:n_in, :n_out] = (2 / n_in) ** 0.5 * drawn
                bias[:, :n_out] = (2 * torch.rand((1, n_out), generator=generator) - 1) * n_in**-0.5
            parameters += [weight, bias]
        return parameters

    def training(self, seed: int, device: torch.device) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nothing to set up: what is random comes in as masks."""
        return nullcontext()

    def predicting(self, device: torch.device) -> AbstractContextManager[None]:  # noqa: ARG002
        """The same."""
        return nullcontext()

    @property
    def decays(self) -> list[bool]:
        """Which of the parameters weight decay is for: the weights of layers."""
        n_first = bool(self.n_frequencies) + bool(self.levels)
        return [False] * n_first + [True, False] * (1 + len(self.hidden))

    def outputs(
        self,
        parameters: Sequence[Tensor],
        numbers: Tensor,
        codes: Tensor,
        masks: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Outputs of all models for their rows, with masks behind hidden layers if units drop out."""
        n_layers = 1 + len(self.hidden)
        layers = parameters[-2 * n_layers :]
        state = self._embedded(list(parameters[: -2 * n_layers]), numbers, codes)
        for i in range(len(self.hidden)):
            new = torch.relu(torch.baddbmm(layers[2 * i + 1], state, layers[2 * i]))
            state = state + new if i and self.hidden[i - 1] == self.hidden[i] else new
            if masks is not None:
                state = state * masks[i]
        return torch.baddbmm(layers[-1], state, layers[-2])[..., : self.n_outputs]

    def _embedded(self, embeddings: list[Tensor], numbers: Tensor, codes: Tensor) -> Tensor:
        parts = [numbers]
        if self.n_frequencies:
            angles = 2 * pi * numbers[..., None] * embeddings.pop(0)[:, None]
            parts += [torch.sin(angles).flatten(2), torch.cos(angles).flatten(2)]
        if self.levels:
            table = embeddings.pop(0)
            first = torch.tensor(self._first_codes(), device=codes.device)
            places = (codes + first).flatten(1)[..., None].expand(-1, -1, EMBEDDED)
            parts.append(table.gather(1, places).view(*codes.shape[:2], -1))
        missing = self.filled[0] - self.widths[0]
        if missing:
            parts.append(numbers.new_zeros(1, 1, 1).expand(*numbers.shape[:2], missing))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)

    def _first_codes(self) -> list[int]:
        return [sum(self.levels[:i]) for i in range(len(self.levels))]
