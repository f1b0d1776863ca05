"""`kinetree doctor`: the facts about an installation that a bug report needs."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

import kinetree as kt
from kinetree.cli import options
from kinetree.cli.cache import contents
from kinetree.cli.output import print_json, print_lines
from kinetree.resources import available_cores, available_memory

__all__ = ["doctor", "facts"]

_OPTIONAL = re.compile(r"(?!kinetree)([\w.-]+).*;.*\bextra == ['\"](?!test)")
"""A requirement of an extra, except of those for tests."""


def doctor(as_json: options.Json = False) -> None:
    """Print what a bug report needs: versions, packages, processor, cache, and whether compiling works.

    The text can be pasted as it is: the home folder is shown as ~. Exit codes: 0 compiling works, 1 it does not.
    """
    found = facts()
    if as_json:
        print_json(found)
    else:
        print_lines(*(f"{name:<14}{_text(x)}" for name, x in found.items()))
    if not found["compiling"]["works"]:
        raise typer.Exit(1)


def facts() -> dict[str, Any]:
    """Everything that `kinetree doctor` prints, by name."""
    import platform  # here, as all that takes long to import and that no other command needs
    from importlib.metadata import PackageNotFoundError, requires

    required = None
    with suppress(PackageNotFoundError):  # kinetree is not installed, but on sys.path
        required = requires("kinetree")
    names = [name for name in sorted(os.environ) if name.startswith("KINETREE_")]
    optional = sorted({match[1] for x in required or () if (match := _OPTIONAL.match(x))})
    found = {
        "kinetree": kt.__version__, **{name: _version(name) for name in ("numpy", "llvmlite")},
        "python": f"{platform.python_implementation()} {platform.python_version()}, {platform.architecture()[0]}",
        "system": platform.platform(), "processor": _processor(), "cores": available_cores(),
        "memory_bytes": available_memory(), "cache": contents(), "environment": {x: os.environ[x] for x in names},
        "compiling": _compiling(), "packages": {name: _version(name) for name in optional},
    }  # fmt: skip
    return {name: _without_home(x) for name, x in found.items()}


def _processor() -> dict[str, Any]:
    """The name of the processor, and the target of code."""
    import platform

    from kinetree.codegen.llvm.precision import PRECISIONS
    from kinetree.codegen.llvm.target import host

    name = platform.processor()
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        name = next(line for line in lines if line.startswith("model name")).partition(":")[2].strip()
    try:
        target = host()
    except Exception as error:  # a broken installation of llvmlite is to be reported, not to end the report
        return {"name": name, "problem": repr(error)}
    lanes = {f"{dtype}_lanes": target.lanes(PRECISIONS[dtype]) for dtype in ("float64", "float32")}
    return {"name": name, "llvm": target.cpu, **lanes, "fma": target.fma}


def _compiling() -> dict[str, Any]:
    """Forward dynamics are compiled without the cache, and their inverse must return the forces."""
    from unittest.mock import patch

    import numpy as np

    import kinetree as kt

    begin, problem = time.perf_counter(), None
    try:
        with patch.dict(os.environ, KINETREE_CACHE="off", KINETREE_OPTIMIZE="now"):
            robot = kt.zoo.load("double_pendulum")
            q, v, tau = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 9, robot.nv))
            one = np.array([kt.rnea(robot, *x[:2], kt.aba(robot, *x)) for x in zip(q, v, tau, strict=True)])
            many = kt.rnea(robot, q, v, kt.aba(robot, q, v, tau))
        if not (np.array_equal(one, many) and np.allclose(many, tau, rtol=0.0, atol=1e-12)):
            problem = f"wrong results: off by {np.abs(many - tau).max():.2g}, {np.abs(one - tau).max():.2g}"
    except Exception as error:
        problem = repr(error)
    return {"works": problem is None, "seconds": time.perf_counter() - begin, "problem": problem}


def _version(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _without_home(x: Any) -> Any:
    if isinstance(x, dict):
        return {name: _without_home(one) for name, one in x.items()}
    home = os.path.expanduser("~")
    return str(x).replace(home, "~") if isinstance(x, str | Path) and len(home) > 1 else x


def _text(x: Any) -> str:
    if isinstance(x, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in x.items() if one != "")
    if isinstance(x, bool | None):
        return "-" if x is None else "yes" if x else "no"
    return f"{x:.3g}" if isinstance(x, float) else str(x)
