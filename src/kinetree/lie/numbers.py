"""Functions of the numbers of one attitude or pose, on arrays of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.inputs import holds_symbols
from kinetree.symbolic import by_sample

__all__ = ["on_numbers"]


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
