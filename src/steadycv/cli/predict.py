"""``steadycv predict``: predictions of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steadycv._files import write_whole
from steadycv.cli.data_files import read_table
from steadycv.cli.errors import UserError, say_error, told_in_one_line
from steadycv.cli.preparation import listed

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="A model.skops that tune wrote.", show_default=False)],
    data: Annotated[
        Path, typer.Argument(help="A table: CSV, TSV or Parquet; - for standard input.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="A CSV file for the predictions (standard output).")
    ] = None,
) -> None:
    """Predict with a saved model.

    Writes CSV with a row for each row of the table: the prediction and, for classes, the probability of
    each. Columns that the model needs must be there; others are passed over, and named on standard error.
    """
    with told_in_one_line():
        from steadycv.cli.saved_model import load_model, versions

        loaded = load_model(model)
        # Categories that look like numbers here were texts when the model was made.
        table = read_table(data, as_text=loaded.text)
        notes = _differences(table, loaded)
        if loaded.versions != versions():
            notes.append(
                f"The model was made with {_listed_versions(loaded.versions)}; this is "
                f"{_listed_versions(versions())}."
            )
        for note in notes:
            say_error(note)
        content = _predictions(table, loaded).to_csv(index=False)
        if out is None:
            typer.echo(content, nl=False)
        else:
            write_whole(out, content.encode())


def _differences(table: Any, model: Any) -> list[str]:
    missing = model.missing_columns(table)
    if missing:
        raise UserError(f"The table lacks {len(missing)} columns that the model needs: {listed(missing)}.")
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


def _listed_versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())
