import pytest

from steadycv.experiments.result_file import ResultFile, Unit, WrongResultsError, read_frame

KEY, COLUMNS = ("name", "number"), ("value", "note")


def unit(name, number, configuration="one", n_rows=2):
    return Unit({"name": name, "number": number}, configuration, n_rows, list)


def rows(*values):
    return [{"value": value, "note": "with, comma"} for value in values]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "results.csv"


@pytest.fixture
def two(path):
    with ResultFile(path, KEY, COLUMNS) as file:
        file.append(unit("b", 10), rows(0.1, 2))
        file.append(unit("b", 9), rows(3.0, 4))
    return path


def test_rows_are_kept_in_order(two):
    lines = two.read_text().splitlines()
    assert lines[0] == "name,number,value,note,configuration"
    assert [line.split(",")[1] for line in lines[1:]] == ["9", "9", "10", "10"]
    assert lines[3] == 'b,10,0.1,"with, comma",one'
    assert [file.name for file in two.parent.iterdir()] == ["results.csv"]


def test_what_is_there_is_not_missing(two):
    with ResultFile(two, KEY, COLUMNS) as file:
        units = [unit("a", 0), unit("b", 9), unit("b", 10)]
        assert file.missing(units) == units[:1]


@pytest.mark.parametrize("cut", [1, 3, 10, 30, 50])
def test_what_was_half_written_is_done_again(two, cut):
    whole = two.read_bytes()
    two.write_bytes(whole[:-cut])
    with ResultFile(two, KEY, COLUMNS) as file:
        missing = file.missing([unit("b", 9), unit("b", 10)])
        assert [u.key for u in missing] == [{"name": "b", "number": 10}]
        file.append(unit("b", 10), rows(0.1, 2))
    assert two.read_bytes() == whole


def test_rows_are_on_the_disk_at_once(path):
    with ResultFile(path, KEY, COLUMNS) as file:
        file.missing([])
        file.append(unit("a", 0), rows(1, 2))
        assert path.read_text().count("\n") == 3


def test_another_configuration_is_refused(two):
    with (
        ResultFile(two, KEY, COLUMNS) as file,
        pytest.raises(WrongResultsError, match=r"b, 9.*\(one instead of two\)"),
    ):
        file.missing([unit("b", 9, "two")])
    with ResultFile(two, KEY, COLUMNS) as file:
        assert file.missing([unit("b", 9)]) == []  # and left as it was


def test_other_units_may_have_another_configuration(two):
    with ResultFile(two, KEY, COLUMNS) as file:
        assert len(file.missing([unit("c", 0, "two")])) == 1


def test_another_file_is_refused(path):
    path.parent.mkdir()
    path.write_text("a,b\n1,2\n")
    with pytest.raises(WrongResultsError, match="its columns are a, b instead of name, number"):
        ResultFile(path, KEY, COLUMNS)
    assert path.read_text() == "a,b\n1,2\n"


def test_one_run_at_a_time(two):
    pytest.importorskip("fcntl")
    with (
        ResultFile(two, KEY, COLUMNS),
        pytest.raises(BlockingIOError, match="Another run is writing"),
    ):
        ResultFile(two, KEY, COLUMNS)
    ResultFile(two, KEY, COLUMNS).__exit__()


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_a_lock_whose_file_is_gone_is_none(two, monkeypatch, is_made_anew):
    fcntl = pytest.importorskip("fcntl")
    flock, name = fcntl.flock, two.with_name(two.name + ".lock")

    def end_another_run_first(*args):
        monkeypatch.setattr(fcntl, "flock", flock)
        name.unlink()
        if is_made_anew:
            name.touch()
        flock(*args)

    monkeypatch.setattr(fcntl, "flock", end_another_run_first)
    with (
        ResultFile(two, KEY, COLUMNS),
        pytest.raises(BlockingIOError, match="Another run is writing"),
    ):
        ResultFile(two, KEY, COLUMNS)
    assert not name.exists()


def test_a_folder_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        ResultFile(tmp_path, KEY, COLUMNS)
    assert not tmp_path.with_name(tmp_path.name + ".lock").exists()


def test_another_seed_is_refused(path):
    key, columns = ("name",), ("seed",)
    with ResultFile(path, key, columns, seed=1) as file:
        file.append(Unit({"name": "a"}, "one", 1, list), [{"seed": 1}])
    before = path.read_bytes()
    with pytest.raises(WrongResultsError, match="another configuration: seed 1 instead of 2"):
        ResultFile(path, key, columns, seed=2)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before
    ResultFile(path, key, columns, seed=1).__exit__()


@pytest.mark.parametrize("cut", [1, 10, 30, 40])
def test_what_was_half_written_is_not_read(two, cut):
    two.write_bytes(two.read_bytes()[:-cut])
    frame = read_frame(two, KEY, COLUMNS)
    assert frame["number"].tolist() == [9, 9]
    assert frame["value"].tolist() == [3.0, 4.0]


def test_units_of_several_kinds_are_read(path):
    with ResultFile(path, KEY, COLUMNS) as file:
        file.append(unit("a", 1), rows(1, 2))
        file.append(unit("b", 1, n_rows=1), rows(3))
        file.append(unit("a", 2), rows(1))
    assert len(read_frame(path, KEY, COLUMNS, kind="name")) == 3


def test_other_and_empty_files_are_read_as_they_are(path):
    path.parent.mkdir()
    path.touch()
    assert read_frame(path, KEY, COLUMNS).empty
    path.write_text("a,b\n1,2\n")
    with pytest.raises(WrongResultsError, match="its columns are a, b"):
        read_frame(path, KEY, COLUMNS)


def test_empty_file(path):
    path.parent.mkdir()
    path.touch()
    with ResultFile(path, KEY, COLUMNS) as file:
        assert len(file.missing([unit("a", 0)])) == 1
