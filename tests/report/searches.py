"""Searches to report on, and a page taken apart."""

from __future__ import annotations

import json
import warnings
from functools import cache
from html.parser import HTMLParser

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

DATA = load_diabetes(return_X_y=True)
CLASSES = load_breast_cancer(return_X_y=True)
CLASSES = CLASSES[0][:, :5], np.array(["ill", "well"])[CLASSES[1]]
FOLDS = KFold(5, shuffle=True, random_state=1)
EVIL = [
    "<script>document.title='evil'</script>",
    '"><img src=x onerror="document.title=\'evil\'">',
    "</script><script>document.title='evil'</script>",
    "{{ 7 * 7 }} & <b>bold</b>",
    "a_very_long_name_without_any_place_to_break_it" * 5,
]


class Constant(RegressorMixin, BaseEstimator):
    """Predicts the mean and a bit; some parameters make it fail."""

    def __init__(self, text="", other=0):
        self.text = text
        self.other = other

    def fit(self, X, y):
        if self.other == "fail":
            raise ValueError("told to fail")
        self.mean_ = np.mean(y) + len(self.text) / 10
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@cache
def tree(**options):
    grid = {"max_depth": range(1, 11), "min_samples_leaf": range(1, 21, 2)}
    options = {"cv": FOLDS, "rule": "paper", **options}  # with these folds it takes another choice
    return StabilitySearchCV(DecisionTreeRegressor(), grid, **options).fit(*DATA)


@cache
def ridge(**options):
    model = make_pipeline(StandardScaler(), Ridge())
    return StabilitySearchCV(model, {"ridge__alpha": np.logspace(-3, 4, 15)}, **options).fit(*DATA)


@cache
def raced():
    grid = {"max_depth": range(1, 11), "min_samples_leaf": [1, 3, 9]}
    return StabilitySearchCV(DecisionTreeRegressor(), grid, race=True).fit(*DATA)


@cache
def classifier(**options):
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(max_iter=5000)
    X = StandardScaler().fit_transform(X[:150, :5])
    return StabilitySearchCV(model, {"C": np.logspace(-2, 2, 5)}, cv=3, **options).fit(X, y[:150])


@cache
def classes():
    grid = {"n_neighbors": [5, 10, 20]}
    return StabilitySearchCV(KNeighborsClassifier(), grid, cv=FOLDS, scoring="roc_auc").fit(*CLASSES)


@cache
def accuracy_of_neighbors():
    X, y = load_breast_cancer(return_X_y=True)
    grids = [{"n_neighbors": range(1, 9)}, {"n_neighbors": range(1, 9), "p": [1, 3]}]
    return StabilitySearchCV(KNeighborsClassifier(), grids, scoring="accuracy", cv=3).fit(X, y)


@cache
def repeated():
    folds = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    return ridge(cv=folds, loss="absolute_error", stability_weights=1.0)


@cache
def forward(n_splits=5, **options):
    """Forward in time; with three splits two views, with two splits one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what few views cannot do
        return ridge(cv=TimeSeriesSplit(n_splits), **options)


@cache
def without_views():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ridge(cv=2)


@cache
def malicious():
    grid = {"text": EVIL, "other": [0, "fail", None, (1, 2), Ridge()]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fits that fail, as told
        return StabilitySearchCV(Constant(), grid, cv=3, race=False).fit(*DATA)


class Page(HTMLParser):
    """The texts and the elements of a page, and whether every element is closed."""

    VOID = frozenset({"meta", "input", "br"})
    INLINE = frozenset({"strong", "em", "dfn", "code", "a"})

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.json = [], "", {}
        self._open = []
        self.feed(html)
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag
        self.text += "" if tag in self.INLINE else " "

    def handle_data(self, data):
        last = self.elements[-1] if self.elements else ("", {})
        if self._open and self._open[-1] == "script":
            if last[1].get("type") == "application/json":
                self.json[last[1]["id"]] = json.loads(data)
        elif not self._open or self._open[-1] != "style":
            self.text += data

    @property
    def words(self):
        return " ".join(self.text.split())

    def find(self, tag, class_=None):
        return [
            attrs
            for name, attrs in self.elements
            if name == tag and (class_ is None or class_ in (attrs.get("class") or "").split())
        ]
