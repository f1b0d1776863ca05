"""Effects of contact settings and integrators on simple motions: the tables of docs/contact.md and docs/integrators.md.

    python benchmarks/contact_settings.py

A crate of 1 kg and 0.2 m, with friction 0.5, stands, falls from 0.5 m, lies on a slope of 0.2 rad, brakes from 1 m/s,
and is thrown, in steps of "discrete". A double pendulum swings for 10 s. A joint of inertia 1 kg·m² has a spring of
10⁴ N·m/rad, or a damper of 10³ N·m·s/rad.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.contact_model import SoftConstraints
from kinetree.functions.integrator_options import Integrator
from kinetree.model import Geometry, Model

Array = NDArray[np.float64]

SETTINGS: dict[str, dict[str, Any]] = {
    "mujoco": {},
    "compliant": {"setting": "compliant"},
    "rigid": {"setting": "rigid"},
    "rigid, accurate": {"setting": "rigid", "accurate": True},
}
INTEGRATORS: tuple[Integrator, ...] = ("semi_implicit_euler", "implicitfast", "discrete", "rk4", "midpoint")
SIDE, FRICTION, SLOPE, G = 0.2, 0.5, 0.2, 9.81


def crate() -> Model:
    builder = kt.ModelBuilder("crate")
    builder.add_body("world")
    shape = Geometry("collision", "box", (SIDE, SIDE, SIDE), kt.lie.placement())
    builder.add_body("crate", kt.solids.box(SIDE, SIDE, SIDE, mass=1.0), geometry=[shape])
    builder.add_joint("free", kt.Free(), "world", "crate")
    return builder.build().on_ground(friction=FRICTION)


def motion(robot: Model, contact: SoftConstraints, dt: float, seconds: float, **start: Any) -> Array:
    """The states of the crate, from a height and with a speed, under gravity that is as on a slope."""
    q, v, slope = robot.neutral(), np.zeros(6), start.get("slope", 0.0)
    q[2], v[0] = start.get("height", SIDE / 2.0), start.get("speed", 0.0)
    v[3:] = start.get("spin", 0.0)
    gravity = {"gravity": [G * math.sin(slope), 0.0, -G * math.cos(slope)]}
    tau = np.zeros((round(seconds / dt), 6))
    states: Array = kt.rollout(robot, q, v, tau, dt, contact=contact, integrator="discrete", parameters=gravity)
    return states


def iterations(robot: Model, contact: SoftConstraints, states: Array) -> Array:
    """How many the states take in which the crate touches."""
    q, v = states[:, :7], states[:, 7:]
    found = kt.contact_dynamics(robot, q, v, np.zeros(6), contact=contact)
    some: Array = found.iterations[np.abs(found.forces).max(axis=-1) > 0.0]
    return some


def settings() -> None:
    robot = crate()
    for name, given in SETTINGS.items():
        for dt in (0.001, 0.01):
            contact = kt.contact.soft_constraints(robot, dt, **given)
            still = motion(robot, contact, dt, 1.0)
            low = still[-1, 2]
            fallen = motion(robot, contact, dt, 1.5, height=SIDE / 2.0 + 0.5)
            lying = motion(robot, contact, dt, 1.0, slope=SLOPE)
            braked = motion(robot, contact, dt, 0.5, height=low, speed=1.0)
            half, late = len(lying) // 2, round(0.36 / dt)
            thrown = [motion(robot, contact, dt, 0.6, height=0.3, speed=v, spin=[v, 0.5 * v, 0.2 * v]) for v in (1, 3)]
            count = np.concatenate([iterations(robot, contact, states) for states in thrown])
            print(
                f"{name:16s} {dt * 1e3:3g} ms: stands {SIDE / 2 - low:.1e} m deep, "
                f"lands {SIDE / 2 - fallen[:, 2].min():.1e} m deep, rebounds at {fallen[late:, 9].max():.1e} m/s, "
                f"creeps at {(lying[-1, 0] - lying[half - 1, 0]) / (dt * (len(lying) - half)):.1e} m/s, "
                f"is lifted by {braked[:, 2].max() - low:.1e} m, stops after {braked[:, 0].max():.4f} m "
                f"(exactly {1.0 / (2.0 * FRICTION * G):.4f}), "
                f"iterations {np.median(count):g}, {np.percentile(count, 90):g}, {count.max():g}"
            )


def energies() -> None:
    robot, q = kt.zoo.load("double_pendulum"), np.array([1.0, 0.5])
    for name in INTEGRATORS:
        row = []
        for dt in (0.001, 0.005, 0.02):
            states = kt.rollout(robot, q, np.zeros(2), np.zeros((round(10.0 / dt), 2)), dt, integrator=name)
            kinetic = kt.kinetic_energy(robot, states[:, :2], states[:, 2:])
            change = kinetic + kt.potential_energy(robot, states[:, :2]) - kt.potential_energy(robot, q)
            row.append(f"{np.abs(change).max() / kinetic.max():.0e}")
        print(f"{name:20s} energy is wrong by {', '.join(row)} of the largest kinetic one (1, 5, 20 ms)")


def joint(stiffness: float, damping: float) -> Model:
    builder = kt.ModelBuilder("joint")
    builder.add_body("base")
    builder.add_body("wheel", kt.solids.box(0.1, 0.1, 0.1, mass=1e-3))
    builder.add_joint(
        "pin",
        kt.joints.Continuous([0, 0, 1]),
        "base",
        "wheel",
        armature=[1.0],
        stiffness=[stiffness],
        damping=[damping],
    )
    return builder.build()


def longest_steps() -> None:
    for name in INTEGRATORS:
        row = []
        for robot in (joint(1e4, 0.0), joint(0.0, 1e3)):
            longest = 0.0
            for dt in np.geomspace(5e-4, 10.0, 80).tolist():
                states = kt.rollout(robot, [0.0], [1.0], np.zeros((2000, 1)), dt, integrator=name, passive=True)
                if not np.abs(states[-100:, 1]).max() < 10.0:
                    break
                longest = dt
            row.append(f"{longest * 1e3:.3g} ms")
        print(f"{name:20s} longest steady step with the spring, and with the damper: {', '.join(row)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", kt.errors.SimulationWarning)
    settings()
    energies()
    longest_steps()
