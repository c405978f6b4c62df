"""Grids of a user's own, from a YAML, JSON or TOML file."""

from __future__ import annotations

import json
import re
import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from steadycv._compat import check_params
from steadycv.cli.errors import UserError
from steadycv.cli.pipelines import STEP
from steadycv.model_catalogue import MODELS

if TYPE_CHECKING:
    from pathlib import Path

    from sklearn.pipeline import Pipeline

__all__ = ["check_grid", "read_grids"]

_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")


def read_grids(path: Path, models: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    """The grids of the models that a file has one for.

    A file has lists of values by the names of parameters; or several such grids by the names of models.
    """
    content = _parsed(path)
    if not isinstance(content, dict) or not content:
        raise UserError(f"The grid {path} must have names of parameters with lists of values.")
    if not all(isinstance(part, dict) for part in content.values()):
        if len(models) > 1:
            raise UserError(
                f"The grid {path} must have the names of models at the top, as there are several: "
                f"{', '.join(models)}."
            )
        content = {models[0]: content}
    for name, grid in content.items():
        if name not in MODELS:
            raise UserError(f"The grid {path} has no model's name at the top: {name!r}.")
        for parameter, values in grid.items():
            _check_values(f"{path}: {parameter}", values)
    if not set(models) & set(content):
        raise UserError(f"The grid {path} is for {', '.join(content)} and not for {', '.join(models)}.")
    return {
        name: {
            str(parameter): [_as_number(value) for value in values] for parameter, values in grid.items()
        }
        for name, grid in content.items()
        if name in models
    }


def check_grid(name: str, pipeline: Pipeline, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The grid for the pipeline of a model; parameters or values that it does not take are refused."""
    model = pipeline.named_steps["model"]
    known = sorted(model.get_params(deep=False))
    for parameter, values in grid.items():
        if parameter not in known:
            close = get_close_matches(parameter, known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(known)}."
            raise UserError(f"The model {name} has no parameter {parameter!r}. {hint}")
        for value in values:
            try:
                check_params(clone(model).set_params(**{parameter: value}))
            except ValueError as error:
                raise UserError(f"The grid has a bad value. {error}") from None
    return {f"{STEP}{parameter}": values for parameter, values in grid.items()}


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text("utf-8")
        ending = path.suffix.lower()
        if ending == ".json":
            return json.loads(text)
        if ending == ".toml":
            return tomllib.loads(text)
        if ending in (".yaml", ".yml"):
            return _parsed_yaml(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise UserError(f"The grid {path} cannot be read: {reason}") from None
    raise UserError(f"The grid {path} cannot be read: its name must end in .yaml, .json or .toml.")


def _parsed_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _check_values(what: str, values: Any) -> None:
    if not isinstance(values, list) or not values:
        raise UserError(f"{what} must be a list of values, got {values!r}.")
    for value in values:
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise UserError(f"{what} must have numbers, texts, true, false or null, got {value!r}.")


def _as_number(value: Any) -> Any:
    """YAML takes 1e-3 for a text."""
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
