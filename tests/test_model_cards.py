"""Model cards: data, choice, promise, caveats."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV, model_card

X, Y = load_diabetes(return_X_y=True)


def card(estimator=None, grid=None, n=442, how=None, **options):
    search = StabilitySearchCV(estimator or Ridge(), grid or {"alpha": [0.1, 1.0]}, **options)
    return model_card(search.fit(X[:n], Y[:n]), **(how or {}))


def part(text, title):
    return " ".join(text.partition(f"## {title}\n")[2].partition("\n## ")[0].split())


def test_what_it_says():
    how = {"name": "Progression", "data": ["From a clinic."], "caveats": ["Not for children."]}
    text = card(how=how)
    assert text.startswith("# Model card: Progression\n\n## Data\n\nFrom a clinic.\n\nRidge on 442 rows")
    assert "10 columns" in part(text, "Data")
    assert "This model is the choice, fitted on all data." in part(text, "Choice")
    assert "| alpha | 0.1 |" in part(text, "Choice")
    assert "a typical miss of about" in part(text, "What to expect")
    assert part(text, "Caveats").endswith("- Not for children.")


def test_caveats_are_those_of_the_search():
    few = part(card(n=60), "Caveats")
    assert "60 rows are few" in few
    assert "60 rows are few" not in part(card(), "Caveats")
    ends = part(card(grid={"alpha": [10.0, 100.0, 1000.0]}), "Caveats")
    assert "alpha = 10 is the smallest that was tried" in ends
    nothing = part(card(DummyRegressor(), {"strategy": ["mean", "median"]}), "Caveats")
    assert "No column helps" in nothing


def test_without_a_promise():
    text = card(refit=lambda results: int(np.argmin(results["cv_error"])))
    assert "There is no promise" in part(text, "What to expect")


def test_not_before_it_is_fitted():
    with pytest.raises(NotFittedError):
        model_card(StabilitySearchCV(Ridge(), {"alpha": [1.0]}))


def test_names_are_no_markup():
    assert card(how={"name": "<b>*x*_y"}).startswith("# Model card: \\<b\\>\\*x\\*\\_y\n")
