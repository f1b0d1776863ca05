"""Shapes: meshes that are missing or in another unit, and robots without collision shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.checking.extents import shape_corners
from kinetree.checking.subject import Subject, warning
from kinetree.model.problems import Collected
from kinetree.problems import Problem, problem

__all__ = ["check_shapes"]

_FAR = 100.0
"""Metres: no part of a robot is so large, but a mesh in millimetres is."""
_RATIO = 50.0
"""How many times as long as the longest offset of a joint a mesh may be, if it is longer than five metres."""
_SMALL = 1e-4
"""Metres: a mesh whose scale was applied twice is not larger."""


def check_shapes(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """All shapes."""
    told = {found.sentence for found in problems.found if found.code == "missing-mesh"}
    shapes = [(link, shape) for link in subject.parts.links for shape in link.geometry]
    offsets = [math.hypot(*map(float, joint.placement.r.components())) for joint in subject.parts.joints]
    longest = max(offsets, default=0.0)
    for link, shape in shapes:
        if shape.mesh is None:
            continue
        if shape.mesh_path is None:
            if not any(repr(shape.mesh)[:50] in sentence for sentence in told):
                sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is not found"
                yield warning(link.where, f"{sentence}; correct its address", "missing-mesh")
            continue
        corners = shape_corners(shape)
        if corners is None:
            continue
        size = float(np.ptp(corners, axis=0).max())
        if size > _FAR or (longest > 0.0 and size > max(_RATIO * longest, 5.0)):
            sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is {size:.3g} m large"
            yield warning(link.where, f'{sentence}; give scale="0.001 0.001 0.001" if it is in mm', "mesh-units")
        elif 0.0 < size < _SMALL:
            sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is only {size:.3g} m large"
            yield warning(link.where, f"{sentence}; correct its scale", "mesh-units")
    roles = {shape.role for _, shape in shapes}
    if subject.parts.links and "collision" not in roles and not problems.fatal:
        yield problem(subject.parts.source, "no body has a collision shape", "no-collision-shapes", severity="note")
