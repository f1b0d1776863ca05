"""`kinetree zoo`: the robots that come with kinetree."""

from __future__ import annotations

from kinetree.cli.output import output_console

__all__ = ["zoo"]


def zoo() -> None:
    """List the robots of the zoo: their names, numbers of coordinates and degrees of freedom, and masses.

    Each name can be given to the other commands in place of a file, and to kt.zoo.load.
    """
    from rich import box
    from rich.table import Table

    from kinetree import zoo as robots

    table = Table(box=box.SIMPLE_HEAD)
    for k, heading in enumerate(("name", "base", "nq", "nv", "mass, kg")):
        table.add_column(heading, justify="left" if k < 2 else "right")
    for name in robots.names():
        robot = robots.load(name)
        base = "floating" if robot.floating_base else "fixed"
        table.add_row(name, base, str(robot.nq), str(robot.nv), f"{robot.mass:.4g}")
    output_console().print(table, soft_wrap=True)
