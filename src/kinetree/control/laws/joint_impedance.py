"""Joints as springs and dampers about a motion, with a damping ratio."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.laws.damping_design import damping_by_ratio
from kinetree.control.laws.law import applicable, driven, makes_a_law, with_arguments
from kinetree.control.laws.reference_forces import reference_forces
from kinetree.control.laws.tracking import Tracking
from kinetree.functions.mass_matrix import mass_matrix_inverse
from kinetree.inputs import chosen_word
from kinetree.model import Model
from kinetree.programs import Program

__all__ = ["joint_impedance"]


@makes_a_law
def joint_impedance(robot: Model, *, damping: str = "ratio") -> Program:
    """A law that makes joints springs and dampers: M (v̇_d − v̇) + (C + D) (v_d − v) + K e = −τ_ext.

    The robot keeps its own inertia, so no force needs to be measured. With the error e, `kt.difference` from q to the
    target, τ = M v̇_d + C(q, v) v_d + g + K e + D (v_d − v). With `damping="ratio"` D = 2 ζ (M # K), with the geometric
    mean of M(q) and K: every mode of the linearised motion has the damping ratio ζ in every configuration. D is
    computed again in each call; for robots with more than about ten joints give it, with `damping="given"`.

    **Stability.** Without external forces the error tends to zero for all K, D > 0: ½ (v_d − v)ᵀ M (v_d − v) + ½ eᵀ K e
    falls by (v_d − v)ᵀ D (v_d − v) per second. Pushed by forces τ_ext, the robot is passive with respect to them. It
    yields by K⁻¹ τ_ext where it is at rest.

    Args:
        damping: "ratio", or "given".

    Returns:
        The program (q, v, target, stiffness, damping_ratio, target_velocity, target_acceleration) of the joint forces
        (nv,): q and target (nq,), v (nv,); stiffness (nv,), N·m/rad or N/m; damping_ratio, one number, by default 1;
        target_velocity and target_acceleration (nv,), in the target's own axes for ball and free joints, by default 0.
        With `damping="given"` the diagonal damping (nv,), N·m·s/rad or N·s/m, is in the ratio's place. If the forces
        are not finite, all are zero.

    Raises:
        OptionError: damping is neither word.
        SingularModelError: with `damping="ratio"`, at the first call, if a joint moves nothing that has inertia.

    Source: Hogan, "Impedance control: an approach to manipulation", J. Dynamic Systems, Measurement and Control 107
    (1985); Albu-Schäffer, Ott and Hirzinger, "A unified passivity-based control framework for position, torque and
    impedance control of flexible joint robots", Int. J. Robotics Research 26 (2007).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.joint_impedance(robot)
    >>> q, at_rest = robot.random(0), np.zeros(6)
    >>> bool(np.allclose(law(q, at_rest, q, np.full(6, 100.0)), kt.gravity_forces(robot, q)))
    True
    """
    model = driven(robot, "joint_impedance")
    n, tracking, none = model.nv, Tracking(model), np.zeros(model.nv)
    is_given = chosen_word("damping", damping, "ratio", "given") == "given"

    def forces(
        q: Any, v: Any, target: Any, stiffness: Any, target_velocity: Any, target_acceleration: Any,
        damping: Any = None, damping_ratio: Any = None,
    ) -> Any:  # fmt: skip
        w, a = tracking.reference(q, v, target, target_velocity, target_acceleration, none)
        D = np.diag(damping) if is_given else damping_by_ratio(mass_matrix_inverse(model, q), stiffness, damping_ratio)
        spring = tracking.force(q, target, stiffness * tracking.error(q, target))
        return applicable(reference_forces(model, q, v, w, a) + spring + D @ (w - v))

    shapes = {
        "q": model, "v": n, "target": model, "stiffness": n, **({"damping": n} if is_given else {"damping_ratio": ()}),
        "target_velocity": n, "target_acceleration": n,
    }  # fmt: skip
    defaults = {"damping_ratio": 1.0, "target_velocity": none, "target_acceleration": none}
    return with_arguments("joint_impedance", forces, shapes, defaults)
