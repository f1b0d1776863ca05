"""What a robot that floats owes to the space it floats in: momentum and symmetry."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Mat3, Vec3
from kinetree.spatial.rotations import from_axis_angle
from tests.laws.reference import body_momentum, close, coordinate_rates, directional, reference
from tests.strategies import State, law, moving_trees, numbers, rotations, vectors

Array = NDArray[np.float64]


def acceleration_size(model: kt.Model, s: State) -> float:
    """What an acceleration is a sum of: rounding of forward dynamics is relative to it."""
    H = reference(kt.crba, model, s.q)
    bias = reference(kt.bias_forces, model, s.q, s.v)
    return float((np.abs(np.linalg.inv(H)) @ (np.abs(s.tau) + np.abs(bias))).max())


@law(50)
@given(moving_trees(floating=True))
def test_momentum_changes_only_by_what_acts_from_outside(case: tuple[kt.Model, State]) -> None:
    """Weight at the centre of mass and the wrench on the base; joint forces come in pairs."""
    model, s = case
    qdd = reference(kt.aba, model, s.q, s.v, s.tau)
    rate = directional(lambda q, v: body_momentum(model, q, v), (s.q, coordinate_rates(model, s.q, s.v)), (s.v, qdd))
    T = reference(kt.frame_placement, model, s.q, frame="base")
    f, n = T[:3, :3] @ s.tau[:3], T[:3, :3] @ s.tau[3:6]
    weight = model.mass * np.array(model.gravity)
    com = reference(kt.center_of_mass, model, s.q)
    expected = np.concatenate([f + weight, n + np.cross(T[:3, 3], f) + np.cross(com, weight)])
    H = np.abs(reference(kt.crba, model, s.q))
    scale = float(max((H @ np.abs(qdd)).max(), (H @ np.abs(s.v)).max() * np.abs(s.v).max()))
    close(rate, expected, scale=10.0 * scale)


@law(50)
@given(moving_trees(floating=True, gravity=(0.0, 0.0, 0.0)))
def test_momentum_is_conserved_without_gravity(case: tuple[kt.Model, State]) -> None:
    """Whatever the joints do, with nothing to push against."""
    model, s = case
    tau = s.tau.copy()
    tau[:6] = 0.0
    qdd = reference(kt.aba, model, s.q, s.v, tau)
    rate = directional(lambda q, v: body_momentum(model, q, v), (s.q, coordinate_rates(model, s.q, s.v)), (s.v, qdd))
    H = np.abs(reference(kt.crba, model, s.q))
    scale = float(max((H @ np.abs(qdd)).max(), (H @ np.abs(s.v)).max() * np.abs(s.v).max()))
    close(rate, np.zeros(6), scale=10.0 * scale)


def moved_as_a_whole(q: Array, R: Mat3, shift: Vec3) -> Array:
    """The floating base turned by R about the world's origin and shifted; the joints as they are."""
    M = np.array(R.components(), dtype=float).reshape(3, 3)
    out = q.copy()
    out[:3] = M @ q[:3] + np.array(shift.components())
    out[3:7] = quaternion_of(M @ matrix_of(q[3:7]))
    return out


def matrix_of(q: Array) -> Array:
    """R = 1 + 2 w [u x] + 2 [u x]² of a unit quaternion."""
    U = np.array([[0.0, -q[2], q[1]], [q[2], 0.0, -q[0]], [-q[1], q[0], 0.0]])
    return np.eye(3) + 2.0 * q[3] * U + 2.0 * U @ U


def quaternion_of(R: Array) -> Array:
    """By the eigenvector of Davenport's matrix, which no orientation troubles."""
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = np.trace(R)
    return np.linalg.eigh(K)[1][:, -1]


@law()
@given(moving_trees(floating=True, gravity=(0.0, 0.0, 0.0)), rotations(), vectors())
def test_empty_space_is_the_same_everywhere_and_in_all_directions(
    case: tuple[kt.Model, State], R: Mat3, shift: Vec3
) -> None:
    model, s = case
    q = moved_as_a_whole(s.q, R, shift)
    close(reference(kt.crba, model, q), reference(kt.crba, model, s.q))
    close(
        reference(kt.aba, model, q, s.v, s.tau),
        reference(kt.aba, model, s.q, s.v, s.tau),
        scale=acceleration_size(model, s),
    )
    close(reference(kt.kinetic_energy, model, q, s.v), reference(kt.kinetic_energy, model, s.q, s.v))


@law()
@given(moving_trees(floating=True, gravity=(0.0, 0.0, -9.81)), numbers(3.0), vectors())
def test_gravity_leaves_the_turn_about_its_own_axis(case: tuple[kt.Model, State], heading: float, shift: Vec3) -> None:
    model, s = case
    q = moved_as_a_whole(s.q, from_axis_angle(Vec3(0.0, 0.0, 1.0), heading), shift)
    close(
        reference(kt.rnea, model, q, s.v, s.qdd), reference(kt.rnea, model, s.q, s.v, s.qdd), scale=100.0 * model.mass
    )
    close(
        reference(kt.potential_energy, model, q) - 9.81 * model.mass * shift.z,
        reference(kt.potential_energy, model, s.q),
        scale=100.0 * model.mass,
    )


@law()
@given(moving_trees(floating=True), vectors())
def test_a_steady_motion_of_the_whole_is_not_felt(case: tuple[kt.Model, State], boost: Vec3) -> None:
    """Galileo's ship: the classical acceleration is the same, the spatial one of the base differs by -ω x boost."""
    model, s = case
    u = matrix_of(s.q[3:7]).T @ np.array(boost.components())
    v = s.v.copy()
    v[:3] += u
    qdd, boosted = (reference(kt.aba, model, s.q, rates, s.tau) for rates in (s.v, v))
    boosted[:3] += np.cross(s.v[3:6], u)
    fast = State(s.q, v, s.qdd, s.tau)
    close(boosted, qdd, scale=max(acceleration_size(model, s), acceleration_size(model, fast)))


@law()
@given(moving_trees(), st.integers(-3, 3))
def test_a_whole_turn_of_a_joint_is_no_turn(case: tuple[kt.Model, State], turns: int) -> None:
    model, s = case
    q = s.q.copy()
    for joint in model.joints.values():
        if isinstance(joint.kind, kt.Revolute):
            q[joint.q_slice] += 2.0 * math.pi * turns
    # An angle of 1000 rad carries a rounding error of 1e-13.
    close(
        reference(kt.rnea, model, q, s.v, s.qdd),
        reference(kt.rnea, model, s.q, s.v, s.qdd),
        tolerance=1e-11,
        scale=100.0 * model.mass,
    )
