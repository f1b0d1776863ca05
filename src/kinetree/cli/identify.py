"""`kinetree identify`: a robot's inertial parameters from logs of its motion, and a new robot file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.options import optional, positive
from kinetree.cli.output import error_console, output_console, warnings_as_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from kinetree.identification import Log
    from kinetree.model import Model

__all__ = ["identify"]


class FrictionForm(StrEnum):
    """Values of `--friction`."""

    coulomb = "coulomb"
    sigmoid = "sigmoid"
    stribeck = "stribeck"


@takes_loading_options()
def identify(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log: .csv, .parquet, .npz, .mcap, .bag, .db3.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A robot file, or a robot of the zoo.")],
    more: Annotated[
        list[Path] | None,
        optional("--log", metavar="LOG", help="Another log of the same robot; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        optional(
            "--out",
            "-o",
            metavar="FILE",
            help="The robot file to write; by default NAME_identified, in the format of MODEL.",
        ),
    ] = None,
    cutoff: Annotated[
        float | None,
        optional(
            "--cutoff",
            callback=positive,
            metavar="HZ",
            help="Of the low-pass filter that gives velocities and accelerations; not needed if the log has both.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        optional(
            "--resample", metavar="HZ", callback=positive, help="Interpolate a log whose times are not even first."
        ),
    ] = None,
    bridge: Annotated[
        float | None,
        optional(
            "--bridge",
            metavar="SECONDS",
            callback=positive,
            help="The longest gap of a log that --resample may cross; by default none.",
        ),
    ] = None,
    drives: Annotated[
        bool, typer.Option("--drives", help="Identify armature, damping and dry friction of the joints, too.")
    ] = False,
    friction: Annotated[
        FrictionForm,
        typer.Option(
            "--friction",
            help="The form of dry friction, with --drives. coulomb: with the robot's own speed around rest; sigmoid: "
            "with a speed that is found; stribeck: falling from rest to a speed that is found, which the report gives, "
            "since robot files have no place for it.",
        ),
    ] = FrictionForm.coulomb,
    offsets: Annotated[bool, typer.Option("--offsets", help="Let every torque have a constant error.")] = False,
    lock: Annotated[
        list[str] | None,
        optional(
            "--lock",
            metavar="JOINT",
            help="A joint that is not in the log and stayed at its neutral position; may be repeated.",
        ),
    ] = None,
    prior: Annotated[
        float,
        typer.Option(
            "--prior-deviation",
            callback=positive,
            help="How far MODEL's own numbers are thought to be from the truth: 1 is 100 %.",
        ),
    ] = 1.0,
    validation: Annotated[
        Path | None,
        optional("--validate", metavar="LOG", help="A log of another motion to compare torques with."),
    ] = None,
    topic: Annotated[
        str | None,
        optional("--topic", help="The topic of the joint states in files of messages."),
    ] = None,
    picture: Annotated[
        Path | None,
        optional("--plot", metavar="FILE", help="Draw torques and parameters (.png, .svg, .pdf)."),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Print every parameter with its deviation.")] = False,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out of the new file what its format has no place for.")
    ] = False,
    *,
    loading: Loading,
) -> None:
    """Identify a robot's masses, centres of mass and inertias from logs of its motion, and write a new robot file.

    A table has a column "time" and, for each joint, "q.JOINT" and "tau.JOINT", optionally "v.JOINT" and "qdd.JOINT".
    The command reports anything suspicious in a log; it mends nothing.
    """
    from kinetree.charts.sheet import picture_path
    from kinetree.files import check_target
    from kinetree.identification import identify as identified
    from kinetree.io.save import is_same_file, save

    if friction != FrictionForm.coulomb and not drives:
        raise typer.BadParameter(
            "this form is found with the other numbers of the drives; give --drives, too", param_hint="--friction"
        )
    if picture is not None:
        check_target(picture_path(picture))
    robot = load_robot(model, loading)
    target = out or _target(model, robot)
    if is_same_file(model, target):
        raise typer.BadParameter(f"{target} is the robot file itself; name another", param_hint="--out")
    check_target(target)
    moving = robot.lock(lock) if lock else robot
    logs = [_read(path, moving, topic, rate, bridge, cutoff) for path in (log, *(more or []))]
    for one in logs:
        for remark in one.remarks:
            error_console().print(f"note: {one.source}: {remark}", markup=False, soft_wrap=True)
    check = None if validation is None else _read(validation, moving, topic, rate, bridge, cutoff)
    with warnings_as_lines():
        found = identified(
            logs, cutoff=cutoff, drives=drives, friction=str(friction), offsets=offsets, prior_deviation=prior,
            validation=check,
        )  # fmt: skip
        written = save(found.applied_to(robot), target, lossy=lossy)
    console = output_console()
    console.print(str(found), markup=False, soft_wrap=True)
    if table:
        console.print(found.table(), markup=False, soft_wrap=True)
    console.print(str(written), markup=False, soft_wrap=True)
    if picture is not None:
        console.print(str(found.plot(picture)), markup=False, soft_wrap=True)


def _read(
    path: Path, robot: Model, topic: str | None, rate: float | None, bridge: float | None, cutoff: float | None
) -> Log:
    """A log, with a usage error if it needs a filter and none is asked for."""
    from kinetree.identification import read_log

    log = read_log(path, robot, topic=topic)
    if cutoff is None and (log.v is None or log.qdd is None):
        raise typer.BadParameter(
            f"{path} has no {'velocities' if log.v is None else 'accelerations'}, which a filter takes from the "
            "positions; give its cutoff, at least five times the fastest frequency of the motion",
            param_hint="--cutoff",
        )
    return log if rate is None else log.resampled(rate, bridge=bridge)


def _target(model: str, robot: Model) -> Path:
    """NAME_identified in the format of the robot's file, or in kinetree's own."""
    suffix = Path(model).suffix.lower()
    return Path(
        f"{Path(model).stem or robot.name}_identified{suffix if suffix in ('.urdf', '.sdf', '.xml') else '.json'}"
    )
