"""What a name that is not known may have been meant for."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Less alike than this, a suggestion is a guess: "nope" is not meant for "slope".
ALIKE = 0.75
FEWEST_LETTERS = 4  # of a name that stands for a longer one by being a part of it
SHOWN = 8


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant, None where none is near.

    Names are near that differ in capitals and marks alone, in a slip of the finger, or of which one, and
    only one, holds what was given or has it as initials.

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

    names = list(dict.fromkeys(map(str, known)))
    wanted = _bare(given)
    if not wanted:
        return None
    same = [name for name in names if _bare(name) == wanted]
    if same:
        return same[0]
    if len(wanted) >= 3:
        matcher = SequenceMatcher(None, "", wanted, autojunk=False)
        scored = []
        for name in names:
            matcher.set_seq1(_bare(name))
            if matcher.quick_ratio() >= ALIKE:
                scored.append((matcher.ratio(), name))
        best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
        if best[0] >= ALIKE:
            return best[1]
    holding = [name for name in names if len(wanted) >= FEWEST_LETTERS and wanted in _bare(name)]
    short = [name for name in names if len(wanted) > 1 and _initials(name) == wanted]
    found = holding or short
    return found[0] if len(found) == 1 else None


def hint(given: str, known: Iterable[str], shown: int = SHOWN) -> str:
    """The end of an error's sentence: the name that was meant, or those that there are."""
    names = list(dict.fromkeys(map(str, known)))
    near = nearest(given, names)
    if near is not None:
        return f"did you mean {near!r}?"
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(map(repr, names[:shown]))}{more}"


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\W_]+", name.casefold()) if word)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", str(name).casefold())
