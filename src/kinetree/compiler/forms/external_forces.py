"""External forces as the algorithms take them: on bodies, in the bodies' own coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms import placements
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.model.external_forces import Acting
from kinetree.spatial import Force, Vec3

__all__ = ["forces_on_bodies"]


def forces_on_bodies(
    model: Form, forces: Sequence[Acting], given: Sequence[Sequence[Scalar]], q: Any
) -> dict[int, Force]:
    """The sum on each body at q, by slot; `given` has six numbers per force, a wrench [f; n] or [f; point]."""
    X_0 = placements(model.tree, q) if any(force.turns for force in forces) else []
    total: dict[int, Force] = {}
    for acting, numbers in zip(forces, given, strict=True):
        frame = model.frames[acting.frame.name]
        slot, f, rest = frame.slot, Vec3(*numbers[:3]), Vec3(*numbers[3:])
        if acting.expressed_in == "world":
            wrench = X_0[slot].inverse.back(Force(rest.cross(f) if acting.at_point else rest, f))
        else:
            if acting.turns:
                axes = (frame.placement @ X_0[slot]).E
                f, rest = axes @ f, rest if acting.at_point else axes @ rest
            wrench = frame.placement.back(Force(rest.cross(f) if acting.at_point else rest, f))
        total[slot] = total[slot] + wrench if slot in total else wrench
    return total
