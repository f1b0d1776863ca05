"""Jacobians, their rates and Hessians are derivatives, exact ones, of what they are said to be derivatives of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import BOTH, close, coordinate_rates, directional, reference
from tests.laws.test_kinematics import size_of, twist_from
from tests.laws.test_rolled import interpreted, program_of
from tests.laws.test_sharing import Case, cases
from tests.robots import every_joint
from tests.strategies import State, law, moving_trees, numbers

Array = NDArray[np.float64]
Call = Callable[..., Any]

EXPRESSIONS = ("local", "world", "local_world_aligned")
IN_ALL_THREE = pytest.mark.parametrize("expressed_in", EXPRESSIONS)
POINTS = st.lists(numbers(2.0), min_size=3, max_size=3).map(np.array)


def along(model: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """q and where it goes."""
    return q, coordinate_rates(model, q, v)


def jacobian(model: kt.Model, q: Array, expressed_in: str) -> Array:
    return reference(kt.frame_jacobian, model, q, frame="tool", expressed_in=expressed_in)


def rotation(model: kt.Model, q: Array) -> Array:
    return reference(kt.frame_placement, model, q, frame="tool")[:3, :3]


# -- frames


@IN_ALL_THREE
@law(15)
@given(moving_trees())
def test_jdot_is_the_rate_of_the_jacobian(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    model, s = case
    expected = directional(lambda q: jacobian(model, q, expressed_in), along(model, s.q, s.v))
    options = {"frame": "tool", "expressed_in": expressed_in}
    close(reference(kt.kinematics.frame_jacobian_rate, model, s.q, s.v, **options), expected, scale=size_of(s))


@law(15)
@given(moving_trees())
def test_jdot_of_motions_in_the_frame_s_axes_is_that_of_the_coordinates_and_v_cross_j(
    case: tuple[kt.Model, State],
) -> None:
    """The former is Jdot in the world, transformed; DART calls it `getJacobianSpatialDeriv`."""
    model, s = case
    T = reference(kt.frame_placement, model, s.q, frame="tool")
    linear, angular = np.split(
        reference(kt.kinematics.frame_jacobian_rate, model, s.q, s.v, frame="tool", expressed_in="world"), 2
    )
    of_motions = [T[:3, :3].T @ (linear + np.cross(angular.T, T[:3, 3]).T), T[:3, :3].T @ angular]
    local = reference(kt.kinematics.frame_jacobian_rate, model, s.q, s.v, frame="tool", expressed_in="local")
    v, w = np.split(reference(kt.kinematics.frame_velocity, model, s.q, s.v, frame="tool", expressed_in="local"), 2)
    J_v, J_w = np.split(jacobian(model, s.q, "local"), 2)
    cross = [np.cross(w, J_v.T).T + np.cross(v, J_w.T).T, np.cross(w, J_w.T).T]
    close(np.concatenate(of_motions), local + np.concatenate(cross), scale=size_of(s))


@BOTH
@law(3)
@given(moving_trees())
def test_jdot_v_agrees_with_the_spatial_acceleration_or_with_the_classical_one_where_the_origin_moves_along(
    call: Call, case: tuple[kt.Model, State]
) -> None:
    model, s = case
    for expressed_in, kind in (("local", "spatial"), ("world", "spatial"), ("local_world_aligned", "classical")):
        options = {"frame": "tool", "expressed_in": expressed_in}
        J_dot = call(kt.kinematics.frame_jacobian_rate, model, s.q, s.v, **options)
        bias = call(kt.kinematics.frame_bias_acceleration, model, s.q, s.v, kind=kind, **options)
        close(J_dot @ s.v, bias, scale=size_of(s))
        J = call(kt.frame_jacobian, model, s.q, **options)
        a = call(kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, kind=kind, **options)
        close(J @ s.qdd + bias, a, scale=size_of(s))


@IN_ALL_THREE
@pytest.mark.parametrize("kind", ["spatial", "classical"])
@law(10)
@given(moving_trees())
def test_the_bias_acceleration_is_what_no_joint_acceleration_leaves(
    kind: str, expressed_in: str, case: tuple[kt.Model, State]
) -> None:
    model, s = case
    options = {"frame": "tool", "expressed_in": expressed_in, "kind": kind}
    a = reference(kt.kinematics.frame_acceleration, model, s.q, s.v, np.zeros(model.nv), **options)
    close(reference(kt.kinematics.frame_bias_acceleration, model, s.q, s.v, **options), a, scale=size_of(s))


@IN_ALL_THREE
@law(10)
@given(moving_trees())
def test_a_part_of_a_jacobian_is_rows_of_the_whole(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    model, s = case
    options = {"frame": "tool", "expressed_in": expressed_in}
    for function, arguments in (
        (kt.frame_jacobian, (s.q,)),
        (kt.kinematics.frame_jacobian_rate, (s.q, s.v)),
        (kt.kinematics.relative_jacobian, (s.q,)),
    ):
        whole = reference(function, model, *arguments, part="full", **options)
        assert (reference(function, model, *arguments, part="linear", **options) == whole[:3]).all()
        assert (reference(function, model, *arguments, part="angular", **options) == whole[3:]).all()


@IN_ALL_THREE
@law(15)
@given(moving_trees(max_joints=5))
def test_the_hessian_is_the_derivative_of_the_jacobian_by_displacements(
    expressed_in: str, case: tuple[kt.Model, State]
) -> None:
    model, s = case
    H = reference(kt.kinematics.kinematic_hessian, model, s.q, frame="tool", expressed_in=expressed_in)
    slices = [
        directional(lambda q: jacobian(model, q, expressed_in), along(model, s.q, unit)) for unit in np.eye(model.nv)
    ]
    close(H, np.stack(slices, axis=-1), scale=10.0)


@BOTH
@law(3)
@given(moving_trees(max_joints=5))
def test_the_hessian_times_the_velocity_is_jdot(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    for expressed_in in EXPRESSIONS:
        options = {"frame": "tool", "expressed_in": expressed_in}
        H = call(kt.kinematics.kinematic_hessian, model, s.q, **options)
        close(H @ s.v, call(kt.kinematics.frame_jacobian_rate, model, s.q, s.v, **options), scale=size_of(s))


# -- points


@law(15)
@given(moving_trees(), POINTS)
def test_a_points_velocity_and_acceleration_are_the_derivatives_of_its_position(
    case: tuple[kt.Model, State], point: Array
) -> None:
    model, s = case

    def velocity(q: Array, v: Array, expressed_in: str = "world") -> Array:
        return reference(kt.kinematics.point_velocity, model, q, v, point, frame="tool", expressed_in=expressed_in)

    rate = directional(
        lambda q: reference(kt.kinematics.point_position, model, q, point, frame="tool"), along(model, s.q, s.v)
    )
    close(velocity(s.q, s.v), rate, scale=size_of(s))
    expected = directional(velocity, along(model, s.q, s.v), (s.v, s.qdd))
    a = {
        e: reference(kt.kinematics.point_acceleration, model, s.q, s.v, s.qdd, point, frame="tool", expressed_in=e)
        for e in EXPRESSIONS
    }
    close(a["world"], expected, scale=10.0 * size_of(s))
    R = rotation(model, s.q)
    close(a["local"], R.T @ expected, scale=10.0 * size_of(s))
    close(velocity(s.q, s.v, "local"), R.T @ rate, scale=size_of(s))
    assert (a["local_world_aligned"] == a["world"]).all()
    assert (velocity(s.q, s.v, "local_world_aligned") == velocity(s.q, s.v)).all()


@IN_ALL_THREE
@law(15)
@given(moving_trees(), POINTS)
def test_a_column_of_a_points_jacobian_is_its_velocity_at_unit_rate(
    expressed_in: str, case: tuple[kt.Model, State], point: Array
) -> None:
    model, s = case
    J = reference(kt.kinematics.point_jacobian, model, s.q, point, frame="tool", expressed_in=expressed_in)
    moved = [
        directional(
            lambda q: reference(kt.kinematics.point_position, model, q, point, frame="tool"), along(model, s.q, unit)
        )
        for unit in np.eye(model.nv)
    ]
    R = rotation(model, s.q).T if expressed_in == "local" else np.eye(3)
    close(J, R @ np.array(moved).T, scale=10.0)


@BOTH
@law(3)
@given(moving_trees())
def test_the_frames_origin_is_one_of_its_points(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    origin = np.zeros(3)
    position = call(kt.kinematics.point_position, model, s.q, origin, frame="tool")
    close(position, call(kt.frame_placement, model, s.q, frame="tool")[:3, 3], scale=10.0)
    for expressed_in in ("local", "local_world_aligned"):
        options = {"frame": "tool", "expressed_in": expressed_in}
        J = call(kt.frame_jacobian, model, s.q, **options)
        close(call(kt.kinematics.point_jacobian, model, s.q, origin, **options), J[:3], scale=10.0)
        twist = call(kt.kinematics.frame_velocity, model, s.q, s.v, **options)
        close(call(kt.kinematics.point_velocity, model, s.q, s.v, origin, **options), twist[:3], scale=size_of(s))
        a = call(kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, kind="classical", **options)
        close(
            call(kt.kinematics.point_acceleration, model, s.q, s.v, s.qdd, origin, **options), a[:3], scale=size_of(s)
        )


# -- the centre of mass


@law(15)
@given(moving_trees())
def test_the_centre_of_mass_moves_as_its_derivatives_say(case: tuple[kt.Model, State]) -> None:
    model, s = case

    def position(q: Array) -> Array:
        return reference(kt.center_of_mass, model, q)

    velocity = reference(kt.kinematics.center_of_mass_velocity, model, s.q, s.v)
    close(velocity, directional(position, along(model, s.q, s.v)), scale=size_of(s))
    acceleration = directional(
        lambda q, v: reference(kt.kinematics.center_of_mass_velocity, model, q, v), along(model, s.q, s.v), (s.v, s.qdd)
    )
    close(
        reference(kt.kinematics.center_of_mass_acceleration, model, s.q, s.v, s.qdd),
        acceleration,
        scale=10.0 * size_of(s),
    )
    J = reference(kt.kinematics.center_of_mass_jacobian, model, s.q)
    close(J, np.array([directional(position, along(model, s.q, e)) for e in np.eye(model.nv)]).T, scale=10.0)


@BOTH
@law(3)
@given(moving_trees())
def test_the_centre_of_mass_is_the_mean_of_those_of_the_bodies(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    J, v, a = np.zeros((3, model.nv)), np.zeros(3), np.zeros(3)
    for name, body in model.bodies.items():
        mass = body.inertia.mass
        if mass == 0.0:
            continue
        center, options = np.array(body.inertia.h.components()) / mass, {"frame": name, "expressed_in": "world"}
        J += mass / model.mass * reference(kt.kinematics.point_jacobian, model, s.q, center, **options)
        v += mass / model.mass * reference(kt.kinematics.point_velocity, model, s.q, s.v, center, **options)
        a += mass / model.mass * reference(kt.kinematics.point_acceleration, model, s.q, s.v, s.qdd, center, **options)
    close(call(kt.kinematics.center_of_mass_jacobian, model, s.q), J, scale=10.0)
    close(call(kt.kinematics.center_of_mass_velocity, model, s.q, s.v), v, scale=size_of(s))
    close(call(kt.kinematics.center_of_mass_acceleration, model, s.q, s.v, s.qdd), a, scale=10.0 * size_of(s))


# -- two frames


@st.composite
def pairs(draw: st.DrawFn) -> tuple[kt.Model, State, dict[str, str]]:
    """A robot, a state, and two of its frames, which may be one."""
    model, s = draw(moving_trees())
    names = st.sampled_from(list(model.frames))
    return model, s, {"frame": draw(names), "relative_to": draw(names)}


@IN_ALL_THREE
@law(15)
@given(pairs())
def test_the_relative_twist_is_the_rate_of_the_relative_placement(
    expressed_in: str, case: tuple[kt.Model, State, dict[str, str]]
) -> None:
    model, s, frames = case

    def placement(q: Array) -> Array:
        return reference(kt.kinematics.relative_placement, model, q, **frames)

    T = placement(s.q)
    seer, frame = (reference(kt.frame_placement, model, s.q, frame=frames[k]) for k in ("relative_to", "frame"))
    close(T, np.linalg.inv(seer) @ frame, scale=20.0)
    expected = twist_from(T, directional(placement, along(model, s.q, s.v)), expressed_in)
    twist = reference(kt.kinematics.relative_velocity, model, s.q, s.v, expressed_in=expressed_in, **frames)
    close(twist, expected, scale=2.0 * size_of(s))
    J = reference(kt.kinematics.relative_jacobian, model, s.q, expressed_in=expressed_in, **frames)
    close(J @ s.v, twist, scale=2.0 * size_of(s))


@pytest.mark.parametrize(
    ("expressed_in", "kind"), [("local", "spatial"), ("world", "spatial"), ("local_world_aligned", "classical")]
)
@law(15)
@given(pairs())
def test_the_relative_acceleration_is_the_rate_of_the_relative_twist(
    expressed_in: str, kind: str, case: tuple[kt.Model, State, dict[str, str]]
) -> None:
    model, s, frames = case
    options = {**frames, "expressed_in": expressed_in}

    def twist(q: Array, v: Array) -> Array:
        return reference(kt.kinematics.relative_velocity, model, q, v, **options)

    expected = directional(twist, along(model, s.q, s.v), (s.v, s.qdd))
    a = reference(kt.kinematics.relative_acceleration, model, s.q, s.v, s.qdd, kind=kind, **options)
    close(a, expected, scale=4.0 * size_of(s))


@law(15)
@given(pairs())
def test_relative_accelerations_in_all_axes_and_of_both_kinds_are_one(
    case: tuple[kt.Model, State, dict[str, str]],
) -> None:
    model, s, frames = case
    a, twist = {}, {}
    for expressed_in in EXPRESSIONS:
        options = {**frames, "expressed_in": expressed_in}
        twist[expressed_in] = reference(kt.kinematics.relative_velocity, model, s.q, s.v, **options)
        for kind in ("spatial", "classical"):
            a[expressed_in, kind] = reference(
                kt.kinematics.relative_acceleration, model, s.q, s.v, s.qdd, kind=kind, **options
            )
        u, w = twist[expressed_in][:3], twist[expressed_in][3:]
        difference = a[expressed_in, "classical"] - a[expressed_in, "spatial"]
        close(difference, np.r_[np.cross(w, u), np.zeros(3)], scale=4.0 * size_of(s))
    R = reference(kt.kinematics.relative_placement, model, s.q, **frames)[:3, :3]
    for kind in ("spatial", "classical"):
        local, aligned = a["local", kind], a["local_world_aligned", kind]
        close(np.r_[R @ local[:3], R @ local[3:]], aligned, scale=4.0 * size_of(s))


@IN_ALL_THREE
@law(15)
@given(pairs())
def test_a_relative_twist_is_the_difference_of_two(
    expressed_in: str, case: tuple[kt.Model, State, dict[str, str]]
) -> None:
    """Of those in the world's coordinates, brought into the frame's or the seeing frame's."""
    model, s, frames = case
    J = {
        k: reference(kt.frame_jacobian, model, s.q, frame=frames[k], expressed_in="world")
        for k in ("frame", "relative_to")
    }
    axes = reference(
        kt.frame_placement, model, s.q, frame=frames["frame" if expressed_in == "local" else "relative_to"]
    )
    origin = axes if expressed_in == "world" else reference(kt.frame_placement, model, s.q, frame=frames["frame"])
    R, p = axes[:3, :3], origin[:3, 3]
    expected = J["frame"] - J["relative_to"]
    linear = expected[:3] + np.cross(expected[3:].T, p).T
    relative = reference(kt.kinematics.relative_jacobian, model, s.q, expressed_in=expressed_in, **frames)
    close(relative, np.concatenate([R.T @ linear, R.T @ expected[3:]]), scale=50.0)


@law(15)
@given(pairs())
def test_joints_that_move_both_frames_or_neither_count_for_nothing(
    case: tuple[kt.Model, State, dict[str, str]],
) -> None:
    """Not even in the last bit."""
    model, s, frames = case
    supports = [set(model.tree.supports(model.frames[name].slot)) for name in frames.values()]
    between = supports[0] ^ supports[1]
    idle = [joint for joint in model.joints.values() if joint.slot not in between]
    q, v, qdd = s.q.copy(), s.v.copy(), s.qdd.copy()
    for joint in idle:
        q[joint.q_slice] += 0.5
        v[joint.v_slice] += 1.0
        qdd[joint.v_slice] += 1.0
    options = {**frames, "expressed_in": "local_world_aligned"}
    J = reference(kt.kinematics.relative_jacobian, model, s.q, **options)
    for joint in idle:
        assert not J[:, joint.v_slice].any()
    assert (reference(kt.kinematics.relative_jacobian, model, q, **options) == J).all()
    for function, here, there in (
        (kt.kinematics.relative_placement, (s.q,), (q,)),
        (kt.kinematics.relative_velocity, (s.q, s.v), (q, v)),
        (kt.kinematics.relative_acceleration, (s.q, s.v, s.qdd), (q, v, qdd)),
    ):
        given_options = frames if function is kt.kinematics.relative_placement else options
        if function is kt.kinematics.relative_acceleration:
            given_options = {**options, "kind": "spatial"}
        expected = reference(function, model, *here, **given_options)
        assert (reference(function, model, *there, **given_options) == expected).all()


@BOTH
@law(3)
@given(moving_trees(floating=False))
def test_seen_from_a_fixed_root_everything_moves_as_in_the_world(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    close(
        call(kt.kinematics.relative_placement, model, s.q, frame="tool"),
        call(kt.frame_placement, model, s.q, frame="tool"),
        scale=10.0,
    )
    for expressed_in in EXPRESSIONS:
        options = {"frame": "tool", "expressed_in": expressed_in}
        close(
            call(kt.kinematics.relative_jacobian, model, s.q, **options),
            call(kt.frame_jacobian, model, s.q, **options),
            scale=10.0,
        )
        twist = call(kt.kinematics.frame_velocity, model, s.q, s.v, **options)
        close(call(kt.kinematics.relative_velocity, model, s.q, s.v, **options), twist, scale=size_of(s))
        for kind in ("spatial", "classical"):
            a = call(kt.kinematics.frame_acceleration, model, s.q, s.v, s.qdd, kind=kind, **options)
            seen = call(kt.kinematics.relative_acceleration, model, s.q, s.v, s.qdd, kind=kind, **options)
            close(seen, a, scale=size_of(s))


# -- joints that share coordinates, and loops over bodies


@law(20)
@given(case=cases())
def test_shared_coordinates_project_the_columns_of_the_moving_joints(case: tuple[Case, State]) -> None:
    c, s = case
    q, v, G = c.G_q @ s.q + c.b, c.G @ s.v, c.G
    for expressed_in in EXPRESSIONS:
        options = {"frame": "tool", "expressed_in": expressed_in}
        J_dot = reference(kt.kinematics.frame_jacobian_rate, c.free, q, v, **options)
        close(reference(kt.kinematics.frame_jacobian_rate, c.robot, s.q, s.v, **options), J_dot @ G, scale=size_of(s))
        H = reference(kt.kinematics.kinematic_hessian, c.free, q, **options)
        expected = np.einsum("rjk,ja,kb->rab", H, G, G)
        close(reference(kt.kinematics.kinematic_hessian, c.robot, s.q, **options), expected, scale=50.0)
        J = reference(kt.kinematics.relative_jacobian, c.free, q, relative_to="body1", **options)
        close(
            reference(kt.kinematics.relative_jacobian, c.robot, s.q, relative_to="body1", **options), J @ G, scale=20.0
        )
    point, options = np.array([0.3, -0.2, 0.5]), {"frame": "tool", "expressed_in": "world"}
    J = reference(kt.kinematics.point_jacobian, c.free, q, point, **options)
    close(reference(kt.kinematics.point_jacobian, c.robot, s.q, point, **options), J @ G, scale=20.0)
    J = reference(kt.kinematics.center_of_mass_jacobian, c.free, q)
    close(reference(kt.kinematics.center_of_mass_jacobian, c.robot, s.q), J @ G, scale=20.0)


EVERY_JOINT = every_joint()
WAYS = (("tool", "right body"), ("follower body", "ellipsoid body"), ("composite body", "reversed body"))
FUNCTIONS: dict[str, tuple[Call, tuple[str, ...]]] = {
    "frame_jacobian": (kt.frame_jacobian, ("q",)),
    "frame_jacobian_rate": (kt.kinematics.frame_jacobian_rate, ("q", "v")),
    "frame_bias_acceleration": (kt.kinematics.frame_bias_acceleration, ("q", "v")),
    "point_position": (kt.kinematics.point_position, ("q", "point")),
    "point_velocity": (kt.kinematics.point_velocity, ("q", "v", "point")),
    "point_acceleration": (kt.kinematics.point_acceleration, ("q", "v", "qdd", "point")),
    "point_jacobian": (kt.kinematics.point_jacobian, ("q", "point")),
    "center_of_mass_velocity": (kt.kinematics.center_of_mass_velocity, ("q", "v")),
    "center_of_mass_acceleration": (kt.kinematics.center_of_mass_acceleration, ("q", "v", "qdd")),
    "center_of_mass_jacobian": (kt.kinematics.center_of_mass_jacobian, ("q",)),
    "kinematic_hessian": (kt.kinematics.kinematic_hessian, ("q",)),
    "relative_placement": (kt.kinematics.relative_placement, ("q",)),
    "relative_velocity": (kt.kinematics.relative_velocity, ("q", "v")),
    "relative_acceleration": (kt.kinematics.relative_acceleration, ("q", "v", "qdd")),
    "relative_jacobian": (kt.kinematics.relative_jacobian, ("q",)),
}


@IN_ALL_THREE
@pytest.mark.parametrize("name", [*FUNCTIONS])
def test_every_kind_of_joint_in_programs_as_on_floats(name: str, expressed_in: str) -> None:
    """Written out and with loops over bodies."""
    function, arguments = FUNCTIONS[name]
    definition = function.definition  # type: ignore[attr-defined]
    if "expressed_in" not in definition.options and expressed_in != "world":
        return
    rng = np.random.default_rng(3)
    values = {"q": EVERY_JOINT.random(rng), "point": rng.normal(size=3)}
    values |= dict(zip(("v", "qdd"), rng.normal(size=(2, EVERY_JOINT.nv)), strict=True))
    x = [values[name] for name in arguments]
    frame, seer = dict(zip(EXPRESSIONS, WAYS, strict=True))[expressed_in]
    given_options = {"frame": frame, "relative_to": seer, "expressed_in": expressed_in, "kind": "classical"}
    options = {name: given_options[name] for name in definition.options if name in given_options}
    expected = reference(function, EVERY_JOINT, *x, **options)
    for unroll in (True, False):
        program = program_of(function, EVERY_JOINT, unroll=unroll, **options)
        close(interpreted(program, x), expected, scale=float(np.abs(expected).max(initial=1.0)))
