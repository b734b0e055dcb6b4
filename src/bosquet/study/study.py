"""`Study`: from a table to a chosen and explained model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import check_value, choice, integer
from bosquet._sklearn import BaseEstimator, check_is_fitted, seed_from
from bosquet.study.chosen_model import ChosenModel
from bosquet.study.compare.external_test import score_test_table
from bosquet.study.compare.leaderboard import leaderboard, leaderboard_html, leaderboard_text
from bosquet.study.options import StudyOptions, requested_methods
from bosquet.study.record import Record, chosen_method
from bosquet.study.report import write_page
from bosquet.study.run.clock import StudyClock, seconds_of
from bosquet.study.run.trial_runner import open_trial_runner
from bosquet.study.study_run import StudyRun
from bosquet.study.table.design import with_splitter
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.target import TASKS
from bosquet.tables.frames import as_frame


class Study(BaseEstimator):
    r"""AutoML: tune, compare and explain many methods on one table within a time budget.

    A study explores the table and splits it at random into training and test rows; a fifth of the rows are
    test rows. Rows without a target are left out. It tunes the hyper-parameters of every method on the
    training rows, compares the methods on the test rows, and repeats this on other splits. It chooses the
    most accurate method, or a more interpretable one that is not significantly worse, explains it, and fits
    it to all rows. Differences to the best method have corrected confidence intervals over J splits,

    .. math:: \bar d \pm t_{J-1} \sqrt{\left(\tfrac1J + \tfrac{n_{test}}{n_{train}}\right) S^2} .

    Guide: the page "Study" of the documentation

    Parameters
    ----------
    task : {"auto", "classification", "binary", "multiclass", "regression"}, default="auto"
        With "auto", text, booleans, any two distinct numbers, and integers with at most ten distinct values
        and at least five rows per value are classes; other numbers are a regression target.
    methods : list of str or of `Method`, default=None
        Methods to run; the names are the keys of `bosquet.study.methods.METHODS`. None runs all methods that
        support the task. The constant is always included.
    budget : str, float or None, default="2m"
        Time for the whole study: seconds, or text such as "90s", "2m" or "1h30m". With None there is no time
        limit: every method is tuned over all its candidates on every split, and the results do not depend on
        the speed of the machine.
    metric : str, callable or scorer, default="auto"
        Metric for tuning and comparing methods. For classes "log_loss", "roc_auc", "average_precision",
        "brier", "accuracy", "balanced_accuracy", "f1", "mcc" or "cost"; for regression "rmse", "mae",
        "median_error" or "r2". "auc", "pr_auc" and "logloss" are accepted too. "auto" is the mean cost if
        `costs` are given, the average precision if a class of two has less than a tenth of the rows, else the
        log loss; RMSE for regression. The leaderboard has all metrics of the task. A custom metric is a
        function (y_true, y_pred) whose name ends in _score, _error, _loss or _deviance, or a scorer of
        `sklearn.metrics.make_scorer`.
    repeats : int or None, default=None
        Number of splits; with a budget the maximum number. None is 5 without a budget and 10 with one.
    random_state : int or None, default=0
        Random seed. None draws one.
    costs : array of shape (n_classes, n_classes) or dict, default=None
        Costs of decisions: one row per true class, one column per predicted class, classes sorted; or
        {class: cost of missing it}. Decision thresholds are then chosen on training rows by models that were
        not fitted to them: by out-of-bag predictions, a validation set or cross-validation.
    positive : label, default=None
        Positive class of a binary target, for precision, recall, F1 and average precision; the report shows
        its probability. None is the rarer class.
    tune_by : {"cv", "validation", "oob", "bootstrap", "aic", "bic"} or dict, default=None
        Validation scheme for tuning, for all methods or as {name of a method: scheme}. None uses out-of-bag
        predictions for forests and bagging, and five-fold cross-validation for other methods, which a
        validation set replaces from 5,000 rows on. A method that does not support the scheme keeps its
        default: "aic" and "bic" need a likelihood, "oob" needs bootstrap samples.
    n_jobs : int or None, default=None
        Number of parallel fits while tuning, and within ensembles on small tables. None and
        -1 run one fit per processor, or per thread of a worker. The results do not depend on it.
    checkpoint : str or path, default=None
        File to which every result is written. The same study with the same file resumes after an
        interruption; without a budget it ends with the same results.
    client : distributed.Client or str, default=None
        A Dask cluster, or the address of its scheduler. The trials (one method on one split) run on its
        workers, one at a time on each; see the page "Fit on a cluster". None runs all in this process. Only
        an address is kept in pickles.
    verbose : int, default=1
        0 prints nothing, 1 prints the result of each method, 2 also on further splits.

    Attributes
    ----------
    table_ : pandas.DataFrame
        The leaderboard: one row per method, best first.
    best_ : ChosenModel
        The chosen model (`bosquet.study.chosen_model.ChosenModel`), fitted to all rows. It accepts raw tables
        and has `predict`, `predict_proba`, `explain` and `save`.
    record_ : dict
        All results as JSON types; see `bosquet.study.record.Record`.
    classes_ : array
        The sorted labels; only for classification.
    splits_ : list of (train, test)
        Row indices of each split.

    See Also
    --------
    GradientBoostingClassifier : One model with default parameters.
    SuperLearnerClassifier : A combination of several models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import Study
    >>> flowers = load_iris(as_frame=True).frame
    >>> study = Study(methods=["lda", "cart"], budget=None, repeats=3, verbose=0)
    >>> study = study.fit(flowers, "target")
    >>> study.table_.index[0], f"{study.table_['accuracy'].iloc[0]:.2f}"
    ('lda', '0.99')
    >>> study.predict(flowers[:2]).tolist()
    [0, 0]

    References
    ----------
    Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    """

    table_: Any
    best_: ChosenModel
    record_: Record

    def __init__(
        self,
        task: str = "auto",
        *,
        methods: Sequence[Any] | None = None,
        budget: Any = "2m",
        metric: Any = "auto",
        repeats: int | None = None,
        random_state: int | None = 0,
        costs: Any = None,
        positive: Any = None,
        tune_by: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        client: Any = None,
        verbose: int = 1,
    ):
        self.task = task
        self.methods = methods
        self.budget = budget
        self.metric = metric
        self.repeats = repeats
        self.random_state = random_state
        self.costs = costs
        self.positive = positive
        self.tune_by = tune_by
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.client = client
        self.verbose = verbose

    @publishes_fit_atomically
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        time: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        offset: str | None = None,
        exposure: str | None = None,
        split: Any = None,
        splitter: Any = None,
        bayes: Any = None,
        test: Any = None,
        title: str = "",
        source: str = "",
    ) -> Study:
        """Run the study on a table.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow table, any other table that narwhals supports, an array, or the path of
            a file for `bosquet.tables.read_table`.
        y : str or array of shape (n_rows,)
            The name of the target column, or the target values.
        time : str or array of shape (n_rows,), optional
            The time of each row: a column name, or dates or numbers. Models are trained on earlier rows and
            tested on later ones. Features of a date are its parts that recur within the table, and elapsed
            time if later blocks of time are predicted better with it.
        groups : str or array of shape (n_rows,), optional
            The group of each row. Splits and tuning folds keep groups whole.
        sample_weight : str or array of shape (n_rows,), optional
            The weight of each row in fits, metrics, intervals, thresholds, curves and importances. Rows of
            weight 0 are dropped.
        offset : str, optional
            Name of a column that is added to the logarithm of the mean of a count. Methods that do not accept
            an offset are left out. New tables need the column for prediction.
        exposure : str, optional
            Name of a column of positive numbers, such as days at risk, whose logarithm is the offset.
        split : str or array of shape (n_rows,), optional
            A fixed split: train and test (validation counts as train), or fold numbers.
        splitter : splitter of scikit-learn, optional
            Makes the splits of the study, for example `GroupKFold(5)`. Its `split(X, y, groups)` gets
            `groups`.
        bayes : generator of `bosquet.datasets` or function of X, optional
            The true rule of simulated data. The leaderboard then includes the Bayes rule.
        test : table, optional
            Further rows with the columns of X. The exploration reports which columns have drifted. If the
            table has the target, the chosen model is scored on it (`record_["test_table"]`).
        title, source : str, optional
            Title of the report, and the origin of the table.

        Returns
        -------
        self
        """
        fit_options = {"bayes": bayes, "test": test, "title": title, "source": source}
        options = self._make_options(fit_options)
        design = {"time": time, "group": groups, "weight": sample_weight, "split": split}
        design |= {"offset": offset, "exposure": exposure}
        with open_trial_runner(self.client, options.n_jobs) as runner:
            clock = StudyClock(options.budget)
            table = read_study_table(X, y, self.task, self.positive, design=design)
            if splitter is not None:
                table.design = with_splitter(table.design, splitter, table.X, table.target.y)
            result = StudyRun(table, options, clock, runner).run()
        self.record_ = result.record
        self.table_ = leaderboard(result.record)
        self.splits_ = [(split.train, split.test) for split in result.splits]
        chosen = chosen_method(result.record)
        method_title = "" if chosen is None else chosen["title"]
        self.best_ = ChosenModel(
            result.model, table.tidier, result.decision, method_title, table.design.offset_column
        )
        if test is not None:
            test_record = score_test_table(
                as_frame(test),
                self.best_,
                table.target,
                self.record_,
                result.metrics,
                table.design,
            )
            if test_record is not None:
                self.record_["test_table"] = test_record
        if table.target.is_classes:
            self.classes_ = table.target.classes
        elif hasattr(self, "classes_"):
            del self.classes_
        return self

    @reads_fit_snapshot
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of new rows with the chosen model.

        Parameters
        ----------
        X : table
            Rows with the columns of the table that was studied.

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self, "best_")
        return self.best_.predict(X)

    @reads_fit_snapshot
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities with the chosen model.

        Parameters
        ----------
        X : table
            Rows with the columns of the table that was studied.

        Returns
        -------
        array of shape (n_rows, n_classes), in the order of `classes_`
        """
        check_is_fitted(self, "best_")
        return self.best_.predict_proba(X)

    @reads_fit_snapshot
    def report(self, path: str | os.PathLike[str]) -> str:
        """Write the report, one HTML file with all results, and return its path."""
        check_is_fitted(self, "record_")
        write_page(self.record_, path)
        return os.fspath(path)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Save the chosen model to a model file.

        A model file cannot hold a scikit-learn model, a super learner with a scikit-learn member, the
        constant, or a model with an exposure or offset. For these, a ValueError is raised; pickle `best_`
        instead. With a `key` the file is signed.
        """
        check_is_fitted(self, "best_")
        self.best_.save(path, key)

    def _make_options(self, fit_options: dict[str, Any]) -> StudyOptions:
        check_value("task", self.task, choice(*TASKS))
        check_value("repeats", self.repeats, integer(1, none=True))
        check_value("random_state", self.random_state, integer(0, none=True))
        check_value("verbose", int(self.verbose), integer(0))
        if not isinstance(self.metric, str) and not callable(self.metric):
            raise ValueError(
                f"metric={self.metric!r} is not a metric; pass a name, 'auto', a function (y_true, y_pred) or"
                " a scorer of sklearn.metrics.make_scorer"
            )
        seed = seed_from(None) if self.random_state is None else int(self.random_state)
        return StudyOptions(
            methods=requested_methods(self.methods),
            budget=seconds_of(self.budget),
            metric=self.metric,
            repeats=self.repeats,
            random_state=seed,
            costs=self.costs,
            positive=self.positive,
            tune_by=self.tune_by,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
            verbose=int(self.verbose),
            **fit_options,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, without the client, which belongs to this process."""
        state = dict(super().__getstate__())
        if not isinstance(self.client, str):
            state["client"] = None
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "record_")

    def __str__(self) -> str:
        return leaderboard_text(self.record_) if hasattr(self, "record_") else repr(self)

    def _repr_html_(self) -> str:
        if hasattr(self, "record_"):
            return leaderboard_html(self.record_)
        return f"<code>{self!r}</code>"
