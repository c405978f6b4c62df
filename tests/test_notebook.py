"""What a notebook shows of a search."""

import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV

DATA = load_diabetes(return_X_y=True)


def test_diagram_of_scikit_learn_and_the_result_under_it():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}).fit(*DATA)
    for html in (search._repr_html_(), search._repr_mimebundle_()["text/html"]):
        diagram, result = html.split('<div class="steadycv-results">')
        assert "sk-top-container" in diagram
        assert f"<td>{search.plain_params_['alpha']:g}</td>" in result
        assert f"<td>{search.nested_error_:.0f}</td>" in result
        assert f"The mean squared error behind it is about {search.promise_:.0f} (" in result
        assert "(deliver=&quot;committee&quot;)" in result


def test_scores_are_shown_as_scores():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}, scoring="r2").fit(*DATA)
    result = search._repr_html_().split("steadycv-results")[-1]
    assert "nested r2<" in result
    assert f"expect an r2 of about {-search.promise_:.4g}".rstrip("0") in result
    assert "CV error" not in result


def test_a_search_that_is_not_fitted_has_the_diagram_alone():
    html = StabilitySearchCV(Ridge(), {"alpha": [1]})._repr_html_()
    assert "sk-top-container" in html
    assert "steadycv-results" not in html


def test_texts_stay_texts():
    evil = "<script>alert(1)</script>"
    search = StabilitySearchCV(DummyRegressor(), {"strategy": ["mean"]}).fit(*DATA)
    search.best_params_ = search.plain_params_ = {"strategy": evil}
    result = search._repr_html_().split("steadycv-results")[-1]
    assert evil not in result
    assert "&lt;script&gt;" in result


def test_as_text_where_the_user_wants_text():
    search = StabilitySearchCV(Ridge(), {"alpha": [1]}).fit(*DATA)
    with config_context(display="text"):
        assert set(search._repr_mimebundle_()) == {"text/plain"}
        with pytest.raises(AttributeError):
            search._repr_html_()
