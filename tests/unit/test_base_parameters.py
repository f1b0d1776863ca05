"""Base parameters: how many there are, what is grouped, and that they give the joint forces."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import reference
from tests.robots import every_joint, load_robot
from tests.strategies import State, law, moving_trees

Array = NDArray[np.float64]


def chain(
    *kinds: kt.joints.JointKind, gravity: tuple[float, ...] = (0.0, 0.0, -9.81), floating: bool = False
) -> kt.Model:
    """A serial robot whose joints stand askew to each other."""
    builder = kt.ModelBuilder("chain", gravity=gravity)
    builder.add_body("link0", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    for k, kind in enumerate(kinds, 1):
        shape = kt.solids.ellipsoid(0.3, 0.2, 0.1, mass=2.0, placement=kt.lie.placement([0.1, 0.05, 0.02]))
        builder.add_body(f"link{k}", shape)
        # The first joint's axes are the world's.
        where = kt.lie.placement() if k == 1 else kt.lie.placement([0.3, -0.2, 0.1], rpy=[0.7, 0.4, 0.2])
        builder.add_joint(f"joint{k}", kind, f"link{k - 1}", f"link{k}", where)
    return builder.build(floating_base=floating)


UPRIGHT, LEVEL = kt.Revolute([0, 0, 1]), kt.Revolute([1, 0, 0])
SLIDING = kt.Prismatic([0, 0, 1])
NONE = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("robot", "count"),
    [
        (chain(*[UPRIGHT] * 6), 7 * 6 - 6),
        (chain(LEVEL, *[UPRIGHT] * 5), 7 * 6 - 4),
        (chain(LEVEL, *[UPRIGHT] * 5, gravity=NONE), 7 * 6 - 6),
        (chain(UPRIGHT), 1),
        (chain(LEVEL), 3),
        (chain(SLIDING), 1),
        (chain(UPRIGHT, UPRIGHT, SLIDING), 1 + 7 + 4),
        (chain(*[UPRIGHT] * 3, floating=True), 10 + 7 * 3),
        (chain(SLIDING, SLIDING, floating=True), 10 + 4 * 2),
        (chain(floating=True), 10),
        (chain(kt.joints.Spherical()), 9),
        (chain(kt.joints.Spherical(), kt.joints.Spherical()), 9 + 9),
    ],
    ids=[
        "upright", "level", "level, no gravity", "one upright", "one level", "one sliding", "two turning, one sliding",
        "floating", "floating and sliding", "one body that floats", "ball", "two balls",
    ],
)  # fmt: skip
def test_how_many_there_are(robot: kt.Model, count: int) -> None:
    """Khalil and Dombre: 7 a turning joint and 4 a sliding one, less what the first ones never show."""
    assert len(kt.identification.base_parameters(robot)) == count


@pytest.mark.parametrize(
    ("file", "locked", "count"),
    [
        ("panda_description/urdf/panda.urdf", ["panda_finger_joint1", "panda_finger_joint2"], 43),
        ("ur_description/urdf/ur5_robot.urdf", [], 36),
    ],
    ids=["panda", "ur5"],
)
def test_as_many_as_the_literature_has(file: str, locked: list[str], count: int) -> None:
    """Panda: 43 (Gaz et al., 2019)."""
    robot = load_robot(file)
    assert len(kt.identification.base_parameters(robot.lock(locked) if locked else robot)) == count


def test_the_grouping_of_a_double_pendulum_is_the_textbooks() -> None:
    """Rods of 1 m that turn about y: the tip's mass counts at the elbow, and what is beyond it at the shoulder."""
    base = kt.identification.base_parameters(kt.zoo.load("double_pendulum"))
    assert base.names == (
        "h_x(upper_rod)",
        "h_z(upper_rod) - m(lower_rod) - m(tip)",
        "I_yy(upper_rod) + m(lower_rod) + m(tip)",
        "h_x(lower_rod) + h_x(tip)",
        "h_z(lower_rod) - m(tip) + h_z(tip)",
        "I_yy(lower_rod) + m(tip) - 2 h_z(tip) + I_yy(tip)",
    )
    assert "m(base)" in base.unseen
    assert "I_xx(tip)" in base.unseen
    text = repr(base)
    assert text.startswith("'double_pendulum': 6 base parameters of 40\n  0  h_x(upper_rod)\n")
    assert "  3  h_x(lower_rod) + h_x(tip)\n" in text
    assert "without influence: m(base), " in text


@law(15)
@given(moving_trees(max_joints=5))
def test_they_give_the_joint_forces(case: tuple[kt.Model, State]) -> None:
    model, s = case
    base = kt.identification.base_parameters(model, drives=True)
    Y = reference(kt.dynamics.joint_torque_regressor, model, s.q, s.v, s.qdd, drives=True)
    pi = kt.identification.inertial_parameters(model, drives=True)
    scale = float((np.abs(Y) @ np.abs(pi)).max(initial=1.0))
    np.testing.assert_allclose(Y[:, base.columns] @ base.of(pi), Y @ pi, rtol=0.0, atol=1e-9 * scale)
    assert base.matrix[:, base.columns].tolist() == np.eye(len(base)).tolist()


@pytest.mark.parametrize("drives", [False, True])
def test_followers_couplings_and_every_kind_of_joint(drives: bool) -> None:
    robot, rng = every_joint(), np.random.default_rng(8)
    base = kt.identification.base_parameters(robot, drives=drives)
    pi = kt.identification.inertial_parameters(robot, drives=drives)
    q, v, qdd = robot.random(rng), *rng.normal(size=(2, robot.nv))
    Y = reference(kt.dynamics.joint_torque_regressor, robot, q, v, qdd, drives=drives)
    scale = float((np.abs(Y) @ np.abs(pi)).max())
    np.testing.assert_allclose(Y[:, base.columns] @ base.of(pi), Y @ pi, rtol=0.0, atol=1e-9 * scale)


@pytest.mark.parametrize("drives", [False, True])
@pytest.mark.parametrize("name", ["arm6", "double_pendulum"])
def test_the_regressor_of_base_parameters_is_the_kept_columns(name: str, drives: bool) -> None:
    robot, rng = kt.zoo.load(name), np.random.default_rng(2)
    base = kt.identification.base_parameters(robot, drives=drives)
    q, v, qdd = rng.normal(size=(3, 4, robot.nv))
    W = base.regressor(q, v, qdd)
    assert W.shape == (4, robot.nv, len(base))
    Y = kt.dynamics.joint_torque_regressor(robot, q, v, qdd, drives=drives)
    np.testing.assert_allclose(W, Y[..., base.columns], rtol=0.0, atol=1e-12 * np.abs(Y).max())
    assert np.linalg.matrix_rank(np.concatenate(base.regressor(*rng.normal(size=(3, 100, robot.nv))))) == len(base)


def test_what_armatures_are_grouped_with() -> None:
    """An armature at the first joint is as more inertia of its link; friction stands alone."""
    base = kt.identification.base_parameters(chain(UPRIGHT, UPRIGHT), drives=True)
    (first,) = (name for name in base.names if name.startswith("I_zz(link1)"))
    assert first.endswith(" + armature(joint1)")
    assert {"armature(joint2)", "damping(joint1)", "friction(joint1)", "damping(joint2)", "friction(joint2)"} <= {
        *base.names
    }


def test_gravity_is_a_parameter() -> None:
    robot = chain(LEVEL, *[UPRIGHT] * 2)
    away = kt.identification.base_parameters(robot, parameters={"gravity": NONE})
    assert len(away) == len(kt.identification.base_parameters(robot)) - 2
    q, v, qdd = np.random.default_rng(1).normal(size=(3, 3))
    tau = kt.rnea(robot, q, v, qdd, parameters={"gravity": NONE})
    beta = away.of(kt.identification.inertial_parameters(robot))
    np.testing.assert_allclose(away.regressor(q, v, qdd) @ beta, tau, rtol=0.0, atol=1e-12 * np.abs(tau).max())


def test_the_same_seed_gives_the_same_and_another_the_same_up_to_rounding() -> None:
    robot = kt.zoo.load("arm6")
    first, again, other = (kt.identification.base_parameters(robot, rng=seed) for seed in (0, 0, 1))
    assert first.matrix.tolist() == again.matrix.tolist()
    assert first.columns == other.columns
    np.testing.assert_allclose(first.matrix, other.matrix, rtol=0.0, atol=1e-10)


def test_angles_rounded_in_a_file_show_in_the_weakest_column() -> None:
    """Two parallel joints, and the same with one turned by a millionth: it shows, but hardly."""

    def robot(tilt: float) -> kt.Model:
        builder = kt.ModelBuilder("parallel")
        for k in range(3):
            builder.add_body(f"link{k}", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
        builder.add_joint("first", LEVEL, "link0", "link1")
        builder.add_joint("second", LEVEL, "link1", "link2", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0, 0, tilt]))
        return builder.build()

    exact, nearly = (kt.identification.base_parameters(robot(tilt)) for tilt in (0.0, 1e-6))
    coarse = kt.identification.base_parameters(robot(1e-6), tolerance=1e-4)
    assert exact.weakest > 0.01
    assert nearly.weakest < 1e-5
    assert len(nearly) > len(exact) == len(coarse)


def test_a_short_column_makes_the_number_doubtful_too() -> None:
    """Gravity hardly acts on a hinge that is a millionth from upright: what shows h is independent, but small."""
    builder = kt.ModelBuilder("door")
    builder.add_body("frame")
    builder.add_body("leaf", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("hinge", UPRIGHT, "frame", "leaf", kt.lie.placement(rpy=[1e-6, 0.0, 0.0]))
    base = kt.identification.base_parameters(builder.build())
    assert base.names == ("h_x(leaf)", "h_y(leaf)", "I_zz(leaf)")
    assert 1e-8 < base.weakest < 1e-5


def test_a_robot_that_cannot_move_has_none() -> None:
    robot = kt.zoo.load("double_pendulum")
    base = kt.identification.base_parameters(robot.lock(list(robot.joints)))
    assert len(base) == 0
    assert base.matrix.shape == (0, 40)
    assert len(base.unseen) == 40


def test_wrong_arguments_are_refused() -> None:
    robot = kt.zoo.load("double_pendulum")
    for wrong in (0.0, 1.0, -1e-9, "small", True):
        with pytest.raises(
            kt.errors.OptionError, match="tolerance must be a number between 0 and 1, such as 1e-9, not"
        ):
            kt.identification.base_parameters(robot, tolerance=wrong)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="drives must be True or False, not 'all'"):
        kt.identification.base_parameters(robot, drives="all")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="gravitee"):
        kt.identification.base_parameters(robot, parameters={"gravitee": NONE})
    with pytest.raises(kt.errors.ShapeError, match="gravity takes 3 numbers, not 2"):
        kt.identification.base_parameters(robot, parameters={"gravity": (0.0, 0.0)})
    message = "inertial_parameters has shape (10,), but 'double_pendulum' needs (…, 40)"
    with pytest.raises(kt.errors.ShapeError, match=re.escape(message)):
        kt.identification.base_parameters(robot).of(np.ones(10))
