"""C compilers, for tests of what is written in C."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

__all__ = ["STRICT", "built", "called", "library", "needs", "ran"]

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
_PACKAGES = {
    "gcc": "gcc",
    "g++": "g++",
    "clang": "clang",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "qemu-system-arm": "qemu-system-arm",
    "qemu-aarch64": "qemu-user",
    "cmake": "cmake",
}


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skips a test where a command is not installed; in CI it fails."""
    missing = [command for command in commands if shutil.which(command) is None]
    packages = " ".join(_PACKAGES[command] for command in missing)
    reason = f"{' and '.join(missing)} not installed (on Debian: apt-get install {packages})"
    return pytest.mark.skipif(bool(missing) and not os.environ.get("CI"), reason=reason)


def built(folder: Path, compiler: str, sources: Sequence[Path], *flags: str, name: str = "program") -> Path:
    """The program that a compiler makes; what it says fails the test."""
    target = folder / name
    command = [compiler, *flags, *map(str, sources), "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return target


def library(folder: Path, compiler: str, sources: Sequence[Path], *flags: str) -> ctypes.CDLL:
    """The same as a library that is loaded."""
    name = f"{sources[0].stem}.so"  # a name is loaded once
    return ctypes.CDLL(str(built(folder, compiler, sources, "-shared", "-fPIC", *flags, name=name)))


def ran(program: Path, *before: str) -> int:
    """The exit code of a program; `before`: a command that runs it."""
    done = subprocess.run([*before, str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert not done.stderr, done.stderr[:4000]
    return done.returncode


def called(
    function: Any, arguments: Sequence[Any], results: Sequence[int], memory: int, dtype: str = "float64"
) -> list[np.ndarray]:
    """What a C function writes for one sample; the results have these sizes. It may write nowhere else."""
    given = [np.array(x, dtype).ravel() for x in arguments]
    fence = 3
    found = [np.full(size + fence, np.nan, dtype) for size in results]
    work = np.full(memory + fence, np.nan, dtype)
    function.restype = None
    sized = [x for x, size in zip(found, results, strict=True) if size]
    function(*(x.ctypes for x in given if x.size), *(x.ctypes for x in sized), *([work.ctypes] if memory else []))
    assert all(np.isnan(x[-fence:]).all() for x in (*found, work))
    return [x[:-fence] for x in found]
