"""The nearest configuration and velocity that constraints allow: they are met, and nothing nearer is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[np.float64]
ROBOT = kt.zoo.load("quadruped")
FEET = [name for name in ROBOT.frames if name.endswith("foot")]
PLACED = [kt.constraints.Contact(foot, at=kt.frame_placement(ROBOT, ROBOT.neutral(), foot)[:3, 3]) for foot in FEET]


def shaken(count: int, seed: int = 0, size: float = 0.2) -> Array:
    rng = np.random.default_rng(seed)
    return np.stack([ROBOT.integrate(ROBOT.neutral(), size * rng.normal(size=ROBOT.nv)) for _ in range(count)])


def four_bar() -> tuple[kt.Model, list[Any]]:
    """Crank 0.3, coupler 0.9, rocker 0.7 on a ground link of 1: a tree that a loop closes."""
    builder = kt.ModelBuilder("four_bar")
    for name in ("ground", "crank", "coupler", "rocker"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    axis = kt.Revolute([0, 0, 1])
    builder.add_joint("drive", axis, "ground", "crank")
    builder.add_joint("elbow", axis, "crank", "coupler", kt.lie.placement((0.3, 0.0, 0.0)))
    builder.add_joint("pivot", axis, "ground", "rocker", kt.lie.placement((1.0, 0.0, 0.0)))
    builder.add_frame("coupler_end", "coupler", kt.lie.placement((0.9, 0.0, 0.0)))
    builder.add_frame("rocker_end", "rocker", kt.lie.placement((0.7, 0.0, 0.0)))
    loop = kt.constraints.Loop("coupler_end", "rocker_end", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return builder.build(), [loop]


def test_feet_are_placed_and_the_displacement_is_the_smallest() -> None:
    q = shaken(20)
    found = kt.constraints.nearest_configuration(ROBOT, q, PLACED)
    assert found.error.max() <= 1e-12
    errors = kt.constraints.constraint_errors(ROBOT, found.q, PLACED)
    np.testing.assert_allclose(np.abs(errors).max(axis=-1), found.error, atol=1e-15)
    moved = kt.difference(ROBOT, q, found.q)
    for q_k, d in zip(found.q, moved, strict=True):
        J = kt.constraints.constraint_jacobian(ROBOT, q_k, PLACED)
        along = d - np.linalg.pinv(J) @ J @ d  # what could be taken back without leaving the constraints
        assert np.abs(along).max() < 1e-8 * max(1.0, float(np.abs(d).max()))


def test_a_sample_is_the_same_alone_and_in_any_batch() -> None:
    q = shaken(7, seed=1)
    together = kt.constraints.nearest_configuration(ROBOT, q, PLACED)
    for k in (0, 6):
        alone = kt.constraints.nearest_configuration(ROBOT, q[k], PLACED)
        assert (alone.q == together.q[k]).all()
        assert alone.steps == together.steps[k]
    out = q.copy()
    assert kt.constraints.nearest_configuration(ROBOT, out, PLACED, out=out).q is out
    assert (out == together.q).all()
    with pytest.raises(kt.errors.ShapeError, match="out has shape"):
        kt.constraints.nearest_configuration(ROBOT, q, PLACED, out=np.empty(3))
    shaped = kt.constraints.nearest_configuration(ROBOT, q[:6].reshape(2, 3, -1), PLACED)
    assert (shaped.q.reshape(6, -1) == together.q[:6]).all()


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5, -2.0])
def test_a_four_bar_closes_with_its_crank_held(angle: float) -> None:
    robot, loop = four_bar()
    q = np.array([angle, 0.5 - angle, 1.9])
    found = kt.constraints.nearest_configuration(robot, q, loop, held_joints=["drive"])
    assert found.q[0] == angle
    assert found.error <= 1e-12
    ends = [kt.frame_placement(robot, found.q, name)[:2, 3] for name in ("coupler_end", "rocker_end")]
    np.testing.assert_allclose(*ends, atol=1e-12)
    free = kt.constraints.nearest_configuration(robot, q, loop)
    assert np.linalg.norm(free.q - q) <= np.linalg.norm(found.q - q) + 1e-9
    v = kt.constraints.nearest_velocity(robot, found.q, [1.0, 0.0, 0.0], loop, held_joints=["drive"])
    assert v[0] == 1.0
    J = kt.constraints.constraint_jacobian(robot, found.q, loop)
    np.testing.assert_allclose(J @ v, 0.0, atol=1e-12)
    h = 1e-5  # the motion along this velocity stays assembled to first order, and the next assembly agrees with it
    near = [
        kt.constraints.nearest_configuration(robot, found.q + s * h * v, loop, held_joints=["drive"]).q for s in (-1, 1)
    ]
    np.testing.assert_allclose((near[1] - near[0]) / (2 * h), v, atol=1e-7)


def test_bodies_that_are_held_stay_and_contacts_without_a_place_hold_where_they_are() -> None:
    q = shaken(4, seed=2, size=0.1)
    lift = kt.frame_placement(ROBOT, q[0], FEET[0])[:3, 3] + [0.0, 0.0, 0.03]
    others = [kt.constraints.Contact(foot) for foot in FEET[1:]]
    found = kt.constraints.nearest_configuration(
        ROBOT, q[:1], [kt.constraints.Contact(FEET[0], at=lift), *others], held_bodies=["trunk"]
    )
    for name in ("trunk", *FEET[1:]):
        here, there = (kt.frame_placement(ROBOT, x[0], name)[:3] for x in (q, found.q))
        np.testing.assert_allclose(here[:, 3], there[:, 3], atol=1e-12)
    np.testing.assert_allclose(kt.frame_placement(ROBOT, found.q[0], FEET[0])[:3, 3], lift, atol=1e-12)


def test_what_cannot_be_met_is_said_or_brought_as_near_as_it_gets() -> None:
    arm = kt.zoo.load("arm6")
    place = np.array([9.0, 0.0, 0.5])
    far = [kt.constraints.Contact("tool", at=place)]
    q = np.array([0.1, 0.4, 0.5, 0.1, 0.2, 0.3])
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"cannot be met from the configuration: an error of .* is left"
    ):
        kt.constraints.nearest_configuration(arm, q, far)
    with pytest.raises(kt.errors.ConfigurationError, match=r"of sample \(0,\)"):
        kt.constraints.nearest_configuration(arm, np.stack([q, q]), far)
    found = kt.constraints.nearest_configuration(arm, q, far, on_impossible="least_squares")
    tool = kt.frame_placement(arm, found.q, "tool")[:3, 3]
    start = kt.frame_placement(arm, q, "tool")[:3, 3]
    assert np.linalg.norm(tool - place) < np.linalg.norm(start - place)
    assert found.error > 1.0


@pytest.mark.parametrize("mimic", [None, kt.model.Mimic("shoulder", -1.7)], ids=["two hinges", "one drives the other"])
def test_what_no_joint_moves_moves_no_joint(mimic: kt.model.Mimic | None) -> None:
    """Along the common axis of two hinges the tip stays where it is; of that row, rounding leaves 1e-17."""
    axis = np.array([0.3, -0.5, 0.8])
    builder = kt.ModelBuilder("tilted")
    for name in ("base", "arm", "forearm"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("shoulder", kt.Revolute(axis), "base", "arm", kt.lie.placement((0.1, 0.2, 0.3)))
    builder.add_joint("elbow", kt.Revolute(axis), "arm", "forearm", kt.lie.placement((0.3, 0.1, 0.0)), mimic=mimic)
    builder.add_frame("tip", "forearm", kt.lie.placement((0.3, 0.1, -0.4)))
    robot = builder.build()
    q, v = [0.3, 0.7][: robot.nq], [1.0, 2.0][: robot.nv]
    away = [kt.constraints.Contact("tip", axis, at=(0.5, 1.0, 2.0))]
    assert (np.abs(kt.constraints.constraint_jacobian(robot, q, away)) > 0.0).all()
    found = kt.constraints.nearest_configuration(robot, q, away, on_impossible="least_squares")
    assert found.q.tolist() == q
    assert kt.constraints.nearest_velocity(robot, q, v, away).tolist() == v


def test_the_nearest_velocity_is_a_projection() -> None:
    q = shaken(5, seed=3)
    rng = np.random.default_rng(3)
    v = rng.normal(size=(5, ROBOT.nv))
    found = kt.constraints.nearest_velocity(ROBOT, q, v, PLACED)
    J = kt.constraints.constraint_jacobian(ROBOT, q, PLACED)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", J, found), 0.0, atol=1e-12)
    expected = v - np.einsum("kij,kjl,kl->ki", np.linalg.pinv(J), J, v)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    np.testing.assert_allclose(kt.constraints.nearest_velocity(ROBOT, q, found, PLACED), found, atol=1e-12)


def test_single_precision_meets_them_to_its_rounding() -> None:
    found = kt.constraints.nearest_configuration(ROBOT, shaken(6, seed=4).astype(np.float32), PLACED)
    assert found.q.dtype == np.float32
    assert found.error.max() <= 1e-5


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"held_joints": "drive"},
            kt.errors.OptionError,
            r"held_joints must be a list of names of joints, such as \['drive'\]",
        ),
        ({"held_joints": ["drve"]}, kt.errors.NameNotFoundError, "no joint 'drve': did you mean 'drive'"),
        ({"held_bodies": "crank"}, kt.errors.OptionError, "held_bodies must be a list of names, not 'crank'"),
        ({"held_bodies": ["krank"]}, kt.errors.NameNotFoundError, "no frame 'krank'"),
        ({"on_impossible": "?"}, kt.errors.OptionError, "on_impossible must be 'error' or 'least_squares'"),
    ],
)
def test_wrong_options_are_refused_in_words(options: Any, error: type[Exception], message: str) -> None:
    robot, loop = four_bar()
    with pytest.raises(error, match=message):
        kt.constraints.nearest_configuration(robot, robot.neutral(), loop, **options)
