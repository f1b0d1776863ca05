"""What machine code depends on besides its program: our own source, LLVM, Python, the processor."""

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

_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = (".so", ".dylib", ".dll")
_WHILE_IMPORTING = 1.0
"""Seconds before kinetree had been imported, in which a module that was already imported may have been changed."""


@functools.cache
def toolchain(processor: Hashable, imported: float) -> bytes | None:
    """32 bytes for all of it; None if it is not known what source is running, or what LLVM would compile it.

    `processor` is what tells it from others, as `kinetree.codegen.processor.processor` gives it; its `repr` is taken.
    `imported` as for `source_hash`.
    """
    source, llvm = source_hash(_PACKAGE, imported), llvm_version()
    if source is None or llvm is None:
        return None
    parts = (
        source.hex(),
        llvm,
        sys.version,  # constants are folded by this Python, with the sine of its mathematical library
        sys.platform,
        struct.calcsize("P"),
        processor,
    )
    return hashlib.sha256(repr(parts).encode()).digest()


@functools.cache
def llvm_version() -> tuple[str, tuple[tuple[str, int], ...]] | None:
    """llvmlite's version and the sizes of its libraries, LLVM among them; None if it is not where one expects it.

    They are read from its folder: importing it would take longer than loading code from the disk.
    """
    try:
        spec = find_spec("llvmlite")
    except (ImportError, ValueError):  # something else goes by its name
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
    """32 bytes for every source file of a package; computed once.

    None if there are no source files, or if one was changed after the time `imported`, in seconds since the epoch: what
    runs in this process may then be older than what stands in the files.
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
    """Every process waits for this; `os.walk` takes longer."""
    folders = [root]
    for folder in folders:
        with os.scandir(folder) as items:
            for item in items:
                if item.name.endswith(".py"):
                    yield item.path
                elif item.name != "__pycache__" and item.is_dir(follow_symlinks=False):
                    folders.append(item.path)


def _read(path: str) -> tuple[bytes, float]:
    """What a file holds, and when it was changed last, in seconds since the epoch."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        text = os.read(file, os.fstat(file).st_size)
        found = os.fstat(file)
    finally:
        os.close(file)
    if len(text) != found.st_size:
        raise OSError(f"{path} is being written")
    # An installer may give a file the time it was built at; its change of status is what it cannot set.
    return text, max(found.st_mtime, found.st_ctime)
