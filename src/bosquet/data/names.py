"""Feature names: which a table has, and whether they are those of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from bosquet._warnings import warn_user

_SHOWN = 5


def names_of(labels: Sequence[Hashable] | None) -> list[str] | None:
    """Column labels as feature names: None unless they are strings, each of them once."""
    if labels is None:
        return None
    kinds = set(map(type, labels))
    if kinds != {str}:
        texts = [issubclass(kind, str) for kind in kinds]
        if not any(texts):
            return None
        if not all(texts):
            found = sorted(kind.__name__ for kind in kinds)
            raise TypeError(
                "Feature names are only supported if all input features have string names, but "
                f"X has column names of types {found}. X.columns = X.columns.astype(str) makes "
                "strings of them all."
            )
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"Feature names must differ, but X has these more than once: {repeated}.")
    return names


def check_names(fitted: list[str] | None, given: list[str] | None, owner: str) -> None:
    """Raises where names differ; warns where only one side has any."""
    if fitted == given:
        return
    if given is None:
        message = f"X does not have valid feature names, but {owner} was fitted with feature names"
        warn_user(message)
    elif fitted is None:
        message = f"X has feature names, but {owner} was fitted without feature names"
        warn_user(message)
    else:
        raise ValueError(_difference(fitted, given))


def _difference(fitted: list[str], given: list[str]) -> str:
    # scikit-learn's words, which its users know and its own checks look for.
    message = "The feature names should match those that were passed during fit.\n"
    unexpected = sorted(set(given) - set(fitted))
    missing = sorted(set(fitted) - set(given))
    if unexpected:
        message += "Feature names unseen at fit time:\n" + _bullets(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _bullets(names: Iterable[str]) -> str:
    lines = [f"- {name}\n" for name in names]
    return "".join(lines[:_SHOWN]) + ("- ...\n" if len(lines) > _SHOWN else "")
