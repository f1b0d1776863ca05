"""A simulated motion compared with MuJoCo, step by step and term by term: the first step and term that differ.

At each state of the motion the other library computes everything again, so that a difference belongs to the step at
which it is reported, and not to those before. Terms are compared in the order in which they depend on each other.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from kinetree.comparison.engine import UnreadableError
from kinetree.comparison.mujoco_steps import MujocoSteps, Terms
from kinetree.comparison.rows import KINDS, Rows, matched, own_rows
from kinetree.comparison.side import Array
from kinetree.errors import MissingPackageError, OptionError, listed
from kinetree.functions.contact_dynamics import contact_dynamics
from kinetree.functions.contact_options import contact_option, soft
from kinetree.functions.drives import passive_forces, passive_option
from kinetree.functions.dynamics import bias_forces, mass_matrix
from kinetree.model import Model, check_robot
from kinetree.records import record

__all__ = ["TERMS", "Parting", "StepComparison", "compare_steps"]

TERMS = (
    "mass matrix", "bias forces", "passive forces", "number of rows", "rows J", "reference accelerations",
    "regularisations R", "accelerations", "state after the step",
)  # fmt: skip
"""The compared terms, in this order."""
_MOST = 256
"""States that are computed at once."""


class Motion(Protocol):
    """The needed attributes of a trajectory."""

    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def qdd(self) -> Array: ...
    @property
    def tau(self) -> Array: ...
    @property
    def time(self) -> Array: ...
    @property
    def dt(self) -> float: ...
    @property
    def integrator(self) -> str: ...
    @property
    def recorded(self) -> Mapping[str, Any]: ...


@record(frozen=True, slots=True)
class Parting:
    """Where the two part."""

    step: int
    time: float
    """s"""
    term: str
    error: float
    """Relative to the largest number of the term."""
    where: str
    ours: float
    theirs: float

    def __str__(self) -> str:
        numbers = f"{self.ours:.10g} here, {self.theirs:.10g} there"
        place = f" {self.where}" if self.where else ""
        return f"they part at step {self.step}, t = {self.time:g} s, in the {self.term}{place}: {numbers}"


@record(frozen=True, slots=True)
class StepComparison:
    """A motion compared with another library."""

    robot: str
    library: str
    steps: int
    """How many were compared; the last of them is the one where the two diverge."""
    tolerance: float
    errors: dict[str, float]
    """The largest difference of each term, relative to its largest number in that state."""
    parting: Parting | None
    """The first difference beyond the tolerance; None without one."""
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.robot} compared with {self.library}: {self.steps} steps, each from the state of the motion"]
        lines += [f"  {term:<26s} {error:.2g}" for term, error in self.errors.items()]
        lines += [f"  note: {note}" for note in self.notes]
        same = f"all terms are the same to {self.tolerance:g} relative to the largest number of each"
        return "\n".join([*lines, same if self.parting is None else str(self.parting)])


def compare_steps(
    robot: Model,
    motion: Motion,
    *,
    contact: Any = True,
    passive: Any = True,
    tolerance: float = 1e-8,
    progress: Callable[[int, int], None] | None = None,
) -> StepComparison:
    """Compare a motion of `kt.simulate` with MuJoCo, until the first term that differs.

    Args:
        robot: the robot that was simulated. If it is as in its MJCF file, MuJoCo reads that file, otherwise one that
            kinetree writes.
        motion: one motion, not a batch. Its torques act on both sides; actuators of a file do not.
        contact, passive: as they were given to `kt.simulate`.
        tolerance: the largest difference of equal numbers, relative to the largest number of the term in that state.
        progress: called with the steps done and all steps.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        OptionError: for a batch, a motion under commands of actuators, contacts in another setting than "mujoco", or a
            robot that MuJoCo cannot read.
    """
    check_robot(robot)
    if importlib.util.find_spec("mujoco") is None:
        raise MissingPackageError("comparing steps needs mujoco: pip install mujoco")
    if np.ndim(motion.q) != 2:
        raise OptionError("compare_steps takes one motion, and this is a batch; give motions[k]")
    if "ctrl" in motion.recorded:
        raise OptionError("compare_steps: actuators act on neither side; give a motion under torques, without ctrl=")
    if motion.q.shape[-1] != robot.nq:
        raise OptionError(f"compare_steps: the motion has {motion.q.shape[-1]} coordinates, {robot.name!r} {robot.nq}")
    if not np.isfinite(motion.qdd).all():
        raise OptionError('compare_steps needs accelerations, which kt.simulate has with record=["accelerations"]')
    if not np.allclose(np.diff(motion.time), motion.dt, rtol=1e-6):
        raise OptionError(
            "compare_steps needs the state of every step, and whole ones: record every step, and simulate without an "
            "event that ends the motion within a step"
        )
    soft_constraints = contact_option(robot, contact)
    if soft_constraints is not None and soft_constraints.setting is not None:
        raise OptionError(
            "compare_steps: compliant and rigid contacts are not MuJoCo's, so that all of their rows differ; "
            'simulate and compare with contact="mujoco"'
        )
    acting: Any = passive_option(robot, passive)
    off = [flag for name, flag in (("damping", "DAMPER"), ("spring", "SPRING")) if name not in acting]
    off += [] if contact else ["CONSTRAINT"]
    off += [] if "friction" in acting else ["FRICTIONLOSS"]
    try:
        theirs = MujocoSteps(robot, motion.dt, motion.integrator, off)
    except UnreadableError as error:
        raise OptionError(str(error)) from None
    errors, count, parting = dict.fromkeys(TERMS, 0.0), len(motion.q) - 1, None
    steps, names = 0, _Names(robot)
    for k, own, other in _states(robot, motion, soft_constraints, acting, theirs):
        steps = k + 1
        differences = _compared(names, own, other, errors, tolerance)
        if progress is not None:
            progress(steps, count)
        if differences is not None:
            parting = Parting(k, float(motion.time[k]), *differences)
            break
    return StepComparison(robot.name, theirs.title, steps, tolerance, errors, parting, tuple(theirs.notes))


def _states(
    robot: Model, motion: Motion, constraints: Any, acting: Sequence[str], theirs: MujocoSteps
) -> Iterator[tuple[int, Terms, Terms]]:
    """The number of each step, and both sides' terms at its beginning."""
    steps = len(motion.q) - 1
    forces = [name for name in acting if constraints is None or name != "friction"]
    for begin in range(0, steps, _MOST):
        part = slice(begin, min(begin + _MOST, steps))
        q, v, tau = motion.q[part], motion.v[part], motion.tau[part]
        M, h = mass_matrix(robot, q), bias_forces(robot, q, v)
        passive = passive_forces(robot, q, v, passive=forces) if forces else np.zeros_like(v)
        qdd = motion.qdd[part]
        if constraints is not None and motion.integrator == "discrete":  # whose own are those at the end of the step
            qdd = contact_dynamics(robot, q, v, tau, passive=acting, contact=constraints).qdd
        rows = _own_rows(robot, constraints, acting, q, v, motion.dt)
        for i, (own, other) in enumerate(zip(rows, theirs.along(q, v, tau), strict=True)):
            k = begin + i
            after = np.concatenate([motion.q[k + 1], motion.v[k + 1]])
            yield k, Terms(M[i], h[i], passive[i], own, qdd[i], after, []), other


def _own_rows(robot: Model, constraints: Any, passive: Sequence[str], q: Array, v: Array, dt: float) -> Iterator[Rows]:
    rows, tree = soft(robot, constraints, passive, written_out=True), robot.tree
    for one_q, one_v in zip(q.tolist(), v.tolist(), strict=True):
        blocks = () if rows is None else rows(tree, tree.split(one_q, "nq"), tree.split(one_v, "nv"), dt, False)[0]
        yield own_rows(blocks, robot.nv)


def _compared(
    names: _Names, own: Terms, other: Terms, errors: dict[str, float], tolerance: float
) -> tuple[str, float, str, float, float] | None:
    """The first term that differs, by how much and where, and both numbers; `errors` are made larger."""
    first = None
    for term, ours, theirs, place in _pairs(names, own, other):
        scale = max(float(np.abs(ours).max(initial=0.0)), float(np.abs(theirs).max(initial=0.0))) or 1.0
        apart = np.abs(ours - theirs) / scale
        apart = np.where(np.isfinite(apart), apart, np.inf)
        worst = float(apart.max(initial=0.0))
        errors[term] = max(errors[term], worst)
        if worst > tolerance and first is None:
            at = tuple(int(x) for x in np.unravel_index(int(np.argmax(apart)), apart.shape))
            first = term, worst, place(at), float(ours[at]), float(theirs[at])
    return first


class _Names:
    """The names of numbers."""

    def __init__(self, robot: Model) -> None:
        self._robot = robot
        self.state = [*robot.q_names, *(f"the rate of {name}" for name in robot.v_names)]
        self.quaternions = [*robot.quaternions.values()]

    def of_v(self, at: tuple[int, ...]) -> str:
        return "of " + " and ".join(repr(self._robot.v_names[k]) for k in at)

    def of_state(self, at: tuple[int, ...]) -> str:
        return f"of {self.state[at[0]]!r}"


def _pairs(
    names: _Names, own: Terms, other: Terms
) -> Iterator[tuple[str, Array, Array, Callable[[tuple[int, ...]], str]]]:
    """Each term of both sides as arrays of the same shape, and a function from indices to a place in words."""
    yield TERMS[0], own.mass_matrix, other.mass_matrix, names.of_v
    yield TERMS[1], own.bias, other.bias, names.of_v
    yield TERMS[2], own.passive, other.passive, names.of_v
    counts = [np.array([*rows.counts.values()], dtype=np.float64) for rows in (own.rows, other.rows)]
    touching = f"; there {listed(other.touching)} touch" if other.touching else ""
    yield TERMS[3], counts[0], counts[1], lambda at: f"of {KINDS[at[0]]}{touching}"
    if (counts[0] == counts[1]).all():
        order = matched(own.rows, other.rows)

        def of_row(at: tuple[int, ...]) -> str:
            return f"of row {order[at[0]]} there, of {own.rows.kind[at[0]]}"

        yield TERMS[4], own.rows.J, other.rows.J[order], of_row
        yield TERMS[5], own.rows.reference, other.rows.reference[order], of_row
        # Each is compared with itself: they are of very different sizes.
        yield TERMS[6], np.ones_like(own.rows.R), other.rows.R[order] / own.rows.R, of_row
    yield TERMS[7], own.qdd, other.qdd, names.of_v
    if other.after.size:
        theirs = other.after.copy()
        for part in names.quaternions:
            theirs[part] *= 1.0 if own.after[part] @ theirs[part] >= 0.0 else -1.0
        yield TERMS[8], own.after, theirs, names.of_state
