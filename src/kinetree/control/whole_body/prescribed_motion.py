"""The torques that keep a robot on a motion that is given in advance, root and all, such as a ragdoll's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.tasks.posture import Posture
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.support import Support
from kinetree.control.whole_body.whole_body import WholeBody
from kinetree.errors import ConfigurationError, ModelError, OptionError, ShapeError, nearest_names
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot
from kinetree.records import record

__all__ = ["PrescribedMotion", "prescribed_motion"]

Array = NDArray[Any]


@record(frozen=True, slots=True)
class PrescribedMotion:
    """The torques and forces that `prescribed_motion` returns; the first axis of all arrays is that of the moments."""

    tau: Array
    """(T, nv), N·m, N; exactly zero where nothing drives."""
    qdd: Array
    """(T, nv), the accelerations that follow: those wanted, and of the root the closest that physics allows."""
    forces: Mapping[str, Array]
    """By contact, (T, 3) or (T, 6), as `WholeBodyStep.forces`."""
    unmet: Array
    """(T, nv), the accelerations that follow less those wanted: zero up to rounding where the motion is possible."""


def prescribed_motion(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    contacts: Mapping[str, Support] | None = None,
    *,
    active: Mapping[str, bool | Array] | None = None,
    torque_limit: ArrayLike | None = None,
    threads: int | None = None,
) -> PrescribedMotion:
    """The joint torques of a motion of a robot whose root nothing drives, and the forces of its contacts.

    M q̈ + h = τ + Jᵀ f with τ = 0 at the root. In order: the equations of motion, friction cones and limits of torques
    always hold; contacts that are active do not move; the joints accelerate as wanted; the root does as far as the
    forces of the contacts allow. Of all forces that do so, those with the smallest sum of weighted squares are chosen
    (`Support.force_weight`), so that two equal feet side by side share the load equally. Without contacts the root
    moves as it must, and the torques are those of `kt.dynamics.floating_inverse_dynamics`; where no cone and no limit
    matters, they are those of `kt.constraints.constrained_inverse_dynamics`.

    Args:
        robot: the robot; degrees of freedom without a motor (`robot.actuated`) are its root.
        q, v, qdd: the motion (T, nq), (T, nv) and (T, nv).
        contacts: `kt.control.Support`s by names of your own; none by default.
        active: of contacts by name, when they act: bool (T,) or one for all moments; always where nothing is given.
        torque_limit: (nv,) or one number; by default the robot's own.
        threads: how many threads may share the moments; by default as many as there are cores.

    Returns:
        The record `PrescribedMotion`.

    Raises:
        ModelError: everything is driven, so that `kt.rnea` has the torques.
        ConfigurationError: NaN or infinity in the motion.
        ShapeError, OptionError: arrays that do not fit, or names that are not those of contacts.

    Source: Featherstone, RBDA (2008), section 9.6; Righetti et al., IJRR 32 (2013), for how forces are shared.

    >>> import kinetree as kt, numpy as np
    >>> ragdoll = kt.zoo.load("ragdoll")
    >>> still = np.zeros((1, ragdoll.nv))
    >>> found = kt.control.prescribed_motion(ragdoll, ragdoll.neutral()[None], still, still)
    >>> bool(np.allclose(found.qdd[0, :3], [0, 0, -9.81])), float(abs(found.tau).max()) < 1e-9
    (True, True)
    """
    robot = check_robot(robot)
    if robot.actuated.all():
        raise ModelError(f"prescribed_motion: everything of {robot.name!r} is driven; kt.rnea has the torques")
    contacts = {} if contacts is None else contacts
    for word, mapping in (("contacts", contacts), ("active", active or {})):
        if not isinstance(mapping, Mapping):
            raise OptionError(f'prescribed_motion: {word} must be a dict such as {{"foot": …}}, not {mapping!r:.60}')
    for name in active or {}:
        if name not in contacts:
            raise OptionError(
                f"prescribed_motion: active names {name!r:.60}, which is not a contact: "
                f"{nearest_names(str(name), list(contacts))}"
            )
    q, v, qdd = _rows("q", q, robot.nq), _rows("v", v, robot.nv), _rows("qdd", qdd, robot.nv)
    if not len(q) == len(v) == len(qdd):
        raise ShapeError(f"prescribed_motion: q, v and qdd have {len(q)}, {len(v)} and {len(qdd)} rows")
    for name, x in (("q", q), ("v", v), ("qdd", qdd)):
        if not np.isfinite(x).all():
            moment, k = np.argwhere(~np.isfinite(x))[0]
            raise ConfigurationError(
                f"prescribed_motion: {name}[{moment}, {k}] is {x[moment, k]}; no torques follow from it"
            )
    for name, on in (active or {}).items():
        if np.shape(on) not in ((), (len(q),)):
            raise ShapeError(
                f"prescribed_motion: active[{name!r}] must be True or False or have shape ({len(q)},), not "
                f"{np.shape(on)}"
            )
    own = [name for name, joint in robot.joints.items() if joint.has_coordinates]
    driven = [name for name in own if robot.actuated[robot.joints[name].v_slice].any()]
    joints, root = Posture(driven), Posture([name for name in own if name not in driven], priority=1)
    controller = WholeBody(
        robot, {"joints of the motion": joints, "root of the motion": root} if driven else {"root of the motion": root},
        contacts, stiffness=dict.fromkeys(["joints of the motion", "root of the motion"][not driven :], 0.0),
        effort=Effort(1e-8, 1.0), torque_limit=torque_limit, joint_limit_horizon=None,
    )  # fmt: skip
    rows = {name: np.eye(robot.nv)[task._rows(robot)] for name, task in controller.tasks.items()}  # type: ignore[attr-defined]
    steps = controller.step(
        q, v, dict.fromkeys(rows, q), {name: v @ A.T for name, A in rows.items()},
        {name: qdd @ A.T for name, A in rows.items()}, active=active, threads=threads,
    )  # fmt: skip
    return PrescribedMotion(steps.tau, steps.qdd, steps.forces, steps.qdd - qdd)


def _rows(name: str, x: Any, n: int) -> Array:
    array = real_array(f"prescribed_motion: {name}", x, f"(T, {n})")
    if array.ndim != 2 or array.shape[1] != n or not len(array):
        raise ShapeError(f"prescribed_motion: {name} must have shape (T, {n}), not {array.shape}")
    return array
