"""Parameters that change nothing: what is said of each, and that a motion does not feel them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

PUCKS = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="3 3 0.1" friction="0.3 0.005 0.0001"/>
  <geom name="lamp" size="0.1" pos="0 0 3" contype="0" conaffinity="0"/>
  <body pos="0 0 0.05"><freejoint/><geom name="puck" size="0.05" friction="0.8 0.005 0.0001"/></body>
  <body pos="1 0 0.05"><freejoint/><geom name="first" size="0.05" friction="0.6 0.005 0.0001" priority="{priority}"/></body>
  <body name="arm" pos="0 1 1"><joint name="hinge"/><geom name="rod" type="capsule" size="0.02" fromto="0 0 0 .3 0 0"/></body>
</worldbody>
<contact><pair name="own" geom1="rod" geom2="floor"/></contact>
<actuator><motor name="motor" joint="hinge" group="3"/></actuator></mujoco>
"""  # noqa: E501


def pucks(tmp_path: Path, priority: int = 0, options: str = "") -> kt.Model:
    path = tmp_path / "pucks.xml"
    path.write_text(
        PUCKS.format(priority=priority).replace('<option timestep="0.002"/>', f"<option>{options}</option>")
    )
    return kt.load(path)


def friction(low: float, high: float) -> tuple[list[float], list[float]]:
    return [low, 0.005, 0.0001], [high, 0.005, 0.0001]


@pytest.mark.parametrize(
    ("priority", "ranges", "sentence"),
    [
        (0, {"shape.floor.friction": friction(0.1, 0.5)}, "sliding friction changes nothing: that of .* at least 0.6"),
        (0, {"shape.floor.friction": friction(0.1, 0.7)}, "below 0.6 its sliding friction changes nothing"),
        (0, {"shape.floor.friction": friction(0.7, 0.9)}, ""),
        (0, {"shape.floor.friction": friction(0.1, 0.7), "shape.first.friction": friction(0.2, 0.9)}, "below 0.2"),
        (1, {"shape.floor.friction": friction(0.1, 0.7)}, "changes nothing: that of 'puck' is at least 0.8"),
        (1, {"shape.first.friction": friction(0.1, 0.7)}, ""),
        (1, {"shape.floor.solimp": ([0.5] * 5, [0.9] * 5)}, ""),
        (0, {"pair.own.friction": (0.1, 0.5)}, ""),
        (0, {"shape.floor.margin": (0.0, 0.1), "shape.puck.size": (0.04, 0.06)}, ""),
        (0, {"joint.hinge.rest": (-1.0, 1.0)}, "the joint has no spring"),
        (0, {"joint.hinge.rest": (-1.0, 1.0), "joint.hinge.stiffness": (0.0, 1.0)}, ""),
        (0, {"body.world.mass": (1.0, 2.0)}, "the body is fixed to the world"),
        (0, {"body.arm.mass": (1.0, 2.0), "joint.hinge.damping": (0.0, 1.0), "actuator.motor.gear": (1.0, 2.0)}, ""),
    ],
)  # fmt: skip
def test_what_is_said(tmp_path: Path, priority: int, ranges: dict[str, Any], sentence: str) -> None:
    found = kt.contact.unfelt_parameters(pucks(tmp_path, priority), ranges)
    assert [*found] == [*ranges][: len(found)]
    if sentence:
        with pytest.raises(AssertionError, match=sentence):
            raise AssertionError(found[next(iter(ranges))])
    else:
        assert not found


def test_options_switch_things_off(tmp_path: Path) -> None:
    robot = pucks(tmp_path)
    ranges: dict[str, Any] = {
        "joint.hinge.friction": (0.0, 1.0), "shape.floor.friction": friction(0.7, 0.9), "pair.own.margin": (0.0, 0.1)
    }  # fmt: skip
    assert kt.contact.unfelt_parameters(robot, ranges, passive=["damping"]) == {
        "joint.hinge.friction": "passive= leaves out 'friction'"
    }
    assert [*kt.contact.unfelt_parameters(robot, ranges, contact=False)] == ["shape.floor.friction", "pair.own.margin"]
    off = pucks(tmp_path, options='<flag frictionloss="disable" actuation="disable"/>')
    ranges = {"joint.hinge.friction": (0.0, 1.0), "actuator.motor.gear": (1.0, 2.0)}
    assert [*kt.contact.unfelt_parameters(off, ranges)] == [*ranges]


def test_a_motion_feels_what_is_not_named_and_nothing_else(tmp_path: Path) -> None:
    robot = pucks(tmp_path)
    q, v = kt.model.reference.reference_configuration(robot), np.zeros(robot.nv)
    v[[0, 6]] = 1.0
    given = np.array([friction(0.1, 0.7)[1], friction(0.1, 0.5)[1], friction(0.1, 0.5)[0]])
    states = kt.rollout(
        robot, q, v, np.zeros((50, robot.nv)), 0.002, contact=True, parameters={"shape.floor.friction": given}
    )
    np.testing.assert_array_equal(states[1], states[2])
    assert np.abs(states[0] - states[1]).max() > 1e-4


def test_ranges_are_pairs_in_order(tmp_path: Path) -> None:
    robot = pucks(tmp_path)
    for wrong in (3.0, (1.0, 2.0, 3.0), ([1.0] * 4, [2.0] * 4), (2.0, 1.0)):
        with pytest.raises(kt.errors.OptionError, match="of 'gravity'"):
            kt.contact.unfelt_parameters(robot, {"gravity": wrong})  # type: ignore[dict-item]
    with pytest.raises(kt.errors.OptionError, match="ranges must be a dict"):
        kt.contact.unfelt_parameters(robot, [1.0])  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="did you mean"):
        kt.contact.unfelt_parameters(robot, {"gravty": (1.0, 2.0)})
