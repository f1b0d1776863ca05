"""Which cells the table of docs/frameworks.md has: functions × frameworks × what can be done with them there.

The tests beside this file check every cell that is not missing here; `python -m tests.unit.interop.table.page` writes
the table, and tests/docs/test_frameworks.py holds the page to it.
"""

from __future__ import annotations

from tests.unit.interop.table.cases import FIRST_ONLY

__all__ = ["FRAMEWORKS", "KINDS", "kinds", "missing"]

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


def missing(framework: str, name: str) -> dict[str, str]:
    """The kinds that are not possible for a function, and why."""
    found = {kind: reason for (which, kind), reason in MISSING.items() if which == framework}
    if name in FIRST_ONLY:
        found["second derivative"] = "what iterations find has first derivatives"
    return found


def kinds(framework: str, name: str) -> list[str]:
    """What is tested of a function in a framework."""
    return [kind for kind in KINDS if kind not in missing(framework, name)]
