"""The arguments of calls as tensors: of the right kind, on the right device, of one dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from kinetree.errors import DeviceError, DTypeError
from kinetree.expr import Port
from kinetree.inputs import framework_of, real_array, sample_shape

__all__ = ["as_tensor", "cast", "common_dtype", "on_one_device"]

_DEVICES = ("cpu", "meta")
_TAKEN: dict[type | None, str] = {
    None: "real numbers",
    float: "real numbers",
    int: "whole numbers",
    bool: "booleans",
}
_WHOLE = frozenset(
    getattr(torch, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
)


def as_tensor(function: str, name: str, port: Port, kind: type | None, x: Any) -> torch.Tensor:
    """An argument as a tensor. `kind`: the kind of its numbers, `float`, `int` or `bool`, or None for any of these.

    Raises `DTypeError` for numbers of another kind and tensors that are not dense, `DeviceError` for other devices.
    """
    tensor = x if isinstance(x, torch.Tensor) else _from_others(function, name, port, kind, x)
    if tensor.device.type not in _DEVICES:
        raise DeviceError(
            f"{function}: {name} is on the device {tensor.device}, and kt.interop.to_torch computes on the CPU; give "
            f"{name}.cpu(), whose gradient goes back by itself"
        )
    if tensor.layout != torch.strided:
        raise DTypeError(f"{_wanted(function, name, port, kind)}, not of {tensor.layout}; give {name}.to_dense()")
    dtype = tensor.dtype
    is_whole, is_truth = dtype in _WHOLE, dtype == torch.bool
    fits = is_truth if kind is bool else is_whole or (kind is not int and dtype.is_floating_point)
    if not fits and not (kind is None and is_truth):
        raise DTypeError(f"{_wanted(function, name, port, kind)}, not of {dtype}")
    return tensor


def on_one_device(
    function: str, names: Sequence[str], given: Sequence[Any], tensors: list[torch.Tensor]
) -> list[torch.Tensor]:
    """The tensors that `as_tensor` made of the arguments, on one device; raises `DeviceError` for tensors of two."""
    if all(x.device.type == "cpu" for x in tensors):
        return tensors
    devices = [x.device.type for x in tensors]
    if here := [k for k, x in enumerate(given) if isinstance(x, torch.Tensor) and devices[k] == "cpu"]:
        raise DeviceError(
            f"{function}: {names[here[0]]} is on the CPU, and {names[devices.index('meta')]} on the device meta; give "
            "all tensors on one device"
        )
    return [x.to("meta") for x in tensors]


def common_dtype(function: str, arrays: Sequence[Any]) -> torch.dtype:
    """The dtype that a call computes in: float32 if all its arrays of real numbers are, and float64 for whole
    numbers alone.

    Numbers and lists of numbers do not count.
    """
    common = None
    for x in arrays:
        for dtype in _dtypes(x):
            common = dtype if common is None else torch.promote_types(common, dtype)
    if common is None:
        return torch.float64
    if common not in (torch.float32, torch.float64):
        raise DTypeError(
            f"{function} computes in float32 or float64, not in {str(common).removeprefix('torch.')}; convert its "
            "tensors, as in q.float()"
        )
    return common


def cast(tensor: torch.Tensor, dtype: np.dtype[Any]) -> torch.Tensor:
    """A tensor in the dtype that NumPy calls so."""
    return tensor.to(getattr(torch, dtype.name))


def _dtypes(x: Any) -> Iterator[torch.dtype]:
    """The dtypes of the tensors, and of NumPy's arrays, of real numbers."""
    if isinstance(x, torch.Tensor):
        if x.is_floating_point():
            yield x.dtype
    elif isinstance(x, list | tuple):
        for y in x:
            yield from _dtypes(y)
    elif isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "f":
        yield torch.float32 if x.dtype == np.float32 else torch.float64


def _wanted(function: str, name: str, port: Port, kind: type | None) -> str:
    return f"{function}: {name} must be a tensor of {_TAKEN[kind]} of shape {_shape(port)}"


def _shape(port: Port) -> str:
    return sample_shape(port.shape)


def _from_others(function: str, name: str, port: Port, kind: type | None, x: Any) -> torch.Tensor:
    if isinstance(x, list | tuple) and framework_of(x) == "torch":
        return _stacked(x, common_dtype(function, x))
    array = np.asarray(x) if kind is bool else real_array(f"{function}: {name}", x, _shape(port))
    if array.dtype.kind not in "fiub":
        raise DTypeError(f"{_wanted(function, name, port, kind)}, not of dtype {array.dtype}")
    return torch.tensor(np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape))


def _stacked(x: Any, dtype: torch.dtype) -> torch.Tensor:
    """Lists of tensors, and of numbers among them, as one tensor, by which they are differentiated."""
    if isinstance(x, list | tuple):
        return torch.stack([_stacked(y, dtype) for y in x])
    return x.to(dtype) if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=dtype)
