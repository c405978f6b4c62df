"""What a notebook shows of a search."""

import re
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV
from steadycv.lattice_view import is_notebook
from steadycv.words import number

DATA = load_diabetes(return_X_y=True)


def test_diagram_of_scikit_learn_and_the_result_under_it():
    search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}).fit(*DATA)
    for html in (search._repr_html_(), search._repr_mimebundle_()["text/html"]):
        diagram, result = html.split('<div class="steadycv-results">')
        assert "sk-top-container" in diagram
        assert f"<td>{search.kfold_params_['alpha']:g}</td>" in result
        assert f"<td>{search.nested_error_:.0f}</td>" in result
        assert f"The mean squared error behind it is about {search.promise_:.0f} (" in result
        assert "(deliver=&quot;committee&quot;)" in result
        assert result.count('class="card"') == 3
        assert f'<p class="big">{number(np.sqrt(search.promise_), 3)}</p>' in result
        assert f'<p class="big">{search.cv_error_:.0f}</p>' in result
        assert "3 candidates by 16 training sets, 48 of 48 cells fitted" in result


NOTEBOOK = """
from sklearn.linear_model import Ridge
from sklearn.svm import SVR
from sklearn.datasets import load_diabetes
from steadycv import StabilitySearchCV
from steadycv import lattice_view
lattice_view.EVERY = 0
X, y = load_diabetes(return_X_y=True)
grid = {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}
search = StabilitySearchCV(SVR(), grid, cv=3, verbose=1, use_paths=False)
search.fit(X[:60], y[:60])
"""


def test_a_real_notebook_fills_while_it_works_and_shows_the_cards_afterwards():
    """In a kernel of its own, which tells over messages what a page would show."""
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    seen = []

    class Watching(nbclient.NotebookClient):
        def process_message(self, message, cell, cell_index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                seen.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, cell_index)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what runs the notebook
        Watching(book, timeout=120).execute()
    filled = [int(re.search(r"(\d+) of 28 cells", html)[1]) for html in seen]
    assert filled == sorted(filled)
    assert filled[0] == 0
    assert len(set(filled)) > 3
    assert filled[-1] == 28
    *price, view, result = book.cells[0].outputs
    assert view.data["text/html"] == seen[-1]  # it is one view, which changes
    assert re.search(r"<p>(.*?)\.", seen[-1])[1] == "28 of 28 fits, for 4 candidates on 7 training sets"
    assert result.data["text/html"].count('class="card"') == 3
    assert {output.output_type for output in price} <= {"stream"}  # what it costs, in a line
    assert "sk-top-container" in result.data["text/html"]


def test_outside_a_kernel_there_is_the_bar(capsys):
    StabilitySearchCV(Ridge(), {"alpha": [1.0]}, cv=3, verbose=1).fit(*DATA)
    assert "7/7" in capsys.readouterr().err
    assert not is_notebook()


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
    search.best_params_ = search.kfold_params_ = {"strategy": evil}
    result = search._repr_html_().split("steadycv-results")[-1]
    assert evil not in result
    assert "&lt;script&gt;" in result


def test_as_text_where_the_user_wants_text():
    search = StabilitySearchCV(Ridge(), {"alpha": [1]}).fit(*DATA)
    with config_context(display="text"):
        assert set(search._repr_mimebundle_()) == {"text/plain"}
        with pytest.raises(AttributeError):
            search._repr_html_()
