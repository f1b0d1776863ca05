"""Simulation: from a state and torques to a motion."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Mapping
from typing import TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from kinetree.errors import OptionError, SimulationWarning
from kinetree.functions.constraint_options import Constraints
from kinetree.functions.contact_options import ContactOption
from kinetree.functions.control_times import ControlDt
from kinetree.functions.drives import Passive
from kinetree.functions.force_programs import ActingForces
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
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.stream import inputs_of, streamed
from kinetree.sim.task import at_once
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.wanted import Every, RecordOption
from kinetree.sim.watched import Viewer, watched

__all__ = ["simulate", "step_count"]

_WORTH_SAYING = 2.0  # seconds
_log = logging.getLogger("kinetree")


class _Options(TypedDict, total=False):
    """The keyword arguments of `simulate`, except `stream`."""

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
    integrator: str | None
    rtol: float | None
    atol: float | None
    passive: Passive
    limits: bool
    contact: ContactOption
    parameters: Mapping[str, ArrayLike] | None
    until: Until | None
    record: RecordOption | None
    every: Every
    resume: Snapshot | None
    progress: Callable[[int, int], None] | None
    view: bool | Viewer
    speed: float | None


@overload
def simulate(robot: Model, *, stream: None = None, **options: Unpack[_Options]) -> Trajectory: ...


@overload
def simulate(robot: Model, *, stream: str | os.PathLike[str], **options: Unpack[_Options]) -> TrajectoryFolder: ...


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
    integrator: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    passive: Passive = True,
    limits: bool = False,
    contact: ContactOption = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    until: Until | None = None,
    record: RecordOption | None = None,
    every: Every = 1,
    resume: Snapshot | None = None,
    stream: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    view: bool | Viewer = False,
    speed: float | None = None,
) -> Trajectory | TrajectoryFolder:
    """The motion of a robot under gravity, joint torques, joint friction and springs; or the motions of a batch.

    q (nq,) and v (nv,) are the initial state: by default at rest, where an MJCF file places the robot's bodies
    (`robot.extras.reference_configuration`), and `robot.neutral()` for others, with contacts raised out of their ground
    (`kt.contact.above_ground`). The motion ends at the first whole
    number of steps `dt` that reaches `duration` (both in s). Arrays of results have one row per step and one for the
    start: q is (steps + 1, nq).

    tau (N·m or N) is None, constant (nv,), one row per step (steps, nv) held over that step, or a controller, whose
    result is held until its next call. A controller is a program (`kt.program`), which runs in the kernel of the steps,
    or a Python function (t, q, v) -> (nv,), which is slow: a call of it takes many times as long as a step. It is
    called once per step, in the order of time; with `control_dt`, a multiple of dt in s, that often.
    control_dt="stages" calls it at every stage of the integrator, some of them at times and states that the motion does
    not pass through: for torques that are a smooth function of the state, not for a controller that remembers. Where
    there is no motor (`robot.actuated`), as at a floating base, tau must be zero: what pushes from outside is `f_ext`.

    ctrl are commands of the robot's actuators (nu,), in all the forms that tau has: then these act at each stage of a
    step, with their ranges, beside tau, as do carried weights, tendons and the medium, as in `rollout`. A Python
    function may be (t, q, v) or (t, q, v, act), and a program returns the commands alone or as "ctrl", with act (na,)
    among what it may take. `act` (na,) are the activations at the beginning, zeros by default. The trajectory has both
    in `recorded`.

    A program takes any of t (), q (nq,) and v (nv,), and arguments of its own: `arguments` gives those that are
    constant over the motion, by name, and `rows` those with one row per step (steps, *shape). It returns tau (nv,),
    alone or as "tau" in a dict, named tuple or dataclass. A result that is named as an argument is that argument's
    value at the next call. So a program has a state, such as an integral, a filter, or "tau", the last command; `state`
    gives its initial value, by default that of the argument's default, or zero. The trajectory has what else it
    returns, and its state, in `recorded`.

    `f_ext` holds external forces by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for `aba`: constant
    (6,), or one row per step (steps, 6), such as a push that ends; or a program or Python function of time and state,
    as tau may be, that returns (6,): a thruster, wind, drag. Programs take `arguments`, `rows` and `state` too, and may
    return the wrench as "f_ext" beside other results; `control_dt` holds for all that is called. What they return is in
    `recorded`, as "f_ext.FRAME". The work of all external forces is part of the trajectory's `work`.

    `constraints` is a list of `kt.constraints.Contact` and `kt.constraints.Loop` that hold during the whole motion, as
    for `constrained_dynamics`; a contact without `at=` stays where it is at the start. Each step ends with a projection
    onto the states that satisfy them, so with "rk4" they stay closed to rounding, and gains are not needed. The start
    must satisfy them to 1e-6: `kt.constraints.nearest_configuration` and `kt.constraints.nearest_velocity` find one
    that does.

    A batch: q (…, nq), v (…, nv), tau (…, steps, nv), ctrl (…, steps, nu), act (…, na), f_ext (…, steps, 6), parameters
    and the numbers of constraints (such as `at=`) may have leading axes, which broadcast (a single row per motion
    is (…, 1, nv)). Results have them first: q is (…, steps + 1, nq); a controller gets q (…, nq) and returns (…,
    nv); `motion[k]` is the trajectory of one of the motions, to plot for example. Each is the same as alone.

    With `contact=True` the robot's shapes touch each other and the world, its joints end at their limits, and dry
    friction sticks, as in `contact_dynamics`; what contacts take from the energy is part of what the trajectory has
    `dissipated`. Constraints cannot hold at the same time.

    `integrator` is "rk4" (order four; for smooth motion far more exact at the same cost; the default without contacts),
    "symplectic_euler" (order one), "semi_implicit_euler" (with friction taken implicitly: steady however stiff friction
    is), "implicitfast" or "discrete" (with contacts and springs implicit too). With contacts the default is that of an
    MJCF file, and "discrete" for other robots; docs/simulation.md says which one when. The steps are those of
    `rollout`.
    "rk45", the pair of Dormand and Prince, takes steps of its own, as long as the tolerances allow: the error of each
    is at most rtol (1e-6) in a configuration, rad or m, and rtol of each velocity, plus atol (1e-8). Rows are every dt,
    on its interpolation of order four; it ends steps where torques or external forces change, and `step_counts` of the
    trajectory tells how many there were.
    Other steps are divided where friction (for RK4), springs or servos (for all that do not take them at the end) are
    stiff. Where that would take more than a
    hundred parts, it is refused: by `StiffFrictionError`, or for springs by `SimulationError`. Of a batch, in which
    others can go on, the motion ends there.

    `passive` says which passive forces of the joints act: True for all, False for none, or a list of names among
    "damping", "friction" and "spring". With `limits` motors give at most their effort limit of tau and drive no
    joint beyond its velocity limit. Without `contact=True` a joint swings through its stops, and a
    `SimulationWarning` says which, when and how far. Another warns about a base that falls more than 10 m, about a
    start far outside a joint's limits or inside something, about contacts that were not solved, and about steps that
    make energy. See docs/drives.md. `parameters`
    are values that override some of the robot's parameters, as for `aba`. `progress(done, steps)` is called now and
    then.

    `until` is an event that ends the motion: a function (t, q, v) -> number, or a program, whose number passes through
    zero; or a dict from names to those, or to `kt.sim.Event`, which may be recorded only, or count in one direction.
    The moment is found within the step, by halving it to dt / 10¹²; the last row is that of the moment. In a batch each
    motion ends by itself, and its later rows repeat its last state (`ended`, `events` of the trajectory).

    `every` is how many steps (an int), or seconds (a float, a multiple of dt), lie between rows that are kept, besides
    the end. `record` is what is recorded in them besides states, torques, work and dissipation: a list of
    "accelerations", "energies" (these two are the default), "contacts", "constraint_forces", "sensors" and "frames",
    or a dict, which may choose names: {"frames": ["tool"], "sensors": True}. See docs/recording.md.

    `resume` is a `kt.sim.Snapshot` from which the motion goes on for `duration`, to the same bits as without a pause;
    rows of `tau`, `f_ext` and `rows` are those of the steps that follow. The other arguments must be those of before.

    `stream` is a folder into which the motion is written while it is computed, in pieces: for motions that are longer
    than the memory, or must survive a kill. The same call goes on where the last one stopped. The result is a
    `kt.sim.TrajectoryFolder`, which `kt.load_trajectory(folder)` opens too.

    `view=True` shows the motion in the browser while it is computed, on a page whose address is logged; it begins when
    the page is there, or after 10 s. `view` may also be the `kt.view` of this robot. The page has buttons to pause, to
    go on by 1/60 s, to begin again, and to end the motion early, of which what was computed is returned. A single
    motion's bodies can be pushed with the mouse: the trajectory has the force in `recorded`, and its work in `work`.
    Nothing else of this changes any number. The page stays and plays the motion, until its `close` is called or Python
    ends.

    `speed` is how many seconds of the motion pass per second: with a page 1 by default, otherwise as fast as it goes
    (math.inf). So speed=1 without a page keeps to real time, for a Python function as controller that asks a joystick
    or answers a program; it waits at every 1/60 s, and changes no number.

    Raises `ShapeError`, `DTypeError`, `ConfigurationError` and `OptionError` for unusable arguments, `ActuationError`
    for a torque where there is no motor, whenever `tau` returns it, `SingularModelError` for a robot without forward
    dynamics, and `SimulationError` when the motion ceases to be finite or leaves no step that the tolerances allow, or
    the controller returns numbers that are not finite; its `trajectory` is the motion until then. Of a batch that one
    motion ends, also where its command is not a number: a `SimulationWarning` says so, and `diverged` of the trajectory
    has its time, joint and cause; the others are untouched.
    Ctrl-C raises `SimulationInterrupted`, a `KeyboardInterrupt` whose `trajectory` is the motion until then, unless the
    first step is not done yet.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> motion.q.shape
    (1001, 2)
    >>> bool(abs(motion.balance_error).max() < 1e-8)
    True
    """
    check_robot(robot)
    refuse_symbols(
        "simulate: how a motion goes on",
        "use kt.rollout, or steps of your own with kt.integrate, in programs",
        *[x for x in (q, v, tau, ctrl, act, duration, dt) if x is not None],
        *[x for some in (parameters, arguments, rows, state) if isinstance(some, Mapping) for x in some.values()],
    )
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of (done, steps), not {progress!r:.60}")
    task = prepared(
        robot, q=q, v=v, tau=tau, ctrl=ctrl, act=act, f_ext=f_ext, constraints=constraints, duration=duration, dt=dt,
        control_dt=control_dt, arguments=arguments, rows=rows, state=state, integrator=integrator, rtol=rtol,
        atol=atol, passive=passive, limits=limits, contact=contact, parameters=parameters, until=until, record=record,
        every=every, resume=resume, is_streamed=stream is not None,
    )  # fmt: skip
    began = time.perf_counter()
    said: list[str] = []

    def tell(part: Trajectory) -> None:
        said.extend(remarks(robot, part, task.setting.gravity, task.setting.contact, task.setting.parameters))

    def compute(live: Live | None) -> Trajectory | TrajectoryFolder:
        if stream is None:
            tell(found := at_once(task, progress, live))
            return found
        given = {"tau": tau, "ctrl": ctrl, "f_ext": f_ext, "arguments": arguments, "rows": rows, "state": state}
        return streamed(task, stream, inputs_of(task, given), progress, tell, live)

    motion = watched(task, compute, view, speed, is_streamed=stream is not None)
    if task.is_python and view is False:
        names = {"tau": tau, "ctrl": ctrl, **{f"f_ext[{key!r:.80}]": x for key, x in dict(f_ext or {}).items()}}
        _say_if_slow(time.perf_counter() - began, next(name for name, x in names.items() if callable(x)))
    for remark in said:
        warnings.warn(remark, SimulationWarning, stacklevel=2)
    return motion


def _say_if_slow(seconds: float, name: str) -> None:
    """Tell someone who waited for a Python function what would be quicker."""
    if seconds > _WORTH_SAYING:
        _log.warning(
            "simulate took %.1f s, most of it in calls of %s, which is a Python function; "
            "as a program (kt.program) it would run in the kernel of the steps",
            seconds,
            name,
        )
