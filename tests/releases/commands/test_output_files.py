"""What a command writes: inputs and databases are refused under every name, and a file is replaced as a whole."""

import os
import resource
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.releases.output import require_output, write_output


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("rain\nyes\n")
    return path


def test_an_input_is_refused_by_its_name_a_link_and_a_hard_link(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data)
    os.link(data, tmp_path / "hard")
    (tmp_path / "sub").mkdir()
    for name in ("data.csv", "sub/../data.csv", "link", "hard"):
        with pytest.raises(InputError, match="which this command reads"):
            require_output(tmp_path / name, [data], force=True)
    require_output(tmp_path / "other.csv", [data], force=True)


def test_an_input_that_is_not_there_yet_and_what_sqlite_keeps_beside_it_are_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.sqlite-journal"):
        with pytest.raises(InputError, match="which this command reads"):
            require_output(tmp_path / name, [ledger], force=True)


def test_a_file_in_a_folder_that_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "parts" / "year").mkdir(parents=True)
    with pytest.raises(InputError, match="is inside"):
        require_output(tmp_path / "parts" / "year" / "release.json", [tmp_path / "parts"], force=True)
    require_output(tmp_path / "parts.json", [tmp_path / "parts"], force=True)


def test_a_database_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "another.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError, match="is a database"):
        require_output(path, [], force=True)


def test_a_file_is_replaced_by_force_only(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data)
    for path in (data, tmp_path / "link"):
        with pytest.raises(InputError, match="exists already"):
            require_output(path, [], force=False)
        with pytest.raises(FileExistsError):
            write_output(path, b"new", force=False)
        require_output(path, [], force=True)
    assert data.read_text() == "rain\nyes\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "link"]
    (tmp_path / "later").symlink_to(tmp_path / "made")
    require_output(tmp_path / "later", [], force=False)
    write_output(tmp_path / "later", b"new", force=False)
    assert (tmp_path / "made").read_bytes() == b"new"


def test_a_folder_a_missing_folder_and_one_below_a_file_are_refused(data: Path, tmp_path: Path) -> None:
    for path, why in (
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "release.json", "No such file"),
        (data / "release.json", "Not a directory"),
    ):
        with pytest.raises(InputError, match=why):
            require_output(path, [], force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv"], "nothing is left of a probe"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        require_output(tmp_path / "release.json", [], force=True)


def test_a_disk_without_room_is_refused_before_and_leaves_the_former_file(data: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # no file may grow beyond: a write fails as on a full disk
    try:
        with pytest.raises(InputError, match="cannot be written: File too large"):
            require_output(tmp_path / "release.json", [], force=True)
        with pytest.raises(OSError, match="File too large"):
            write_output(data, bytes(5000), force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)
    assert data.read_text() == "rain\nyes\n"
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


def test_a_file_is_replaced_through_a_link_and_keeps_its_permissions(data: Path, tmp_path: Path) -> None:
    data.chmod(0o640)
    (tmp_path / "link").symlink_to(data)
    os.link(data, tmp_path / "former")
    write_output(tmp_path / "link", b"new", force=True)
    assert (tmp_path / "link").is_symlink()
    assert data.read_bytes() == b"new"
    assert stat.S_IMODE(data.stat().st_mode) == 0o640
    assert (tmp_path / "former").read_text() == "rain\nyes\n", "the former file was not written into"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    write_output(tmp_path / "ours", b"x", force=False)
    (tmp_path / "usual").write_bytes(b"x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "usual")]
    assert modes[0] == modes[1]


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a device or a pipe"):
        require_output(tmp_path / "pipe", [], force=True)
