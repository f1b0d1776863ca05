"""Impossible and extreme numbers in each setting of contacts; those of MuJoCo's alone are in test_bad_input.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import Actuator, Equality
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.closed_form.scenes import G, H, Thing, contact, world
from tests.closed_form.settings import ALL, PER_STEP, SETTINGS, R, moved

GEAR = (10.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def pushed() -> kt.Model:
    """Two balls on rails above each other, the lower one with a motor."""
    up = kt.Prismatic([0, 0, 1])
    builder = kt.ModelBuilder.of(world(*(Thing("sphere", (R,), contact(), up) for _ in range(2)), ground=contact()))
    builder.extras = replace(builder.extras, actuators=(Actuator("push", "joint", "joint0", gear=GEAR),))
    return builder.build()


PUSHED = pushed()
RESTING = np.array([R, 3.0 * R])


def soft(name: str) -> kt.contact.SoftConstraints:
    return kt.contact.soft_constraints(PUSHED, **SETTINGS[name])


@ALL
def test_commands_of_nan_in_one_sample_harm_no_other(name: str) -> None:
    ctrl = np.random.default_rng(0).normal(size=(9, 15, 1))
    v = np.zeros(2)
    whole = kt.rollout(PUSHED, RESTING, v, None, H, ctrl=ctrl, contact=soft(name))
    ctrl[4, 5] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.rollout(PUSHED, RESTING, v, None, H, ctrl=ctrl, contact=soft(name))
    assert np.isfinite(whole).all()
    np.testing.assert_array_equal(np.delete(found, 4, axis=0), np.delete(whole, 4, axis=0))
    np.testing.assert_array_equal(found[4, :5], whole[4, :5])
    assert np.isnan(found[4, 5:]).any(axis=-1).all()


def test_targets_of_nan_of_a_controller_harm_no_other() -> None:
    @kt.program(q=2, v=2, goal=2)
    def servo(q: Any, v: Any, goal: Any) -> Any:
        return 100.0 * (goal - q) - 10.0 * v

    goal = np.random.default_rng(0).normal(size=(5, 12, 2))
    settings: dict[str, Any] = {"contact": soft("rigid"), "rows": {"goal": goal}}
    whole = kt.rollout(PUSHED, RESTING, np.zeros(2), servo, H, **settings).states
    goal[2, 3] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.rollout(PUSHED, RESTING, np.zeros(2), servo, H, **settings).states
    np.testing.assert_array_equal(np.delete(found, 2, axis=0), np.delete(whole, 2, axis=0))
    assert np.isfinite(whole).all()
    assert np.isnan(found[2, 3:]).any(axis=-1).all()


@ALL
def test_starts_inside_each_other_part_and_steps_of_any_length_stay_finite(name: str) -> None:
    v = np.zeros(2)
    # One ball in the other and both below the ground.
    q, speeds = moved(PUSHED, [0.3 * R, 0.3 * R + 1e-3], v, 1500, name)
    most = {"mujoco": 0.2 / 0.004, "compliant": 20.0, "rigid": 1.01 * 2.0, "accurate": 1.01 * 2.0}[name]
    assert np.abs(speeds).max() < most
    assert q[:, 0].max() > 0.99 * R
    still, none = moved(PUSHED, [R - 1e-3, 3.0 * R], [0.5, -0.2], 3, name, dt=0.0)
    np.testing.assert_array_equal(still, np.tile([R - 1e-3, 3.0 * R], (3, 1)))
    np.testing.assert_array_equal(none, np.tile([0.5, -0.2], (3, 1)))
    _, long = moved(PUSHED, RESTING, v, 60, name, dt=1.0)
    assert np.abs(long).max() < 50.0
    for back in (-1e-3, [1e-3, -1e-3]):
        with pytest.raises(kt.errors.OptionError, match=r"dt must not be negative: .* it is -0.001 s"):
            kt.rollout(PUSHED, RESTING, v, np.zeros((3, 2)), back, contact=soft(name))


@pytest.mark.parametrize(
    ("name", "ratio", "depth"), [("rigid", 1e2, 1e-4), ("rigid", 1e4, 1e-2), ("accurate", 1e6, 1e-8)]
)
def test_a_light_ball_bears_a_heavy_one(name: str, ratio: float, depth: float) -> None:
    balls = (
        Thing("sphere", (R,), contact(), mass=1.0 / ratio, inertia=0.004 / ratio),
        Thing("sphere", (R,), contact()),
    )
    robot = world(*balls, ground=contact())
    q = robot.neutral()
    q[[2, 9]] = R, 3.0 * R
    q_all, _ = moved(robot, q, np.zeros(12), 300, name)
    assert (q_all[:, 2] > R - depth).all()
    assert (q_all[:, 9] > 3.0 * R - 2.0 * depth).all()


@pytest.mark.parametrize("name", ["rigid", "accurate"])
def test_a_step_of_a_second_holds_what_touches_and_looks_no_farther_than_its_reach(name: str) -> None:
    robot = world(Thing("sphere", (R,), contact(), kt.Prismatic([0, 0, 1])), ground=contact())
    held, _ = moved(robot, [R], [0.0], 60, name, dt=1.0)
    assert held.min() > R - (1.03e-3 * G if name == "rigid" else 1e-9)  # it gives way by g h (h + τ) / 1000
    through, _ = moved(robot, [R + 0.1], [0.0], 1, name, dt=1.0)
    assert through[0, 0] < -5.0
    more = {"reach": 20.0}
    stopped, _ = moved(robot, [R + 0.1], [0.0], 1, name, more, dt=1.0)
    assert stopped[0, 0] > R - 0.02


@PER_STEP
@pytest.mark.parametrize(("places", "end"), [((0.012, -0.004), 0.004), ((0.3, -0.1), 0.0)])
def test_equalities_that_contradict_each_other_give_way_alike(
    name: str, places: tuple[float, float], end: float
) -> None:
    # They meet in the middle; but what is farther off than it is taken back in 0.02 s at 1 m/s pulls no harder than
    # that, so that two of these hold what is anywhere between them.
    held = [Equality(f"at{x}", "joint", "joint", "joint0", coefficients=(x, 0.0, 0.0, 0.0, 0.0)) for x in places]
    builder = kt.ModelBuilder.of(world(Thing("sphere", (0.1,), contact(), kt.Prismatic([1, 0, 0]))))
    builder.extras = replace(builder.extras, equalities=tuple(held))
    q, v = moved(builder.build(), [0.0], [0.0], 600, name)
    np.testing.assert_allclose(q[-1, 0], end, atol=1e-5)
    assert abs(v[-1, 0]) < 1e-6


@PER_STEP
def test_shapes_on_bodies_without_mass_touch_for_those_that_they_carry(name: str) -> None:
    ball = Geometry("collision", "sphere", (0.1,), Transform.identity())
    ends = []
    for own in (Inertia.zero(), Inertia.from_com(1e-7, Vec3.zero(), Sym3.scalar(0.0))):
        builder = kt.ModelBuilder("lift")
        builder.add_body("base")
        builder.add_body("foot", own, geometry=[ball])
        builder.add_body("load", Inertia.from_com(1.0, Vec3(0.2, 0.0, 0.0), Sym3.scalar(0.01)))
        builder.add_joint("up", kt.Prismatic([0, 0, 1]), "base", "foot")
        builder.add_joint("turn", kt.Revolute([0, 1, 0]), "foot", "load")
        ends.append(moved(builder.build().on_ground(), [0.1, 0.0], np.zeros(2), 200, name)[0][-1])
    assert ends[0][0] > 0.0998  # the foot holds
    assert ends[0][1] > 0.1  # and the load swings down
    np.testing.assert_allclose(*ends, atol=1e-5)


@pytest.mark.parametrize("name", ["mujoco", "rigid"])
def test_a_free_body_without_mass_is_an_error_that_names_it(name: Any) -> None:
    builder = kt.ModelBuilder("feather")
    builder.add_body("feather", geometry=[Geometry("collision", "sphere", (0.1,), Transform.identity())])
    robot = builder.build(floating_base=True).on_ground()
    at, none = robot.neutral(), np.zeros(6)
    for call in (
        lambda: kt.simulate(robot, duration=0.1, contact=name),
        lambda: kt.contact_dynamics(robot, at, none, none, contact=name),
    ):
        with pytest.raises(
            kt.errors.ModelError, match="the mass matrix has no inverse: joint root_joint moves nothing"
        ):
            call()
