"""The words for splits: folds where each repeat is a partition, forward where all look ahead."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from steadycv.lattice import Lattice
from steadycv.split_words import SplitWords

N = 24
BOOTSTRAP = [(np.sort([*range(1, 16), 1]), range(16, 20)), (range(4, 20), range(20, 24))]


@pytest.mark.parametrize(
    ("splits", "words", "word"),
    [
        (KFold(4), "4 folds", "fold"),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "3 folds, 2 times", "fold"),
        (ShuffleSplit(6, random_state=0), "6 splits", "split"),
        (TimeSeriesSplit(5), "5 splits forward in time", "split"),
        ([(range(12), range(12, 24))], "1 split forward in time", "split"),
        (BOOTSTRAP, "2 splits forward in time", "split"),
    ],
)
def test_what_they_are_called(splits, words, word):
    found = list(splits.split(range(N)) if hasattr(splits, "split") else splits)
    said = SplitWords.of(Lattice(found, N))
    assert (said.in_words, said.word) == (words, word)


@pytest.mark.parametrize(
    ("splits", "left_out", "trained_on"),
    [
        (KFold(4), "a fold", "the others"),
        (TimeSeriesSplit(4), "some rows", "rows that come before"),
        (ShuffleSplit(4, random_state=0), "some rows", "other rows"),
    ],
)
def test_what_models_are_trained_on(splits, left_out, trained_on):
    said = SplitWords.of(Lattice(splits.split(range(N)), N))
    assert (said.left_out, said.trained_on) == (left_out, trained_on)
