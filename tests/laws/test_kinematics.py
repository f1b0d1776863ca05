"""Placements, twists, Jacobians and accelerations are each other's derivatives, in all three expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import BOTH, close, coordinate_rates, directional, reference
from tests.strategies import State, law, moving_trees

Array = NDArray[np.float64]
Call = Callable[..., Any]

EXPRESSIONS = ("local", "world", "local_world_aligned")
IN_ALL_THREE = pytest.mark.parametrize("expressed_in", EXPRESSIONS)


def placement(model: kt.Model, q: Array) -> Array:
    return reference(kt.frame_placement, model, q, frame="tool")


def twist_from(T: Array, T_dot: Array, expressed_in: str) -> Array:
    """[v; ω] from a homogeneous matrix and its rate."""
    R, p, R_dot, p_dot = T[:3, :3], T[:3, 3], T_dot[:3, :3], T_dot[:3, 3]
    W = R_dot @ R.T
    w = 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
    if expressed_in == "local":
        return np.concatenate([R.T @ p_dot, R.T @ w])
    if expressed_in == "world":  # the body's point at the world's origin
        return np.concatenate([p_dot - np.cross(w, p), w])
    return np.concatenate([p_dot, w])


def along(model: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """q and where it goes."""
    return q, coordinate_rates(model, q, v)


def size_of(s: State) -> float:
    """Reach times speed, and speed twice: what an acceleration is made of."""
    speed = 1.0 + float(np.abs(s.v).sum())
    return 10.0 * speed * speed


@BOTH
@IN_ALL_THREE
@law(10)
@given(moving_trees())
def test_the_jacobian_times_the_velocity_is_the_twist(
    call: Call, expressed_in: str, case: tuple[kt.Model, State]
) -> None:
    model, s = case
    J = call(kt.frame_jacobian, model, s.q, frame="tool", expressed_in=expressed_in)
    twist = call(kt.kinematics.frame_velocity, model, s.q, s.v, frame="tool", expressed_in=expressed_in)
    close(twist, J @ s.v, scale=size_of(s))


@IN_ALL_THREE
@law()
@given(moving_trees())
def test_the_twist_is_the_rate_of_the_placement(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    model, s = case
    T_dot = directional(lambda q: placement(model, q), along(model, s.q, s.v))
    twist = reference(kt.kinematics.frame_velocity, model, s.q, s.v, frame="tool", expressed_in=expressed_in)
    close(twist, twist_from(placement(model, s.q), T_dot, expressed_in), scale=size_of(s))


@IN_ALL_THREE
@law()
@given(moving_trees())
def test_a_column_of_the_jacobian_is_the_twist_of_one_rate(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    model, s = case
    J = reference(kt.frame_jacobian, model, s.q, frame="tool", expressed_in=expressed_in)
    columns = [
        twist_from(
            placement(model, s.q), directional(lambda q: placement(model, q), along(model, s.q, e)), expressed_in
        )
        for e in np.eye(model.nv)
    ]
    close(J, np.array(columns).T, scale=10.0)


@pytest.mark.parametrize("expressed_in", ["local", "world"])
@law()
@given(moving_trees())
def test_spatial_acceleration_is_the_rate_of_the_twist(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    """In local coordinates too, component by component: v x v = 0."""
    model, s = case
    options = {"frame": "tool", "expressed_in": expressed_in}
    rate = directional(
        lambda q, v: reference(kt.kinematics.frame_velocity, model, q, v, **options),
        along(model, s.q, s.v),
        (s.v, s.qdd),
    )
    close(
        reference(kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, kind="spatial", **options),
        rate,
        scale=size_of(s),
    )


@IN_ALL_THREE
@law()
@given(moving_trees())
def test_spatial_acceleration_is_jacobian_times_qdd_plus_jdot_times_v(
    expressed_in: str, case: tuple[kt.Model, State]
) -> None:
    """J and its rate in local coordinates, or in the world's; aligned ones are the local ones turned."""
    model, s = case
    base = "world" if expressed_in == "world" else "local"

    def jacobian(q: Array) -> Array:
        return reference(kt.frame_jacobian, model, q, frame="tool", expressed_in=base)

    expected = jacobian(s.q) @ s.qdd + directional(jacobian, along(model, s.q, s.v)) @ s.v
    if expressed_in == "local_world_aligned":
        R = placement(model, s.q)[:3, :3]
        expected = np.concatenate([R @ expected[:3], R @ expected[3:]])
    actual = reference(
        kt.kinematics.frame_acceleration,
        model,
        s.q,
        s.v,
        s.qdd,
        frame="tool",
        expressed_in=expressed_in,
        kind="spatial",
    )
    close(actual, expected, scale=size_of(s))


@law()
@given(moving_trees())
def test_classical_acceleration_is_the_second_derivative_of_the_origin(case: tuple[kt.Model, State]) -> None:
    """Position to velocity, velocity to acceleration, in the world's axes; then turned into the frame's."""
    model, s = case

    def velocity(q: Array, v: Array) -> Array:
        return reference(kt.kinematics.frame_velocity, model, q, v, frame="tool", expressed_in="local_world_aligned")

    position_rate = directional(lambda q: placement(model, q)[:3, 3], along(model, s.q, s.v))
    close(velocity(s.q, s.v)[:3], position_rate, scale=size_of(s))
    expected = directional(velocity, along(model, s.q, s.v), (s.v, s.qdd))
    aligned, local = (
        reference(
            kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, frame="tool", expressed_in=e, kind="classical"
        )
        for e in ("local_world_aligned", "local")
    )
    close(aligned, expected, scale=size_of(s))
    R = placement(model, s.q)[:3, :3]
    close(local, np.concatenate([R.T @ expected[:3], R.T @ expected[3:]]), scale=size_of(s))


@law()
@given(moving_trees())
def test_classical_acceleration_in_world_is_that_of_the_bodys_point_at_the_worlds_origin(
    case: tuple[kt.Model, State],
) -> None:
    """It differs from the frame origin's by α x r + ω x (ω x r), r leading from there to the world's origin."""
    model, s = case
    world, aligned = (
        reference(
            kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, frame="tool", expressed_in=e, kind="classical"
        )
        for e in ("world", "local_world_aligned")
    )
    w = reference(kt.kinematics.frame_velocity, model, s.q, s.v, frame="tool", expressed_in="world")[3:]
    r = -placement(model, s.q)[:3, 3]
    alpha = aligned[3:]
    close(world[3:], alpha, scale=size_of(s))
    expected = aligned[:3] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    close(world[:3], expected, scale=10.0 * size_of(s))


@law()
@given(moving_trees())
def test_functions_of_all_bodies_are_those_of_each_body(case: tuple[kt.Model, State]) -> None:
    model, s = case
    all_placements = reference(kt.forward_kinematics, model, s.q)
    for k, name in enumerate(model.bodies):
        close(all_placements[k], reference(kt.frame_placement, model, s.q, frame=name))
    for expressed_in in EXPRESSIONS:
        velocities = reference(kt.kinematics.body_velocities, model, s.q, s.v, expressed_in=expressed_in)
        for k, name in enumerate(model.bodies):
            options = {"frame": name, "expressed_in": expressed_in}
            close(velocities[k], reference(kt.kinematics.frame_velocity, model, s.q, s.v, **options), scale=size_of(s))
        for kind in ("spatial", "classical"):
            accelerations = reference(
                kt.kinematics.body_accelerations, model, s.q, s.v, s.qdd, expressed_in=expressed_in, kind=kind
            )
            for k, name in enumerate(model.bodies):
                options = {"frame": name, "expressed_in": expressed_in, "kind": kind}
                one = reference(kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, **options)
                close(accelerations[k], one, scale=size_of(s))


@law()
@given(moving_trees(floating=False))
def test_what_is_fixed_to_the_root_stands_still(case: tuple[kt.Model, State]) -> None:
    model, s = case
    for name, body in model.bodies.items():
        if body.slot == 0:
            options = {"frame": name, "expressed_in": "world"}
            assert not reference(kt.kinematics.frame_velocity, model, s.q, s.v, **options).any()
            assert not reference(
                kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, kind="spatial", **options
            ).any()
            assert not reference(kt.frame_jacobian, model, s.q, **options).any()
