"""`kinetree info`: what a robot file says, and what was made of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.output import output_console
from kinetree.cli.robots import FloatingBase, PackageRoots, load_robot

if TYPE_CHECKING:
    from rich.table import Table

    from kinetree.model import Model

__all__ = ["info"]

_MOST_ROWS = 300


def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A robot file, or a robot of the zoo.")],
    floating_base: FloatingBase = None,
    package_root: PackageRoots = None,
) -> None:
    """Show a robot: the tree, masses, the layout of q and v, limits, what was merged or assumed."""
    robot = load_robot(model, floating_base, package_root)
    console = output_console()
    console.print(repr(robot), markup=False, soft_wrap=True)
    if robot.joints:
        console.print()
        console.print(_joint_table(robot), soft_wrap=True)
    if robot.nv > _MOST_ROWS:
        console.print(f"… and {robot.nv - _MOST_ROWS} more", soft_wrap=True)


def _joint_table(robot: Model) -> Table:
    """A line a degree of freedom, the first few hundred: limits and friction."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="limits and friction (SI units)", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading in ("joint", "lower", "upper", "velocity", "effort", "damping", "friction", "armature"):
        table.add_column(heading, justify="left" if heading == "joint" else "right", overflow="fold")
    names = robot.v_names
    for joint in robot.joints.values():
        for k in range(joint.kind.nv):
            if table.row_count == _MOST_ROWS:
                return table
            # Position limits are a value a coordinate; a joint with a quaternion has more of those than freedoms.
            one_to_one = joint.kind.nq == joint.kind.nv
            table.add_row(
                Text(names[joint.v_start + k]),
                _number(joint.limits.lower[k]) if one_to_one else "",
                _number(joint.limits.upper[k]) if one_to_one else "",
                _number(joint.limits.velocity[k]),
                _number(joint.limits.effort[k]),
                _number(joint.damping[k], zero=""),
                _number(joint.friction[k], zero=""),
                _number(joint.armature[k], zero=""),
            )
    return table


def _number(x: float, zero: str = "0") -> str:
    """Short; nothing where there is no limit."""
    if math.isinf(x):
        return ""
    return f"{x:.4g}" if x else zero
