"""Functions of numbers of any kind: floats, symbols, and NumPy arrays of numbers taken elementwise.

The algorithms call these, so the same line of a textbook computes numbers or is traced. A comparison gives 1.0 or 0.0;
`select(c, a, b)` evaluates both arms, so each must be harmless where the other is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.expr.ops import OPS, PHILOX
from kinetree.expr.symbol import Scalar, Symbol, apply

__all__ = [
    "absolute",
    "atan2",
    "cos",
    "dot",
    "equal",
    "exp",
    "floor",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "random_words",
    "select",
    "sin",
    "slopes_of",
    "sqrt",
    "tanh",
]


def _function(op: str, on_arrays: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        for a in args:
            if isinstance(a, np.ndarray):
                if any(isinstance(a, Symbol) for a in args):
                    raise TypeError(f"{op}: arrays and symbols do not mix")
                return on_arrays(*args)
        return apply(op, *args)

    function.__name__ = function.__qualname__ = op
    return function


sin: Callable[..., Any] = _function("sin", np.sin)
cos: Callable[..., Any] = _function("cos", np.cos)
sqrt: Callable[..., Any] = _function("sqrt", np.sqrt)
atan2: Callable[..., Any] = _function("atan2", np.arctan2)
exp: Callable[..., Any] = _function("exp", np.exp)
log: Callable[..., Any] = _function("log", np.log)
tanh: Callable[..., Any] = _function("tanh", np.tanh)
minimum: Callable[..., Any] = _function("min", np.minimum)
maximum: Callable[..., Any] = _function("max", np.maximum)
absolute: Callable[..., Any] = _function("abs", np.abs)
floor: Callable[..., Any] = _function("floor", np.floor)
less: Callable[..., Any] = _function("lt", lambda a, b: np.less(a, b).astype(np.float64))
less_equal: Callable[..., Any] = _function("le", lambda a, b: np.less_equal(a, b).astype(np.float64))
equal: Callable[..., Any] = _function("eq", lambda a, b: np.equal(a, b).astype(np.float64))
slopes_of: Callable[..., Any] = _function("slopes_of", lambda a, b: np.broadcast_arrays(a, b)[0])
select: Callable[..., Any] = _function("select", np.where)
random_words: tuple[Callable[..., Any], ...] = tuple(
    [_function(op, np.vectorize(OPS[op].evaluate, otypes=[float])) for op in PHILOX]
)
"""The four random numbers in [0, 1) of a key and a counter: functions of their six words."""


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Σ aₖ bₖ, in order."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
