"""Refusals of symbolic arrays: the errors, where in the user's text they happened, and replacements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

import numpy as np

from kinetree.errors import KinetreeError, ProgramError, ShapeError

__all__ = [
    "OUTSIDE",
    "explained",
    "function_name",
    "line_of",
    "misfit",
    "no_rule",
    "refuse",
    "refuse_value",
    "user_line",
]

OUTSIDE = (f"{Path(__file__).parents[1]}{os.sep}", f"{Path(np.__file__).parent}{os.sep}")
"""Folders whose files are not the user's."""
_BUILDING = "join arrays with np.stack([…]) or np.concatenate([…])"
_OBJECTS = (
    "np.array([a, b]) of symbolic numbers is a plain array of dtype object, which can be added, multiplied and "
    "indexed; for everything else use np.stack([a, b])"
)
_VALUES_OF = {
    "bool": (
        "a condition on arguments of a program is not known while the program is traced, so it cannot decide an `if`: "
        "use np.where(condition, a, b); instead of `and`, `or`, `not`, max() and min() use np.logical_and, "
        f"np.logical_or, np.logical_not, np.maximum and np.minimum ({_OBJECTS})"
    ),
    "float": (
        "a number that depends on arguments of a program is not known while the program is traced, so float(x), "
        "math.sin(x) and an assignment into a plain array cannot take it: use np.sin(x) and its like, leave float() "
        f"and dtype=float away, and {_BUILDING} instead of assigning into an array"
    ),
    "int": (
        "a number that depends on arguments of a program is not known while the program is traced, so int(x) and "
        "range(x) cannot take it: round with np.floor or np.trunc; choose with np.where; repeat a fixed number of times"
    ),
    "index": (
        "an index, or a plain array of integers or conditions, may not depend on arguments of a program: choose with "
        "np.where(condition, a, b), go through rows with kt.programs.scan; leave np.asarray away where there is an "
        "array already. The counter of kt.programs.fori can index the first axis of a program's arrays: x[k], x[k + "
        "1], x.T[k]; a plain array, too, is gone through with kt.programs.scan"
    ),
    "text": "a number that depends on arguments of a program has no digits while the program is traced",
    "array": (
        "an array that depends on arguments of a program cannot become a plain array: leave np.asarray and np.array "
        f"away where the argument is an array already; {_BUILDING} where np.array([…]) did; instead of assigning "
        "into an array, build it from its parts"
    ),
    "item": (
        "symbolic arrays do not change, so x[…] = y is not possible: build the array from its parts with np.stack([…]) "
        "or np.concatenate([…]), or choose elements with np.where(mask, y, x)"
    ),
    "out": (
        "a plain array cannot take a result that depends on arguments of a program: write x = x + y instead of x += y, "
        "and leave out= away"
    ),
}
_OBJECT_ERRORS = ("dtype('O')", "which has no callable", "dtype object", "object arrays", "not supported for the input")
_HINTS = {
    "np.linalg.lstsq": "use q, r = np.linalg.qr(A) and np.linalg.solve(r, q.T @ b) for A of full rank",
    "np.linalg.pinv": (
        "use np.linalg.inv(A.T @ A) @ A.T or A.T @ np.linalg.inv(A @ A.T); add damping * np.eye(n) inside inv if A may "
        "lose rank"
    ),
    "np.linalg.eigh": "iterations that depend on data have no rule; np.linalg.cholesky and np.linalg.solve have",
    "np.linalg.eig": "iterations that depend on data have no rule; np.linalg.cholesky and np.linalg.solve have",
    "np.linalg.eigvals": "iterations that depend on data have no rule; np.trace and np.linalg.det have",
    "np.linalg.eigvalsh": "iterations that depend on data have no rule; np.trace and np.linalg.det have",
    "np.linalg.svd": "iterations that depend on data have no rule; np.linalg.qr, cholesky and solve have",
    "np.linalg.svdvals": "iterations that depend on data have no rule; np.linalg.norm and det have",
    "np.linalg.matrix_rank": "ranks depend on data; np.linalg.det has a rule",
    "np.linalg.cond": "singular values have no rule; np.linalg.norm(A) * np.linalg.norm(np.linalg.inv(A)) has",
    "np.nonzero": "the number of elements would depend on data; use np.where(condition, a, b)",
    "np.argwhere": "the number of elements would depend on data; use np.where(condition, a, b)",
    "np.flatnonzero": "the number of elements would depend on data; use np.where(condition, a, b)",
    "np.extract": "the number of elements would depend on data; use np.where(condition, a, b)",
    "np.compress": "with a condition that depends on data the number of elements would; use np.where",
    "np.unique": "the number of elements would depend on data",
    "np.argsort": "an order that depends on data is not constant; np.sort, np.argmin and np.argmax have rules",
    "np.searchsorted": "use a sum of comparisons: np.sum(edges <= x[..., None], axis=-1)",
    "np.digitize": "use a sum of comparisons: np.sum(edges <= x[..., None], axis=-1)",
    "np.median": "use np.sort, and take the middle",
    "np.percentile": "use np.sort, and take the elements there",
    "np.quantile": "use np.sort, and take the elements there",
    "np.gradient": "use np.diff, and np.concatenate for the ends",
    "np.nansum": "use np.sum(np.where(np.isnan(x), 0.0, x))",
    "np.nanmax": "use np.max(np.where(np.isnan(x), -np.inf, x))",
    "np.nanmin": "use np.min(np.where(np.isnan(x), np.inf, x))",
    "np.nanmean": "use np.where(np.isnan(x), 0.0, x) and a sum of the conditions",
    "np.histogram": "use sums of comparisons",
    "np.bincount": "use sums of comparisons",
    "np.isin": "use comparisons, and np.logical_or",
    "np.roots": "iterations that depend on data have no rule; np.polyval has",
    "np.polyfit": "use np.linalg.solve(A.T @ A, A.T @ y) with a matrix of powers",
    "np.copyto": "symbolic arrays do not change; use np.where(mask, y, x)",
    "np.put": "symbolic arrays do not change; use np.where(mask, y, x)",
    "np.place": "symbolic arrays do not change; use np.where(mask, y, x)",
    "np.putmask": "symbolic arrays do not change; use np.where(mask, y, x)",
    "np.fill_diagonal": "symbolic arrays do not change; use np.where(np.eye(n, dtype=bool), y, x)",
    "np.array_str": "the values are not known while the program is traced; return them as a result",
    "np.array2string": "the values are not known while the program is traced; return them as a result",
    "np.array_repr": "the values are not known while the program is traced; return them as a result",
    "np.save": "the values are not known while the program is traced; return them as a result",
    "np.choose": "use np.select or np.where",
    "np.fft.fft": "multiply by a matrix of constants",
    "np.linalg.tensorsolve": "use np.linalg.solve on reshaped arrays",
    "np.linalg.tensorinv": "use np.linalg.inv on reshaped arrays",
}
_GENERAL = (
    "write it with elementwise functions, @, np.einsum, np.sum, np.where, np.concatenate, np.stack and "
    "np.linalg.solve; `kinetree docs programs_functions` lists what has a rule"
)


def user_line() -> str:
    """File and line of the innermost frame outside kinetree and NumPy, as "file.py:12"; "" without one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OUTSIDE):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def line_of(traceback: TracebackType | None) -> str:
    """File and line of a traceback's innermost frame outside kinetree and NumPy; "" without one."""
    line = ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(OUTSIDE):
            line = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return line


def _located(message: str) -> str:
    where = user_line()
    return f"{where}: {message}" if where else message


def refuse(message: str) -> NoReturn:
    """Raise the error of a program that cannot be, with the user's line."""
    raise ProgramError(_located(message))


def refuse_value(kind: str) -> NoReturn:
    """Raise the error of a symbolic number that is used as a plain one of this kind."""
    raise ProgramError(_located(_VALUES_OF[kind]))


def no_rule(function: Callable[..., Any] | str) -> NoReturn:
    """Raise the error of a NumPy function without a rule."""
    name = function if isinstance(function, str) else function_name(function)
    raise ProgramError(_located(f"{name} has no rule for arrays of a program: {_HINTS.get(name, _GENERAL)}"))


def misfit(what: str, shapes: tuple[tuple[int, ...], ...], reason: object = "") -> NoReturn:
    """Raise the error of shapes that do not fit."""
    given = f" of shape{'s' * (len(shapes) > 1)} {' and '.join(map(str, shapes))}" if shapes else ""
    raise ShapeError(_located(f"{what}{given}: {str(reason).strip() or 'these do not fit'}")) from None


def explained(error: Exception) -> Exception:
    """The error to raise in place of one of NumPy's own that hides ours, or is about an array of dtype object."""
    text, cause = str(error), error.__cause__
    if isinstance(error, KinetreeError):
        return error
    if isinstance(cause, ProgramError):
        better: ProgramError = cause
    elif isinstance(error, TypeError | IndexError) and any(sign in text for sign in _OBJECT_ERRORS):
        better = ProgramError(f"{line_of(error.__traceback__)}: {text}; {_OBJECTS}")
    else:
        return error
    return better.with_traceback(error.__traceback__)


def function_name(function: Callable[..., Any]) -> str:
    """Name of a NumPy function as users write it, such as "np.linalg.norm"."""
    module = str(getattr(function, "__module__", None) or "numpy").replace("numpy", "np", 1)
    if isinstance(function, np.ufunc) or module.startswith("np._core"):
        module = "np"
    return f"{module}.{getattr(function, '__name__', function)}"
