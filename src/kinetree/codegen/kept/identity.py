"""The identity of machine code besides its program: kinetree's source, LLVM, Python and the processor."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import struct
import sys
import time
from collections.abc import Hashable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from kinetree.codegen.kept.cache import kept

__all__ = ["assembler", "code_of", "llvm_version", "source_hash", "takes_part", "toolchain"]

_PACKAGE = Path(__file__).parents[2]
_NO_PART = frozenset({
    "__main__", "appearance", "charts", "checking", "cli", "comparison", "display", "files", "guide",
    "identification", "io", "lazy_names", "layouts", "number_files", "own_process", "pictures", "resources", "sim",
    "sweeps", "viewer", "zoo",
})  # fmt: skip
"""Rooms and files of kinetree that run in no trace and no compilation; a new room takes part until it is added here."""
_PART_NEVERTHELESS = (
    "identification/estimation/reduction", "io/gray_images", "io/mjcf/asset_files", "io/mjcf/elevations",
    "io/mjcf/meshes/", "pictures/kernels/",
)  # fmt: skip
"""Compiled loops, and the readers of shapes, which contacts call."""
_ASSEMBLING = ("codegen/cpu/jit.py", "codegen/llvm/target.py", "codegen/loops/compiled.py")
"""The files that determine the machine code of a module's text."""
_TOKENS = re.compile(
    rb"""(?xs)
    ( "(?: "{2} (?: [^"\\]++ | \\. | "(?!"{2}) )*+ "{3} | (?: [^"\\\n]++ | \\. )*+ " )
    | '(?: '{2} (?: [^'\\]++ | \\. | '(?!'{2}) )*+ '{3} | (?: [^'\\\n]++ | \\. )*+ ' )
    | [#][^\n]* )"""
)
"""Strings without their prefixes, and comments."""
_LINE_ENDS = re.compile(rb"[ \t\f]*\n(?:[ \t\f]*\n)*")
_CODING = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_LIBRARIES = (".so", ".dylib", ".dll")
_WHILE_IMPORTING = 1.0
"""Seconds before kinetree was imported in which an already imported module may have been changed."""
_SETTLED = 2.0
"""Seconds after which a change of a file certainly shows in the time of its last change."""


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


def assembler(how: str, target: Hashable, imported: float) -> bytes | None:
    """32 bytes that identify what makes machine code of a module's text; None as for `toolchain`.

    `how` names the way in which it is made, and `target` the processor; `imported` as for `source_hash`.
    """
    source, llvm = source_hash(_PACKAGE, imported, _ASSEMBLING), llvm_version()
    if source is None or llvm is None:
        return None
    return hashlib.sha256(repr((how, source.hex(), llvm, sys.platform, target)).encode()).digest()


def takes_part(name: str) -> bool:
    """Whether a file of the package may run in a trace or a compilation; `name` as seen from there, with slashes.

    >>> takes_part("algorithms/aba.py"), takes_part("viewer/player.py")
    (True, False)
    """
    name = name.removesuffix(".py")
    return name.partition("/")[0] not in _NO_PART or f"{name}/".startswith(_PART_NEVERTHELESS)


@functools.cache
def source_hash(package: Path, imported: float, only: tuple[str, ...] = ()) -> bytes | None:
    """32 bytes over the code (`code_of`) of the source files of a package that take part in compiling, or of some.

    None if there are no source files, or if one was changed after the time `imported`, in seconds since the epoch: the
    code running in this process may then be older than the files. As reading hundreds of files takes longer than
    loading code, the cache keeps the hash of files that have not changed since.
    """
    root = os.fspath(package)
    try:
        if only:
            files = [(path, _state(os.stat(path))) for path in (os.path.join(root, name) for name in only)]
        else:
            files = sorted(_source_files(root))
        if not files:
            return None
        changed = max(found.changed for _, found in files)
        if changed > imported - _WHILE_IMPORTING:
            return None
        if changed > time.time() - _SETTLED:
            return _hash_of(root, files)
        seen = hashlib.sha256(repr(("code", root, files)).encode("utf-8", "surrogateescape")).digest()
        return kept(seen, lambda: _hash_of(root, files), "hash")
    except OSError:
        return None


def _hash_of(root: str, files: list[tuple[str, _State]]) -> bytes:
    parts: list[bytes] = []
    for path, found in files:
        text, read = _read(path)
        if read != found:
            raise OSError(f"{path} is being written")
        name, code = os.fsencode(path[len(root) :]), code_of(text)
        parts += (struct.pack("<QQ", len(name), len(code)), name, code)
    return hashlib.sha256(b"".join(parts)).digest()


def code_of(text: bytes) -> bytes:
    """A source file without comments, blank lines, and strings that are statements: docstrings.

    Files that differ in these alone have the same code, and no others do. A text that is not certain to be understood
    is returned whole: one with continued lines, an encoding of its own, or quotes inside those of a formatted string.
    Python's parser would take ten times as long, and the first call on a machine waits for this.

    >>> code_of(b"'A docstring.'\\n\\nx = '# no comment'  # a comment\\n")
    b"x = '# no comment'"
    """
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, *rest = _TOKENS.split(text)
    code, strings = [first], []
    for token, after in zip(rest[::2], rest[1::2], strict=True):
        if token.startswith(b"#"):
            code[-1] += after
        else:
            strings.append(token)
            code.append(after)
    if _CODING.match(text) or any(sign in piece for piece in code for sign in (b"\\", b'"', b"'")):
        return text
    code = [_LINE_ENDS.sub(b"\n", piece) for piece in code]
    result, depth, counted = [code[0]], 0, 0
    for number, (string, before, after) in enumerate(zip(strings, code, code[1:], strict=False)):
        if b"{" in string and string.count(b"{") != string.count(b"}") and before[-1:].isalpha():
            return text
        result += (string, after)
        if after.startswith(b"\n") or (number == len(strings) - 1 and not after.strip()):
            line = before.rpartition(b"\n")[2] if b"\n" in before or number == 0 else b"more"
            if not line.strip(b" \t\fRrUu"):
                since = b"".join(code[counted : number + 1])
                depth += sum(map(since.count, _OPENING)) - sum(map(since.count, _CLOSING))
                counted = number + 1
                if depth == 0:
                    del result[-2:]
                    result[-1] = result[-1][: len(result[-1]) - len(line)]
                    result.append(after[1:])
    return b"".join(result).strip(b"\n")


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
                elif (
                    item.name != "__pycache__"
                    and (name not in _NO_PART or any(part.startswith(f"{name}/") for part in _PART_NEVERTHELESS))
                    and item.is_dir(follow_symlinks=False)
                ):
                    folders.append(item.path)


def _read(path: str) -> tuple[bytes, _State]:
    """The contents of a file, and its state when it was read."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        text = os.read(file, os.fstat(file).st_size)
        found = os.fstat(file)
    finally:
        os.close(file)
    if len(text) != found.st_size:
        raise OSError(f"{path} is being written")
    return text, _state(found)


class _State(NamedTuple):
    """The size of a file and when it was changed: a file whose state is the same has the same text."""

    size: int
    changed: float
    """Time of the last change in seconds since the epoch."""


def _state(found: os.stat_result) -> _State:
    # An installer may set a file's modification time to its build time, but cannot set the status change time.
    return _State(found.st_size, max(found.st_mtime, found.st_ctime))
