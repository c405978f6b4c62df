"""ONNX: graphs of what was fitted predict the same, by onnxruntime."""

import warnings

import numpy as np
import pandas as pd
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that these import
    onnxruntime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")

from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import (
    Committee,
    SparseRidge,
    SparseRidgeCV,
    StabilityRandomizedSearchCV,
    StabilitySearchCV,
)
from steadycv.tools import register_onnx_converters

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:skl2onnx"),
    pytest.mark.filterwarnings("ignore::FutureWarning:sklearn"),  # skl2onnx asks SVC for `probability`
]
X, Y = load_diabetes(return_X_y=True)
X = X.astype(np.float32)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_IRIS = X_IRIS.astype(np.float32)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y_IRIS]
TREE, DEPTHS = DecisionTreeRegressor(), {"max_depth": [2, 3, 5]}
PLAIN = {"zipmap": False}


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register_onnx_converters()


def said(model, X, options=None, **inputs):
    """The outputs of a model's graph."""
    graph = skl2onnx.to_onnx(model, None if inputs else X[:1], options=options, **inputs)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


def numbers(model, X):
    [found] = said(model, X)
    return found.ravel()


@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble", "student"])
def test_search_of_trees(deliver):
    search = StabilitySearchCV(TREE, DEPTHS, deliver=deliver).fit(X, Y)
    np.testing.assert_allclose(numbers(search, X), search.predict(X), rtol=1e-6)


def test_search_converts_to_what_grid_search_converts_to():
    ours, theirs = (
        cls(Ridge(), {"alpha": [0.1]}, cv=3).fit(X, Y) for cls in (StabilitySearchCV, GridSearchCV)
    )
    np.testing.assert_array_equal(numbers(ours, X), numbers(theirs, X))


def test_random_search():
    search = StabilityRandomizedSearchCV(TREE, {"max_depth": range(1, 5)}, n_iter=2, random_state=0)
    np.testing.assert_allclose(numbers(search.fit(X, Y), X), search.predict(X), rtol=1e-6)


@pytest.mark.parametrize("model", [Ridge(), make_pipeline(StandardScaler(), Ridge())])
def test_linear_average_is_one_linear_model(model):
    committee = Committee([model]).fit(X, Y)
    assert hasattr(committee, "coef_")
    graph = skl2onnx.to_onnx(committee, X[:1])
    assert [node.op_type for node in graph.graph.node] == ["LinearRegressor"]
    np.testing.assert_allclose(numbers(committee, X), committee.predict(X), rtol=1e-4)


def test_several_targets():
    targets = np.column_stack([Y, Y**2 / 100])
    for model in (TREE, Ridge()):
        committee = Committee([model]).fit(X, targets)
        np.testing.assert_allclose(said(committee, X)[0], committee.predict(X), rtol=1e-4)


def test_numbers_of_64_bits():
    committee = Committee([TREE, Ridge()], cv=3).fit(X.astype(float), Y)
    assert said(committee, X.astype(float))[0].dtype == np.float64
    np.testing.assert_allclose(numbers(committee, X.astype(float)), committee.predict(X), rtol=1e-12)


def test_weights_count():
    committee = Committee([TREE, Ridge()], weights=[3, 1]).fit(X, Y)
    np.testing.assert_allclose(numbers(committee, X), committee.predict(X), rtol=1e-5)


@pytest.mark.parametrize("y", [Y_IRIS, NAMES])
@pytest.mark.parametrize("deliver", ["model", "committee", "ensemble"])
def test_probabilities(y, deliver):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    search = StabilitySearchCV(model, grid, scoring="neg_log_loss", deliver=deliver).fit(X_IRIS, y)
    label, probabilities = said(search, X_IRIS, PLAIN)
    np.testing.assert_array_equal(label, search.predict(X_IRIS))
    np.testing.assert_allclose(probabilities, search.predict_proba(X_IRIS), atol=1e-5)


def test_probabilities_by_name_are_what_comes_unless_it_is_asked_otherwise():
    committee = Committee([DecisionTreeClassifier(max_depth=2)]).fit(X_IRIS, NAMES)
    label, by_name = said(committee, X_IRIS)
    np.testing.assert_array_equal(label, committee.predict(X_IRIS))
    np.testing.assert_allclose(pd.DataFrame(by_name), committee.predict_proba(X_IRIS), atol=1e-6)
    assert set(by_name[0]) == set(NAMES)


def test_columns_of_probabilities():
    committee = Committee([DecisionTreeClassifier(max_depth=2)]).fit(X_IRIS, Y_IRIS)
    _, *columns = said(committee, X_IRIS, {"zipmap": "columns"})
    found = np.column_stack([column.ravel() for column in columns])
    np.testing.assert_allclose(found, committee.predict_proba(X_IRIS), atol=1e-6)


@pytest.mark.parametrize("y", [Y_IRIS, NAMES])
def test_members_that_have_not_seen_a_class(y):
    committee = Committee([DecisionTreeClassifier(max_depth=2)], cv=KFold(3)).fit(X_IRIS, y)
    assert {len(member.classes_) for member in committee.estimators_} == {2}
    label, probabilities = said(committee, X_IRIS, PLAIN)
    np.testing.assert_array_equal(label, committee.predict(X_IRIS))
    np.testing.assert_allclose(probabilities, committee.predict_proba(X_IRIS), atol=1e-6)


@pytest.mark.parametrize("y", [Y_IRIS, NAMES])
@pytest.mark.parametrize("member", [LinearSVC(C=0.01), SVC(C=0.1)])
def test_votes(y, member):
    committee = Committee([member], cv=KFold(4, shuffle=True, random_state=0)).fit(X_IRIS, y)
    assert not hasattr(committee, "predict_proba")
    [label] = said(committee, X_IRIS, PLAIN)
    np.testing.assert_array_equal(label, committee.predict(X_IRIS))


def test_votes_that_tie_go_to_the_first_class():
    a, b = X_IRIS[Y_IRIS != 2], X_IRIS[Y_IRIS != 1]
    members = [
        LinearSVC().fit(a[:100], Y_IRIS[Y_IRIS != 2]),
        LinearSVC().fit(b[:100], Y_IRIS[Y_IRIS != 1]),
    ]
    committee = Committee.of_members([LinearSVC()], [members])
    [label] = said(committee, X_IRIS, PLAIN)
    np.testing.assert_array_equal(label, committee.predict(X_IRIS))
    disagree = members[0].predict(X_IRIS) != members[1].predict(X_IRIS)
    assert disagree.sum() > 20
    assert set(label[disagree]) <= {0, 1}


def test_search_inside_a_pipeline_and_columns_of_two_kinds():
    frame = pd.DataFrame({"size": X[:, 0], "city": np.where(X[:, 1] > 0, "Ulm", "Rom")})
    coded = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["size"]))
    inputs = [("size", FloatTensorType([None, 1])), ("city", StringTensorType([None, 1]))]
    for model in (
        make_pipeline(coded, StabilitySearchCV(TREE, DEPTHS, deliver="committee")),
        StabilitySearchCV(
            make_pipeline(coded, TREE), {"decisiontreeregressor__max_depth": [1, 2]}, deliver="committee"
        ),
    ):
        model.fit(frame, Y)
        graph = skl2onnx.convert_sklearn(model, initial_types=inputs)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        columns = {
            name: frame[[name]].to_numpy(dtype=object if name == "city" else np.float32)
            for name in frame
        }
        [found] = session.run(None, columns)
        np.testing.assert_allclose(found.ravel(), model.predict(frame), rtol=1e-5)


def test_sparse_models():
    model = SparseRidge(3, 1.0).fit(X, Y)
    np.testing.assert_allclose(numbers(model, X), model.predict(X), rtol=1e-4)
    chosen = SparseRidgeCV(cv=3).fit(X, Y)
    np.testing.assert_allclose(numbers(chosen, X), chosen.predict(X), rtol=1e-4)


def test_kernels_are_refused():
    committee = Committee([SVR(kernel="precomputed")], cv=3).fit(rbf_kernel(X), Y)
    with pytest.raises(NotImplementedError, match="each member takes other columns"):
        skl2onnx.to_onnx(committee, rbf_kernel(X)[:1])
