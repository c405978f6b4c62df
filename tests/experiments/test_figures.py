import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from steadycv import SparseRidge
from steadycv.experiments import draw_figure, figures, run_figure, summarize_figure
from steadycv.experiments.figures import generate


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(figures, "SPARSITIES", (1, 2, 4))
    monkeypatch.setattr(figures, "GAMMAS", (0.1, 10.0))
    monkeypatch.setattr(figures, "N_TEST", 300)


def test_data():
    samples = generate(5000, 10, seed=1)
    correlations = np.corrcoef(samples.X.T)
    assert correlations[2, 3] == pytest.approx(0.3, abs=0.05)
    assert correlations[2, 4] == pytest.approx(0.09, abs=0.05)
    coef = np.linalg.lstsq(samples.X, samples.y)[0]
    assert sorted(np.abs(coef.round()).tolist()) == [0.0] * 5 + [1.0] * 5
    for X, y in ((samples.X, samples.y), (samples.X_test, samples.y_test)):
        signal = X @ coef.round()
        assert np.linalg.norm(y - signal) == pytest.approx(np.linalg.norm(signal))
    assert not np.array_equal(generate(10, 10, seed=1).y, generate(10, 10, seed=2).y)


@pytest.mark.parametrize("figure", ["figure1", "figure2"])
@pytest.mark.parametrize("standardisation", ["before", "inside"])
def test_errors_by_separate_fits(tmp_path, figure, standardisation):
    path = tmp_path / "x.csv"
    run_figure(figure, path, n_seeds=2, settings=["underdetermined"], solver="beam")
    rows = pd.read_csv(path)
    rows = rows[(rows["standardisation"] == standardisation) & (rows["seed"] == 1)]
    assert len(rows) == 6

    samples = generate(10, 50, seed=1)
    unit = samples.y.var()
    before = standardisation == "before"
    if before:
        scaler = StandardScaler().fit(samples.X)
        target = StandardScaler().fit(samples.y[:, np.newaxis])
        samples = samples._replace(
            X=scaler.transform(samples.X),
            X_test=scaler.transform(samples.X_test),
            y=target.transform(samples.y[:, np.newaxis])[:, 0],
            y_test=target.transform(samples.y_test[:, np.newaxis])[:, 0],
        )
        unit = 1.0
    folds = np.arange(10) if figure == "figure1" else np.random.default_rng(1).permutation(10) % 5
    for row in rows.itertuples():
        model = SparseRidge(row.sparsity, row.gamma, fit_intercept=not before, standardize=not before)
        errors = []
        for t in range(folds.max() + 1):
            model.fit(samples.X[folds != t], samples.y[folds != t])
            residual = model.predict(samples.X[folds == t]) - samples.y[folds == t]
            errors.append(np.mean(residual**2) / unit)
        assert row.cv_error == pytest.approx(np.mean(errors), rel=1e-4)
        model.fit(samples.X, samples.y)
        error = np.mean((model.predict(samples.X_test) - samples.y_test) ** 2) / unit
        assert row.test_error == pytest.approx(error, rel=1e-4)


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="There is no figure 'figure3'; there are figure1, figure2"):
        run_figure("figure3", tmp_path / "x.csv")
    with pytest.raises(ValueError, match="There is no setting 'over'; there are overdetermined, under"):
        run_figure("figure1", tmp_path / "x.csv", settings=["over"])


def rows():
    """Two seeds, two sparsities: the lower cross-validation error has test errors of 2 and 6."""
    return pd.DataFrame(
        [
            {
                "setting": setting,
                "standardisation": how,
                "seed": seed,
                "sparsity": sparsity,
                "gamma": gamma,
                "cv_error": 1.0 if (sparsity, gamma) == (2, 0.1) else 2.0,
                "test_error": 4.0 * seed + 2 if (sparsity, gamma) == (2, 0.1) else 2.0 + sparsity,
            }
            for setting in ("overdetermined", "underdetermined")
            for how in ("before", "inside")
            for seed in (0, 1)
            for sparsity in (1, 2)
            for gamma in (0.1, 10.0)
        ]
    )


def test_summary():
    sheet = summarize_figure("figure1", rows())
    assert len(sheet.rows) == 4
    # The lowest test errors are 2 and 3, so the excess is 0 and 1.
    assert sheet.rows[0][2:6] == ("2", "0.6%", "50.0%", "25.0% to 75.0%")
    assert sheet.rows[1][3] == "-"
    assert sheet.rows[2][3] == "16.4%"
    assert sheet.rows[0][6] == f"{(1 / 2 + 1 / 6) / 2:.2g}"


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    files = draw_figure("figure2", rows(), tmp_path)
    assert {how: file.name for how, file in files.items()} == {
        "before": "figure2-before.png",
        "inside": "figure2-inside.png",
    }
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files.values())
    only = rows()[rows()["standardisation"] == "inside"]
    assert list(draw_figure("figure2", only, tmp_path)) == ["inside"]
