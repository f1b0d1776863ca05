"""Derivatives of a program by complex steps: its statements run on complex numbers, one direction per entry.

f(x + i h d) = f(x) + i h f'(x) d + O(h²) where f is analytic, and with h = 1e-30 nothing is subtracted, so the
derivative is as exact as f itself. No rule for derivatives and no compiler takes part: each operation has its meaning
on complex numbers, where comparisons, absolute values and roundings go by the real part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Program, run_on

__all__ = ["complex_steps", "on_complex_numbers"]

Number = Any
"""A complex number, or an array of them: one per direction."""
STEP = 1e-30


def complex_steps(
    program: Program, arguments: Sequence[Any], directions: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """How each result, flat, changes along directions: (directions, numbers).

    `directions`: for each argument the changes of its numbers, (directions, numbers).
    """
    moved = [
        np.ravel(x).astype(float)[:, None] + 1j * STEP * np.asarray(d).T
        for x, d in zip(arguments, directions, strict=True)
    ]
    count = len(directions[0])
    outputs = on_complex_numbers(program, *moved)
    return [
        np.array([np.broadcast_to(np.imag(x), (count,)) for x in flat]).reshape(-1, count).T / STEP for flat in outputs
    ]


def on_complex_numbers(program: Program, *arguments: Sequence[Number]) -> list[list[Number]]:
    """Run a program: a flat sequence per input port, and a flat list per output port."""
    return run_on(program, _MEANING, *arguments)


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real parts, whose result is constant nearby."""
    return lambda *x: np.asarray(function(*map(np.real, x)), float)


def _atan2(y: Number, x: Number) -> Number:
    """The angle, and its change i h (x dy - y dx) / (x² + y²)."""
    angle = np.arctan2(np.real(y), np.real(x))
    change = np.real(x) * np.imag(y) - np.real(y) * np.imag(x)
    return angle + 1j * change / (np.real(x) ** 2 + np.real(y) ** 2)


def _select(c: Number, a: Number, b: Number) -> Number:
    return np.where(np.real(c) != 0.0, a, b)


def _less(a: Number, b: Number) -> Any:
    return np.real(a) < np.real(b)


_MEANING: Mapping[str, Callable[..., Number]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "sqrt": lambda x: np.sqrt(x + 0j),
    "sin": np.sin,
    "cos": np.cos,
    "atan2": _atan2,
    "exp": np.exp,
    "log": lambda x: np.log(x + 0j),
    "tanh": np.tanh,
    "min": lambda a, b: np.where(_less(b, a), b, a),
    "max": lambda a, b: np.where(_less(a, b), b, a),
    "abs": lambda x: np.where(np.real(x) < 0.0, -x, x),
    "floor": _real(np.floor),
    "lt": _real(np.less),
    "le": _real(np.less_equal),
    "eq": _real(np.equal),
    "select": _select,
}
