"""`kinetree simulate`: the motion of a robot, as numbers and as a picture."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.cli.compare_steps import check_peer, compare_with
from kinetree.cli.film import FilmPath, check_film, write_film
from kinetree.cli.ground import ANGLE, NATURAL, Ground, Place, on
from kinetree.cli.interruption import Interruption
from kinetree.cli.motion_files import check_writable, files_of, make_folder, prefix_of, write
from kinetree.cli.motion_table import summary
from kinetree.cli.options import between, optional, positive
from kinetree.cli.output import error_console, output_console
from kinetree.cli.robots import Loading, load_robot, robot_file, takes_loading_options
from kinetree.cli.start import SPREAD
from kinetree.cli.starts import Start
from kinetree.cli.values import parse_passive, parse_values
from kinetree.cli.watching import OnPage, Speed, check_speed, opened, stays
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kinetree.model import Model
    from kinetree.sim import Trajectory

__all__ = ["CONTACTS", "may_be_model", "simulate"]

DEFAULT_ROBOT = "ragdoll"
_UPRIGHT = math.pi / 2.0


class IntegratorChoice(StrEnum):
    """Values of `--integrator`."""

    auto = "auto"
    rk4 = "rk4"
    semi_implicit_euler = "semi_implicit_euler"
    symplectic_euler = "symplectic_euler"
    implicitfast = "implicitfast"
    discrete = "discrete"
    rk45 = "rk45"


class Contacts(StrEnum):
    """Values of `--contact`."""

    all = "all"
    partial = "partial"
    mujoco = "mujoco"
    compliant = "compliant"
    rigid = "rigid"


class Peer(StrEnum):
    """Values of `--compare`."""

    mujoco = "mujoco"


CONTACTS = {"--contact": [*Contacts]}
"""The option whose value may be left out."""


def may_be_model(word: str, words: Sequence[str]) -> bool:
    """Whether a word after such an option may be a robot: a file, an address, one of the zoo or of a `--source`."""
    from kinetree.zoo import names

    is_elsewhere = any(x.startswith("--source") for x in words)
    return is_elsewhere or os.path.exists(word) or not word.isidentifier() or word in names()


@takes_loading_options()
def simulate(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help=f"A robot file, or a robot of the zoo; by default the zoo's {DEFAULT_ROBOT}.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[float, typer.Option("--duration", "-t", callback=positive, help="Seconds of motion.")] = 5.0,
    dt: Annotated[float, typer.Option("--dt", callback=positive, help="Seconds per step.")] = 1e-3,
    integrator: Annotated[
        IntegratorChoice,
        typer.Option(
            "--integrator",
            help="rk4: order four. symplectic_euler: order one, all forces at the beginning of the step; "
            "semi_implicit_euler: steady however stiff friction is; implicitfast: with all forces that depend on "
            "velocities; discrete: with contacts and springs, too; rk45: order five, in steps as long as --rtol and "
            "--atol allow, and --dt is the time between rows. auto: rk4 unless friction is too stiff for it; with "
            "contacts that of an MJCF file, or discrete.",
        ),
    ] = IntegratorChoice.auto,
    rtol: Annotated[
        float | None,
        optional(
            "--rtol",
            callback=positive,
            help="With rk45 the error that a step may have, in parts of 1 rad, 1 m and each velocity; by default 1e-6.",
        ),
    ] = None,
    atol: Annotated[
        float | None,
        optional("--atol", callback=positive, help="Besides that, in rad, m, rad/s and m/s; by default 1e-8."),
    ] = None,
    q: Annotated[
        str | None,
        optional(
            "--q",
            metavar="VALUES",
            help="Initial configuration (rad, m): 0.1,-0.2,… for every coordinate, or joint=value,… for some. "
            "Without it, --v, torques and commands, a robot on a fixed base begins a little off the pose of its file, "
            "or its neutral one.",
        ),
    ] = None,
    keyframe: Annotated[
        str | None,
        optional(
            "--keyframe",
            metavar="NAME",
            help="Begin at this keyframe of an MJCF file, with its velocity; --q and --v pairs go on top.",
        ),
    ] = None,
    v: Annotated[
        str | None,
        optional("--v", metavar="VALUES", help="Initial velocity (rad/s, m/s), likewise."),
    ] = None,
    tau: Annotated[
        str | None,
        optional("--tau", metavar="VALUES", help="Constant torques (N·m, N), likewise."),
    ] = None,
    tau_file: Annotated[
        Path | None,
        optional(
            "--tau-file",
            help='Torques from a file, one row per step: .csv (a header may name the joints and a column "time"), '
            '.npy, or .npz with "tau" and perhaps "time".',
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    ctrl: Annotated[
        str | None,
        optional(
            "--ctrl",
            metavar="VALUES",
            help="Constant commands of the actuators of an MJCF file: 0.1,-0.2,… for each, or actuator=value,… for "
            "some, the others zero.",
        ),
    ] = None,
    ctrl_file: Annotated[
        Path | None,
        optional(
            "--ctrl-file",
            help='Commands from a file, likewise: .csv (a header may name actuators), .npy, or .npz with "ctrl".',
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Begin at a random configuration within the limits; --q pairs go on top.")
    ] = False,
    seed: Annotated[
        int | None,
        optional(
            "--seed",
            min=0,
            help="Seed of the starts and hills; unless there are --samples or hills it implies --random.",
        ),
    ] = None,
    passive: Annotated[
        str,
        typer.Option(
            "--passive",
            metavar="FORCES",
            help="Which passive forces of the joints act: all, none, or some of damping,friction,spring.",
        ),
    ] = "all",
    limits: Annotated[
        bool,
        typer.Option(
            "--limits",
            help="Motors keep to their effort limits and drive no joint beyond its velocity limit.",
        ),
    ] = False,
    contact: Annotated[
        Contacts | None,
        optional(
            "--contact",
            help="Shapes touch each other and the world, joints end at their limits, and dry friction sticks. Alone, "
            "or all: everything that the robot has; partial: what can be computed of it; mujoco, compliant, rigid: how "
            "hard things are.",
        ),
    ] = None,
    on_what: Annotated[
        Ground | None,
        optional(
            "--on",
            help="Put the robot on a level ground, a slope or hills, with --contact. By default nothing, except the "
            "ragdoll, which is on a slope.",
        ),
    ] = None,
    angle: Annotated[
        float,
        typer.Option(
            "--angle", callback=between(-_UPRIGHT, _UPRIGHT), help="How steep a slope is, rad; it falls along x."
        ),
    ] = ANGLE,
    samples: Annotated[
        int | None,
        optional(
            "--samples",
            "-n",
            min=1,
            max=100_000,
            help="Simulate so many motions that begin near the start: every joint, and how a free base is turned, "
            "moved by uniformly distributed angles up to --spread. With --random, each begins anywhere.",
        ),
    ] = None,
    spread: Annotated[
        float,
        typer.Option(
            "--spread", min=0.0, callback=between(-math.inf), help="rad; sliding joints move a tenth of it in metres."
        ),
    ] = SPREAD,
    compare: Annotated[
        Peer | None,
        optional(
            "--compare",
            help="Compare the motion with another library, step after step and term by term (of several motions the "
            "first): prints the first step and the first term at which they diverge; the exit code is 1 then.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        optional(
            "--out",
            "-o",
            metavar="PREFIX",
            help="Where to write: PREFIX.npz and PREFIX.png, replacing what is there; by default the robot's name. "
            "A folder that is missing is made.",
        ),
    ] = None,
    output_dir: Annotated[
        Path | None, optional("--output-dir", help="The folder to write into; made if missing.")
    ] = None,
    film: FilmPath = None,
    view: OnPage = False,
    speed: Speed = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors and warnings.")] = False,
    *,
    loading: Loading,
) -> None:
    """Simulate a robot under gravity, torques, joint friction and springs.

    Writes the trajectory (.npz), plots of it (.png) and a picture of the robot at some moments of it (.motion.png), and
    prints what became of the energy. Position limits are
    enforced with --contact only. A free base begins above its ground.

    Ctrl-C and SIGTERM end the motion early: what was computed is written, to PREFIX.interrupted.npz and .png if there
    is a PREFIX.npz or .png already.
    """
    from kinetree.cli.input_file import read_commands, read_torques
    from kinetree.sim import SimulationInterrupted
    from kinetree.sim.simulate import step_count

    check_speed(speed)
    if compare is not None:
        check_peer(contact)
    if tau is not None and tau_file is not None:
        raise typer.BadParameter("give either --tau or --tau-file", param_hint="--tau-file")
    if ctrl is not None and ctrl_file is not None:
        raise typer.BadParameter("give either --ctrl or --ctrl-file", param_hint="--ctrl-file")
    if compare is not None and (ctrl is not None or ctrl_file is not None):
        raise typer.BadParameter(
            "actuators act on neither side of a comparison; leave out --compare, or the commands",
            param_hint="--compare",
        )
    if keyframe is not None and (random or (seed is not None and samples is None)):
        raise typer.BadParameter("give either --keyframe or --random", param_hint="--keyframe")
    if (rtol is not None or atol is not None) and integrator is not IntegratorChoice.rk45:
        raise typer.BadParameter(
            "it is for --integrator rk45, which chooses its steps by it",
            param_hint="--atol" if rtol is None else "--rtol",
        )
    check_film(film)
    taken = model is None
    model = model or DEFAULT_ROBOT
    steps = step_count(duration, dt)
    robot = load_robot(model, loading)
    ground = on_what or _natural(robot, model, loading)
    place = Place(ground, angle, seed or 0)
    robot = on(robot, place)
    if contact is None and ground is not Ground.nothing:
        contact = Contacts.all

    touch = contact is not None and (contact is Contacts.all or contact.value)
    is_random = random or (seed is not None and samples is None and ground is not Ground.terrain)
    is_chosen = not is_random and all(given is None for given in (q, v, keyframe, tau, tau_file, ctrl, ctrl_file))
    chosen = parse_passive(passive, robot)
    torques = read_torques(tau_file, robot, steps, dt) if tau_file is not None else _values("--tau", tau, robot)
    if torques is not None:
        robot.check_actuation(torques, "--tau" if tau_file is None else f"{tau_file}: tau")
    commands = read_commands(ctrl_file, robot, steps, dt) if ctrl_file is not None else _commands(ctrl, robot)
    q0, start_v, messages = Start(is_random, is_chosen, keyframe, q, samples, spread).of(robot, place)
    v0 = _values("--v", v, robot, start_v)

    console = output_console()
    if taken and not quiet:
        console.print(f"no robot was named: took [bold]{model}[/] of the zoo (kinetree simulate --help tells more)")
    prefix = prefix_of(out, output_dir, robot.name)
    make_folder(prefix.parent, quiet)
    check_writable(prefix)

    interruption = context.obj if isinstance(context.obj, Interruption) else Interruption()
    page = opened(robot, q0) if view else None
    begin = time.perf_counter()
    try:
        trajectory = _run(
            robot, integrator, quiet, interruption,
            q=q0, v=v0, tau=torques, ctrl=commands, duration=duration, dt=dt, rtol=rtol, atol=atol, passive=chosen,
            limits=limits, contact=touch, view=page or False, speed=speed,
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
        for sentence in messages:
            console.print(sentence, soft_wrap=True)
        console.print(summary(trajectory, seconds, touches=contact is not None))
        for path in written:
            console.print(f"wrote {path}", markup=False, soft_wrap=True)
    if failure is not None:
        raise failure
    if page is not None and not interruption.signal:
        stays(page, interruption)
    if compare is not None:
        compare_with(robot, trajectory, quiet, contact=touch, passive=chosen)


def _natural(robot: Model, model: str, loading: Loading) -> Ground:
    """The default ground of a robot."""
    is_loose = robot.floating_base and robot_file(model, loading.source)[1] == "zoo"
    return NATURAL.get(model, Ground.nothing) if is_loose else Ground.nothing


def _values(
    option: str, text: str | None, robot: Model, default: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """One number per degree of freedom; `default` is what is not given, zero if it is None."""
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
    robot: Model,
    choice: IntegratorChoice,
    quiet: bool,
    interruption: Interruption,
    *,
    contact: bool | str,
    **settings: object,
) -> Trajectory:
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
        if contact or choice is not IntegratorChoice.auto:
            asked = None if choice is IntegratorChoice.auto else choice.value
            return _warned(robot, integrator=asked, progress=progress, contact=contact, **settings)
        try:
            motion = _warned(robot, integrator="rk4", progress=progress, **settings)
            stiff = [str(one) for one in motion.diverged.values() if one.cause == "friction"]
        except StiffFrictionError as error:
            motion, stiff = None, [str(error).partition(";")[0]]
        if motion is not None and not stiff:
            return motion
        if not quiet:
            text = f"note: took the integrator semi_implicit_euler: {stiff[0]}"
            error_console().print(text, markup=False, soft_wrap=True)
        return _warned(robot, integrator="semi_implicit_euler", progress=progress, **settings)


def _warned(robot: Model, **settings: Any) -> Trajectory:
    """Simulate, and print each warning about the motion on a line of its own."""
    from kinetree.errors import SimulationWarning
    from kinetree.sim import simulate as run

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SimulationWarning)
        trajectory: Trajectory = run(robot, **settings)
    for warning in caught:
        error_console().print(f"warning: {warning.message}", style="yellow", markup=False, soft_wrap=True)
    return trajectory


def _progress(trajectory: Trajectory, steps: int) -> str:
    done = len(trajectory.time) - 1
    if done == steps:
        return " when the motion was complete"
    return f" after {trajectory.time[-1]:g} s of {steps * trajectory.dt:g} s ({done:,} of {steps:,} steps)"
