"""Steps on the configuration manifold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import close, coordinate_rates, reference, tried_on_both
from tests.strategies import State, configurations, law, moving_trees, roundings

Array = NDArray[np.float64]
Call = Callable[..., Any]


def within_half_a_turn(model: kt.Model, v: Array) -> Array:
    """v with rotations short of pi where there is a shorter way round further on."""
    v = v.copy()
    for joint in model.joints.values():
        if not joint.kind.is_flat:
            own = v[joint.v_slice]
            own *= min(1.0, 3.0 / max(float(np.linalg.norm(own)), 1e-9))
    return v


def placements(model: kt.Model, q: Array) -> Array:
    return reference(kt.forward_kinematics, model, q)


@tried_on_both(moving_trees())
def test_difference_undoes_integrate(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    v = within_half_a_turn(model, s.v)
    q = call(kt.integrate, model, s.q, v)
    # An angle of 1000 rad, moved and taken off again, keeps 13 digits after the point.
    close(call(kt.difference, model, s.q, q), v, scale=float(np.abs(s.q).max()))


@tried_on_both(st.data())
def test_integrate_undoes_difference(call: Call, data: st.DataObject) -> None:
    model, s = data.draw(moving_trees())
    target = data.draw(configurations(model))
    reached = call(kt.integrate, model, s.q, call(kt.difference, model, s.q, target))
    close(placements(model, reached), placements(model, target), scale=100.0)


@tried_on_both(st.data())
def test_difference_takes_the_shorter_way_round(call: Call, data: st.DataObject) -> None:
    """No rotation of more than pi, whichever of its two quaternions an orientation is written as."""
    model, s = data.draw(moving_trees(floating=True, max_joints=3))
    target = data.draw(configurations(model))
    target[3:7] *= -np.sign(s.q[3:7] @ target[3:7]) or 1.0  # the one on the far side
    way = call(kt.difference, model, s.q, target)
    assert np.linalg.norm(way[3:6]) <= np.pi * (1.0 + 1e-15)
    close(placements(model, call(kt.integrate, model, s.q, way)), placements(model, target), scale=100.0)


@law()
@given(moving_trees())
def test_the_way_back_is_the_way_reversed(case: tuple[kt.Model, State]) -> None:
    model, s = case
    v = within_half_a_turn(model, s.v)
    q = reference(kt.integrate, model, s.q, v)
    close(reference(kt.difference, model, q, s.q), -v, scale=float(np.abs(s.q).max()))
    close(placements(model, reference(kt.integrate, model, q, -v)), placements(model, s.q), scale=100.0)


@law()
@given(moving_trees())
def test_two_half_steps_are_one_step(case: tuple[kt.Model, State]) -> None:
    model, s = case
    half = reference(kt.integrate, model, s.q, 0.5 * s.v)
    whole = reference(kt.integrate, model, s.q, s.v)
    close(placements(model, reference(kt.integrate, model, half, 0.5 * s.v)), placements(model, whole), scale=100.0)


@law()
@given(moving_trees())
def test_integrate_starts_in_the_direction_of_the_velocity(case: tuple[kt.Model, State]) -> None:
    """Its slope at zero is dq/dt, by symmetric differences.

    With h = 1e-5 the error is h² v³ / 6, below 1e-8 for the speeds drawn, and rounding: 1e-16 of q over h.
    """
    model, s = case
    h = 1e-5
    ahead, behind = (reference(kt.integrate, model, s.q, sign * h * s.v) for sign in (1.0, -1.0))
    rounding = 1e-15 * float(np.abs(s.q).max(initial=1.0)) / h
    np.testing.assert_allclose(
        (ahead - behind) / (2.0 * h), coordinate_rates(model, s.q, s.v), rtol=0.0, atol=1e-7 + rounding
    )


@law()
@given(moving_trees())
def test_standing_still_goes_nowhere(case: tuple[kt.Model, State]) -> None:
    model, s = case
    close(
        reference(kt.integrate, model, s.q, np.zeros(model.nv)), s.q, tolerance=roundings(7)
    )  # normalised: 2 that it was off, and 5
    close(reference(kt.difference, model, s.q, s.q), np.zeros(model.nv), tolerance=1e-14)


@law()
@given(moving_trees())
def test_the_model_steps_as_the_functions_do(case: tuple[kt.Model, State]) -> None:
    """`robot.integrate` and `robot.difference` on a batch, `kt.integrate` and `kt.difference` one by one."""
    model, s = case
    v = within_half_a_turn(model, s.v)
    batch = np.stack([v, -v, 0.0 * v])
    q = model.integrate(s.q, batch)
    for row, step in zip(q, batch, strict=True):
        close(row, reference(kt.integrate, model, s.q, step))
    for row, step in zip(model.difference(s.q, q), batch, strict=True):
        close(row, step, scale=float(np.abs(s.q).max()))


@law()
@given(moving_trees(floating=True), st.sampled_from([-1.0, 0.5, 3.0]))
def test_the_length_of_a_quaternion_does_not_matter(case: tuple[kt.Model, State], factor: float) -> None:
    """Nor its sign."""
    model, s = case
    q = s.q.copy()
    for part in model.quaternions.values():
        q[part] *= factor
    close(placements(model, q), placements(model, s.q), scale=10.0)
    close(reference(kt.rnea, model, q, s.v, s.qdd), reference(kt.rnea, model, s.q, s.v, s.qdd))
    moved = reference(kt.integrate, model, q, s.v)
    close(placements(model, moved), placements(model, reference(kt.integrate, model, s.q, s.v)), scale=10.0)
    for part in model.quaternions.values():
        close(np.linalg.norm(moved[part]), 1.0, tolerance=roundings(5 + 3))  # normalised, and the norm here


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [0.0, 1e-30, 1e-19, 1e-10])
def test_a_free_joint_can_stay_where_it_is(dtype: type[np.floating[Any]], length: float) -> None:
    robot = kt.zoo.load("quadruped")
    q, v = robot.neutral().astype(dtype), np.full(robot.nv, length, dtype=dtype)
    moved = kt.integrate(robot, q, v)
    np.testing.assert_allclose(moved, robot.integrate(q, v), rtol=1e-6)
    np.testing.assert_allclose(kt.difference(robot, q, moved), v, rtol=1e-6)
