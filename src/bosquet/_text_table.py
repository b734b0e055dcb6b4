"""Tables as text, with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def text_table(
    rows: Sequence[Sequence[str]], left: Collection[int] = (0,), gap: str = "  "
) -> list[str]:
    """Return one line of text per row, with cells padded to the width of their column.

    Columns whose index is in `left` are aligned to the left, the others to the right.

    >>> print("\\n".join(text_table([["tree", "leaves"], ["CART", "7"]])))
    tree  leaves
    CART       7
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
