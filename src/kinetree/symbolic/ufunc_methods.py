"""Methods of universal functions (`np.add.reduce`, `np.subtract.outer`) and their options (`dtype=`, `out=`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.symbolic.array import SymbolicArray
from kinetree.symbolic.operands import as_symbolic
from kinetree.symbolic.refusals import function_name, no_rule, refuse, refuse_value
from kinetree.symbolic.registry import FUNCTIONS, NP, UFUNCS, rule

__all__ = []

_REDUCED = {
    NP.add: NP.sum,
    NP.multiply: NP.prod,
    NP.maximum: NP.max,
    NP.minimum: NP.min,
    NP.logical_and: NP.all,
    NP.logical_or: NP.any,
}
_ACCUMULATED = {NP.add: NP.cumsum, NP.multiply: NP.cumprod}


@rule(NP.ufunc)
def _special(ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    if method == "__call__":
        return _called(ufunc, *inputs, **options)
    if any(x is not None for x in options.pop("out", None) or ()):
        refuse_value("out")
    if method == "reduce" and ufunc in _REDUCED:
        if len(inputs) == 1:
            options.setdefault("axis", 0)
        return FUNCTIONS[_REDUCED[ufunc]](*inputs, **options)
    if method == "accumulate" and ufunc in _ACCUMULATED:
        if len(inputs) == 1:
            options.setdefault("axis", 0)
        return FUNCTIONS[_ACCUMULATED[ufunc]](*inputs, **options)
    if method == "outer" and ufunc in UFUNCS and not options:
        a, b = map(as_symbolic, inputs)
        return UFUNCS[ufunc](a[(..., *[None] * b.ndim)], b)
    return no_rule(f"{function_name(ufunc)}.{method}")


def _called(
    ufunc: np.ufunc,
    *inputs: Any,
    out: Any = None,
    where: Any = True,
    dtype: Any = None,
    casting: Any = None,
    **rest: Any,
) -> Any:
    if ufunc not in UFUNCS:
        no_rule(ufunc)
    if rest:
        refuse(f"{function_name(ufunc)} of arrays of a program takes no {next(iter(rest))}=")
    if where is not True:
        refuse(f"{function_name(ufunc)} of arrays of a program takes no where=; use np.where on its result")
    result = UFUNCS[ufunc](*inputs)
    if dtype is not None:
        result = result.astype(dtype)
    if out is None or all(x is None for x in out):
        return result
    (target,) = out
    if isinstance(target, NP.ndarray) and target.dtype == object:
        return _into_objects(target, result)
    return refuse_value("out")


def _into_objects(target: Any, result: SymbolicArray) -> Any:
    """Store a result in an array of dtype object, each number in its place, as `x += y` does with such an x."""
    shape = NP.broadcast_shapes(target.shape, result.shape)
    if shape != target.shape:
        raise ValueError(f"a result of shape {result.shape} does not fit an array of shape {target.shape}")
    whole = NP.broadcast_to(result, shape)
    for index in NP.ndindex(shape):
        target[index] = whole[index]
    return target
