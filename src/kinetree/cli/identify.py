"""`kinetree identify`: a robot's inertial parameters from logs of its motion, and a new robot file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli import options
from kinetree.cli.output import print_json, print_lines, print_note, warnings_as_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from kinetree.identification import Identification, Log
    from kinetree.model import Model

__all__ = ["identify"]


@takes_loading_options()
def identify(
    log: options.LogFile,
    model: options.Model,
    drives: options.Drives = False,
    friction: options.DryFriction = options.FrictionForm.coulomb,
    offsets: options.Offsets = False,
    lock: options.Lock = None,
    prior: options.Prior = 1.0,
    more: options.MoreLogs = None,
    validation: options.Validation = None,
    cutoff: options.Cutoff = None,
    rate: options.Rate = None,
    bridge: options.Bridge = None,
    topic: options.Topic = None,
    out: options.IdentifiedFile = None,
    picture: options.IdentifiedPlot = None,
    table: options.Table = False,
    lossy: options.Lossy = False,
    as_json: options.Json = False,
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

    if friction != options.FrictionForm.coulomb and not drives:
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
            print_note(f"{one.source}: {remark}")
    check = None if validation is None else _read(validation, moving, topic, rate, bridge, cutoff)
    with warnings_as_lines():
        result = identified(
            logs, cutoff=cutoff, drives=drives, friction=str(friction), offsets=offsets, prior_deviation=prior,
            validation=check,
        )  # fmt: skip
        written = save(result.applied_to(robot), target, lossy=lossy)
    files = [written, *([] if picture is None else [result.plot(picture)])]
    if as_json:
        print_json({**_document(result), "files": files})
    else:
        print_lines(str(result), *([result.table()] if table else []), *map(str, files))


def _document(result: Identification) -> dict[str, Any]:
    estimate = result.estimate
    columns = {
        "name": estimate.names, "least_squares": estimate.values, "deviation": estimate.deviations,
        "in_the_robot": result.consistent.values,
    }  # fmt: skip
    parameters = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "robot": result.robot.name, "rows": estimate.rows, "condition": estimate.condition, "parameters": parameters,
        "v_names": result.robot.v_names, "torque_noise": estimate.torque_noise, "torque_errors": result.validation,
        "is_validated": result.is_validated, "held_bodies": result.consistent.held, "warnings": result.warnings,
    }  # fmt: skip


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
    from kinetree.io import FORMATS

    suffix = Path(model).suffix.lower()
    is_known = any(suffix in format.suffixes for format in FORMATS.values())
    return Path(f"{Path(model).stem or robot.name}_identified{suffix if is_known else '.json'}")
