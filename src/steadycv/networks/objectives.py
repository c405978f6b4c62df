"""What training makes small, a number for each row of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["OF_NUMBERS", "log_scale", "loss_of_rows"]

OF_NUMBERS = ("squared_error", "absolute_error", "pinball", "gaussian")
FLATTEST = 7.0  # scales of a Gaussian are between exp of minus this and exp of this


def loss_of_rows(name: str, outputs: Tensor, target: Tensor, quantile: float) -> Tensor:
    """The loss of every row.

    Parameters
    ----------
    name : str
        One of those for numbers, or "log_loss".
    outputs : Tensor of shape (models, rows, n)
        What the networks say.
    target : Tensor of shape (models, rows)
        What is true, scaled; of classes their numbers.
    quantile : float
        Which one the pinball loss asks for.
    """
    if name == "log_loss":
        true = outputs.gather(2, target.long()[..., None])[..., 0]
        return torch.logsumexp(outputs, dim=2) - true
    away = target - outputs[..., 0]
    if name == "squared_error":
        return away.square()
    if name == "absolute_error":
        return away.abs()
    if name == "pinball":
        return torch.maximum(quantile * away, (quantile - 1) * away)
    log_of_scale = log_scale(outputs)
    return 0.5 * (away * torch.exp(-log_of_scale)).square() + log_of_scale


def log_scale(outputs: Tensor) -> Tensor:
    """The logarithm of a Gaussian's standard deviation, smoothly kept within bounds."""
    return FLATTEST * torch.tanh(outputs[..., 1] / FLATTEST)
