"""The task of a distance: collision shapes that stay away from each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import checked_weights
from kinetree.errors import OptionError
from kinetree.functions.jacobians import frame_bias_acceleration, frame_jacobian
from kinetree.functions.kinematics import frame_velocity
from kinetree.functions.shape_distances import nearest_places, shape_pairs
from kinetree.inputs import number_between, real_number
from kinetree.model import Model
from kinetree.records import record

__all__ = ["keep_apart"]


@record(frozen=True, slots=True, repr=False)
class keep_apart(Task):
    """Collision shapes of a robot are to stay at least a margin apart.

    It has no target: lists of targets leave it out. In `kt.control.inverse_kinematics` it is a task whose errors are
    the distances that are missing, max(margin − d, 0), m. In `kt.control.differential_inverse_kinematics` and
    `kt.control.WholeBody` it is an inequality, whatever its priority and weight: distances d change at rates
    ḋ ≥ −gain (d − margin) / dt, or accelerate by d̈ ≥ −2 ḋ / T − (d − margin) / T², with T the
    `joint_limit_horizon` (0.1 s without one). So shapes that are nearer than the margin move apart.

    Distances are those of `kt.contact.distance`, negative where shapes overlap; their rates are n · (J_b − J_a) v, with
    the normal n and the Jacobians of the nearest points as points of the bodies. For accelerations these points count
    as fixed to the bodies, and the normal as fixed in the world, in a or in b, whichever brings the shapes together
    most. In inequalities balls stand for shapes whose distance takes iterations, where the balls are farther apart than
    the margin and their radii together.

    Attributes:
        pairs: pairs of names. Each is that of a collision shape or of a body, whose collision shapes all count, or
            "NAME[k]" for the collision shape k of the body NAME. All pairs of shapes are rows, in their order.
        margin: the smallest distance, m.
        gain: the part of the distance to the margin that may be used up in one dt of differential inverse kinematics.

    Raises:
        OptionError: for pairs, a margin, a gain, weights or a priority that are not allowed values, and when it is used
            with a robot for a body without collision shapes, for shapes that do not move relative to each other, and
            for pairs whose distance is not computed.
        NameNotFoundError: when it is used, if the robot has no such shape.

    Source: Faverjon and Tournassoud, "A local based approach for path planning of manipulators with a high number of
    degrees of freedom", ICRA 1987 (velocity dampers); Ames et al., "Control barrier functions: theory and
    applications", ECC 2019 (accelerations).

    >>> import kinetree as kt
    >>> ragdoll, q = kt.zoo.load("ragdoll"), kt.zoo.load("ragdoll").neutral()
    >>> apart = kt.control.keep_apart([("left_upper_arm", "head")], margin=0.25)
    >>> apart.error(ragdoll, q, []).round(6)
    array([0.090318])
    """

    pairs: Sequence[tuple[str, str]]
    margin: float = 0.0
    gain: float = 0.5

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        pairs = self.pairs if isinstance(self.pairs, Sequence) and not isinstance(self.pairs, str) else ()
        if not len(pairs) or not all(_is_pair(pair) for pair in pairs):
            raise OptionError(
                "keep_apart: pairs must be a list of pairs of names of shapes or bodies, such as [('hand', 'table')], "
                f"not {self.pairs!r:.60}"
            )
        object.__setattr__(self, "pairs", tuple(tuple(map(str.__str__, pair)) for pair in pairs))
        gain = real_number(self.gain)
        if gain is None or not 0.0 < gain <= 1.0:
            raise OptionError(f"keep_apart: gain must be a number above 0 and at most 1, not {self.gain!r:.60}")
        object.__setattr__(self, "margin", number_between("keep_apart: margin", self.margin, -np.inf, unit="metres"))
        object.__setattr__(self, "gain", gain)

    def check(self, robot: Model) -> None:
        from kinetree.collision import is_supported, unsupported  # only this task needs it

        checked_weights("keep_apart", self.weight, self.size(robot))
        for a, b in shape_pairs(robot, self.pairs):
            if robot.frames[a.body].slot == robot.frames[b.body].slot:
                raise OptionError(
                    f"keep_apart: {a.body!r} and {b.body!r} do not move relative to each other, so nothing changes "
                    "the distance of their shapes; leave this pair out"
                )
            if not is_supported(a.shape.kind, b.shape.kind):
                raise OptionError(f"keep_apart: {unsupported(a.shape.kind, b.shape.kind)}")

    def size(self, robot: Model) -> int:
        return len(shape_pairs(robot, self.pairs))

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (0,)

    def present(self, robot: Model, q: Any) -> Any:
        return np.zeros(0)

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return self.linearized(robot, q, target)[0]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return self.linearized(robot, q, target)[1]()

    def linearized(self, robot: Model, q: Any, target: Any) -> tuple[Any, Callable[[], Any]]:
        distances, normals, points = nearest_places(robot, q, self.pairs, self.margin, is_clipped=True)
        missing = np.maximum(self.margin - distances, 0.0)

        def slopes() -> Any:
            J = self._rows(robot, q, normals, points)
            return np.where((missing > 0.0)[:, None], -J, 0.0)

        return missing, slopes

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        raise OptionError(
            "keep_apart is an inequality, for inverse kinematics and kt.control.WholeBody: no law makes its motion"
        )

    def excess(self, robot: Model, q: Any, v: Any = None) -> tuple[Any, ...]:
        """The distances less the margin (m,) and their derivatives J (m, nv) by displacements.

        With v also the distances' rates, and the least of their accelerations where v̇ = 0, if they are negative: of the
        nearest points as points of the bodies, along the normal as it is in the world, in a and in b.
        """
        distances, normals, points = nearest_places(robot, q, self.pairs, self.margin, is_clipped=False)
        J = self._rows(robot, q, normals, points)
        x = distances - self.margin
        if v is None:
            return x, J
        least = []
        for (a, b), d, n, p in zip(shape_pairs(robot, self.pairs), distances, normals, points, strict=True):
            ends = (_motion(robot, q, v, one.body, p + (s * d) * n) for one, s in ((a, -0.5), (b, 0.5)))
            (v_a, a_a, w_a), (v_b, a_b, w_b) = ends
            turning = [np.cross(w, n) @ (v_b - v_a) for w in (w_a, w_b)]
            least.append(np.minimum(n @ (a_b - a_a) + np.minimum(np.minimum(*turning), 0.0), 0.0))
        return x, J, np.matmul(J, v), np.stack(least)

    def _rows(self, robot: Model, q: Any, normals: Any, points: Any) -> Any:
        """n · (J_b − J_a) of each pair (m, nv)."""
        J = cache(lambda body: frame_jacobian(robot, q, body, expressed_in="world"))
        rows = []
        for (a, b), n, p in zip(shape_pairs(robot, self.pairs), normals, points, strict=True):
            rows.append(np.concatenate([n, np.cross(p, n)]) @ (J(b.body) - J(a.body)))
        return np.stack(rows)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)


def _motion(robot: Model, q: Any, v: Any, body: str, p: Any) -> tuple[Any, Any, Any]:
    """The velocity of a body's point, its acceleration where v̇ = 0, and the body's angular velocity, in the world."""
    twist = frame_velocity(robot, q, v, body, expressed_in="world")
    bias = frame_bias_acceleration(robot, q, v, body, expressed_in="world", kind="spatial")
    velocity = twist[:3] + np.cross(twist[3:], p)
    return velocity, bias[:3] + np.cross(bias[3:], p) + np.cross(twist[3:], velocity), twist[3:]
