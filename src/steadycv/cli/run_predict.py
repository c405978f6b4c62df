"""The run of ``steadycv predict``: the table beside what the model needs, and its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from steadycv._files import write_whole
from steadycv.cli.errors import UserError, say_error
from steadycv.cli.saved_model import load_model, versions
from steadycv.tables.files import read_file
from steadycv.tables.remarks import listed
from steadycv.tables.table import texts_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run_predict"]


SEPARATOR = "; "  # of the classes in a set


def run_predict(
    model: Path, data: Path, out: Path | None, interval: float | None = None, part: str | None = None
) -> None:
    """Predict for a table, and say what is odd about it."""
    loaded = load_model(model)
    table, notes = read_file(data, part, texts_of(loaded.readings))
    notes += _differences(table, loaded)
    other = "" if loaded.versions == versions() else _other_versions(loaded.versions, versions())
    try:
        content = _predictions(table, loaded, interval).to_csv(index=False)
    except Exception as error:
        if isinstance(error, UserError) or not other:
            raise
        raise UserError(f"The model does not work here: {error}. {other}") from error
    for note in [*notes, *([other] if other else [])]:
        say_error(note)
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_whole(out, content.encode())


def _differences(table: Any, model: Any) -> list[str]:
    missing = model.missing_columns(table)
    if missing:
        count = "1 column" if len(missing) == 1 else f"{len(missing)} columns"
        raise UserError(f"The table lacks {count} that the model needs: {listed(missing)}.")
    if not len(table):
        raise UserError("The table has no rows.")
    known = {each["name"] for each in model.columns}
    extra = [name for name in table.columns if name not in known and name != model.target]
    notes = []
    if extra:
        notes.append(f"Not used, as the model does not know them: {listed(extra)}.")
    if model.target in table.columns:
        notes.append(f"The target {model.target!r} is in the table; it is not used.")
    return notes


def _predictions(table: Any, model: Any, coverage: float | None) -> Any:
    import pandas

    try:
        frame = pandas.DataFrame({"prediction": model.predict(table)})
        probabilities = model.predict_proba(table)
        if coverage is not None and model.classes:
            sets = model.predict_set(table, coverage)
            classes = np.array([str(each) for each in model.classes])
            frame["set"] = [SEPARATOR.join(classes[row]) for row in sets]
        elif coverage is not None:
            frame[["lower", "upper"]] = model.predict_interval(table, coverage)
    except ValueError as error:
        raise UserError(str(error)) from None
    if probabilities is not None:
        for label, values in zip(model.classes, probabilities.T, strict=True):
            frame[f"probability of {label}"] = values
    return frame


def _other_versions(then: dict[str, str], now: dict[str, str]) -> str:
    made, here = (", ".join(f"{name} {number}" for name, number in each.items()) for each in (then, now))
    return f"The model was made with {made}; this is {here}."
