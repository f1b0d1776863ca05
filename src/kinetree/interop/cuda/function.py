"""A function of kinetree on a graphics processor, as `kinetree.compile(…, device="cuda")` returns it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.compiler.arguments import Arguments, LeftOut, check_out
from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.definition import Array
from kinetree.compiler.hooks import on_device
from kinetree.errors import DTypeError, ShapeError
from kinetree.inputs import sample_shape
from kinetree.interop.cuda.arrays import (
    DeviceArray,
    View,
    current_stream,
    empty_like,
    in_its_library,
    is_on_device,
    library_of,
    stream_handle,
    view,
)
from kinetree.interop.cuda.device import LEGACY, device
from kinetree.interop.cuda.launch import Launcher
from kinetree.interop.node import Node

__all__ = ["CudaFunction"]

_MOST_NUMBERS = 100
"""Numbers that are kept on the device."""


class CudaFunction:
    """A compiled function on one device.

    Call it with arrays of CuPy, PyTorch, JAX or Numba on that device, (…, n), whose leading axes broadcast: the kernel
    is started on the library's current stream, or on `stream=`, and the result is an array of the same library, whose
    numbers are there when the stream has come to them. With NumPy's arrays the call copies them to the device, waits,
    and copies the result back.
    """

    def __init__(self, number: int, compiled: CompiledFunction, numbers: Sequence[Array]) -> None:
        """`number`: of the device; `numbers`: those of the options, which calls may leave out."""
        source = compiled.source
        self._compiled, self._numbers = compiled, tuple(numbers)
        self._left_out = LeftOut(source, compiled.dtype, numbers)
        self._launcher = Launcher(Node.of(source, compiled.dtype.name), device(number))
        self._device = self._launcher.device
        self._dtype = compiled.dtype
        self._known_numbers: dict[str, DeviceArray] = {}
        self._arguments = Arguments(
            source.name,
            source.subject,
            source.inputs,
            source.output.shape,
            compiled.dtype,
            source.quaternions,
            self._left_out,
            getattr(source, "alternatives", ()),
        )

    def __repr__(self) -> str:
        return f"{repr(self._compiled)[:-1]}, on {self._device!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return on_device, (f"cuda:{self._device.number}", self._compiled, self._numbers)

    @property
    def device(self) -> str:
        """The name of its device."""
        return f"cuda:{self._device.number}"

    @property
    def text(self) -> str:
        """Its kernel in PTX."""
        return self._launcher.node.ptx.text()

    @property
    def registers_and_memory(self) -> tuple[int, int]:
        """The registers of a thread, and the bytes of memory of its own, on this device."""
        return self._launcher.registers_and_memory

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None) -> Any:
        """The results for arrays in the order of the public function, as `kinetree.compile` says.

        Args:
            arguments: arrays of one library on this device, of the dtype that was compiled, and numbers; or NumPy's
                arrays and lists.
            out: a writable array in C order to write to, of the result's shape, where the arguments are.
            stream: a stream of PyTorch, CuPy or Numba, or its number; by default the library's current one.

        Raises:
            DTypeError: an array has another dtype, or is somewhere else than the first one.
            ShapeError: an array's shape does not fit.
            ConfigurationError: in an array of NumPy's a quaternion has no direction. On the device nothing is looked
                at before it is used: the results of such a sample are NaN.
            DeviceError: the device has no memory left, or failed.
        """
        given = self._complete(arguments)
        there = [is_on_device(x) for x in arguments]
        if True not in there:
            return self._from_here(given, out, stream)
        first = arguments[there.index(True)]
        here = [k for k, is_there in enumerate(there) if not is_there and not _is_number(arguments[k])]
        if here:
            name, k = self._compiled.name, here[0]
            raise DTypeError(
                f"{name}: an array of {library_of(first)} is on {self._device!r}, but argument {k + 1} "
                f"({_kind(arguments[k])}) is in this computer's memory; put it on the device first"
            )
        handle = current_stream(first) if stream is None else stream_handle(stream)
        with self._device:
            views = [self._seen(k, x, handle) for k, x in enumerate(given)]
            batch = self._arguments.batch_shape(views)  # type: ignore[arg-type]
            shape = (*batch, *self._arguments.core)
            result = empty_like(first, self._device, shape, self._dtype, handle) if out is None else out
            target = self._target(result, shape, handle)
            self._launcher(views, [target], batch, handle, apart=out is None)
        return result if out is not None else in_its_library(first, result)

    def _from_here(self, given: Sequence[Any], out: Any, stream: Any) -> Array:
        """The results for arrays in this computer's memory."""
        arrays = [np.ascontiguousarray(x).reshape(np.shape(x)) for x in self._arguments.prepared(given, out)]
        self._arguments.check_quaternions(arrays)
        batch = self._arguments.batch_shape(arrays)
        shape = (*batch, *self._arguments.core)
        if out is not None:
            check_out(self._compiled.name, out, shape, self._dtype)
        handle = LEGACY if stream is None else stream_handle(stream)
        with self._device:
            moved = [self._moved(x, handle) for x in arrays]
            result = DeviceArray(self._device, shape, self._dtype, handle)
            self._launcher([x.view for x in moved], [result.view], batch, handle)
            array = result.numpy()
        if out is None:
            return array
        out[...] = array
        return out  # type: ignore[no-any-return]

    def _moved(self, array: Array, stream: int) -> DeviceArray:
        moved = DeviceArray(self._device, array.shape, self._dtype, stream)
        self._device.upload(array, moved.view.pointer, stream)
        return moved

    def _kept(self, array: Array) -> DeviceArray:
        """An array on the device for calls on all streams."""
        moved = self._moved(array, LEGACY)
        moved.is_known_elsewhere = True
        self._device.synchronize(LEGACY)
        return moved

    @functools.cached_property
    def _constants(self) -> dict[int, DeviceArray]:
        """The numbers of the options, and zeros for optional arguments, on the device, by the argument's number."""
        arrays = {k: np.array(x, self._dtype, order="C") for k, x in self._left_out.values.items()}
        return {k: self._kept(x) for k, x in arrays.items()}

    def _complete(self, arguments: Sequence[Any]) -> list[Any]:
        """All arguments: NumPy's for those that were left out."""
        given, ports = list(self._left_out.filled(arguments)), self._arguments.ports
        if len(given) != len(ports):
            listed = ", ".join(port.name for port in ports)
            raise DTypeError(f"{self._compiled.name} takes {len(ports)} arrays ({listed}), not {len(arguments)}")
        return given

    def _seen(self, k: int, x: Any, stream: int) -> View:
        """An argument on the device, checked."""
        if not is_on_device(x) and not _is_number(x):
            return self._constants[k].view
        name, port = self._compiled.name, self._arguments.ports[k]
        argument = self._number(float(x)).view if _is_number(x) else self._checked(port.name, x, stream)
        if argument.ndim < len(port.shape) or argument.shape[argument.ndim - len(port.shape) :] != port.shape:
            needed = sample_shape(port.shape)
            raise ShapeError(
                f"{name}: {port.name} has shape {argument.shape}, but {self._compiled.source.subject} needs {needed}"
            )
        return argument

    def _number(self, x: float) -> DeviceArray:
        """A number on the device, such as the length of a step, which many calls have in common."""
        key = x.hex()  # 0.0 and -0.0 are equal
        if key not in self._known_numbers:
            if len(self._known_numbers) >= _MOST_NUMBERS:
                self._known_numbers.clear()
            self._known_numbers[key] = self._kept(np.array(x, self._dtype))
        return self._known_numbers[key]

    def _target(self, out: Any, shape: tuple[int, ...], stream: int) -> View:
        """Where the result goes."""
        name = self._compiled.name
        if not is_on_device(out):
            raise DTypeError(f"{name}: out is in this computer's memory, but the arguments are on {self._device!r}")
        target = self._checked("out", out, stream)
        if target.shape != shape:
            raise ShapeError(f"{name}: out has shape {target.shape}, but the result has {shape}")
        if not target.is_dense:
            raise ShapeError(f"{name}: out is not in C order; give a contiguous array")
        if not target.writable or library_of(out) == "jax":
            raise ShapeError(f"{name}: out is read-only")
        return target

    def _checked(self, what: str, x: Any, stream: int) -> View:
        name = self._compiled.name
        try:
            array = view(x, self._device, stream)
        except DTypeError as error:
            raise DTypeError(f"{name}: {what} is {error}") from None
        if array.dtype != self._dtype:
            raise DTypeError(
                f"{name}: {what} is {array.dtype}, but this function was compiled for {self._dtype}: convert it, or "
                f'compile with dtype="{array.dtype}"'
                if array.dtype in (np.float32, np.float64)
                else f"{name}: {what} is {array.dtype}, but this function takes {self._dtype}"
            )
        if array.device != self._device.number:
            raise DTypeError(f"{name}: {what} is on cuda:{array.device}, but this function is on {self._device!r}")
        return array


def _is_number(x: object) -> bool:
    return isinstance(x, int | float | np.floating | np.integer) and not isinstance(x, bool)


def _kind(x: object) -> str:
    """The kind of thing that was given, in a word or two."""
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{library_of(x)}.{kind.__name__}"
