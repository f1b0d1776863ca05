"""Simulation: from a state and torques to a motion."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from kinetree.errors import OptionError, SimulationWarning, nearest_names
from kinetree.functions.constraint_options import Constraints
from kinetree.functions.contact_options import ContactOption
from kinetree.functions.control_times import ControlDt
from kinetree.functions.drives import Passive
from kinetree.functions.force_programs import ActingForces
from kinetree.functions.integrator_options import ADAPTIVE
from kinetree.inputs import refuse_symbols
from kinetree.model import Model, check_robot
from kinetree.programs import Program
from kinetree.sim.controllers import Commander, Controller
from kinetree.sim.durations import step_count
from kinetree.sim.events import Until
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.live import Live
from kinetree.sim.prepare import prepared
from kinetree.sim.remarks import remarks
from kinetree.sim.setting import RK45
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.stream import inputs_of, streamed
from kinetree.sim.task import at_once
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.wanted import Recording, RecordOption
from kinetree.sim.watched import Viewer, Viewing, watched

__all__ = ["simulate", "step_count", "with_records"]

Folder = str | os.PathLike[str]

_WORTH_SAYING = 2.0  # seconds
_log = logging.getLogger("kinetree")
_IN_RECORDS: Mapping[str, tuple[str, type[Any]]] = {
    "every": ("record", Recording), "stream": ("record", Recording), "rtol": ("integrator", RK45),
    "atol": ("integrator", RK45), "speed": ("view", Viewing), "progress": ("view", Viewing),
}  # fmt: skip
"""The keywords of `simulate` up to version 0.1 that are fields of records now; they still work, with a warning."""


class _Options(TypedDict, total=False):
    """The keyword arguments of `simulate`, except `record`."""

    q: ArrayLike | None
    v: ArrayLike | None
    tau: ArrayLike | Controller | Program | None
    ctrl: ArrayLike | Commander | Program | None
    act: ArrayLike | None
    f_ext: ActingForces | None
    constraints: Constraints | None
    duration: float
    dt: float
    control_dt: ControlDt
    arguments: Mapping[str, ArrayLike] | None
    rows: Mapping[str, ArrayLike] | None
    state: Mapping[str, ArrayLike] | None
    integrator: str | RK45 | None
    passive: Passive
    limits: bool
    contact: ContactOption
    parameters: Mapping[str, ArrayLike] | None
    until: Until | None
    resume: Snapshot | None
    view: bool | Viewer | Viewing


@overload
def simulate(
    robot: Model, *, record: RecordOption | Recording | None = None, **options: Unpack[_Options]
) -> Trajectory: ...


@overload
def simulate(robot: Model, *, record: Recording[Folder], **options: Unpack[_Options]) -> TrajectoryFolder: ...


@overload
def simulate(
    robot: Model, *, record: Recording[Folder | None], **options: Unpack[_Options]
) -> Trajectory | TrajectoryFolder: ...


def simulate(
    robot: Model,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | Controller | Program | None = None,
    ctrl: ArrayLike | Commander | Program | None = None,
    act: ArrayLike | None = None,
    f_ext: ActingForces | None = None,
    constraints: Constraints | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    control_dt: ControlDt = None,
    arguments: Mapping[str, ArrayLike] | None = None,
    rows: Mapping[str, ArrayLike] | None = None,
    state: Mapping[str, ArrayLike] | None = None,
    integrator: str | RK45 | None = None,
    passive: Passive = True,
    limits: bool = False,
    contact: ContactOption = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    until: Until | None = None,
    record: RecordOption | Recording[Any] | None = None,
    resume: Snapshot | None = None,
    view: bool | Viewer | Viewing = False,
    **deprecated: Any,
) -> Trajectory | TrajectoryFolder:
    """Simulate a robot under gravity, joint forces, joint friction and springs: one motion, or a batch of motions.

    The motion ends at the first whole number of steps `dt` that reaches `duration`. Arrays of results have one row per
    step and one for the start: q is (steps + 1, nq).

    **Start.** q (nq,) and v (nv,) are the initial state. By default the robot is at rest, at the reference
    configuration of an MJCF file (`robot.extras.reference_configuration`), or at `robot.neutral()`; with contacts it is
    raised out of its ground (`kt.contact.above_ground`). `parameters` override some of the robot's parameters, as for
    `aba`.

    **Joint forces.** tau (N·m or N) is None, constant (nv,), or has one row per step (steps, nv), which is held over
    the step; or it is a controller. tau must be zero where the robot has no motor (`robot.actuated`), as at a floating
    base: forces from outside are `f_ext`.

    **Controllers.** A controller is a program (`kt.program`), which runs in the kernel of the steps, or a Python
    function (t, q, v) -> (nv,), whose calls take many times as long as a step. It is called once per step, in the order
    of time, and its result is held until the next call; `control_dt`, a multiple of dt in s, sets another period.
    control_dt="stages" calls it at every stage of the integrator, some of them at times and states that the motion does
    not pass through: use this for forces that are a smooth function of the state, not for a controller with a memory.

    A program takes any of t (), q (nq,) and v (nv,), and arguments of its own: `arguments` gives the constant ones, by
    name, and `rows` those with one row per step (steps, *shape). It returns tau (nv,), alone or as "tau" in a dict,
    named tuple or dataclass. A result with the name of an argument is that argument's value at the next call, so a
    program can have a state, such as an integral, a filter, or the last command "tau". `state` gives its initial value;
    the default is that of the argument, or zero. The trajectory has the state and the other results in `recorded`.

    **Actuators.** ctrl are commands of the robot's actuators (nu,), in all forms that tau may have. The actuators act
    at each stage of a step, within their ranges and in addition to tau; so do carried weights, tendons and the medium,
    as in `rollout`. A Python function may be (t, q, v) or (t, q, v, act); a program may also take act (na,), and
    returns the commands alone or as "ctrl". `act` (na,) are the initial activations, zero by default. The trajectory
    has the commands and activations in `recorded`.

    **External forces.** `f_ext` holds them by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for
    `aba`: constant (6,), or with one row per step (steps, 6), such as a push that ends; or a program or Python function
    of time and state that returns (6,), such as a thruster, wind or drag. `control_dt` sets the period of these calls
    too. Programs may take `arguments`, `rows` and `state`, and may return the wrench as "f_ext" with other results. The
    results are in `recorded`, as "f_ext.FRAME". The trajectory's `work` includes the work of all external forces.

    **Constraints.** `constraints` is a list of `kt.constraints.Contact` and `kt.constraints.Loop` that hold during the
    whole motion, as for `constrained_dynamics`; a contact without `at=` stays where it is at the start. Each step ends
    with a projection onto the states that satisfy them, so with "rk4" they stay closed to rounding and need no gains.
    The start must satisfy them to 1e-6; `kt.constraints.nearest_configuration` and `kt.constraints.nearest_velocity`
    find such a start.

    **Contacts.** With `contact=True` the robot's shapes touch each other and the world, joints end at their limits, and
    dry friction sticks, as in `contact_dynamics`. The energy that contacts take is part of the trajectory's
    `dissipated`. Contacts exclude `constraints`. Without contacts a joint swings through its stops, and a
    `SimulationWarning` says which joint, when and how far.

    **Friction, springs and motors.** `passive` selects the passive forces of the joints: True for all, False for none,
    or a list of names among "damping", "friction" and "spring". With `limits`, motors give at most their effort limit
    of tau and drive no joint beyond its velocity limit. See `kinetree docs drives`.

    **Integrators.** `integrator` is "rk4" (order four, the default without contacts; for smooth motion far more exact
    at the same cost), "symplectic_euler" (order one), "semi_implicit_euler" (takes friction implicitly, and is stable
    however stiff friction is), or "implicitfast" or "discrete" (take contacts and springs implicitly too). With
    contacts the default is the integrator of an MJCF file, and "discrete" for other robots. `kinetree docs integrators`
    helps to choose. The steps are those of `rollout`. A step is divided where friction (with "rk4"), or a spring or
    servo (with all integrators that do not take them at the end of the step), is too stiff for it. More than a hundred
    parts raise `StiffFrictionError` for friction, `SimulationError` for springs; in a batch, in which others can go on,
    the motion ends there.

    "rk45", or `kt.sim.RK45(rtol=…, atol=…)` with tolerances of your own, is the pair of Dormand and Prince. Its steps
    are as long as the tolerances allow, and end where torques or external forces change. Rows are at multiples of dt,
    on its interpolation of order four; `step_counts` of the trajectory has the number of steps.

    **Events.** `until` is an event that ends the motion: a function (t, q, v) -> number, or a program, whose number
    passes through zero. A dict of them by name may also have `kt.sim.Event`, which can count in one direction, or be
    recorded without ending the motion. The moment is found within the step, by halving it to dt / 10¹²; the last row is
    that of the moment. In a batch each motion ends by itself, and its later rows repeat its last state (`ended` and
    `events` of the trajectory).

    **Records.** `record` lists further quantities to record: "accelerations", "energies" (these two are the default),
    "contacts", "constraint_forces", "sensors" and "frames"; a dict may choose names: {"frames": ["tool"], "sensors":
    True}. `kt.sim.Recording(…, every=10)` keeps one row of ten, and `kt.sim.Recording(…, stream="folder")` writes the
    motion into a folder while it is computed and returns a `kt.sim.TrajectoryFolder`. See `kinetree docs recording`.

    **Pauses.** `resume` is a `kt.sim.Snapshot` from which the motion goes on for `duration`, to the same bits as
    without a pause. Rows of `tau`, `f_ext` and `rows` are those of the steps that follow. The other arguments must be
    those of before.

    **Pages.** `view=True` shows the motion in the browser while it is computed. The address of the page is logged, and
    the motion begins when the page is open, or after 10 s. `view` may also be the `kt.view` of this robot, or
    `kt.sim.Viewing(page=…, speed=…, progress=…)`, which sets a pace, or calls a function now and then, with a page or
    without one. The page has buttons to pause, to go on by 1/60 s, to begin again, and to end the motion early, which
    returns the computed part. Bodies of a single motion can be pushed with the mouse: the force is in `recorded`, and
    its work in `work`. Nothing else about a page changes any number. The page stays and plays the motion, until its
    `close` is called or Python ends.

    **Batches.** q (…, nq), v (…, nv), tau (…, steps, nv), ctrl (…, steps, nu), act (…, na), f_ext (…, steps, 6),
    parameters and the numbers of constraints (such as `at=`) may have leading axes, which broadcast (a single row per
    motion is (…, 1, nv)). Results have them first: q is (…, steps + 1, nq). A controller gets q (…, nq) and returns
    (…, nv). `motion[k]` is the trajectory of one motion, for example to plot it. Each motion is the same as alone.

    Other warnings are about a base that falls more than 10 m, a start far outside a joint's limits or inside something,
    contacts that were not solved, and steps that make energy. `every`, `stream`, `rtol`, `atol`, `speed` and `progress`
    as keywords, as up to version 0.1, work with a warning that gives the new spelling.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: an argument is unusable.
        ActuationError: tau, or the result of a controller, is not zero where there is no motor.
        SingularModelError: the robot has no forward dynamics.
        SimulationError: the motion ceases to be finite or leaves no step that the tolerances allow, or a controller
            returns numbers that are not finite. Its `trajectory` is the motion until then. In a batch only that motion
            ends, also where its command is not a number: a `SimulationWarning` says so, and `diverged` of the
            trajectory has its time, joint and cause; the others are untouched.
        SimulationInterrupted: Ctrl-C was pressed after the first step. It is a `KeyboardInterrupt`, and its
            `trajectory` is the motion until then.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> motion.q.shape
    (1001, 2)
    >>> bool(abs(motion.balance_error).max() < 1e-8)
    True
    """
    options = {**locals()}
    if deprecated:
        for name in deprecated.keys() - _IN_RECORDS.keys():
            raise TypeError(
                f"simulate() got an unexpected keyword argument {name!r}: "
                f"{nearest_names(name, [own for own in options if own != 'deprecated'])}"
            )
        options = with_records(options | deprecated, warns=True)
    check_robot(robot)
    refuse_symbols(
        "simulate: how a motion goes on",
        "use kt.rollout, or steps of your own with kt.integrate, in programs",
        *[x for x in (q, v, tau, ctrl, act, duration, dt) if x is not None],
        *[x for some in (parameters, arguments, rows, state) if isinstance(some, Mapping) for x in some.values()],
    )
    recording, viewing = options["record"], options["view"]
    if not isinstance(recording, Recording):
        recording = options["record"] = Recording(recording)
    if not isinstance(viewing, Viewing):
        viewing = Viewing(viewing)
    task = prepared(robot, options)
    began = time.perf_counter()
    messages: list[str] = []

    def add_remarks(part: Trajectory) -> None:
        messages.extend(remarks(robot, part, task.setting.gravity, task.setting.contact, task.setting.parameters))

    def compute(live: Live | None) -> Trajectory | TrajectoryFolder:
        if recording.stream is None:
            add_remarks(result := at_once(task, viewing.progress, live))
            return result
        return streamed(task, recording.stream, inputs_of(task, options), viewing.progress, add_remarks, live)

    motion = watched(task, compute, viewing, is_streamed=recording.stream is not None)
    if task.is_python and viewing.page is False:
        names = {"tau": tau, "ctrl": ctrl, **{f"f_ext[{key!r:.80}]": x for key, x in dict(f_ext or {}).items()}}
        _say_if_slow(time.perf_counter() - began, next(name for name, x in names.items() if callable(x)))
    for remark in messages:
        warnings.warn(remark, SimulationWarning, stacklevel=2)
    return motion


def with_records(options: Mapping[str, Any], *, warns: bool = False) -> dict[str, Any]:
    """Arguments of `simulate` in which values with keywords of version 0.1 are in their records.

    `warns`: whether a warning, at the line that called this function's caller, gives the new spelling.
    """
    result = {name: x for name, x in options.items() if name not in _IN_RECORDS}
    for keyword, kind in dict.fromkeys(_IN_RECORDS[name] for name in options if name in _IN_RECORDS):
        names = [name for name, place in _IN_RECORDS.items() if place == (keyword, kind) and name in options]
        values = {name: options[name] for name in names if options[name] is not None}
        old, first = ", ".join(f"{name}=" for name in names), result.get(keyword)
        if isinstance(first, kind):
            raise OptionError(f"simulate: {old} and {keyword}= exclude each other; give {old} to {kind.__name__}")
        if warns:
            parts = [] if first is None or first is True or kind is RK45 else ["page=False" if first is False else "…"]
            new = f"{keyword}=kt.sim.{kind.__name__}({', '.join([*parts, *(f'{name}=…' for name in names)])})"
            warnings.warn(f"simulate: write {new} instead of {old}", DeprecationWarning, stacklevel=3)
        if kind is not RK45:
            result[keyword] = kind(first, **values)
        elif values and not (isinstance(first, str) and first == ADAPTIVE):
            raise OptionError(
                f"simulate: {old} is for the integrator {ADAPTIVE!r}, which chooses its steps by it; leave it out, or "
                f"give integrator={ADAPTIVE!r}"
            )
        elif values:
            result[keyword] = RK45(**values)
    return result


def _say_if_slow(seconds: float, name: str) -> None:
    """Log a quicker way, if a Python function took long."""
    if seconds > _WORTH_SAYING:
        _log.warning(
            "simulate took %.1f s, most of it in calls of %s, which is a Python function; "
            "as a program (kt.program) it would run in the kernel of the steps",
            seconds,
            name,
        )
