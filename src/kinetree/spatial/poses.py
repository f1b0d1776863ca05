"""Poses in any of the forms that people have them in."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kinetree.errors import OptionError
from kinetree.spatial.pose_matrices import pose_matrix
from kinetree.spatial.transform import Transform

__all__ = ["Pose", "pose"]

Pose = Transform | ArrayLike
"""A `Transform`, or an array (4, 4) as `frame_placement` returns; also a rotation or rigid transform of SciPy."""


def pose(what: str, value: Any, error: type[Exception] = OptionError) -> Transform:
    """A pose as a `Transform`; one that is given as such is returned unchecked. `what` begins the error's message."""
    if isinstance(value, Transform):
        return value
    return Transform.of_matrix(pose_matrix(what, value, error))
