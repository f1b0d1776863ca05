"""Nodes and their derivatives, called with tensors, each by a name that graphs of PyTorch can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from kinetree.interop.node import Node
from kinetree.interop.on_numpy import OnNumpy

__all__ = ["Call", "called"]

Array = NDArray[Any]


class Call:
    """A node to call. `computed` gives its results for NumPy's arrays."""

    def __init__(self, node: Node, computed: Callable[..., Sequence[Array]], origin: str = "") -> None:
        """`origin`: the name, for a derivative."""
        self.node = node
        self.computed = computed
        self._origin = origin
        self._derivatives: dict[tuple[str, tuple[int, ...]], Call] = {}

    def __repr__(self) -> str:
        return repr(self.node)

    @cached_property
    def name(self) -> str:
        """Its name in graphs, the same in every process: that of a function, then the steps to the derivative."""
        if self._origin:
            return self._origin
        name = f"{self.node.name}_{self.node.fingerprint}"
        _functions.setdefault(name, self)
        return name

    def forward(self, wrt: Sequence[int]) -> Call:
        """The tangents of its outputs, as `Node.forward`."""
        return self._derivative("forward", tuple(wrt))

    def reverse(self, wrt: Sequence[int]) -> Call:
        """The cotangents of its inputs `wrt`, as `Node.reverse`."""
        return self._derivative("reverse", tuple(wrt))

    def _derivative(self, mode: str, wrt: tuple[int, ...]) -> Call:
        if (mode, wrt) not in self._derivatives:
            node = self.node.forward(wrt) if mode == "forward" else self.node.reverse(wrt)
            self._derivatives[mode, wrt] = Call(node, OnNumpy(node), f"{self.name}/{mode} {_text(wrt)}")
        return self._derivatives[mode, wrt]


_functions: dict[str, Call] = {}
"""The functions in graphs, by name. Nobody says when a graph is given up, so they live as long as the process."""


def called(name: str) -> Call:
    """The call of this name. Derivatives that only a kept graph knows are made here."""
    function, *steps = name.split("/")
    call = _functions[function]
    for step in steps:
        mode, _, wrt = step.partition(" ")
        call = (call.forward if mode == "forward" else call.reverse)([int(k) for k in wrt.split(",")])
    return call


def _text(wrt: Sequence[int]) -> str:
    return ",".join(map(str, wrt))
