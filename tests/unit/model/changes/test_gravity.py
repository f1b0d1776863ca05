"""Robots under another gravity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt


def test_forces_are_those_of_the_parameter() -> None:
    robot = kt.zoo.load("quadruped")
    other = robot.with_gravity(np.array([0.5, 0.0, -1.62]))
    q = robot.random(3)
    expected = kt.gravity_forces(robot, q, parameters={"gravity": [0.5, 0.0, -1.62]})
    np.testing.assert_allclose(kt.gravity_forces(other, q), expected, atol=1e-12)
    assert other.gravity == (0.5, 0.0, -1.62)
    assert robot.gravity == (0.0, 0.0, -9.81)
    assert other.notes[0] == "gravity is (0.5, 0, -1.62) m/s², not (0, 0, -9.81)"
    assert other != robot
    assert other.with_gravity(robot.gravity) == robot


def test_it_is_given_where_a_robot_is_loaded(tmp_path: Path) -> None:
    arm = kt.zoo.load("arm6", gravity=(0, 0, 0))
    assert arm.gravity == (0.0, 0.0, 0.0)
    assert kt.load(kt.zoo.path("arm6"), gravity=[0, 0, 0]) == arm
    kt.save(arm, tmp_path / "arm.json")
    assert kt.load(tmp_path / "arm.json").gravity == (0.0, 0.0, 0.0)
    assert kt.load(tmp_path / "arm.json", gravity=(0, 0, -9.81)) == kt.zoo.load("arm6")


@pytest.mark.parametrize("gravity", [-9.81, (0, 0), (0, 0, np.nan), "down", None, (0, 0, "-9.81")])
def test_other_things_are_refused(gravity: object) -> None:
    with pytest.raises(kt.errors.ModelError, match="gravity must be"):
        kt.zoo.load("arm6").with_gravity(gravity)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("gravity", "robot.with_gravity"),
        ("mass", "robot.scaled"),
        ("actuated", "robot.with_actuation"),
        ("floating_base", "floating_base=True"),
        ("lower", "kt.ModelBuilder.of"),
        ("nothing", "kinetree docs changing_models"),
    ],
)
def test_setting_an_attribute_says_what_to_do_instead(name: str, way: str) -> None:
    robot = kt.zoo.load("arm6")
    with pytest.raises(kt.errors.FrozenError, match=f"cannot assign to '{name}': a Model does not change; .*{way}"):
        setattr(robot, name, 1.0)
    with pytest.raises(AttributeError, match="cannot delete"):
        delattr(robot, name)


def test_parts_of_a_robot_say_so_too() -> None:
    robot = kt.zoo.load("arm6")
    with pytest.raises(
        kt.errors.FrozenError, match=r"cannot assign to 'mass': a Body does not change; give parameters"
    ):
        robot.bodies["hand"].mass = 2.0  # type: ignore[misc]
    with pytest.raises(kt.errors.FrozenError, match=r"a Joint does not change; make another: robot\.lock"):
        robot.joints["base_yaw"].kind = kt.Fixed()  # type: ignore[misc]
    with pytest.raises(kt.errors.FrozenError, match="cannot set body 'hand': a robot does not change"):
        robot.bodies["hand"] = robot.bodies["hand"]
    with pytest.raises(kt.errors.FrozenError, match="cannot delete joint 'base_yaw'"):
        del robot.joints["base_yaw"]
