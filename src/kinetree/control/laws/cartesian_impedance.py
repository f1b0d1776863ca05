"""A frame as a spring and a damper about a pose, with a posture in its null space."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.damping_design import damping_by_ratio
from kinetree.control.laws.law import applicable, driven, makes_a_law, with_arguments
from kinetree.control.laws.task_blocks import LEAST_FREEDOM, TaskBlocks
from kinetree.control.laws.tracking import Tracking
from kinetree.control.tasks import Pose
from kinetree.functions.derivatives import jvp
from kinetree.functions.dynamics import gravity_forces
from kinetree.functions.jacobians import frame_jacobian
from kinetree.functions.kinematics import frame_placement
from kinetree.inputs import chosen_word
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["PoseSpring", "cartesian_impedance"]


@makes_a_law
def cartesian_impedance(robot: Model, frame: str, *, axes: str = "world", damping: str = "ratio") -> Program:
    """A law that makes a frame a spring and a damper about a pose: τ = g + Eᵀ(−K e − D ė) + Nᵀ τ₀.

    The displacement e (6,) has the way from the frame's origin to the target's and the rotation vector from its
    orientation to the target's, both in the chosen axes; E is its exact derivative by q, near the target minus the
    frame's Jacobian. So the spring is the gradient of a potential in all axes and at large angles. Pulled by a force f
    at its origin, the frame yields by f / k along each axis. The robot's inertia is left as it is.

    With `damping="ratio"` D = 2 ζ (Λ # K) with the geometric mean of Λ = (E M⁻¹ Eᵀ)⁻¹ and K: every mode of the frame's
    motion has the damping ratio ζ. An axis without stiffness gets no damping.

    A posture fills the frame's null space: τ₀ = K₀ e₀ − D₀ N v, with the error e₀, `kt.difference` from q to the
    posture, and N v, the part of v that does not move the frame. Nᵀ = 1 − Eᵀ Λ E M⁻¹ removes the part of τ₀ that would
    accelerate the frame. By default nothing acts there, and the elbow floats.

    **Limits.** Each component of the spring's force is limited to ± `force_limit`. It then is the gradient of a flatter
    potential, so it stays passive; the damper is not limited.

    **Singular configurations.** Where a row of E has less than `least_freedom` of itself left given those before it, Λ
    is damped as in `operational_space`, so that all forces stay finite; K e needs no Λ.

    **Stability.** For a target at rest ½ vᵀ M v + U(e) falls by ėᵀ D ė + (N v)ᵀ D₀ N v per second, except for the power
    of the posture's spring, (N v)ᵀ K₀ e₀: keep it weak, and D₀ > 0. The frame is passive in contact.

    Args:
        frame: a name in `robot.frames`.
        axes: the axes of stiffness, damping and limits: "world", "target" (which turn with the target), "local" (with
            the frame), or another frame's name, such as one on the base or on a tool. Frames of these three names
            are not meant.
        damping: "ratio", or "given".

    Returns:
        The program (q, v, target, stiffness, damping_ratio, target_velocity, force_limit, posture, posture_stiffness,
        posture_damping, least_freedom) of the joint forces (nv,): q and posture (nq,), v (nv,); target (4, 4);
        stiffness (6,), N/m and N·m/rad, linear first; damping_ratio, one number, by default 1; target_velocity (6,),
        the target's [v; ω] in the world's axes at its origin, by default 0; force_limit (6,), N and N·m, by default
        infinite; posture_stiffness and posture_damping (nv,), N·m/rad and N·m·s/rad, by default 0; least_freedom, one
        number, by default 0.1. With `damping="given"` the diagonal damping (6,),
        N·s/m and N·m·s/rad, is in the ratio's place. If the forces are not finite, all are zero.

    Raises:
        NameNotFoundError: the robot has no such frame.
        OptionError: damping is neither word.
        SingularModelError: at the first call, if a joint moves nothing that has inertia.

    Source: Hogan, "Impedance control: an approach to manipulation" (1985); Albu-Schäffer, Ott, Frese and Hirzinger,
    "Cartesian impedance control of redundant robots: recent results with the DLR-light-weight-arms" (2003); Khatib, "A
    unified approach for motion and force control of robot manipulators" (1987), for N.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm7")
    >>> law = kt.control.cartesian_impedance(robot, "tool")
    >>> q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])
    >>> target = kt.frame_placement(robot, q, "tool")
    >>> tau = law(q, np.zeros(7), target, [500.0, 500.0, 500.0, 50.0, 50.0, 50.0])
    >>> bool(np.allclose(tau, kt.gravity_forces(robot, q)))
    True
    """
    model = driven(robot, "cartesian_impedance")
    n, tracking, spring = model.nv, Tracking(model), PoseSpring(model, frame, axes)
    is_given = chosen_word("damping", damping, "ratio", "given") == "given"

    def forces(
        q: Any, v: Any, target: Any, stiffness: Any, target_velocity: Any, force_limit: Any, posture: Any,
        posture_stiffness: Any, posture_damping: Any, least_freedom: Any, damping: Any = None,
        damping_ratio: Any = None,
    ) -> Any:  # fmt: skip
        E = spring.slope(q, target)
        hand = TaskBlocks(model, q, [E], least_freedom)
        D = np.diag(damping) if is_given else damping_by_ratio(hand.mobility, stiffness, damping_ratio)
        pull = np.clip(stiffness * spring.stretch(q, target), -force_limit, force_limit)
        brake = D @ (E @ v + spring.drift(q, target, target_velocity))
        rest = tracking.force(q, posture, posture_stiffness * tracking.error(q, posture))
        free = hand.unfelt(rest - posture_damping * hand.free(v))
        return applicable(gravity_forces(model, q) - E.T @ (pull + brake) + free)

    shapes = {
        "q": model, "v": n, "target": (4, 4), "stiffness": 6, **({"damping": 6} if is_given else {"damping_ratio": ()}),
        "target_velocity": 6, "force_limit": 6, "posture": model, "posture_stiffness": n, "posture_damping": n,
        "least_freedom": (),
    }  # fmt: skip
    defaults = {
        "damping_ratio": 1.0, "target_velocity": np.zeros(6), "force_limit": np.full(6, np.inf),
        "posture": model.neutral(), "posture_stiffness": np.zeros(n), "posture_damping": np.zeros(n),
        "least_freedom": LEAST_FREEDOM,
    }  # fmt: skip
    return with_arguments("cartesian_impedance", forces, shapes, defaults)


class PoseSpring:
    """The error of a `Pose`, turned into these axes; for one sample, plain or symbolic."""

    def __init__(self, robot: Model, frame: str, axes: str) -> None:
        self._robot, self._axes = robot, axes
        self._of_a_frame = axes not in ("world", "local", "target")
        if self._of_a_frame:
            self._axes = robot.frames[axes].name
        self._pose = Pose(
            robot.frames[frame].name, expressed_in="local" if axes == "local" else "local_world_aligned"
        )  # fmt: skip
        self._stretch = program(self.stretch, q=robot, target=(4, 4))

    def stretch(self, q: Any, target: Any) -> Any:
        """e (6,): the way to the target's origin, and the rotation vector to its orientation."""
        return self._turned(q, target, self._pose.error(self._robot, q, target))

    def slope(self, q: Any, target: Any) -> Any:
        """E (6, nv): the derivative of e by displacements of q."""
        robot, slope = self._robot, self._pose.error_jacobian(self._robot, q, target)
        if self._of_a_frame:
            e = self._pose.error(robot, q, target)
            J = frame_jacobian(robot, q, self._axes, expressed_in="local_world_aligned", part="angular")
            turning = [np.cross(part, J, axisb=0, axisc=0) for part in (e[:3], e[3:])]
            slope = slope + np.concatenate(turning)
        return self._turned(q, target, slope)

    def drift(self, q: Any, target: Any, twist: Any) -> Any:
        """ė (6,) of a robot at rest, while the target moves with [v; ω] in the world's axes, at its origin."""
        turning = np.cross(twist[3:], target[:3, :3], axisb=0, axisc=0)
        rate = np.concatenate([np.concatenate([turning, twist[:3, None]], axis=1), np.zeros((1, 4))])
        return jvp(self._stretch, (q, target), {"target": rate})[1]

    def _turned(self, q: Any, target: Any, rows: Any) -> Any:
        """Rows (6, …) in the world's axes, or the frame's own, in the axes of the spring."""
        if self._axes in ("world", "local"):
            return rows
        R = target if self._axes == "target" else frame_placement(self._robot, q, self._axes)
        return np.concatenate([R[:3, :3].T @ rows[:3], R[:3, :3].T @ rows[3:]])
