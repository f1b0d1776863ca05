"""Body frames at centres of mass along principal axes: other frames, the same mechanics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import Placed
from kinetree.model import Geometry, Rotor
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.laws.reference import close, reference
from tests.strategies import State, law, moving_trees
from tests.unit.model.bodies import ball, shift

Array = NDArray[np.float64]


def matrix(inertia: Inertia) -> Array:
    return np.array(inertia.I.full.components(), dtype=np.float64).reshape(3, 3)


@given(moving_trees(max_joints=5))
@law(30)
def test_body_frames_move_and_nothing_else_does(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    moved = robot.in_principal_axes()
    assert (moved.q_names, moved.v_names) == (robot.q_names, robot.v_names)
    for inertia, before in zip(moved.tree.I[1:], robot.tree.I[1:], strict=True):
        size = float(np.abs(matrix(before)).max()) + float(before.mass)
        close(inertia.h.components(), np.zeros(3), scale=size, tolerance=1e-14)
        off_diagonal = matrix(inertia) - np.diag(np.diag(matrix(inertia)))
        close(off_diagonal, np.zeros((3, 3)), scale=size, tolerance=1e-14)
    for name, frame in robot.frames.items():
        kept = f"{name}.origin" if f"{name}.origin" in moved.frames else name
        assert name in moved.frames
        there = reference(kt.frame_placement, moved, s.q, frame=kept)
        close(there, reference(kt.frame_placement, robot, s.q, frame=name), scale=10.0)
        assert moved.frames[name].slot == frame.slot


@given(moving_trees(max_joints=5))
@law(25)
def test_dynamics_are_the_same(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    moved = robot.in_principal_axes()
    H, C = reference(kt.crba, robot, s.q), reference(kt.bias_forces, robot, s.q, s.v)
    largest = 1.0 + float(np.abs(H).max())
    close(reference(kt.crba, moved, s.q), H, scale=largest)
    scale = float((np.abs(H) @ np.abs(s.qdd)).max() + np.abs(C).max()) + largest
    close(reference(kt.rnea, moved, s.q, s.v, s.qdd), reference(kt.rnea, robot, s.q, s.v, s.qdd), scale=scale)
    qdd = reference(kt.aba, moved, s.q, s.v, s.tau)
    scale = float((np.abs(H) @ np.abs(qdd)).max() + np.abs(C).max() + np.abs(s.tau).max())
    close(H @ qdd + C, s.tau, scale=scale, tolerance=1e-10)
    energy = float(reference(kt.kinetic_energy, robot, s.q, s.v))
    close(reference(kt.kinetic_energy, moved, s.q, s.v), energy, scale=scale)
    close(reference(kt.center_of_mass, moved, s.q), reference(kt.center_of_mass, robot, s.q), scale=10.0)


@pytest.mark.parametrize("name", ["arm6", "arm7", "cart_pole", "quadruped"])
def test_kernels_do_not_grow(name: str) -> None:
    """They are compiled in the axes of the joints, as before."""
    robot = kt.zoo.load(name)
    moved = robot.in_principal_axes()
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    for function, arguments in ((kt.aba, (q, v, tau)), (kt.rnea, (q, v, tau)), (kt.crba, (q,))):
        own, other = (kt.compile(model, function) for model in (robot, moved))
        expected = own(*arguments)
        np.testing.assert_allclose(other(*arguments), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
        counts = [compiled.__self__.program.operation_counts().total() for compiled in (own, other)]
        assert counts[1] <= 1.02 * counts[0] + 2


@pytest.mark.parametrize("name", kt.zoo.names())
def test_a_robot_in_principal_axes_stays_as_it_is(name: str) -> None:
    moved = kt.zoo.load(name).in_principal_axes()
    again = moved.in_principal_axes()
    assert again.parts == moved.parts
    assert "none had to be moved" in again.notes[0]


def one_body(inertia: Inertia, **options: object) -> kt.ModelBuilder:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    shape = Geometry("visual", "sphere", (0.1,), shift(0.2))
    builder.add_body("arm", inertia, geometry=[shape])
    builder.add_joint("hinge", kt.Revolute([0, 0, 1]), "base", "arm", **options)  # type: ignore[arg-type]
    builder.add_frame("tip", "arm", shift(1.0))
    return builder


def test_the_frame_is_at_the_centre_of_mass_and_the_old_one_is_kept() -> None:
    turn = kt.lie.placement((0.3, 0.4, 0.5), rpy=(0.1, -0.2, 0.3))
    robot = one_body(kt.solids.box(0.1, 0.2, 0.3, mass=2.0, placement=turn)).build().in_principal_axes()
    np.testing.assert_allclose(
        kt.frame_placement(robot, [0.0], "arm"), np.reshape(turn.homogeneous(), (4, 4)), atol=1e-13
    )
    np.testing.assert_allclose(kt.frame_placement(robot, [0.0], "arm.origin"), np.eye(4), atol=1e-13)
    np.testing.assert_allclose(
        kt.frame_placement(robot, [0.0], "tip"), np.reshape(shift(1.0).homogeneous(), (4, 4)), atol=1e-13
    )
    own = robot.bodies["arm"].inertia
    assert own.h == Vec3.zero()
    np.testing.assert_allclose(own.I.components()[:3], np.array([0.13, 0.1, 0.05]) / 6.0, rtol=1e-13)
    (shape,) = robot.bodies["arm"].geometry
    np.testing.assert_allclose(
        np.reshape(turn.homogeneous(), (4, 4)) @ np.reshape(shape.placement.homogeneous(), (4, 4)),
        np.reshape(shift(0.2).homogeneous(), (4, 4)),
        atol=1e-13,
    )


def test_of_many_principal_axes_the_nearest_are_taken() -> None:
    """A cylinder's across its axis, and all of a ball's."""
    tilted = kt.lie.placement((0.1, 0.0, 0.0), rpy=(0.2, 0.1, 0.7))
    cylinder = one_body(kt.solids.cylinder(0.1, 0.5, mass=1.0, placement=tilted)).build().in_principal_axes()
    R = kt.frame_placement(cylinder, [0.0], "arm")[:3, :3]
    z = np.array(tilted.E.z.components())
    np.testing.assert_allclose(R[:, 2], z, atol=1e-9)
    # The least turn that takes z there: about z x axis.
    axis = np.cross([0.0, 0.0, 1.0], z)
    K = np.cross(np.eye(3), axis)  # the matrix of axis x
    np.testing.assert_allclose(R, np.eye(3) + K + K @ K / (1.0 + z[2]), atol=1e-9)
    sphere = one_body(ball(com=(0.1, 0.2, 0.3))).build().in_principal_axes()
    np.testing.assert_array_equal(kt.frame_placement(sphere, [0.0], "arm")[:3, :3], np.eye(3))


def test_what_is_fixed_to_a_body_counts_and_keeps_its_frame() -> None:
    builder = one_body(ball(1.0))
    builder.add_body("tool", ball(3.0))
    builder.add_joint("weld", kt.Fixed(), "arm", "tool", shift(0.4))
    robot = builder.build().in_principal_axes()
    np.testing.assert_allclose(kt.frame_placement(robot, [0.0], "arm")[:3, 3], [0.3, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(kt.frame_placement(robot, [0.0], "tool")[:3, 3], [0.4, 0.0, 0.0], atol=1e-15)
    assert robot.bodies["tool"].inertia == ball(3.0)
    assert "tool.origin" not in robot.frames


def test_bodies_without_mass_stay() -> None:
    builder = one_body(Inertia.zero())
    builder.add_body("hand", ball(com=(0.1, 0.0, 0.0)))
    builder.add_joint("wrist", kt.Revolute([1, 0, 0]), "arm", "hand", shift(0.5))
    robot = builder.build().in_principal_axes()
    assert robot.joints["hinge"].kind == kt.Revolute([0, 0, 1])
    assert isinstance(robot.joints["wrist"].kind, Placed)
    builder = one_body(Inertia(0.0, Vec3.zero(), Sym3.zero()))
    assert builder.build().in_principal_axes().parts == builder.build().parts


def test_a_rotor_keeps_spinning_about_the_joint() -> None:
    robot = one_body(ball(2.0, com=(0.1, 0.2, 0.3)), rotor=Rotor(0.1, 10.0)).build()
    moved = robot.in_principal_axes()
    assert moved.joints["hinge"].rotor == Rotor(0.1, 10.0, (0.0, 0.0, 1.0))
    assert kt.crba(moved, [0.3])[0, 0] == pytest.approx(kt.crba(robot, [0.3])[0, 0], rel=1e-14)


def test_a_floating_base_becomes_a_joint_on_the_world() -> None:
    robot = kt.zoo.load("quadruped")
    moved = robot.in_principal_axes()
    assert (moved.root, moved.floating_base) == ("world", False)
    assert list(moved.joints) == list(robot.joints)
    q, v = robot.random(0), np.random.default_rng(1).normal(size=robot.nv)
    np.testing.assert_allclose(moved.integrate(q, v), robot.integrate(q, v), atol=1e-15)
    assert moved.quaternions == robot.quaternions


def test_it_goes_with_other_changes() -> None:
    robot = kt.zoo.load("arm7")
    moved = robot.in_principal_axes()
    q, M = robot.random(0), np.diag([1.0, -1.0, 1.0, 1.0])
    body = list(robot.joints.values())[-1].child
    here = kt.frame_placement(robot, q, body)
    np.testing.assert_allclose(kt.frame_placement(moved.mirrored("y"), q, f"{body}.origin"), M @ here @ M, atol=1e-13)
    here[:3, 3] *= 2.0
    np.testing.assert_allclose(kt.frame_placement(moved.scaled(2.0), q, f"{body}.origin"), here, atol=1e-13)
    turned = moved.rerooted(body)
    T, U = kt.frame_placement(turned, q, f"{robot.root}"), kt.frame_placement(moved, q, body)
    np.testing.assert_allclose(T @ U, np.eye(4), atol=1e-13)


def test_placed_takes_a_joint_and_placements() -> None:
    hinge = kt.Revolute([0, 0, 1])
    with pytest.raises(kt.errors.ModelError, match="give it a joint kind"):
        Placed("hinge", shift())  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match="after must be a Transform"):
        Placed(hinge, (0, 0, 1))  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match="before must be a Transform"):
        Placed(hinge, shift(), (0, 0, 1))  # type: ignore[arg-type]
    both = Placed(kt.joints.Spherical(), shift(1.0), shift(2.0))
    assert both == Placed(kt.joints.Spherical(), shift(1.0), shift(2.0))
    back = both.reversed()
    assert back is not None
    q, opposite = (0.5, 0.5, 0.5, 0.5), (-0.5, -0.5, -0.5, 0.5)
    X = back.calc(opposite, (0.0,) * 3).X_J @ both.calc(q, (0.0,) * 3).X_J
    np.testing.assert_allclose(X.homogeneous(), shift().homogeneous(), atol=1e-15)


def test_it_goes_through_text() -> None:
    moved = kt.zoo.load("quadruped").in_principal_axes()
    assert kt.from_text(kt.to_text(moved)) == moved
