"""Arrays of a framework for several results as one array of it: the numbers of each, one after another."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kinetree.errors import ShapeError
from kinetree.inputs import framework_of
from kinetree.programs.labels import relabelled

__all__ = ["joined"]

_MODULES = {"cupy": "cupy", "dask": "dask.array", "jax": "jax.numpy", "torch": "torch"}
"""Where a framework has the functions of arrays that NumPy has."""
_NUMBERS = "kinetree_numbers"
"""The name of the last axis of labelled arrays, here."""


def joined(framework: str, parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: DTypeLike) -> Any:
    """An array (…, n) of the numbers of all parts (…, *shape), whose leading axes broadcast; None stands for zeros.

    Raises `ShapeError` if labels differ, or if unlabelled arrays have leading axes next to labelled ones; leading axes
    that do not broadcast are a `ValueError`.
    """
    if framework == "xarray":
        return _labelled(parts, shapes, dtype)
    module = importlib.import_module(_MODULES[framework]) if framework in _MODULES else np
    dtype = next((x.dtype for x in parts if framework_of(x) in _MODULES), dtype)
    arrays = [x if x is None or framework_of(x) else module.asarray(x) for x in parts]
    leading = [() if x is None else tuple(x.shape[: x.ndim - len(s)]) for x, s in zip(arrays, shapes, strict=True)]
    batch, rows = np.broadcast_shapes(*leading), []
    for x, own, shape in zip(arrays, leading, shapes, strict=True):
        size = math.prod(shape)
        if x is None:
            rows.append(module.zeros((*batch, size), dtype=dtype))
        else:
            rows.append(module.broadcast_to(x.reshape((*own, size)), (*batch, size)))
    return module.concatenate(rows, -1)


def _labelled(parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: DTypeLike) -> Any:
    """The same of labelled arrays, whose leading axes go together by their names."""
    import xarray

    rows = []
    for x, shape in zip(parts, shapes, strict=True):
        size = math.prod(shape)
        if isinstance(x, xarray.DataArray):
            rows.append(relabelled(x, x.ndim - len(shape), (size,), [_NUMBERS]))
            continue
        array = np.zeros(shape, dtype) if x is None else x
        if array.shape != shape:
            raise ShapeError(
                f"an array of shape {array.shape} has leading axes without names to go with those of the labelled "
                "arrays; make it an xarray.DataArray, too"
            )
        rows.append(xarray.DataArray(array.reshape(size), dims=[_NUMBERS]))
    try:
        aligned = xarray.align(*rows, join="exact", exclude=[_NUMBERS])
    except ValueError as error:
        raise ShapeError(f"their labels differ: {error}") from None
    return xarray.concat(xarray.broadcast(*aligned, exclude=[_NUMBERS]), _NUMBERS, join="exact", coords="minimal")
