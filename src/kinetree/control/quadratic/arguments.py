"""The arguments of `quadratic_program`: arrays whose shapes fit, and the problems that contain NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.inputs import common_axes, holds_symbols, real_array

__all__ = ["beyond_reach", "flat", "given_arrays", "leading_axes", "not_numbers", "row_count"]

Array = NDArray[Any]
_F64 = np.dtype(np.float64)


def given_arrays(
    P: Any, q: Any, A: Any, b: Any, C: Any, lower: Any, upper: Any, x_lower: Any, x_upper: Any
) -> dict[str, Array]:  # fmt: skip
    """All arrays, those that were left out without effect, with shapes that fit."""
    if (A is None) != (b is None):
        raise OptionError("quadratic_program: equations need both A and b")
    if (C is None) != (lower is None and upper is None):
        raise OptionError("quadratic_program: rows C need lower, upper or both, and bounds of rows need C")
    q = _array("q", q, "(…, n)")
    if q.ndim == 0 or q.shape[-1] == 0:
        raise ShapeError(f"quadratic_program: q must have shape (…, n) with n of at least 1, not {q.shape}")
    n = q.shape[-1]
    P = _array("P", P, "(…, n, n)", n, n)
    _check_symmetric(P)
    A = np.zeros((1, n)) if A is None else _array("A", A, "(…, e, n)", None, n)
    b = np.zeros(1) if b is None else _array("b", b, "(…, e)", A.shape[-2])
    C = np.zeros((1, n)) if C is None else _array("C", C, "(…, m, n)", None, n)
    m = C.shape[-2]
    low = np.full(m, -np.inf) if lower is None else _array("lower", lower, "(…, m)", m)
    high = np.full(m, np.inf) if upper is None else _array("upper", upper, "(…, m)", m)
    x_low = np.full(n, -np.inf) if x_lower is None else _array("x_lower", x_lower, "(…, n)", n)
    x_high = np.full(n, np.inf) if x_upper is None else _array("x_upper", x_upper, "(…, n)", n)
    names = ("P", "q", "A", "b", "C", "lower", "upper", "x_lower", "x_upper")
    return dict(zip(names, (P, q, A, b, C, low, high, x_low, x_high), strict=True))


def _array(name: str, x: Any, shape: str, *last: int | None) -> Array:
    if type(x) is np.ndarray and x.dtype is _F64 and x.shape[x.ndim - len(last) :] == last:  # the usual case
        return x
    array = real_array(f"quadratic_program: {name}", x, shape)
    if holds_symbols(array):
        raise DTypeError(f"quadratic_program: {name} is symbolic; quadratic programs are solved outside programs")
    tail = array.shape[-len(last) :] if last else ()
    if len(tail) < len(last) or any(k not in (None, size) for k, size in zip(last, tail, strict=True)):
        expected = ", ".join("any" if k is None else str(k) for k in last)
        raise ShapeError(
            f"quadratic_program: {name} must have shape {shape}, here ending in ({expected}), not {array.shape}"
        )
    return array.astype(np.float64, copy=False)


def _check_symmetric(P: Array) -> None:
    """Raise OptionError if a P differs from its transpose by more than rounding; the status reports NaN."""
    if (P.mT == P).all():
        return
    with np.errstate(invalid="ignore"):
        apart, size = abs(P - P.mT).max(axis=(-2, -1)), abs(P).max(axis=(-2, -1))
        if (apart > 1e-8 * size).any():
            raise OptionError("quadratic_program: P must be symmetric; (P + Pᵀ) / 2 has the same xᵀ P x")


def row_count(rows: Any, array: Array) -> int:
    return 0 if rows is None else array.shape[-2]


_OWN_AXES = {"P": 2, "A": 2, "C": 2}


def leading_axes(arrays: dict[str, Array]) -> tuple[int, ...]:
    """The axes of problems."""
    leads = {name: x.shape[: x.ndim - _OWN_AXES.get(name, 1)] for name, x in arrays.items()}
    return common_axes("quadratic_program", leads) if any(leads.values()) else ()


def flat(x: Array, lead: tuple[int, ...], name: str) -> Array:
    """With one axis of problems, of length 1 for arrays that all share."""
    axes = _OWN_AXES.get(name, 1)
    own = x.shape[x.ndim - axes :]
    if x.ndim == axes:
        return np.require(x[None], requirements=["C", "W"])
    return np.require(np.broadcast_to(x, lead + own).reshape(-1, *own), requirements=["C", "W"])


def not_numbers(arrays: dict[str, Array], lead: tuple[int, ...]) -> Array:
    """Which problems have NaN, or infinity where it means nothing."""
    sick = np.zeros(lead, bool)
    for name, x in arrays.items():
        if name.endswith(("lower", "upper")):
            if not math.isnan(x.sum()) or not (wrong := np.isnan(x)).any():  # the sum of −∞ and ∞ is NaN, too
                continue
        elif math.isfinite(x.sum()) or (wrong := ~np.isfinite(x)).sum() == 0:
            continue
        sick = sick | wrong.any(axis=tuple(range(-_OWN_AXES.get(name, 1), 0)))
    return np.asarray(sick)


def beyond_reach(arrays: dict[str, Array], lead: tuple[int, ...]) -> Array:
    """Which problems have a lower bound of ∞ or an upper one of −∞, which nothing reaches."""
    beyond = np.zeros(lead, bool)
    for name, wrong in (("lower", np.inf), ("upper", -np.inf), ("x_lower", np.inf), ("x_upper", -np.inf)):
        if (is_infinite := arrays[name] == wrong).any():
            beyond = beyond | is_infinite.any(axis=-1)
    return np.asarray(beyond)
