"""Results with numbers per body or joint: for robots whose bodies are known one by one, or looped over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import cast

from kinetree.compiler.forms.form import Form
from kinetree.compiler.forms.rolled import RolledModel
from kinetree.model import Body
from kinetree.spatial import Transform
from kinetree.tree.matrices import BodyColumns, Rows
from kinetree.tree.rolled import RolledTree

__all__ = [
    "bodies_behind",
    "body_columns",
    "body_rows",
    "first_dof",
    "joint_rows",
    "moved_frames",
    "numbered_bodies",
    "numbered_drives",
    "numbered_joints",
]


def numbered_bodies(model: Form) -> Iterable[tuple[int, Body]]:
    """(k, body k), in the order of `Model.bodies`."""
    if isinstance(model, RolledModel):
        return cast(Iterable[tuple[int, Body]], model.numbered_bodies())
    return enumerate(model.one_by_one.bodies.values())


def body_rows(model: Form) -> Rows:
    """An empty result with one row per body."""
    return cast(Rows, model.rows()) if isinstance(model, RolledModel) else Rows(len(model.one_by_one.bodies))


def numbered_joints(model: Form) -> Iterable[tuple[int, Body]]:
    """(k, the body that joint k moves), in the order of `Model.joints`."""
    if isinstance(model, RolledModel):
        return cast(Iterable[tuple[int, Body]], model.numbered_joints())
    robot = model.one_by_one
    return enumerate(robot.bodies[joint.child] for joint in robot.joints.values())


def joint_rows(model: Form) -> Rows:
    """An empty result with one row per joint."""
    return cast(Rows, model.rows()) if isinstance(model, RolledModel) else Rows(len(model.one_by_one.joints))


def moved_frames(model: Form) -> Sequence[Transform]:
    """For each slot, the frame of the body that its joint moves, in the slot's coordinates; the root's is not read."""
    if isinstance(model, RolledModel):
        return cast(Sequence[Transform], model.moved_frames())
    bodies, joints = model.one_by_one.bodies, model.one_by_one.joints.values()
    return [Transform.identity(), *(bodies[joint.child].placement for joint in joints)]


def first_dof(model: Form, i: int) -> int:
    """The index of the first degree of freedom of joint i, for a robot whose joints share no coordinates."""
    tree = model.tree
    return cast(int, tree.start("nv", i)) if isinstance(tree, RolledTree) else model.one_by_one.tree.v_starts[i]


def body_columns(model: Form) -> BodyColumns:
    """An empty result with some columns per body."""
    if isinstance(model, RolledModel):
        return cast(BodyColumns, model.body_columns())
    return BodyColumns(len(model.one_by_one.bodies))


def bodies_behind(model: Form, j: int, names: Sequence[str]) -> Iterable[tuple[int, Body]]:
    """(k, body k) for those of the named bodies that joint j carries; k is the index in `names`."""
    if isinstance(model, RolledModel):
        return cast(Iterable[tuple[int, Body]], model.bodies_behind(j, names))
    carried = {j, *(i for i, _ in model.tree.behind(j))}
    named = [(k, model.one_by_one.bodies[name]) for k, name in enumerate(names)]
    return [(k, body) for k, body in named if body.slot in carried]


def numbered_drives(model: Form) -> Iterable[tuple[int, int]]:
    """(k, slot) for each of `Model.driven_joints`; k is the index of its first degree of freedom among theirs."""
    if isinstance(model, RolledModel):
        return cast(Iterable[tuple[int, int]], model.numbered_drives())
    joints = model.one_by_one.driven_joints
    starts = accumulate((joint.kind.nv for joint in joints), initial=0)
    return [(k, joint.slot) for k, joint in zip(starts, joints, strict=False)]
