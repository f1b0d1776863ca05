"""Differences between versions of JAX, from 0.5 to 0.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import PartitionSpec

__all__ = ["knows_devices", "results_like", "usable_in_shard_map", "varying_alike"]


def results_like(
    operands: Sequence[Any], batch: tuple[int, ...], shapes: Sequence[tuple[int, ...]], dtype: Any
) -> list[Any]:
    """The types of results (*batch, *shape), which vary over devices as the operands do."""
    largest = max(operands, key=lambda x: len(x.shape))
    return [_like(largest, len(batch), (*batch, *shape), dtype) for shape in shapes]


def _like(aval: Any, batch: int, shape: tuple[int, ...], dtype: Any) -> Any:
    sharding = getattr(aval, "sharding", None)
    if sharding is None or sharding.mesh.empty:
        return jax.core.ShapedArray(shape, dtype)
    spec = (*sharding.spec, *(None,) * len(shape))[:batch]
    own = sharding.update(spec=PartitionSpec(*spec, *(None,) * (len(shape) - batch)))
    return aval.update(shape=shape, dtype=dtype, weak_type=False, sharding=own)


def varying_alike(arrays: Sequence[Any]) -> list[Any]:
    """Arrays inside `jax.shard_map`: values that are the same on all devices are marked as varying if others vary, so
    that cotangents of it are summed over devices."""
    if not hasattr(jax, "typeof"):
        return [*arrays]
    axes = [_varying(x) for x in arrays]
    every = frozenset[Any]().union(*axes)
    return [_marked(x, tuple(every - own)) if every - own else x for x, own in zip(arrays, axes, strict=True)]


def _varying(x: Any) -> frozenset[Any]:
    """The axes of devices over which an array is known to vary."""
    aval = jax.typeof(x)
    axes: frozenset[Any] = aval.mat.varying if hasattr(aval, "mat") else getattr(aval, "vma", frozenset())
    return axes


def _marked(x: Any, axes: tuple[Any, ...]) -> Any:
    return jax.lax.pcast(x, axes, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(x, axes)


def usable_in_shard_map(primitive: Any) -> None:
    """Before 0.6 or 0.7, `shard_map` needed a rule that a primitive's results vary as its operands do."""
    if not hasattr(jax, "typeof"):
        from jax.experimental import shard_map

        shard_map.register_standard_check(primitive)
        shard_map.register_standard_rewrite(primitive)


def knows_devices(primitive: Any) -> bool:
    """Let lowerings of a primitive know the devices, as `custom_partitioning` needs; False if this JAX has no way."""
    try:
        from jax._src.dispatch import prim_requires_devices_during_lowering
    except ImportError:
        return False
    prim_requires_devices_during_lowering.add(primitive)
    return True
