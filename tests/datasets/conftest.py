import pytest
from stand_ins import Remote

from steadycv.datasets import files


@pytest.fixture(autouse=True)
def remote(tmp_path, monkeypatch):
    """Nothing is fetched from elsewhere, and nothing is kept elsewhere."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "home"))
    monkeypatch.setattr(files, "SECONDS_BETWEEN_TRIES", 0.0)
    folder = tmp_path / "remote"
    folder.mkdir()
    return Remote(folder, monkeypatch)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"
