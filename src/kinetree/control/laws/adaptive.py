"""The adaptive tracking law of Slotine and Li, which learns inertial parameters while it tracks.

Steps of inertial parameters along gradients in the metric of the pseudo-inertia, which keep bodies possible.

In the metric tr(P⁻¹ dP P⁻¹ dP) of positive definite matrices P the steepest way along the gradient L by P is P L P, the
same in all frames and units.

Source: Lee, Kwon and Park, "A natural adaptive control law for robot manipulators", IEEE/RSJ Int. Conf. Intelligent
Robots and Systems (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.laws.law import driven, makes_a_law
from kinetree.control.laws.reference_forces import reference_forces, reference_regressor
from kinetree.control.laws.tracking import Tracking
from kinetree.functions.regressors import bodies_option
from kinetree.inputs import chosen_word
from kinetree.model import Model
from kinetree.programs import Program, program
from kinetree.spatial import Inertia
from kinetree.spatial.pseudo_inertia import pseudo_inertia, ten_parameters

__all__ = ["adaptive", "natural_step"]


@makes_a_law
def adaptive(robot: Model, *, bodies: Sequence[str] | None = None, metric: str = "euclidean") -> Program:
    """A tracking law that learns inertial parameters π̂ while it tracks: τ = Y(q, v, v_r, v̇_r) π̂ + K s, s = v_r − v.

    It is `passivity_based` with the parameters of some or all bodies as a state. Everything else, such as rotors and
    other bodies, is taken from the robot. Between two calls, `dt` seconds apart, the estimate moves by

    - dt Γ Yᵀ s with `metric="euclidean"`, for a diagonal Γ; nothing keeps it physically consistent, and the law does
      not need it to be;
    - dt γ P L P with `metric="natural"`, for each body's pseudo-inertia P and the gradient L of sᵀ Y π by it, in steps
      that keep P positive definite. γ is one number per body, in 1/J.

    **Stability.** V = ½ sᵀ M s + (the distance from π̂ to the true π in the metric) falls by sᵀ K s per second, so s
    and the error tend to zero for all K, Λ, Γ > 0, in continuous time: `dt` must be short compared with 1/Λ and the
    estimate's own motion. π̂ itself converges, in the identifiable combinations, if the reference is persistently
    exciting: if the integral of Yᵀ Y over some time stays above a positive multiple of the identity there. Otherwise it
    only stays bounded. Forces that are not modelled, such as friction, let it drift: stop (Γ = 0) when |s| is at the
    noise.

    Args:
        bodies: the names of the bodies whose parameters are learned, such as ["payload"]; by default all.
        metric: "euclidean" or "natural".

    Returns:
        The program (q, v, target, rate, gain, adaptation, dt, estimate, target_velocity, target_acceleration) of
        {"tau": joint forces (nv,), "estimate": the next estimate (10 B,), "s": (nv,)}, with the state "estimate" for
        `kt.rollout` and `kt.simulate`. q and target (nq,), v (nv,); rate and gain (nv,) as in `passivity_based`;
        adaptation (10 B,), the diagonal of Γ, or (B,), γ of each body; dt in s; estimate (10 B,) in the order of
        `kt.identification.inertial_parameters`, by default the robot's own; target_velocity and target_acceleration
        (nv,), by default
        0. If the forces or the estimate are not finite, all forces are zero and the estimate stays.

    Raises:
        NameNotFoundError, OptionError: as for `bodies` of `kt.dynamics.joint_torque_regressor`; metric is neither word.

    Source: Slotine and Li, "On the adaptive control of robot manipulators", Int. J. Robotics Research 6 (1987); Lee,
    Kwon and Park, "A natural adaptive control law for robot manipulators" (2018).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> law = kt.control.adaptive(robot, bodies=["hand"])
    >>> q, v, fives = robot.random(0), np.full(6, 0.3), np.full(6, 5.0)
    >>> done = law(q, v, q, fives, fives, np.full(10, 0.1), 0.001)
    >>> done["tau"].shape, done["estimate"].shape
    ((6,), (10,))
    """
    model = driven(robot, "adaptive")
    names: Any = bodies_option(model, bodies)
    is_natural = chosen_word("metric", metric, "euclidean", "natural") == "natural"
    own = np.concatenate([_ten(model.bodies[name].inertia) for name in names])
    n, tracking, none = model.nv, Tracking(model), np.zeros(model.nv)

    def adaptive(
        q: Any, v: Any, target: Any, rate: Any, gain: Any, adaptation: Any, dt: Any, estimate: Any = own,
        target_velocity: Any = none, target_acceleration: Any = none,
    ) -> dict[str, Any]:  # fmt: skip
        w, a = tracking.reference(q, v, target, target_velocity, target_acceleration, rate)
        Y, s = reference_regressor(model, q, v, w, a, names), w - v
        tau = reference_forces(model, q, v, w, a) + Y @ (estimate - own) + gain * s
        steepest = Y.T @ s
        if is_natural:
            tens = zip(estimate.reshape(-1, 10), steepest.reshape(-1, 10), adaptation, strict=True)
            following = np.concatenate([natural_step(ten, slope, dt * speed) for ten, slope, speed in tens])
        else:
            following = estimate + dt * adaptation * steepest
        is_finite = np.all(np.isfinite(tau)) & np.all(np.isfinite(following))
        return {"tau": np.where(is_finite, tau, 0.0), "estimate": np.where(is_finite, following, estimate), "s": s}

    return program(
        adaptive, q=model, v=n, target=model, rate=n, gain=n, adaptation=len(names) if is_natural else len(own), dt=(),
        estimate=len(own), target_velocity=n, target_acceleration=n,
    )  # fmt: skip


def _ten(inertia: Inertia) -> list[Any]:
    I = inertia.I
    return [inertia.mass, *inertia.h.components(), I.xx, I.xy, I.yy, I.xz, I.yz, I.zz]


_ENTRIES = ten_parameters(np.eye(16).reshape(16, 4, 4)).T.reshape(10, 4, 4)
"""The derivatives of the ten parameters by the entries of P."""
_GRADIENTS = 0.5 * (_ENTRIES + _ENTRIES.swapaxes(1, 2))


def natural_step(ten: Any, gradient: Any, step: Any) -> Any:
    """The parameters after a step along a gradient (10,), in the metric of P: (1 + ½ step P L) P (1 + ½ step P L)ᵀ.

    To first order that is P + step P L P, and it is positive definite however long the step.
    """
    P, L = pseudo_inertia(ten), np.sum(_GRADIENTS * gradient[:, None, None], axis=0)
    G = np.eye(4) + 0.5 * step * (P @ L)
    return ten_parameters(G @ P @ G.T)
