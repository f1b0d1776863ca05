"""Functions of several frames at once give what those of one frame or point give for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.kernels import compiled_late
from tests.laws.reference import close, coordinate_rates, directional, reference
from tests.laws.test_kinematics import EXPRESSIONS, IN_ALL_THREE, size_of
from tests.laws.test_rolled import interpreted, program_of
from tests.laws.test_sharing import Case
from tests.laws.test_sharing import cases as sharing_cases
from tests.robots import GROUPS, every_joint, group_of_joints
from tests.strategies import State, law, moving_trees

Array = NDArray[np.float64]
KINDS = ("spatial", "classical")
FUNCTIONS = {
    kt.forward_kinematics: ("q",),
    kt.kinematics.body_velocities: ("q", "v"),
    kt.kinematics.body_accelerations: ("q", "v", "qdd"),
    kt.kinematics.body_motions: ("q", "v", "qdd"),
    kt.kinematics.body_jacobians: ("q",),
}
WHOLE = (kt.kinematics.body_motions, kt.kinematics.body_jacobians)
"""Those whose results contain the others'."""


def heavy(robot: kt.Model) -> list[str]:
    return [name for name, body in robot.bodies.items() if body.inertia.mass]


def center(robot: kt.Model, name: str) -> Array:
    inertia = robot.bodies[name].inertia
    return np.array(inertia.h.components()) / inertia.mass


def chosen(robot: kt.Model) -> st.SearchStrategy[list[str] | None]:
    """Bodies and frames in any order, some perhaps twice; or all bodies."""
    return st.none() | st.lists(st.sampled_from(list(robot.frames)), min_size=1, max_size=4)


@IN_ALL_THREE
@law(8)
@given(data=st.data())
def test_a_row_is_what_is_said_of_one_frame(expressed_in: str, data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    frames, kind = data.draw(chosen(robot)), data.draw(st.sampled_from(KINDS))
    part = data.draw(st.sampled_from(["full", "linear", "angular"]))
    options: dict[str, Any] = {"frames": frames, "expressed_in": expressed_in}
    scale = size_of(s)
    T = reference(kt.forward_kinematics, robot, s.q, frames=frames)
    v = reference(kt.kinematics.body_velocities, robot, s.q, s.v, **options)
    a = reference(kt.kinematics.body_accelerations, robot, s.q, s.v, s.qdd, kind=kind, **options)
    J = reference(kt.kinematics.body_jacobians, robot, s.q, part=part, **options)
    for k, name in enumerate(robot.bodies if frames is None else frames):
        of_one = {"frame": name, "expressed_in": expressed_in}
        close(T[k], reference(kt.frame_placement, robot, s.q, frame=name), scale)
        close(v[k], reference(kt.kinematics.frame_velocity, robot, s.q, s.v, **of_one), scale)
        close(a[k], reference(kt.kinematics.frame_acceleration, robot, s.q, s.v, s.qdd, kind=kind, **of_one), scale)
        close(J[k], reference(kt.frame_jacobian, robot, s.q, part=part, **of_one), scale)
    rows = reference(kt.kinematics.body_motions, robot, s.q, s.v, s.qdd, kind=kind, **options)
    close(rows, np.concatenate([T.reshape(len(T), 16), v, a], axis=1), scale)


@IN_ALL_THREE
@law(8)
@given(case=moving_trees(max_joints=5))
def test_about_a_center_of_mass_it_is_the_motion_of_that_point(expressed_in: str, case: tuple[kt.Model, State]) -> None:
    robot, s = case
    names, scale = heavy(robot), size_of(s)
    options: dict[str, Any] = {"frames": names, "about": "center_of_mass", "expressed_in": expressed_in}
    T = reference(kt.forward_kinematics, robot, s.q, frames=names, about="center_of_mass")
    v = reference(kt.kinematics.body_velocities, robot, s.q, s.v, **options)
    a = {
        kind: reference(kt.kinematics.body_accelerations, robot, s.q, s.v, s.qdd, kind=kind, **options)
        for kind in KINDS
    }
    J = reference(kt.kinematics.body_jacobians, robot, s.q, **options)
    close(np.einsum("kij,j->ki", J, s.v), v, scale)
    close(a["classical"][:, :3], a["spatial"][:, :3] + np.cross(v[:, 3:], v[:, :3]), scale)
    for k, name in enumerate(names):
        point, of_one = center(robot, name), {"frame": name, "expressed_in": expressed_in}
        at = reference(kt.frame_placement, robot, s.q, frame=name)
        close(T[k, :3, :3], at[:3, :3])
        close(T[k, :3, 3], reference(kt.kinematics.point_position, robot, s.q, point, frame=name), scale)
        turning = reference(kt.kinematics.frame_velocity, robot, s.q, s.v, **of_one)[3:]
        close(v[k, 3:], turning, scale)
        if expressed_in == "world":
            close(v[k], reference(kt.kinematics.frame_velocity, robot, s.q, s.v, **of_one), scale)
            continue
        close(v[k, :3], reference(kt.kinematics.point_velocity, robot, s.q, s.v, point, **of_one), scale)
        moving = reference(kt.kinematics.point_acceleration, robot, s.q, s.v, s.qdd, point, **of_one)
        close(a["classical"][k, :3], moving, scale)
        close(J[k, :3], reference(kt.kinematics.point_jacobian, robot, s.q, point, **of_one), scale)


@law(8)
@given(case=moving_trees(max_joints=5))
def test_weighted_by_mass_they_are_the_motion_of_the_center_of_mass(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    names, scale = heavy(robot), size_of(s)
    weights = np.array([robot.bodies[name].inertia.mass for name in names]) / robot.mass
    rows = reference(
        kt.kinematics.body_motions, robot, s.q, s.v, s.qdd,
        frames=names, about="center_of_mass", expressed_in="local_world_aligned", kind="classical",
    )  # fmt: skip
    J = reference(
        kt.kinematics.body_jacobians, robot, s.q,
        frames=names, about="center_of_mass", expressed_in="local_world_aligned", part="linear",
    )  # fmt: skip
    close(weights @ rows[:, 3:12:4], reference(kt.center_of_mass, robot, s.q), scale)
    close(weights @ rows[:, 16:19], reference(kt.kinematics.center_of_mass_velocity, robot, s.q, s.v), scale)
    close(weights @ rows[:, 22:25], reference(kt.kinematics.center_of_mass_acceleration, robot, s.q, s.v, s.qdd), scale)
    close(np.einsum("k,kij->ij", weights, J), reference(kt.kinematics.center_of_mass_jacobian, robot, s.q), scale)


@IN_ALL_THREE
@law(8)
@given(case=moving_trees(max_joints=5))
def test_the_rate_of_the_jacobians_is_the_rest_of_the_accelerations(
    expressed_in: str, case: tuple[kt.Model, State]
) -> None:
    """The spatial ones; where the origin moves along, the classical ones."""
    robot, s = case
    options: dict[str, Any] = {"frames": heavy(robot), "about": "center_of_mass", "expressed_in": expressed_in}

    def jacobians(q: Array) -> Array:
        return reference(kt.kinematics.body_jacobians, robot, q, **options)

    J_dot = directional(jacobians, (s.q, coordinate_rates(robot, s.q, s.v)))
    kind = "classical" if expressed_in == "local_world_aligned" else "spatial"
    expected = reference(kt.kinematics.body_accelerations, robot, s.q, s.v, s.qdd, kind=kind, **options)
    close(jacobians(s.q) @ s.qdd + J_dot @ s.v, expected, size_of(s))


# -- kernels


def check_kernels(robot: kt.Model, s: State, function: Any, **options: Any) -> None:
    """In loops they are what they are on floats."""
    options = {name: x for name, x in options.items() if name in function.definition.options}
    arrays = [getattr(s, name) for name in FUNCTIONS[function]]
    expected = reference(function, robot, *arrays, **options)
    close(interpreted(program_of(function, robot, **options), arrays), expected, size_of(s))


@law(6)
@given(data=st.data())
def test_loops_over_bodies_are_the_same(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    options = {"expressed_in": data.draw(st.sampled_from(EXPRESSIONS)), "kind": data.draw(st.sampled_from(KINDS))}
    for function in FUNCTIONS:
        check_kernels(robot, s, function, frames=data.draw(chosen(robot)), **options)
    for function in WHOLE:
        check_kernels(robot, s, function, frames=heavy(robot), about="center_of_mass", **options)


@law(4)
@given(case=sharing_cases(), expressed_in=st.sampled_from(EXPRESSIONS), kind=st.sampled_from(KINDS))
def test_so_they_are_where_joints_share_coordinates(case: tuple[Case, State], expressed_in: str, kind: str) -> None:
    pair, s = case
    robot = pair.robot
    for function in WHOLE:
        check_kernels(robot, s, function, expressed_in=expressed_in, kind=kind, frames=list(robot.frames)[::-1])
    J = reference(kt.kinematics.body_jacobians, robot, s.q, expressed_in=expressed_in)
    close(J @ s.v, reference(kt.kinematics.body_velocities, robot, s.q, s.v, expressed_in=expressed_in), size_of(s))


@pytest.mark.parametrize("expressed_in", ["local", "local_world_aligned"])
def test_every_kind_of_joint(expressed_in: str) -> None:
    robot = every_joint()
    rng = np.random.default_rng(3)
    s = State(robot.random(rng), *rng.normal(size=(3, robot.nv)))
    options: dict[str, Any] = {"expressed_in": expressed_in, "kind": "classical"}
    for function in WHOLE:
        check_kernels(robot, s, function, frames=heavy(robot), about="center_of_mass", **options)


@pytest.mark.parametrize("group", GROUPS)
def test_compiled(group: str) -> None:
    """Named parts are views of one array, and samples are independent."""
    robot = group_of_joints(group)
    rng = np.random.default_rng(4)
    q, (v, qdd) = np.stack([robot.random(rng) for _ in range(3)]), rng.normal(size=(2, 3, robot.nv))
    names = [*heavy(robot)[::-1], heavy(robot)[0]]
    options: dict[str, Any] = {"frames": names, "about": "center_of_mass", "expressed_in": "local_world_aligned"}
    classical = {**options, "kind": "classical"}
    out = np.empty((3, len(names), 28))
    T, twists, a = kt.kinematics.body_motions(robot, q, v, qdd, out=out, **classical)
    assert all(np.shares_memory(part, out) for part in (T, twists, a))
    J = kt.kinematics.body_jacobians(robot, q, **options)
    assert J.shape == (3, len(names), 6, robot.nv)
    for k in range(3):
        close(T[k], reference(kt.forward_kinematics, robot, q[k], frames=names, about="center_of_mass"), 10.0)
        close(twists[k], reference(kt.kinematics.body_velocities, robot, q[k], v[k], **options), 10.0)
        close(a[k], reference(kt.kinematics.body_accelerations, robot, q[k], v[k], qdd[k], **classical), 100.0)
        close(J[k], reference(kt.kinematics.body_jacobians, robot, q[k], **options), 10.0)


def test_the_mass_matrix_is_the_sum_over_links() -> None:
    robot = kt.zoo.load("arm6")
    q = robot.random(0)
    names = heavy(robot)
    options: dict[str, Any] = {"frames": names, "about": "center_of_mass"}
    J = kt.kinematics.body_jacobians(robot, q, expressed_in="local", **options)
    M = np.zeros((robot.nv, robot.nv))
    for name, (J_v, J_w) in zip(names, J.reshape(len(names), 2, 3, robot.nv), strict=True):
        inertia, c = robot.bodies[name].inertia, center(robot, name)
        about_origin = np.array(inertia.I.full.components()).reshape(3, 3)
        I_c = about_origin - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        M += inertia.mass * J_v.T @ J_v + J_w.T @ I_c @ J_w
    armature = np.diag([x for joint in robot.joints.values() for x in joint.armature])
    close(M + armature, kt.crba(robot, q), 1.0)


@pytest.mark.parametrize("unroll", [True, False])
def test_the_center_of_mass_may_be_an_input(unroll: bool) -> None:
    robot = kt.zoo.load("arm6")
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    name = heavy(robot)[3]
    point = np.array([0.1, -0.2, 0.3])
    options: dict[str, Any] = {"frames": [heavy(robot)[1], name], "expressed_in": "local", "about": "center_of_mass"}
    inputs = [f"body.{name}.com", f"body.{name}.mass"]
    kernel = compiled_late(robot, kt.kinematics.body_velocities, parameters=inputs, unroll=unroll, **options)
    found = kernel(q, v, point, 2.5)
    close(found[0], reference(kt.kinematics.body_velocities, robot, q, v, **options)[0], 1.0)
    close(
        found[1, :3], reference(kt.kinematics.point_velocity, robot, q, v, point, frame=name, expressed_in="local"), 1.0
    )


def test_in_local_axes_jacobians_do_not_know_where_the_robot_is() -> None:
    robot = kt.zoo.load("quadruped")
    q = robot.random(0)
    far = q.copy()
    far[:3] = [1e9, -3e8, 2e7]
    far[3:7] = [0.5, 0.5, -0.5, 0.5]
    here, there = (kt.kinematics.body_jacobians(robot, at, expressed_in="local") for at in (q, far))
    assert here.tobytes() == there.tobytes()


@pytest.mark.parametrize("unroll", [None, False])
def test_bodies_without_mass_are_about_their_origins(unroll: bool | None) -> None:
    """So the mass matrix of any robot is Σ m J_vᵀ J_v + J_ωᵀ R I_c Rᵀ J_ω over all bodies."""
    robot = kt.zoo.load("arm7")
    massless = [k for k, body in enumerate(robot.bodies.values()) if not body.inertia.mass]
    assert massless
    q = robot.random(0)
    expressed: Any = {"expressed_in": "local"}
    whole = {
        about: kt.compile(robot, kt.kinematics.body_jacobians, about=about, unroll=unroll, **expressed)(q)
        for about in ("origin", "center_of_mass")
    }
    assert (whole["center_of_mass"][massless] == whole["origin"][massless]).all()
    M = np.zeros((robot.nv, robot.nv))
    for J, body in zip(whole["center_of_mass"], robot.bodies.values(), strict=True):
        m, I = body.inertia.mass, np.array(body.inertia.I.full.components()).reshape(3, 3)
        c = np.array(body.center_of_mass) if m else np.zeros(3)
        M += m * J[:3].T @ J[:3] + J[3:].T @ (I - m * (c @ c * np.eye(3) - np.outer(c, c))) @ J[3:]
    close(M, kt.crba(robot, q), 10.0)
    placed = kt.forward_kinematics(robot, q, about="center_of_mass")
    assert (placed[massless] == kt.forward_kinematics(robot, q)[massless]).all()


# -- errors


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_errors_say_what_to_do(function: Any) -> None:
    robot = kt.zoo.load("double_pendulum")
    arrays = [np.zeros(2)] * len(FUNCTIONS[function])
    options = {"expressed_in": "local"} if "expressed_in" in function.definition.options else {}
    with pytest.raises(kt.errors.OptionError, match=r"such as \['tip'\]"):
        function(robot, *arrays, frames="tip", **options)
    with pytest.raises(kt.errors.OptionError, match="frames is empty"):
        function(robot, *arrays, frames=[], **options)
    with pytest.raises(kt.errors.NameNotFoundError, match="upper_rod"):
        function(robot, *arrays, frames=["uper_rod"], **options)
    with pytest.raises(kt.errors.OptionError, match="'origin' or 'center_of_mass'"):
        function(robot, *arrays, about="com", **options)
    builder = kt.ModelBuilder.of(robot)
    builder.add_frame("grip", "lower_rod", kt.lie.placement([0.0, 0.0, -0.9]))
    with pytest.raises(kt.errors.OptionError, match=r"'grip' is a frame on body 'lower_rod'"):
        function(builder.build(), *arrays, frames=["grip"], about="center_of_mass", **options)
