"""The user's files: written whole or not at all, and opened only if they are files.

New content goes into a temporary file in the same folder, which takes the place of the old file by renaming once
everything has reached the disk. A full disk, an error or a kill therefore leaves the old file as it was.

A writer holds a lock on its temporary file. The system releases the lock when the process dies, however it dies, so
`remove_abandoned` can tell what a killed writer left behind from what somebody is writing now.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kinetree.errors import DTypeError, OptionError, SaveError

if sys.platform != "win32":
    import fcntl

__all__ = ["check_target", "create_locked", "file_path", "open_regular", "reason", "remove_abandoned", "write_file"]

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_STALE = 3600.0
"""Seconds after which a temporary file counts as abandoned where the system knows no locks."""
_NAME_SHOWN = 40
"""Characters of the target's name in that of a temporary file: a name may be as long as the system allows already."""
_WRITERS = 100
"""How many may write the same file at once."""


def file_path(function: str, path: object, ending: str = "") -> Path:
    """The path of a file that a user named, with `ending` appended if it is not there.

    Raises `DTypeError` if it is no path, so that 0 or True is not taken for an open file, and `OptionError` if there is
    no name to append to.
    """
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise DTypeError(f"{function} takes the path of a file, not {type(path).__name__}")
    result = Path(name)
    if result.suffix == ending or not ending:
        return result
    if not result.name:
        raise OptionError(f"{function} takes the path of a file, but {name!r} names none")
    return result.with_name(result.name + ending)


def reason(error: Exception) -> str:
    """What the system says about an error, without number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; folders, pipes (which would block) and devices are refused with an `OSError`."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "this is a folder" if stat.S_ISDIR(mode) else "this is not a regular file")
    return open(path, "rb")


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Give a file the content that `write` puts into the binary file it is called with.

    If anything goes wrong, or the process is killed, the file that was there stays as it was, and no new one appears.
    The mode of an existing file is kept, and a link is followed to the file that it leads to. Pipes, devices and
    standard output hold nothing that could be lost, and are written directly.

    Raises `SaveError`, which names the file, if it cannot be written. Missing folders are not made.
    """
    try:
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
    """Create a file that must not exist yet, and lock it; the descriptor to write to.

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
        # Between creation and lock somebody took it for abandoned, and is removing it.
        os.close(file)


def remove_abandoned(path: str) -> bool:
    """Remove a file made by `create_locked` if its writer is dead; whether it was removed."""
    try:
        found = os.stat(path, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            return False
        file = os.open(path, os.O_RDWR | _FLAGS)
        try:
            is_dead = _lock(file)
            if is_dead is None:
                is_dead = time.time() - found.st_mtime > _STALE
            if is_dead:
                os.unlink(path)
            return is_dead
        finally:
            os.close(file)
    except OSError:
        return False


def _lock(file: int) -> bool | None:
    """Whether the lock of a file could be had; None where there are no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _target(path: Path) -> str | None:
    """The regular file to replace, existing or not, at the end of all links; None for what is written directly."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise OSError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}; make the folder {folder} first") from None
        return target
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "this is a folder")
    if not stat.S_ISREG(mode) or _is_open_file(str(path)):
        return None
    if not os.access(path, os.W_OK):
        # Renaming asks only for the rights of the folder, and must not get round the protection of the file.
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return os.path.realpath(path)


def _is_open_file(path: str) -> bool:
    """Whether a path leads to an open file of a process, as /dev/stdout does: no other file can take its place."""
    for _ in range(40):  # more links in a row are an error to the system
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
    """A locked temporary file in the folder of the target, under a name that finds what earlier writers left there."""
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
    """Give a file the owner and the mode of the one it replaces, as far as the system lets us."""
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
