"""Raw files: fetched once, whole or not at all, and never used unchecked. All on this machine."""

import http.server
import socket
import threading
import time
from pathlib import Path

import pytest

from steadycv import datasets
from steadycv.datasets import files

SERVO = b"E,B,5,4, 0.28125095\nB,D,6,5, 0.5062525"
PATH = "prajjwaldangal/servo-data/servo.data"


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder, after doing once what is planned; keeps count of what it was asked for."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.plan = []
        self.asked = []
        self.done = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, request, address, server):
        super().__init__(request, address, server, directory=server.folder)

    def do_GET(self):
        self.server.asked.append(self.path)
        planned = self.server.plan.pop(0) if self.server.plan else "serve"
        if planned == "serve":
            super().do_GET()
        elif planned == "break off":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(SERVO)
        elif planned == "keep silent":
            self.server.done.wait(10)
        else:
            self.send_error(planned)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(remote):
    with Server(remote.folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        remote.serve_at(server.url)
        remote.put("servo", SERVO)
        yield server
        server.done.set()
        server.shutdown()
        thread.join()


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_fetched_once(server, home):
    first = datasets.load("servo")
    assert (home / PATH).read_bytes() == SERVO
    assert datasets.load("servo").data.tolist() == first.data.tolist()
    commit = datasets.sources.SOURCES[PATH].commit
    assert server.asked == [f"/prajjwaldangal/servo-data/{commit}/servo.data"]
    assert sorted(path.name for path in (home / PATH).parent.iterdir()) == ["servo.data"]


def test_the_addresses_are_those_of_github(remote):
    remote.serve_at("https://raw.githubusercontent.com")
    assert datasets.sources.SOURCES["cran/ISLR/data/Hitters.rda"].url == (
        "https://raw.githubusercontent.com/cran/ISLR/b72e0cec2b394ac340680fe19fa0b8e7d10e07ab/data/Hitters.rda"
    )


@pytest.mark.parametrize("trouble", [503, 429, "break off"])
def test_passing_trouble_is_tried_again(server, trouble):
    server.plan = [trouble, trouble]
    assert len(datasets.load("servo").target) == 2
    assert len(server.asked) == files.TRIES == 3


def test_silence_is_not_waited_for(server, home, monkeypatch):
    monkeypatch.setattr(files, "SECONDS_TO_WAIT", 0.05)
    server.plan = ["keep silent"] * files.TRIES
    with pytest.raises(OSError, match="could not be fetched: TimeoutError"):
        datasets.load("servo")
    assert files_below(home) == set()


def test_waits_longer_each_time(server, monkeypatch):
    waits = []
    monkeypatch.setattr(files, "SECONDS_BETWEEN_TRIES", 1.0)
    monkeypatch.setattr(time, "sleep", waits.append)
    server.plan = [503] * files.TRIES
    with pytest.raises(OSError, match="503"):
        datasets.load("servo")
    assert waits == [1.0, 2.0]


def test_what_is_not_there_is_not_asked_for_again(server, remote):
    server.plan = [404, 404]
    with pytest.raises(OSError, match="could not be fetched: HTTPError: HTTP Error 404"):
        datasets.load("servo")
    assert len(server.asked) == 1


def test_no_network(remote, home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        remote.serve_at(f"http://127.0.0.1:{free.getsockname()[1]}")
        remote.put("servo", SERVO)
        with pytest.raises(OSError, match="refused") as error:
            datasets.load("servo")
    message = str(error.value)
    assert datasets.sources.SOURCES[PATH].url in message
    assert f"as {home / PATH}" in message
    assert "STEADYCV_DATA" in message


def test_what_the_error_asks_for_helps(remote, home):
    remote.put("servo", SERVO)
    remote.serve_at((remote.folder / "nothing").as_uri())
    with pytest.raises(OSError, match="could not be fetched") as error:
        datasets.load("servo")
    [place] = [line.split(" as ")[1] for line in str(error.value).splitlines() if " as " in line]
    Path(place).parent.mkdir(parents=True)
    Path(place).write_bytes(SERVO)
    assert len(datasets.load("servo").target) == 2


def test_every_missing_file_is_named(remote, home):
    first, second = remote.put("wine", b"1", b"2")
    with pytest.raises(FileNotFoundError, match="2 of 2 raw files are not in") as error:
        datasets.load("wine", download_if_missing=False)
    assert str(home / first) in str(error.value)
    assert str(home / second) in str(error.value)
    assert not home.exists()


def test_a_file_that_is_there_is_not_named(remote, home):
    first, second = remote.put("wine", b"1", b"2")
    (home / first).parent.mkdir(parents=True)
    (home / first).write_bytes(b"1")
    with pytest.raises(FileNotFoundError, match="1 of 2 raw files are not in") as error:
        datasets.load("wine", download_if_missing=False)
    assert str(home / first) not in str(error.value)
    assert str(home / second) in str(error.value)


def test_a_folder_of_raw_files_is_enough(server, tmp_path):
    place = tmp_path / "elsewhere" / PATH
    place.parent.mkdir(parents=True)
    place.write_bytes(SERVO)
    bunch = datasets.load("servo", data_home=tmp_path / "elsewhere", download_if_missing=False)
    assert bunch.filenames == [str(place)]
    assert server.asked == []


def test_a_wrong_file_from_the_network_is_not_kept(remote, home):
    remote.put("servo", SERVO)
    source = datasets.sources.SOURCES[PATH]
    (remote.folder / source.repository / source.commit / source.path).write_bytes(
        b"<html>Sign in</html>"
    )
    with pytest.raises(OSError, match=f"20 bytes with sha256 .* whose sha256 is {source.sha256}"):
        datasets.load("servo")
    assert files_below(home) == set()


def test_a_wrong_file_at_home_is_refused_and_left(server, home):
    (home / PATH).parent.mkdir(parents=True)
    (home / PATH).write_bytes(SERVO + b"\n")
    expected = datasets.sources.SOURCES[PATH].sha256
    with pytest.raises(OSError, match=rf"servo.data' is not the file it should be(.|\n)*{expected}"):
        datasets.load("servo")
    assert (home / PATH).read_bytes() == SERVO + b"\n"
    assert server.asked == []


def test_a_full_disk_leaves_nothing_half_written(remote, home, monkeypatch):
    remote.put("servo", SERVO)
    write_bytes = Path.write_bytes

    def write_half(path, content):
        write_bytes(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_half)
        with pytest.raises(OSError, match=r"could not be kept as .*servo.data': .*No space left"):
            datasets.load("servo")
    assert files_below(home) == set()
    assert len(datasets.load("servo").target) == 2


def test_a_home_that_is_no_folder(remote, tmp_path):
    remote.put("servo", SERVO)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"could not be kept as .* Name a folder that can be written to"):
        datasets.load("servo", data_home=tmp_path / "file")


def test_data_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("STEADYCV_DATA", "~/elsewhere")
    assert datasets.get_data_home("raw") == Path("raw")
    assert datasets.get_data_home() == Path("/home/me/elsewhere")
    monkeypatch.setenv("STEADYCV_DATA", "")
    assert datasets.get_data_home() == Path("/home/me/steadycv_data")
    monkeypatch.delenv("STEADYCV_DATA")
    assert datasets.get_data_home() == Path("/home/me/steadycv_data")
