"""One kernel of kinetree's on one device: the launches that compute a batch."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from kinetree.codegen.ptx.backend import gather_text
from kinetree.codegen.ptx.gather import AXES, ENTRY
from kinetree.codegen.ptx.kernel import BLOCK
from kinetree.compiler.compiled import IMPORTED
from kinetree.errors import ShapeError
from kinetree.interop.cuda.arrays import DeviceArray, View
from kinetree.interop.cuda.device import Device
from kinetree.interop.cuda.strides import broadcast, joined, one_stride
from kinetree.interop.node import Node

__all__ = ["Launcher"]

_MOST_BLOCKS = (1 << 31) - 1


class Launcher:
    """A node's kernel, loaded."""

    def __init__(self, node: Node, device: Device) -> None:
        self.node = node
        self.device = device
        self._ptx = node.ptx
        self._has_kernel = all(port.size for port in node.outputs)
        with device:
            self.kernel = device.kernel(self._ptx.text(), self._ptx.entry) if self._has_kernel else 0

    def __call__(self, inputs: Sequence[View], outputs: Sequence[View], batch: tuple[int, ...], stream: int) -> None:
        """Compute a batch on a stream: inputs whose leading axes broadcast to it, outputs in C order. The device is
        the thread's own."""
        count = math.prod(batch)
        if not count or not self._has_kernel:
            return
        copies, parameters = [], []
        spans = [view.span for view in outputs]
        for view, port in zip(inputs, self.node.inputs, strict=True):
            rank = len(port.shape)
            lead = view.ndim - rank
            strides = broadcast(view.shape[:lead], view.strides[:lead], batch)
            rows = joined(port.shape, view.strides[lead:])
            stride = one_stride(batch, strides)
            is_row = not rows or rows == [(port.size, 1)]
            if stride is None or not is_row or stride < 0 or any(_overlap(view.span, span) for span in spans):
                made = DeviceArray(self.device, (*batch, *port.shape), self.node.dtype, stream)
                self._gather(view, (*strides, *view.strides[lead:]), made, stream)
                copies.append(made)
                view, stride = made.view, port.size
            parameters += [view.pointer, stride]
        parameters += [view.pointer for view in outputs]
        grid = -(-count // self._ptx.block)
        if grid > _MOST_BLOCKS:
            raise ShapeError(f"{self.node.name}: {count:,} samples are more than one launch can have; call it in parts")
        self.device.launch(self.kernel, grid, self._ptx.block, stream, [*parameters, count])
        del copies  # the memory is free again after the kernel, for it is on the same stream

    def _gather(self, view: View, strides: Sequence[int], to: DeviceArray, stream: int) -> None:
        """Copy an array with any strides to one in C order."""
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

    @property
    def registers_and_memory(self) -> tuple[int, int]:
        """The registers of a thread, and the bytes of memory of its own, on this device."""
        with self.device:
            return self.device.registers_and_memory(self.kernel)


@functools.cache
def _gather_kernel(device: Device, size: int) -> int:
    return device.kernel(gather_text(size, IMPORTED), ENTRY)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]
