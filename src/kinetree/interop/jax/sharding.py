"""Calls on arrays that are spread over several devices: each device computes its own part of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

__all__ = ["in_shards"]


def in_shards(
    function: Callable[..., Any], ranks: Sequence[int], inputs: Sequence[int], outputs: Sequence[int]
) -> Callable[..., Any]:
    """The function of a batch, which XLA may run on parts of it.

    `ranks` are those of the operands; `inputs` and `outputs` are the numbers of axes of one sample of each, which stay
    together.
    """
    batch = max((rank - core for rank, core in zip(ranks, inputs, strict=True)), default=0)
    if batch == 0:
        return function

    def leading(shapes: Sequence[Any]) -> list[Any]:
        """How the leading axes are spread: as in the first operand that is spread along them."""
        for rank, core, shape in zip(ranks, inputs, shapes, strict=True):
            spec = (*getattr(shape.sharding, "spec", ()), *(None,) * rank)[: rank - core]
            if any(axis is not None for axis in spec):
                return [*spec]
        return [None] * batch

    def of_results(mesh: Any, shapes: Sequence[Any], _: Any) -> list[NamedSharding]:
        spread = leading(shapes)
        return [NamedSharding(mesh, PartitionSpec(*spread, *(None,) * core)) for core in outputs]

    def partition(mesh: Any, shapes: Sequence[Any], results: Any) -> Any:
        spread = leading(shapes)
        own = tuple(
            NamedSharding(mesh, PartitionSpec(*spread[: rank - core], *(None,) * core))
            for rank, core in zip(ranks, inputs, strict=True)
        )
        return mesh, function, of_results(mesh, shapes, results), own

    partitioned = custom_partitioning(function)
    partitioned.def_partition(
        partition=partition, infer_sharding_from_operands=of_results, sharding_rule=_rule(ranks, inputs, outputs, batch)
    )
    made: Callable[..., Any] = partitioned
    return made


def _rule(ranks: Sequence[int], inputs: Sequence[int], outputs: Sequence[int], batch: int) -> str:
    """Shardy's rule: the axes of the batch by name; those of one sample, each under its own, are not spread.

    >>> _rule([2, 1], [1, 1], [2], 1)
    'b0 i0_0, i1_0 -> b0 o0_0 o0_1'
    """
    leading = [f"b{k}" for k in range(batch)]
    given = [
        " ".join([*leading[: rank - core], *(f"i{n}_{k}" for k in range(core))])
        for n, (rank, core) in enumerate(zip(ranks, inputs, strict=True))
    ]
    made = [" ".join([*leading, *(f"o{n}_{k}" for k in range(core))]) for n, core in enumerate(outputs)]
    return f"{', '.join(given)} -> {', '.join(made)}"
