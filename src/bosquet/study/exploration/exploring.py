"""`explore`: summaries of a table and findings about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bosquet.study.exploration import findings
from bosquet.study.exploration.design_proposals import Proposal, group_codes, proposals, time_column
from bosquet.study.exploration.drift import drift_between, drift_finding
from bosquet.study.exploration.features import Feature, feature_of
from bosquet.study.exploration.leaks import column_leaks, level_leaks, pair_leaks, time_leaks
from bosquet.study.exploration.relations import quick_relations, spearman
from bosquet.study.exploration.summaries import column_record, target_histogram
from bosquet.study.exploration.target import ExploredTarget, target_of
from bosquet.study.record import ColumnRecord, Exploration, Task
from bosquet.tables import TableTidier
from bosquet.tables.delimited import distinct_names

MAX_COLUMNS = 300  # examined; in a wider table those most associated with the target
MAX_ROWS = 10_000  # used to measure associations and leaks
MAX_CORRELATED = 25  # numeric columns in the correlation matrix
MAX_CATEGORIES = 25  # categories whose associations are measured
_COMPARED_COLUMNS = 1000  # columns compared in the first search for duplicate rows


def explore(
    frame: Any,
    target: str,
    task: Task,
    test: Any = None,
    *,
    tidier: TableTidier | None = None,
    design_columns: Mapping[str, str] | None = None,
    group: np.ndarray | None = None,
) -> Exploration:
    """Summarise the columns of a table and report problems.

    The result contains distributions per class, associations with the target and correlations. Findings
    report missing values, outliers, duplicate rows, constant columns, identifiers, correlated columns, target
    leaks, rare classes and, with a test table, drift.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table with its target, which must not have missing values.
    target : str
        Name of the target column.
    task : "binary", "multiclass" or "regression"
    test : pandas.DataFrame, optional
        A test table, to check for drift.
    tidier : TableTidier, optional
        The tidier fitted to the features, if there is one already.
    design_columns : dict, optional
        Columns that were passed for "time", "group" and "weight". These options are not proposed again.
    group : array of shape (n_rows,), optional
        Group codes of the rows, if known.

    Returns
    -------
    Exploration
        See `bosquet.study.record.Exploration`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet.study.exploration import explore
    >>> found = explore(load_iris(as_frame=True).frame, "target", "multiclass")
    >>> [(c["name"], round(c["relation"], 2)) for c in found["columns"]][2]
    ('petal length (cm)', 0.86)
    >>> found["duplicates"], found["warnings"][0]["kind"]
    (1, 'leak')
    """
    names, _ = distinct_names([str(name) for name in frame.columns])
    frame = frame.set_axis(names, axis=1)
    frame.attrs = {}
    target_column = target_of(frame[target], target, task)
    features_frame = frame.drop(columns=target)
    tidier = tidier or TableTidier().fit(features_frame)
    n_rows = len(frame)
    rng = np.random.default_rng(0)
    sample = _sample_rows(n_rows, target_column, rng)
    plans = _choose_plans(features_frame, tidier, target_column, sample)
    features = [feature_of(plan, features_frame[plan.name]) for plan in plans]
    columns = [column_record(feature, target_column, sample) for feature in features]
    correlations, exact_correlations = _record_correlations(features, columns, sample)
    used_in_sample = [feature.take(sample) for feature in features if feature.used]
    proposed, design_findings = _propose_design(
        features, target_column, sample, rng, design_columns or {}
    )
    weighted = "weight" in (design_columns or {})
    n_duplicates, duplicate_findings = _find_duplicates(
        features_frame, frame[target], features, proposed, weighted
    )
    group = group_codes(features, proposed) if group is None else group
    sampled_group = None if group is None else group[sample]
    warnings = [
        *_find_leaks(
            features,
            used_in_sample,
            target_column,
            target_column.take(sample),
            rng,
            sampled_group,
        ),
        *design_findings,
        *duplicate_findings,
        *findings.rare_class_findings(target_column),
        *findings.missing_value_findings(features),
        *findings.outlier_findings(features),
        *findings.correlation_findings(
            correlations["names"],
            exact_correlations,
            _select_strongest_categories(features, columns, sample),
        ),
        *findings.left_out_findings(features),
        *findings.limit_findings(len(columns), len(names) - 1, len(sample), n_rows),
    ]
    if test is not None:
        warnings += _find_drift(features, test)
    return Exploration(
        n_rows=n_rows,
        n_columns=len(names) - 1,
        duplicates=n_duplicates,
        target=target_histogram(target_column),
        columns=columns,
        correlations=correlations,
        warnings=findings.by_severity(warnings),
        proposed={
            proposal.option: proposal.column
            for proposal in proposed
            if proposal.sure and proposal.column
        },
    )


def _sample_rows(n_rows: int, target: ExploredTarget, rng: np.random.Generator) -> np.ndarray:
    """Return the rows for expensive measures; rare classes are oversampled so that they occur at all."""
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    if not target.is_classes:
        return np.sort(rng.choice(n_rows, MAX_ROWS, replace=False))
    sampled = rng.choice(n_rows, MAX_ROWS, replace=False)
    rarest = np.flatnonzero(target.counts[target.codes] < 0.01 * n_rows)
    if rarest.size:
        sampled = np.union1d(sampled, rng.permutation(rarest)[: MAX_ROWS // 10])
    return np.sort(sampled)


def _find_leaks(
    features: list[Feature],
    used_in_sample: list[Feature],
    target: ExploredTarget,
    sampled_target: ExploredTarget,
    rng: np.random.Generator,
    group: np.ndarray | None,
) -> list[Any]:
    """Return leaks of columns and of pairs, measured on a sample, and of single levels, on all rows."""
    leaks = column_leaks(used_in_sample, sampled_target, rng, group)
    leaking = {name for finding in leaks for name in finding["columns"]}
    surely_leaking = {
        name for leak in leaks if leak["severity"] == "high" for name in leak["columns"]
    }
    return [
        *leaks,
        *pair_leaks(used_in_sample, sampled_target, surely_leaking),
        *level_leaks(features, target, leaking),
    ]


def _propose_design(
    features: list[Feature],
    target: ExploredTarget,
    sample: np.ndarray,
    rng: np.random.Generator,
    design_columns: Mapping[str, str],
) -> tuple[list[Proposal], list[Any]]:
    """Return the proposals for the design, and the findings on them and on drift within the table."""
    time = time_column(features, design_columns.get("time"))
    proposed, drift = proposals(features, target, sample, rng, time)
    proposed = [proposal for proposal in proposed if proposal.option not in design_columns]
    design_findings = [proposal.finding() for proposal in proposed]
    if time is not None and not time.starts_again:
        design_findings += drift_finding(drift, target.name, time.feature.name)
        design_findings += time_leaks(features, time.feature)
    elif not target.is_sorted:
        design_findings += drift_finding(drift, target.name, "")
    return proposed, design_findings


def _choose_plans(
    frame: Any, tidier: TableTidier, target: ExploredTarget, sample: np.ndarray
) -> list[Any]:
    plans = tidier.plans
    if len(plans) <= MAX_COLUMNS:
        return plans
    rows = sample[:2000]
    names = [plan.name for plan in plans]
    strength = quick_relations(frame.iloc[rows], names, target.take(rows))
    # A wide table has few non-numeric columns; they are all examined.
    strength += [1.0 if plan.has_levels or plan.kind == "date" else 0.0 for plan in plans]
    strength -= [0.0 if plan.used else 2.0 for plan in plans]
    best = np.sort(np.argsort(-strength, kind="stable")[:MAX_COLUMNS])
    return [plans[position] for position in best]


def _find_duplicates(
    frame: Any, target: Any, features: list[Feature], proposed: list[Proposal], weighted: bool
) -> tuple[int, list[Any]]:
    """Return the number of duplicate rows, and findings on them with and without identifiers and weights."""
    copies, conflicting = _count_copies(frame, target)
    duplicates = findings.duplicate_findings(copies, conflicting, len(frame), weighted)
    identifiers = [f.name for f in features if f.plan.reason == "identifier"]
    weights = [proposal.column for proposal in proposed if proposal.option == "weight"]
    ignored = [*identifiers, *weights]
    if ignored and len(ignored) < frame.shape[1]:
        more, conflicting = _count_copies(frame.drop(columns=ignored), target)
        if more > copies:
            duplicates += findings.near_duplicate_findings(
                more, conflicting, len(frame), ignored, bool(weights)
            )
    return copies, duplicates


def _count_copies(frame: Any, target: Any) -> tuple[int, int]:
    """Count the rows that repeat an earlier one, and the rows that are equal except for the target."""
    first_columns = frame.iloc[:, :_COMPARED_COLUMNS]
    hashes = _row_hashes(first_columns)
    suspects = _is_repeated(hashes)
    if not suspects.any():
        return 0, 0
    if frame.shape[1] > _COMPARED_COLUMNS:
        frame, target = frame[suspects], target[suspects]
        hashes = _row_hashes(frame)
        suspects = _is_repeated(hashes)
        if not suspects.any():
            return 0, 0
    labels = np.unique(np.asarray(target.tolist()), return_inverse=True)[1]
    hashes_with_target = hashes * np.uint64(0x9E3779B97F4A7C15) + labels.astype(np.uint64)
    copies = len(hashes_with_target) - len(np.unique(hashes_with_target))
    group = np.unique(hashes, return_inverse=True)[1]
    pairs = np.unique(np.column_stack([group, labels]), axis=0)
    has_several_targets = np.bincount(pairs[:, 0], minlength=group.max() + 1) > 1
    return int(copies), int(has_several_targets[group].sum())


def _row_hashes(frame: Any) -> np.ndarray:
    """Return a hash per row, the same for equal rows."""
    import pandas as pd

    try:
        hashes: np.ndarray = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # unhashable values such as lists
        hashes = pd.util.hash_pandas_object(frame.astype(str), index=False).to_numpy()
    return hashes


def _is_repeated(hashes: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    repeated: np.ndarray = counts[inverse] > 1
    return repeated


def _select_strongest_columns(
    features: list[Feature], columns: list[ColumnRecord], kinds: tuple[str, ...], max_columns: int
) -> list[Feature]:
    chosen = [
        (-(column["relation"] or 0.0), position)
        for position, (feature, column) in enumerate(zip(features, columns, strict=True))
        if feature.used and feature.kind in kinds and feature.distinct > 1
    ]
    return [
        features[position]
        for _, position in sorted(sorted(chosen)[:max_columns], key=lambda pair: pair[1])
    ]


def _record_correlations(
    features: list[Feature], columns: list[ColumnRecord], sample: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    numbers = _select_strongest_columns(features, columns, ("number", "date"), MAX_CORRELATED)
    if len(numbers) < 2:
        return {"names": [], "matrix": []}, np.zeros((0, 0))
    matrix = spearman([feature.take(sample) for feature in numbers])
    names = [feature.name for feature in numbers]
    return {"names": names, "matrix": [[round(float(v), 4) for v in row] for row in matrix]}, matrix


def _select_strongest_categories(
    features: list[Feature], columns: list[ColumnRecord], sample: np.ndarray
) -> list[Feature]:
    chosen = _select_strongest_columns(features, columns, ("category",), MAX_CATEGORIES)
    return [feature.take(sample) for feature in chosen]


def _find_drift(features: list[Feature], test: Any) -> list[Any]:
    names, _ = distinct_names([str(name) for name in test.columns])
    test = test.set_axis(names, axis=1)
    shared = [f for f in features if f.used and f.name in names]
    absent = [f.name for f in features if f.used and f.name not in names]
    return findings.missing_column_findings(absent) + drift_between(
        shared, [feature_of(f.plan, test[f.name]) for f in shared]
    )
