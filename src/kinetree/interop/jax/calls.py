"""The parameter of the primitive: a node, the inputs in which it is linear, and its transpose in these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from kinetree.interop.node import Node
from kinetree.interop.on_numpy import OnNumpy

__all__ = ["Call"]


class Call:
    """A node to call. Two of the same fingerprint are equal, so that JAX traces and compiles them once."""

    def __init__(self, node: Node, linear: Sequence[int] = (), transposed: Callable[[], Call] | None = None) -> None:
        """`transposed`: the call that takes the other inputs and then cotangents of the outputs, and gives those of
        the inputs `linear`."""
        self.node = node
        self.linear: tuple[int, ...] = tuple(linear)
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
        """A name for its computation, the same in every process."""
        return self.node.fingerprint

    @cached_property
    def on_host(self) -> OnNumpy:
        """The function of NumPy's arrays."""
        return OnNumpy(self.node)

    @property
    def transposed(self) -> Call:
        """Its transpose in the inputs `linear`."""
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
