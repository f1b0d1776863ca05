"""How large bodies are, by their shapes, the corners of their meshes, and the joints on them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.files import read_regular
from kinetree.model.elements import Geometry
from kinetree.model.specs import Parts
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = ["Extent", "extents", "reach", "shape_corners"]

Floats = NDArray[np.float64]

_UNIT = np.array(list(product((-1.0, 1.0), repeat=3)))


@record(frozen=True, slots=True, eq=False)
class Extent:
    """A box around a body, in its own frame."""

    low: Floats
    high: Floats
    is_known: bool
    """Whether the body has shapes and the size of each is known; otherwise the box may be too small."""

    def farthest(self, point: Floats) -> float:
        """The greatest distance of a point of the box from another point."""
        return float(np.linalg.norm(np.maximum(np.abs(self.low - point), np.abs(self.high - point))))

    def distance(self, point: Floats) -> float:
        """The distance of a point from the box; zero inside."""
        return float(np.linalg.norm(np.maximum(0.0, np.maximum(self.low - point, point - self.high))))

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(self.high - self.low))


def extents(parts: Parts) -> dict[str, Extent]:
    """The extent of each link: its shapes, its origin, and the joints that it carries."""
    carried: dict[str, list[Floats]] = {link.name: [np.zeros(3)] for link in parts.links}
    for joint in parts.joints:
        if joint.parent in carried:
            carried[joint.parent].append(_floats(joint.placement.r.components()))
    result = {}
    for link in parts.links:
        corners = [shape_corners(shape) for shape in link.geometry if shape.shape not in ("plane", "heightfield")]
        known = [box for box in corners if box is not None]
        points = np.concatenate([np.array(carried[link.name]), *known])
        with np.errstate(invalid="ignore"):
            is_known = bool(corners) and len(known) == len(corners) and bool(np.isfinite(points).all())
            result[link.name] = Extent(points.min(axis=0), points.max(axis=0), is_known)
    return result


def shape_corners(shape: Geometry) -> Floats | None:
    """The corners of a box around a shape in its body's frame, (n, 3); None if its size is not known."""
    size = shape.size
    if shape.shape == "mesh":
        corners = None if shape.mesh_path is None else mesh_corners(shape.mesh_path)
        if corners is None or len(size) != 3:
            return None
        local = corners * np.array(size)
    elif shape.shape == "box":
        local = 0.5 * np.array(size) * _UNIT
    elif shape.shape == "sphere":
        local = size[0] * _UNIT
    elif shape.shape == "ellipsoid":
        local = np.array(size) * _UNIT
    elif shape.shape in ("cylinder", "capsule"):
        radius, length = size
        half = 0.5 * length + (radius if shape.shape == "capsule" else 0.0)
        local = np.array([radius, radius, half]) * _UNIT
    else:
        return None
    E, r = _rows(shape.placement), _floats(shape.placement.r.components())
    return np.asarray(local @ E + r)


def reach(parts: Parts, boxes: Mapping[str, Extent]) -> float:
    """A length that no point of the robot is farther from the root than, prismatic joints left in the middle, m."""
    above = {joint.child: joint for joint in parts.joints}
    far: dict[str, float] = {}
    for name in boxes:
        path, at = [], name
        while at in above and at not in far:
            path.append(at)
            at = above[at].parent
            if len(path) > len(above):  # a circle
                return 0.0
        length = far.setdefault(at, 0.0)
        for each in reversed(path):
            length += math.hypot(*(float(x) for x in above[each].placement.r.components()))
            far[each] = length
    sizes = [far[name] + box.farthest(np.zeros(3)) for name, box in boxes.items()]
    return max(filter(math.isfinite, sizes), default=0.0)


def _rows(X: Transform) -> Floats:
    """E of a placement, (3, 3): a row vector in the shape's axes times it is in the body's."""
    return _floats(X.E.components()).reshape(3, 3)


def _floats(values: Sequence[object]) -> Floats:
    return np.array(values, dtype=np.float64)


_LARGEST = 64 * 2**20
_LARGEST_TEXT = 8 * 2**20
"""Text takes longer to read than numbers in bytes."""
_NUMBERS = rb"[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)"
_OBJ = re.compile(rb"^v" + _NUMBERS, re.MULTILINE)
_STL = re.compile(rb"\bvertex" + _NUMBERS)
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@lru_cache(maxsize=512)
def mesh_corners(path: Path) -> NDArray[np.float64] | None:
    """The eight corners, (8, 3), in the mesh's own unit; None if they are not known."""
    try:
        data = read_regular(path, _LARGEST)
    except OSError:
        return None
    suffix = path.suffix.lower()
    try:
        points = _of_stl(data) if suffix == ".stl" else _of_text(_OBJ, data) if suffix == ".obj" else None
    except ValueError:
        return None
    if points is None or not len(points) or not np.isfinite(points).all():
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array(list(product(*zip(low, high, strict=True))), dtype=np.float64)


def _of_stl(data: bytes) -> NDArray[np.float64] | None:
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + _TRIANGLE.itemsize * count > 84:
        triangles = np.frombuffer(data, _TRIANGLE, count, 84)
        return triangles["corners"].reshape(-1, 3).astype(np.float64)
    return _of_text(_STL, data)


def _of_text(pattern: re.Pattern[bytes], data: bytes) -> NDArray[np.float64] | None:
    rows = pattern.findall(data) if len(data) <= _LARGEST_TEXT else []
    return np.array(rows).astype(np.float64) if rows else None
