"""Checks of arrays of attitudes: the fault, and its sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ConfigurationError, OptionError, nearest_names
from kinetree.inputs import holds_symbols, samples
from kinetree.lie.representations import REPRESENTATIONS, Representation
from kinetree.spatial.euler_angles import ORDERS
from kinetree.symbolic import by_sample

__all__ = ["attitudes", "on_numbers", "representation"]

_TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-6}
"""How far R Rᵀ may be from 1."""


def representation(argument: str, name: str) -> Representation:
    """A row of the table, or an error for a name that is not in it."""
    if isinstance(name, str) and name in REPRESENTATIONS:
        return REPRESENTATIONS[name]
    if isinstance(name, str) and name.upper() in ORDERS:
        hint = (
            f"capital letters, {name.upper()!r}, are rotations about moved axes; for rotations about fixed axes give "
            f"{name.upper()[::-1]!r} and the three angles in reverse order"
        )
    else:
        hint = nearest_names(str(name), REPRESENTATIONS)
    raise OptionError(f"{argument} is not a representation of attitudes: {name!r:.60}; {hint}")


def attitudes(x: ArrayLike, source: str) -> tuple[NDArray[np.float64], Representation, Any]:
    """The numbers in double precision, their representation, and the dtype of results. Symbolic ones go unchecked."""
    kind = representation("source", source)
    is_placement = source == "matrix" and getattr(x, "shape", ())[-2:] == (4, 4)
    hint = "; of a placement T give T[..., :3, :3]" if is_placement else ""
    array = samples(source, x, kind.shape, kind.called, hint)
    dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
    array = array.astype(np.float64, copy=False)
    if holds_symbols(array):
        return array, kind, dtype
    if source == "matrix":
        _refuse_other_matrices(array, _TOLERANCE[dtype])
    if source.startswith("quaternion"):
        _refuse_zero(array, source)
    return _all_or_nothing(array, len(kind.shape)), kind, dtype


def _all_or_nothing(x: NDArray[np.float64], axes: int) -> NDArray[np.float64]:
    """A sample with a number that is not finite as NaN alone."""
    finite = np.isfinite(x)
    if finite.all():
        return x
    return np.where(finite.all(axis=tuple(range(-axes, 0)), keepdims=True), x, np.nan)


def _refuse_other_matrices(R: NDArray[np.float64], tolerance: float) -> None:
    """Raise for a matrix that is not a rotation; one that is not finite stays in its sample."""
    with np.errstate(all="ignore"):
        error = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-2, -1), initial=0.0)
        turned = np.linalg.det(R) < 0.0
    finite = np.isfinite(R).all(axis=(-2, -1))
    wrong = finite & (~(error <= tolerance) | turned)
    if wrong.any():
        index, where = _first(wrong)
        why = (
            f"R Rᵀ differs from 1 by {error[index]:.2g}; its rows must be orthonormal, to {tolerance:g}"
            if not error[index] <= tolerance
            else "its determinant is -1: it mirrors as well; negate a row or a column if that is what was meant"
        )
        raise ConfigurationError(f"matrix{where} is not a rotation: {why}")


def _refuse_zero(q: NDArray[np.float64], source: str) -> None:
    with np.errstate(all="ignore"):
        squared = np.einsum("...i,...i", q, q)
    wrong = (squared < np.finfo(np.float64).tiny) | (np.isinf(squared) & np.isfinite(q).all(axis=-1))
    if wrong.any():
        index, where = _first(wrong)
        size = "too large or too small to normalise" if q[index].any() else "zero"
        raise ConfigurationError(f"{source}{where} is {size}, which is not an orientation")


def _first(wrong: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
    """The first sample that is wrong, and how to write its index."""
    index = tuple(int(k) for k in np.argwhere(wrong)[0])
    return index, "".join(f"[{k}]" for k in index)


def on_numbers(
    function: Callable[[Sequence[Any]], Sequence[Any]],
    array: NDArray[Any],
    core: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: Any,
) -> NDArray[Any]:
    """Results (…, *shape) of a function of the numbers of each sample of an array (…, *core).

    A number is an array with one entry per sample, even for a single sample: `kinetree.expr` does not take NumPy
    scalars. Of a symbolic array it is a symbol.
    """
    if holds_symbols(array):
        inside: NDArray[Any] = by_sample(function, [array], [core], shape, dtype)
        return inside
    leading = array.shape[: array.ndim - len(core)]
    flat = array.reshape(-1, math.prod(core))
    result = np.empty((math.prod(leading), math.prod(shape)), dtype)
    with np.errstate(all="ignore"):
        for k, number in enumerate(function([flat[:, k] for k in range(flat.shape[1])])):
            result[:, k] = number
    return result.reshape(*leading, *shape)
