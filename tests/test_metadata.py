"""Metadata: who is given which of fit's parameters."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV
from steadycv.metadata import route, weight_of

WEIGHT = np.arange(1.0, 7.0)
GROUPS = np.repeat([0, 1, 2], 2)
INSIDE = Pipeline([("scale", StandardScaler()), ("model", Ridge())])


def routed(estimator, params, scorer="r2"):
    search = StabilitySearchCV(estimator, {}, cv=GroupKFold(3))
    return route(search, params, get_scorer(scorer) if isinstance(scorer, str) else scorer)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (Ridge(), "sample_weight"),
        (INSIDE, "model__sample_weight"),
        (Pipeline([("outer", INSIDE)]), "outer__model__sample_weight"),
    ],
)
def test_weights_go_to_the_last_step(estimator, name):
    found = routed(estimator, {"sample_weight": WEIGHT, "groups": GROUPS})
    assert list(found.estimator.fit) == [name]
    assert found.splitter.split["groups"] is GROUPS
    assert found.scorer.score["sample_weight"] is WEIGHT


def test_what_is_not_known_goes_to_the_fits():
    found = routed(Ridge(), {"coolness": 3})
    assert found.estimator.fit == {"coolness": 3}
    assert found.splitter.split == {"groups": None}
    assert found.scorer.score == {}


def unweighted(estimator, X, y):
    return 1.0


def test_scores_without_weights():
    with pytest.warns(UserWarning, match="unweighted.* does not support sample_weight"):
        found = routed(Ridge(), {"sample_weight": WEIGHT}, unweighted)
    assert found.scorer.score == {}
    assert list(found.estimator.fit) == ["sample_weight"]


def test_requests():
    with sklearn.config_context(enable_metadata_routing=True):
        search = StabilitySearchCV(Ridge().set_fit_request(sample_weight="mine"), {}, cv=GroupKFold(3))
        found = route(search, {"mine": WEIGHT, "groups": GROUPS}, None)
    assert found.estimator.fit["sample_weight"] is WEIGHT
    assert found.splitter.split["groups"] is GROUPS


def test_weights_of_losses():
    assert weight_of(None, {}, 6) is None
    assert weight_of(None, {"sample_weight": WEIGHT.tolist()}, 6).tolist() == WEIGHT.tolist()
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("r2").set_score_request(sample_weight="mine")
        assert weight_of(scorer, {"mine": WEIGHT, "sample_weight": 2 * WEIGHT}, 6).tolist() == (
            WEIGHT.tolist()
        )
        assert weight_of(get_scorer("r2"), {"sample_weight": WEIGHT}, 6) is None


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (WEIGHT[:5], r"one weight for each of the 6 samples, got an array of shape \(5,\)"),
        (np.ones((6, 1)), r"got an array of shape \(6, 1\)"),
        (-WEIGHT, "must be finite numbers from 0 on, got -1"),
        (WEIGHT * np.inf, "got inf"),
        (np.full(6, np.nan), "got nan"),
    ],
)
def test_weights_that_are_none(weight, message):
    with pytest.raises(ValueError, match=message):
        weight_of(None, {"sample_weight": weight}, 6)
