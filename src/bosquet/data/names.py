"""Feature names of a table, and their comparison with those of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from bosquet._warnings import warn_user

_MAX_SHOWN = 5


def feature_names_from(labels: Sequence[Hashable] | None) -> list[str] | None:
    """Return column labels as feature names, None if they are not strings; raise an error for duplicates."""
    if labels is None:
        return None
    kinds = set(map(type, labels))
    if kinds != {str}:
        texts = [issubclass(kind, str) for kind in kinds]
        if not any(texts):
            return None
        if not all(texts):
            type_names = sorted(kind.__name__ for kind in kinds)
            raise TypeError(
                "Feature names are only supported if all input features have string names, but X has"
                f" column names of types {type_names}. Convert them with X.columns = X.columns.astype(str)"
            )
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(
            f"Feature names must be unique, but X has duplicates: {repeated}; rename or drop these columns"
        )
    return names


def check_names(fitted: list[str] | None, table_names: list[str] | None, owner: str) -> None:
    """Raise a ValueError if the names differ; warn if only one of the two tables has names."""
    if fitted == table_names:
        return
    if table_names is None:
        message = f"X does not have valid feature names, but {owner} was fitted with feature names"
        warn_user(message)
    elif fitted is None:
        message = f"X has feature names, but {owner} was fitted without feature names"
        warn_user(message)
    else:
        raise ValueError(_difference_message(fitted, table_names))


def _difference_message(fitted: list[str], table_names: list[str]) -> str:
    # The wording of scikit-learn, which its estimator checks expect.
    message = "The feature names should match those that were passed during fit.\n"
    unexpected = sorted(set(table_names) - set(fitted))
    missing = sorted(set(fitted) - set(table_names))
    if unexpected:
        message += "Feature names unseen at fit time:\n" + _bullet_list(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullet_list(missing)
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _bullet_list(names: Iterable[str]) -> str:
    lines = [f"- {name}\n" for name in names]
    return "".join(lines[:_MAX_SHOWN]) + ("- ...\n" if len(lines) > _MAX_SHOWN else "")
