"""What machine code depends on besides its program: our own source, LLVM, Python, the processor."""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import sys
from dataclasses import astuple
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from kinetree.codegen.target import Target

__all__ = ["source_hash", "toolchain"]

_PACKAGE = Path(__file__).parents[1]
_WHILE_IMPORTING = 1.0
"""Seconds before kinetree had been imported, in which a module that was already imported may have been changed."""


@functools.cache
def toolchain(target: Target, imported: float) -> bytes | None:
    """32 bytes for all of it; None if it is not known what source is running. `imported` as for `source_hash`."""
    source = source_hash(_PACKAGE, imported)
    if source is None:
        return None
    parts = (
        source.hex(),
        llvmlite.__version__,
        llvm.llvm_version_info,
        sys.version,  # constants are folded by this Python, with the sine of its mathematical library
        sys.platform,
        struct.calcsize("P"),
        astuple(target),
    )
    return hashlib.sha256(repr(parts).encode()).digest()


@functools.cache
def source_hash(package: Path, imported: float) -> bytes | None:
    """32 bytes for every source file of a package; computed once.

    None if there are no source files, or if one was changed after the time `imported`, in seconds since the epoch: what
    runs in this process may then be older than what stands in the files.
    """
    total = hashlib.sha256()
    names = sorted(
        os.path.join(folder, file) for folder, _, files in os.walk(package) for file in files if file.endswith(".py")
    )
    try:
        for name in names:
            with open(name, "rb", buffering=0) as file:
                text = file.read()
                stat = os.fstat(file.fileno())
            # An installer may give a file the time it was built at; its change of status is what it cannot set.
            if max(stat.st_mtime, stat.st_ctime) > imported - _WHILE_IMPORTING:
                return None
            path = os.path.relpath(name, package).encode("utf-8", "surrogateescape")
            total.update(struct.pack("<QQ", len(path), len(text)) + path + text)
    except OSError:
        return None
    return total.digest() if names else None
