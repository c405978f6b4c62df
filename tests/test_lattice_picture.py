"""The picture of the lattice has the errors of the ledger in its cells."""

import re
import warnings
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.lattice_picture import LatticeErrors, lattice_svg

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:90], Y[:90]
FOLDS = KFold(3)


def cells(svg, class_):
    """Places of the cells of a class."""
    paths = [each for each in fromstring(svg) if each.tag == "path"]
    found = [path.get("d") for path in paths if path.get("class") == class_]
    return [tuple(map(float, place)) for d in found for place in re.findall(r"M([\d.]+) ([\d.]+)h", d)]


def n_cells(svg):
    kinds = ["open", "fitted", "failed", *(f"heat{shade}" for shade in range(9))]
    return {kind: len(cells(svg, kind)) for kind in kinds if cells(svg, kind)}


def test_errors_are_those_of_models_trained_by_hand():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=FOLDS).fit(X, Y)
    data = LatticeErrors.from_search(search)
    tests = [test for _, test in FOLDS.split(X)]
    assert_array_equal(data.depth, [0, 1, 1, 1, 2, 2, 2])
    assert np.isnan(data.error[:, 0]).all()
    assert data.is_fitted.all()
    for training_set in range(1, 7):
        rows = search.lattice_.rows(training_set)
        for candidate, alpha in enumerate((0.1, 10.0)):
            model = Ridge(alpha=alpha).fit(X[rows], Y[rows])
            unseen = [test for test in tests if not np.isin(test, rows).any()]
            errors = [mean_squared_error(Y[test], model.predict(X[test])) for test in unseen]
            assert_allclose(data.error[candidate, training_set], np.mean(errors))


def test_a_cell_for_each_candidate_and_training_set_stronger_where_it_is_good():
    grid = {"max_depth": [1, 2, 3, 5, 8]}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=FOLDS).fit(X, Y)
    data = LatticeErrors.from_search(search)
    svg = lattice_svg(data)
    n = n_cells(svg)
    assert n.pop("fitted") == 5
    assert sum(n.values()) == 30
    columns = sorted({x for kind in (*n, "fitted") for x, _ in cells(svg, kind)})
    lines = sorted({y for kind in n for _, y in cells(svg, kind)})
    by_shade = [
        [data.error[lines.index(y), columns.index(x)] for x, y in cells(svg, f"heat{shade}")]
        for shade in range(9)
    ]
    known = [errors for errors in by_shade if errors]
    assert len(known) > 3
    for better, worse in pairwise(known):
        assert max(better) <= min(worse)


def test_what_failed_and_what_was_not_fitted():
    class Fails(Ridge):
        def fit(self, X, y, sample_weight=None):
            if self.alpha == 7:
                raise ValueError("seven")
            return super().fit(X, y, sample_weight)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fits that fail, as told
        search = StabilitySearchCV(Fails(), {"alpha": [1.0, 7.0]}, cv=FOLDS, use_paths=False).fit(X, Y)
    n = n_cells(lattice_svg(LatticeErrors.from_search(search)))
    assert n["failed"] >= 6
    search = StabilitySearchCV(
        Ridge(), {"alpha": [1.0]}, cv=FOLDS, nested=False, stability_weights=0, use_paths=False
    ).fit(X, Y)
    assert n_cells(lattice_svg(LatticeErrors.from_search(search)))["open"] == 1


def test_very_many_candidates_and_training_sets_share_cells():
    grid = {"alpha": np.logspace(-3, 3, 300)}
    splits = ShuffleSplit(25, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the price of so many splits
        search = StabilitySearchCV(Ridge(), grid, cv=splits).fit(X, Y)
    data = LatticeErrors.from_search(search)
    svg = lattice_svg(data)
    assert "300 candidates by 326 training sets" in svg
    assert sum(n_cells(svg).values()) == 100 * 109
    assert "the best of 3 candidates" in data.explained


@pytest.mark.parametrize("width", [460, 660])
def test_everything_is_inside(width):
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=FOLDS).fit(X, Y)
    svg = lattice_svg(LatticeErrors.from_search(search), width)
    _, _, right, bottom = map(float, fromstring(svg).get("viewBox").split())
    assert right == width
    paths = [path.get("d") for path in fromstring(svg) if path.get("d")]
    for x, y, w, h in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", "".join(paths)):
        assert float(x) + float(w) <= right + 0.1
        assert float(y) + float(h) < bottom
