"""The sum of products of two rows of numbers, in order."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar

__all__ = ["dot"]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Σ aₖ bₖ."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
