"""Arrays of other frameworks among the arguments of a call: PyTorch's, JAX's, Dask's, …

A compiled function answers such a call through the adapter of the framework. Adapters are in a room above this one,
which makes itself known (`abroad.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.compiler.hooks import abroad
from kinetree.errors import DTypeError, OptionError
from kinetree.inputs import framework_of

__all__ = [
    "answered_abroad",
    "cast",
    "dtype_abroad",
    "framework_among",
    "is_single",
    "is_whole",
    "joined_abroad",
]

_F32 = np.dtype(np.float32)


def framework_among(arguments: Sequence[Any]) -> str | None:
    """The framework of the arguments, or of some of them; None if all are NumPy's, or numbers.

    Raises `DTypeError` for arrays of two frameworks. Labelled arrays may hold arrays of Dask, so these two go together.
    """
    names = {name for x in arguments if type(x) is not np.ndarray and (name := framework_of(x)) is not None}
    if names == {"dask", "xarray"}:
        return "xarray"
    if len(names) > 1:
        raise DTypeError(f"one call has arrays of {' and of '.join(sorted(names))}: give those of one framework alone")
    return names.pop() if names else None


def answered_abroad(framework: str, compiled: Any, arguments: Sequence[Any], out: Any, threads: int | None) -> Any:
    """The result of a call in the arrays of a framework."""
    for name, given in (("out", out), ("threads", threads)):
        if given is not None:
            raise OptionError(f"{compiled.name}: {name}= is for NumPy's arrays; leave it out for those of {framework}")
    return abroad().answer(framework, compiled, arguments)


def dtype_abroad(name: str, arguments: Sequence[Any]) -> str | None:
    """The dtype of a call by the rule of the framework whose arrays are among the arguments; None if the rule is that
    for NumPy's."""
    framework = framework_among(arguments)
    return None if framework is None else abroad().dtype(framework, name, arguments)


_NUMPYS = np.ndarray, np.generic


def cast(array: Any, dtype: np.dtype[Any]) -> Any:
    """An array of NumPy's or of a framework in another dtype."""
    if isinstance(array, _NUMPYS) or (framework := framework_of(array)) is None:
        return array.astype(dtype)
    return abroad().cast(framework, array, dtype)


def joined_abroad(framework: str, parts: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtype: Any) -> Any:
    """The numbers of all parts in one array (…, n) of the framework."""
    return abroad().join(framework, parts, shapes, dtype)


def is_single(dtype: object) -> bool:
    """Whether this is the dtype of an array in single precision, in NumPy or elsewhere."""
    return dtype == _F32 or (not isinstance(dtype, np.dtype) and str(dtype) == "torch.float32")


def is_whole(dtype: object) -> bool:
    """Whether this is the dtype of an array of whole numbers or truth values, in NumPy or elsewhere."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biu"
    return str(dtype).startswith(("torch.int", "torch.uint", "torch.bool"))
