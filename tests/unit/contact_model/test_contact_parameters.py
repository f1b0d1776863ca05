"""Numbers of shapes and limits as parameters: what they are called, and that they do what another robot does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.functions.contact_dynamics import CONTACT_DYNAMICS
from kinetree.functions.shape_distances import DISTANCE
from kinetree.model.extras import ContactPair, ContactParameters
from kinetree.model.parameters import placement_from
from tests.closed_form.scenes import Array, Thing, contact, world

PLACED = [0.02, -0.01, 0.03, 0.1, 0.2, -0.1, 0.9]


def thing(
    shape: str = "sphere", size: tuple[float, ...] = (0.1,), own: ContactParameters | None = None, **more: Any
) -> Thing:
    return Thing(shape, size, own or contact((0.6, 0.01, 0.002)), **more)


def slider(lower: float, upper: float = math.inf) -> Thing:
    return thing(joint=kt.Prismatic([0, 0, 1]), limits=kt.model.Limits((lower,), (upper,), (math.inf,), (math.inf,)))


def motion(robot: kt.Model, parameters: Mapping[str, Any] | None = None, depth: float = 0.003) -> Array:
    """Accelerations of something that is in the ground and slides, on floats."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[2], v[:3] = 0.1 - depth, (0.6, 0.2, -0.1)
    given = {name: np.ravel(x).tolist() for name, x in (parameters or {}).items()}
    found = on_numbers(CONTACT_DYNAMICS, robot, (q.tolist(), v.tolist(), [0.0] * robot.nv), parameters=given)
    return np.array(found[: robot.nv])


def same(robot: kt.Model, parameters: Mapping[str, Any], other: kt.Model) -> None:
    found, wanted = motion(robot, parameters), motion(other)
    assert np.abs(motion(robot) - wanted).max() > 1e-6  # it matters
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


# -- names


def test_shapes_that_may_touch_and_limits_have_parameters() -> None:
    robot = world(thing("capsule", (0.1, 0.3)), slider(-1.0), ground=contact())
    names = [name for name in robot.parameter_names if name.startswith("shape.") or name.endswith(("lower", "upper"))]
    of_all = ("placement", "friction", "solref", "solimp", "margin")
    assert names == [
        "joint.joint1.lower",
        *(f"shape.floor.{x}" for x in of_all),
        *(f"shape.thing0[0].{x}" for x in ("size", *of_all)),
        *(f"shape.thing1[0].{x}" for x in ("size", *of_all)),
    ]
    for name in names:
        assert robot.parameter(name).dtype == np.float64
    assert robot.parameter("shape.thing0[0].size").tolist() == [0.1, 0.3]
    assert robot.parameter("shape.world[0].friction").tolist() == [0.5, 0.005, 0.0001]  # the floor, by its place
    assert robot.parameter("joint.joint1.lower") == -1.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shape.flor.friction", "no shape 'flor' that touches others; did you mean 'floor'"),
        ("shape.floor.size", "the plane 'floor' has placement, friction, solref, solimp, margin"),
        ("shape.thing0[0].gap", "the sphere 'thing0\\[0\\]' has size, placement, friction, solref, solimp, margin"),
        ("joint.joint0.upper", "joint 'joint0' has no upper limit of one coordinate"),
    ],
)
def test_a_wrong_name_is_answered_with_what_to_write(name: str, words: str) -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=words):
        world(thing(), ground=contact()).parameter(name)


def test_a_shape_without_an_orientation_is_refused() -> None:
    robot = world(thing(), ground=contact())
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"shape.floor.placement: the quaternion of shape 'floor' .* zero"
    ):
        kt.contact_dynamics(
            robot, robot.neutral(), np.zeros(6), np.zeros(6), parameters={"shape.floor.placement": np.zeros(7)}
        )


# -- values


def test_the_robots_own_values_change_nothing() -> None:
    robot = world(thing(), slider(-1.0, 2.0), ground=contact())
    own = {x: robot.parameter(x) for x in robot.parameter_names if not x.startswith("body.")}
    np.testing.assert_allclose(motion(robot, own), motion(robot), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("priority", [0, 1])
def test_the_larger_friction_counts_or_that_of_the_shape_with_priority(cone: str, priority: int) -> None:
    ground = contact((0.3, 0.02, 0.001), condim=6, priority=priority)

    def robot(friction: tuple[float, float, float]) -> kt.Model:
        return world(thing(own=contact(friction, condim=6)), ground=ground, cone=cone)

    own, other = (0.1, 0.01, 0.002), (0.25 + 0.2 * (1 - priority), 0.015, 0.003)
    changed = {"shape.thing0[0].friction": other}
    if priority:  # the floor's counts
        assert (motion(robot(own), changed) == motion(robot(own))).all()
    else:
        same(robot(own), changed, robot(other))


def test_negative_friction_in_a_call_is_almost_none() -> None:
    robot = world(thing(own=contact((-0.0, 0.0, 0.0))), ground=contact((0.0, 0.0, 0.0)))
    for friction in (-1.0, -1e9, 0.0):
        found = motion(robot, {"shape.floor.friction": [friction, 0.0, 0.0]})
        assert (found == motion(robot)).all()


@pytest.mark.parametrize("solref", [(0.006, 0.7), (-2000.0, -40.0), (0.01, -40.0)])
def test_softness_is_mixed_as_files_have_it(solref: tuple[float, float]) -> None:
    """By weights if both are time constants, the harder one otherwise; a mixture of both is replaced by the usual."""
    ground = contact(solref=(0.01, 0.8), solmix=3.0)
    other = world(thing(own=contact(solref=solref)), ground=ground)
    same(world(thing(own=contact()), ground=ground), {"shape.thing0[0].solref": solref}, other)


def test_margins_add() -> None:
    other = world(thing(own=contact(margin=0.02)), ground=contact(margin=0.01))
    robot = world(thing(own=contact()), ground=contact(margin=0.01))
    same(robot, {"shape.thing0[0].margin": 0.02}, other)
    apart = motion(robot, {"shape.thing0[0].margin": 0.02}, depth=-0.015)
    assert apart[2] > -9.8
    assert motion(robot, depth=-0.015)[2] == pytest.approx(-9.81)


@pytest.mark.parametrize(
    ("shape", "own", "size"),
    [
        ("sphere", (0.1,), (0.11,)),
        ("capsule", (0.05, 0.1), (0.06, 0.12)),
        ("cylinder", (0.1, 0.2), (0.12, 0.21)),
        ("ellipsoid", (0.1, 0.2, 0.1), (0.11, 0.18, 0.12)),
        ("box", (0.2, 0.3, 0.2), (0.22, 0.28, 0.21)),
    ],
)
def test_sizes_are_those_of_another_robot(shape: str, own: tuple[float, ...], size: tuple[float, ...]) -> None:
    ground = contact()
    other = world(thing(shape, size), ground=ground)
    same(world(thing(shape, own), ground=ground), {"shape.thing0[0].size": size}, other)


def test_placements_are_those_of_another_robot() -> None:
    at, ground = placement_from(PLACED), contact()
    moved = thing("box", (0.2, 0.2, 0.2))
    moved.geometry = replace(moved.geometry, placement=at)
    robot = world(thing("box", (0.2, 0.2, 0.2)), ground=ground)
    same(
        robot,
        {"shape.thing0[0].placement": [2.0 * x if k > 2 else x for k, x in enumerate(PLACED)]},
        world(moved, ground=ground),
    )


def test_distances_have_sizes_and_placements_as_parameters() -> None:
    robot = world(thing(), thing("box", (0.2, 0.2, 0.2), at=(1.0, 0.0, 0.0)))
    given = {"shape.thing0[0].size": [0.15], "shape.thing1[0].placement": [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}
    found = on_numbers(DISTANCE, robot, (robot.neutral().tolist(),), a="thing0", b="thing1", parameters=given)
    assert found[0] == pytest.approx(1.0 + 0.1 - 0.1 - 0.15)


def test_pairs_that_the_file_names_have_their_own_numbers() -> None:
    named = thing()
    named.geometry = replace(named.geometry, name="ball")
    builder = kt.ModelBuilder.of(world(named, ground=contact()))
    pair = ContactPair("floor", "ball", friction=(0.2, 0.2, 0.0, 0.0, 0.0))
    builder.extras = replace(builder.extras, contact_pairs=(pair,))
    paired = builder.build()
    assert (motion(paired, {"shape.ball.friction": [0.9, 0.0, 0.0]}) == motion(paired)).all()
    assert np.abs(motion(paired, {"shape.ball.size": [0.11]}) - motion(paired)).max() > 1.0


def test_joints_end_where_a_call_says() -> None:
    def lift(upper: float) -> kt.Model:
        return world(slider(-1.0, upper))

    def up(robot: kt.Model, **ends: list[float]) -> float:
        given = {f"joint.joint0.{end}": x for end, x in ends.items()}
        return float(on_numbers(CONTACT_DYNAMICS, robot, ([0.52], [0.1], [0.0]), parameters=given)[0])

    assert up(lift(2.0)) == pytest.approx(-9.81)
    assert up(lift(2.0), upper=[0.5]) == up(lift(0.5)) < -20.0
    assert up(lift(2.0), lower=[0.55], upper=[1.0]) > 0.0


# -- samples


def test_each_sample_has_its_own_numbers() -> None:
    robot = world(thing(own=contact((0.0, 0.0, 0.0))), ground=contact((0.0, 0.0, 0.0)))
    friction = np.zeros((4, 3))
    friction[:, 0] = (-0.5, 0.1, 0.3, np.nan)
    radius = np.array([[0.1], [0.101], [0.1], [0.1]])
    q, v = robot.neutral(), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    q[2] = 0.0999
    given = {"shape.floor.friction": friction, "shape.thing0[0].size": radius}
    with np.errstate(invalid="ignore"):
        states = kt.rollout(robot, q, v, np.zeros((20, 6)), 0.001, contact=True, parameters=given)
    assert states.shape == (4, 20, 13)
    for k in range(3):
        alone = kt.rollout(
            robot, q, v, np.zeros((20, 6)), 0.001, contact=True, parameters={name: x[k] for name, x in given.items()}
        )
        assert (alone == states[k]).all()
    speed = states[:3, -1, 7]
    assert speed[0] == pytest.approx(1.0, abs=1e-5)  # negative friction: almost none
    assert speed[0] > speed[1]
    assert speed[1] > speed[2]
