"""What every task promises: the error, its derivatives, velocities and accelerations agree with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Axis, CenterOfMass, LookAt, Orientation, Pose, Position, Posture, Task

ROBOT = kt.zoo.load("quadruped")
LEFT, RIGHT = "front_left_foot", "front_right_foot"
TASKS: list[Task] = [
    Pose(LEFT),
    Pose(LEFT, RIGHT, axes=("x", "rx", "rz")),
    Pose(LEFT, expressed_in="local"),
    Pose(LEFT, RIGHT, expressed_in="local", weight=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
    Position(LEFT, at=[0.1, 0.2, 0.3], axes="xz"),
    Position(LEFT, RIGHT, at=[0.1, 0.2, 0.3]),
    Orientation(LEFT),
    Orientation(LEFT, RIGHT, expressed_in="local", axes="yz"),
    Axis(LEFT, axis=[1.0, 2.0, 3.0]),
    Axis(LEFT, RIGHT),
    LookAt(LEFT, at=[0.1, 0.2, 0.3]),
    LookAt(LEFT, RIGHT, axis=[1.0, -2.0, 0.5], at=[0.1, 0.0, 0.3]),
    CenterOfMass(),
    CenterOfMass(LEFT, axes="xy"),
    Posture(),
    Posture(["front_left_knee", "root_joint"], priority=1),
]
STEP = 1e-6
Q, GOAL = ROBOT.random(np.random.default_rng(1), size=2)
V = np.random.default_rng(2).normal(size=ROBOT.nv)


def along(f: Any, direction: Any) -> Any:
    """The derivative of f by a displacement of the configuration, as a difference."""
    ahead, behind = (f(ROBOT.integrate(Q, s * STEP * direction)) for s in (1.0, -1.0))
    return (ahead - behind) / (2 * STEP)


def test_these_are_all_tasks() -> None:
    assert sorted({type(task).__name__ for task in TASKS} | {"Task", "keep_apart"}) == kt.control.tasks.__all__


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_a_task_agrees_with_itself(task: Task) -> None:
    task.check(ROBOT)
    target = task.present(ROBOT, GOAL)
    assert target.shape == task.target_shape(ROBOT)
    assert task.weights(ROBOT).shape == (task.size(ROBOT),)

    np.testing.assert_allclose(task.error(ROBOT, GOAL, target), np.zeros(task.size(ROBOT)), atol=1e-14)
    slope, J = task.error_jacobian(ROBOT, GOAL, target), task.jacobian(ROBOT, GOAL, target)
    np.testing.assert_allclose(slope, -J, atol=1e-13)

    def error(q: Any) -> Any:
        return task.error(ROBOT, q, target)

    slope, J = task.error_jacobian(ROBOT, Q, target), task.jacobian(ROBOT, Q, target)
    assert error(Q).shape == (task.size(ROBOT),)
    np.testing.assert_allclose(slope, np.stack([along(error, d) for d in np.eye(ROBOT.nv)], 1), rtol=0, atol=2e-8)
    np.testing.assert_allclose(task.velocity(ROBOT, Q, V, target), J @ V, rtol=0, atol=1e-13)
    rate = along(lambda q: task.jacobian(ROBOT, q, target) @ V, V)
    np.testing.assert_allclose(task.bias(ROBOT, Q, V, target), rate, rtol=0, atol=2e-7)


def test_tasks_run_on_symbols() -> None:
    tasks = [t for t in TASKS if isinstance(t, Pose | LookAt | CenterOfMass | Posture)][1:]

    def all_of(q: Any, v: Any, goal: Any) -> Any:
        numbers = []
        for task in tasks:
            target = task.present(ROBOT, goal)
            numbers += [task.error(ROBOT, q, target), task.error_jacobian(ROBOT, q, target) @ v]
            numbers += [task.velocity(ROBOT, q, v, target), task.bias(ROBOT, q, v, target)]
        return np.concatenate(numbers)

    program = kt.program(all_of, q=ROBOT, v=ROBOT.nv, goal=ROBOT)
    np.testing.assert_allclose(program(Q, V, GOAL), all_of(Q, V, GOAL), rtol=0, atol=1e-11)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.03, 0.04, 1.5, 3.1, np.pi - 1e-7, np.pi])
def test_an_axis_turns_by_the_angle_between(angle: float) -> None:
    arm, q = kt.zoo.load("arm6"), np.array([0.1, 0.4, -0.3, 0.2, 0.7, 0.0])
    task = Axis("tool", axis=[0.0, 1.0, 0.0])
    R = kt.frame_placement(arm, q, "tool")[:3, :3]
    target = 2.0 * R @ kt.lie.rotation_exp([angle, 0.0, 0.0]) @ [0.0, 1.0, 0.0]
    error = task.error(arm, q, target)
    assert np.linalg.norm(error) == pytest.approx(angle, abs=2e-8)
    assert np.isfinite(task.error_jacobian(arm, q, target)).all()


def test_nowhere_to_look_is_reached() -> None:
    T = kt.frame_placement(ROBOT, Q, LEFT)
    gaze = LookAt(LEFT)
    assert gaze.error(ROBOT, Q, T[:3, 3]).tolist() == [0.0, 0.0]
    for numbers in (gaze.error_jacobian, gaze.jacobian):
        assert np.isfinite(numbers(ROBOT, Q, T[:3, 3])).all()
    assert np.isfinite(gaze.bias(ROBOT, Q, V, T[:3, 3])).all()


def test_a_task_is_a_record() -> None:
    assert repr(Pose("tool", axes=["rz", "x"], weight=[1, 2])) == "Pose('tool', axes=('x', 'rz'), weight=(1.0, 2.0))"
    assert Axis("tool", axis=[0, 0, 2]) == Axis("tool")
    assert hash(Position("tool", axes="yx")) == hash(Position("tool", axes=["x", "y"]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pose(3), "Pose: frame must be the name of a frame, such as 'tool', not 3"),
        (lambda: Pose("tool", 3), "Pose: relative_to must be the name of a frame, such as 'tool', not 3"),
        (lambda: Pose("tool", "tool"), "Pose: frame and relative_to are both 'tool'"),
        (lambda: Pose("tool", axes="xyz "), "Pose: axes must be one or several of 'x', 'y', 'z', 'rx', 'ry', 'rz', "),
        (lambda: Pose("tool", expressed_in="world"), "Pose: expressed_in must be 'local' or 'local_world_aligned', "),
        (lambda: Orientation("tool", axes=[]), "Orientation: axes must be one or several of 'x', 'y', 'z', each once"),
        (lambda: Position("tool", axes="xx"), "Position: axes must be one or several of 'x', 'y', 'z', each once"),
        (lambda: Position("tool", at=[1.0]), "Position: at must be three numbers x, y, z"),
        (lambda: Axis("tool", axis=[0, 0, 0]), "Axis: axis must be a direction x, y, z that is not zero"),
        (lambda: LookAt("tool", at=[0, 0, np.nan]), "LookAt: at must be three numbers x, y, z"),
        (lambda: CenterOfMass(weight=-1.0), "CenterOfMass: weight must be one number from 0 on, or one per row"),
        (lambda: CenterOfMass(priority=0.5), "CenterOfMass: priority is a whole number, 0 for what comes first"),
        (lambda: CenterOfMass(priority=True), "CenterOfMass: priority is a whole number"),
        (lambda: Posture("knee"), "Posture: joints must be a list of names of joints, such as ['knee']"),
        (lambda: Posture(["a", "a"]), "Posture: joint 'a' is in the list twice"),
        (lambda: Posture([1]), "Posture: joints must be a list of names of joints"),
    ],
)
def test_impossible_tasks_are_reported(make: Any, message: str) -> None:
    with pytest.raises(kt.errors.OptionError) as caught:
        make()
    assert message in str(caught.value)


def test_missing_parts_of_a_robot_are_reported() -> None:
    for task in (Pose("fot"), Position(LEFT, "fot"), CenterOfMass("fot"), Posture(["fot"])):
        with pytest.raises(kt.errors.NameNotFoundError, match="fot"):
            task.check(ROBOT)
    with pytest.raises(kt.errors.OptionError, match="Axis has 2 rows here, but 3 weights"):
        Axis(LEFT, weight=[1.0, 2.0, 3.0]).check(ROBOT)
