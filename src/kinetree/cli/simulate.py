"""`kinetree simulate`: the motion of a robot, as numbers and as a picture."""

from __future__ import annotations

import os
import re
import time
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.cli.interruption import Interruption
from kinetree.cli.output import error_console, output_console
from kinetree.cli.progress import progress_bar
from kinetree.cli.robots import Loading, load_robot, takes_loading_options
from kinetree.cli.torque_file import read_torques
from kinetree.cli.values import parse_passive, parse_values
from kinetree.errors import SaveError
from kinetree.files import check_target, reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from kinetree.model import Model
    from kinetree.sim import Trajectory

__all__ = ["simulate"]

DEFAULT_ROBOT = "arm7"
_ROUNDING = 1e-12
"""The part of the largest energy of a motion below which another is a rounding error."""


class IntegratorChoice(StrEnum):
    """Values of `--integrator`."""

    auto = "auto"
    rk4 = "rk4"
    semi_implicit_euler = "semi_implicit_euler"


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
    duration: Annotated[float, typer.Option("--duration", "-t", help="Seconds of motion.")] = 5.0,
    dt: Annotated[float, typer.Option("--dt", help="Seconds per step.")] = 1e-3,
    integrator: Annotated[
        IntegratorChoice,
        typer.Option(
            "--integrator",
            help="rk4: order four. semi_implicit_euler: order one, steady however stiff friction is. "
            "auto: rk4, unless friction is too stiff for it.",
        ),
    ] = IntegratorChoice.auto,
    q: Annotated[
        str | None,
        typer.Option(
            "--q",
            metavar="VALUES",
            help="Initial configuration (rad, m): 0.1,-0.2,… for every coordinate, or joint=value,… for some. "
            "Without it, --v and torques, a robot on a fixed base begins a little off the pose of its file, or its "
            "neutral one.",
            show_default=False,
        ),
    ] = None,
    keyframe: Annotated[
        str | None,
        typer.Option(
            "--keyframe",
            metavar="NAME",
            help="Begin at this keyframe of an MJCF file, with its velocity; --q and --v pairs go on top.",
            show_default=False,
        ),
    ] = None,
    v: Annotated[
        str | None,
        typer.Option("--v", metavar="VALUES", help="Initial velocity (rad/s, m/s), likewise.", show_default=False),
    ] = None,
    tau: Annotated[
        str | None,
        typer.Option("--tau", metavar="VALUES", help="Constant torques (N·m, N), likewise.", show_default=False),
    ] = None,
    tau_file: Annotated[
        Path | None,
        typer.Option(
            "--tau-file",
            help='Torques from a file, one row per step: .csv (a header may name the joints and a column "time"), '
            '.npy, or .npz with "tau" and perhaps "time".',
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Begin at a random configuration within the limits; --q pairs go on top.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of --random, and implies it.", show_default=False)
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
        bool,
        typer.Option(
            "--contact",
            help="Shapes touch each other and the world, joints end at their limits, and dry friction sticks.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PREFIX",
            help="Where to write: PREFIX.npz and PREFIX.png, replacing what is there; by default the robot's name. "
            "A folder that is missing is made.",
            show_default=False,
        ),
    ] = None,
    output_dir: Annotated[
        Path | None, typer.Option("--output-dir", help="The folder to write into; made if missing.", show_default=False)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors and warnings.")] = False,
    *,
    loading: Loading,
) -> None:
    """Simulate a robot under gravity, torques, joint friction and springs.

    Writes the trajectory (.npz) and a picture of it (.png) and prints what became of the energy. Position limits are
    enforced with --contact only.

    Ctrl-C and SIGTERM end the motion early: what was computed is written, to PREFIX.interrupted.npz and .png if there
    is a PREFIX.npz or .png already.
    """
    from kinetree.cli.start import falling_pose, keyframe_state
    from kinetree.model.reference import reference_configuration
    from kinetree.sim import SimulationInterrupted
    from kinetree.sim.simulate import step_count

    if tau is not None and tau_file is not None:
        raise typer.BadParameter("give either --tau or --tau-file", param_hint="--tau-file")
    if keyframe is not None and (random or seed is not None):
        raise typer.BadParameter("give either --keyframe or --random", param_hint="--keyframe")
    taken = model is None
    model = model or DEFAULT_ROBOT
    steps = step_count(duration, dt)
    robot = load_robot(model, loading)

    is_random = random or seed is not None
    is_chosen = not is_random and all(given is None for given in (q, v, keyframe, tau, tau_file))
    start_v = None
    if keyframe is not None:
        start, start_v = keyframe_state(robot, keyframe)
    elif is_random:
        start = robot.random(seed if seed is not None else 0)
    else:
        start = falling_pose(robot) if is_chosen else reference_configuration(robot)
    q0 = start if q is None else parse_values("--q", q, robot.q_names, start, robot.name)
    v0 = _values("--v", v, robot, start_v)
    chosen = parse_passive(passive, robot)
    torques = read_torques(tau_file, robot, steps, dt) if tau_file is not None else _values("--tau", tau, robot)
    if torques is not None:
        robot.check_actuation(torques, "--tau" if tau_file is None else f"{tau_file}: tau")

    console = output_console()
    if taken and not quiet:
        console.print(f"no robot was named: took [bold]{model}[/] of the zoo (kinetree simulate --help tells more)")
    prefix = _prefix(out, output_dir, robot.name)
    _make_folder(prefix.parent, quiet)
    _check_writable(prefix)

    interruption = context.obj if isinstance(context.obj, Interruption) else Interruption()
    begin = time.perf_counter()
    try:
        trajectory = _run(
            robot, integrator, quiet, interruption,
            q=q0, v=v0, tau=torques, duration=duration, dt=dt, passive=chosen, limits=limits, contact=contact,
        )  # fmt: skip
    except SimulationInterrupted as stopped:
        trajectory = stopped.trajectory
        if any(map(os.path.lexists, _files(prefix))):
            prefix = prefix.with_name(f"{prefix.name}.interrupted")
    seconds = time.perf_counter() - begin
    interruption.outcome = _progress(trajectory, steps)
    written, failure = _write(trajectory, prefix, interruption)
    if not quiet:
        if is_chosen and (q0 != reference_configuration(robot)).any():
            console.print("no start was given: took a pose that gravity moves the joints from (--q gives another)")
        console.print(_table(trajectory, seconds))
        for path in written:
            console.print(f"wrote {path}", markup=False, soft_wrap=True)
    if failure is not None:
        raise failure


def _values(
    option: str, text: str | None, robot: Model, default: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """One number per degree of freedom; `default` is what is not given, zero if it is None."""
    import numpy as np

    if text is None:
        return default
    return parse_values(option, text, robot.v_names, np.zeros(robot.nv) if default is None else default, robot.name)


def _run(
    robot: Model,
    choice: IntegratorChoice,
    quiet: bool,
    interruption: Interruption,
    *,
    contact: bool,
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
            return _warned(robot, integrator="rk4", progress=progress, **settings)
        except StiffFrictionError as error:
            if not quiet:
                reason = str(error).partition(";")[0]
                error_console().print(
                    f"note: took the integrator semi_implicit_euler: {reason}", markup=False, soft_wrap=True
                )
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


def _prefix(out: Path | None, output_dir: Path | None, name: str) -> Path:
    """Output path without its suffix; the folder exists when this returns."""
    prefix = (output_dir or Path()) / (out or Path(re.sub(r"[^\w.-]+", "_", name).strip(".") or "robot"))
    if prefix.suffix in (".npz", ".png"):
        prefix = prefix.with_suffix("")
    if not prefix.name:
        raise typer.BadParameter(f"{out} names no file", param_hint="--out")
    return prefix


def _files(prefix: Path) -> tuple[Path, Path]:
    return prefix.with_name(prefix.name + ".npz"), prefix.with_name(prefix.name + ".png")


def _make_folder(folder: Path, quiet: bool) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(f"the folder {folder} cannot be made: {reason(error)}") from None
    if not quiet:
        error_console().print(f"note: made the folder {folder}", markup=False, soft_wrap=True)


def _check_writable(prefix: Path) -> None:
    """Check the targets before a long motion is computed, not after it."""
    for path in _files(prefix):
        check_target(path)


def _progress(trajectory: Trajectory, steps: int) -> str:
    done = len(trajectory.time) - 1
    if done == steps:
        return " when the motion was complete"
    return f" after {trajectory.time[-1]:g} s of {steps * trajectory.dt:g} s ({done:,} of {steps:,} steps)"


def _write(trajectory: Trajectory, prefix: Path, interruption: Interruption) -> tuple[list[Path], SaveError | None]:
    """Write the numbers and the picture; return the files written, and the error if there is no picture."""
    from kinetree.errors import MissingPackageError
    from kinetree.sim import plot

    numbers, picture = _files(prefix)
    written = [trajectory.save(numbers)]
    interruption.outcome += f"; what was computed is in {numbers}"
    try:
        interruption.release()  # a picture can be drawn again
        written.append(plot(trajectory, picture))
    except MissingPackageError as error:
        error_console().print(f"warning: no picture: {error}", style="yellow", markup=False, soft_wrap=True)
    except KeyboardInterrupt:
        interruption.outcome += "; no picture was drawn"
    except SaveError as error:
        return written, error
    return written, None


def _table(trajectory: Trajectory, seconds: float) -> Table:
    """A table with the run in one line, and the energy balance."""
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    steps = len(trajectory.time) - 1
    parts = f" in up to {trajectory.substeps} parts (stiff friction or springs)" if trajectory.substeps > 1 else ""
    title = (
        f"{trajectory.robot}: {trajectory.time[-1]:g} s, {trajectory.integrator}, "
        f"{steps} steps of {trajectory.dt:g} s{parts}, computed in {seconds:.2g} s"
    )
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for heading in ("energy, J", "start", "end", "change"):
        table.add_column(heading, justify="left" if heading == "energy, J" else "right")
    largest = max(float(np.abs(x).max()) for x in (trajectory.kinetic, trajectory.potential, trajectory.work))
    for name, series in (
        ("kinetic", trajectory.kinetic),
        ("potential", trajectory.potential),
        ("total", trajectory.total),
    ):
        told = (_told(x, largest) for x in (series[0], series[-1], series[-1] - series[0]))
        table.add_row(name, *(f"{x:{sign}.6g}" for x, sign in zip(told, ("", "", "+"), strict=True)))
    table.add_section()
    table.add_row("work of the torques", "", "", f"{_told(trajectory.work[-1], largest):+.6g}")
    table.add_row("lost to friction", "", "", f"{_told(-trajectory.dissipated[-1], largest):+.6g}")
    table.add_section()
    worst = float(np.abs(trajectory.balance_error).max())
    table.add_row("balance error, end", "", "", f"{trajectory.balance_error[-1]:+.2g}")
    table.add_row("balance error, largest", "", "", f"{worst:.2g}")
    return table


def _told(energy: float, largest: float) -> float:
    """An energy as it is printed: zero if it is a rounding error beside the largest of the motion."""
    return float(energy) if abs(energy) > _ROUNDING * largest else 0.0
