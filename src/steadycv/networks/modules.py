"""Networks of one's own: any module of PyTorch, stacked where it can be."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch.func import functional_call, stack_module_state, vmap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor

__all__ = ["Module"]

ACTIVATIONS = 8  # a guess at how many numbers a row needs, by the largest width of a parameter


class Module:
    """What a factory makes, as a program for stacked parameters.

    Parameters
    ----------
    factory : callable
        ``factory(n_inputs, n_outputs)`` returns a module.
    n_numbers, n_outputs : int
        The columns that it takes and gives.
    """

    precision = torch.float32

    def __init__(self, factory: Callable[[int, int], torch.nn.Module], n_numbers: int, n_outputs: int):
        self.factory = factory
        self.n_numbers = n_numbers
        self.n_outputs = n_outputs
        self.module = self._made(0)

    def _made(self, seed: int) -> torch.nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            made = self.factory(self.n_numbers, self.n_outputs)
        if not isinstance(made, torch.nn.Module):
            raise TypeError(
                "module must be called with the number of inputs and of outputs and return a "
                f"torch.nn.Module; it returned {type(made).__name__}."
            )
        return made

    @cached_property
    def names(self) -> list[str]:
        """Of the parameters that are trained."""
        names = [name for name, each in self.module.named_parameters() if each.requires_grad]
        if not names:
            raise ValueError("module makes a module without parameters to train.")
        return names

    @cached_property
    def one_by_one(self) -> bool:
        """Whether models cannot be stacked; then a warning says why."""
        reason = self._obstacle()
        if reason is not None:
            warnings.warn(
                f"These modules are trained one by one, as they cannot be stacked: {reason}",
                stacklevel=2,
            )
        return reason is not None

    def _obstacle(self) -> str | None:
        buffers = [name for name, _ in self.module.named_buffers()]
        if buffers:
            return f"they have a state of their own besides parameters, {', '.join(buffers)}."
        stacked, _ = stack_module_state([self.module, self.module])
        numbers = torch.zeros(2, 3, self.n_numbers)
        try:
            with torch.random.fork_rng(devices=[]):
                self._stacked([stacked[name].detach() for name in self.names], numbers)
        except RuntimeError as error:
            return str(error).splitlines()[0]
        return None

    @property
    def n_parameters(self) -> int:
        """Of one model."""
        return sum(each.numel() for each in self.module.parameters())

    @property
    def n_activations(self) -> int:
        """A guess at the numbers that one model needs for a row."""
        widest = max(max(each.shape, default=1) for each in self.module.parameters())
        return self.n_numbers + ACTIVATIONS * widest

    def start(self, seed: int) -> list[Tensor]:
        """The parameters as the factory leaves them under a seed."""
        made = self._made(seed)
        if self.one_by_one:
            self.module = made  # with its own state, which the training goes on with
        parameters = dict(made.named_parameters())
        return [parameters[name].detach().clone() for name in self.names]

    @property
    def decays(self) -> list[bool]:
        """Weight decay is for matrices and what has more axes."""
        parameters = dict(self.module.named_parameters())
        return [parameters[name].ndim > 1 for name in self.names]

    @contextmanager
    def training(self, seed: int, device: torch.device) -> Iterator[None]:
        """Random numbers of the modules are those of the models' seed, which all of them share."""
        devices = [] if device.type == "cpu" else [device]
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            self.module.to(device).train()
            yield

    @contextmanager
    def predicting(self, device: torch.device) -> Iterator[None]:
        """As modules predict: nothing drops out."""
        was = self.module.training
        self.module.to(device).eval()
        try:
            yield
        finally:
            self.module.train(was)

    def outputs(
        self,
        parameters: Sequence[Tensor],
        numbers: Tensor,
        codes: Tensor,  # noqa: ARG002
        masks: Sequence[Tensor] | None = None,  # noqa: ARG002
    ) -> Tensor:
        """Outputs of all models for their rows."""
        if self.one_by_one:
            outputs = self._one([each[0] for each in parameters], numbers[0])[None]
        else:
            outputs = self._stacked(parameters, numbers)
        if outputs.shape != (*numbers.shape[:2], self.n_outputs):
            raise ValueError(
                f"module must return {self.n_outputs} outputs for each row, an array of shape "
                f"{(numbers.shape[1], self.n_outputs)}; it returned {tuple(outputs.shape[1:])}."
            )
        return outputs

    def _stacked(self, parameters: Sequence[Tensor], numbers: Tensor) -> Tensor:
        # Equal seeds are equally lucky, whatever the company.
        outputs: Tensor = vmap(self._one, randomness="same")(list(parameters), numbers)
        return outputs

    def _one(self, parameters: Sequence[Tensor], numbers: Tensor) -> Tensor:
        named = dict(zip(self.names, parameters, strict=True))
        outputs: Tensor = functional_call(self.module, named, (numbers,))
        return outputs
