"""Access to the user's files: they are written completely or not at all, and only regular files are opened.

New content goes into a temporary file in the same folder, which is renamed over the old file once everything has
reached the disk. A full disk, an error or a kill therefore leaves the old file unchanged.

A writer holds a lock on its temporary file. The system releases the lock when the process dies, however it dies, so
`remove_abandoned` can distinguish the leftovers of a killed writer from a file that is being written. On Windows an
open file is its own lock.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from kinetree.errors import DTypeError, OptionError, SaveError

if sys.platform != "win32":
    import fcntl

__all__ = [
    "check_target",
    "create_locked",
    "file_path",
    "open_regular",
    "read_at_most",
    "read_json",
    "read_regular",
    "reason",
    "remove_abandoned",
    "write_file",
]

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_STALE = 3600.0
"""Seconds after which a temporary file counts as abandoned where the system has no locks."""
_CLOSED = 2.0
"""Seconds after which a file that nobody has open counts as abandoned on Windows: a writer there closes its file before
it renames it."""
_NAME_SHOWN = 40
"""Characters of the target's name used in a temporary file's, as the target's may already have the maximum length."""
_PROMISES = frozenset((
    ".npz", ".npy", ".csv", ".tsv", ".txt", ".json", ".yaml", ".yml", ".toml", ".xml", ".urdf", ".sdf", ".parquet",
    ".feather", ".h5", ".hdf5", ".nc", ".zarr", ".mat", ".xls", ".xlsx", ".pkl", ".pickle", ".zip", ".gz", ".bag",
    ".db3", ".mcap", ".html", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".pdf", ".eps",
    ".mp4",
))  # fmt: skip
"""Endings that promise a format, so that no other is appended to them; any other ending belongs to the name."""
_WRITERS = 100
"""Maximum number of simultaneous writers of one file."""


def file_path(function: str, path: object, ending: str = "", *, what: str = "file") -> Path:
    """The path of a file, or of `what` else, named by the user, with `ending` appended if it is missing.

    Raises `DTypeError` if it is not a path, so that 0 or True is not taken for an open file, and `OptionError` if it
    has no name to append to, or if the name ends like a file of another format.
    """
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise DTypeError(f"{function} takes the path of a {what}, not {type(path).__name__}")
    result = Path(name)
    if result.suffix == ending or not ending:
        return result
    if not result.name:
        raise OptionError(f"{function} takes the path of a file, but {name!r} names none")
    if result.suffix.lower() in _PROMISES:
        raise OptionError(
            f"{function} writes {ending} files, and {result.name!r} ends like another format; call it "
            f"{result.with_suffix(ending).name!r}"
        )
    return result.with_name(result.name + ending)


def reason(error: Exception) -> str:
    """The system's description of an error, without its number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; folders, pipes (which would block) and devices are rejected with an `OSError`."""
    mode = _stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "this is a folder" if stat.S_ISDIR(mode) else "this is not a regular file")
    return open(path, "rb")


def _stat(path: Path) -> os.stat_result:
    try:
        return os.stat(path)
    except ValueError:  # its words differ between versions of Python
        raise OSError(errno.EINVAL, "no file can have this name") from None


def read_regular(path: Path, most: int) -> bytes:
    """The contents of a file of at most `most` bytes. Raises `OSError` as `open_regular` does, and for a larger one."""
    with open_regular(path) as file:
        content = read_at_most(file, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"the file is larger than {most / 2**20:g} MiB, the limit for such a file")
    return content


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """The first `most` bytes of a file, or all; memory is taken only for those that it has."""
    pieces, room = [], most
    while room and (piece := file.read(min(room, os.fstat(file.fileno()).st_size + _PIECE))):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


_PIECE = 2**16
"""Bytes that are read of files that say they are empty, as those of /proc do, or that grow meanwhile."""


def read_json(path: Path, most: int = 2**24) -> Any:
    """Read a JSON file of at most `most` bytes. Raises `OSError` as `read_regular` does, and `ValueError`."""
    try:
        return json.loads(read_regular(path, most).decode("utf-8"))
    except RecursionError:
        raise ValueError("its lists are nested too deeply") from None


def write_file(path: Path, write: Callable[[BinaryIO], object], *, within: Path | None = None) -> None:
    """Write a file; `write` puts its content into the binary stream it is called with.

    If anything goes wrong or the process is killed, an existing file is unchanged and no new one appears. An existing
    file keeps its mode, and links are followed. Pipes, devices and standard output have no content that could be lost,
    and are written directly.

    Raises `SaveError`, which names the file, if it cannot be written. Missing folders are not created.

    A path that a user names may be a link, and the file that it leads to is written. With `within`, the folder of a
    study or motion, the program chose the names below it, and the folder may come from somebody else: a link below it
    is an error, and missing folders there are created.
    """
    try:
        if within is not None:
            _make_own_folders(path, within)
        target = _target(path)
        if target is None:
            with open(path, "wb") as stream:
                write(stream)
        else:
            _replace(target, write)
    except OSError as error:
        raise _save_error(path, error) from error


def check_target(path: Path) -> None:
    """Raise the `SaveError` that `write_file` would, as far as that is known before writing."""
    try:
        target = _target(path)
        if target is not None:
            folder = os.path.dirname(target)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise _closed_folder(folder)
    except OSError as error:
        raise _save_error(path, error) from error


def create_locked(path: str, mode: int) -> int:
    """Create a file that must not exist yet, lock it, and return the descriptor to write to.

    The lock ends when the descriptor is closed. Raises `OSError`.
    """
    while True:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, mode)
        try:
            if _lock(file) is not False and os.fstat(file).st_nlink:
                return file
        except BaseException:
            os.close(file)
            with suppress(OSError):
                os.unlink(path)
            raise
        # Between creation and locking, another process took it for abandoned and is removing it.
        os.close(file)


def remove_abandoned(path: str) -> bool:
    """Remove a file made by `create_locked` if its writer is dead, and return whether it was removed."""
    try:
        state = os.stat(path, follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            return False
        if sys.platform == "win32":
            if is_old := time.time() - state.st_mtime > _CLOSED:
                os.unlink(path)  # an error if its writer lives: an open file cannot be removed
            return is_old
        file = os.open(path, os.O_RDWR | _FLAGS)
        try:
            is_dead = _lock(file)
            if is_dead is None:
                is_dead = time.time() - state.st_mtime > _STALE
            if is_dead:
                os.unlink(path)
            return is_dead
        finally:
            os.close(file)
    except OSError:
        return False


def _lock(file: int) -> bool | None:
    """Try to lock a file, and return whether that succeeded; None on systems without locks."""
    if sys.platform != "win32":
        with suppress(OSError):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
    return None


def _target(path: Path) -> str | None:
    """The regular file to replace, existing or not, with links followed; None for a path that is written directly."""
    try:
        mode = _stat(path).st_mode
    except FileNotFoundError:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            if os.path.exists(folder):  # on Windows a file below a file is missing, like any other
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            raise OSError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}; make the folder {folder} first") from None
        return target
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "this is a folder")
    if not stat.S_ISREG(mode) or _is_open_file(str(path)):
        return None
    if not os.access(path, os.W_OK):
        # Renaming requires only write access to the folder, and must not bypass the file's own protection.
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return os.path.realpath(path)


def _make_own_folders(path: Path, within: Path) -> None:
    """Make the folders between a folder and a file in it. Raises `OSError` if one of them, or the file, is a link."""
    place = within
    for part in path.relative_to(within).parts:
        if place is not within:
            os.makedirs(place, exist_ok=True)
        place = place / part
        if place.is_symlink():
            raise OSError(errno.ELOOP, f"{place} is a link, which would be written through; remove it")


def _is_open_file(path: str) -> bool:
    """Whether a path leads to an open file of a process, as /dev/stdout does: it cannot be replaced."""
    for _ in range(40):  # the system refuses longer chains of links
        folder = os.path.realpath(os.path.dirname(path))
        if re.fullmatch(r"/dev/fd|/proc/\d+(/task/\d+)?/fd", folder):
            return True
        path = os.path.join(folder, os.path.basename(path))
        if not os.path.islink(path):
            return False
        path = os.path.join(folder, os.readlink(path))
    return False


def _replace(target: str, write: Callable[[BinaryIO], object]) -> None:
    file, temporary = _create_beside(target)
    try:
        with os.fdopen(file, "wb") as stream:
            write(stream)
            stream.flush()
            _take_after(target, file)
            os.fsync(file)
            if sys.platform != "win32":
                os.replace(temporary, target)  # while the file is locked
        if sys.platform == "win32":
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _create_beside(target: str) -> tuple[int, str]:
    """Create a locked temporary file next to the target, removing any that a dead writer left under the same name."""
    folder, name = os.path.split(target)
    for k in range(_WRITERS):
        temporary = os.path.join(folder, f".{name[:_NAME_SHOWN]}.kinetree-{k}.tmp")
        remove_abandoned(temporary)
        try:
            return create_locked(temporary, 0o666), temporary
        except FileExistsError:
            continue
        except PermissionError as error:
            raise _closed_folder(folder) from error
    raise OSError(errno.EEXIST, f"{_WRITERS} others are writing it: remove .*.kinetree-*.tmp in {folder}")


def _take_after(target: str, file: int) -> None:
    """Give a file the owner and the mode of the one it replaces, as far as the system permits."""
    if sys.platform == "win32":
        return
    try:
        old, new = os.stat(target), os.fstat(file)
    except FileNotFoundError:
        return
    with suppress(OSError):
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(file, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.fchmod(file, stat.S_IMODE(old.st_mode))


def _closed_folder(folder: str) -> OSError:
    return OSError(errno.EACCES, f"{os.strerror(errno.EACCES)}: no new file can be made in the folder {folder}")


def _save_error(path: Path, error: OSError) -> SaveError:
    failure = SaveError(f"{path}: cannot be written: {reason(error)}")
    failure.errno = error.errno
    return failure
