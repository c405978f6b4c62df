"""``steadycv predict``: predictions of a saved model."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated, Any

import typer

from steadycv._files import write_whole
from steadycv.cli.data_files import read_table
from steadycv.cli.errors import UserError, say_error, told_in_one_line
from steadycv.cli.preparation import listed

__all__ = ["predict"]


def predict(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model.skops that tune wrote.", show_default=False),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A table: CSV, TSV or Parquet; - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A CSV file for the predictions (standard output)."),
    ] = None,
) -> None:
    """Predict with a saved model.

    Writes CSV with a row for each row of the table: the prediction and, for classes, the probability
    of each. Columns that the model needs must be there; others are named on standard error.
    """
    with told_in_one_line():
        from steadycv.cli.saved_model import load_model, versions

        loaded = load_model(model)
        # Categories that look like numbers here were texts when the model was made.
        table = read_table(data, as_text=loaded.text)
        notes = _differences(table, loaded)
        other = "" if loaded.versions == versions() else _other_versions(loaded.versions, versions())
        try:
            content = _predictions(table, loaded).to_csv(index=False)
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
    used = {*model.numeric, *model.text}
    extra = [name for name in table.columns if name not in used and name != model.target]
    notes = []
    if extra:
        notes.append(f"Not used, as the model does not know them: {listed(extra)}.")
    if model.target in table.columns:
        notes.append(f"The target {model.target!r} is in the table; it is not used.")
    return notes


def _predictions(table: Any, model: Any) -> Any:
    import pandas

    try:
        frame = pandas.DataFrame({"prediction": model.predict(table)})
        probabilities = model.predict_proba(table)
    except ValueError as error:
        raise UserError(str(error)) from None
    if probabilities is not None:
        for label, values in zip(model.classes, probabilities.T, strict=True):
            frame[f"probability of {label}"] = values
    return frame


def _other_versions(then: dict[str, str], now: dict[str, str]) -> str:
    made, here = (", ".join(f"{name} {number}" for name, number in each.items()) for each in (then, now))
    return f"The model was made with {made}; this is {here}."
