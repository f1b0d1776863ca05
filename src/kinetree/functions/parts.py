"""Which rows of a Jacobian are wanted: all six, or those of the linear or the angular velocity."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

from kinetree.expr import Scalar
from kinetree.functions.options import one_of
from kinetree.model import Model
from kinetree.spatial import Motion

__all__ = ["Part", "part_of", "part_option", "rows_of"]

Part = Literal["full", "linear", "angular"]

_one_of_them = one_of("part", "full", "linear", "angular")


def part_option(model: Model, value: Any) -> Hashable:
    """The selected part; all rows for None."""
    return "full" if value is None else _one_of_them(model, value)


def rows_of(part: str) -> int:
    """Number of rows of a part."""
    return 6 if part == "full" else 3


def part_of(m: Motion, part: str) -> Sequence[Scalar]:
    """The entries of a column that belong to a part."""
    if part == "linear":
        return m.linear.components()
    if part == "angular":
        return m.angular.components()
    return m.linear_first()
