"""Parameters by name: what each is called, what it is worth, and what changes with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.forms.parameters import always_singular, parameter_ports, parameter_quaternions, with_parameters
from kinetree.expr import Graph, Symbol
from kinetree.model.parameters import nominal, parameter_names
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, from_rpy
from tests.unit.model.bodies import ball, chain, point, shift

X, Y = kt.Revolute([1, 0, 0]), kt.Revolute([0, 1, 0])
NOTHING = Inertia.zero()
CENTRAL = (0.4, 0.5, 0.6, 0.01, -0.02, 0.03)


def gripper() -> kt.Model:
    """A turning arm with a hand welded to it, which carries a finger; names with dots, and one name twice."""
    builder = kt.ModelBuilder("gripper")
    builder.add_body("base", ball(5.0))
    builder.add_body("arm", ball(2.0, 0.1))
    builder.add_body("left.hand", Inertia.from_com(1.5, Vec3(0.1, 0.2, 0.3), Sym3(*CENTRAL)))
    builder.add_body("finger", ball(0.2))
    builder.add_joint("arm", kt.Revolute([0, 0, 1]), "base", "arm", shift(z=0.5), armature=[0.7])
    builder.add_joint(
        "wrist", kt.Fixed(), "arm", "left.hand", Transform(from_rpy(0.3, 0.2, 0.1).T, Vec3(0.4, 0.0, 0.1))
    )
    builder.add_joint("grip", kt.Prismatic([1, 0, 0]), "left.hand", "finger", shift(x=0.05))
    return builder.build()


def numbers(inertia: Inertia) -> list[float]:
    return [float(x) for x in (inertia.mass, *inertia.h.components(), *inertia.I.components())]


# -- names


def test_every_name_has_a_port_and_a_value_of_its_shape() -> None:
    robot = gripper()
    names = parameter_names(robot)
    assert len(names) == len(set(names)) == 1 + 3 * 4 + 1 + 2 * 6
    for port in parameter_ports(robot, names):
        value = nominal(robot, port.name)
        assert (value.shape, value.dtype) == (port.shape, np.float64)


def test_ports_come_in_the_order_given() -> None:
    ports = parameter_ports(gripper(), ["joint.grip.armature", "body.left.hand.mass", "gravity"])
    assert [(port.name, port.shape) for port in ports] == [
        ("joint.grip.armature", (1,)),
        ("body.left.hand.mass", ()),
        ("gravity", (3,)),
    ]


def test_a_joint_and_a_body_of_one_name_are_distinguished() -> None:
    robot = gripper()
    assert nominal(robot, "body.arm.mass") == 2.0
    assert nominal(robot, "joint.arm.armature").tolist() == [0.7]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("left.hand.mass", "did you mean 'body.left.hand.mass'"),
        ("gravty", "did you mean 'gravity'"),
        ("body.left.hnd.mass", "there is no body 'left.hnd'; did you mean 'left.hand'"),
        ("joint.girp.placement", "no joint 'girp' that moves .* did you mean 'grip'"),
        ("joint.wrist.placement", "no joint 'wrist' that moves \\(fixed ones are merged\\)"),
        ("body.finger.placement", "did you mean 'joint.grip.placement'"),
        ("body.base.placement", "'base' is the root"),
        ("body.finger.weight", "a body has mass, com, inertia"),
        ("body.left.hand.weight", "a body has mass, com, inertia, placement"),
        ("joint.grip.damp", "a joint has placement, armature, damping, friction, stiffness, rest"),
        ("", "names are 'gravity'"),
    ],
)
def test_a_wrong_name_is_answered_with_what_to_write(name: str, words: str) -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=words):
        parameter_ports(gripper(), [name])


def test_names_are_a_list_of_different_strings() -> None:
    robot = gripper()
    with pytest.raises(kt.errors.OptionError, match=r"must be a list of names, such as \['gravity'\]"):
        parameter_ports(robot, "gravity")
    with pytest.raises(kt.errors.OptionError, match="'gravity' is named twice"):
        parameter_ports(robot, ["gravity", "gravity"])
    with pytest.raises(kt.errors.OptionError, match="'gravity' is named twice"):
        parameter_ports(robot, ["gravity", "gravity[:]"])
    with pytest.raises(kt.errors.OptionError, match="a parameter's name is a string"):
        parameter_ports(robot, [3])  # type: ignore[list-item]


def test_a_name_with_rows_has_a_port_with_rows() -> None:
    (port,) = parameter_ports(gripper(), ["gravity[:]"], 5)
    assert (port.name, port.shape) == ("gravity[:]", (5, 3))
    with pytest.raises(kt.errors.NameNotFoundError, match="parameters with one row per step are for"):
        nominal(gripper(), "gravity[:]")


def test_values_are_as_many_as_the_names_take() -> None:
    with pytest.raises(kt.errors.ShapeError, match="gravity takes 3 numbers, not 2"):
        with_parameters(gripper(), ["gravity"], [(0.0, 1.0)])
    with pytest.raises(kt.errors.ShapeError, match="1 parameters are named, but values are given for 0"):
        with_parameters(gripper(), ["gravity"], [])


def test_only_placements_hold_quaternions() -> None:
    robot = gripper()
    held = {name: found for name in parameter_names(robot) if (found := parameter_quaternions(robot, name))}
    assert held == {
        "body.left.hand.placement": {"left.hand": slice(3, 7)},
        "joint.arm.placement": {"arm": slice(3, 7)},
        "joint.grip.placement": {"grip": slice(3, 7)},
    }


# -- values


def test_the_robots_own_values() -> None:
    robot = gripper()
    assert nominal(robot, "gravity").tolist() == [0.0, 0.0, -9.81]
    np.testing.assert_allclose(nominal(robot, "body.left.hand.com"), [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(nominal(robot, "body.left.hand.inertia"), CENTRAL, atol=1e-15)
    assert nominal(robot, "joint.grip.placement").tolist() == [0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_body_without_mass_has_its_centre_at_its_origin() -> None:
    assert nominal(chain([(X, NOTHING)]), "body.b1.com").tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "quaternion",
    [
        (0.0, 0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, -1.0, 0.0),
        (0.5, -0.5, 0.5, -0.5),
        (0.1, -0.7, 0.2, 0.3),
        (1e-9, 0.0, 1.0, 1e-9),
    ],
)
def test_a_placements_quaternion_is_that_of_its_rotation(quaternion: tuple[float, ...]) -> None:
    R = from_quaternion(*quaternion)
    robot = chain([(X, ball())], offset=Transform(R.T, Vec3(1.0, 2.0, 3.0)))
    value = nominal(robot, "joint.j1.placement")
    assert value[:3].tolist() == [1.0, 2.0, 3.0]
    assert value[6] >= 0.0
    assert math.isclose(np.linalg.norm(value[3:]), 1.0, rel_tol=1e-15)
    np.testing.assert_allclose(from_quaternion(*value[3:].tolist()).components(), R.components(), atol=4e-16)


@pytest.mark.parametrize("name", kt.zoo.names())
def test_a_robot_with_its_own_values_is_that_robot(name: str) -> None:
    robot = kt.zoo.load(name)
    names = parameter_names(robot)
    same = with_parameters(robot, names, [nominal(robot, n).ravel().tolist() for n in names])
    for I, expected in zip(same.tree.I, robot.tree.I, strict=True):
        np.testing.assert_allclose(numbers(I), numbers(expected), rtol=0, atol=1e-13)
    for X_T, expected_X in zip(same.tree.X_T, robot.tree.X_T, strict=True):
        np.testing.assert_allclose(X_T.E.components(), expected_X.E.components(), rtol=0, atol=1e-14)
        np.testing.assert_allclose(X_T.r.components(), expected_X.r.components(), rtol=0, atol=1e-14)
    assert same.tree.armature == robot.tree.armature
    assert same.tree.gravity == robot.tree.gravity


# -- what changes, and what does not


def test_the_robot_itself_never_changes() -> None:
    robot = gripper()
    before = nominal(robot, "body.left.hand.mass"), robot.mass
    heavy = with_parameters(robot, ["body.left.hand.mass"], [[9.0]])
    assert (nominal(robot, "body.left.hand.mass"), robot.mass) == before
    assert math.isclose(heavy.mass, robot.mass + 7.5)


def test_another_mass_leaves_the_centre_of_mass_and_the_inertia_about_it() -> None:
    heavy = with_parameters(gripper(), ["body.left.hand.mass"], [[9.0]])
    np.testing.assert_allclose(nominal(heavy, "body.left.hand.com"), [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(nominal(heavy, "body.left.hand.inertia"), CENTRAL, atol=1e-15)


def test_another_centre_of_mass_leaves_the_mass_and_the_inertia_about_it() -> None:
    moved = with_parameters(gripper(), ["body.left.hand.com"], [(1.0, 2.0, 3.0)])
    assert nominal(moved, "body.left.hand.mass") == 1.5
    np.testing.assert_allclose(nominal(moved, "body.left.hand.inertia"), CENTRAL, atol=1e-14)


def test_all_three_together_make_the_body_that_has_them() -> None:
    names = [f"body.left.hand.{quantity}" for quantity in ("inertia", "mass", "com")]
    robot = with_parameters(gripper(), names, [(1.0, 2.0, 2.5, 0.1, 0.2, 0.3), [4.0], (0.3, 0.2, 0.1)])
    expected = Inertia.from_com(4.0, Vec3(0.3, 0.2, 0.1), Sym3(1.0, 2.0, 2.5, 0.1, 0.2, 0.3))
    np.testing.assert_allclose(numbers(robot.bodies["left.hand"].inertia), numbers(expected), rtol=1e-14)


def test_a_welded_bodys_share_is_all_that_changes_of_the_body_it_is_welded_to() -> None:
    robot = gripper()
    heavy = with_parameters(robot, ["body.left.hand.mass"], [[9.0]])
    hand = robot.bodies["left.hand"].placement
    more = hand.back(point(7.5, (0.1, 0.2, 0.3)))
    np.testing.assert_allclose(numbers(heavy.tree.I[1]), numbers(robot.tree.I[1] + more), rtol=0, atol=1e-14)
    assert heavy.tree.I[2] is robot.tree.I[2]


def test_a_joint_on_a_welded_body_is_placed_in_that_bodys_frame() -> None:
    robot = gripper()
    moved = with_parameters(robot, ["joint.grip.placement"], [(0.0, 0.0, 0.2, 0.0, 0.0, 3.0, 3.0)])
    expected = Transform(from_rpy(0.0, 0.0, math.pi / 2).T, Vec3(0.0, 0.0, 0.2)) @ robot.bodies["left.hand"].placement
    np.testing.assert_allclose(moved.tree.X_T[2].E.components(), expected.E.components(), atol=1e-15)
    np.testing.assert_allclose(moved.tree.X_T[2].r.components(), expected.r.components(), atol=1e-15)


def test_a_floating_base_may_start_elsewhere() -> None:
    robot = kt.zoo.load("quadruped")
    moved = with_parameters(robot, ["joint.root_joint.placement"], [(1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0)])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.diag([-1.0, -1.0, 1.0]), [1.0, 2.0, 3.0]
    q = robot.random(0)
    np.testing.assert_allclose(kt.forward_kinematics(moved, q), T @ kt.forward_kinematics(robot, q), atol=1e-13)


def test_what_is_not_named_stays_a_constant() -> None:
    robot = gripper()
    graph = Graph()
    symbol = graph.input()
    changed = with_parameters(robot, ["body.left.hand.mass"], [[symbol]])
    assert changed.tree.I[0] is robot.tree.I[0]
    assert changed.tree.I[2] is robot.tree.I[2]
    assert changed.tree.X_T == robot.tree.X_T
    assert changed.tree.armature == robot.tree.armature
    # One multiply-add an entry: the mass times what one kilogram adds.
    assert all(isinstance(x, Symbol) for x in (changed.tree.I[1].mass, *changed.tree.I[1].h.components()))


def test_an_inertia_alone_leaves_mass_and_first_moment_constants() -> None:
    graph = Graph()
    I = with_parameters(gripper(), ["body.arm.inertia"], [[graph.input() for _ in range(6)]]).tree.I[1]
    assert not any(isinstance(x, Symbol) for x in (I.mass, *I.h.components()))
    assert all(isinstance(x, Symbol) for x in I.I.components())


# -- forward dynamics that is not defined


def massless_hand() -> kt.Model:
    robot = chain([(X, ball()), (Y, NOTHING)], offset=shift(0.3))
    assert robot.singular_joints == ("j2",)
    return robot


def test_numbers_decide_whether_forward_dynamics_is_defined() -> None:
    robot = massless_hand()
    inertia = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert with_parameters(robot, ["body.b2.inertia"], [inertia]).singular_joints == ()
    solid = chain([(X, ball()), (Y, ball())])
    bare = with_parameters(solid, ["body.b2.mass", "body.b2.inertia"], [[0.0], [0.0] * 6])
    assert bare.singular_joints == ("j2",)


@pytest.mark.parametrize(
    ("name", "singular"),
    [
        ("body.b2.inertia", ()),
        ("joint.j2.armature", ()),
        ("body.b2.mass", ("j2",)),  # at the origin, which is on the axis
        ("body.b2.com", ("j2",)),  # of nothing
        ("body.b1.mass", ("j2",)),
        ("gravity", ("j2",)),
    ],
)
def test_with_inputs_a_joint_is_singular_if_it_is_whatever_they_are(name: str, singular: tuple[str, ...]) -> None:
    robot = massless_hand()
    graph = Graph()
    (port,) = parameter_ports(robot, [name])
    changed = with_parameters(robot, [name], [[graph.input() for _ in range(port.size)]])
    assert changed.singular_joints == always_singular(robot, [name]) == singular


def test_two_masses_of_inputs_off_the_axis_resist() -> None:
    graph = Graph()
    values = [[graph.input()], [graph.input() for _ in range(3)]]
    assert with_parameters(massless_hand(), ["body.b2.mass", "body.b2.com"], values).singular_joints == ()


def test_a_rotation_that_is_no_symbol_is_still_known_to_be_a_turn() -> None:
    """Factored as those of a file are: inertias rotate cheaper by it."""
    turned = with_parameters(gripper(), ["joint.arm.placement"], [(0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 1.0)])
    assert [turn.axis for turn in turned.tree.X_T[1].turns] == [2]
    assert turned.tree.X_T[1].before == Mat3.identity()
