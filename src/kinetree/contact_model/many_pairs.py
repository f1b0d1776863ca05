"""The remark on robots with more pairs of shapes that may touch than they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kinetree.contact_model.shapes import Surface, kind_of
from kinetree.contact_model.spec import TouchSpec
from kinetree.errors import ModelError, listed
from kinetree.model import Model

__all__ = ["MANY_PAIRS", "MOST_PAIRS", "about_many", "too_many"]

MANY_PAIRS = 300
"""More are warned of: robots rarely need them, and their programs are large."""
MOST_PAIRS = 10_000
"""More are rejected: no program of them would be compiled in a reasonable time."""
_CHOICES = (
    "robot.without_self_contact() keeps those with the ground, robot.with_contacts(bodies) those of some bodies, such "
    "as the feet; an SRDF file leaves out bodies that never meet, <exclude>, contype and conaffinity of an MJCF file "
    "do so, too (docs/collision.md)"
)


def about_many(robot: Model, touches: Sequence[TouchSpec]) -> str:
    """A sentence about a robot with many pairs; empty for one with few."""
    if len(touches) <= MANY_PAIRS:
        return ""
    kinds = Counter(f"{touch.first.shape.kind} and {touch.second.shape.kind}" for touch in touches)
    counts = listed((f"{count} {kind}" for kind, count in kinds.most_common()), most=8)
    return (
        f"{robot.name!r} has {len(touches):,} pairs of shapes that may touch ({counts}); their program takes long to "
        f"compile and to run. Choose those that matter: {_CHOICES}"
    )


def too_many(robot: Model, shapes: Sequence[Surface]) -> ModelError:
    kinds = Counter(kind_of(one.geometry) for one in shapes)
    counts = listed((f"{count:,} {kind}" for kind, count in kinds.most_common()), most=8)
    return ModelError(
        f"{robot.name!r} has more than {MOST_PAIRS:,} pairs of shapes that may touch, the limit; its shapes are "
        f"{counts}. Choose those that matter: {_CHOICES}"
    )
