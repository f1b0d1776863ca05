"""Small worlds with contacts, whose motions have closed forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.model import Geometry
from kinetree.model.extras import ContactParameters, SimulationOptions
from kinetree.spatial import Inertia, Sym3, Transform, Vec3

__all__ = ["Array", "D", "G", "H", "T", "Thing", "contact", "floor", "restitution", "rollout", "world"]

Array = NDArray[np.float64]

G = 9.81
H = 0.001
"""The time step, s."""
T = 0.004
"""The time constant of contacts, s: with the damping ratio 1, four steps are stable and stiff enough."""
D = 0.9
"""The impedance, the same at every depth: so a contact is a linear spring and damper."""


def contact(friction: Sequence[float] = (0.5, 0.005, 0.0001), **other: Any) -> ContactParameters:
    """A contact of one impedance."""
    sliding, torsion, rolling = friction
    usual: dict[str, Any] = {"solref": (T, 1.0), "solimp": (D, D, 0.001, 0.5, 2.0)}
    return ContactParameters(friction=(sliding, torsion, rolling), **{**usual, **other})


def floor(parameters: ContactParameters) -> Geometry:
    """The plane z = 0."""
    return Geometry("collision", "plane", (math.inf, math.inf), Transform.identity(), "floor", contact=parameters)


class Thing:
    """A body of mass 1 with the inertia of a sphere or cube, on a joint to the world."""

    def __init__(
        self,
        shape: str,
        size: Sequence[float],
        parameters: ContactParameters,
        joint: JointKind | None = None,
        *,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        mass: float = 1.0,
        inertia: float = 0.004,
        **options: Any,
    ) -> None:
        self.geometry = Geometry("collision", shape, tuple(size), Transform.identity(), contact=parameters)
        self.inertia = Inertia.from_com(mass, Vec3.zero(), Sym3.scalar(inertia))
        self.joint = kt.joints.FloatingBase() if joint is None else joint
        self.at, self.options = at, options


def world(*things: Thing, ground: ContactParameters | None = None, cone: str = "elliptic", **more: Any) -> kt.Model:
    """Things in a world, on a plane if its parameters are given.

    Free bodies have their velocity in the world's axes, so that semi-implicit Euler has no error where they fly.
    """
    builder = kt.ModelBuilder("world")
    builder.add_body("world", geometry=[] if ground is None else [floor(ground)])
    for k, thing in enumerate(things):
        builder.add_body(f"thing{k}", thing.inertia, geometry=[thing.geometry])
        builder.add_joint(f"joint{k}", thing.joint, "world", f"thing{k}", kt.lie.placement(thing.at), **thing.options)
    builder.extras = replace(builder.extras, options=SimulationOptions(cone=cone, timestep=H, **more))
    return builder.build()


def rollout(
    robot: kt.Model, q: Any, v: Any, steps: int, tau: Any = 0.0, dt: float = H, **more: Any
) -> tuple[Array, Array]:
    """q and v after each step, under constant forces."""
    q, v, tau = np.asarray(q), np.asarray(v), np.broadcast_to(tau, (*np.shape(tau)[:-1], robot.nv))
    leading = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[:-1])
    rows = np.broadcast_to(tau[..., None, :], (*leading, steps, robot.nv))
    states = kt.rollout(robot, q, v, rows, dt, contact=True, **more)
    assert np.isfinite(states).all()
    return states[..., : robot.nq], states[..., robot.nq :]


def restitution(zeta: float) -> float:
    """Velocity after a bounce over that before, for a spring and damper of ratio ζ < 1 that does not pull.

    The depth is e^(-ζωt) sin(ω_d t). Without the rule that contacts do not pull, they would end after half a period
    with exp(-πζ/√(1 - ζ²)). But the force is zero earlier, where the acceleration is:
    tan(ω_d t) = -2ζ√(1 - ζ²) / (1 - 2ζ²). There the velocity is that before times e^(-ζωt).
    """
    root = math.sqrt(1.0 - zeta * zeta)
    phase = math.atan2(2.0 * zeta * root, 2.0 * zeta * zeta - 1.0)
    return math.exp(-zeta / root * phase)
