"""Constraints against Pinocchio, on real robots with fixed and floating bases.

Contacts in three and six directions and fixed loops: `constraintDynamics`, `impulseDynamics`, `computeDelassusMatrix`.
Where the rows depend on each other Pinocchio's answer depends on its proximal parameter; there the witness is NumPy's
pseudo-inverse of matrices that come from Pinocchio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import Ask, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_pinocchio import COMPILED, DIFFERENT, EACH_KIND
from tests.robots import load_robot, robot_path

Array = NDArray[np.float64]

METHODS = ("kkt", "operational_space")
IN_THREE_DIRECTIONS = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
IN_SIX_DIRECTIONS = pin.ContactType.CONTACT_6D, pin.ReferenceFrame.LOCAL
CLEAR = 1e-6
"""Rows are independent if the smallest eigenvalue of J M⁻¹ Jᵀ is at least this part of the largest."""

DEPENDENT = {
    "iris_description/robots/iris.urdf": "rotors turn about their own axes: one follows from another",
    "panda_description/urdf/panda.urdf": "fingers slide along one line, which leaves two directions of the second",
    "quadruped_description/urdf/quadruped.urdf": "legs are planar",
    "tiago_description/robots/tiago_no_hand.urdf": "a light wrist moves a million times as easily as the head",
}
"""Robots on a floating base whose rows depend on each other, or nearly so."""


class ConstraintOracle(PinocchioOracle):
    """The same constraints there."""

    def place(self, name: str) -> tuple[int, pin.SE3]:
        frame = self.model.frames[self._frame(name)]
        return frame.parentJoint, frame.placement

    def given(self, constraints: Sequence[kt.constraints.Contact | kt.constraints.Loop]) -> tuple[Any, Any]:
        models = []
        for c in constraints:
            if isinstance(c, kt.constraints.Loop):
                kind, axes = IN_SIX_DIRECTIONS
                models.append(
                    pin.RigidConstraintModel(kind, self.model, *self.place(c.frame_a), *self.place(c.frame_b), axes)
                )
            else:
                kind, axes = IN_SIX_DIRECTIONS if c.directions == "fixed" else IN_THREE_DIRECTIONS
                models.append(pin.RigidConstraintModel(kind, self.model, *self.place(c.frame), axes))
        datas = pin.StdVec_RigidConstraintData()
        datas.extend([model.createData() for model in models])
        listed = pin.StdVec_RigidConstraintModel()
        listed.extend(models)
        return listed, datas

    def jacobian(self, q: Array, constraints: Sequence[kt.constraints.Contact]) -> Array:
        rows = [
            pin.computeFrameJacobian(self.model, self.data, self._q(q), self._frame(c.frame), _axes(c))[: c.size]
            for c in constraints
        ]
        return np.vstack(rows)[:, self._order]

    def bias(self, q: Array, v: Array, constraints: Sequence[kt.constraints.Contact]) -> Array:
        pin.forwardKinematics(self.model, self.data, self._q(q), self._v(v), np.zeros(self.model.nv))
        rows = []
        for c in constraints:
            ask = pin.getFrameAcceleration if c.axes == "local" else pin.getFrameClassicalAcceleration
            rows.append(ask(self.model, self.data, self._frame(c.frame), _axes(c)).vector[: c.size].copy())
        return np.concatenate(rows)

    def dynamics(
        self, q: Array, v: Array, tau: Array, constraints: Sequence[kt.constraints.Contact | kt.constraints.Loop]
    ) -> Array:
        models, datas = self.given(constraints)
        pin.initConstraintDynamics(self.model, self.data, models, datas)
        exactly = pin.ProximalSettings(1e-14, 0.0, 1)
        arguments = self._q(q), self._v(v), self._v(tau), models, datas, exactly
        return pin.constraintDynamics(self.model, self.data, *arguments)[self._order]

    def forces(self, q: Array, v: Array, tau: Array, constraints: Sequence[kt.constraints.Contact]) -> Array:
        models, datas = self.given(constraints)
        pin.initConstraintDynamics(self.model, self.data, models, datas)
        arguments = self._q(q), self._v(v), self._v(tau), models, datas, pin.ProximalSettings(1e-14, 0.0, 1)
        pin.constraintDynamics(self.model, self.data, *arguments)
        found = []
        for c, data in zip(constraints, datas, strict=True):
            f = data.contact_force
            found.append(f.vector[: c.size])
        return np.concatenate(found)

    def delassus(self, q: Array, constraints: Sequence[kt.constraints.Contact]) -> Array:
        models, datas = self.given(constraints)
        pin.initConstraintDynamics(self.model, self.data, models, datas)
        return pin.computeDelassusMatrix(self.model, self.data, self._q(q), models, datas, 0.0)

    def impulse(self, q: Array, v: Array, J: Array, e: float) -> Array:
        there = np.empty_like(J)
        there[:, self._order] = J
        after = pin.impulseDynamics(self.model, self.data, self._q(q), self._v(v), there, e, 0.0)
        return after[self._order].copy()


def _axes(contact: kt.constraints.Contact) -> pin.ReferenceFrame:
    return pin.ReferenceFrame.LOCAL if contact.axes == "local" else pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def witnessed(file: str, floating_base: bool) -> tuple[kt.Model, ConstraintOracle]:
    robot = load_robot(file, floating_base=floating_base)
    return robot, ConstraintOracle(robot_path(file), robot)


def tips(robot: kt.Model) -> list[str]:
    """The last body of each branch, the longest first."""
    inner = {joint.slot: robot.tree.parent[joint.slot] for joint in robot.joints.values()}
    names = {body.slot: body.name for body in robot.bodies.values() if not body.is_fixed}
    ends = [slot for slot in inner if slot not in inner.values()]
    ends.sort(key=lambda slot: -len(robot.tree.supports(slot)))
    return [names[slot] for slot in ends]


def contacts_of(robot: kt.Model) -> list[kt.constraints.Contact]:
    """A point on one branch, and a fixed frame on another."""
    first, *others = tips(robot)
    if robot.floating_base or not others:
        return [
            kt.constraints.Contact(first, "fixed", axes="local"),
            *(kt.constraints.Contact(tip) for tip in others[:1]),
        ]
    return [kt.constraints.Contact(first), kt.constraints.Contact(others[0], "fixed", axes="local")]


def joined(function: Ask, robot: kt.Model, *batches: Array, **options: Any) -> Array:
    """The public function, its two results in one row as its definition has them."""
    return np.concatenate(function(robot, *batches, **options), axis=-1)


def near(actual: Array, expected: Array, scale: float, what: str) -> None:
    assert np.isfinite(actual).all(), what
    error = float(np.abs(actual - expected).max(initial=0.0))
    assert error <= 1e-9 * max(scale, float(np.abs(expected).max(initial=0.0))), f"{what} is off by {error:.3g}"


def check_all(ask: Ask, robot: kt.Model, witness: ConstraintOracle, count: int) -> bool:
    """Everything about its contacts; whether their rows are independent, so that Pinocchio was asked for all."""
    contacts = contacts_of(robot)
    q, v, _, tau = random_states(robot, count)
    J = ask(kt.constraints.constraint_jacobian, robot, q, constraints=contacts)
    bias = ask(kt.constraints.constraint_bias, robot, q, v, constraints=contacts)
    dynamics = ask if ask is on_floats else joined
    results = {
        m: dynamics(kt.constraints.constrained_dynamics, robot, q, v, tau, constraints=contacts, method=m)
        for m in METHODS
    }
    struck = dynamics(kt.constraints.impact, robot, q, v, constraints=contacts, restitution=0.5)
    independent = True
    for k in range(count):
        expected_J, expected_bias = witness.jacobian(q[k], contacts), witness.bias(q[k], v[k], contacts)
        near(J[k], expected_J, 1.0, "J")
        near(bias[k], expected_bias, 1.0, "bias")
        M, C = witness.crba(q[k]), witness.bias_forces(q[k], v[k])
        A = expected_J @ np.linalg.solve(M, expected_J.T)
        free = np.linalg.solve(M, tau[k] - C)
        sizes = np.linalg.eigvalsh(A)
        full = bool(sizes[0] > CLEAR * sizes[-1])
        independent &= full
        inverse = np.linalg.pinv(A, rcond=1e-9, hermitian=True)
        lam = inverse @ (-expected_bias - expected_J @ free)
        expected = free + np.linalg.solve(M, expected_J.T @ lam)
        scale = float(np.abs(free).max())  # of which the constraints leave something
        for method, result in results.items():
            near(result[k, : robot.nv], expected, scale, f"accelerations by {method}")
            near(result[k, robot.nv :], lam, 1.0, f"forces by {method}")
        if full:
            there = witness.dynamics(q[k], v[k], tau[k], contacts)
            near(results["kkt"][k, : robot.nv], there, scale, "accelerations by Pinocchio")
            near(results["kkt"][k, robot.nv :], witness.forces(q[k], v[k], tau[k], contacts), 1.0, "its forces")
            after = witness.impulse(q[k], v[k], expected_J, 0.5)
            near(struck[k, : robot.nv], after, float(np.abs(v[k]).max()), "impact")
    return independent


@EACH_KIND
def test_contacts_of_every_robot_on_floats(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    independent = check_all(on_floats, robot, witness, 1)
    assert independent == (file not in DEPENDENT) or not floating_base


@pytest.mark.parametrize(
    ("file", "floating_base"),
    [
        ("panda_description/urdf/panda.urdf", False),
        ("solo_description/robots/solo12.urdf", True),
    ],
)
def test_contacts_of_some_robots_compiled(file: str, floating_base: bool) -> None:
    check_all(compiled, *witnessed(file, floating_base), 5)


@pytest.mark.parametrize("file", DIFFERENT)
def test_operational_space_inertia_is_the_inverse_of_the_delassus_matrix(file: str) -> None:
    robot, witness = witnessed(file, True)
    q = random_states(robot, 1)[0]
    contacts = [kt.constraints.Contact(tips(robot)[0], "fixed", axes="local")]
    expected = np.linalg.inv(witness.delassus(q[0], contacts))
    for method in METHODS:
        actual = on_floats(kt.constraints.operational_space_inertia, robot, q, constraints=contacts, method=method)[0]
        near(actual, expected, 0.0, f"Λ by {method}")


@pytest.mark.parametrize(
    "file", [file for file in COMPILED if "anymal" in file or "solo" in file or "hand" in file or "lowerBody" in file]
)
def test_loops_that_hold_two_frames(file: str) -> None:
    """At velocities that the loop allows: otherwise the two differ in what they make of it."""
    robot, witness = witnessed(file, True)
    a, b, *_ = tips(robot)
    loops = [kt.constraints.Loop(a, b, "fixed")]
    q, v, _, tau = (x[0] for x in random_states(robot, 1))
    (J,) = on_floats(kt.constraints.constraint_jacobian, robot, q[None], constraints=loops)
    v = v - np.linalg.pinv(J) @ (J @ v)
    result = on_floats(kt.constraints.constrained_dynamics, robot, q[None], v[None], tau[None], constraints=loops)[0]
    M = witness.crba(q)
    A = J @ np.linalg.solve(M, J.T)
    sizes = np.linalg.eigvalsh(A)
    if sizes[0] > CLEAR * sizes[-1]:
        expected = witness.dynamics(q, v, tau, loops)
    else:  # legs of three joints each can only follow so far; the rows of Pinocchio's J span the same space
        (bias,) = on_floats(kt.constraints.constraint_bias, robot, q[None], v[None], constraints=loops)
        free = witness.aba(q, v, tau)
        lam = np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ (-bias - J @ free)
        expected = free + np.linalg.solve(M, J.T @ lam)
    near(result[: robot.nv], expected, float(np.abs(witness.aba(q, v, tau)).max()), "accelerations")
