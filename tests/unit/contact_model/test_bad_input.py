"""What contacts do with impossible and extreme numbers: what is an error, and what stays finite."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import Equality
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.closed_form.scenes import Array, H, Thing, contact, rollout, world

BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())
BALL = Geometry("collision", "sphere", (0.1,), Transform.identity())


def lying(*leading: int, depth: float = 0.0) -> Array:
    q = np.tile(BOX.neutral(), (*leading, 1))
    q[..., 2] = 0.05 - depth
    return q


def point(friction: float, cone: str = "elliptic") -> kt.Model:
    own = contact((friction, 0.0, 0.0))
    return world(Thing("sphere", (0.1,), own, kt.joints.Translation()), ground=own, cone=cone)


def sliding(robot: kt.Model) -> tuple[Array, Array]:
    q, v = rollout(robot, [0.0, 0.0, 0.1 - 1e-5], [1.0, 0.0, 0.0], 300)
    return q[-1], v[-1]


# -- friction


def test_negative_friction_is_warned_of_and_is_almost_none() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = point(-1.0)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert "body 'thing0': a shape has negative friction, (-1.0, 0.0, 0.0); it counts as almost none" in messages[1]
    _, v = sliding(robot)
    np.testing.assert_allclose(v[0], 1.0 - 1e-5 * 9.81 * 0.3, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"friction": (np.nan, 0.0, 0.0)}, "friction of a contact must be 3 finite numbers"),
        ({"friction": (1.0, 0.0)}, "friction of a contact must be 3 finite numbers"),
        ({"friction": 0.5}, "friction of a contact must be a sequence of numbers"),
        ({"solref": (np.inf, 1.0)}, "solref of a contact must be 2 finite numbers"),
        ({"solimp": (0.9, 0.95)}, "solimp of a contact must be 5 finite numbers"),
        ({"margin": np.nan}, "margin of a contact must be a finite number"),
        ({"condim": 2}, "condim of a contact must be 1, 3, 4 or 6, not 2"),
        ({"contype": 2**31}, "contype of a contact must be an integer of 32 bits, not 2147483648"),
        ({"priority": 0.5}, "priority of a contact must be an integer of 32 bits, not 0.5"),
    ],
)
def test_impossible_parameters_are_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=f"body 'thing0': {what}"):
        world(Thing("sphere", (0.1,), replace(contact(), **change)))


@pytest.mark.parametrize("friction", [1e3, 1e6, 1e12])
def test_huge_friction_holds_with_an_elliptic_cone(friction: float) -> None:
    q, v = sliding(point(friction))
    assert q[0] < 0.01
    assert np.abs(v).max() < 1e-9


def test_huge_friction_makes_pyramids_soft() -> None:
    # R of their edges grows with μ⁴, as in MuJoCo: with μ = 1000 nothing is held.
    _, v = sliding(point(1e3, "pyramidal"))
    assert v[2] < -2.9
    _, v = sliding(point(3.0, "pyramidal"))
    assert np.abs(v).max() < 1e-3


# -- samples


@pytest.mark.parametrize("of", ["q", "v", "tau"])
def test_a_sample_of_nan_harms_no_other(of: str) -> None:
    rng = np.random.default_rng(1)
    q, v, tau = lying(9), 0.3 * rng.normal(size=(9, 6)), rng.normal(size=(9, 40, 6))
    whole = kt.rollout(BOX, q, v, tau, H, contact=True)
    {"q": q, "v": v, "tau": tau}[of][4, ..., 0] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.rollout(BOX, q, v, tau, H, contact=True)
    assert np.isnan(found[4, -1]).any()
    assert np.isfinite(whole).all()
    assert (np.delete(found, 4, axis=0) == np.delete(whole, 4, axis=0)).all()


@pytest.mark.parametrize("name", ["friction", "size", "placement", "solref", "margin"])
def test_a_sample_whose_shape_is_not_a_number_harms_no_other(name: str) -> None:
    shape = f"shape.thing0[0].{name}"
    rng = np.random.default_rng(1)
    q, v, tau = lying(5), 0.3 * rng.normal(size=(5, 6)), rng.normal(size=(5, 20, 6))
    own = {shape: np.broadcast_to(BOX.parameter(shape), (5, *BOX.parameter(shape).shape)).copy()}
    whole = kt.rollout(BOX, q, v, tau, H, contact=True, parameters=own)
    own[shape][2] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.rollout(BOX, q, v, tau, H, contact=True, parameters=own)
    assert np.isfinite(whole).all()
    assert (np.delete(found, 2, axis=0) == np.delete(whole, 2, axis=0)).all()
    assert (found[2] != whole[2]).any()


# -- what cannot all be satisfied


def test_equalities_that_contradict_each_other_meet_in_the_middle() -> None:
    held = [
        Equality(f"at{place}", "joint", "joint", "joint0", coefficients=(place, 0.0, 0.0, 0.0, 0.0))
        for place in (0.3, -0.1)
    ]
    builder = kt.ModelBuilder.of(world(Thing("sphere", (0.1,), contact(), kt.Prismatic([1, 0, 0]))))
    builder.extras = replace(builder.extras, equalities=tuple(held))
    q, v = rollout(builder.build(), [0.0], [0.0], 600)
    assert abs(q[-1, 0] - 0.1) < 1e-3
    assert abs(v[-1, 0]) < 1e-3


def test_a_stop_beyond_the_other_one_holds_between_them() -> None:
    limits = kt.model.Limits((-1.0,), (1.0,), (np.inf,), (np.inf,))
    robot = world(Thing("sphere", (0.1,), contact(), kt.Prismatic([1, 0, 0]), limits=limits))
    crossed = {"joint.joint0.lower": 0.3, "joint.joint0.upper": -0.1}
    q, v = rollout(robot, [0.25], [0.0], 600, parameters=crossed)
    assert abs(q[-1, 0] - 0.1) < 1e-3
    assert abs(v[-1, 0]) < 1e-3


# -- starts and steps


def test_bodies_that_begin_inside_each_other_part_at_a_finite_speed() -> None:
    # A spring of the time constant T gives less than r / T to what begins at the depth r.
    for depth in (0.01, 0.09, 5.0):
        q, v = rollout(BOX, lying(depth=depth), np.zeros(6), 400)
        assert q[:, 2].max() > 0.05
        assert np.abs(v).max() < depth / 0.004
    two = world(*(Thing("sphere", (0.1,), contact()) for _ in range(2)))
    q, v = rollout(two, two.neutral(), np.zeros(12), 100)  # one inside the other, with no direction between them
    assert np.abs(v).max() < 0.2 / 0.004


def test_a_step_of_no_time_changes_nothing() -> None:
    q0, v0 = lying(depth=0.001), np.array([1.0, 0.2, -0.5, 0.1, 0.2, 0.3])
    q, v = rollout(BOX, q0, v0, 3, dt=0.0)
    np.testing.assert_allclose(q, np.tile(q0, (3, 1)), atol=1e-15)
    np.testing.assert_allclose(v, np.tile(v0, (3, 1)), atol=1e-15)


def test_a_step_of_a_second_makes_contacts_soft_and_not_unstable() -> None:
    # Their time constant is at least two steps, so here 2 s. A ball lies then as deep as g (1 - d) t².
    robot = point(0.5)
    q, v = rollout(robot, [0.0, 0.0, 0.1], np.zeros(3), 60, dt=1.0)
    np.testing.assert_allclose(q[-1, 2], 0.1 - 9.81 * 0.1 * 4.0, rtol=1e-3)
    assert np.abs(v).max() < 12.0


# -- bodies without mass


def test_a_free_body_without_mass_is_an_error_that_names_it() -> None:
    builder = kt.ModelBuilder("feather")
    builder.add_body("feather", geometry=[BALL])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        robot = builder.build(floating_base=True).on_ground()
    with pytest.raises(
        kt.errors.ModelError, match="the mass matrix has no inverse: joint root_joint moves nothing with inertia"
    ):
        kt.rollout(robot, robot.neutral(), np.zeros(6), np.zeros((3, 6)), H, contact=True)


def test_shapes_on_bodies_without_mass_touch_for_those_that_they_carry() -> None:
    def lift(shaped: Inertia) -> kt.Model:
        builder = kt.ModelBuilder("lift")
        builder.add_body("base")
        builder.add_body("foot", shaped, geometry=[BALL])
        builder.add_body("load", Inertia.from_com(1.0, Vec3(0.2, 0.0, 0.0), Sym3.scalar(0.01)))
        builder.add_joint("up", kt.Prismatic([0, 0, 1]), "base", "foot")
        builder.add_joint("turn", kt.Revolute([0, 1, 0]), "foot", "load")
        return builder.build().on_ground()

    almost = Inertia.from_com(1e-7, Vec3.zero(), Sym3.scalar(0.0))
    ends = [rollout(lift(own), [0.1, 0.0], np.zeros(2), 200)[0][-1] for own in (Inertia.zero(), almost)]
    assert ends[0][0] > 0.09  # the foot holds
    assert ends[0][1] > 0.1  # and the load swings down
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_contacts_of_a_fixed_body_without_mass_are_those_of_what_it_is_fixed_to() -> None:
    builder = kt.ModelBuilder("table")
    builder.add_body("table", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.1)))
    builder.add_body("leg", geometry=[BALL])
    builder.add_joint("glue", kt.Fixed(), "table", "leg")
    robot = builder.build(floating_base=True).on_ground()
    q0 = robot.neutral()
    q0[2] = 0.1
    q, _ = rollout(robot, q0, np.zeros(6), 300)
    assert abs(q[-1, 2] - 0.1) < 1e-3


def test_a_ground_of_ice_has_no_friction_at_all() -> None:
    builder = kt.ModelBuilder("puck")
    builder.add_body("puck", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.1)), geometry=[BALL])
    builder.add_body("world")
    builder.add_joint("glide", kt.joints.Translation(), "world", "puck")
    robot = builder.build().on_ground(friction=0.0)
    _, v = rollout(robot, [0.0, 0.0, 0.1], [1.0, 0.0, 0.0], 100)
    assert v[-1, 0] == 1.0
