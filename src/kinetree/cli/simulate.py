"""`kinetree simulate`: the motion of a robot, as numbers and as a picture."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli import options
from kinetree.cli.interruption import Interruption
from kinetree.cli.motion_files import check_film, check_writable, files_of, make_folder, prefix_of, write, write_film
from kinetree.cli.motion_table import document, summary
from kinetree.cli.options import DEFAULT_ROBOT, Contacts, Ground, Integrator
from kinetree.cli.output import print_json, print_lines, print_note, print_warning, warnings_as_lines
from kinetree.cli.robots import Loading, load_robot, robot_file, takes_loading_options
from kinetree.cli.start import ANGLE, NATURAL, SPREAD, Start
from kinetree.cli.values import parse_passive, parse_values
from kinetree.cli.view import announce
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kinetree.comparison.steps import StepComparison
    from kinetree.model import Model
    from kinetree.sim import RK45, Trajectory
    from kinetree.viewer import Viewer

__all__ = ["simulate"]

_DIFFERENT = 1


@takes_loading_options()
def simulate(
    context: typer.Context,
    model: options.ModelOrDefault = None,
    duration: options.Duration = 5.0,
    dt: options.Dt = 1e-3,
    integrator: options.IntegratorName = Integrator.auto,
    rtol: options.Rtol = None,
    atol: options.Atol = None,
    compare: options.ComparedPeer = None,
    q: options.StartQ = None,
    v: options.StartV = None,
    keyframe: options.Keyframe = None,
    random: options.Random = False,
    seed: options.StartSeed = None,
    samples: options.StartCount = None,
    spread: options.Spread = SPREAD,
    tau: options.Tau = None,
    tau_file: options.TauFile = None,
    ctrl: options.Ctrl = None,
    ctrl_file: options.CtrlFile = None,
    passive: options.PassiveForces = "all",
    limits: options.Limits = False,
    contact: options.ContactModel = None,
    on_what: options.OnGround = None,
    angle: options.Angle = ANGLE,
    out: options.Prefix = None,
    output_dir: options.OutputFolder = None,
    film: options.Film = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    view: options.Live = False,
    speed: options.Speed = None,
    *,
    loading: Loading,
) -> None:
    """Simulate a robot under gravity, torques, joint friction and springs.

    Writes the trajectory (.npz), plots of it (.png) and a picture of the robot at some moments of it (.motion.png), and
    prints the energy balance. Position limits are enforced with --contact only. A free base begins above its ground.

    Ctrl-C and SIGTERM end the motion early: the part computed so far is written, to PREFIX.interrupted.npz and .png if
    PREFIX.npz or .png exists already.
    """
    from kinetree.cli.input_file import read_commands, read_torques
    from kinetree.sim import RK45, SimulationInterrupted, Viewing
    from kinetree.sim.simulate import step_count

    quiet = quiet or as_json
    if compare is not None:
        _check_comparison(contact, actuators=ctrl is not None or ctrl_file is not None)
    is_random = random or (seed is not None and samples is None)
    _exclude("--tau-file", tau_file, "--tau", tau)
    _exclude("--ctrl-file", ctrl_file, "--ctrl", ctrl)
    _exclude("--json", as_json or None, "--view", view or None)
    _exclude("--random", is_random or None, "--keyframe", keyframe)
    tolerances = {name: x for name, x in (("rtol", rtol), ("atol", atol)) if x is not None}
    if tolerances and integrator is not Integrator.rk45:
        raise typer.BadParameter("it is for --integrator rk45", param_hint=f"--{next(iter(tolerances))}")
    method = None if integrator is Integrator.auto else RK45(**tolerances) if tolerances else integrator.value
    check_film(film)
    is_usual = model is None
    model = model or DEFAULT_ROBOT
    steps = step_count(duration, dt)
    robot = load_robot(model, loading)
    ground = on_what or _natural(robot, model, loading)
    is_random = random or (is_random and ground is not Ground.terrain)
    is_chosen = not is_random and all(given is None for given in (q, v, keyframe, tau, tau_file, ctrl, ctrl_file))
    start = Start(ground, angle, seed or 0, is_random, is_chosen, keyframe, q, samples, spread)
    robot = start.on_ground(robot)
    if contact is None and ground is not Ground.nothing:
        contact = Contacts.all

    touch = contact is not None and (contact is Contacts.all or contact.value)
    acting = parse_passive(passive, robot)
    torques = read_torques(tau_file, robot, steps, dt) if tau_file is not None else _values("--tau", tau, robot)
    if torques is not None:
        robot.check_actuation(torques, "--tau" if tau_file is None else f"{tau_file}: tau")
    commands = read_commands(ctrl_file, robot, steps, dt) if ctrl_file is not None else _commands(ctrl, robot)
    q0, start_v, messages = start.of(robot)
    v0 = _values("--v", v, robot, start_v)

    if is_usual and not quiet:
        print_lines(f"no model given; using the zoo robot {model!r} (see kinetree simulate --help)")
    prefix = prefix_of(out, output_dir, robot.name)
    make_folder(prefix.parent, quiet)
    check_writable(prefix)

    interruption = Interruption.of(context)
    page = _opened(robot, q0) if view else None
    begin = time.perf_counter()
    try:
        trajectory = _run(
            robot, method, quiet, interruption,
            q=q0, v=v0, tau=torques, ctrl=commands, duration=duration, dt=dt, passive=acting, limits=limits,
            contact=touch, view=Viewing(page or False, speed),
        )  # fmt: skip
    except SimulationInterrupted as stopped:
        trajectory = stopped.trajectory
        if any(map(os.path.lexists, files_of(prefix))):
            prefix = prefix.with_name(f"{prefix.name}.interrupted")
    seconds = time.perf_counter() - begin
    interruption.outcome = _progress(trajectory, steps)
    written, failure = write(trajectory, prefix, interruption)
    if film is not None and interruption.signal:
        interruption.outcome += f"; {film} was not written"
    elif film is not None:
        written.append(write_film(trajectory, film, interruption, quiet=quiet))
    if not quiet:
        print_lines(*messages, summary(trajectory, seconds, touches=contact is not None))
        print_lines(*(f"wrote {path}" for path in written))
    if failure is not None:
        raise failure
    if page is not None and not interruption.signal:
        with page:
            interruption.outcome = "; the page is closed"
            print_lines(f"the motion is at {page.url} until Ctrl-C")
            page.wait()
    compared = None if compare is None else _compared(robot, trajectory, quiet, contact=touch, passive=acting)
    if as_json:
        print_json({**document(trajectory, seconds), "messages": messages, "files": written, "comparison": compared})
    if compared is not None and compared.parting is not None:
        raise typer.Exit(_DIFFERENT)


def _exclude(option: str, value: object, other: str, other_value: object) -> None:
    if value is not None and other_value is not None:
        raise typer.BadParameter(f"give either {other} or {option}", param_hint=option)


def _check_comparison(contact: Contacts | None, *, actuators: bool) -> None:
    """Raise a usage error before a long motion is computed, if the comparison is not possible."""
    problem = None
    if actuators:
        problem = "actuators act on neither side of a comparison; leave out --compare, or the commands"
    elif contact in (Contacts.compliant, Contacts.rigid):
        problem = f"MuJoCo has no contacts like those of --contact {contact}; compare with --contact mujoco"
    elif find_spec("mujoco") is None:
        problem = "mujoco is not installed (pip install mujoco)"
    if problem is not None:
        raise typer.BadParameter(problem, param_hint="--compare")


def _compared(
    robot: Model, trajectory: Trajectory, quiet: bool, *, contact: bool | str, passive: Any
) -> StepComparison:
    """Find and print where the two diverge."""
    from kinetree.comparison.steps import compare_steps

    motion = trajectory[0] if trajectory.shape else trajectory
    with progress_bar("comparing", quiet=quiet) as show:
        result = compare_steps(robot, motion, contact=contact, passive=passive, progress=show)
    if not quiet:
        print_lines(str(result))
    return result


def _opened(robot: Model, q: NDArray[np.float64] | None) -> Viewer:
    """The page of a robot where its motion begins, once it is open in a browser; or after some time."""
    from kinetree.viewer import view
    from kinetree.viewer.live import PATIENCE

    with warnings_as_lines():
        viewer = view(robot, q=q)
    announce(repr(viewer.robot.name), viewer.url)
    viewer.wait_for_somebody(PATIENCE)
    return viewer


def _natural(robot: Model, model: str, loading: Loading) -> Ground:
    """The default ground of a robot."""
    is_loose = robot.floating_base and robot_file(model, loading.source)[1] == "zoo"
    return NATURAL.get(model, Ground.nothing) if is_loose else Ground.nothing


def _values(
    option: str, text: str | None, robot: Model, default: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """One number per degree of freedom; `default` holds missing ones, zero if it is None."""
    import numpy as np

    if text is None:
        return default
    return parse_values(option, text, robot.v_names, np.zeros(robot.nv) if default is None else default, robot.name)


def _commands(text: str | None, robot: Model) -> NDArray[np.float64] | None:
    """One number per actuator."""
    import numpy as np

    from kinetree.functions.actuators import actuation_of_robot
    from kinetree.sim.endings import actuator_names

    if text is None:
        return None
    actuation_of_robot(robot)  # raises if there are none
    names = actuator_names(robot)
    return parse_values("--ctrl", text, names, np.zeros(len(names)), robot.name, "actuator")


def _run(
    robot: Model, integrator: str | RK45 | None, quiet: bool, interruption: Interruption, *, contact: bool | str,
    **settings: Any,
) -> Trajectory:  # fmt: skip
    from kinetree.errors import StiffFrictionError

    with progress_bar("simulating", quiet=quiet) as show:

        def progress(done: int, steps: int) -> None:
            if interruption.is_held:
                raise KeyboardInterrupt  # a signal arrived where exceptions get lost, such as in a finalizer
            if done == steps:
                interruption.hold()
            if show is not None:
                show(done, steps)

        interruption.keep()
        settings["view"] = replace(settings["view"], progress=progress)
        if contact or integrator is not None:
            return _warned(robot, integrator=integrator, contact=contact, **settings)
        try:
            motion = _warned(robot, integrator="rk4", **settings)
            stiff = [str(divergence) for divergence in motion.diverged.values() if divergence.cause == "friction"]
        except StiffFrictionError as error:
            motion, stiff = None, [str(error).partition(";")[0]]
        if motion is not None and not stiff:
            return motion
        if not quiet:
            print_note(f"took the integrator semi_implicit_euler: {stiff[0]}")
        return _warned(robot, integrator="semi_implicit_euler", **settings)


def _warned(robot: Model, **settings: Any) -> Trajectory:
    """Simulate, and print each warning about the motion on a line of its own."""
    from kinetree.errors import SimulationWarning
    from kinetree.sim import simulate as run

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SimulationWarning)
        trajectory: Trajectory = run(robot, **settings)
    for warning in caught:
        print_warning(str(warning.message))
    return trajectory


def _progress(trajectory: Trajectory, steps: int) -> str:
    computed = len(trajectory.time) - 1
    if computed == steps:
        return " when the motion was complete"
    return f" after {trajectory.time[-1]:g} s of {steps * trajectory.dt:g} s ({computed:,} of {steps:,} steps)"
