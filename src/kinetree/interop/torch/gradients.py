"""Derivatives of calls, for autograd and `torch.func`: they are calls again, so they have derivatives too."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from kinetree.interop.torch.calls import Call
from kinetree.interop.torch.operator import computed

__all__ = ["differentiable"]


def differentiable(call: Call, arrays: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The results of a call with arrays of its dtype, whose leading axes broadcast."""
    found: tuple[torch.Tensor, ...] = _Differentiable.apply(call, *arrays)
    return found


class _Differentiable(torch.autograd.Function):  # type: ignore[misc]
    """A call; its first argument is the call itself."""

    @staticmethod
    def forward(call: Call, *arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(computed(call, arrays))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004
        ctx.call, *arrays = inputs
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        arrays = ctx.saved_tensors
        active = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        found: list[torch.Tensor | None] = [None] * len(arrays)
        results = differentiable(ctx.call.reverse(active), [*arrays, *cotangents])
        for k, result in zip(active, results, strict=True):
            found[k] = result.sum_to_size(arrays[k].shape)  # the cotangents of what samples share add up
        return None, *found

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        given = {k: x for k, x in enumerate(tangents[1:]) if x is not None}
        return differentiable(ctx.call.forward(tuple(given)), [*ctx.saved_tensors, *given.values()])

    @staticmethod
    def vmap(
        info: Any,  # noqa: ARG004
        in_dims: tuple[int | None, ...],
        call: Call,
        *arrays: torch.Tensor,
    ) -> tuple[tuple[torch.Tensor, ...], tuple[int, ...]]:
        """The axis that is mapped becomes the first of the batch."""
        cores = [len(port.shape) for port in call.node.inputs]
        pairs = list(zip(arrays, in_dims[1:], cores, strict=True))
        rank = max(x.dim() - (axis is not None) - core for x, axis, core in pairs)
        results = differentiable(call, [_first(x, axis, rank + core + 1) for x, axis, core in pairs])
        return results, (0,) * len(results)


# PyTorch asks for it in each call, and it takes long to find.
_Differentiable.forward.__signature__ = inspect.signature(_Differentiable.forward)  # type: ignore[attr-defined]


def _first(x: torch.Tensor, axis: int | None, rank: int) -> torch.Tensor:
    """The axis first, and then as many of length 1 as the rank needs."""
    if axis is None:
        return x
    x = x.movedim(axis, 0)
    return x[(slice(None), *(None,) * (rank - x.dim()))]
