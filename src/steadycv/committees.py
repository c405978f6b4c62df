"""`Committee`: the average of models, each trained without one part of the data."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from steadycv._arrays import one_column
from steadycv._compat import (
    VisualBlock,
    check_method_params,
    is_foreign,
    n_samples_of,
    safe_split,
    to_numpy,
)
from steadycv._compat.mlflow import without_autologging
from steadycv.estimators import new_estimator, overwrites
from steadycv.lattice import Lattice
from steadycv.linear_models import average_of
from steadycv.metadata import weights_of_last_step
from steadycv.outputs import aligned
from steadycv.words import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["EQUAL", "Committee", "average", "majority"]

# What is true of a committee as soon as it is true of one member; all else has to be true of all.
_TRUE_OF_ANY = {"non_deterministic", "pairwise", "poor_score", "positive_only", "required"}
EQUAL = 1e-9  # shares of votes that differ by less do so by rounding


class Committee(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The average of models, each trained without one part of the data.

    Its members are the models that cross-validation trains and throws away: of each candidate, one for
    each split. A regressor predicts their weighted mean; a classifier their mean probabilities, or
    what most of them say where there are none.

    Parameters
    ----------
    estimators : list of estimators
        The candidates: all regressors or all classifiers, of any class, also pipelines.
    weights : array-like of shape (n_estimators,), default=None
        How much each candidate counts, whatever the sum; its members share it. None for equal weights.
    cv : int, cross-validation generator or iterable, default=None
        The splits, on whose training rows the members are trained; as in
        :class:`~sklearn.model_selection.GridSearchCV`, None for five folds.
    voting : {"soft", "hard"}, default="soft"
        Of classifiers: ``"soft"`` averages probabilities where all members have some; ``"hard"`` counts
        what the members predict whatever they have, as a search does whose candidates have not all
        probabilities.

    Attributes
    ----------
    estimators_ : list of estimators
        The members: those of the first candidate, in the order of the splits, then those of the next.
        Where a ``random_state`` is None, members have 0.
    weights_ : ndarray of shape (n_members,)
        How much each of them counts; they sum to 1.
    classes_ : ndarray of shape (n_classes,)
        The classes that any member knows, sorted. Only of classifiers.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients of the average, which is one linear model, in the columns as they came. Only
        where all members are linear regressors, alone or behind scalers (StandardScaler, MinMaxScaler,
        MaxAbsScaler) in a pipeline. `predict` takes it then, and not the members.
    intercept_ : float or ndarray of shape (n_targets,)
        Its intercept.
    support_ : ndarray of int
        The columns that it uses: those with a coefficient that is not zero, in order.
    training_rows_ : list of ndarray
        The rows that each member was trained on. Only where X is a kernel or distance matrix.
    n_features_in_ : int
        Number of columns seen in `fit`. Only where the members have it.
    feature_names_in_ : ndarray of str
        Their names, if they all had one.

    See Also
    --------
    sklearn.ensemble.VotingRegressor : Averages models that are all trained on the same rows.
    sklearn.ensemble.VotingClassifier : The same for classifiers.

    Notes
    -----
    Of linear models whose scalers move columns far (of a mean of a billion and a variance of 1, say),
    the coefficients of the raw columns hold fewer digits than the members do.

    The mean of the members' decision functions need not agree with what most of them say.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv.committees import Committee
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    >>> for model in (tree, Committee([tree])):
    ...     error = -cross_val_score(model, X, y, scoring="neg_mean_squared_error").mean()
    ...     print(f"{error:.0f}")
    4149
    3547
    """

    def __init__(
        self,
        estimators: list[Any],
        *,
        weights: ArrayLike | None = None,
        cv: Any = None,
        voting: str = "soft",
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.voting = voting

    @classmethod
    def of_members(
        cls,
        estimators: list[Any],
        members: Sequence[Sequence[Any]],
        *,
        weights: ArrayLike | None = None,
        cv: Any = None,
        voting: str = "soft",
        classes: NDArray[Any] | None = None,
        training_rows: Sequence[Sequence[NDArray[np.intp]]] | None = None,
        n_features_in: int | None = None,
    ) -> Committee:
        """A fitted committee of models that are trained already.

        Parameters
        ----------
        estimators, weights, cv, voting
            As above: with what `fit` would train the committee anew.
        members : sequence of sequences of estimators
            The fitted models of each candidate, at least one.
        classes : ndarray, optional
            All classes; None for those that the members know.
        training_rows : sequence of sequences of ndarray, optional
            The rows that each member was trained on: needed where X is a kernel or distance matrix.
        n_features_in : int, optional
            The number of its columns, which the members do not know then.

        Returns
        -------
        committee : Committee
            A fitted committee.

        Examples
        --------
        >>> from sklearn.linear_model import Ridge
        >>> models = [Ridge(0).fit([[0], [1]], [0, slope]) for slope in (1, 3)]
        >>> Committee.of_members([Ridge(0)], [models]).predict([[10]])
        array([20.])
        """
        committee = cls(estimators, weights=weights, cv=cv, voting=voting)
        shares = committee._checked_weights()
        numbers = [len(models) for models in members]
        if len(numbers) != len(estimators) or not all(numbers):
            raise ValueError(
                f"members must have at least one model for each of the {len(estimators)} estimators, "
                f"got {numbers}."
            )
        rows = None
        if get_tags(committee).input_tags.pairwise:
            if training_rows is None or [len(each) for each in training_rows] != numbers:
                raise ValueError(
                    "X is a kernel or distance matrix: training_rows must have the rows that each "
                    "member was trained on."
                )
            rows = [each for of_candidate in training_rows for each in of_candidate]
        models = [model for of_candidate in members for model in of_candidate]
        if is_classifier(committee) and classes is None:
            classes = np.unique(np.concatenate([to_numpy(model.classes_) for model in models]))
        committee._conclude(models, np.repeat(shares / numbers, numbers), classes, rows, n_features_in)
        return committee

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Committee:
        """Train every candidate on the training rows of every split.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data; for a precomputed kernel of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target; of classifiers a single one.
        **fit_params : dict
            ``groups`` goes to the splitter, all else to the fits; ``sample_weight`` to the last steps of
            pipelines. What has a value for each row is sliced. With metadata routing enabled, as
            requested.

        Returns
        -------
        self : Committee
            The fitted committee.
        """
        shares = self._checked_weights()
        if y is None:
            raise ValueError(
                "This Committee estimator requires y to be passed, but the target y is None."
            )
        X, y = indexable(X, y)
        classes = None
        if is_classifier(self):
            check_classification_targets(y)
            labels = column_or_1d(to_numpy(y), warn=True)
            y, classes = (y if is_foreign(y) else labels), np.unique(labels)
        split_params, params = self._routed(check_method_params(X, params=fit_params))
        cv = check_cv(self.cv, y, classifier=classes is not None)
        n_samples = n_samples_of(X)
        lattice = Lattice(cv.split(X, y, **split_params), n_samples, nested=False)
        training_sets = [split.train for split in lattice.splits]
        with without_autologging():
            members = [
                _trained(estimator, X, y, rows, of_candidate)
                for estimator, of_candidate in zip(self.estimators, params, strict=True)
                for rows in training_sets
            ]
        weights = np.repeat(shares / len(training_sets), len(training_sets))
        if get_tags(self).input_tags.pairwise:
            rows_of_members = training_sets * len(self.estimators)
            self._conclude(members, weights, classes, rows_of_members, n_samples)
        else:
            self._conclude(members, weights, classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the target.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data; for a precomputed kernel, one column for each row that `fit` was given.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The members' mean; of classifiers the most probable class, or the one that most members say.
            Of those that tie, the first.
        """
        check_is_fitted(self)
        if hasattr(self, "coef_"):
            X = to_numpy(X) if is_foreign(X) else X
            X = validate_data(self, X, accept_sparse=True, dtype=np.float64, reset=False)
            predicted: NDArray[Any] = X @ self.coef_.T + self.intercept_
            return predicted
        if hasattr(self, "predict_proba"):
            predicted = self.classes_[self.predict_proba(X).argmax(axis=1)]
            return predicted  # noqa: RET504 - of a known type
        said = self.predictions_of_members(X)
        if hasattr(self, "classes_"):
            return majority(said, self.weights_, self.classes_)
        return average(said, self.weights_)

    def predictions_of_members(self, X: Any) -> Iterator[NDArray[Any]]:
        """What one member after the other predicts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, as `predict` takes them.

        Returns
        -------
        predictions : iterator of ndarray
            In the order of ``estimators_``.
        """
        check_is_fitted(self)
        return map(one_column, self._said("predict", X))

    def _has_probabilities(self) -> bool:
        votes = self.voting == "hard"
        return not votes and all(hasattr(model, "predict_proba") for model in self._models)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The members' mean probabilities. Only where all members have some, and do not vote.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. A member gives none to a class that it has not seen.
        """
        check_is_fitted(self)
        said = zip(self._said("predict_proba", X), self.estimators_, strict=True)
        each = (aligned(shares, to_numpy(by.classes_), self.classes_) for shares, by in said)
        return average(each, self.weights_)

    def _has_decisions(self) -> bool:
        if self._has_probabilities():
            return False  # they are what `predict` looks at
        every = all(hasattr(model, "decision_function") for model in self._models)
        if not every or not hasattr(self, "classes_"):
            return every
        return all(len(member.classes_) == len(self.classes_) for member in self.estimators_)

    @available_if(_has_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The mean of the members' decision functions, for scores that take them.

        Only where all members have one and have seen all classes, and there are no probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The mean.
        """
        check_is_fitted(self)
        return average(self._said("decision_function", X), self.weights_)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The coefficient of determination, or a classifier's accuracy.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
            Higher is better.
        """
        score = accuracy_score if is_classifier(self) else r2_score
        return float(score(to_numpy(y), self.predict(X), sample_weight=sample_weight))

    def get_metadata_routing(self) -> MetadataRouter:
        """What the candidates' fits and the splitter ask for.

        Returns
        -------
        routing : MetadataRouter
            See scikit-learn's user guide on metadata routing.
        """
        fit = MethodMapping().add(caller="fit", callee="fit")
        split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=type(self).__name__)
        router.add(splitter=self.cv, method_mapping=split)
        return router.add(**self._by_name(), method_mapping=fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        each = [get_tags(estimator) for estimator in self.estimators]
        tags = replace(
            tags,
            estimator_type=each[0].estimator_type,
            non_deterministic=any(of_one.non_deterministic for of_one in each),
            no_validation=all(of_one.no_validation for of_one in each),
            **{
                part: _together([getattr(of_one, part) for of_one in each])
                for part in ("input_tags", "target_tags", "classifier_tags", "regressor_tags")
            },
        )
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = tags.target_tags.multi_output = False
        return tags

    def _sk_visual_block_(self) -> VisualBlock:
        weights = [] if self.weights is None else np.ravel(self.weights).tolist()
        names = [f"weight {value_text(weight)}" for weight in weights] or None
        return VisualBlock("parallel", self.estimators, names=names)

    # What the parameters say.

    def _checked_weights(self) -> NDArray[np.float64]:
        """What share each candidate has; or what is wrong with them."""
        estimators = self.estimators
        if not isinstance(estimators, (list, tuple)) or not len(estimators):
            raise ValueError(f"estimators must be a list of at least one estimator, got {estimators!r}.")
        tags = [get_tags(estimator) for estimator in estimators]
        kinds = [of_one.estimator_type for of_one in tags]
        if set(kinds) not in ({"classifier"}, {"regressor"}):
            named = ", ".join(
                f"{type(estimator).__name__} (a {kind or 'model of no kind'})"
                for estimator, kind in zip(estimators, kinds, strict=True)
            )
            raise ValueError(f"estimators must be all regressors or all classifiers, got {named}.")
        if len({of_one.input_tags.pairwise for of_one in tags}) > 1:
            raise ValueError("estimators must all take a kernel or distance matrix as X, or none.")
        if self.voting not in ("soft", "hard"):
            raise ValueError(f"voting must be 'soft' or 'hard', got {self.voting!r}.")
        if self.weights is None:
            return np.full(len(estimators), 1 / len(estimators))
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(estimators),):
            raise ValueError(
                f"weights must have one number for each of the {len(estimators)} estimators, got "
                f"{self.weights!r}."
            )
        if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
            raise ValueError(
                f"weights must be finite numbers from 0 on, and not all 0; got {self.weights!r}."
            )
        share: NDArray[np.float64] = weights / weights.sum()
        return share

    def _by_name(self) -> dict[str, Any]:
        """The candidates by the names that routing knows them by."""
        return {f"candidate{i}": estimator for i, estimator in enumerate(self.estimators)}

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What goes to the splitter, and to the fits of each candidate."""
        if get_config()["enable_metadata_routing"]:
            routed: Bunch = process_routing(self, "fit", **params)
            return routed.splitter.split, [routed[name].fit for name in self._by_name()]
        groups = params.pop("groups", None)
        weight = params.pop("sample_weight", None)
        if weight is None:
            return {"groups": groups}, [params] * len(self.estimators)
        named = [{weights_of_last_step(estimator): weight} for estimator in self.estimators]
        return {"groups": groups}, [{**params, **weights} for weights in named]

    # What the members say.

    @property
    def _models(self) -> list[Any]:
        """The members, or else the candidates, which have the same methods."""
        return getattr(self, "estimators_", self.estimators)

    def _conclude(
        self,
        members: list[Any],
        weights: NDArray[np.float64],
        classes: NDArray[Any] | None,
        training_rows: list[NDArray[np.intp]] | None = None,
        n_features_in: int | None = None,
    ) -> None:
        """Set the fitted attributes, and none that an earlier fit has left."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.estimators_ = members
        self.weights_ = weights
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(members[0], name):
                setattr(self, name, getattr(members[0], name))
        if classes is not None:
            self.classes_ = classes
        if training_rows is not None:
            self.training_rows_ = training_rows
            self.n_features_in_ = n_features_in
        linear = average_of(members, weights)
        if linear is not None:
            self.support_ = np.flatnonzero(linear.coef.any(axis=0))
            single = len(linear.coef) == 1
            self.coef_ = linear.coef[0] if single else linear.coef
            self.intercept_ = float(linear.intercept[0]) if single else linear.intercept

    def _said(self, method: str, X: Any) -> Iterator[NDArray[Any]]:
        """What one member after the other says."""
        pairwise = hasattr(self, "training_rows_")
        if pairwise:
            X = validate_data(self, X, accept_sparse="csr", reset=False)
        writes = any(overwrites(each.get_params(deep=True).items()) for each in self.estimators)
        for i, member in enumerate(self.estimators_):
            seen = deepcopy(X) if writes else X  # the others want it as it was
            seen = seen[:, self.training_rows_[i]] if pairwise else seen
            yield to_numpy(getattr(member, method)(seen))


def average(outputs: Iterable[NDArray[Any]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of what members say: numbers, or probabilities. The weights sum to 1.

    Examples
    --------
    >>> average(np.array([[0.0, 4.0], [1.0, 0.0]]), np.array([0.25, 0.75]))
    array([0.75, 1.  ])
    """
    each = (weight * said for weight, said in zip(weights, outputs, strict=True))
    return sum(each, start=np.zeros(()))


def majority(
    labels: Iterable[NDArray[Any]], weights: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[Any]:
    """The class that most members say, counted by their weights; of those that tie, the first.

    Examples
    --------
    >>> labels = np.array([["b", "a"], ["c", "c"], ["b", "c"]])
    >>> majority(labels, np.array([0.25, 0.5, 0.25]), np.array(["a", "b", "c"])).tolist()
    ['b', 'c']
    """
    votes = average((said[:, np.newaxis] == classes for said in labels), weights)
    most = votes.max(axis=1, keepdims=True)
    winners: NDArray[Any] = classes[(votes > most - EQUAL).argmax(axis=1)]
    return winners


def _trained(estimator: Any, X: Any, y: Any, rows: NDArray[np.intp], params: dict[str, Any]) -> Any:
    """A member: a candidate trained on some rows."""
    member = new_estimator(estimator, {})
    X_train, y_train = safe_split(member, X, y, rows)
    return member.fit(X_train, y_train, **check_method_params(X, params=params, indices=rows))


def _together(parts: list[Any]) -> Any:
    """What is true of a committee of estimators with these tags; None where one has none."""
    if any(part is None for part in parts):
        return None
    found = {}
    for field in fields(parts[0]):
        values = [getattr(part, field.name) for part in parts]
        found[field.name] = any(values) if field.name in _TRUE_OF_ANY else all(values)
    return replace(parts[0], **found)
