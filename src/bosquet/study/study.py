"""`Study`: from a table to a chosen, explained model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet._fitted import fits_aside, reads_one_fit
from bosquet._parameters import check_value, choice, integer
from bosquet._sklearn import BaseEstimator, check_is_fitted, seed_from
from bosquet._suggestions import hint
from bosquet.study.chosen_model import ChosenModel
from bosquet.study.compare.leaderboard import as_html, as_text, leaderboard
from bosquet.study.compare.scored_table import check_test_table, score_test_table
from bosquet.study.methods.method import Method
from bosquet.study.options import Wishes
from bosquet.study.record import Record
from bosquet.study.run.clock import Clock, seconds_of
from bosquet.study.steps import Run
from bosquet.study.table.design import with_splitter
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.target import TASKS
from bosquet.tables.frames import as_frame


class Study(BaseEstimator):
    r"""The seven steps of data mining on one table, within a budget.

    The table is looked at, split at random into training and test rows, every method is tuned over its
    complexity on the training rows, compared with the others on test rows that none of them saw, over
    repeated splits to see how robust that is; one is chosen by accuracy, robustness and readability,
    explained, and fitted to all rows. Differences to the best have corrected intervals,

    .. math:: \bar d \pm t_{J-1} \sqrt{\left(\tfrac1J + \tfrac{n_{test}}{n_{train}}\right) S^2}

    over J splits, so that "not distinguishable" is said where it is so.

    Parameters
    ----------
    task : {"auto", "classification", "binary", "multiclass", "regression"}, default="auto"
        By default text, booleans and whole numbers of at most ten values are classes, other numbers are
        numbers.
    methods : list of names or of `Method`, default=None
        Which methods to try, by default all that suit the task; `bosquet.study.methods.METHODS` has the
        names. The constant is always among them.
    budget : str, seconds or None, default="2m"
        Time for everything: "90s", "2m", "1h30m". None counts instead: every method is tuned over all
        its candidates in every split, and the table does not depend on the clock.
    metric : str, function or scorer, default="auto"
        What methods are tuned and compared by: "log_loss", "roc_auc", "average_precision", "brier",
        "accuracy", "balanced_accuracy", "f1", "mcc"; "rmse", "mae", "median_error", "r2"; "cost". "auto"
        is the log loss, for a class of less than a tenth of the rows the average precision, with costs
        the mean cost, for numbers the RMSE. All of the task's are in the table. A metric of your own is a
        function (y_true, y_pred) whose name ends in _score, _error, _loss or _deviance, or what
        `sklearn.metrics.make_scorer` makes of a function, which also says whether higher is better and
        whether it takes probabilities.
    repeats : int or None, default=None
        Splits; with a budget at most that many. None is 5, with a budget up to 10.
    random_state : int, default=0
    costs : matrix or dict, default=None
        What decisions cost: a row for each true class, a column for each decision, classes sorted; or
        {class: cost of missing it}. Thresholds are then chosen on training rows, out of fold.
    positive : label, default=None
        Of two classes the one that is looked for: precision, recall, F1 and average precision are its, and
        the page draws its probability. By default the rarer.
    tune_by : {"cv", "validation", "oob", "bootstrap", "aic", "bic"} or dict, default=None
        How complexities are chosen, for all methods or {name of a method: way}. A method that a way is not
        for (AIC and BIC need a likelihood, "oob" bags) keeps its own, which is the default: out of bag for
        forests and bagging, five folds for others, a validation sample from 5,000 rows on.
    n_jobs : int or None, default=None
        Fits at a time while tuning, and inside ensembles of small tables; the results do not depend on it.
    checkpoint : path, default=None
        A file that keeps every result as it comes. The same study with the same file goes on where it was
        killed, and without a budget ends with the same table.
    verbose : int, default=1
        0 is silent, 1 tells each method's result as it comes.

    Attributes
    ----------
    table_ : pandas.DataFrame
        A row for each method, best first.
    best_ : ChosenModel
        The chosen model, fitted to all rows; predicts from tables as they come.
    record_ : dict
        Everything that was found, as plain JSON; see `bosquet.study.record.Record`.
    classes_ : array
        Of classes: the labels, sorted.
    splits_ : list
        The training and test rows of each split.

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
        self.verbose = verbose

    @fits_aside
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
        """Study a table.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow table, any other that narwhals knows, an array, or the path of a file
            that `bosquet.tables.read_table` reads.
        y : str or array of shape (n_rows,)
            The name of the target, or the targets of the rows of X.
        time : str or array of shape (n_rows,), optional
            When rows were recorded, a column or its values: dates or numbers. Models are tested on the latest
            rows and trained on earlier ones. Features of dates are the parts that recur within the table, and
            elapsed time if blocks of time are predicted better with it.
        groups : str or array of shape (n_rows,), optional
            The group of each row: splits and tuning folds never divide a group.
        sample_weight : str or array of shape (n_rows,), optional
            How much each row counts, in fits, metrics, intervals, thresholds, curves and importances. Rows of
            weight 0 are left out.
        offset : str, optional
            A column that is added to the logarithm of the mean of a count. Methods that take no offset are
            left out; the others predict counts, also of new tables, which need the column.
        exposure : str, optional
            A column of positive numbers, such as days at risk, whose logarithm is the offset.
        split : str or array of shape (n_rows,), optional
            A fixed split: train and test (validation counts as train), or numbers of folds.
        splitter : splitter of scikit-learn, optional
            Splits of the study, such as `GroupKFold(5)`; its `split(X, y, groups)` gets `groups`.
        bayes : generator of `bosquet.datasets` or function of X, optional
            Of simulated data: the truth, which gets a row in the table.
        test : table, optional
            Other rows, with the columns of X: the exploration reports which columns have drifted. If it has
            the target, the chosen model is scored on it (`record_["test_table"]`).
        title, source : str, optional
            For the page: what it is called, and where the table is from.

        Returns
        -------
        self
        """
        given = {"bayes": bayes, "test": test, "title": title, "source": source}
        wishes = self._wishes(given)
        clock = Clock(wishes.budget)
        design = {"time": time, "group": groups, "weight": sample_weight, "split": split}
        design |= {"offset": offset, "exposure": exposure}
        table = read_study_table(X, y, self.task, self.positive, design=design)
        if splitter is not None:
            table.design = with_splitter(table.design, splitter, table.X, table.target.y)
        run = Run(table, wishes, clock)
        if test is not None:
            rows = check_test_table(as_frame(test), table.tidier, table.target, table.design)
            run.check_metric_on(*rows)
        result = run.go()
        self.record_ = result.record
        self.table_ = leaderboard(result.record)
        self.splits_ = [(split.train, split.test) for split in result.splits]
        winner = result.record["winner"]
        chosen = result.record["methods"]
        title = next((m["title"] for m in chosen if winner and m["name"] == winner["name"]), "")
        self.best_ = ChosenModel(
            result.model, table.tidier, result.decision, title, table.design.offset_column
        )
        if test is not None:
            scored = score_test_table(
                as_frame(test),
                self.best_,
                table.target,
                self.record_,
                result.metrics,
                table.design,
            )
            if scored is not None:
                self.record_["test_table"] = scored
        if table.target.is_classes:
            self.classes_ = table.target.classes
        elif hasattr(self, "classes_"):
            del self.classes_
        return self

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """What the chosen model says of new rows, in a table as the one studied."""
        check_is_fitted(self, "best_")
        return self.best_.predict(X)

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """The chosen model's probabilities of `classes_`."""
        check_is_fitted(self, "best_")
        return self.best_.predict_proba(X)

    @reads_one_fit
    def report(self, path: str | os.PathLike[str]) -> str:
        """Write the page: one HTML file with everything that was found. Returns its path."""
        from bosquet.study.report import write_page

        check_is_fitted(self, "record_")
        write_page(self.record_, path)
        return os.fspath(path)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the chosen model to a file without pickle; see `ChosenModel.save`."""
        check_is_fitted(self, "best_")
        self.best_.save(path, key)

    def _wishes(self, given: dict[str, Any]) -> Wishes:
        check_value("task", self.task, choice(*TASKS))
        check_value("repeats", self.repeats, integer(1, none=True))
        check_value("random_state", self.random_state, integer(0, none=True))
        check_value("verbose", int(self.verbose), integer(0))
        if not isinstance(self.metric, str) and not callable(self.metric):
            raise ValueError(
                f"metric={self.metric!r} must be the name of a metric, 'auto', a function (y_true, y_pred) or"
                " a scorer of sklearn.metrics.make_scorer"
            )
        seed = seed_from(None) if self.random_state is None else int(self.random_state)
        return Wishes(
            methods=chosen_methods(self.methods),
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
            **given,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "record_")

    def __str__(self) -> str:
        return as_text(self.record_) if hasattr(self, "record_") else repr(self)

    def _repr_html_(self) -> str:
        if hasattr(self, "record_"):
            return as_html(self.record_)
        return f"<code>{self!r}</code>"


def chosen_methods(methods: Any) -> list[Method] | None:
    """Methods by name or as they are; an error lists the names there are."""
    if methods is None:
        return None
    from bosquet.study.methods import METHODS

    wanted = [methods] if isinstance(methods, str | Method) else list(methods)
    if not wanted:
        raise ValueError("methods is empty; None tries all")
    found = []
    for one in wanted:
        if isinstance(one, Method):
            found.append(one)
        elif one in METHODS:
            found.append(METHODS[one])
        else:
            raise ValueError(f"there is no method {one!r}; {hint(str(one), METHODS, len(METHODS))}")
    names = [method.name for method in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"methods names {twice!r} twice")
    return found
