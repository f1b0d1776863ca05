"""IPOPT through its C interface, called with the methods of a problem object as cyipopt calls them.

The library is the one in CasADi's wheel. Source: IPOPT's header `IpStdCInterface.h`, which has not changed from 3.11 to
3.14 in what is used here.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_double, c_int, c_void_p
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_NUMBERS, _INDICES = POINTER(c_double), POINTER(c_int)
_COST = ctypes.CFUNCTYPE(c_int, c_int, _NUMBERS, c_int, _NUMBERS, c_void_p)
_ROWS = ctypes.CFUNCTYPE(c_int, c_int, _NUMBERS, c_int, c_int, _NUMBERS, c_void_p)
_SLOPES = ctypes.CFUNCTYPE(c_int, c_int, _NUMBERS, c_int, c_int, c_int, _INDICES, _INDICES, _NUMBERS, c_void_p)
_HESSIAN = ctypes.CFUNCTYPE(
    c_int, c_int, _NUMBERS, c_int, c_double, c_int, _NUMBERS, c_int, c_int, _INDICES, _INDICES, _NUMBERS, c_void_p
)
_BETWEEN = ctypes.CFUNCTYPE(c_int, c_int, c_int, *[c_double] * 8, c_int, c_void_p)


class Found(NamedTuple):
    """What IPOPT returns."""

    status: int
    """0 if it succeeded."""
    x: Array
    multipliers: Array
    cost: float
    iterations: int


def solved(casadi: ModuleType, problem: Any, x: Array, **options: str | float) -> Found:
    """The solution from x of a problem with cyipopt's methods; options are IPOPT's."""
    library = ctypes.CDLL(str(next(Path(str(casadi.__file__)).parent.glob("libipopt.so*"))))
    library.CreateIpoptProblem.restype = c_void_p
    for kind in ("Str", "Int", "Num"):
        getattr(library, f"AddIpopt{kind}Option").restype = ctypes.c_bool
    n, m = problem.n, problem.m
    places = problem.jacobianstructure(), problem.hessianstructure()
    counts = [len(rows) for rows, _ in places]
    iterations = [0]

    def filled(values: Any, size: int, found: Any) -> int:
        np.ctypeslib.as_array(values, (size,))[:] = found
        return 1

    def entries(which: int, rows: Any, columns: Any, values: Any, evaluate: Any) -> int:
        if values:
            return filled(values, counts[which], evaluate())
        return filled(rows, counts[which], places[which][0]) and filled(columns, counts[which], places[which][1])

    def at(x: Any, size: int = n) -> Array:
        return np.ctypeslib.as_array(x, (size,)).copy()

    def between(_: int, iteration: int, *__: Any) -> int:
        iterations[0] = iteration
        return 1

    calls = (
        _COST(lambda _, x, __, out, ___: filled(out, 1, problem.objective(at(x)))),
        _ROWS(lambda _, x, __, ___, out, ____: filled(out, m, problem.constraints(at(x)))),
        _COST(lambda _, x, __, out, ___: filled(out, n, problem.gradient(at(x)))),
        _SLOPES(
            lambda _, x, __, ___, ____, rows, columns, out, _____: entries(
                0, rows, columns, out, lambda: problem.jacobian(at(x))
            )
        ),
        _HESSIAN(
            lambda _, x, __, factor, ___, weights, ____, _____, rows, columns, out, ______: entries(
                1, rows, columns, out, lambda: problem.hessian(at(x), at(weights, m), factor)
            )
        ),
    )
    limits = [np.ascontiguousarray(b, dtype=np.float64) for b in (problem.lb, problem.ub, problem.cl, problem.cu)]
    lower, upper, least, most = (b.ctypes.data_as(_NUMBERS) for b in limits)
    handle = c_void_p(library.CreateIpoptProblem(n, lower, upper, m, least, most, *counts, 0, *calls))
    callback = _BETWEEN(between)
    library.SetIntermediateCallback(handle, callback)
    for name, value in {"print_level": 0, "sb": "yes", **options}.items():
        key = name.encode()
        if isinstance(value, str):
            assert library.AddIpoptStrOption(handle, key, value.encode()), name
        elif isinstance(value, int):
            assert library.AddIpoptIntOption(handle, key, value), name
        else:
            assert library.AddIpoptNumOption(handle, key, c_double(value)), name
    x, weights, cost = x.astype(np.float64), np.zeros(m), c_double()
    status = library.IpoptSolve(
        handle, x.ctypes.data_as(_NUMBERS), None, byref(cost), weights.ctypes.data_as(_NUMBERS), None, None, None
    )
    library.FreeIpoptProblem(handle)
    return Found(status, x, weights, cost.value, iterations[0])
