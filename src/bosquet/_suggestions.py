"""Suggestions for misspelled names in error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Names that are less similar than this are not suggested: "slope" for "nope" would be a guess.
MIN_SIMILARITY = 0.75
MIN_SUBSTRING = 4  # a shorter name is not matched as a part of a longer one
MAX_SHOWN = 8
MAX_LABELS = 6  # class labels listed in a message


def nearest(wrong_name: str, names_available: Iterable[str]) -> str | None:
    """Return the known name that was most likely meant, or None.

    A name matches if it differs from `wrong_name` only in case and punctuation, or by a typing error, or if
    it is the only one that contains `wrong_name` or has it as initials.

    Examples
    --------
    >>> from bosquet._suggestions import nearest
    >>> methods = ["cart", "knn", "random-forest", "gradient-boosting"]
    >>> nearest("cartt", methods), nearest("Random Forest", methods), nearest("boosting", methods)
    ('cart', 'random-forest', 'gradient-boosting')
    >>> nearest("rf", methods)
    'random-forest'
    >>> nearest("nope", ["slope", "one", "price"]) is None
    True
    """
    from difflib import SequenceMatcher

    names = list(dict.fromkeys(map(str, names_available)))
    normalised = _normalised_name(wrong_name)
    if not normalised:
        return None
    same = [name for name in names if _normalised_name(name) == normalised]
    if same:
        return same[0]
    if len(normalised) >= 3:
        matcher = SequenceMatcher(None, "", normalised, autojunk=False)
        scored = []
        for name in names:
            matcher.set_seq1(_normalised_name(name))
            if matcher.quick_ratio() >= MIN_SIMILARITY:
                scored.append((matcher.ratio(), name))
        best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
        if best[0] >= MIN_SIMILARITY:
            return best[1]
    containing = [
        name
        for name in names
        if len(normalised) >= MIN_SUBSTRING and normalised in _normalised_name(name)
    ]
    by_initials = [name for name in names if len(normalised) > 1 and _initials(name) == normalised]
    candidates = containing or by_initials
    return candidates[0] if len(candidates) == 1 else None


def hint(wrong_name: str, names_available: Iterable[str], max_shown: int = MAX_SHOWN) -> str:
    """Return the end of an error message: the closest known name, or the first `max_shown` known names."""
    names = list(dict.fromkeys(map(str, names_available)))
    near = nearest(wrong_name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    more = f" and {len(names) - max_shown} more" if len(names) > max_shown else ""
    return f"available: {', '.join(map(repr, names[:max_shown]))}{more}"


def first_names(names: Iterable[object], max_shown: int = MAX_LABELS) -> str:
    """Return the first `max_shown` names or labels and the number of the others.

    Examples
    --------
    >>> from bosquet._suggestions import first_names
    >>> first_names(["a", "b"]), first_names(range(8))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5 and 2 more')
    """
    values = list(names)
    # A scalar of NumPy is shown as the number or the text that it is.
    listed = [value.item() if hasattr(value, "item") else value for value in values[:max_shown]]
    more = f" and {len(values) - max_shown} more" if len(values) > max_shown else ""
    return ", ".join(map(repr, listed)) + more


def with_article(name: str) -> str:
    """Return the name of a type or a kind after "a" or "an".

    Examples
    --------
    >>> from bosquet._suggestions import with_article
    >>> with_article("int"), with_article("dict"), with_article("AdaBoostClassifier")
    ('an int', 'a dict', 'an AdaBoostClassifier')
    >>> with_article("uint8"), with_article("SVC"), with_article("ndarray")
    ('a uint8', 'an SVC', 'an ndarray')
    """
    if re.match(r"[A-Z](?![a-z])", name):  # an abbreviation: its first letter is spelled
        vowel = name[0] in "AEFHILMNORSX"
    else:
        vowel = bool(re.match(r"(?i)(?!eu|one)[aeio]|u(?!ni|int)|nd", name))
    return f"{'an' if vowel else 'a'} {name}"


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\W_]+", name.casefold()) if word)


def _normalised_name(name: str) -> str:
    """Return the name in lower case, without punctuation."""
    return re.sub(r"[\W_]+", "", str(name).casefold())
