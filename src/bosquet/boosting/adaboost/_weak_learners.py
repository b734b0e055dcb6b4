"""Weak learners behind one small interface: native stumps, native trees, and any estimator.

A boosting loop asks a learner for a hypothesis under a distribution over the training rows, then for the
outputs of the hypothesis on these rows. The outputs are of one of these kinds (`output_kind`):

    "signs"          -1 or +1, or a value between (a regressor's predictions are clipped to [-1, 1])
    "classes"        class numbers 0, 1, ..., n_classes - 1
    "probabilities"  (rows, n_classes)
    "numbers"        any number: a regressor's prediction, or 2p - 1 of a classifier
    "labels"         (n_classes, rows) of -1 and +1: for each class, whether the row belongs to it

and the target given to `fit` is of the same kind (signs, for "probabilities" of two classes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import expit

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet._weights import NO_WEIGHT
from bosquet.boosting._inputs import threads_for
from bosquet.boosting.adaboost.bounds import vc_dim_of_stumps
from bosquet.data import TableEncoder, count_rows
from bosquet.trees.binning import learn_bins

if TYPE_CHECKING:
    from bosquet._types import TableLike
    from bosquet.data import Columns


# A sample may be unlucky; only after this many samples without an edge the learner counts as no better than
# chance.
SAMPLES_TRIED = 10


class WeakLearner(Protocol):
    """The interface that a boosting loop uses."""

    def fit(self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0) -> Any:
        """Return a hypothesis fitted with `weight`.

        If samples are drawn, each `attempt` draws another one.
        """

    def predict_training_rows(self, hypothesis: Any) -> np.ndarray:
        """Return outputs of a hypothesis on the rows to which it was fitted."""

    def predict(self, hypothesis: Any, X: TableLike) -> np.ndarray:
        """Return outputs of a hypothesis on new rows, in any container."""

    @property
    def attempts(self) -> int:
        """How many hypotheses to try before the learner counts as no better than chance."""

    @property
    def vc_dim(self) -> float | None:
        """An upper bound on the VC dimension of its hypotheses, None if none is known."""

    @property
    def finds_optimum(self) -> bool:
        """Whether `fit` returns the hypothesis with the smallest weighted error of all.

        Only then the result bounds what any vote of such hypotheses can reach.
        """


@dataclass(frozen=True)
class Reweighting:
    """How the distribution over the rows reaches a learner: one weight per row.

    Weights are passed with mean 1, not sum 1: a learner with a penalty (an SVC and its C) takes a row of
    weight 1 for one row, and weights that sum to 1 would look like a sample of a single row. A bootstrap
    sample is passed as the number of times that each row was drawn. With `strata`, every class is first
    undersampled to the size of the smallest class.

    The draws depend on the seed, the round and the attempt only, and use NumPy's legacy generator, whose
    streams are frozen: they are the same in every version.
    """

    seed: int
    resample: bool = False
    strata: np.ndarray | None = None  # class numbers

    @property
    def is_random(self) -> bool:
        """Whether another attempt may give another hypothesis."""
        return self.resample or self.strata is not None

    @property
    def attempts(self) -> int:
        return SAMPLES_TRIED if self.is_random else 1

    def __call__(self, weight: np.ndarray, round_: int, attempt: int = 0) -> np.ndarray:
        if not self.is_random:
            return weight * (weight.size / weight.sum())
        rng = np.random.RandomState([self.seed, round_, attempt])
        rows = weight.size
        if self.strata is not None:
            is_drawn = self._draw_balanced(rng)
            weight, rows = np.where(is_drawn, weight, 0.0), int(is_drawn.sum())
            if not weight.any():  # all kept rows have weight 0: give them equal weights
                weight = is_drawn.astype(float)
        if not self.resample:
            return weight * (rows / weight.sum())
        return _draw_counts(weight, rows, rng)

    def _draw_balanced(self, rng: np.random.RandomState) -> np.ndarray:
        """Return a mask of the kept rows: of each class as many as the smallest has, without replacement."""
        assert self.strata is not None
        is_drawn = np.zeros(self.strata.size, dtype=bool)
        counts = np.bincount(self.strata)
        smallest = counts[counts > 0].min()
        for number in np.flatnonzero(counts):
            members = np.flatnonzero(self.strata == number)
            is_drawn[rng.permutation(members)[:smallest]] = True
        return is_drawn


@dataclass(frozen=True)
class NativeLearnerOptions:
    """Options that all learners of the core share."""

    output_kind: str  # its values are listed in the docstring of the module
    n_classes: int
    reweighting: Reweighting
    threads: int
    split: str  # "exact" or "histogram"
    max_bins: int  # of split="histogram"


def _draw_counts(weight: np.ndarray, draws: int, rng: np.random.RandomState) -> np.ndarray:
    """Return how often each row occurs in `draws` draws with replacement, in proportion to its weight."""
    steps = np.cumsum(weight)
    # Sorting does not change the counts, and makes the searches fast.
    marks = np.sort(rng.random_sample(draws)) * steps[-1]
    drawn = np.searchsorted(steps, marks, side="right")
    last = np.flatnonzero(weight)[-1]  # rounding may lead past the last row with a weight
    return np.bincount(np.minimum(drawn, last), minlength=weight.size).astype(float)


def needs_classifier(estimator: Any, output_kind: str) -> ValueError:
    return ValueError(
        f"{type(estimator).__name__} is not a classifier and cannot predict {output_kind}; pass a classifier,"
        " or use variant='discrete' or 'gentle', which accept a regressor for two classes"
    )


class OnePerClass:
    """One hypothesis per class, which separates it from the others with the weights of that class."""

    def __init__(self, learner: WeakLearner, n_classes: int):
        self.learner, self.n_classes = learner, n_classes

    @property
    def attempts(self) -> int:
        return self.learner.attempts

    @property
    def vc_dim(self) -> float | None:
        return self.learner.vc_dim

    @property
    def finds_optimum(self) -> bool:
        return self.learner.finds_optimum

    def fit(self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0) -> Any:
        return [
            self.learner.fit(target[k], weight[k], round_, self.n_classes * attempt + k)
            for k in range(self.n_classes)
        ]

    def predict_training_rows(self, hypothesis: Any) -> np.ndarray:
        return np.stack([self.learner.predict_training_rows(member) for member in hypothesis])

    def predict(self, hypothesis: Any, X: TableLike) -> np.ndarray:
        return np.stack([self.learner.predict(member, X) for member in hypothesis])


# ------------------------------------------------------------------ native stumps
@dataclass(frozen=True)
class StumpRule:
    """A stump of the core, and its outputs on the left and on the right."""

    stump: _core.Stump
    leaf_outputs: np.ndarray

    def add_to(self, ensemble: _core.Ensemble, value: np.ndarray) -> None:
        """Append the stump as a tree with `value` (2, outputs) in its leaves."""
        self.stump.add_to(ensemble, 1.0, np.ascontiguousarray(value))


class StumpLearner:
    """The best stump under the weights: one threshold (or set of categories) on one column.

    The criterion depends on the kind of outputs: the weighted 0-1 error for signs, classes and labels, the
    sum Z of the next weights for probabilities, the squared error for numbers.
    """

    def __init__(
        self,
        columns: Columns,
        encoder: TableEncoder,
        options: NativeLearnerOptions,
    ):
        self.encoder = encoder
        self.output_kind, self.n_classes = options.output_kind, options.n_classes
        self.reweighting = options.reweighting
        threads = threads_for(count_rows(columns), encoder.n_features, options.threads)
        bins = None
        if options.split == "histogram":
            bins = learn_bins(
                columns,
                encoder.n_levels,
                NO_WEIGHT,
                max_bins=options.max_bins,
                seed=self.reweighting.seed,
                threads=threads,
            )
        self.search = _core.StumpSearch(columns, encoder.n_levels, bins, instruction_set(), threads)

    @property
    def attempts(self) -> int:
        return self.reweighting.attempts

    @property
    def vc_dim(self) -> float | None:
        if any(self.encoder.n_levels):
            return None
        return vc_dim_of_stumps(self.encoder.n_features)

    @property
    def finds_optimum(self) -> bool:
        """True for signs on all rows; the other criteria are not the error."""
        return self.output_kind == "signs" and not self.reweighting.is_random

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> StumpRule:
        if self.output_kind == "labels":
            return self._make_rule(
                self.search.find_best_by_signs(
                    target, self._weights_by_label(weight, round_, attempt)
                )
            )
        row_weights = self.reweighting(weight, round_, attempt)
        if self.output_kind == "classes":
            numbers = np.ascontiguousarray(target, dtype=np.uint32)
            return self._make_rule(
                self.search.find_best_by_class(numbers, self.n_classes, row_weights)
            )
        criterion = {"signs": "error", "probabilities": "exponential", "numbers": "squared"}
        return self._make_rule(
            self.search.find_best(target, row_weights, criterion[self.output_kind])
        )

    def _weights_by_label(self, weight: np.ndarray, round_: int, attempt: int) -> np.ndarray:
        """Return weights (labels, rows): a row that was drawn k times contributes all its labels k times."""
        if not self.reweighting.is_random:
            return weight
        row_weights = weight.sum(axis=0)
        return weight / row_weights * self.reweighting(row_weights, round_, attempt)

    def _make_rule(self, stump: _core.Stump) -> StumpRule:
        values = stump.values
        return StumpRule(stump, self._to_outputs(values.T if values.shape[1] > 1 else values[:, 0]))

    def _to_outputs(self, values: np.ndarray) -> np.ndarray:
        """Return outputs of the learner's kind from the values of the core."""
        if self.output_kind == "classes":
            return values.astype(np.intp)
        if self.output_kind == "probabilities":
            # The values of the core's stump are half the log-odds.
            return np.column_stack([expit(-2 * values), expit(2 * values)])
        return values

    def predict_training_rows(self, hypothesis: StumpRule) -> np.ndarray:
        return self._to_outputs(hypothesis.stump.on_rows(self.search))

    def predict(self, hypothesis: StumpRule, X: TableLike) -> np.ndarray:
        width = hypothesis.stump.values.shape[1]
        single_stump = _core.Ensemble(
            self.encoder.n_features,
            width,
            [0.0] * width,
            self.encoder.n_levels,
            vector_leaves=width > 1,
        )
        hypothesis.stump.add_to(single_stump, 1.0)
        raw = single_stump.predict_raw(self.encoder.transform(X, owner=type(self).__name__), 0, 1)
        return self._to_outputs(raw.T if width > 1 else raw[:, 0])
