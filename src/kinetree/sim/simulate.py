"""From a state and torques to a motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import OptionError, SimulationError, nearest_names
from kinetree.functions.drives import Passive, switched_on
from kinetree.functions.energy import kinetic_energy, potential_energy
from kinetree.model import Model, check_robot
from kinetree.sim.friction import has_springs
from kinetree.sim.integrators import Array, State, rk4, semi_implicit_euler
from kinetree.sim.motion import Motion
from kinetree.sim.stiffness import Stiffness
from kinetree.sim.torques import Controller, torque_source, vector
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory, coordinate_units

__all__ = ["INTEGRATORS", "MAX_STEPS", "simulate", "step_count"]

INTEGRATORS = ("rk4", "euler")

MAX_STEPS = 10_000_000
"""A trajectory holds every step; longer motions are simulated in pieces."""

_STIFFNESS_PERIOD = 0.01
"""Seconds between two looks at how stiff friction and springs are: it changes with the configuration, slowly."""


def simulate(
    robot: Model,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | Controller | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    integrator: str = "rk4",
    passive: Passive = True,
    limits: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectory:
    """The motion of a robot under gravity, joint torques, joint friction and springs.

    q (nq,) and v (nv,) are the initial state: by default `robot.neutral()` at rest. tau (N·m or N) is None, constant
    (nv,), a row a step (steps, nv) held over that step, or a function (t, q, v) -> (nv,) that is called at every stage
    of the integrator. The motion ends at the first whole number of steps `dt` that reaches `duration` (both in s).

    `integrator` is "rk4" (order four; for smooth motion far more exact at the same cost) or "euler" (semi-implicit,
    order one, with friction taken implicitly: steady however stiff friction is). Steps are divided where friction (for
    RK4) or springs (for both) are stiff. Where that would take more than a hundred parts, it is refused: by
    `StiffFrictionError`, or for springs by `SimulationError`.

    `passive` says which passive forces of the joints act: True for all, False for none, or a list of names among
    "damping", "friction" and "spring". With `limits` motors give at most their effort limit of tau and drive no joint
    beyond its velocity limit. Position limits are not enforced: a joint swings through its stops. See docs/drives.md.
    `progress(done, steps)` is called now and then.

    Raises `ShapeError`, `DTypeError`, `ConfigurationError` and `OptionError` for unusable arguments,
    `SingularModelError` for a robot without forward dynamics, and `SimulationError` when the motion ceases to be
    finite. Ctrl-C raises `SimulationInterrupted`, a `KeyboardInterrupt` whose `trajectory` is the motion until then,
    unless the first step is not done yet.

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
    if not isinstance(integrator, str) or integrator not in INTEGRATORS:
        raise OptionError(f"there is no integrator {integrator!r:.60}: {nearest_names(str(integrator), INTEGRATORS)}")
    q = robot.neutral() if q is None else vector(robot, "q", q, robot.q_names)
    robot.check_configuration(q)
    v = np.zeros(robot.nv) if v is None else vector(robot, "v", v, robot.v_names)
    torque = torque_source(robot, tau, steps)
    motion = Motion(robot, acting, torque, limits=limits)
    record = _Record(robot, integrator, float(dt), steps)
    state = State(q, v, 0.0, 0.0)
    recharts = any(joint.kind.recharts for joint in robot.joints.values())
    stiffness, look = Stiffness(robot, acting, integrator), max(1, int(_STIFFNESS_PERIOD / dt))
    substeps = 1
    springs = has_springs(robot, acting)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            for k in range(steps):
                motion.step, t = k, k * dt
                record.put(state, motion.torque(t, state.q, state.v))
                if k % look == 0 and not stiffness.is_zero:
                    substeps = stiffness.substeps(state.q, dt)
                    record.substeps = max(record.substeps, substeps)
                h = dt / substeps
                for part in range(substeps):
                    if integrator == "euler":
                        state = semi_implicit_euler(motion.push, motion.move, t + part * h, state, h)
                    else:
                        state = rk4(motion.rates, motion.move, t + part * h, state, h)
                _check_finite(robot, state, t + dt, dt)
                if recharts:
                    state = State(*robot.rechart(state.q, state.v), state.work, state.loss)
                if progress is not None:
                    progress(k + 1, steps)
            motion.step = steps
            record.put(state, motion.torque(steps * dt, state.q, state.v))
        return record.trajectory(robot, springs)
    except KeyboardInterrupt as stop:
        if record.rows < 2:
            raise
        raise SimulationInterrupted(record.trajectory(robot, springs), steps) from stop


def step_count(duration: float, dt: float) -> int:
    """How many steps of dt reach the duration; both in seconds. Raises `OptionError` for what is no time."""
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


class _Record:
    """The rows of the trajectory, filled one by one."""

    def __init__(self, robot: Model, integrator: str, dt: float, steps: int) -> None:
        self.rows = 0
        self.substeps = 1
        self._integrator = integrator
        self._dt = dt
        self._q, self._v, self._tau = (np.empty((steps + 1, n)) for n in (robot.nq, robot.nv, robot.nv))
        self._work, self._loss = np.empty(steps + 1), np.empty(steps + 1)

    def put(self, state: State, tau: Array) -> None:
        k = self.rows
        self._q[k], self._v[k], self._work[k], self._loss[k] = state
        self._tau[k] = tau
        self.rows = k + 1  # last: an interruption before leaves a row that does not count

    def trajectory(self, robot: Model, springs: bool) -> Trajectory:
        """The rows that are filled."""
        q, v, tau, work, loss = (x[: self.rows] for x in (self._q, self._v, self._tau, self._work, self._loss))
        return Trajectory(
            robot=robot.name,
            integrator=str.__str__(self._integrator),
            dt=self._dt,
            substeps=self.substeps,
            time=np.arange(self.rows, dtype=np.float64) * self._dt,
            q=q,
            v=v,
            tau=tau,
            kinetic=kinetic_energy(robot, q, v),
            potential=potential_energy(robot, q, passive=springs),
            work=work,
            dissipated=loss,
            q_names=tuple(robot.q_names),
            q_joints=tuple(owner.name for owner in robot.owners for _ in range(robot.nq)[owner.q_slice]),
            q_units=coordinate_units(robot),
            v_names=tuple(robot.v_names),
        )


def _check_finite(robot: Model, state: State, t: float, dt: float) -> None:
    if math.isfinite(float(state.q.sum() + state.v.sum())):
        return
    bad = ~np.isfinite(state.v)
    names = robot.v_names
    if not bad.any():
        bad, names = ~np.isfinite(state.q), robot.q_names
    what = f"{names[int(np.argmax(bad))]!r} first" if bad.any() else "its sum overflows"
    raise SimulationError(
        f"the motion of {robot.name!r} is no longer finite at t = {t:g} s ({what}): it grew beyond all bounds; try a "
        f"smaller step than {dt:g} s, smaller torques or initial velocities, or more friction"
    )
