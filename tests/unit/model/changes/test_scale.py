"""A scaled robot has the same shape, and the mechanics that follow from its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.errors import ModelError, OptionError
from kinetree.joints import JointKind, JointMotion
from kinetree.model import Geometry, Rotor
from tests.laws.reference import close, reference
from tests.strategies import State, blueprints, law, positive, states
from tests.unit.model.bodies import ball, chain, point, shift

Array = NDArray[np.float64]


def of_q(model: kt.Model, length: float) -> Array:
    """What the coordinates are multiplied by."""
    return np.array([length if unit == "m" else 1.0 for j in model.joints.values() for unit in j.kind.q_units])


def of_v(model: kt.Model, length: float) -> Array:
    return np.array([x for joint in model.joints.values() for x in of_rates(joint.kind, length)])


def of_rates(kind: JointKind, length: float) -> Sequence[float]:
    if isinstance(kind, kt.joints.Composite):
        return [x for part, _ in kind.parts for x in of_rates(part, length)]
    if isinstance(kind, kt.Free | kt.joints.FloatingBase):
        return [length] * 3 + [1.0] * 3
    return [1.0] * 3 if isinstance(kind, kt.joints.Spherical) else [length if u == "m" else 1.0 for u in kind.q_units]


@st.composite
def cases(draw: st.DrawFn) -> tuple[kt.Model, State]:
    """A robot without rotors, whose inertia does not scale, and a state."""
    plan = draw(blueprints(max_joints=5)).with_joints(lambda joint: replace(joint, armature=(0.0,) * joint.kind.nv))
    model = plan.build()
    return model, draw(states(model))


@given(cases(), positive(0.25, 4.0), positive(0.25, 4.0))
@law(25)
def test_every_frame_is_that_much_farther_and_forces_follow(
    case: tuple[kt.Model, State], length: float, mass: float
) -> None:
    """The same motion at the same time: with gravity scaled as lengths are, all accelerations are."""
    robot, s = case
    scaled = robot.scaled(length, mass=mass)
    assert scaled.gravity == robot.gravity
    scaled = kt.ModelBuilder.of(replace(scaled.parts, gravity=tuple(length * g for g in robot.gravity))).build()
    rates = of_v(robot, length)
    q, v, qdd = s.q * of_q(robot, length), s.v * rates, s.qdd * rates
    for name in robot.frames:
        there = reference(kt.frame_placement, scaled, q, frame=name)
        here = reference(kt.frame_placement, robot, s.q, frame=name)
        here[:3, 3] *= length
        close(there, here)
    work = mass * length**2  # torques and energies; forces have one length less
    H, C = reference(kt.crba, robot, s.q), reference(kt.bias_forces, robot, s.q, s.v)
    scale = 64.0 * (1.0 + float((np.abs(H) @ np.abs(s.qdd)).max() + np.abs(C).max()))
    forces = reference(kt.rnea, robot, s.q, s.v, s.qdd)
    close(reference(kt.rnea, scaled, q, v, qdd) * rates, work * forces, scale=scale)
    close(reference(kt.crba, scaled, q) * np.outer(rates, rates), work * H, scale=64.0 * float(np.abs(H).max()))
    energy = reference(kt.kinetic_energy, robot, s.q, s.v)
    close(reference(kt.kinetic_energy, scaled, q, v), work * energy, scale=64.0 * float(energy))


def test_a_pendulum_four_times_as_long_swings_half_as_fast() -> None:
    pendulum = chain([(kt.Revolute([0, 1, 0]), point(2.0, (0.0, 0.0, -1.0)))])
    for length, mass in ((4.0, None), (4.0, 7.0), (0.25, None)):
        scaled = pendulum.scaled(length, mass=mass)
        stiffness, slower = (-kt.aba(robot, [1e-6], [0.0], [0.0])[0] / 1e-6 for robot in (pendulum, scaled))
        assert math.sqrt(slower) == pytest.approx(math.sqrt(stiffness / length), rel=1e-12)


def test_the_density_stays_unless_a_mass_is_given() -> None:
    robot = kt.zoo.load("arm6")
    assert robot.scaled(2.0).mass == pytest.approx(8.0 * robot.mass, rel=1e-14)
    assert robot.scaled(2.0, mass=1.0).mass == pytest.approx(robot.mass, rel=1e-14)
    cube = kt.ModelBuilder("cube")
    cube.add_body("cube", kt.solids.box(1.0, 2.0, 3.0, density=500.0))
    own = cube.build().scaled(0.5).bodies["cube"].inertia
    expected = kt.solids.box(0.5, 1.0, 1.5, density=500.0)
    np.testing.assert_allclose(own.I.components(), expected.I.components(), rtol=1e-14)


def test_scaling_back_gives_the_robot_again() -> None:
    robot = kt.zoo.load("humanoid")
    assert robot.scaled(2.0).scaled(0.5).parts == robot.parts


def slide_and_hinge(**options: Any) -> kt.ModelBuilder:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", geometry=[Geometry("visual", "mesh", (1.0, 1.0, 2.0), shift(0.5), mesh="base.stl")])
    builder.add_body("a", ball())
    builder.add_body("b", ball())
    numbers: dict[str, Any] = {
        "limits": kt.model.Limits((-1.0,), (2.0,), (3.0,), (4.0,)), "damping": [1.0], "friction": [2.0],
        "friction_speed": [0.1], "stiffness": [3.0], "rest": [0.5], "armature": [0.1],
    }  # fmt: skip
    builder.add_joint("slide", kt.Prismatic([1, 0, 0]), "base", "a", shift(0.1), **numbers)
    builder.add_joint("hinge", kt.Revolute([1, 0, 0]), "a", "b", rotor=Rotor(0.1, 5.0), **(numbers | options))
    return builder


def test_limits_in_metres_follow_and_drives_stay() -> None:
    robot = slide_and_hinge().build()
    scaled = robot.scaled(2.0)
    slide, hinge = scaled.joints["slide"], scaled.joints["hinge"]
    assert slide.limits == kt.model.Limits((-2.0,), (4.0,), (6.0,), (4.0,))
    assert hinge.limits == robot.joints["hinge"].limits
    assert (slide.rest, hinge.rest) == ((1.0,), (0.5,))
    for joint in (slide, hinge):
        assert (joint.damping, joint.friction, joint.friction_speed) == ((1.0,), (2.0,), (0.1,))
        assert (joint.stiffness, joint.armature) == ((3.0,), (0.1,))
    assert hinge.rotor == Rotor(0.1, 5.0)
    (mesh,) = scaled.bodies["base"].geometry
    assert (mesh.size, mesh.placement.r.components(), mesh.mesh) == ((2.0, 2.0, 4.0), (1.0, 0.0, 0.0), "base.stl")
    assert scaled.notes[0].startswith("scaled: lengths times 2, masses times 8; gravity, damping")


def test_velocity_limits_of_a_free_joint_are_metres_and_radians() -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    builder.add_body("ball", ball())
    inf = math.inf
    limits = kt.model.Limits((-1.0,) * 3 + (-inf,) * 4, (2.0,) * 3 + (inf,) * 4, (5.0,) * 6, (7.0,) * 6)
    builder.add_joint("float", kt.Free(), "base", "ball", limits=limits)
    scaled = builder.build().scaled(3.0).joints["float"].limits
    assert scaled.lower == (-3.0,) * 3 + (-inf,) * 4
    assert scaled.upper == (6.0,) * 3 + (inf,) * 4
    assert scaled.velocity == (15.0,) * 3 + (5.0,) * 3
    assert scaled.effort == (7.0,) * 6


@pytest.mark.parametrize(("leader", "follower"), [("slide", "hinge"), ("hinge", "slide")])
def test_a_mimic_between_metres_and_radians_keeps_its_motion(leader: str, follower: str) -> None:
    builder = slide_and_hinge()
    parts = builder.build().parts
    mimic = kt.model.Mimic(leader, 3.0, 0.25)
    robot = kt.ModelBuilder.of(
        replace(parts, joints=tuple(replace(j, mimic=mimic if j.name == follower else None) for j in parts.joints))
    ).build()
    scaled = robot.scaled(2.0)
    q = np.array([0.4])
    there = kt.frame_placement(scaled, q * (2.0 if leader == "slide" else 1.0), "b")
    here = kt.frame_placement(robot, q, "b")
    np.testing.assert_allclose(there[:3, :3], here[:3, :3], atol=1e-15)
    np.testing.assert_allclose(there[:3, 3], 2.0 * here[:3, 3], atol=1e-15)


def test_the_coordinates_of_a_coupling_stay_what_they_are() -> None:
    builder = slide_and_hinge()
    builder.add_coupling(
        "both", ["slide", "hinge"], [[1.0, 2.0], [3.0, -1.0]], coordinates=["s", "t"], offset=[0.1, 0.2]
    )
    robot = builder.build()
    scaled = robot.scaled(2.0)
    q = np.array([0.3, -0.7])
    there, here = kt.frame_placement(scaled, q, "b"), kt.frame_placement(robot, q, "b")
    np.testing.assert_allclose(there[:3, :3], here[:3, :3], atol=1e-15)
    np.testing.assert_allclose(there[:3, 3], 2.0 * here[:3, 3], atol=1e-15)


class Rigid(JointKind):
    """A hinge whose size is fixed."""

    nq = nv = 1

    def calc(self, q: Any, v: Any) -> JointMotion:
        return kt.Revolute([0, 0, 1]).calc(q, v)


def test_a_joint_that_has_no_scaled_kind_is_named() -> None:
    robot = chain([(kt.Revolute([0, 0, 1]), ball()), (Rigid(), ball())])
    with pytest.raises(ModelError, match=r"joint 'j2' \(Rigid\) cannot be scaled: Rigid.scaled gives no kind"):
        robot.scaled(2.0)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0.0,), {}, "length must be positive and finite, not 0"),
        ((math.nan,), {}, "length must be positive"),
        (("2",), {}, "length must be a number"),
        ((True,), {}, "length must be a number"),
        ((2.0,), {"mass": -1.0}, "mass must be positive"),
    ],
)
def test_bad_factors_are_refused(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        kt.zoo.load("double_pendulum").scaled(*arguments, **options)
