"""Preprocessing, on raw files of a few rows; what is expected is written out."""

import math
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch
from stand_ins import r_data_frame, r_file, r_matrix

from steadycv import datasets

RNG = np.random.default_rng(0)
HOUSING = (
    b" 0.1  18.00   2.310  0  0.5380  6.5750  65.20  4.0900   1  296.0  15.30 396.90   4.98  24.00\n"
)


def frame_of(name):
    """The loaded frame; its columns as a dictionary of lists."""
    return datasets.load(name, as_frame=True).frame.to_dict("list")


def test_wine(remote):
    red = b"7.4,0.7,0,1.9,0.076,11,34,0.9978,3.51,0.56,9.4,5\n"
    white = b"7,0.27,0.36,20.7,0.045,45,170,1.001,3,0.45,8.8,6\n6,1,1,1,1,1,1,1,1,1,1,7\n"
    remote.put("wine", red, white)
    frame = frame_of("wine")
    assert list(frame)[::5] == ["fixed_acidity", "free_sulfur_dioxide", "alcohol"]
    assert frame["fixed_acidity"] == [7.4, 7.0, 6.0]
    assert frame["quality"] == [5, 6, 7]


def test_housing(remote):
    remote.put("housing", HOUSING)
    frame = frame_of("housing")
    assert list(frame)[:2] == ["CRIM", "ZN"]
    assert frame["CRIM"] == [0.1]
    assert frame["LSTAT"] == [4.98]
    assert frame["MEDV"] == [24.0]


def test_autompg(remote):
    remote.put(
        "autompg",
        b'18.0   8   307.0      130.0      3504.      12.0   70  1\t"chevrolet chevelle malibu"\n'
        b'25.0   4   98.00      ?          2046.      19.0   71  1\t"ford pinto"\n'
        b'24.0   4   113.0      95.00      2372.      15.0   70  3\t"toyota corona mark ii"\n',
    )
    assert frame_of("autompg") == {
        "displacement": [307.0, 113.0],
        "horsepower": [130.0, 95.0],
        "weight": [3504.0, 2372.0],
        "acceleration": [12.0, 15.0],
        "cylinders_4": [0, 1],
        "cylinders_8": [1, 0],
        "year_70": [1, 1],
        "origin_1": [1, 0],
        "origin_3": [0, 1],
        "mpg": [18.0, 24.0],
    }


def test_hitters(remote, tmp_path):
    players = pd.DataFrame(
        {
            "AtBat": np.array([293, 315, 479], dtype=np.int32),
            "League": pd.Categorical(["A", "N", "A"]),
            "Division": pd.Categorical(["W", "E", "W"]),
            "Salary": [np.nan, 90.0, 1000.0],
            "NewLeague": pd.Categorical(["A", "N", "A"]),
        }
    )
    remote.put("hitters", r_file(tmp_path, Hitters=players))
    assert frame_of("hitters") == {
        "AtBat": [315, 479],
        "League_N": [1, 0],
        "Division_W": [0, 1],
        "NewLeague_N": [1, 0],
        "log10(Salary)": [1.954242509439325, 3.0],  # not the double below, as some log10 have it
    }


def test_prostate(remote, tmp_path):
    X = r_matrix(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ["lcavol", "age"])
    remote.put("prostate", r_file(tmp_path, Prostate={"X": X, "y": np.array([0.1, 0.2, 0.3])}))
    assert frame_of("prostate") == {
        "lcavol": [1.0, 3.0, 5.0],
        "age": [2.0, 4.0, 6.0],
        "lpsa": [0.1, 0.2, 0.3],
    }


def test_servo(remote):
    remote.put("servo", b"E,B,5,4, 0.28125095\nB,D,6,5, 0.5062525")
    assert frame_of("servo") == {
        "motor_B": [0, 1],
        "motor_E": [1, 0],
        "screw_B": [1, 0],
        "screw_D": [0, 1],
        "pgain_5": [1, 0],
        "pgain_6": [0, 1],
        "vgain_4": [1, 0],
        "vgain_5": [0, 1],
        "rise_time": [0.28125095, 0.5062525],
    }


@pytest.mark.parametrize(
    ("name", "r_name", "response"),
    [("toxicity", "toxicity", "toxicity"), ("steam", "steamUse", "Steam")],
)
def test_the_response_comes_last(remote, tmp_path, name, r_name, response):
    table = pd.DataFrame({response: [0.5, 1.5], "days": np.array([31, 28], dtype=np.int32)})
    remote.put(name, r_file(tmp_path, **{r_name: table}))
    bunch = datasets.load(name, as_frame=True)
    assert list(bunch.frame.columns) == ["days", response]
    assert list(bunch.frame.dtypes) == [np.int64, np.float64]


def test_alcohol2(remote, tmp_path):
    names = ["SAG", "V", "logPC", "P", "RM", "Mass"]
    table = pd.DataFrame(RNG.normal(size=(4, 7)), columns=[*names, "logSolubility"])
    remote.put("alcohol2", r_file(tmp_path, alcohol=table))
    frame = frame_of("alcohol2")
    assert list(frame) == [*names, *(f"{a}:{b}" for a, b in combinations(names, 2)), "logSolubility"]
    assert frame["V:RM"] == [a * b for a, b in zip(table["V"], table["RM"], strict=True)]


def test_topgear(remote, tmp_path):
    numbers = ["Price", "Displacement", "BHP", "Torque", "Acceleration", "TopSpeed"]
    numbers += ["Weight", "Length", "Width", "Height"]
    categories = ["Fuel", "DriveWheel", "AdaptiveHeadlights", "AdjustableSteering", "AlarmSystem"]
    categories += ["Automatic", "Bluetooth", "ClimateControl", "CruiseControl", "ElectricSeats"]
    categories += ["Leather", "ParkingSensors", "PowerSteering", "SatNav", "ESP", "Origin"]
    cars = pd.DataFrame({name: RNG.uniform(50, 100, size=4) for name in [*numbers, "MPG", "Verdict"]})
    cars.loc[0, "Acceleration"] = 0.0
    cars.loc[2, "Verdict"] = np.nan  # a missing value in any column drops the row
    for name in categories:
        cars[name] = pd.Categorical(["no/optional", "standard", "some", "standard"])
    remote.put("topgear", r_file(tmp_path, TopGear=cars))

    frame = frame_of("topgear")
    indicators = [f"{name}_standard" for name in categories]  # "some" went with its row
    assert list(frame) == [
        *numbers,
        *indicators,
        *(f"{a}^2" for a in numbers),
        *(f"{a}:{b}" for a, b in combinations(numbers, 2)),
        *(f"{a}:{b}" for a in numbers for b in indicators),
        "log(MPG)",
    ]
    for row, car in enumerate([0, 1, 3]):
        value = {a: math.log(cars[a][car]) for a in numbers if a != "Acceleration"}
        value["Acceleration"] = cars["Acceleration"][car]
        assert frame["log(MPG)"][row] == pytest.approx(math.log(cars["MPG"][car]))
        for a, b in combinations(numbers, 2):
            assert frame[a][row] == pytest.approx(value[a])
            assert frame[f"{a}^2"][row] == pytest.approx(value[a] ** 2)
            assert frame[f"{a}:{b}"][row] == pytest.approx(value[a] * value[b])
            assert frame[f"{a}:Leather_standard"][row] == pytest.approx(value[a] if car else 0)


def test_bardet(remote, tmp_path):
    x = r_matrix(np.array([[1.0, 2.0], [3.0, 4.0]]), ["1377", "1748"])
    remote.put("bardet", r_file(tmp_path, x=x, y=np.array([8.5, 8.25])))
    assert frame_of("bardet") == {
        "probe_1377": [1.0, 3.0],
        "probe_1748": [2.0, 4.0],
        "TRIM32": [8.5, 8.25],
    }


def test_vessel(remote, tmp_path):
    spectra = RNG.normal(size=(3, 750))
    spectra_frame = pd.DataFrame(spectra, columns=[f"V{number}" for number in range(1, 751)])
    compounds = r_matrix(RNG.normal(size=(3, 2)), ["Na2O", "PbO"])
    remote.put("vessel", r_file(tmp_path, data_glass=spectra_frame), r_file(tmp_path, glass=compounds))
    bunch = datasets.load("vessel")
    assert bunch.feature_names == [f"f{number}" for number in range(15, 501)]
    np.testing.assert_array_equal(bunch.data, spectra[:, 14:500])
    np.testing.assert_array_equal(bunch.target, compounds.value[3:])
    assert len(bunch.filenames) == len(bunch.urls) == 2


def test_riboflavin(remote, tmp_path):
    x = r_matrix(np.array([[1.0, 2.0], [3.0, 4.0]]), ["AADK_at", "AAPA_at"], **{"class": "AsIs"})
    table = r_data_frame(y=np.array([-6.5, -7.0]), x=x)
    remote.put("riboflavin", r_file(tmp_path, riboflavin=table))
    assert frame_of("riboflavin") == {
        "AADK_at": [1.0, 3.0],
        "AAPA_at": [2.0, 4.0],
        "log_production_rate": [-6.5, -7.0],
    }


def test_arrays(remote, home):
    remote.put("housing", HOUSING)
    bunch = datasets.load("housing")
    assert isinstance(bunch, Bunch)
    assert bunch.data.shape == (1, 13)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.frame is None
    assert len(bunch.feature_names) == 13
    assert bunch.target_names == ["MEDV"]
    assert datasets.describe("housing") == bunch.DESCR
    assert bunch.filenames == [str(home / "jbrownlee" / "Datasets" / "housing.data")]
    X, y = datasets.load("housing", return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_frames(remote):
    remote.put("housing", HOUSING)
    bunch = datasets.load("housing", as_frame=True)
    assert bunch.target.name == "MEDV"
    pd.testing.assert_frame_equal(bunch.frame, bunch.data.join(bunch.target))
    X, y = datasets.load("housing", as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_a_description_names_sources_licences_and_steps(name):
    dataset = datasets.catalogue.DATASETS[name]
    text = " ".join(datasets.describe(name).split())
    assert f"{dataset.n_samples} samples, {dataset.n_features} features" in text
    for file in dataset.files:
        assert datasets.sources.SOURCES[file].url in text
        assert f"licence: {datasets.sources.SOURCES[file].licence}" in text
    for part in [*(step.text for step in dataset.steps), dataset.certain, dataset.uncertain]:
        assert part in text


@pytest.mark.parametrize(("package", "name"), [("pandas", "housing"), ("rdata", "prostate")])
def test_a_missing_package_is_named(remote, tmp_path, monkeypatch, package, name):
    remote.put("housing", HOUSING)
    remote.put("prostate", r_file(tmp_path, Prostate={"y": np.zeros(1)}))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}: pip install 'steadycv\[datasets\]'"):
        datasets.load(name)
