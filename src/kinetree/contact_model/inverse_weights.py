"""Approximate inverse inertias: how easily a body or a joint is moved where the robot's file places it.

    body:   means of the diagonals of both halves of J M⁻¹ Jᵀ, J the Jacobian at the body's centre of mass
    joint:  the diagonal of M⁻¹, whose mean a ball joint has thrice, and a free joint for each of its halves
    length: J M⁻¹ Jᵀ, J its moment

M falls into blocks, one for each tree on the root unless shared coordinates or the armature of a tendon couple several:
each is inverted alone, so that the time for a scene of many bodies is proportional to their number.

A constraint's regularisation is measured by them, so that its softness does not depend on masses (softness.py).

Source: MuJoCo documentation, "Computation", section on the parameters of constraints; version 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree import algorithms
from kinetree.algorithms.transmissions import Reach, View, viewed
from kinetree.errors import ModelError, listed
from kinetree.joints import FloatingBase, Free, JointKind, Prismatic, Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Body, Joint, Model
from kinetree.model.reference import reference_configuration, tendon_armatures
from kinetree.spatial import Transform, Vec3
from kinetree.tree.coordinate_map import Row
from kinetree.tree.matrices import JointBlocks

__all__ = ["BodyWeight", "InverseWeights", "is_from_mjcf"]

Array = NDArray[np.float64]
Columns = Mapping[int, Sequence[Sequence[float]]]
"""The columns of a Jacobian, by the slots of the joints that they belong to."""

_AT_ONCE = 128
"""Blocks of the mass matrix are inverted together up to about this many degrees of freedom: that is quicker."""


class BodyWeight(NamedTuple):
    """The inverse inertia of a body."""

    translation: float
    """1/kg"""
    rotation: float
    """1/(kg·m²)"""


class InverseWeights:
    """The approximate inverse inertias of a robot's bodies and joints; those of bodies are computed when asked for."""

    def __init__(self, robot: Model) -> None:
        self._robot = robot
        tree = robot.tree
        q = tree.split(reference_configuration(robot).tolist(), "nq")
        self.view: View = viewed(tree, q)
        """The reference configuration."""
        self._starts = tree.v_starts
        each = (((d, 1.0),) for d in range(self._starts[-1]))
        self._rates: Sequence[Row] = [*each] if tree.coordinates is None else tree.coordinates.v_rows
        self._blocks = _independent(robot, self._rates)
        self._block_of: NDArray[np.intp] = np.empty(robot.nv, np.intp)
        self._place: NDArray[np.intp] = np.empty(robot.nv, np.intp)
        for k, dofs in enumerate(self._blocks):
            self._block_of[dofs], self._place[dofs] = k, np.arange(len(dofs))
        self._inverses = [_inverse(robot, M) for M in self._mass_matrices(algorithms.crba(tree, q))]
        self._diagonal = np.empty(robot.nv)
        for dofs, inverse in zip(self._blocks, self._inverses, strict=True):
            self._diagonal[dofs] = np.diag(inverse)
        self._simple = slide_bodies(robot)
        self._carrier = {spec.child: spec.parent for spec in robot.parts.joints} if is_from_mjcf(robot) else {}
        self._of_bodies: dict[str, BodyWeight] = {}

    def placement_of(self, name: str) -> Transform:
        """The placement of a body in the world, in the reference configuration."""
        body = self._robot.bodies[name]
        return body.placement @ self.view.X_0[body.slot]

    def of_body(self, name: str | None) -> BodyWeight:
        """The inverse inertia of a body, zeros if it is fixed to the world; `None` is the world itself."""
        if name is None or self._robot.bodies[name].slot == 0:
            return BodyWeight(0.0, 0.0)
        if name not in self._of_bodies:
            self._of_bodies[name] = self._computed(name)
        return self._of_bodies[name]

    def of_joint(self, name: str, dof: int = 0) -> float:
        """The inverse inertia along a degree of freedom, by its number within the joint."""
        joint = self._robot.joints[name]
        if not joint.has_coordinates:
            return self.of_reach(Reach(0.0, {joint.slot: [float(k == dof) for k in range(joint.kind.nv)]}))
        if name in self._simple.joints:
            return 1.0 / self._simple.joints[name]
        own = self._diagonal[joint.v_slice]
        for part in _alike(joint.kind):
            if part.start <= dof < part.stop:
                return float(own[part].mean())
        return float(own[dof])

    def of_reach(self, reach: Reach) -> float:
        """The inverse inertia of a length with a moment in the reference configuration."""
        pieces = self._rows({slot: [[float(x)] for x in numbers] for slot, numbers in reach.moment.items()}, 1)
        return sum((float(row @ inverse @ row) for (row,), inverse in pieces), 0.0)

    def _center(self, body: Body) -> Vec3:
        """The centre of mass in the body's frame; of a massless one its origin.

        MuJoCo has there the place of the body's frame in the body that carries it, as numbers in the body's own frame.
        """
        if body.mass:
            return body.inertia.h * (1.0 / body.inertia.mass)
        carrier = self._carrier.get(body.name)
        while carrier and self._robot.tree.I[slot := self._robot.bodies[carrier].slot].mass == 0.0 and slot:
            carrier = self._carrier.get(carrier)
        if not carrier:
            return Vec3.zero()
        return (self.placement_of(body.name) @ self.placement_of(carrier).inverse).r

    def _computed(self, name: str) -> BodyWeight:
        if name in self._simple.bodies:
            return BodyWeight(1.0 / self._simple.bodies[name], 0.0)
        body, tree = self._robot.bodies[name], self._robot.tree
        X = self.placement_of(name)
        p = X.r + X.E.T @ self._center(body)
        J = {
            j: [
                [float(x) for x in (*(m.linear + m.angular.cross(p)).components(), *m.angular.components())]
                for m in self.view.columns[j]
            ]
            for j, _ in tree.toward_root(body.slot)
        }
        diagonal = np.zeros(6)
        for rows, inverse in self._rows(J, 6):
            diagonal += np.einsum("ij,jk,ik->i", rows, inverse, rows, optimize=_path(len(inverse)))
        return BodyWeight(float(diagonal[:3].mean()), float(diagonal[3:].mean()))

    def _rows(self, columns: Columns, count: int) -> Iterator[tuple[Array, Array]]:
        """The rows (count, n) of a Jacobian in each block that it moves, and the inverse (n, n) there."""
        own: dict[int, Sequence[float]] = {}
        for slot in sorted(columns):
            for d, numbers in enumerate(columns[slot], self._starts[slot]):
                for k, weight in self._rates[d]:
                    more = numbers if weight == 1.0 else [x * weight for x in numbers]
                    own[k] = [x + y for x, y in zip(own[k], more, strict=True)] if k in own else more
        for block in sorted({int(self._block_of[k]) for k in own}):
            moved = [k for k in own if self._block_of[k] == block]
            rows = np.zeros((count, len(self._blocks[block])))
            rows[:, self._place[moved]] = np.array([own[k] for k in moved], dtype=np.float64).T
            yield rows, self._inverses[block]

    def _mass_matrices(self, H: JointBlocks) -> Iterator[Array]:
        """The blocks of the mass matrix, with the armature of tendons."""
        tendons = tendon_armatures(self._robot)
        for dofs, M in zip(self._blocks, self._without_tendons(H), strict=True):
            for armature, row in tendons:
                M = M + armature * np.outer(row[dofs], row[dofs])
            yield M

    def _without_tendons(self, H: JointBlocks) -> list[Array]:
        if len(self._blocks) == 1:
            return [np.array(H.flat(), dtype=np.float64).reshape(self._robot.nv, self._robot.nv)]
        matrices = [np.zeros((len(dofs), len(dofs))) for dofs in self._blocks]
        block, place = self._block_of.tolist(), self._place.tolist()
        for (i, j), entries in H.items():
            for a, row in enumerate(entries, self._starts[i]):
                for b, x in enumerate(row, self._starts[j]):
                    for (k, one), (m, other) in product(self._rates[a], self._rates[b]):
                        matrices[block[k]][place[k], place[m]] += one * x * other
                        if i != j:
                            matrices[block[k]][place[m], place[k]] += one * x * other
        return matrices


@cache
def _path(n: int) -> Any:
    """The order in which NumPy multiplies a Jacobian of n columns: the search takes longer than the products."""
    return np.einsum_path("ij,jk,ik->i", np.empty((6, n)), np.empty((n, n)), np.empty((6, n)), optimize=True)[0]


def _independent(robot: Model, rates: Sequence[Row]) -> list[NDArray[np.intp]]:
    """The degrees of freedom of the mass matrix's blocks, small ones together."""
    if robot.nv <= _AT_ONCE:
        return [np.arange(robot.nv)]
    tree, starts = robot.tree, robot.tree.v_starts
    branch = [0] * tree.size
    for i, p in tree.outward:
        branch[i] = branch[p] or i
    joined = list(range(tree.size))

    def of(k: int) -> int:
        while joined[k] != k:
            joined[k] = k = joined[joined[k]]
        return k

    mover: dict[int, int] = {}
    for i in range(1, tree.size):
        for d in range(starts[i], starts[i + 1]):
            for k, _ in rates[d]:
                joined[of(mover.setdefault(k, branch[i]))] = of(branch[i])
    for _, row in tendon_armatures(robot):
        first, *others = np.flatnonzero(row).tolist()
        for k in others:
            joined[of(mover[k])] = of(mover[first])
    blocks: dict[int, list[int]] = {}
    for k in range(robot.nv):
        blocks.setdefault(of(mover[k]), []).append(k)
    together: list[list[int]] = [[]]
    for dofs in blocks.values():
        if len(together[-1]) >= _AT_ONCE:
            together.append([])
        together[-1] += dofs
    return [np.array(sorted(dofs), np.intp) for dofs in together]


def _inverse(robot: Model, M: Array) -> Array:
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        massless = (
            f": joint {listed(robot.singular_joints)} moves nothing with inertia" if robot.singular_joints else ""
        )
        raise ModelError(
            f"{robot.name!r}: the mass matrix has no inverse{massless}; contacts and limits need it, so give the "
            "bodies inertia, or the joints armature"
        ) from None
    half = np.linalg.solve(L, np.eye(len(M)))
    return np.asarray(half.T @ half)


def _alike(kind: JointKind) -> tuple[slice, ...]:
    """The degrees of freedom whose mean each of them has."""
    while isinstance(kind, Wrapping):
        kind = kind.kind
    if isinstance(kind, Spherical):
        return (slice(0, 3),)
    return (slice(0, 3), slice(3, 6)) if isinstance(kind, Free | FloatingBase) else ()


_TINY = 1e-14


class SlideBodies(NamedTuple):
    """Bodies that only slide, and their joints, with the masses that these move."""

    bodies: dict[str, float]
    joints: dict[str, float]


def slide_bodies(robot: Model) -> SlideBodies:
    """The bodies that carry no others and that sliding joints along their axes join to the world.

    Their frame is that of their inertia. Joints' armature does not count for them, and they do not turn.
    """
    bodies = SlideBodies({}, {})
    if not is_from_mjcf(robot):
        return bodies
    carrying = {spec.parent for spec in robot.parts.joints}
    below = {joint.child: joint for joint in robot.joints.values()}
    fixed = {spec.child: spec.parent for spec in robot.parts.joints if spec.child not in below}
    plain = {one.body for one in robot.extras.bodies if one.simple == "false"}
    for name, body in robot.bodies.items():
        if name in carrying or name in plain or not body.mass:
            continue
        joint, parent, chain = below.get(name), "", []
        while joint is not None and _slides(joint):
            chain.append(joint.name)
            parent = joint.parent
            joint = below.get(parent) if parent and not robot.bodies[parent].mass else None
        if joint is None and chain and robot.root in (parent, fixed.get(parent)) and _has_own_frame(body):
            bodies.bodies[name] = body.mass
            bodies.joints.update(dict.fromkeys(chain, body.mass))
    return bodies


def _slides(joint: Joint) -> bool:
    kind = joint.kind
    while isinstance(kind, Wrapping):
        kind = kind.kind
    return isinstance(kind, Prismatic) and sum(abs(float(x)) > _TINY for x in kind.axis.components()) == 1


def _has_own_frame(body: Body) -> bool:
    """Whether its frame is that of its inertia: at the centre of mass, along the principal axes."""
    I = body.rotational_inertia
    if np.abs(body.center_of_mass).max() > _TINY or np.abs(I - np.diag(np.diag(I))).max() > _TINY * np.abs(I).max():
        return False
    if len(body.geometry) != 1:
        return True
    E = body.geometry[0].placement.E
    return all(abs(float(x) - 1.0) <= _TINY for x in (E.x.x, E.y.y, E.z.z))


def is_from_mjcf(robot: Model) -> bool:
    """Whether it has the records of an MJCF file, whose rules are then those of MuJoCo; a ground does not count."""
    return robot.extras.options is not None or any(
        shape.contact is not None for body in robot.bodies.values() if body.slot for shape in body.geometry
    )
