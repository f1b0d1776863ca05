"""Results in other shapes; labelled ones (xarray) keep the names and labels of their axes.

Labelled arrays are known by their attribute `dims`, so xarray is not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["called_as", "relabelled", "reshaped"]


def reshaped(part: Any, shape: tuple[int, ...]) -> Any:
    """An array in another shape; a labelled one keeps the names and labels of all axes but the last."""
    if not hasattr(part, "dims"):
        return part.reshape(shape)
    if part.shape == shape:
        return part
    *kept, name = part.dims
    return relabelled(part, len(kept), shape[len(kept) :], [f"{name}_{k}" for k in range(len(shape) - len(kept))])


def relabelled(array: Any, leading: int, shape: tuple[int, ...], names: Sequence[Any], labels: Any = None) -> Any:
    """A labelled array whose axes after the leading ones have this shape, these names, and `labels` by them."""
    kept = array.dims[:leading]
    own = {key: x for key, x in array.coords.items() if set(x.dims) <= set(kept)}
    whole = array.data.reshape((*array.shape[:leading], *shape))
    return type(array)(whole, {**(labels or {}), **own}, [*kept, *names], array.name)


def called_as(array: Any, shape: tuple[int, ...], like: Sequence[tuple[Any, tuple[int, ...]]], name: str) -> Any:
    """A labelled array whose last axes, those of one sample, are called and labelled as those of the last labelled
    array of `like` that has samples of this shape; or by the array's new name and numbers, if none has.

    `like` are arrays, each with the shape of its samples.
    """
    rank = len(shape)
    names, labels = [f"{name}_{k}" for k in range(rank)], {}
    for x, own in like:
        if rank and own == shape and hasattr(x, "dims"):
            names = [*x.dims[-rank:]]
            labels = {key: of for key, of in x.coords.items() if of.dims and set(of.dims) <= set(names)}
    return relabelled(array, array.ndim - rank, shape, names, labels).rename(name)
