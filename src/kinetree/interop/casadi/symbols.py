"""Programs run on CasADi's scalar symbols (SX), and arrays as CasADi has them: matrices, stored column by column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kinetree.errors import OptionError
from kinetree.expr import ARITHMETIC, PHILOX, Port, Program, run_on

if TYPE_CHECKING:
    import casadi

__all__ = ["flat", "matrix", "matrix_shape", "on_symbols"]


def on_symbols(program: Program, *arguments: Sequence[Any]) -> list[list[Any]]:
    """The outputs of a program, flat, from a flat sequence of symbols per input."""
    return run_on(program, _operations(), *arguments)


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of the matrix for an array: numbers and vectors are columns, of more than two axes the first
    ones together count the rows.

    >>> matrix_shape(()), matrix_shape((7,)), matrix_shape((6, 7)), matrix_shape((2, 6, 7))
    ((1, 1), (7, 1), (6, 7), (12, 7))
    """
    return (math.prod(shape), 1) if len(shape) < 2 else (math.prod(shape[:-1]), shape[-1])


def flat(x: casadi.SX, port: Port) -> list[Any]:
    """The numbers of an array, in C's order."""
    return (x.T if len(port.shape) > 1 else x).elements() if port.size else []


def matrix(numbers: Sequence[Any], port: Port) -> casadi.SX:
    """The matrix for an array, of its numbers in C's order."""
    import casadi

    rows, columns = matrix_shape(port.shape)
    vector = casadi.vertcat(*map(casadi.SX, numbers)) if numbers else casadi.SX(0, 1)
    return casadi.reshape(vector, columns, rows).T


@cache
def _operations() -> Mapping[str, Callable[..., Any]]:
    """The function of symbols for each operation; values that a `select` does not take are left out, NaN as well."""
    import casadi

    return {
        **ARITHMETIC,
        "sqrt": casadi.sqrt,
        "sin": casadi.sin,
        "cos": casadi.cos,
        "atan2": casadi.atan2,
        "exp": casadi.exp,
        "log": casadi.log,
        "tanh": casadi.tanh,
        "min": casadi.fmin,
        "max": casadi.fmax,
        "abs": casadi.fabs,
        "floor": casadi.floor,
        "lt": lambda a, b: casadi.SX(a) < b,
        "le": lambda a, b: casadi.SX(a) <= b,
        "eq": lambda a, b: casadi.SX(a) == b,
        "select": lambda c, a, b: casadi.if_else(c, a, b),
        **dict.fromkeys(PHILOX, _no_random_numbers),
    }


def _no_random_numbers(*_: Any) -> Any:
    raise OptionError(
        "kt.interop.to_casadi: CasADi's symbols have no random numbers, which take whole numbers of 64 bits: "
        'use form="external", or draw them outside and make them an argument'
    )
