"""Nodes called with NumPy's arrays, for frameworks that hand theirs over as such."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.codegen.backend import Batch
from kinetree.compiler.batch_pieces import several_in_pieces
from kinetree.interop.node import Node

__all__ = ["OnNumpy"]

Array = NDArray[Any]


class OnNumpy:
    """A node, to be called with arrays (…, *shape) of its dtype whose leading axes broadcast; gives a list of results.

    Large batches are computed on several threads. Quaternions are not checked: the NaN of one that has no direction
    stays in its sample.
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    def __call__(self, *arrays: Array) -> list[Array]:
        node, arrays = self._node, tuple(map(np.asarray, arrays))
        ranks = [len(port.shape) for port in node.inputs]
        shapes = [port.shape for port in node.outputs]
        return several_in_pieces(self._batch.call, arrays, ranks, shapes, node.dtype, node.seconds)

    @cached_property
    def _batch(self) -> Batch:
        made = self._node.kernels.batch()
        if made.flags is not None:
            made.flags[1] = 1
        return made
