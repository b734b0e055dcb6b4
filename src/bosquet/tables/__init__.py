"""Tables from files and frames: formats are detected, and columns are prepared for training.

>>> import io
>>> from bosquet.tables import read_table, tidy
>>> frame = read_table(io.BytesIO("name;height;born\\nAnn;1,71;3.2.1990\\nBob;1,8;14.7.1985\\n".encode()))
>>> frame["height"].tolist()
[1.71, 1.8]
>>> tidy(frame).frame.columns.tolist()
['name', 'height', 'born.year', 'born.month', 'born.day', 'born.weekday']
"""

from bosquet._lazy import lazy_getattr

_HOME = {
    "TableError": "bosquet.tables.errors",
    "TableModel": "bosquet.tables.model",
    "TableTidier": "bosquet.tables.tidying",
    "Tidied": "bosquet.tables.tidying",
    "read_table": "bosquet.tables.reading",
    "tidy": "bosquet.tables.tidying",
}

__all__ = ["TableError", "TableModel", "TableTidier", "Tidied", "read_table", "tidy"]

__getattr__ = lazy_getattr(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
