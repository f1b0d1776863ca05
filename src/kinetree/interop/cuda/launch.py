"""One kernel of kinetree's on one device: the launches that compute a batch."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from kinetree.codegen.ptx.backend import gather_text
from kinetree.codegen.ptx.gather import AXES, ENTRY
from kinetree.codegen.ptx.kernel import BLOCK
from kinetree.compiler.compiled import IMPORTED
from kinetree.errors import ShapeError
from kinetree.interop.cuda.arrays import DeviceArray, View
from kinetree.interop.cuda.device import Device
from kinetree.interop.node import Node

__all__ = ["Launcher"]

_MOST_BLOCKS = (1 << 31) - 1
_MOST_PLANS = 1000
_Way = tuple[int | None, tuple[int, ...]]
"""The distance between samples, or None: the argument is made contiguous first; and its strides along all axes."""


class Launcher:
    """A node's kernel, loaded."""

    def __init__(self, node: Node, device: Device) -> None:
        self.node = node
        self.device = device
        self._ptx = node.ptx
        self._plans: dict[Any, list[_Way]] = {}
        self._has_kernel = all(port.size for port in node.outputs)
        with device:
            self.kernel: int = device.kernel(self._ptx.text(), self._ptx.entry) if self._has_kernel else 0

    def __call__(
        self,
        inputs: Sequence[View],
        outputs: Sequence[View],
        batch: tuple[int, ...],
        stream: int,
        *,
        apart: bool = True,
    ) -> None:
        """Compute a batch on a stream: inputs whose leading axes broadcast to it, outputs in C order. The device is
        the thread's own. `apart`: the outputs are new memory, which no input is in."""
        count = math.prod(batch)
        if not count or not self._has_kernel:
            return
        key = batch, *((view.shape, view.strides) for view in inputs)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = [self._way(k, view, batch) for k, view in enumerate(inputs)]
        copies, parameters = [], []
        for k, (view, (stride, strides)) in enumerate(zip(inputs, plan, strict=True)):
            if stride is None or not (apart or _are_apart(view, outputs)):
                copies.append(self._gathered(k, view, strides, batch, stream))
                parameters += [copies[-1].view.pointer, self.node.inputs[k].size]
            else:
                parameters += [view.pointer, stride]
        parameters += [view.pointer for view in outputs]
        grid = -(-count // self._ptx.block)
        if grid > _MOST_BLOCKS:
            raise ShapeError(f"{self.node.name}: {count:,} samples are more than one launch can have; call it in parts")
        self.device.launch(self.kernel, grid, self._ptx.block, stream, [*parameters, count])
        del copies  # the memory is free again after the kernel, for it is on the same stream

    def _way(self, k: int, view: View, batch: tuple[int, ...]) -> _Way:
        """How an argument is read."""
        port = self.node.inputs[k]
        lead = view.ndim - len(port.shape)
        strides = broadcast(view.shape[:lead], view.strides[:lead], batch)
        rows = joined(port.shape, view.strides[lead:])
        stride = one_stride(batch, strides)
        if (rows and rows != [(port.size, 1)]) or (stride is not None and stride < 0):
            stride = None
        return stride, (*strides, *view.strides[lead:])

    def _gathered(self, k: int, view: View, strides: Sequence[int], batch: tuple[int, ...], stream: int) -> DeviceArray:
        """A copy in C order of an argument with any strides."""
        to = DeviceArray(self.device, (*batch, *self.node.inputs[k].shape), self.node.dtype, stream)
        axes = joined(to.shape, strides)
        if len(axes) > AXES:
            raise ShapeError(
                f"{self.node.name}: an array with {len(axes)} axes that are not adjacent; make it contiguous"
            )
        axes = [(1, 0)] * (AXES - len(axes)) + axes
        kernel = _gather_kernel(self.device, self.node.dtype.itemsize)
        count = math.prod(to.shape)
        numbers = [to.view.pointer, view.pointer, count, *(n for n, _ in axes), *(stride for _, stride in axes)]
        self.device.launch(kernel, -(-count // BLOCK), BLOCK, stream, numbers)
        return to

    @property
    def registers_and_memory(self) -> tuple[int, int]:
        """The registers of a thread, and the bytes of memory of its own, on this device."""
        with self.device:
            return self.device.registers_and_memory(self.kernel)


@functools.cache
def _gather_kernel(device: Device, size: int) -> int:
    return device.kernel(gather_text(size, IMPORTED), ENTRY)


def _are_apart(view: View, outputs: Sequence[View]) -> bool:
    """Whether no output is where this input is."""
    first, end = view.span
    return all(end <= start or stop <= first for start, stop in (output.span for output in outputs))


def broadcast(shape: Sequence[int], strides: Sequence[int], batch: Sequence[int]) -> list[int]:
    """Strides of the leading axes of an array, for those of a batch: 0 along axes of one entry.

    >>> broadcast((1, 5), (35, 7), (4, 3, 5))
    [0, 0, 7]
    """
    result = [0] * len(batch)
    for k in range(1, len(shape) + 1):
        result[-k] = strides[-k] if shape[-k] > 1 else 0
    return result


def joined(sizes: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """(size, stride) of the axes that are left when those of one number are dropped and adjacent ones are joined.

    >>> joined((4, 1, 5, 3), (35, 9, 7, 2))
    [(20, 7), (3, 2)]
    >>> joined((4, 5), (0, 0))
    [(20, 0)]
    """
    axes: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if axes and axes[-1][1] == size * stride:
            axes[-1] = axes[-1][0] * size, stride
        else:
            axes.append((size, stride))
    return axes


def one_stride(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The distance between samples, if there is only one; 0 where there is one sample.

    >>> one_stride((4, 5), (35, 7)), one_stride((4, 5), (7, 0))
    (7, None)
    """
    axes = joined(sizes, strides)
    return None if len(axes) > 1 else axes[0][1] if axes else 0
