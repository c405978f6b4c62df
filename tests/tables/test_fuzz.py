"""Tables corrupted at random: each is read, or refused in one line."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.request import TuneRequest
from steadycv.cli.tuning import prepare
from steadycv.tables import TableError

N_TABLES = 25
ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"]
ENDS = ["\n", "\r", "\r\n", "\n\n"]
PIECES = [
    *('"', ",", ";", "(", "%", "'", "\0", "\x1a", "\u202e", "ä" * 50, "=1+1", "0x1F", "1_0", "True"),
    *("1e300", "-1e308", "inf", "nan", "9" * 21, "9" * 400, "2020-13-45", "\u0661\u0662", "#REF!"),
]


def a_text(rng):
    n = int(rng.integers(25, 80))
    days = pd.date_range("2020-01-01", periods=n)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "price": [f"${v:,.2f}" for v in rng.uniform(100, 90000, n)],
            "rate": [f"{v:.1f}%" for v in rng.uniform(0, 90, n)],
            "day": days.strftime(["%d/%m/%Y", "%Y-%m-%d", "%d.%m.%y"][rng.integers(3)]),
            "städt": rng.choice(["Köln", "Ulm", "Zürich", ""], n),
            "zip": [f"{v:05}" for v in rng.integers(1, 30, n)],
            "note": [f"a house, number {i}\nis nice" for i in range(n)],
            "x": rng.normal(size=n),
        }
    )
    frame["y"] = rng.choice([0, 1], n) if rng.random() < 0.5 else frame["x"] + rng.normal(size=n)
    return frame.to_csv(index=False, sep=",;\t"[rng.integers(3)])


def corrupted(rng):
    text = a_text(rng)
    ends = ENDS if rng.random() < 0.3 else [ENDS[rng.integers(3)]]
    text = "".join(ends[rng.integers(len(ends))] if c == "\n" else c for c in text)
    for _ in range(rng.integers(4)):
        place = int(rng.integers(len(text)))
        text = text[:place] + PIECES[rng.integers(len(PIECES))] + text[place:]
    content = bytearray(text.encode(ENCODINGS[rng.integers(len(ENCODINGS))], errors="replace"))
    for _ in range(rng.choice([0, 1, 3, 30])):
        content[rng.integers(len(content))] = rng.integers(256)
    place = int(rng.integers(len(content)))
    kind = rng.random()
    if kind < 0.2:
        return bytes(content[:place])
    if kind < 0.3:
        return bytes(content[:place]) + text[:200].encode("utf-16") + bytes(content[place:])
    return bytes(content[place:] if kind < 0.35 else content)


@pytest.mark.parametrize("seed", range(5))
def test_no_traceback(tmp_path, seed):
    rng = np.random.default_rng(seed)
    path, refusals = Path(tmp_path) / "t.csv", []
    for _ in range(N_TABLES):
        path.write_bytes(corrupted(rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                prepare(TuneRequest(data=path, target="y", out=tmp_path, keep=("note",)))
        except (UserError, TableError) as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < N_TABLES
    assert all(20 < len(refusal) < 700 for refusal in refusals)
