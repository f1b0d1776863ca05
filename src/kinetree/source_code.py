"""Which source files of kinetree take part in tracing and compiling: the keys of machine code contain these."""

from __future__ import annotations

import ast
import gc

__all__ = ["contains_parts", "syntax_tree", "takes_part"]

_NO_PART = frozenset({
    "__main__", "announcement", "appearance", "charts", "checking", "cli", "comparison", "display", "files", "guide",
    "identification", "io", "lazy_names", "layouts", "learning", "number_files", "own_process", "pictures", "plots",
    "progress", "resources", "sim", "store", "sweeps", "viewer", "zoo",
})  # fmt: skip
"""Rooms and files of kinetree that run in no trace and no compilation; a new room takes part until it is added here."""
_PART_NEVERTHELESS = (
    "identification/estimation/reduction", "io/mjcf/elevations", "learning/beginnings", "learning/definition",
    "learning/distributions", "learning/environment", "learning/functions", "learning/kernel", "learning/layout",
    "learning/policies", "learning/worlds", "pictures/kernels/",
)  # fmt: skip
"""Compiled loops, the readers of height fields, which contacts call, and what makes environments of tasks."""


def takes_part(name: str) -> bool:
    """Whether a file of the package may run in a trace or a compilation; `name` as seen from there, with slashes.

    >>> takes_part("algorithms/aba.py"), takes_part("viewer/player.py")
    (True, False)
    """
    name = name.removesuffix(".py")
    return name.partition("/")[0] not in _NO_PART or f"{name}/".startswith(_PART_NEVERTHELESS)


def contains_parts(folder: str) -> bool:
    """Whether a folder of the package may contain such files; `folder` as seen from there, with slashes."""
    return takes_part(folder) or any(part.startswith(f"{folder}/") for part in _PART_NEVERTHELESS)


def syntax_tree(text: str) -> ast.Module:
    """The syntax tree of a module's text; raises the errors of `ast.parse` for a wrong one.

    Until 3.11.7, CPython 3.11 counts the depth of all trees of a process with one counter, and raises a `SystemError`
    if it differs at the end. Other threads parse in between only if a garbage collection lets them, so it is off.

    Source: https://github.com/python/cpython/issues/106905.

    >>> len(syntax_tree("x = 1").body)
    1
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collects:
            gc.enable()
