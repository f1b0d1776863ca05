"""`kinetree info`: the contents of a robot file, and the robot made of it; and `kinetree zoo`: the available robots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from kinetree.cli import options
from kinetree.cli.output import new_table, print_json, print_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from rich.table import Table

    from kinetree.model import Joint, Model

__all__ = ["info", "zoo"]

_MOST_ROWS = 300
_COLUMNS = (
    "lower", "upper", "velocity", "effort", "motor", "damping", "friction", "armature", "stiffness", "rest", "rotor",
    "gear", "follows",
)  # fmt: skip


@takes_loading_options()
def info(model: options.Model, as_json: options.Json = False, *, loading: Loading) -> None:
    """Show a robot: the tree, masses, the layout of q and v, limits, merges and assumptions."""
    robot = load_robot(model, loading, shows_notes=True)
    if as_json:
        print_json(_document(robot))
        return
    print_lines(repr(robot))
    if robot.joints:
        print_lines("", _joint_table(robot))
    rows = sum(joint.kind.nv for joint in robot.joints.values())
    if rows > _MOST_ROWS:
        print_lines(f"… and {rows - _MOST_ROWS} more")
    followers = list(_followers(robot))
    print_lines(*followers[:_MOST_ROWS])
    if len(followers) > _MOST_ROWS:
        print_lines(f"… and {len(followers) - _MOST_ROWS} more")


def zoo(as_json: options.Json = False) -> None:
    """List the robots of the zoo: their names, numbers of coordinates and degrees of freedom, and masses.

    Each name can be given to the other commands in place of a file, and to kt.zoo.load.
    """
    from kinetree import zoo

    robots = {name: zoo.load(name) for name in zoo.names()}
    if as_json:
        print_json([{"name": name, **_sizes(robot)} for name, robot in robots.items()])
        return
    table = new_table("", ("name", "base", "nq", "nv", "mass, kg"), left=("base",))
    for name, robot in robots.items():
        base = "floating" if robot.floating_base else "fixed"
        table.add_row(name, base, str(robot.nq), str(robot.nv), f"{robot.mass:.4g}")
    print_lines(table)


def _sizes(robot: Model) -> dict[str, Any]:
    return {"floating_base": robot.floating_base, "nq": robot.nq, "nv": robot.nv, "mass": robot.mass}


def _document(robot: Model) -> dict[str, Any]:
    """A robot as JSON, in SI units; a degree of freedom has no entry for absent limits, absent parts or zeros."""
    joints = [
        {
            "name": joint.name, "kind": joint.kind.description, "parent": joint.parent, "child": joint.child,
            "degrees_of_freedom": [
                {"name": _name(joint, name), **_values(joint, k)} for k, name in enumerate(joint.kind.v_names)
            ],
        }
        for joint in robot.joints.values()
    ]  # fmt: skip
    bodies = [{"name": body.name, "mass": body.mass, "is_fixed": body.is_fixed} for body in robot.bodies.values()]
    return {
        "name": robot.name, "source": robot.source, **_sizes(robot), "gravity": list(robot.gravity), "root": robot.root,
        "q_names": list(robot.q_names), "v_names": list(robot.v_names), "bodies": bodies, "joints": joints,
        "followers": list(_followers(robot)), "singular_joints": robot.singular_joints, "notes": robot.notes,
    }  # fmt: skip


def _joint_table(robot: Model) -> Table:
    """One line per degree of freedom, the first few hundred; columns that stay empty are left out."""
    from rich.text import Text

    rows = list(islice(_rows(robot), _MOST_ROWS))
    keys = [name for name in _COLUMNS if any(name in values for _, values in rows)]
    title = "what limits, drives and resists the joints (SI units)" if keys else "nothing limits or drives the joints"
    table = new_table(title, ("joint", *keys), left=("follows",))
    for name, values in rows:
        cells = [values.get(column, "") for column in keys]
        table.add_row(Text(name), *(Text(x if isinstance(x, str) else f"{x + 0.0:.4g}") for x in cells))
    return table


def _rows(robot: Model) -> Iterator[tuple[str, dict[str, float | str]]]:
    """(name, values by column) of each degree of freedom, including followers': each joint has its own numbers."""
    for joint in robot.joints.values():
        for k in range(joint.kind.nv):
            yield _name(joint, joint.kind.v_names[k]), _values(joint, k)


def _values(joint: Joint, k: int) -> dict[str, float | str]:
    limits = joint.limits
    bounds = {"velocity": limits.velocity[k], "effort": limits.effort[k]}
    # There are as many coordinates as degrees of freedom unless one is part of a quaternion.
    if joint.kind.nq == joint.kind.nv:
        bounds |= {"lower": limits.lower[k], "upper": limits.upper[k]}
    items: dict[str, float | str] = {name: x for name, x in bounds.items() if not math.isinf(x)}
    items |= {name: x[k] for name in ("damping", "friction", "armature", "stiffness") if (x := getattr(joint, name))[k]}
    if joint.stiffness[k] and joint.kind.nq == joint.kind.nv:
        items["rest"] = joint.rest[k]
    if joint.has_coordinates and not joint.actuated[k]:
        items["motor"] = "none"
    if joint.rotor is not None:
        items |= {"rotor": joint.rotor.inertia, "gear": joint.rotor.ratio}
    if follows := joint.coupling or (joint.mimic and joint.mimic.joint):
        items["follows"] = follows
    return items


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
