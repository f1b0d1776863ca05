"""Which cells the table of docs/frameworks.md has: functions × frameworks × what can be done with them there.

The tests beside this file check every cell that is not missing here, most of them where all is deep: a third of the
functions in each framework, and others in another one, are enough to try what frameworks' adapters do.
`python -m tests.unit.interop.table.page` writes the table, and tests/docs/test_frameworks.py holds the page to it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.interop.table.cases import FIRST_ONLY, NAMES, PROGRAM

__all__ = ["FRAMEWORKS", "KINDS", "cells_of", "is_deep", "kinds", "missing"]

KINDS = {
    "value": "V",
    "batch": "B",
    "first derivative": "1",
    "second derivative": "2",
    "compiled": "C",
    "float32": "F",
}
"""What a cell is about, and its letter in the table."""
FRAMEWORKS = ("NumPy", "JAX", "PyTorch", "CasADi", "C", "Dask", "xarray")
MISSING = {
    ("CasADi", "float32"): "CasADi computes in double precision",
    ("C", "batch"): "a function in C takes one sample",
}
"""What a framework does for no function, and why."""
_THIRDS = {"JAX": 0, "PyTorch": 1, "CasADi": 2, "C": 2, "NumPy": 0, "Dask": 1, "xarray": 2}
"""Which third of the functions is not deep."""


def is_deep(framework: str, name: str) -> bool:
    """Whether a function in a framework is only tested where all is deep."""
    return name != PROGRAM and NAMES.index(name) % 3 != _THIRDS[framework]


def cells_of(framework: str) -> list[Any]:
    """The names of all functions, as parameters of the tests of a framework."""
    return [pytest.param(name, id=name, marks=pytest.mark.deep if is_deep(framework, name) else ()) for name in NAMES]


def missing(framework: str, name: str) -> dict[str, str]:
    """The kinds that are not possible for a function, and why."""
    found = {kind: reason for (which, kind), reason in MISSING.items() if which == framework}
    if name in FIRST_ONLY:
        found["second derivative"] = "results of iterations have first derivatives only"
    return found


def kinds(framework: str, name: str) -> list[str]:
    """What is tested of a function in a framework."""
    return [kind for kind in KINDS if kind not in missing(framework, name)]
