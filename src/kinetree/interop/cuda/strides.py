"""Where the samples of an array are, as a kernel takes it: one distance between one sample and the next."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["broadcast", "joined", "one_stride"]


def broadcast(shape: Sequence[int], strides: Sequence[int], batch: Sequence[int]) -> list[int]:
    """Strides of the leading axes of an array, for those of a batch: 0 along what it has once.

    >>> broadcast((1, 5), (35, 7), (4, 3, 5))
    [0, 0, 7]
    """
    found = [0] * len(batch)
    for k in range(1, len(shape) + 1):
        found[-k] = strides[-k] if shape[-k] > 1 else 0
    return found


def joined(sizes: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """(size, stride) of the axes that are left when those of one number are dropped and adjacent ones are joined.

    >>> joined((4, 1, 5, 3), (35, 9, 7, 2))
    [(20, 7), (3, 2)]
    >>> joined((4, 5), (0, 0))
    [(20, 0)]
    """
    found: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            found[-1] = found[-1][0] * size, stride
        else:
            found.append((size, stride))
    return found


def one_stride(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The distance between samples, if there is only one; 0 where there is one sample.

    >>> one_stride((4, 5), (35, 7)), one_stride((4, 5), (7, 0))
    (7, None)
    """
    axes = joined(sizes, strides)
    return None if len(axes) > 1 else axes[0][1] if axes else 0
