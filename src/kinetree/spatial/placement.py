"""Placements as people write them: a position, and an orientation as angles or as a quaternion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinetree.errors import OptionError, ShapeError
from kinetree.inputs import is_masked, refuse_symbols
from kinetree.spatial.pose_matrices import POSES, rotation_matrix
from kinetree.spatial.rotations import from_quaternion, from_rpy
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["finite_numbers", "placement"]


def placement(
    position: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None,
    rotation: Any = None,
) -> Transform:
    """The placement of a frame in another, as `ModelBuilder` takes it for a joint, a frame or a solid.

    Args:
        position: (3,), of its origin in the other frame, m.
        rpy: (3,) roll, pitch and yaw, rad: its axes are rotated by Rz(yaw) Ry(pitch) Rx(roll), as in URDF. Quarter
            turns are exact.
        quaternion: (4,) x, y, z, w instead, of any nonzero length.
        rotation: a rotation matrix (3, 3) instead, whose columns are its axes, or a Rotation of SciPy.

    Returns:
        A `Transform`: `.matrix` is the pose (4, 4) as `kt.frame_placement` returns it; `.position`, `.quaternion` and
        `.rotation` are its parts; `kt.Transform.from_matrix` makes one from an array (4, 4).

    Raises:
        ShapeError: for a wrong number of entries.
        OptionError: for numbers that are not finite, a quaternion of zero length, a matrix that is not a rotation, or
            more than one of `rpy`, `quaternion` and `rotation`.

    >>> import kinetree as kt, math
    >>> kt.lie.placement((0, 0, 0.3)).r.components()
    (0.0, 0.0, 0.3)
    >>> turned = kt.lie.placement(rpy=(0, 0, math.pi / 2))  # its x axis is the other's y axis
    >>> [x + 0.0 for x in turned.E.x.components()]
    [0.0, 1.0, 0.0]
    """
    r = Vec3(*finite_numbers("position", position, 3))
    given = [name for name, x in (("rpy", rpy), ("quaternion", quaternion), ("rotation", rotation)) if x is not None]
    if len(given) > 1:
        raise OptionError(f"a placement takes {' or '.join(given)}, not both; leave one out")
    if rotation is not None:
        columns = rotation_matrix("rotation", rotation).T
        return Transform(Mat3(*(Vec3(*map(float, column)) for column in columns)), r)
    if rpy is not None:
        return Transform(from_rpy(*finite_numbers("rpy", rpy, 3)).T, r)
    if quaternion is not None:
        x, y, z, w = finite_numbers("quaternion", quaternion, 4)
        length = math.hypot(x, y, z, w)
        if length == 0.0 or not math.isfinite(length):
            raise OptionError(
                f"quaternion has the length {length:g}, which is not an orientation; the identity is (0, 0, 0, 1)"
            )
        return Transform(from_quaternion(x / length, y / length, z / length, w / length).T, r)
    return Transform(Mat3.identity(), r)


def finite_numbers(name: str, values: Any, count: int) -> tuple[float, ...]:
    """Check and return `count` finite numbers; `name` begins the error message."""
    refuse_symbols(f"{name} of a placement", POSES, values)
    try:
        if isinstance(values, str | bytes) or is_masked(values):
            raise TypeError
        numbers = tuple(float(value) for value in values)
    except OverflowError:
        raise OptionError(f"{name} must be finite, not {values!r:.60}") from None
    except (TypeError, ValueError):
        raise ShapeError(f"{name} must be {count} numbers, not {values!r:.60}") from None
    if len(numbers) != count:
        raise ShapeError(f"{name} must be {count} numbers, not {len(numbers)}")
    if not all(map(math.isfinite, numbers)):
        raise OptionError(f"{name} must be finite, not {numbers}")
    return numbers
