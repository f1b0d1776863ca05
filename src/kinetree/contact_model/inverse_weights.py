"""Approximate inverse inertias: how easily a body or a joint is moved where the robot's file places it.

    body:   means of the diagonals of both halves of J M⁻¹ Jᵀ, J the Jacobian at the body's centre of mass
    joint:  the diagonal of M⁻¹, whose mean a ball joint has thrice, and a free joint for each of its halves
    length: J M⁻¹ Jᵀ, J its moment

A constraint's regularisation is measured by them, so that its softness does not depend on masses (softness.py).

Source: MuJoCo documentation, "Computation", section on the parameters of constraints; version 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree import algorithms
from kinetree.algorithms.transmissions import Reach, View, viewed
from kinetree.contact_model.origin import is_from_mjcf
from kinetree.contact_model.slide_bodies import slide_bodies
from kinetree.errors import ModelError, listed
from kinetree.joints import FloatingBase, Free, JointKind, Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Body, Model
from kinetree.model.reference import reference_configuration, with_tendon_armature
from kinetree.spatial import Transform, Vec3

__all__ = ["BodyWeight", "InverseWeights"]

Array = NDArray[np.float64]


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
        self._inverse = _inverse(robot, np.array(algorithms.crba(tree, q).flat()).reshape(robot.nv, robot.nv))
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
        own = np.diag(self._inverse)[joint.v_slice]
        for part in _alike(joint.kind):
            if part.start <= dof < part.stop:
                return float(own[part].mean())
        return float(own[dof])

    def of_reach(self, reach: Reach) -> float:
        """The inverse inertia of a length with a moment in the reference configuration."""
        J = self._robot.tree.columns(1, apart=True)
        for slot, numbers in reach.moment.items():
            J[slot] = [[x] for x in numbers]
        row = np.array(next(iter(J.in_rows())), dtype=np.float64)
        return float(row @ self._inverse @ row)

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
        J = tree.columns(6, apart=True)
        for j, _ in tree.toward_root(body.slot):
            J[j] = [
                [*(m.linear + m.angular.cross(p)).components(), *m.angular.components()] for m in self.view.columns[j]
            ]
        rows = np.array([*J.in_rows()], dtype=np.float64)
        diagonal = np.einsum("ij,jk,ik->i", rows, self._inverse, rows, optimize=True)
        return BodyWeight(float(diagonal[:3].mean()), float(diagonal[3:].mean()))


def _inverse(robot: Model, M: Array) -> Array:
    try:
        L = np.linalg.cholesky(with_tendon_armature(robot, M))
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
