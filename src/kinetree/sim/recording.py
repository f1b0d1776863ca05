"""From the rows of a motion to its trajectory: recorded quantities are computed from the states, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.drives import limited_forces
from kinetree.functions.dynamics import aba
from kinetree.functions.energy import kinetic_energy, potential_energy
from kinetree.functions.kinematics import frame_placement
from kinetree.functions.stiffness import spring_stiffness
from kinetree.model.constraints import Constraint, Contact
from kinetree.sim.endings import Endings
from kinetree.sim.events import Occurrence
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.pushed import UNITS as PUSH_UNITS
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.torques import for_all_rows
from kinetree.sim.trajectory import Trajectory, coordinate_names
from kinetree.sim.wanted import Wanted

__all__ = ["trajectory_of"]

Array = NDArray[np.float64]


def trajectory_of(
    setting: Setting,
    record: Record,
    endings: Endings,
    occurrences: Sequence[Occurrence],
    wanted: Wanted,
    rows: NDArray[np.intp],
    until: float,
    end: Snapshot | None,
) -> Trajectory:
    """The trajectory of the rows with these numbers, and the events until a time."""
    robot = setting.robot
    q, v, act, exchanged = [part.copy() for part in np.split(record.axis(record.rows, rows), setting.ends, axis=-1)]
    tau, ctrl = [part.copy() for part in np.split(record.axis(record.given, rows), (robot.nv,), axis=-1)]
    given = for_all_rows(robot, setting.parameters) or None
    recorded: dict[str, NDArray[Any]] = {
        name: _zero_after(record.axis(x, rows), endings, rows, len(setting.shape))
        for name, x in record.recorded.items()
    }
    units: dict[str, str] = {name: unit for name, unit in PUSH_UNITS.items() if name in recorded}
    units |= dict.fromkeys(record.forces, "N, N·m")
    if record.trees is not None:
        recorded["asleep"] = (record.axis(record.trees, rows) < 0.0).astype(np.float64)
    nothing = np.full(q.shape[:-1], np.nan)
    qdd = np.full_like(v, np.nan)
    has_accelerations = record.contact_report is not None and record.contact_report.shape[-1] > 1
    if record.contact_report is not None:
        recorded["contact.error"] = _worst(record.axis(record.contact_report[..., 0], slice(0, record.done)), rows)
    if setting.actuation is not None:
        recorded |= {"ctrl": ctrl, **({"act": act} if setting.activations else {})}
    if (
        (wanted.accelerations and not has_accelerations)
        or wanted.constraint_forces or wanted.contacts or wanted.needs_qdd
    ):  # fmt: skip
        solution = accelerations(setting, rows, q, v, act, tau, ctrl)
        qdd = solution.qdd
        if wanted.constraint_forces:
            recorded["constraint_forces"] = np.zeros_like(v) if solution.forces is None else np.array(solution.forces)
            units["constraint_forces"] = "N, N·m"
    if wanted.contacts:
        _add_contacts(setting, q, v, qdd, recorded, units)
    springs = bool(spring_stiffness(robot, setting.passive).any())
    if given and "spring" in setting.passive:
        springs = springs or any(name.startswith("joint.") and name.endswith(".stiffness") for name in given)
    kinetic, potential = nothing, nothing
    if wanted.energies:
        kinetic = kinetic_energy(robot, q, v, parameters=given)
        potential = potential_energy(robot, q, passive=springs, parameters=given)
    times = _times(record, rows)
    if wanted.sensors:
        from kinetree.functions.sensors import sensor_places, sensors

        names = list(wanted.sensors)
        needed_qdd = qdd if wanted.needs_qdd else None
        given_ctrl = ctrl if setting.actuation is not None else None
        given_act = act if setting.activations else None
        more: Any = {"time": times, "contact": setting.pushes or False, "parameters": given}
        numbers = sensors(robot, q, v, needed_qdd, given_ctrl, given_act, names=names, **more)
        recorded |= {f"sensor.{name}": numbers[..., at].copy() for name, at in sensor_places(robot, names).items()}
    for name in wanted.frames:
        recorded[f"frame.{name}"] = frame_placement(robot, q, name, parameters=given)
        units[f"frame.{name}"] = "m"
    return Trajectory(
        robot=robot.name, integrator=setting.integrator, dt=setting.dt, substeps=record.substeps, time=times, q=q, v=v,
        qdd=_shown(qdd, record, rows, wanted), tau=limited_forces(robot, tau, v) if setting.limits else tau,
        kinetic=kinetic, potential=potential, work=exchanged[..., 0].copy(), dissipated=exchanged[..., 1].copy(),
        **coordinate_names(robot), recorded=recorded, units=units,
        ended=np.asarray(np.minimum(endings.time, times[-1]) if times.size else endings.time),
        events=tuple(sorted((event for event in occurrences if event.time <= until), key=lambda one: one.time)),
        diverged={sample: one for sample, one in endings.diverged.items() if one.time <= until},
        step_counts=record.step_counts, end=end, kept=KeptRobot(robot),
    )  # fmt: skip


def _add_contacts(
    setting: Setting, q: Array, v: Array, qdd: Array, recorded: dict[str, NDArray[Any]], units: dict[str, str]
) -> None:
    """Contact forces between shapes: at each point, and in total for each pair that touches."""
    from kinetree.functions.contact_forces import contact_forces, contact_pairs

    given: Any = {"contact": setting.pushes}
    parameters = for_all_rows(setting.robot, setting.parameters) or None
    forces = contact_forces(setting.robot, q, v, qdd, **given, parameters=parameters)
    named = {"distance": (forces.distances, "m"), "point": (forces.points, "m"), "normal": (forces.normals, "")}
    named |= {"force": (forces.forces, "N"), "torque": (forces.torques, "N·m")}
    named["wrench"] = forces.wrenches(contact_pairs(setting.robot, **given)), "N, N·m"
    for name, (x, unit) in named.items():
        recorded[f"contact.{name}"], units[f"contact.{name}"] = np.array(x), unit


def _shown(qdd: Array, record: Record, rows: NDArray[np.intp], wanted: Wanted) -> Array:
    """The accelerations, if they are wanted: with contacts those of the steps."""
    if not wanted.accelerations:
        return np.full_like(qdd, np.nan)
    report = record.contact_report
    return qdd if report is None or report.shape[-1] == 1 else record.axis(report, rows)[..., 1:].copy()


def _worst(errors: Array, rows: NDArray[np.intp]) -> Array:
    """The largest of the errors (…, T) from each row that is kept until the next one."""
    return np.fmax.reduceat(errors, rows, axis=-1) if rows.size else errors[..., :0]


def _times(record: Record, rows: NDArray[np.intp]) -> Array:
    return record.times(0, record.done)[rows]


def _zero_after(x: NDArray[Any], endings: Endings, rows: NDArray[np.intp], axes: int) -> NDArray[Any]:
    """A controller's outputs, zero in rows after the end of each motion."""
    x = x.copy()
    if not axes or endings.going_on.all():
        return x
    x[rows >= endings.row[..., None]] = 0
    return x


class Accelerations(NamedTuple):
    """The inputs at each moment."""

    qdd: Array
    """(…, T, nv)."""
    forces: Array | None
    """With contacts the forces of all soft constraints along the degrees of freedom (…, T, nv); of
    constraints one force per row (…, T, m); None without either."""


def accelerations(
    setting: Setting, moments: NDArray[np.intp], q: Array, v: Array, act: Array, tau: Array, ctrl: Array
) -> Accelerations:
    """q̈ at each of T moments, under the torques, commands and external forces that act from then on.

    `moments` (T,) are the steps that begin there; at the end of the motion the forces of its last step act.
    """
    robot = setting.robot
    if not robot.nv:
        return Accelerations(np.zeros_like(v), None)
    forces = {key: rows[..., np.minimum(moments, rows.shape[-2] - 1), :] for key, rows in setting.forces.items()}
    given = for_all_rows(robot, setting.parameters)
    acting, limits, f_ext, parameters = [*setting.passive], setting.limits, forces or None, given or None
    if setting.actuation is not None:  # the limits are those of tau alone
        from kinetree.functions.commands import commanded_forces

        tau = limited_forces(robot, tau, v) if limits else tau
        limits = False
        tau = tau + commanded_forces(robot, q, v, act, ctrl, setting.dt, passive=acting, parameters=parameters)
    if (pushes := setting.pushes) is not None:
        from kinetree.functions.contact_dynamics import contact_dynamics

        solution = contact_dynamics(
            robot, q, v, tau, f_ext, passive=acting, limits=limits, contact=pushes, parameters=parameters
        )
        return Accelerations(solution.qdd, solution.forces)
    if not setting.held:
        return Accelerations(aba(robot, q, v, tau, f_ext, passive=acting, limits=limits, parameters=parameters), None)
    from kinetree.functions.constrained import constrained_dynamics

    held = [_without_gains(constraint) for constraint in setting.held]
    return Accelerations(
        *constrained_dynamics(robot, q, v, tau, held, f_ext, passive=acting, limits=limits, parameters=parameters)
    )


def _without_gains(constraint: Constraint) -> Constraint:
    """A constraint of states that satisfy it: nothing needs correction, wherever a frame is held, or how far away."""
    if isinstance(constraint, Contact):
        return replace(constraint, at=None, position_gain=0.0, velocity_gain=0.0)
    length = 1.0 if constraint.directions == "distance" else constraint.length
    return replace(constraint, length=length, position_gain=0.0, velocity_gain=0.0)
