"""The parameter of the primitive: a node, the inputs in which it is linear, and its transpose in these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetree.errors import DTypeError
from kinetree.interop.node import Node
from kinetree.interop.on_numpy import OnNumpy

__all__ = ["Call", "common_dtype"]


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


def common_dtype(function: str, arrays: Iterable[Any]) -> np.dtype[Any]:
    """The dtype that a call computes in: float32 if JAX promotes its arrays of real numbers to that, and otherwise
    float64; JAX's own default for real numbers without any.

    Numbers, lists of numbers and arrays of whole numbers do not count. Inside `jax.jit` numbers are weakly typed.
    """
    leaves = [x for x in jax.tree.leaves([*arrays]) if hasattr(x, "dtype") and not getattr(x, "weak_type", False)]
    counted = [jax.dtypes.canonicalize_dtype(x.dtype) for x in leaves if jnp.issubdtype(x.dtype, jnp.floating)]
    common = jnp.result_type(*counted or [float])
    if common not in (jnp.float32, jnp.float64):
        raise DTypeError(
            f"{function} computes in float32 or float64, not in {common}; convert its arrays, as in "
            "q.astype(jax.numpy.float32)"
        )
    dtype: np.dtype[Any] = np.dtype(common.name)
    return dtype
