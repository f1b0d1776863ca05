"""The wrenches that joints transmit, as a function of arrays.

It runs on the robot's own inertias: regrouped ones give the same joint forces, but other wrenches between bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.bodies import joint_rows, numbered_joints
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.options import ExpressedIn, expressed_in_option, rows_of_bodies
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force

__all__ = ["joint_wrenches"]


def _joint_wrenches(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, expressed_in: str, f_ext: dict[int, Force]
) -> list[Scalar]:
    tree = model.tree
    _, f = algorithms.carried_forces(tree, q, v, qdd, -tree.gravity, f_ext)
    X_0 = algorithms.placements(tree, q)
    return rows_of_bodies(joint_rows(model), numbered_joints(model), X_0, f, expressed_in)


def _six_a_joint(model: Model, _: Mapping[str, Any]) -> tuple[int, int]:
    return (len(model.joints), 6)


JOINT_WRENCHES = Definition(
    "joint_wrenches", (("q", "nq"), ("v", "nv"), ("qdd", "nv")), _six_a_joint, _joint_wrenches,
    {"expressed_in": expressed_in_option}, takes_forces=True,
)  # fmt: skip


@defined_by(JOINT_WRENCHES, in_units=True)
def joint_wrenches(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    expressed_in: ExpressedIn,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The wrench that each joint transmits to the body it moves, given the accelerations.

    It is the total wrench on the body through the joint: the reaction of the bearing as well as forces along the
    joint's own directions, whether a drive, friction or a spring exerts them. So it does not depend on how the joint
    force is divided among these, and the function needs no option for passive forces: take accelerations from
    `aba(…, passive=True)` if they act. The part along the joint's directions, Sᵀ f, is the joint force of `rnea`, less
    the torque that accelerates the joint's own rotor (armature, geared rotor).

    The body that carries the joint receives the opposite wrench; the couple that turns a geared rotor on it is
    additional. Forces of contacts belong in f_ext. A floating base is not held by its joint: its row is the wrench that
    is missing for these accelerations, zero if the forces given account for them.

    Args:
        expressed_in: "local" for the axes and the origin of the frame of the body that the joint moves, "world" for
            the world's, or "local_world_aligned" for the world's axes at that frame's origin.

    Returns:
        [f; n] (…, J, 6); N, N·m; J = len(robot.joints), in that order: moving joints, those that follow others
        included. Fixed joints have no rows, as the bodies that they connect are one; see
        `kinetree docs algorithms/joint_wrenches` for the wrenches they transmit.

    Raises:
        OptionError: expressed_in is not an allowed value.
        NameNotFoundError: f_ext names a frame that does not exist.

    Source: Featherstone, RBDA (2008), Table 5.1: fᵢ.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> rest = [0.0, 0.0]  # two rods of 1 kg hang one below the other
    >>> kt.dynamics.joint_wrenches(robot, rest, rest, rest, expressed_in="world")[:, :3].tolist()
    [[0.0, 0.0, 19.62], [0.0, 0.0, 9.81]]
    """
    return run(
        JOINT_WRENCHES,
        robot,
        (q, v, qdd),
        f_ext=f_ext,
        expressed_in=expressed_in,
        parameters=parameters,
        out=out,
        threads=threads,
    )
