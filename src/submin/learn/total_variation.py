"""Semi-supervised classification by total variation on graphs and hypergraphs.

Each class has the score x that minimises

    1/2 |x - y|^2 + smoothness * phi(x)

with y = 1 at samples of the class, -1 at those of other classes (both scaled so that they sum to
the same) and 0 without label, and phi the Lovasz extension of the cut function, which is the total
variation: the sum over edges of |x_i - x_j|, over hyperedges of max - min.  Its positive part is
the minimum cut with the costs -y, and scores are certified proximal points.  Hein, Setzer, Jost &
Rangapuram, "The total variation on hypergraphs - learning on hypergraphs revisited", NIPS 2013.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from submin._typing import BoolArray, FloatArray
from submin.learn.structures import Join, given_graph, given_hypergraph, nearest_neighbours
from submin.model.problem import Problem
from submin.solve.api import prox
from submin.terms import Cut, Hyperedge

LEAST_SCALE, LARGEST_SCALE = 1e-100, 1e100
"""Of scores: beyond them all are equal, or those of the labels."""


class TotalVariationClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify samples of which a few are labelled, by total variation on a graph of them.

    Two classes are one problem; more are one against the rest, and the largest score decides.

    Parameters
    ----------
    smoothness : float, optional
        The weight of the total variation, whose edges are scaled to a mean degree of 1.
    structure : {"neighbors", "graph", "hypergraph"}, optional
        What X is: features, of which the nearest neighbours make a graph; a symmetric matrix of
        weights, shape (n, n); or incidences, shape (n, hyperedges), as one-hot coded categories
        are.
    n_neighbors : int, optional
        Neighbours of each sample, for features.
    unlabelled : object, optional
        The entry of y of samples without label.  It is a class like any other if y has no more than
        one other value.

    Attributes
    ----------
    classes_ : array, shape (classes,)
        The labels, sorted.
    scores_ : array of float, shape (n,) or (n, classes)
        The scores of the samples: of the second one of two classes, or of each of more.
    transduction_ : array, shape (n,)
        The labels of all samples that `fit` was given.
    n_features_in_ : int
        The columns of X.

    Notes
    -----
    One proximal point for two classes, and else one for each class.  ``predict`` gives the samples
    of ``fit`` no other treatment than new ones, which get the mean score of their neighbours, or
    of their hyperedges: for the samples of ``fit`` read ``transduction_``.

    Examples
    --------
    >>> from submin.learn import TotalVariationClassifier
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> y = np.array([0, -1, -1, 1, -1, -1])
    >>> model = TotalVariationClassifier(n_neighbors=2).fit(X, y)
    >>> model.transduction_.tolist(), model.predict([[0.3], [4.0]]).tolist()
    ([0, 0, 0, 1, 1, 1], [0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "smoothness": [Interval(Real, 0.0, None, closed="left")],
        "structure": [StrOptions({"neighbors", "graph", "hypergraph"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "unlabelled": "no_validation",  # type: ignore[dict-item]
    }

    def __init__(
        self,
        smoothness: float = 0.1,
        structure: str = "neighbors",
        n_neighbors: int = 10,
        unlabelled: Any = -1,
    ) -> None:
        self.smoothness = smoothness
        self.structure = structure
        self.n_neighbors = n_neighbors
        self.unlabelled = unlabelled

    def __sklearn_tags__(self) -> Tags:
        """Say what X may be."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.structure != "neighbors"
        tags.input_tags.pairwise = self.structure == "graph"
        return tags

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Find the scores of all samples.

        Parameters
        ----------
        X : array or sparse array
            Features, weights or incidences, by `structure`.
        y : array, shape (n,)
            The labels, and `unlabelled` where there is none.

        Raises
        ------
        ValueError
            If X and y do not fit, or no sample has a label.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse=self._accepted())
        check_classification_targets(y)
        labels = np.asarray(y)
        known = self._known(labels)
        self.classes_, numbers = np.unique(labels[known], return_inverse=True)
        term, self._join = self._structure(X)
        count = self.classes_.size
        columns = range(count) if count > 2 else [count - 1]
        scores = [self._score(term, _targets(known, numbers == k)) for k in columns]
        self.scores_ = np.stack(scores, axis=1) if len(scores) > 1 else scores[0]
        self.transduction_ = self.classes_[self._decide(self.scores_)]
        return self

    def _accepted(self) -> list[str] | bool:
        return False if self.structure == "neighbors" else ["csr", "csc", "coo"]

    def _known(self, labels: npt.NDArray[Any]) -> BoolArray:
        """Say which samples have labels; all, where y has no more than two values."""
        unlike = np.array([bool(label != self.unlabelled) for label in labels.tolist()])
        if not unlike.any():
            raise ValueError(f"no sample has a label: all of y is {self.unlabelled!r}")
        return unlike if np.unique(labels).size > 2 else np.ones(labels.size, dtype=np.bool_)

    def _structure(self, X: Any) -> tuple[Cut | Hyperedge, Join]:
        if self.structure == "neighbors":
            return nearest_neighbours(X, self.n_neighbors)
        return given_graph(X) if self.structure == "graph" else given_hypergraph(X)

    def _score(self, term: Cut | Hyperedge, target: FloatArray) -> FloatArray:
        """Return the proximal point, with the edges scaled to a mean degree of 1."""
        if not term.size or not self.smoothness or not target.any():
            return target
        low, high = term.marginal_range(target.size)
        degree = float(np.mean(high - low)) / 2.0
        if not degree:
            return target
        scale = float(np.clip(degree / self.smoothness, LEAST_SCALE, LARGEST_SCALE))
        scores: FloatArray = prox(Problem(-scale * target, [term])).x / scale
        return scores

    def _decide(self, scores: FloatArray) -> npt.NDArray[np.int64]:
        """Return the numbers of the classes."""
        if self.classes_.size == 1:
            return np.zeros(len(scores), dtype=np.int64)
        if scores.ndim == 1:
            return (scores > 0.0).astype(np.int64)
        best: npt.NDArray[np.int64] = np.argmax(scores, axis=1)
        return best

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of new samples: of the second of two classes, or of each of more.

        Parameters
        ----------
        X : array or sparse array
            Features; weights to the samples of ``fit``, shape (new, n); or incidences.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=self._accepted())
        return self._join(X, self.scores_)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the labels of new samples, as those of ``decision_function`` say."""
        scores = self.decision_function(X)
        labels: npt.NDArray[Any] = self.classes_[self._decide(scores)]
        return labels


def _targets(known: BoolArray, inside: BoolArray) -> FloatArray:
    """Return y: the labelled samples of a class and of the others have sums of equal size."""
    target = np.zeros(known.size)
    count = int(np.count_nonzero(inside))
    if count in (0, inside.size):
        target[known] = 1.0 if count else -1.0
        return target
    half = inside.size / 2.0
    target[known] = np.where(inside, half / count, -half / (inside.size - count))
    return target
