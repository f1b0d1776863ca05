"""The syntax tree of Python's text, in any thread."""

from __future__ import annotations

import ast
import gc

__all__ = ["syntax_tree"]


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
