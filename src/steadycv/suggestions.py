"""Suggestions: what a fitted search would change, of thresholds and of its grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from steadycv.grid_edges import edges

if TYPE_CHECKING:
    from sklearn.model_selection import FixedThresholdClassifier

    from steadycv._later import Later
    from steadycv.grid_edges import Edge
    from steadycv.thresholds import Threshold

__all__ = ["Suggestions"]


class Suggestions:
    """The part of a fitted search that says what else to try."""

    best_estimator_: Any
    _threshold: Later[Threshold | str]  # or why there is none

    @property
    def threshold_(self) -> Threshold:
        """Of two classes, from which probability on to say the second: what the driving score wants.

        It is found without a fit, on what was said of rows by what was chosen without them, and judged
        on rows that had no say in it, beside 0.5; see :class:`steadycv.thresholds.Threshold`. There is
        none for scores that look at no labels, such as areas under curves.
        """
        check_is_fitted(self)
        found = self._threshold()
        if isinstance(found, str):
            raise AttributeError(f"There is no threshold: {found}")
        return found

    def with_threshold(self, threshold: float | None = None) -> FixedThresholdClassifier:
        """What was delivered, predicting the second class from a threshold on; nothing is fitted.

        Parameters
        ----------
        threshold : float, default=None
            The probability; None for that of ``threshold_``.

        Returns
        -------
        classifier : FixedThresholdClassifier
            Of scikit-learn, around ``best_estimator_``.
        """
        from sklearn.model_selection import FixedThresholdClassifier

        if threshold is None:
            threshold = self.threshold_.value
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("With refit=False there is no classifier to have a threshold.")
        return FixedThresholdClassifier(
            self.best_estimator_,
            threshold=threshold,
            pos_label=self.best_estimator_.classes_[1],
            response_method="predict_proba",
        )

    @property
    def edges_(self) -> list[Edge]:
        """The ends of the grid's axes that the choice stands at, and what to try beyond.

        See :class:`steadycv.grid_edges.Edge`, and :func:`steadycv.grid_edges.widened` for the grid with
        these values.
        """
        check_is_fitted(self)
        return edges(self)  # type: ignore[arg-type]  # a part of it
