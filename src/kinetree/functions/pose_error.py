"""The motion from a frame to a pose where it should be, as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.options import ExpressedIn, express, expressed_in_option, frame_option
from kinetree.model import Frame, Model
from kinetree.spatial import Transform
from kinetree.spatial.pose_exponential import pose_log, transform_of_pose

__all__ = ["pose_error"]


def _error(model: Form, q: Slots, target: Sequence[Scalar], *, frame: Frame, expressed_in: str) -> Sequence[Scalar]:
    X = frame.placement @ algorithms.placements(model.tree, q)[frame.slot]
    goal = transform_of_pose(target)
    away = Transform(goal.E.times(X.E.T), X.E @ (goal.r - X.r))
    return express(pose_log(away), X, expressed_in).linear_first()


POSE_ERROR = Definition(
    "pose_error", (("q", "nq"), ("target", (4, 4))), (6,), _error,
    {"frame": frame_option, "expressed_in": expressed_in_option},
)  # fmt: skip


@defined_by(POSE_ERROR)
def pose_error(
    robot: Model,
    q: ArrayLike,
    target: ArrayLike,
    frame: str,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """How far a frame is from a target pose: the motion [v; ω] that takes it there in one unit of time.

    It is the logarithm of the pose of the target as seen from the frame, in the axes that `frame_velocity` and
    `frame_jacobian` have too. So it is zero at the target, and to first order J dq = pose_error is the step dq that
    leads there, with J of the same `expressed_in`. It points from the frame to the target, while `constraint_errors`
    are the frame minus its target.

    Args:
        target: homogeneous matrix (…, 4, 4), as `frame_placement` gives it. It is not checked to be a pose.
        expressed_in: "local" for the frame's axes, at its origin; "world"; or "local_world_aligned" for the world's
            axes at the frame's origin.

    Returns:
        Motion (…, 6), linear part first; m and rad. It turns by at most half a turn, and keeps its digits near none and
        near half a turn. The linear part is that of a screw motion, a straight line only without rotation. Derivatives
        by `target` are by its entries: if it moves with [v; ω] in its own axes, its direction is
        target @ [[skew(ω), v], [0, 0, 0, 0]].

    Raises:
        OptionError: an unknown `expressed_in`.

    Source: Solà, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics", arXiv:1812.01537, sec. II.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> target = kt.frame_placement(arm, [0.1, 0.4, 0.5, 0.1, 0.2, 0.3], "tool")
    >>> q = np.array([0.0, 0.5, 0.5, 0.0, 0.3, 0.2])
    >>> for _ in range(6):
    ...     J = kt.frame_jacobian(arm, q, "tool", expressed_in="local")
    ...     q = q + np.linalg.solve(J, kt.kinematics.pose_error(arm, q, target, "tool", expressed_in="local"))
    >>> bool(abs(kt.frame_placement(arm, q, "tool") - target).max() < 1e-12)
    True
    """
    return run(
        POSE_ERROR, robot, (q, target), parameters=parameters, out=out, threads=threads, frame=frame,
        expressed_in=expressed_in,
    )  # fmt: skip
