"""AdaBoost: a weighted vote of weak learners, each fitted with larger weights on misclassified rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot, set_feature_attributes
from bosquet._parameters import (
    Check,
    boolean,
    check_estimator,
    check_parameters,
    choice,
    integer,
    number,
)
from bosquet._sklearn import check_is_fitted, effective_threads, is_classifier, seed_from
from bosquet._targets import CodedLabels, class_numbers, single_class_message, unique_classes
from bosquet.batches.training import TrainingBatches, training_input, with_batch_docs
from bosquet.boosting.adaboost._base import CHECKS as COMMON
from bosquet.boosting.adaboost._base import VoteClassifier, drop_zero_weight_rows, labels_of
from bosquet.boosting.adaboost._learner_factory import is_native, select_rows
from bosquet.boosting.adaboost.certificate import certificate_of_rounds
from bosquet.boosting.adaboost.endings import (
    Ending,
    all_rounds,
    by_callback,
    by_validation_set,
    ending_of_all,
    warn_of_ending,
)
from bosquet.boosting.adaboost.fitting import (
    Algorithm,
    EarlierRounds,
    LabelledRows,
    LearnerBuilder,
    RoundRecord,
    VoteStepper,
    make_vote_stepper,
)
from bosquet.boosting.adaboost.stagewise import (
    VARIANTS,
    MultiLabelAdaBoost,
    MultiLabelMadaBoost,
    Samme,
    TwoClasses,
    Variant,
)
from bosquet.boosting.adaboost.votes import CodeDecoder, Decoder, Vote
from bosquet.boosting.rounds import (
    FitStart,
    LossHistory,
    fingerprint,
    split_rows,
    start_of_fit,
)
from bosquet.data import BatchedColumns, TableEncoder
from bosquet.losses import margin_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Batches, CategoricalFeatures, Estimator, RandomState, TableLike
    from bosquet.boosting.rounds import Callback


# Checks of the parameters that AdaBoost and AnyBoost share.
CHECKS: dict[str, Check] = {
    **COMMON,
    "learning_rate": number(0, open_low=True),
    "reweight": choice("weights", "resample"),
    "sampling": choice(None, "under"),
    "early_stopping": boolean(),
    "validation_fraction": number(0, 0.9, open_low=True),
    "n_iter_no_change": integer(1),
    "warm_start": boolean(),
}


class StagewiseClassifier(VoteClassifier):
    """Base class of AdaBoost and AnyBoost: several classes, early stopping, warm starts, certificates."""

    _vote: Vote
    _decoder: Decoder
    _round_records: list[RoundRecord]  # one per round
    _is_finished: bool  # whether the loops have ended

    # --------------------------------------------------------- for the subclasses
    def _algorithm(self) -> Algorithm:
        """Return the variant, the scheme for several classes and the loss that the parameters choose."""
        raise NotImplementedError

    def _scheme(self) -> str:
        """Return how several classes are separated: "samme", "mh" or the name of a code."""
        raise NotImplementedError

    def _variant_name(self) -> str:
        """Return the name of the variant in the certificate."""
        raise NotImplementedError

    # ------------------------------------------------------------------ fitting
    @with_batch_docs
    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike | Batches,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        target: str | None = None,
        memory_limit: float | str | None = None,
    ) -> Self:
        """Fit the vote.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or table in batches
            {X} Weak learners other than stumps need the table in memory; those of other libraries are given
            X unchanged.
        y : array of shape (n_samples,), optional
            Labels of any type. None with `target`.
        sample_weight : array of shape (n_samples,) or name of a column, optional
            Weights of the rows before the first round; rows of weight 0 are dropped.
        {target}
        memory_limit : int, float or str, optional
            Memory for the columns of a table that is read in batches, such as "4GB"; beyond it they are kept
            in a temporary file. Default: half of the available memory.

        Returns
        -------
        self
        """
        check_parameters(self, self._checks)
        check_estimator(self.estimator, none=True)
        with training_input(
            X,
            y,
            target=target,
            memory_limit=memory_limit,
            verbose=bool(self.verbose),
            sample_weight=sample_weight,
        ) as given:
            labels = given.y
            if isinstance(labels, CodedLabels):
                labels = labels.classes[labels.numbers]
            return self._fit(given.X, labels, given.sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if isinstance(X, TrainingBatches) and self.estimator is not None:
            raise ValueError(
                f"estimator={self.estimator!r} needs the whole table in memory, but X is read in batches; set"
                " estimator=None, which boosts decision stumps, or pass a table in memory"
            )
        continuing = self.warm_start and hasattr(self, "_vote")
        if continuing and self.n_estimators < self._vote.n_rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} is smaller than the number of rounds in the model"
                f" ({self._vote.n_rounds}); with warm_start=True pass a value at least as large, or fit with"
                " warm_start=False"
            )
        encoder, table = self._encode_training(X, continuing)
        labels = labels_of(self, table, y)
        table, labels, weight, _ = drop_zero_weight_rows(
            self.estimator, table, labels, sample_weight
        )
        classes = self.classes_ if continuing else unique_classes(labels)
        if classes.size < 2:
            raise ValueError(
                f"{single_class_message(classes)}: a classifier needs at least two classes; pass rows of"
                " another class too"
            )
        self.classes_, self.n_classes_ = classes, classes.size
        weight = weight if weight.size else np.ones(labels.size)
        if not continuing:
            self._reset(encoder)
        train, validation, checksum = self._split_fit_rows(
            table, class_numbers(labels, classes), weight
        )
        for rows in (train, validation):
            if rows is not None and isinstance(rows.table, BatchedColumns):
                rows.table = rows.table.hold(encoder.n_levels)
        state = self.__dict__.pop("_stopping_state", None)
        start = start_of_fit(
            self,
            self._vote if continuing else None,
            state,
            checksum,
            patience=self.n_iter_no_change,
            tol=0.0,
        )
        if start.resumed is not None:
            # Continue all rounds that were tried, not only those that the model kept.
            self._vote = start.resumed.terms
            self._round_records = list(start.resumed.round_records)
        earlier = (
            EarlierRounds(self._vote, self._round_records, self._is_finished)
            if continuing
            else None
        )
        stepper = make_vote_stepper(
            self._algorithm(), self._learner_builder(), train, validation, earlier
        )
        self._vote, self._decoder = stepper.terms, stepper.decoder
        self._round_records = stepper.records = list(self._round_records)
        self._run(stepper, start.history, start.stopping)
        self._finish(stepper, start)
        return self

    def _encode_training(self, X: Any, continuing: bool) -> tuple[TableEncoder, Any]:
        """The encoder of X, and X as a table for the learner; of a table in batches it is read later."""
        if isinstance(X, TrainingBatches):
            owner = type(self).__name__
            encoder = (
                self._encoder
                if continuing
                else X.fit_encoder(categorical_features=self.categorical_features, owner=owner)
            )
            return encoder, X.encoded(encoder, owner)
        return (self._encoder, self._encode_table(X)) if continuing else self._encode_input(X)

    def _reset(self, encoder: TableEncoder) -> None:
        """Remove the results of an earlier fit."""
        for name in ("_vote", "certificate_", "feature_names_in_", "validation_score_"):
            self.__dict__.pop(name, None)
        self._seed = seed_from(self.random_state)
        self.estimator_ = self.estimator
        self._round_records, self._is_finished = [], False
        set_feature_attributes(self, encoder)

    def _split_fit_rows(
        self, table: Any, numbers: np.ndarray, weight: np.ndarray
    ) -> tuple[LabelledRows, LabelledRows | None, int | None]:
        """Return the training set and, with early stopping, the validation set and its fingerprint."""

        def part(rows: np.ndarray) -> LabelledRows:
            distribution = weight[rows] / weight[rows].sum()
            return LabelledRows(
                select_rows(self.estimator, table, rows), numbers[rows], distribution
            )

        if not self.early_stopping:
            return LabelledRows(table, numbers, weight / weight.sum()), None, None
        training_rows, validation_rows = split_rows(
            numbers.size, self.validation_fraction, self._seed, numbers
        )
        return (
            part(training_rows),
            part(validation_rows),
            fingerprint(validation_rows, numbers[validation_rows], weight[validation_rows]),
        )

    def _learner_builder(self) -> LearnerBuilder:
        return LearnerBuilder(
            estimator=self.estimator,
            encoder=self._encoder,
            classes=self.classes_,
            seed=self._seed,
            n_jobs=self.n_jobs,
            reweight=self.reweight,
            undersample=self.sampling == "under",
            split=self.split,
            max_bins=self.max_bins,
        )

    def _finish(self, stepper: VoteStepper, start: FitStart[Vote]) -> None:
        """Truncate the vote to the best round, certify it, and report why the rounds ended."""
        history = start.history
        ending = self._find_ending(stepper, history)
        scores = stepper.scores()
        best = history.best_round
        self._validation_fingerprint = start.fingerprint
        if self.warm_start:
            self._stopping_state = start.state_after(
                self._vote.copy(), round_records=list(self._round_records)
            )
        if best is not None and best < self._vote.n_rounds:
            self._vote.truncate(best)
            del self._round_records[best:]
            scores = self._vote.predict_raw(stepper.train.table, stepper.threads)
        self.certificate_ = certificate_of_rounds(
            stepper.records,
            stepper.train,
            stepper.decoder.margins,
            scores,
            variant=self._variant_name(),
            scheme="two" if self.n_classes_ == 2 else self._scheme(),
            learning_rate=self.learning_rate,
            vc_dim=stepper.vc_dim,
        )
        # Otherwise no round was added, and the reason is still that of the last fit.
        if not self._is_finished:
            self.stopped_because_ = ending.reason
            warn_of_ending(ending, len(self._round_records), self.n_estimators)
        self._is_finished = stepper.is_finished
        self.train_score_ = np.asarray(history.train_loss)
        if history.validation_loss:
            self.validation_score_ = np.asarray(history.validation_loss)

    def _find_ending(self, stepper: VoteStepper, history: LossHistory) -> Ending:
        if stepper.is_finished:
            return ending_of_all(stepper.endings)
        if history.stopped_by == "callback":
            return by_callback(stepper.terms.n_rounds)
        if history.stopped_by is not None:
            return by_validation_set(self.n_iter_no_change, history.best_round)
        return all_rounds(stepper.terms.n_rounds)

    # --------------------------------------------------------------- predicting
    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        decision = self.decision_function(X)
        return self._decoder.probabilities(decision)

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_fit_snapshot
    def staged_predict_proba(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the probability of each class, as predicted by the first 1, 2, ... rounds.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples, n_classes)
        """
        for decision in self.staged_decision_function(X):
            yield self._decoder.probabilities(decision)

    # --------------------------------------------------------------- the rounds
    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model; fewer than `n_estimators` if boosting ended early."""
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    def _voted_classes(self) -> np.ndarray:
        """Return the classes, or the signs -1 and +1 if a learner belongs to a column of the vote."""
        single = self.n_classes_ == 2 or getattr(self._vote, "trees_per_round", 1) == 1
        return self.classes_ if single else np.array([-1, 1])

    def _vote_scales(self, learners_per_round: int) -> np.ndarray:
        scales = np.array([record.scale for record in self._round_records])
        return np.broadcast_to(
            scales, (len(self._round_records), max(learners_per_round, scales.shape[1]))
        ).ravel()

    def _values_by_round(self, name: str, factor: float = 1.0) -> np.ndarray:
        """Return a field of the records, with shape (rounds,) or (rounds, columns)."""
        check_is_fitted(self, "_vote")
        values = factor * np.array([getattr(record, name) for record in self._round_records])
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = is_native(self.estimator)
        return tags


def is_adaboost_mh(model: Any) -> bool:
    """Whether the model is AdaBoost.MH: weak learners predict -1 or +1 for each pair of row and class."""
    return (
        isinstance(model, StagewiseClassifier) and model.n_classes_ > 2 and model._scheme() == "mh"
    )


def code_margins(model: Any, X: Any, numbers: np.ndarray) -> np.ndarray | None:
    """Return the margins of rows with these class numbers if a code separates the classes.

    The result is None for other models.
    """
    if not isinstance(model, StagewiseClassifier) or not isinstance(model._decoder, CodeDecoder):
        return None
    raw = model._vote.predict_raw(model._encode_table(X), effective_threads(model.n_jobs))
    sizes = np.sum([record.size for record in model._round_records], axis=0)
    return model._decoder.margins(raw, numbers, sizes)


_CHECKS: dict[str, Check] = {
    **CHECKS,
    "variant": choice(*VARIANTS),
    "multiclass": choice("samme", "mh", "one-vs-rest", "one-vs-one", "ecoc"),
}


class AdaBoostClassifier(StagewiseClassifier):
    """AdaBoost classifier, with decision stumps or any scikit-learn estimator.

    Every round fits a weak learner h with weights w of the rows, gives it the weight α in the vote, and
    increases the weights of the rows that it misclassifies:

        ε = Σ w [h(x) ≠ y],   α = ½ ln((1 - ε) / ε),   w ← w exp(-α y h(x)) / Z,   Z = 2 √(ε (1 - ε))

    The vote is f(x) = Σ α h(x), and its sign is the predicted class. The probability of the second class is
    1 / (1 + exp(-2f)). The training error is at most Π Z.

    Differences from scikit-learn's class of the same name: weak learners get weights with mean 1, not sum 1
    (with the latter an SVC learns nothing); a weak learner without errors wins the vote;
    `decision_function` is f itself, not 2f / Σα.

    Guide: the page "AdaBoost, LogitBoost, SAMME, RUSBoost and other variants" of the documentation

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner. None: a stump of the native core, the best threshold on one column. A
        `bosquet.DecisionTreeClassifier` is grown by the core too, on columns that are prepared once. Any
        other scikit-learn classifier is cloned and fitted. A regressor is fitted to -1 and +1, and its
        predictions are clipped to [-1, 1] (`variant` "discrete", "mada") or used unchanged ("gentle",
        "logit").
    n_estimators : int, default=50
        Largest number of rounds. There are fewer if a weak learner is perfect (ε = 0: its α would be
        infinite, so it gets a weight that outvotes all others) or no better than chance (ε >= ½).
    learning_rate : float, default=1.0
        Shrinkage: the factor of α.
    variant : {"discrete", "real", "gentle", "logit", "mada"}, default="discrete"
        "discrete" as above; "real" adds ½ ln(p / (1 - p)) of a weak learner's probabilities; "gentle" adds
        a least-squares fit to y, and is less sensitive to outliers; "logit" takes Newton steps on the
        binomial likelihood (LogitBoost); "mada" is discrete with weights that never exceed their initial
        values (MadaBoost).
    reweight : {"weights", "resample"}, default="weights"
        Pass the weights to the weak learner, or draw a bootstrap sample with them; ε is always the weighted
        error over all rows. Weak learners without `sample_weight` always get samples, with a warning. A
        sample whose weak learner has no edge is drawn again, up to ten times.
    multiclass : {"samme", "mh", "one-vs-rest", "one-vs-one", "ecoc"}, default="samme"
        Several classes: weak learners that predict one of K classes, better than chance if ε < 1 - 1/K
        (SAMME); a sign for each class, with one distribution over pairs of row and class (AdaBoost.MH); or
        two-class problems by a code: each class against the rest, each pair of classes, error-correcting
        codes, all decoded by the exponential loss. SAMME is defined for the discrete variant: with "mada"
        "mh" is used instead, and with "real", "gentle" and "logit" "one-vs-rest", which for steps of 1 is
        AdaBoost.MH with one weak learner per class.
    sampling : {None, "under"}, default=None
        "under": each round undersamples every class to the size of the rarest (RUSBoost).
    split : {"exact", "histogram"}, default="exact"
        Native weak learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Maximum number of bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        For native weak learners: columns whose values are categories. "from_dtype": those of a category or
        string type.
    early_stopping : bool, default=False
        Whether to split off a validation set, and keep the number of rounds with the smallest error on it.
    validation_fraction : float, default=0.1
        Fraction of the rows in the validation set.
    n_iter_no_change : int, default=20
        Number of rounds without improvement before stopping.
    warm_start : bool, default=False
        Add rounds to the fitted model instead of fitting a new one: up to rounding, the same vote as with
        all rounds in one fit. With early stopping the validation set is that of the first fit, and the
        best error and the number of rounds since then are carried over.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are error rates); a callback that returns True
        stops the fit.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads of native weak learners. None: all. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of samples, the validation set, codes, and random weak learners.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    estimators_ : list of weak learners; an array (rounds, columns) if a round has several.
    estimator_weights_ : array
        Their weights in scikit-learn's convention: ln((1 - ε) / ε), twice the α above, times the learning
        rate; for SAMME plus ln(K - 1); for real, gentle and logit the factor of h.
    estimator_errors_ : array
        Their weighted errors ε; NaN if the variant has none.
    certificate_ : Certificate
        ε, edge, α and Z of each round, bounds on the error, margins of the training rows.
    feature_importances_ : array
        Mean over the weak learners, weighted by their votes.
    stopped_because_ : str
        Why the rounds ended: all were made, a weak learner without mistakes (ε = 0) or without an edge
        (ε >= ½), early stopping, a callback. There is a warning if the weak learner was the reason.
    train_score_, validation_score_ : arrays
        The error rate after each round, on the training rows and on the validation set, including rounds
        after the best one that early stopping removed. NaN in rounds without a validation set.
    code_ : array of -1, 0 and 1, with a line for each class and a column for each two-class problem
        The code, if more than two classes were separated by one.
    n_estimators_ : int
        Number of rounds.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    See Also
    --------
    AnyBoostClassifier : The same loop for any loss of the margin.
    GradientBoostingClassifier : Boosting by gradients of a loss, often more accurate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.99

    References
    ----------
    Freund and Schapire, "A decision-theoretic generalization of on-line learning and an application to
    boosting", Journal of Computer and System Sciences 1997.
    Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
    Learning 1999: real AdaBoost, AdaBoost.MH.
    Friedman, Hastie and Tibshirani, "Additive logistic regression", Annals of Statistics 2000: gentle,
    LogitBoost.
    Domingo and Watanabe, "MadaBoost: a modification of AdaBoost", COLT 2000.
    Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009: SAMME.
    Allwein, Schapire and Singer, "Reducing multiclass to binary", JMLR 2000: codes.
    Seiffert et al., "RUSBoost", IEEE Transactions on Systems, Man, and Cybernetics A 2010.
    """

    _checks = _CHECKS

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        variant: str = "discrete",
        reweight: str = "weights",
        multiclass: str = "samme",
        sampling: str | None = None,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.variant = variant
        self.reweight = reweight
        self.multiclass = multiclass
        self.sampling = sampling
        self.split = split
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _scheme(self) -> str:
        # SAMME needs learners that predict a class; the other variants add numbers.
        if self.multiclass == "samme" and self.variant != "discrete":
            return "mh" if self.variant == "mada" else "one-vs-rest"
        if self.multiclass == "mh" and self.variant not in ("discrete", "mada"):
            return "one-vs-rest"
        return self.multiclass

    def _algorithm(self) -> Algorithm:
        n_classes, rate = self.n_classes_, self.learning_rate
        scheme = "two" if n_classes == 2 else self._scheme()

        def two_classes(y: np.ndarray, distribution: np.ndarray, n_rows: int) -> TwoClasses:
            estimator = self.estimator
            if self.variant == "logit" and estimator is not None and is_classifier(estimator):
                raise ValueError(
                    f"variant='logit' fits numbers by least squares, but {type(estimator).__name__} is a"
                    " classifier; pass a regressor, for example bosquet.DecisionTreeRegressor(max_depth=3)"
                )
            return VARIANTS[self.variant](y, distribution, rate, n_rows)

        def several_classes(numbers: np.ndarray, distribution: np.ndarray) -> Variant:
            if scheme == "samme":
                return Samme(numbers, n_classes, distribution, rate)
            kind = MultiLabelMadaBoost if self.variant == "mada" else MultiLabelAdaBoost
            return kind(numbers, n_classes, distribution, rate)

        # The core multiplies weights, which would overflow after steps far beyond the best one.
        core_name = self.variant if rate <= 1 else None
        loss = margin_loss("exponential")
        return Algorithm(scheme, two_classes, loss, several_classes, core_name=core_name)

    def _variant_name(self) -> str:
        return self.variant

    @property
    @reads_fit_snapshot
    def estimator_weights_(self) -> np.ndarray:
        """Weights of the weak learners in scikit-learn's convention: twice α if the variant has α."""
        halves = not np.isnan(np.atleast_1d(self._values_by_round("alpha"))).all()
        return self._values_by_round("scale", 2.0 if halves else 1.0)

    @property
    @reads_fit_snapshot
    def estimator_errors_(self) -> np.ndarray:
        """Weighted error ε of each weak learner."""
        return self._values_by_round("error")

    @property
    @reads_fit_snapshot
    def code_(self) -> np.ndarray:
        """The sign of each class (line) in each two-class problem (column); 0 if it is not part of it."""
        check_is_fitted(self, "classes_")
        if not isinstance(self._decoder, CodeDecoder):
            raise AttributeError(
                f"this {type(self).__name__} has no code_; it exists for more than two classes with"
                " multiclass='one-vs-rest', 'one-vs-one' or 'ecoc'"
            )
        return self._decoder.matrix
