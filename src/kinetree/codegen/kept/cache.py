"""Machine code kept on disk, so that the next process need not trace and compile; and meshes, for they read slowly.

An entry is a file named by its key. It records its format, key, length and hash; an entry that does not match its
record is removed and never reaches the linker. Entries are written to a temporary file and renamed into place, so that
no reader sees half of one. Nothing here can make a call fail: if the disk fails, code is compiled as without a cache.

    KINETREE_CACHE        off, 0, no or false: no cache
    KINETREE_CACHE_DIR    the folder; otherwise the platform's folder for caches
    KINETREE_CACHE_SIZE   maximum size in megabytes, 512 by default

Decision 0013 explains the design.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from kinetree.files import create_locked, remove_abandoned

__all__ = [
    "Cache", "Claim", "Contents", "Settings", "claimed", "folder_problem", "found", "found_module", "keep",
    "keep_module", "kept", "kept_module", "remove", "settings", "user_cache",
]  # fmt: skip

_log = logging.getLogger("kinetree")

_MAGIC = b"kinetree"
_FORMAT = 1
_HEADER = struct.Struct("<8sI32sQ32s")
"""Magic, format, key, length of the code, its hash."""
Kind = Literal["code", "text", "hash", "mesh", "name", "trace"]
"""Machine code, the compressed text of a module that waits to be optimised, the hash of source files in a state that
the key identifies, a mesh that is ready to be drawn, the key of the machine code that a request was answered with, or
the form of a program's results."""
_COUNTED = ("code", "mesh")
_ENTRY = r"[0-9a-f]{64}\.(?:code|text|mesh|name|trace)"
_OTHER = r"[0-9a-f]{64}\.(?:hash|claim)|\.[0-9a-f]{64}\.\d+\.[0-9a-f]{16}\.tmp"
"""Hashes, claims, entries being written. Not compiled yet: a process that only reads has no use for these patterns."""
_STALE = 3600.0
"""Age in seconds from which a temporary file's writer is checked for being alive, even if there is room."""
_CLAIM = 300.0
"""Seconds after which a claim ends: its process may be stopped, or dead where files cannot be locked."""
_MEGABYTE = 1_000_000
_USUAL_LIMIT = 512
_LEFT_AFTER_TIDYING = 0.75
_WRITERS = 8
"""How many processes can write at once without exceeding the limit: each looks at the folder again after writing this
part of the room that it saw."""
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_OFF, _ON = ("off", "0", "no", "false"), ("", "on", "1", "yes", "true")


class Settings(NamedTuple):
    """The settings from the environment."""

    directory: Path | None
    """None if no folder can be determined; `off` says why."""
    limit: int
    """Bytes."""
    off: str
    """Why no cache is used, "" if one is."""
    mistake: str = ""
    """A sentence about a value that was not understood."""


class Contents(NamedTuple):
    """The number of entries, meshes among them, and the bytes taken by entries and leftovers of unfinished ones."""

    entries: int
    size: int


def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Location and maximum size of the user's cache, and whether it is on.

    >>> settings({"KINETREE_CACHE": "off", "HOME": "/home/ada"}).off
    "KINETREE_CACHE is 'off'"
    """
    env = os.environ if environment is None else environment
    directory, off = _directory(env)
    mistake = ""
    size = env.get("KINETREE_CACHE_SIZE", "").strip()
    limit = _USUAL_LIMIT * _MEGABYTE
    if size:
        try:
            limit = max(0, int(float(size) * _MEGABYTE))
        except (ValueError, OverflowError):
            mistake = f"KINETREE_CACHE_SIZE must be a number of megabytes, not {size!r}; {_USUAL_LIMIT} is taken"
    if limit == 0:
        off = f"KINETREE_CACHE_SIZE is {size!r}"
    switch = env.get("KINETREE_CACHE", "").strip()
    if switch.lower() in _OFF:
        off = f"KINETREE_CACHE is {switch!r}"
    elif switch.lower() not in _ON:
        off = f"KINETREE_CACHE is {switch!r}, which is neither on nor off"
        mistake = f"KINETREE_CACHE must be 'on' or 'off', not {switch!r}; 'off' is taken"
    return Settings(directory, limit, off, mistake)


def _directory(env: Mapping[str, str]) -> tuple[Path | None, str]:
    """The folder, or None and the reason."""
    if given := env.get("KINETREE_CACHE_DIR"):
        try:
            return Path(os.path.abspath(os.path.expanduser(given))), ""
        except (OSError, ValueError):  # raised if the working directory was removed
            return None, f"KINETREE_CACHE_DIR is {given!r} in a working directory that is gone; give an absolute path"
    xdg, home = env.get("XDG_CACHE_HOME", ""), env.get("HOME", "")
    parts: tuple[str, ...]
    if sys.platform == "win32":
        root, parts = env.get("LOCALAPPDATA", ""), ("kinetree", "cache")
    elif os.path.isabs(xdg):
        root, parts = xdg, ("kinetree",)
    else:
        root, parts = home, ("Library", "Caches", "kinetree") if sys.platform == "darwin" else (".cache", "kinetree")
    if not os.path.isabs(root):
        return None, "there is no home folder; set KINETREE_CACHE_DIR to a folder"
    return Path(root, *parts), ""


def user_cache() -> Cache | None:
    """The user's cache as the environment sets it now; None if it is off or its folder is not to be trusted."""
    now = settings()
    if now.mistake:
        _say(logging.WARNING, now.mistake)
    if now.off or now.directory is None:
        if now.directory is None:
            _say(logging.INFO, f"machine code is not kept on disk: {now.off}")
        return None
    if problem := folder_problem(now.directory):
        _say(logging.WARNING, f"machine code is not kept on disk: {problem}")
        return None
    return Cache(now.directory, now.limit)


def kept(key: bytes | None, make: Callable[[], bytes], kind: Kind = "code") -> bytes:
    """The code for a key from the user's cache; made and kept if missing. Without a key it is only made."""
    code = found(key, kind)
    if code is None:
        keep(key, code := make(), kind)
    return code


def found(key: bytes | None, kind: Kind = "code") -> bytes | None:
    """The code for a key from the user's cache, None if it is not there. Nothing is there without a key."""
    cache = None if key is None else user_cache()
    return None if cache is None or key is None else cache.read(key, kind)


def keep(key: bytes | None, code: bytes, kind: Kind = "code") -> None:
    """Keep the code for a key in the user's cache, if there is a key and a cache."""
    cache = None if key is None else user_cache()
    if cache is not None and key is not None:
        cache.write(key, code, kind)


def remove(key: bytes | None, kind: Kind) -> None:
    """Remove the user's cached data of a key, if any."""
    cache = None if key is None else user_cache()
    if cache is not None and key is not None:
        cache.remove(key, kind)


def found_module(request: bytes | None, assembler: bytes | None, text: str | None = None) -> bytes | None:
    """The machine code that has answered a request, or that was made of a module's text and answers it from now on.

    None if the user's cache has none; arguments as for `kept_module`.
    """
    cache = None if request is None or assembler is None else user_cache()
    if cache is None or request is None or assembler is None:
        return None
    if text is None:
        name = cache.read(request, "name")
        return None if name is None else cache.read(name)
    name = hashlib.sha256(assembler + text.encode()).digest()
    code = cache.read(name)
    if code is not None:
        cache.write(request, name, "name")
    return code


def keep_module(request: bytes | None, assembler: bytes | None, text: str, code: bytes) -> None:
    """Keep the machine code that answers a request, if there is a cache; arguments as for `kept_module`."""
    cache = None if request is None or assembler is None else user_cache()
    if cache is not None and request is not None and assembler is not None:
        name = hashlib.sha256(assembler + text.encode()).digest()
        cache.write(name, code)
        cache.write(request, name, "name")


def kept_module(
    request: bytes | None, assembler: bytes | None, text: Callable[[], str], make: Callable[[str], bytes]
) -> bytes:
    """The machine code that `make` makes of a module's text, from the user's cache; made and kept if missing.

    Machine code is kept by the text that it is made of and `assembler`, which identifies the work of `make`, and the
    cache knows which code answered a `request`. So a request that is known needs no text, and one with a text that is
    known needs no `make`. Without `request` or `assembler` it is only made.
    """
    code = found_module(request, assembler)
    if code is None:
        module = text()
        code = found_module(request, assembler, module)
        if code is None:
            keep_module(request, assembler, module, code := make(module))
    return code


def claimed(key: bytes | None) -> Claim | None:
    """A claim to make the entry of a key, which others would make as well; None while another process holds it.

    Without a key, a cache, or a disk that takes it, the claim keeps nobody away.
    """
    cache = None if key is None else user_cache()
    return Claim() if cache is None or key is None else cache.claim(key)


def folder_problem(directory: Path) -> str:
    """Why machine code from this folder must not be run: a sentence with the remedy, "" if the folder is fine."""
    try:
        state = directory.stat()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        return f"{directory} cannot be used: {getattr(error, 'strerror', None) or error}"
    if not stat.S_ISDIR(state.st_mode):
        return f"{directory} is not a folder; remove it, or set KINETREE_CACHE_DIR to a folder"
    if not _is_mine(state):
        return f"{directory} belongs to another user; set KINETREE_CACHE_DIR to a folder of your own"
    if _others_may_write(state):
        return f"others may write to {directory}; take that right away (chmod go-w), or set KINETREE_CACHE_DIR"
    return ""


class Claim:
    """A locked file that keeps others from making an entry, until it is released or this process ends."""

    def __init__(self, path: str = "", file: int | None = None) -> None:
        """Without a file it keeps nobody away."""
        self._path, self._file = path, file

    def release(self) -> None:
        """End the claim, if it has not ended."""
        self.leave(unlink=True)

    def leave(self, *, unlink: bool = False) -> None:
        """Close the file; the child of a fork leaves the claim to its parent."""
        file, self._file = self._file, None
        if file is None:
            return
        closes_first = sys.platform == "win32"  # where no open file can be removed
        with suppress(OSError):
            unlink = unlink and os.fstat(file).st_nlink > 0  # otherwise the file of this name is a later claim
            if closes_first:
                os.close(file)
            if unlink:
                os.unlink(self._path)
        if not closes_first:
            os.close(file)


class _File(NamedTuple):
    """A file of the cache."""

    path: str
    found: os.stat_result
    is_entry: bool
    """Rather than a temporary file or a hash."""


def _is_counted(file: _File) -> bool:
    return file.path.endswith(_COUNTED)


class Cache:
    """Machine code in one folder.

    Any number of threads and processes can use it at once; no method raises because of the disk.
    """

    def __init__(self, directory: Path, limit: int = _USUAL_LIMIT * _MEGABYTE) -> None:
        """`limit`: maximum bytes of all entries together."""
        self.directory = directory
        self.limit = limit

    def read(self, key: bytes, kind: Kind = "code") -> bytes | None:
        """The code of a key; None if it is missing or cannot be trusted."""
        path = self._path(key, kind)
        try:
            file = os.open(path, os.O_RDONLY | _OPEN)
        except (OSError, ValueError):  # not a possible file name
            return None
        try:
            state = os.fstat(file)
            if not stat.S_ISREG(state.st_mode) or not _is_mine(state) or _others_may_write(state):
                return None
            code = _unpack(_read_all(file, state.st_size), key) if state.st_size <= self.limit else None
        except OSError:
            return None
        finally:
            with suppress(OSError):
                os.close(file)
        with suppress(OSError):
            if code is None:
                os.unlink(path)
            else:
                os.utime(path)  # the least recently used entries are removed first
        return code

    def write(self, key: bytes, code: bytes, kind: Kind = "code") -> None:
        """Store the code of a key, and make room if the cache is too large."""
        entry = _HEADER.pack(_MAGIC, _FORMAT, key, len(code), hashlib.sha256(code).digest()) + code
        if len(entry) > self.limit:
            return
        path = self._path(key, kind)
        temporary = os.path.join(self.directory, f".{key.hex()}.{os.getpid()}.{os.urandom(8).hex()}.tmp")
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            file = create_locked(temporary, 0o600)
            try:
                try:
                    _write_all(file, entry)
                finally:
                    os.close(file)
                os.replace(temporary, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
            place = (str(self.directory), self.limit)
            _room[place] = _room.get(place, 0) - len(entry)
            if _room[place] <= 0:  # looking through thousands of entries takes longer than writing one
                _room[place] = (self.limit - self._tidy()) // _WRITERS
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            _say(logging.INFO, f"machine code could not be kept in {self.directory}: {reason}")

    def remove(self, key: bytes, kind: Kind = "code") -> None:
        """Remove the entry of a key, if there is one."""
        with suppress(OSError, ValueError):
            os.unlink(self._path(key, kind))

    def claim(self, key: bytes) -> Claim | None:
        """A claim to make the entry of a key; None while another process holds it.

        Claims of dead processes count no longer, if files can be locked here, and claims of `_CLAIM` seconds never do.
        """
        path = os.path.join(self.directory, f"{key.hex()}.claim")
        with suppress(OSError, ValueError):
            if time.time() - os.stat(path).st_mtime > _CLAIM:
                os.unlink(path)
        remove_abandoned(path)
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            return Claim(path, create_locked(path, 0o600))
        except FileExistsError:
            return None
        except (OSError, ValueError):
            return Claim()

    def contents(self) -> Contents:
        """Count the entries, and the bytes of all files."""
        files = list(self._files())
        return Contents(sum(map(_is_counted, files)), sum(state.st_size for _, state, _ in files))

    def clear(self) -> Contents:
        """Remove every entry and the leftovers of unfinished ones, nothing else; return the removed entries."""
        removed = Contents(0, 0)
        for file in self._files():
            path, state, _ = file
            with suppress(OSError):
                os.unlink(path)
                removed = Contents(removed.entries + _is_counted(file), removed.size + state.st_size)
        return removed

    def _path(self, key: bytes, kind: Kind) -> str:
        return os.path.join(self.directory, f"{key.hex()}.{kind}")

    def _files(self) -> Iterator[_File]:
        """The cache's files."""
        with suppress(OSError, ValueError), os.scandir(self.directory) as folder:
            for item in folder:
                is_entry = re.fullmatch(_ENTRY, item.name) is not None
                if not is_entry and not re.fullmatch(_OTHER, item.name):
                    continue
                with suppress(OSError):  # another process may have removed it
                    state = item.stat(follow_symlinks=False)
                    if stat.S_ISREG(state.st_mode) and _is_mine(state):
                        yield _File(item.path, state, is_entry)

    def _tidy(self) -> int:
        """Make room if the cache is too large: first leftovers of killed writers, then the least recently used entries.

        Returns the bytes that are left.
        """
        entries: list[tuple[float, int, str]] = []
        temporaries: list[tuple[float, int, str]] = []
        for path, state, is_entry in self._files():
            (entries if is_entry else temporaries).append((state.st_mtime, state.st_size, path))
        size = sum(size for _, size, _ in (*entries, *temporaries))
        for written, taken, path in temporaries:
            if (size > self.limit or time.time() - written > _STALE) and remove_abandoned(path):
                size -= taken
        if size <= self.limit:
            return size
        for _, taken, path in sorted(entries)[:-1]:  # the newest was written just now
            if size <= self.limit * _LEFT_AFTER_TIDYING:
                break
            with suppress(OSError):
                os.unlink(path)
            size -= taken
        return size


def _unpack(entry: bytes, key: bytes) -> bytes | None:
    """The code in an entry, if it is intact and belongs to the key."""
    if len(entry) < _HEADER.size:
        return None
    magic, version, its_key, length, its_hash = _HEADER.unpack_from(entry)
    code = entry[_HEADER.size :]
    if (magic, version, its_key, length) != (_MAGIC, _FORMAT, key, len(code)):
        return None
    return code if hashlib.sha256(code).digest() == its_hash else None


def _read_all(file: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.read(file, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _is_mine(found: os.stat_result) -> bool:
    return sys.platform == "win32" or found.st_uid == os.geteuid()


def _others_may_write(found: os.stat_result) -> bool:
    return sys.platform != "win32" and found.st_mode & 0o022 != 0


_room: dict[tuple[str, int], int] = {}
"""Bytes that this process may write, by folder and limit, before it looks at the folder again."""
_said = False


def _say(level: int, sentence: str) -> None:
    """Log once per process: a robot whose disk is full needs one message, not one per function."""
    global _said
    if not _said:
        _said = True
        _log.log(level, "%s", sentence)
