"""ONNX: searches, committees and sparse models become graphs that run without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LinearRegression

from steadycv.committees import EQUAL, Committee
from steadycv.search import StabilityRandomizedSearchCV, StabilitySearchCV
from steadycv.sparse import SparseRidge, SparseRidgeCV

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["register_onnx_converters"]

OPSET = 13  # of every operator here
AVERAGE = "SteadycvAverage"
TEXT = "OUT"  # kinds of arrays whose classes are texts


def register_onnx_converters() -> None:
    """Let skl2onnx convert what steadycv fits, as it converts GridSearchCV.

    After it ``skl2onnx.to_onnx`` and ``convert_sklearn`` take a fitted
    :class:`~steadycv.StabilitySearchCV` or :class:`~steadycv.StabilityRandomizedSearchCV`, whatever it
    delivers, a :class:`~steadycv.Committee`, a :class:`~steadycv.SparseRidge` and a
    :class:`~steadycv.SparseRidgeCV`, also inside pipelines.

    Notes
    -----
    What is delivered is converted, so its own converter has to be there: those of scikit-learn's models
    are, others (XGBoost's, LightGBM's) are registered as they always are.

    A committee of classifiers without probabilities votes, and has labels as its one output. A committee
    of linear regressors is one linear model there too.

    Graphs compute with 32-bit numbers where their inputs have these.

    Examples
    --------
    >>> from skl2onnx import to_onnx  # doctest: +SKIP
    >>> register_onnx_converters()  # doctest: +SKIP
    >>> graph = to_onnx(search, X[:1].astype("float32"))  # doctest: +SKIP
    """
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError(
            "register_onnx_converters needs skl2onnx: pip install 'steadycv[onnx]'."
        ) from error
    for search in (StabilitySearchCV, StabilityRandomizedSearchCV):
        skl2onnx.update_registered_parser(search, _parse_search)
    for linear in (SparseRidge, SparseRidgeCV):
        skl2onnx.update_registered_parser(linear, _parse_linear)
    how_classes_come = {"zipmap": [True, False, "columns"], "nocl": [False]}
    skl2onnx.update_registered_converter(
        *(Committee, AVERAGE, _infer_types, _convert_average),
        parser=_parse_committee,
        options=how_classes_come,
    )


def _parse_search(scope: Any, search: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """What a search delivers in its place, with its options."""
    from steadycv._compat.onnx import parse

    options = scope.options or {}
    if own := {**options.get(type(search), {}), **options.get(id(search), {})}:
        scope.add_options(id(search.best_estimator_), own)
    return parse(scope, search.best_estimator_, inputs, custom_parsers)


def _parse_linear(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """A linear model as scikit-learn's."""
    from steadycv._compat.onnx import parse

    linear = LinearRegression()
    linear.coef_, linear.intercept_ = model.coef_, np.atleast_1d(model.intercept_)
    linear.n_features_in_ = model.n_features_in_
    return parse(scope, linear, inputs, custom_parsers)


def _parse_committee(
    scope: Any, committee: Any, inputs: list[Any], custom_parsers: Any = None
) -> list[Any]:
    """The members, and their average or their vote."""
    from steadycv._compat.onnx import parse, with_zipmap

    if hasattr(committee, "training_rows_"):
        raise NotImplementedError(
            "A committee of models of a kernel or distance matrix has no graph: each member takes other "
            "columns of it."
        )
    if hasattr(committee, "coef_"):
        return _parse_linear(scope, committee, inputs, custom_parsers)
    has_classes = hasattr(committee, "classes_")
    averages = hasattr(committee, "predict_proba")
    said = []
    for member in committee.estimators_:
        if averages:
            scope.add_options(id(member), {"zipmap": False})
        outputs = parse(scope, member, inputs, custom_parsers)
        said.append(outputs[1 if averages else 0])
    operator = scope.declare_local_operator(AVERAGE, committee)
    operator.inputs = said
    number = _floats_of(inputs)
    if not has_classes:
        operator.outputs.append(scope.declare_local_variable("variable", number()))
        return list(operator.outputs)
    operator.outputs.append(scope.declare_local_variable("label", _labels_of(committee)()))
    if not averages:
        return list(operator.outputs)
    operator.outputs.append(scope.declare_local_variable("probabilities", number()))
    how = scope.get_options(committee, {"zipmap": True})["zipmap"]
    if how is False:
        return list(operator.outputs)
    return with_zipmap(how, scope, committee, inputs, list(operator.outputs))


def _floats_of(inputs: list[Any]) -> Any:
    """The type of numbers that a graph computes with."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(inputs[0].type, DoubleTensorType) else FloatTensorType


def _labels_of(committee: Any) -> Any:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    return StringTensorType if committee.classes_.dtype.kind in TEXT else Int64TensorType


def _infer_types(operator: Any) -> None:
    """The shapes of the outputs; their types are known already."""
    committee, outputs = operator.raw_operator, operator.outputs
    if not hasattr(committee, "classes_"):
        outputs[0].type.shape = operator.inputs[0].type.shape
        return
    outputs[0].type.shape = [None]
    for probabilities in outputs[1:]:
        probabilities.type.shape = [None, len(committee.classes_)]


class _Graph:
    """Adds nodes to a graph, each with one output and a name of its own."""

    def __init__(self, scope: Any, container: Any) -> None:
        from onnx import TensorProto

        self._scope = scope
        self._container = container
        self.types = TensorProto

    def constant(self, kind: int, values: NDArray[Any]) -> str:
        """A tensor."""
        name: str = self._scope.get_unique_variable_name("constant")
        texts = kind == self.types.STRING
        flat = [str(value).encode() for value in values.ravel()] if texts else values.ravel().tolist()
        self._container.add_initializer(name, kind, list(values.shape), flat)
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The output of a new node; the first, of those that have two."""
        first: str = output or self._scope.get_unique_variable_name(kind.lower())
        outputs = [first, self._scope.get_unique_variable_name("unused")] if kind == "TopK" else [first]
        self._container.add_node(
            kind,
            list(inputs),
            outputs,
            **{"op_version": OPSET, **attributes},
            name=self._scope.get_unique_operator_name(kind),
        )
        return first

    def as_double(self, name: str) -> str:
        """In numbers of 64 bits, in which averages are taken."""
        return self.node("Cast", name, to=self.types.DOUBLE)


def _convert_average(scope: Any, operator: Any, container: Any) -> None:
    """The weighted sum of what members say; of classes the first among the most probable."""
    graph, committee = _Graph(scope, container), operator.raw_operator
    classes = getattr(committee, "classes_", None)
    if classes is None:
        mean = graph.node("Sum", *_weighted(graph, operator, committee, None))
        graph.node("Cast", mean, output=operator.outputs[0].full_name, to=_number(operator.outputs[0]))
        return
    label, *probabilities = operator.outputs
    if probabilities:
        mean = best = graph.node("Sum", *_weighted(graph, operator, committee, classes))
        name = probabilities[0].full_name
        graph.node("Cast", mean, output=name, to=_number(probabilities[0]))
    else:  # shares of votes that differ by rounding are equal
        votes = graph.node("Sum", *_votes(graph, operator, committee, classes))
        one = graph.constant(graph.types.INT64, np.array([1]))
        most = graph.node("TopK", votes, one, axis=1, op_version=11)
        nearly = graph.node("Sub", most, graph.constant(graph.types.DOUBLE, np.array([EQUAL])))
        best = graph.as_double(graph.node("Greater", votes, nearly))
    index = graph.node("ArgMax", best, axis=1, keepdims=0)
    names = graph.constant(_kind_of_labels(graph, classes), classes)
    graph.node("Gather", names, index, output=label.full_name, axis=0)


def _weighted(graph: _Graph, operator: Any, committee: Any, classes: Any) -> list[str]:
    """What each member says, times its weight; probabilities in the order of all classes."""
    found = []
    members = zip(operator.inputs, committee.estimators_, committee.weights_, strict=True)
    for variable, member, weight in members:
        said = graph.as_double(variable.full_name)
        if classes is not None and len(member.classes_) < len(classes):
            places = (np.asarray(member.classes_)[:, np.newaxis] == classes).astype(float)
            said = graph.node("MatMul", said, graph.constant(graph.types.DOUBLE, places))
        found.append(_times(graph, said, weight))
    return found


def _votes(graph: _Graph, operator: Any, committee: Any, classes: NDArray[Any]) -> list[str]:
    """The weight of each member in the column of the class that it says."""
    kind = "strings" if _kind_of_labels(graph, classes) == graph.types.STRING else "int64s"
    keys = [str(each) if kind == "strings" else int(each) for each in classes]
    numbers = graph.constant(graph.types.INT64, np.arange(len(classes))[np.newaxis])
    column = graph.constant(graph.types.INT64, np.array([-1, 1]))
    coded: dict[str, Any] = {f"keys_{kind}": keys, "values_int64s": list(range(len(keys)))}
    found = []
    for variable, weight in zip(operator.inputs, committee.weights_, strict=True):
        place = graph.node(
            "LabelEncoder", variable.full_name, op_domain="ai.onnx.ml", op_version=2, **coded
        )
        equal = graph.node("Equal", graph.node("Reshape", place, column), numbers)
        found.append(_times(graph, graph.as_double(equal), weight))
    return found


def _times(graph: _Graph, said: str, weight: float) -> str:
    return graph.node("Mul", said, graph.constant(graph.types.DOUBLE, np.array([weight])))


def _kind_of_labels(graph: _Graph, classes: NDArray[Any]) -> int:
    kind: int = graph.types.STRING if classes.dtype.kind in TEXT else graph.types.INT64
    return kind


def _number(variable: Any) -> int:
    from skl2onnx.common.data_types import guess_proto_type

    kind: int = guess_proto_type(variable.type)
    return kind
