"""Files are written atomically; devices and links are kept."""

import errno
import os
import stat
from pathlib import Path

import pytest

from bosquet import DecisionTreeClassifier
from bosquet._files import atomic_write


def test_a_file_is_renamed_when_it_is_complete(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")

    def write_half():
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert path.read_text() == "old"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


def test_the_content_is_on_the_disk_before_the_name_and_the_name_before_the_return(
    tmp_path, monkeypatch
):
    events = []
    replace = os.replace

    def fsync(handle):
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda *names: (events.append("rename"), replace(*names)))
    DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "model")
    assert events == ["file", "rename", "folder"]


def test_a_folder_that_cannot_be_synced_is_ignored(tmp_path, monkeypatch):
    fsync = os.fsync

    def fail_for_folders(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not here")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", fail_for_folders)
    with atomic_write(tmp_path / "model") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "model").read_text() == "new"


def test_an_error_names_the_given_path(tmp_path):
    path = tmp_path / "nowhere" / "model"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def replaced(path, text="new"):
    with atomic_write(path) as temporary:
        during = stat.S_IMODE(temporary.stat().st_mode)
        temporary.write_text(text)
    assert path.read_text() == text
    return during


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(mode)
    during = replaced(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert during == 0o600  # it is not readable by others while it is written


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_follows_the_umask_which_is_never_changed(tmp_path, mask, monkeypatch):
    old = os.umask(mask)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(
                os, "umask", None
            )  # the umask is per process: another thread would see it
            replaced(tmp_path / "model")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o666 & ~mask


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_file_that_is_replaced_keeps_its_owner_and_group(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    replaced(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o640)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_new_group_gets_only_the_permissions_of_others(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    path.chmod(0o664)

    def fail(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", fail)
    replaced(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_device_raises_an_error_and_stays_a_device():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the error number is checked
        model.save("/dev/full")
    assert caught.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
