"""Inverse kinematics: what is reached is reached, what is not is nearest, and every sample is alone."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    CenterOfMass,
    Pose,
    Position,
    Posture,
    Task,
    inverse_kinematics,
    inverse_kinematics_program,
)
from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.priorities import hierarchical_step
from kinetree.control.kinematics.search import Bounds, pushed
from tests.unit.function.test_unroll import biped

ARM = kt.zoo.load("arm7")
TARGETS = kt.frame_placement(ARM, ARM.random(3, size=200), "tool")
TOOL = Pose("tool")


def test_reachable_poses_are_reached_within_the_limits() -> None:
    found = inverse_kinematics(ARM, TOOL, TARGETS)
    assert found.reached.all()
    assert (found.q >= ARM.lower).all()
    assert (found.q <= ARM.upper).all()
    (errors,) = found.errors
    assert errors.shape == (200, 6)
    assert abs(errors).max() <= 1.0001e-6
    np.testing.assert_allclose(kt.frame_placement(ARM, found.q, "tool"), TARGETS, rtol=0, atol=2e-6)
    assert str(found).startswith("200 of 200 reached, from ")


def test_a_sample_is_the_same_alone_and_in_any_batch() -> None:
    targets = TARGETS.copy()
    targets[5, 2, 3] += 3.0  # out of reach
    together = inverse_kinematics(ARM, TOOL, targets)
    assert together.evaluations.max() > 64  # some are computed apart
    order = np.random.default_rng(0).permutation(200)
    mixed = inverse_kinematics(ARM, TOOL, targets[order], threads=2)
    few = inverse_kinematics(ARM, TOOL, targets[:7])
    for whole, moved, part in zip(*(x[:1] + x[2:5] for x in (together, mixed, few)), strict=True):
        assert (whole[order] == moved).all()
        assert (whole[:7] == part).all()
    for k in np.argsort(together.evaluations)[[0, 100, -2, -1]]:
        alone = inverse_kinematics(ARM, TOOL, targets[k])
        assert (alone.q == together.q[k]).all()
        assert alone.evaluations == together.evaluations[k]


def test_starts_and_seeds() -> None:
    one = inverse_kinematics(ARM, TOOL, TARGETS, starts=1)
    assert (one.starts == 1).all()
    assert 0.3 < one.reached.mean() < 1.0
    from_the_solution = inverse_kinematics(ARM, TOOL, TARGETS, inverse_kinematics(ARM, TOOL, TARGETS).q, starts=1)
    assert from_the_solution.reached.all()
    assert (from_the_solution.evaluations == 1).all()
    other = inverse_kinematics(ARM, TOOL, TARGETS, seed=3)
    assert other.reached.all()
    assert (other.q != inverse_kinematics(ARM, TOOL, TARGETS).q).any()


def test_what_cannot_be_reached_is_approached() -> None:
    """The tip of a double pendulum in a plane can be as far from the origin as its two rods are long together."""
    robot = kt.zoo.load("double_pendulum")
    tip = Position(list(robot.bodies)[-1], at=[0.0, 0.0, -0.25])
    straight = tip.present(robot, np.zeros(2)) - kt.forward_kinematics(robot, np.zeros(2))[..., :3, 3].reshape(-1, 3)[1]
    radius = np.linalg.norm(straight)
    pivot = tip.present(robot, np.zeros(2)) - straight
    angles = np.linspace(0.1, 3.0, 9)
    away = 1.5 * np.stack([np.sin(angles), 0.0 * angles, -np.cos(angles)], axis=-1)
    found = inverse_kinematics(robot, tip, pivot + radius * away, [0.3, 0.3], starts=3)
    assert not found.reached.any()
    np.testing.assert_allclose(np.linalg.norm(found.errors[0], axis=-1), 0.5 * radius, rtol=1e-6)
    assert "0 of 9 reached" in str(found)
    assert "the largest error of the others is" in str(found)


def test_joints_that_end_at_limits_are_named() -> None:
    arm = kt.zoo.load("double_pendulum")
    tip, lower, upper = Position("tip"), np.array([-1.0, 0.1]), np.array([0.5, 3.0])
    targets = kt.frame_placement(arm, np.array([[0.2, 0.3], [1.2, 0.4], [1.4, 0.2]]), "tip")[:, :3, 3]
    found = inverse_kinematics(arm, tip, targets, [0.3, 0.3], lower=lower, upper=upper)
    assert found.reached.tolist() == [True, False, False]
    assert {name: there.tolist() for name, there in found.at_limits.items()} == {"shoulder": [False, True, True]}
    assert str(found).endswith("; at their limits there: shoulder (2 of 2)")
    one = inverse_kinematics(arm, tip, targets[1], [0.3, 0.3], lower=lower, upper=upper)
    assert str(one).endswith("; at their limits there: shoulder")
    assert found.limits.names == ("shoulder", "elbow")
    far = inverse_kinematics(arm, tip, [0.0, 0.0, 9.0], [0.3, 0.3])
    assert far.at_limits == {}
    assert str(far).endswith("; no joint is at a limit there")


def test_limits_hold_the_nearest_configuration() -> None:
    low, high = np.full(7, -0.2), np.full(7, 0.2)
    found = inverse_kinematics(ARM, TOOL, TARGETS[:20], np.full(7, 5.0), lower=low, upper=high)
    assert (found.q >= low).all()
    assert (found.q <= high).all()
    assert not found.reached.any()
    for q, target in zip(found.q, TARGETS, strict=False):  # the gradient pushes against limits, or is zero
        downhill = -TOOL.error_jacobian(ARM, q, target).T @ TOOL.error(ARM, q, target)
        at_low, at_high = q < low + 1e-12, q > high - 1e-12
        assert abs(downhill[~at_low & ~at_high]).max(initial=0.0) < 1e-3
        assert (downhill[at_low] < 1e-3).all()
        assert (downhill[at_high] > -1e-3).all()


def test_nan_stays_in_its_sample() -> None:
    targets = TARGETS[:5].copy()
    targets[2, 0, 3] = np.nan
    found = inverse_kinematics(ARM, TOOL, targets)
    clean = inverse_kinematics(ARM, TOOL, TARGETS[:5])
    others = [0, 1, 3, 4]
    assert (found.q[others] == clean.q[others]).all()
    assert not found.reached[2]
    assert np.isfinite(found.q).all()
    assert np.isnan(found.errors[0][2]).any()


def test_nan_alone_is_reported_without_a_warning() -> None:
    for where in ((0, 3), (0, 0)):
        target = TARGETS[0].copy()
        target[where] = np.nan
        found = inverse_kinematics(ARM, TOOL, target)
        assert found.reached.dtype == bool
        assert not found.reached
        assert (found.q == 0.5 * (ARM.lower + ARM.upper)).all()


def test_what_is_known_of_tasks_is_by_their_values() -> None:
    """Weights are no part of a solver, and a task that is made anew finds that of an equal one."""
    rest = np.zeros(7)
    given = [TARGETS[7], rest], 0.5 * (ARM.lower + ARM.upper)
    results = [
        inverse_kinematics(ARM, [Pose("tool", weight=w), Posture(weight=0.01 * w)], *given, starts=1)
        for w in (1.0, 2.0, 1.0)
    ]
    assert [e.shape for e in results[0].errors] == [(6,), (7,)]
    assert (results[0].q == results[2].q).all()
    np.testing.assert_allclose(results[1].q, results[0].q, atol=1e-5)
    assert (results[1].q != results[0].q).any()
    batch = inverse_kinematics(ARM, [Pose("tool"), Posture(weight=0.01)], [TARGETS[6:9], rest], starts=1)
    for one, many in zip(
        (*results[0][:1], *results[0][1], *results[0][2:5]), (*batch[:1], *batch[1], *batch[2:5]), strict=True
    ):
        assert (one == many[1]).all()
        assert one.dtype == many.dtype


def test_it_does_not_keep_robots_alive() -> None:
    robot = kt.zoo.load("double_pendulum").lock(["elbow"])
    assert inverse_kinematics(robot, Position("tip", axes="x"), np.zeros(3)).reached
    alive = weakref.ref(robot)
    del robot
    gc.collect()
    assert alive() is None


def test_weights_divide_what_is_left() -> None:
    """Two positions of one point: the point is at their weighted mean."""
    near = kt.frame_placement(ARM, np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0]), "tool")[:3, 3]
    shift = np.array([0.04, 0.0, -0.02])
    tasks = [Position("tool", weight=3.0), Position("tool", weight=1.0, axes="xyz")]
    found = inverse_kinematics(ARM, tasks, [near, near + shift], starts=1)
    reached = kt.frame_placement(ARM, found.q, "tool")[:3, 3]
    np.testing.assert_allclose(reached, near + 0.25 * shift, atol=1e-6)
    assert not found.reached


def test_lower_priorities_use_what_is_left() -> None:
    rest = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0])
    hand, posture = Pose("tool"), Posture(priority=1)
    found = inverse_kinematics(ARM, [hand, posture], [TARGETS[:30], rest])
    assert found.reached.all()
    for q, target in zip(found.q, TARGETS, strict=False):
        J, e = hand.jacobian(ARM, q, target), posture.error(ARM, q, rest)
        free = (q > ARM.lower) & (q < ARM.upper)
        left = e[free] - np.linalg.pinv(J[:, free]) @ (J[:, free] @ e[free])
        assert abs(left).max() < 2e-3


def test_three_priorities_of_a_free_robot() -> None:
    robot, feet = biped(), ["left_foot", "right_foot"]
    stand = robot.neutral()
    stand[7:] = np.tile([0.1, 0.5], 2)
    places = [kt.frame_placement(robot, stand, foot)[:3, 3] for foot in feet]
    center = kt.center_of_mass(robot, stand) + np.array([0.03, -0.02, 0.0])
    tasks = [*(Position(foot) for foot in feet), CenterOfMass(axes="xy", priority=1), Posture(priority=2)]
    found = inverse_kinematics(robot, tasks, [*places, center, stand], stand, starts=1)
    assert found.reached
    assert abs(kt.center_of_mass(robot, found.q)[:2] - center[:2]).max() < 1e-6
    assert np.linalg.norm(found.errors[-1]) < 0.5
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0)


def test_the_program_runs_on_plain_arrays() -> None:
    ik = inverse_kinematics_program(ARM, TOOL)
    numbers = ARM.lower, ARM.upper, np.ones(6), 1e-6, 2.0, 40.0, np.zeros(7)
    q0 = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0])
    target = kt.frame_placement(ARM, q0 + 0.1, "tool")
    compiled, plain = ik(q0, target, *numbers), ik.function(q0, target, *numbers)
    np.testing.assert_allclose(compiled.q, plain.q, rtol=0, atol=1e-12)
    assert compiled.evaluations == plain.evaluations
    assert plain.reached


class Radius(Task):
    """A frame is to be so far from an axis, in a subclass that is not a record."""

    def __init__(self, frame: str) -> None:
        super().__init__()
        self.frame = frame

    def size(self, _: kt.Model) -> int:
        return 1

    def target_shape(self, _: kt.Model) -> tuple[int, ...]:
        return ()

    def error(self, robot: kt.Model, q: Any, target: Any) -> Any:
        x = kt.frame_placement(robot, q, self.frame)[:2, 3]
        return np.stack([target - np.sqrt(x @ x)])


def test_tasks_of_a_users_own() -> None:
    q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])
    for name in ("tool", "hand"):  # equal as far as a task can see, and yet not the same
        found = inverse_kinematics(ARM, Radius(name), 0.25, q)
        assert found.reached
        assert np.linalg.norm(kt.frame_placement(ARM, found.q, name)[:2, 3]) == pytest.approx(0.25, abs=1e-6)
    task = Radius("tool")
    difference = [(task.error(ARM, q + d, 0.2) - task.error(ARM, q - d, 0.2)) / 2e-6 for d in 1e-6 * np.eye(7)]
    np.testing.assert_allclose(task.error_jacobian(ARM, q, 0.2), np.stack(difference, axis=1), rtol=0, atol=1e-8)


def test_rows_without_weight_do_not_count() -> None:
    found = inverse_kinematics(ARM, Pose("tool", weight=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), TARGETS[:5])
    assert found.reached.all()
    assert (abs(found.errors[0][:, :3]) <= 1e-6).all()
    assert (abs(found.errors[0][:, 3:]) > 1e-3).any()
    nothing = inverse_kinematics(ARM, Pose("tool", weight=0.0), TARGETS[:5])
    assert (nothing.evaluations == 1).all()
    assert nothing.reached.all()


class Short(Radius):
    """A task whose error is not what its size says."""

    def size(self, _: kt.Model) -> int:
        return 2


class Empty(Task):
    """A task without any method."""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: inverse_kinematics(ARM, Short("tool"), 0.2),
            kt.errors.ShapeError,
            "Short.error returned an array of shape",
        ),
        (lambda: inverse_kinematics(ARM, Empty(), 0.2), NotImplementedError, "Empty has no method size(robot)"),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS[:3], np.zeros((2, 7))),
            kt.errors.ShapeError,
            "the leading axes do not broadcast together: q0 (2,), target (3,)",
        ),
        (lambda: inverse_kinematics(ARM, "tool", TARGETS), kt.errors.OptionError, "tasks must be a task, such as"),
        (lambda: inverse_kinematics(ARM, [], []), kt.errors.OptionError, "a list of tasks with at least one"),
        (lambda: inverse_kinematics(ARM, Pose("tol"), TARGETS), kt.errors.NameNotFoundError, "tool"),
        (
            lambda: inverse_kinematics(ARM, [TOOL], TARGETS),
            kt.errors.ShapeError,
            "targets must be a list of 1, one for each",
        ),
        (lambda: inverse_kinematics(ARM, TOOL, TARGETS[..., :3]), kt.errors.ShapeError, "needs (…, 4, 4)"),
        (lambda: inverse_kinematics(ARM, TOOL, 2.0 * TARGETS), kt.errors.ConfigurationError, "is not a rotation"),
        (lambda: inverse_kinematics(ARM, TOOL, 2.0 * TARGETS[0]), kt.errors.ConfigurationError, "is not a rotation"),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS * [[1.0], [1.0], [1.0], [np.nan]]),
            kt.errors.ConfigurationError,
            "there alone",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS.mT),
            kt.errors.ConfigurationError,
            "its last row must be 0, 0, 0, 1",
        ),
        (lambda: inverse_kinematics(ARM, TOOL, TARGETS, [0.0]), kt.errors.ShapeError, "q0 has shape (1,)"),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, lower=np.ones(6)),
            kt.errors.ShapeError,
            "lower has shape (6,)",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, lower=9 * np.ones(7)),
            kt.errors.OptionError,
            "q[0]: the lower limit",
        ),
        (lambda: inverse_kinematics(ARM, TOOL, TARGETS, upper=[-np.inf] * 7), kt.errors.OptionError, "q[0]: "),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, lower=[np.inf] * 7, upper=[np.inf] * 7),
            kt.errors.OptionError,
            "q[0]: no position is between inf and inf",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, upper=[np.nan] * 7),
            kt.errors.OptionError,
            "upper contains NaN",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, tolerance=-1.0),
            kt.errors.OptionError,
            "tolerance must be a number",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, starts=0),
            kt.errors.OptionError,
            "starts must be a whole number",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, starts=True),
            kt.errors.OptionError,
            "starts must be a whole number",
        ),
        (
            lambda: inverse_kinematics(ARM, TOOL, TARGETS, evaluations=1.5),
            kt.errors.OptionError,
            "evaluations must be a whole",
        ),
    ],
)
def test_what_it_refuses(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_limits_of_a_free_joint_are_refused() -> None:
    robot = kt.zoo.load("quadruped")
    with pytest.raises(
        kt.errors.OptionError, match=r"lower: q\[0\] belongs to a joint whose velocities are not the rates"
    ):
        inverse_kinematics(robot, CenterOfMass(), np.zeros(3), lower=np.full(robot.nq, -1.0))


def test_a_search_ends_after_the_evaluations_and_starts_that_it_may_take() -> None:
    far = np.array([0.0, 0.0, 9.0])
    for most in (1, 2, 7):
        assert inverse_kinematics(ARM, Position("tool"), far, evaluations=most).evaluations == most
    for starts in (1, 2, 3):
        assert inverse_kinematics(ARM, Position("tool"), far, starts=starts, evaluations=1000).starts == starts


def test_limits_of_both_sides_push_alike() -> None:
    """Mirrored gradients meet mirrored limits."""
    rng = np.random.default_rng(2)
    downhill, low, high = rng.normal(size=200), -rng.uniform(0.0, 2e-3, 200), rng.uniform(0.0, 2e-3, 200)
    to, held = pushed(downhill, low, high)
    mirrored, held_there = pushed(-downhill, -high, -low)
    np.testing.assert_array_equal(mirrored, -to)
    np.testing.assert_array_equal(held_there, held)
    assert 0.0 < held.mean() < 1.0


def test_other_coordinates_make_up_for_one_that_a_limit_stops() -> None:
    """d₁ + d₂ = 1 with d₁ ≤ 0.1 has the solution (0.1, 0.9)."""
    robot = kt.zoo.load("double_pendulum")
    levels = [(np.array([1.0]), np.array([[1.0, 1.0]])), (np.zeros(1), np.array([[0.0, 1.0]]))]
    bounds = Bounds(np.full(2, -9.0), np.array([0.1, 9.0]))
    d = hierarchical_step(Coordinates(robot), np.zeros(2), levels, np.full(2, 1e-12), 1e2, bounds)
    np.testing.assert_allclose(d, [0.1, 0.9], atol=1e-6)
