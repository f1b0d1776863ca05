"""Simulation: from a state and torques to a motion."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, SimulationError
from kinetree.functions.drives import Passive, switched_on
from kinetree.functions.rollouts import integrator_option
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces
from kinetree.sim.motion import Controlled, Held, Motion
from kinetree.sim.record import Record
from kinetree.sim.stiffness import Stiffness, spring_stiffness
from kinetree.sim.torques import Controller, checked_controller, force_rows, torque_rows, vector
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory

__all__ = ["MAX_STEPS", "simulate", "step_count"]

Array = NDArray[np.float64]

MAX_STEPS = 10_000_000
"""A trajectory holds every step; longer motions are simulated in pieces."""

_STIFFNESS_PERIOD = 0.01
"""Seconds between two looks at how stiff friction and springs are: it changes with the configuration, slowly."""

SECONDS_PER_BLOCK = 0.02
"""Approximate maximum duration of one call that takes many steps: Ctrl-C and `progress` wait for its end."""


def simulate(
    robot: Model,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | Controller | None = None,
    f_ext: ExternalForces | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    integrator: str = "rk4",
    passive: Passive = True,
    limits: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectory:
    """The motion of a robot under gravity, joint torques, joint friction and springs.

    q (nq,) and v (nv,) are the initial state: by default `robot.neutral()` at rest. tau (N·m or N) is None, constant
    (nv,), one row per step (steps, nv) held over that step, or a function (t, q, v) -> (nv,) that is called at every
    stage of the integrator; without such a function, many steps run in one call of a kernel. The motion ends at the
    first whole number of steps `dt` that reaches `duration` (both in s). Where there is no motor (`robot.actuated`), as
    at a floating base, tau must be zero: what pushes from outside is `f_ext`.

    `f_ext` holds external forces by frame name, `kt.WrenchOn` or `kt.ForceOn`, as for `aba`: constant (6,), or one row
    per step (steps, 6), such as a push that ends. Their work is part of the trajectory's `work`.

    `integrator` is "rk4" (order four; for smooth motion far more exact at the same cost) or "semi_implicit_euler"
    (order one, with friction taken implicitly: steady however stiff friction is); the steps are those of `rollout`.
    Steps are divided where friction (for RK4) or springs (for both) are stiff. Where that would take more than a
    hundred parts, it is refused: by `StiffFrictionError`, or for springs by `SimulationError`.

    `passive` says which passive forces of the joints act: True for all, False for none, or a list of names among
    "damping", "friction" and "spring". With `limits` motors give at most their effort limit of tau and drive no joint
    beyond its velocity limit. Position limits are not enforced: a joint swings through its stops. See docs/drives.md.
    `progress(done, steps)` is called now and then.

    Raises `ShapeError`, `DTypeError`, `ConfigurationError` and `OptionError` for unusable arguments, `ActuationError`
    for a torque where there is no motor, whenever `tau` returns it, `SingularModelError` for a robot without forward
    dynamics, and `SimulationError` when the motion ceases to be finite. Ctrl-C raises `SimulationInterrupted`, a
    `KeyboardInterrupt` whose `trajectory` is the motion until then, unless the first step is not done yet.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> motion.q.shape
    (1001, 2)
    >>> bool(abs(motion.balance_error).max() < 1e-8)
    True
    """
    check_robot(robot)
    acting = switched_on(robot, passive, limits).get("passive", ())
    steps = step_count(duration, dt)
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of (done, steps), not {progress!r:.60}")
    integrator_option(robot, integrator)
    q = robot.neutral() if q is None else vector(robot, "q", q, robot.q_names)
    robot.check_configuration(q)
    v = np.zeros(robot.nv) if v is None else vector(robot, "v", v, robot.v_names)
    integrator, dt = str.__str__(integrator), float(dt)
    forces = force_rows(robot, f_ext, steps)
    motion: Motion
    if callable(tau):
        motion = Controlled(robot, checked_controller(robot, tau), forces, dt, integrator, acting, limits=limits)
    else:
        motion = Held(robot, torque_rows(robot, tau, steps), forces, dt, integrator, acting, limits=limits)
    record = Record(robot, steps)
    record.rows[0] = np.concatenate((q, v, np.zeros(2)))
    stiffness = Stiffness(robot, acting, integrator)
    springs = bool(spring_stiffness(robot, acting).any())
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            _run(robot, motion, stiffness, record, dt, progress)
        return record.trajectory(integrator, dt, springs=springs, limits=limits)
    except KeyboardInterrupt as stop:
        if record.done < 2:
            raise
        trajectory = record.trajectory(integrator, dt, springs=springs, limits=limits)
        raise SimulationInterrupted(trajectory, steps) from stop


def _run(
    robot: Model,
    motion: Motion,
    stiffness: Stiffness,
    record: Record,
    dt: float,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Fill the record, in blocks of steps."""
    rows, steps = record.rows, len(record.rows) - 1
    look = max(1, int(_STIFFNESS_PERIOD / dt)) if not stiffness.is_zero else steps
    k, block, parts = 0, 1, 1
    while True:
        record.tau[k] = motion.torque(k, rows[k])
        record.done = k + 1
        if k == steps:
            return
        if k % look == 0 and not stiffness.is_zero:
            parts = stiffness.substeps(rows[k, : robot.nq], dt)
            record.substeps = max(record.substeps, parts)
        count = min(block, look - k % look, steps - k, motion.most)
        begin = time.perf_counter()
        motion.advance(record, k, count, parts)
        seconds = time.perf_counter() - begin
        _check_finite(robot, rows[k + 1 : k + count + 1], k, dt)
        k += count
        record.done = k
        block = max(1, min(2 * block, int(count * SECONDS_PER_BLOCK / seconds)))
        if progress is not None:
            progress(k, steps)


def step_count(duration: float, dt: float) -> int:
    """The number of steps of dt that reach the duration. Raises `OptionError` unless both are positive times."""
    for name, value in (("duration", duration), ("dt", dt)):
        try:
            is_time = isinstance(value, Real) and math.isfinite(value) and value > 0.0
        except OverflowError:
            raise OptionError(f"{name} must be finite, and is a whole number beyond all floats") from None
        if not is_time:
            raise OptionError(f"{name} must be a positive number of seconds, not {value!r:.60}")
    # 5 s in steps of 1 ms are 5000 steps, though 5 / 0.001 may round to a little more.
    exact = duration / dt
    if exact > MAX_STEPS:
        raise OptionError(
            f"{duration:g} s in steps of {dt:g} s are {exact:.2g} steps; at most {MAX_STEPS:,} are taken at once, "
            "because a trajectory holds every step"
        )
    return max(1, math.ceil(exact * (1.0 - 1e-12)))


def _check_finite(robot: Model, rows: Array, step: int, dt: float) -> None:
    """Raise if one of the rows after a step is not finite."""
    nq, nv = robot.nq, robot.nv
    finite = np.isfinite(rows[:, : nq + nv])
    if finite.all():
        return
    first = int(np.argmin(finite.all(axis=1)))
    bad, names = ~finite[first, nq:], robot.v_names
    if not bad.any():
        bad, names = ~finite[first, :nq], robot.q_names
    raise SimulationError(
        f"the motion of {robot.name!r} is no longer finite at t = {(step + first + 1) * dt:g} s "
        f"({names[int(np.argmax(bad))]!r} first): it grew beyond all bounds; try a "
        f"smaller step than {dt:g} s, smaller torques or initial velocities, or more friction"
    )
