"""The identity of machine code apart from its program: kinetree's source, LLVM, Python and the processor."""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import sys
import time
from collections.abc import Hashable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from kinetree.codegen.kept.cache import kept
from kinetree.source_code import contains_parts, takes_part

__all__ = ["assembler", "llvm_version", "source_hash", "toolchain"]

_PACKAGE = Path(__file__).parents[2]
_ASSEMBLING = ("codegen/cpu/jit.py", "codegen/llvm/target.py", "codegen/loops/compiled.py")
"""The files that determine the machine code of a module's text."""
_LIBRARIES = (".so", ".dylib", ".dll")
_WHILE_IMPORTING = 1.0
"""Seconds before kinetree was imported in which an already imported module may have been changed."""
_SETTLED = 2.0
"""Seconds after which a change of a file certainly shows in the time of its last change."""


@functools.cache
def toolchain(processor: Hashable, imported: float) -> bytes | None:
    """32 bytes that identify the toolchain; None if the running source or the LLVM that would compile it is unknown.

    `processor` distinguishes it from others (`kinetree.codegen.cpu.processor`); its `repr` is used. `imported` as for
    `source_hash`.
    """
    source, llvm = source_hash(_PACKAGE, imported), llvm_version()
    if source is None or llvm is None:
        return None
    parts = (
        source.hex(),
        llvm,
        sys.version,  # constants are folded by this Python, with its C library's sine
        sys.platform,
        struct.calcsize("P"),
        processor,
    )
    return hashlib.sha256(repr(parts).encode()).digest()


@functools.cache
def llvm_version() -> tuple[str, tuple[tuple[str, int], ...]] | None:
    """llvmlite's version and the sizes of its libraries, LLVM among them; None if it is not in the expected place.

    They are read from its folder: importing it would take longer than loading code from the disk.
    """
    try:
        spec = find_spec("llvmlite")
    except (ImportError, ValueError):  # something else has its name
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = spec.submodule_search_locations[0]
    try:
        version, _ = _read(os.path.join(folder, "_version.py"))
        with os.scandir(os.path.join(folder, "binding")) as items:
            libraries = [(item.name, item.stat().st_size) for item in items if item.name.endswith(_LIBRARIES)]
    except OSError:
        return None
    return (version.hex(), tuple(sorted(libraries))) if libraries else None


def assembler(how: str, target: Hashable, imported: float) -> bytes | None:
    """32 bytes that identify the compiler of a module's text; None as for `toolchain`.

    `how` names the way in which it is made, and `target` the processor; `imported` as for `source_hash`.
    """
    source, llvm = source_hash(_PACKAGE, imported, _ASSEMBLING), llvm_version()
    if source is None or llvm is None:
        return None
    return hashlib.sha256(repr((how, source.hex(), llvm, sys.platform, target)).encode()).digest()


@functools.cache
def source_hash(package: Path, imported: float, only: tuple[str, ...] = ()) -> bytes | None:
    """32 bytes over the source files of a package that take part in compiling, or over some.

    None without source files, or if one was changed after the time `imported`, in seconds since the epoch: the code
    running in this process may then be older than the files. As reading hundreds of files takes longer than loading
    code, the cache keeps the hash of files that have not changed since.
    """
    root = os.fspath(package)
    try:
        if only:
            files = [(path, _state(os.stat(path))) for path in (os.path.join(root, name) for name in only)]
        else:
            files = sorted(_source_files(root))
        if not files:
            return None
        changed = max(state.changed for _, state in files)
        if changed > imported - _WHILE_IMPORTING:
            return None
        if changed > time.time() - _SETTLED:
            return _hash_of(root, files)
        state_hash = hashlib.sha256(repr((root, files)).encode("utf-8", "surrogateescape")).digest()
        return kept(state_hash, lambda: _hash_of(root, files), "hash")
    except OSError:
        return None


def _hash_of(root: str, files: list[tuple[str, _State]]) -> bytes:
    parts: list[bytes] = []
    for path, state in files:
        text, read = _read(path)
        if read != state:
            raise OSError(f"{path} is being written")
        name = os.fsencode(path[len(root) :])
        parts += (struct.pack("<QQ", len(name), len(text)), name, text)
    return hashlib.sha256(b"".join(parts)).digest()


def _source_files(root: str) -> Iterator[tuple[str, _State]]:
    """The source files. `os.walk` would be slower, and every process waits for this."""
    folders = [root]
    for folder in folders:
        with os.scandir(folder) as items:
            for item in items:
                name = item.path[len(root) + 1 :].replace(os.sep, "/")
                if item.name.endswith(".py"):
                    if takes_part(name):
                        yield item.path, _state(os.stat(item.path))
                elif item.name != "__pycache__" and contains_parts(name) and item.is_dir(follow_symlinks=False):
                    folders.append(item.path)


def _read(path: str) -> tuple[bytes, _State]:
    """The contents of a file, and its state when it was read."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        text = os.read(file, os.fstat(file).st_size)
        state = os.stat(path) if sys.platform == "win32" else os.fstat(file)  # there fstat has another time since 3.12
    finally:
        os.close(file)
    if len(text) != state.st_size:
        raise OSError(f"{path} is being written")
    return text, _state(state)


class _State(NamedTuple):
    """The size of a file and when it was changed: a file whose state is the same has the same text."""

    size: int
    changed: float
    """Time of the last change in seconds since the epoch."""


def _state(found: os.stat_result) -> _State:
    # An installer may set a file's modification time to its build time, but cannot set the status change time.
    return _State(found.st_size, max(found.st_mtime, found.st_ctime))
