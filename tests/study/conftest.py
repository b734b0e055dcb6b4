"""One browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_reader import Reader, opened


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with opened(tmp_path_factory.mktemp("pages")) as reader:
        yield reader
