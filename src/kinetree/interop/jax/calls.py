"""What the primitive carries: a node, the inputs in which it is linear, and what transposes it in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree.codegen.backend import Batch
from kinetree.expr import interpret
from kinetree.interop.node import Node

__all__ = ["Call"]

Array = np.ndarray[Any, np.dtype[Any]]


class Call:
    """A node to call. Two of the same fingerprint are equal, so that JAX traces and compiles them once."""

    def __init__(self, node: Node, linear: Sequence[int] = (), transposed: Callable[[], Call] | None = None) -> None:
        """`transposed`: the call that takes the other inputs and then cotangents of the outputs, and gives those of
        the inputs `linear`."""
        self.node = node
        self.linear = tuple(linear)
        self._transposed = transposed
        self._tangents: dict[tuple[int, ...], Call] = {}

    def __repr__(self) -> str:
        return repr(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and (self.fingerprint, self.linear) == (other.fingerprint, other.linear)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """A name for what it computes, the same in every process."""
        return self.node.fingerprint

    def on_host(self, *arrays: Any) -> list[Any]:
        """The results for NumPy's arrays."""
        node, given = self.node, [*map(np.asarray, arrays)]
        if not all(port.size for port in (*node.inputs, *node.outputs)):  # a gufunc cannot have arrays of no numbers
            return self._interpreted(given)
        with np.errstate(all="ignore"):
            found = self._batch.call(*given)
        return [*found] if len(node.outputs) != 1 else [found]

    def _interpreted(self, given: Sequence[Array]) -> list[Any]:
        node = self.node
        leading = [x.shape[: x.ndim - len(port.shape)] for x, port in zip(given, node.inputs, strict=True)]
        batch = np.broadcast_shapes(*leading)
        whole = [np.broadcast_to(x, (*batch, *port.shape)) for x, port in zip(given, node.inputs, strict=True)]
        results = [np.empty((*batch, *port.shape), node.dtype) for port in node.outputs]
        for index in np.ndindex(batch):
            found = interpret(node.program, *(x[index].ravel().tolist() for x in whole))
            for result, values in zip(results, found, strict=True):
                result[index] = np.reshape(values, result.shape[len(batch) :])
        return results

    @cached_property
    def _batch(self) -> Batch:
        made = self.node.kernels.batch()
        if made.flags is not None:
            made.flags[1] = 1  # quaternions are not checked: NaN says that one has no direction
        return made

    @property
    def transposed(self) -> Call:
        """What transposes it in the inputs `linear`."""
        assert self._transposed is not None
        return self._transposed()

    def tangent(self, active: Sequence[int]) -> Call:
        """The tangents of its outputs, linear in the tangents of the inputs `active`, which follow its inputs."""
        active = tuple(active)
        if active not in self._tangents:
            node, count = self.node, len(self.node.inputs)

            def backward() -> Call:
                return Call(node.reverse(active), range(count, count + len(node.outputs)), lambda: forward)

            forward = Call(node.forward(active), range(count, count + len(active)), backward)
            self._tangents[active] = forward
        return self._tangents[active]
