"""Files are whole or not there; devices and links stay what they are."""

import errno
import os
import stat
from pathlib import Path

import pytest

from bosquet import DecisionTreeClassifier
from bosquet._files import written_whole


def test_a_file_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")

    def write_half():
        with written_whole(path) as place:
            place.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert path.read_text() == "old"
    with written_whole(path) as place:
        place.write_text("new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


def test_an_error_names_the_path_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "model"
    with pytest.raises(FileNotFoundError) as caught, written_whole(path):
        pass
    assert caught.value.filename == str(path)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with written_whole(tmp_path / "link") as place:
        place.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_device_is_told_and_stays_a_device():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is what is asked
        model.save("/dev/full")
    assert caught.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
