"""The identity of machine code besides its program: kinetree's source, LLVM, Python and the processor."""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import sys
from collections.abc import Hashable, Iterator
from importlib.util import find_spec
from pathlib import Path

__all__ = ["llvm_version", "source_hash", "toolchain"]

_PACKAGE = Path(__file__).parents[2]
_LIBRARIES = (".so", ".dylib", ".dll")
_WHILE_IMPORTING = 1.0
"""Seconds before kinetree was imported in which an already imported module may have been changed."""


@functools.cache
def toolchain(processor: Hashable, imported: float) -> bytes | None:
    """32 bytes that identify the toolchain; None if the running source or the LLVM that would compile it is unknown.

    `processor` is what distinguishes it from others (`kinetree.codegen.cpu.processor`); its `repr` is used. `imported`
    as for `source_hash`.
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


@functools.cache
def source_hash(package: Path, imported: float) -> bytes | None:
    """32 bytes over all source files of a package; computed once.

    None if there are no source files, or if one was changed after the time `imported`, in seconds since the epoch: the
    code running in this process may then be older than the files.
    """
    root = os.fspath(package)
    parts: list[bytes] = []
    try:
        for path in sorted(_source_files(root)):
            text, changed = _read(path)
            if changed > imported - _WHILE_IMPORTING:
                return None
            name = os.fsencode(path[len(root) :])
            parts += (struct.pack("<QQ", len(name), len(text)), name, text)
    except OSError:
        return None
    return hashlib.sha256(b"".join(parts)).digest() if parts else None


def _source_files(root: str) -> Iterator[str]:
    """The source files. `os.walk` would be slower, and every process waits for this."""
    folders = [root]
    for folder in folders:
        with os.scandir(folder) as items:
            for item in items:
                if item.name.endswith(".py"):
                    yield item.path
                elif item.name != "__pycache__" and item.is_dir(follow_symlinks=False):
                    folders.append(item.path)


def _read(path: str) -> tuple[bytes, float]:
    """The contents of a file, and the time of its last change in seconds since the epoch."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        text = os.read(file, os.fstat(file).st_size)
        found = os.fstat(file)
    finally:
        os.close(file)
    if len(text) != found.st_size:
        raise OSError(f"{path} is being written")
    # An installer may set a file's modification time to its build time, but cannot set the status change time.
    return text, max(found.st_mtime, found.st_ctime)
