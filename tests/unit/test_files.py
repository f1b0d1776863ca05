"""Files of the user's: whatever goes wrong while one is written, the old one stays."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.errors import visible
from kinetree.files import (
    check_target,
    create_locked,
    file_path,
    open_regular,
    read_regular,
    remove_abandoned,
    write_file,
)
from kinetree.sim import plot

posix = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such files")

ROBOT = kt.zoo.load("double_pendulum")
MOTION = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.01)


def quickly_drawn(path: Path) -> Path:
    """How a picture is drawn does not matter here, and takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", lambda _, file, **__: file.write(b"a picture" * 1000))
        return plot(MOTION, path)


SAVES: dict[str, Callable[[Path], object]] = {
    "run.npz": MOTION.save,
    "run.json": lambda path: kt.save(ROBOT, path),
    "run.png": quickly_drawn,
}


def failing(error: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    return fail


class Disk(io.FileIO):
    """A file that takes `room` writes, and half of the next one."""

    room = 0
    is_full = False

    def write(self, data: object, /) -> int:
        data = bytes(data)  # type: ignore[call-overload]
        Disk.room -= 1
        if Disk.room < 0:
            Disk.is_full = True
            super().write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("name", SAVES)
def test_a_disk_that_is_full_at_any_write_leaves_the_old_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(b"good")
    monkeypatch.setattr("kinetree.files.os.fdopen", Disk)
    for room in range(1000):
        Disk.room, Disk.is_full = room, False
        try:
            SAVES[name](path)
        except kt.errors.SaveError as error:
            said = str(error)
        else:
            break
        assert said == f"{path}: cannot be written: No space left on device"
        assert path.read_bytes() == b"good"
        assert os.listdir(tmp_path) == [name]
    assert not Disk.is_full
    assert room >= 1
    assert path.read_bytes() != b"good"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", SAVES)
@pytest.mark.parametrize("function", ["fsync", "replace", "fdopen"])
def test_any_step_that_fails_leaves_the_old_file(
    name: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(b"good")
    with monkeypatch.context() as patch:
        patch.setattr(f"kinetree.files.os.{function}", failing(errno.EIO))
        with pytest.raises(kt.errors.SaveError, match=rf"{name}: cannot be written: Input/output error"):
            SAVES[name](path)
    assert path.read_bytes() == b"good"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", SAVES)
def test_a_new_file_that_cannot_be_finished_does_not_appear(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetree.files.os.fsync", failing(errno.ENOSPC))
    with pytest.raises(kt.errors.SaveError, match="No space left on device"):
        SAVES[name](tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_an_interruption_leaves_the_old_file(tmp_path: Path) -> None:
    def interrupted(file: io.BufferedIOBase) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    path = tmp_path / "x"
    path.write_bytes(b"good")
    with pytest.raises(KeyboardInterrupt):
        write_file(path, interrupted)  # type: ignore[arg-type]
    assert path.read_bytes() == b"good"
    assert os.listdir(tmp_path) == ["x"]


KILLS = """
import io, os, resource, signal, sys
import kinetree as kt
from kinetree.sim import plot
from matplotlib.figure import Figure

Figure.savefig = lambda self, file, **_: file.write(b"a picture" * 1000)
os.chdir(sys.argv[1])
robot = kt.zoo.load("double_pendulum")
motion = kt.simulate(robot, duration=0.01)
saves = {"run.npz": motion.save}
saves |= {"run.json": lambda path: kt.save(robot, path), "run.png": lambda path: plot(motion, path)}

class Deadly(io.FileIO):
    room = 0

    def write(self, data):
        Deadly.room -= 1
        if Deadly.room == 0:
            super().write(bytes(data)[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(data)

def in_child(work):
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1]

for name, save in saves.items():
    def killed_at_write(room):
        os.fdopen, Deadly.room = Deadly, room
        save(name)

    def killed_at_sync():
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        save(name)

    def too_large():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        try:
            save(name)
        except kt.errors.SaveError as error:
            assert "cannot be written: File too large" in str(error), error
        else:
            os._exit(1)

    with open(name, "wb") as file:
        file.write(b"good")
    kills = [lambda room=room: killed_at_write(room) for room in ((1, 5, 50) if name == "run.npz" else (1,))]
    for work in (*kills, killed_at_sync, too_large):
        status = in_child(work)
        assert status == (0 if work is too_large else signal.SIGKILL), (name, status)
        assert open(name, "rb").read() == b"good", name
        left = sorted(set(os.listdir()) - set(saves))
        assert left == ([] if work is too_large else [f".{name}.kinetree-0.tmp"]), left
    save(name)
    assert open(name, "rb").read() != b"good", name
    assert not [left for left in os.listdir() if left.startswith(".")], name
print("the old files stayed")
"""


@posix
def test_a_process_killed_while_it_saves_leaves_the_old_file_and_the_next_save_tidies_up(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == ("the old files stayed\n", "")
    assert kt.Trajectory.load(tmp_path / "run.npz").robot == "double_pendulum"
    assert kt.load(tmp_path / "run.json") == ROBOT


def test_two_that_write_the_same_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "x"

    def slow(file: io.BufferedIOBase) -> None:
        file.write(b"sl")
        write_file(path, lambda other: other.write(b"quick"))
        assert path.read_bytes() == b"quick"
        file.write(b"ow")

    write_file(path, slow)  # type: ignore[arg-type]
    assert path.read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["x"]


# -- what a plain file would be like


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_usual_rights(mask: int, tmp_path: Path) -> None:
    old = os.umask(mask)
    try:
        write_file(tmp_path / "x", lambda file: file.write(b"1"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_an_old_file_keeps_its_rights(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    path.chmod(mode)
    write_file(path, lambda file: file.write(b"1"))
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"good")
    monkeypatch.setattr("kinetree.files.os.access", lambda *_: False)  # for root every file is writable
    with pytest.raises(kt.errors.SaveError, match=r"x: cannot be written: Permission denied"):
        write_file(path, lambda file: file.write(b"1"))
    assert path.read_bytes() == b"good"


@posix
def test_a_folder_that_takes_no_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, message = tmp_path / "x", rf"Permission denied: no new file can be made in the folder {tmp_path}$"
    path.write_bytes(b"good")
    with monkeypatch.context() as patch:
        patch.setattr("kinetree.files.os.open", failing(errno.EACCES))
        with pytest.raises(kt.errors.SaveError, match=message):
            write_file(path, lambda file: file.write(b"1"))
    with monkeypatch.context() as patch:
        patch.setattr("kinetree.files.os.access", lambda name, _: os.fspath(name) != str(tmp_path))
        with pytest.raises(kt.errors.SaveError, match=message):
            check_target(path)
    assert path.read_bytes() == b"good"


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to(Path("elsewhere") / "target")
    write_file(link, lambda file: file.write(b"new"))
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_names_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_file(path, lambda file: file.write(b"1"))
    assert path.read_bytes() == b"1"


@posix
def test_a_pipe_gets_what_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe.npz", bytearray()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.extend(pipe.read_bytes()))
    reader.start()
    MOTION.save(pipe)
    reader.join()
    (tmp_path / "copy.npz").write_bytes(got)
    assert kt.Trajectory.load(tmp_path / "copy.npz").time.tolist() == MOTION.time.tolist()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere open files have other names")
def test_an_open_file_is_written_itself_and_not_replaced(tmp_path: Path) -> None:
    with open(tmp_path / "output", "wb") as output:
        (tmp_path / "link").symlink_to(f"/dev/fd/{output.fileno()}")
        write_file(tmp_path / "link", lambda file: file.write(b"here"))
        assert os.fstat(output.fileno()).st_nlink == 1
        assert os.fstat(output.fileno()).st_size == 4


# -- what cannot be written at all


@pytest.mark.parametrize("check", [check_target, lambda path: write_file(path, lambda file: file.write(b"1"))])
def test_what_is_wrong_is_said_and_nothing_made(check: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    missing = tmp_path / "no" / "such"
    for path, message in (
        (missing / "x", f"No such file or directory; make the folder {missing} first"),
        (tmp_path / "folder", "this is a folder"),
        (tmp_path / "file" / "x", "Not a directory"),
        (tmp_path / "a\0b", "no file can have this name"),
    ):
        with pytest.raises(kt.errors.SaveError) as caught:
            check(path)
        assert str(caught.value) == visible(f"{path}: cannot be written: {message}")
        assert isinstance(caught.value, OSError)
        assert caught.value.errno
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    for path in (0, True, None, b"x", 1.5):
        for save in (*SAVES.values(), kt.Trajectory.load):
            with pytest.raises(kt.errors.DTypeError, match=rf"takes the path of a file, not {type(path).__name__}"):
                save(path)  # type: ignore[arg-type]
    for name in ("", "/"):
        with pytest.raises(kt.errors.OptionError, match=f"save takes the path of a file, but '{name}' names none"):
            MOTION.save(name)
    assert file_path("save", tmp_path / "a.b", ".npz") == tmp_path / "a.b.npz"


@pytest.mark.parametrize("name", ["log.json", "log.h5", "log.CSV", "log.mp4", "log.v1.parquet"])
def test_a_name_that_promises_another_format_is_refused(tmp_path: Path, name: str) -> None:
    for save in (MOTION.strip, MOTION.save_html, MOTION.snapshot().save):
        with pytest.raises(
            kt.errors.OptionError, match=r"writes \.\w+ files, and 'log.* ends like another format; call it 'log"
        ):
            save(tmp_path / name)
    if name != "log.CSV":
        with pytest.raises(kt.errors.OptionError, match=r"save writes \.npz files"):
            MOTION.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# -- what was left behind


@posix
def test_only_what_a_dead_writer_left_is_removed(tmp_path: Path) -> None:
    mine, dead = str(tmp_path / "mine"), tmp_path / "dead"
    file = create_locked(mine, 0o600)
    with pytest.raises(FileExistsError):
        create_locked(mine, 0o600)
    assert not remove_abandoned(mine)
    os.close(file)
    dead.touch()
    assert remove_abandoned(str(dead))
    assert remove_abandoned(mine)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "link", "pipe", "nothing"):
        assert not remove_abandoned(str(tmp_path / name))
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "pipe"]


@posix
def test_without_locks_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.files.fcntl.flock", failing(errno.ENOLCK))
    path = tmp_path / "x"
    os.close(create_locked(str(path), 0o600))
    assert not remove_abandoned(str(path))
    os.utime(path, (0, 0))
    assert remove_abandoned(str(path))


@posix
def test_only_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in ((tmp_path, "this is a folder"), (tmp_path / "pipe", "not a regular file")):
        with pytest.raises(OSError, match=message):
            open_regular(path)


def test_a_small_file_takes_little_memory_whatever_its_limit(tmp_path: Path) -> None:
    (tmp_path / "small.stl").write_bytes(b"solid" * 1000)
    tracemalloc.start()
    assert read_regular(tmp_path / "small.stl", 2**30) == b"solid" * 1000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    for size in (0, 1, 99_999, 100_000):
        (tmp_path / "file").write_bytes(b"x" * size)
        assert read_regular(tmp_path / "file", 100_000) == b"x" * size
    (tmp_path / "file").write_bytes(b"x" * 100_001)
    with pytest.raises(OSError, match="the file is larger than"):
        read_regular(tmp_path / "file", 100_000)
    if sys.platform == "linux":  # says that it is empty
        assert read_regular(Path("/proc/self/status"), 2**20).startswith(b"Name:")
