"""What the primitive carries: a node, the inputs in which it is linear, and what transposes it in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree.codegen.backend import Batch
from kinetree.interop.node import Node

__all__ = ["Call"]


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
        batch = self._batch
        with np.errstate(all="ignore"):
            found = batch.call(*map(np.asarray, arrays))
        return [*found] if len(self.node.outputs) != 1 else [found]

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
