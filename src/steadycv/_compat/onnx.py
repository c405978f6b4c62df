"""What skl2onnx does not export: how one of its parsers calls another."""

from __future__ import annotations

from typing import Any

from skl2onnx._parse import _apply_zipmap, _parse_sklearn

__all__ = ["parse", "with_zipmap"]


def parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any) -> list[Any]:
    """The outputs of a model inside another one."""
    outputs: list[Any] = _parse_sklearn(scope, model, inputs, custom_parsers=custom_parsers)
    return outputs


def with_zipmap(how: Any, scope: Any, model: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Labels, and probabilities by the names of the classes."""
    zipped: list[Any] = _apply_zipmap(how, scope, model, inputs[0].type, outputs)
    return zipped
