"""The base of free joints with a quaternion: their coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.joints.base import JointKind, ends, within
from kinetree.joints.spherical import random_quaternion, random_quaternions

__all__ = ["PositionAndQuaternion"]


class PositionAndQuaternion(JointKind):
    """q = [position (3), quaternion x y z w (4)], with all six degrees of freedom; subclasses define v."""

    nq = 7
    nv = 6
    quaternions: tuple[int, ...] = (3,)
    can_be_singular = False
    is_flat = False
    has_motor = False

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("x", "y", "z", "qx", "qy", "qz", "qw")

    @property
    def v_names(self) -> tuple[str, ...]:
        return ("vx", "vy", "vz", "wx", "wy", "wz")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("m", "m", "m", "", "", "", "")

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """A position within the limits and any orientation."""
        position = [within(rng, low, high, 1.0) for low, high in zip(lower[:3], upper[:3], strict=True)]
        return (*position, *random_quaternion(rng))

    def random_batch(
        self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float], count: int
    ) -> NDArray[np.float64]:
        bounds = [ends(low, high, 1.0) for low, high in zip(lower[:3], upper[:3], strict=True)]
        position = [rng.uniform(*bound, count) for bound in bounds]
        return np.column_stack([*position, random_quaternions(rng, count)])

    def reversed(self) -> JointKind:
        return self

    def mirrored(self, normal: int) -> JointKind:
        return self

    def scaled(self, length: float) -> JointKind:
        return self
