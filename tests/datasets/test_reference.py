"""The data sets from the real raw files, bit for bit; they lie beside the project, if anywhere."""

import csv
import gzip
import hashlib
import re
from pathlib import Path

import pytest

from steadycv import datasets

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(
    not (DATA / "raw").is_dir(), reason="there is no folder ../shared/data/raw beside the project"
)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_equal_to_the_prepared_file(name):
    checksums = dict(line.split()[::-1] for line in (DATA / "SHA256SUMS").read_text().splitlines())
    [prepared] = DATA.glob(f"{name}.csv*")
    content = prepared.read_bytes()
    assert hashlib.sha256(content).hexdigest() == checksums[prepared.name]
    if prepared.suffix == ".gz":
        content = gzip.decompress(content)

    bunch = datasets.load(name, data_home=DATA / "raw", as_frame=True, download_if_missing=False)
    frame = bunch.frame.rename(columns={bunch.target_names[0]: "y"})
    ours = frame.to_csv(index=False, lineterminator="\n").encode()
    assert hashlib.sha256(ours).hexdigest() == hashlib.sha256(content).hexdigest()
    assert (
        datasets.describe(name)
        .splitlines()[3]
        .startswith(f"{len(frame)} samples, {len(bunch.feature_names)} features.")
    )
    assert bunch.feature_names == list(frame.columns[:-1])


def test_documentation_works(monkeypatch, capsys):
    monkeypatch.setenv("STEADYCV_DATA", str(DATA / "raw"))
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "datasets.md").read_text(), re.DOTALL)
    names = {}
    exec(code, names)
    assert names["X"].shape == (97, 8)
    assert capsys.readouterr().out.startswith("hitters: ")


def test_sources():
    with (DATA / "raw" / "SOURCES.tsv").open(newline="") as file:
        rows = {tuple(row.values()) for row in csv.DictReader(file, delimiter="\t")}
    ours = datasets.sources.SOURCES.values()
    assert {(s.repository, s.path, s.commit, s.sha256) for s in ours} == rows
