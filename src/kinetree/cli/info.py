"""`kinetree info`: what a robot file says, and what was made of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.output import output_console
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from rich.table import Table

    from kinetree.model import Joint, Model

__all__ = ["info"]

_MOST_ROWS = 300
_COLUMNS = (
    "lower", "upper", "velocity", "effort", "motor", "damping", "friction", "armature", "stiffness", "rest", "rotor",
    "gear", "follows",
)  # fmt: skip


@takes_loading_options()
def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A robot file, or a robot of the zoo.")],
    *,
    loading: Loading,
) -> None:
    """Show a robot: the tree, masses, the layout of q and v, limits, what was merged or assumed."""
    robot = load_robot(model, loading, shows_notes=True)
    console = output_console()
    console.print(repr(robot), markup=False, soft_wrap=True)
    if robot.joints:
        console.print()
        console.print(_joint_table(robot), soft_wrap=True)
    rows = sum(joint.kind.nv for joint in robot.joints.values())
    if rows > _MOST_ROWS:
        console.print(f"… and {rows - _MOST_ROWS} more", soft_wrap=True)
    followers = list(_followers(robot))
    for line in followers[:_MOST_ROWS]:
        console.print(line, markup=False, soft_wrap=True)
    if len(followers) > _MOST_ROWS:
        console.print(f"… and {len(followers) - _MOST_ROWS} more", soft_wrap=True)


def _joint_table(robot: Model) -> Table:
    """One line per degree of freedom, the first few hundred; columns that stay empty are left out."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = list(islice(_rows(robot), _MOST_ROWS))
    shown = [name for name in _COLUMNS if any(cells.get(name) for _, cells in rows)]
    title = "what limits, drives and resists the joints (SI units)" if shown else "nothing limits or drives the joints"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading in ("joint", *shown):
        table.add_column(heading, justify="left" if heading in ("joint", "follows") else "right", overflow="fold")
    for name, cells in rows:
        table.add_row(Text(name), *(Text(cells.get(column, "")) for column in shown))
    return table


def _rows(robot: Model) -> Iterator[tuple[str, dict[str, str]]]:
    """(name, cells by column) of each degree of freedom, including followers': each joint has its own numbers."""
    for joint in robot.joints.values():
        for k in range(joint.kind.nv):
            yield _name(joint, joint.kind.v_names[k]), _cells(joint, k)


def _cells(joint: Joint, k: int) -> dict[str, str]:
    cells = {
        "velocity": _number(joint.limits.velocity[k]),
        "effort": _number(joint.limits.effort[k]),
        "motor": "none" if joint.has_coordinates and not joint.actuated[k] else "",
        "damping": _number(joint.damping[k], zero=""),
        "friction": _number(joint.friction[k], zero=""),
        "armature": _number(joint.armature[k], zero=""),
        "stiffness": _number(joint.stiffness[k], zero=""),
        "follows": joint.coupling or ("" if joint.mimic is None else joint.mimic.joint),
    }
    # There are as many coordinates as degrees of freedom unless one is part of a quaternion.
    if joint.kind.nq == joint.kind.nv:
        cells |= {"lower": _number(joint.limits.lower[k]), "upper": _number(joint.limits.upper[k])}
        if joint.stiffness[k]:
            cells["rest"] = _number(joint.rest[k])
    if joint.rotor is not None:
        cells |= {"rotor": _number(joint.rotor.inertia), "gear": _number(joint.rotor.ratio)}
    return cells


def _followers(robot: Model) -> Iterator[str]:
    """One line per coordinate that is computed from others, `left = pitch + roll`, and per coupling's idle one."""
    for joint in robot.joints.values():
        if joint.mimic is not None:
            yield _formula(joint.name, [(joint.mimic.multiplier, joint.mimic.joint)], joint.mimic.offset)
    for coupling in robot.couplings.values():
        joints = [robot.joints[name] for name in coupling.joints]
        names = [_name(joint, name) for joint in joints for name in joint.kind.q_names]
        own = robot.q_names[coupling.q_slice]
        for name, row, offset in zip(names, coupling.matrix, coupling.offset, strict=True):
            yield _formula(name, list(zip(row, own, strict=True)), offset)
        for name, has_motor in zip(robot.v_names[coupling.v_slice], coupling.actuated, strict=True):
            if not has_motor:
                yield f"{name} has no motor"


def _formula(name: str, terms: list[tuple[float, str]], offset: float) -> str:
    text = ""
    for factor, other in [*terms, (offset, "")]:
        if not factor:
            continue
        size = abs(factor)
        term = f"{size:.6g} {other}" if other and size != 1.0 else other or f"{size:.6g}"
        text += (" - " if factor < 0.0 else " + ") + term if text else ("-" if factor < 0.0 else "") + term
    return f"{name} = {text or '0'}"


def _name(joint: Joint, coordinate: str) -> str:
    return f"{joint.name}.{coordinate}" if coordinate else joint.name


def _number(x: float, zero: str = "0") -> str:
    """A short number, or nothing where there is no limit."""
    if math.isinf(x):
        return ""
    return f"{x:.4g}" if x else zero
