"""Motors and servos for robots whose files have none: which joints get them, with which ranges, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Limits
from kinetree.model.extras import Extras, JointState, Keyframe
from tests.unit.model.bodies import ball, shift

Z = [0, 0, 1]
INF = float("inf")


def robot(**changed: Any) -> kt.Model:
    """A shoulder, an elbow that follows it, an eye, a wheel without limits and a caster without a motor."""
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", ball())
    joints: dict[str, Any] = {
        "shoulder": {"limits": Limits((-1.0,), (2.0,), (3.0,), (40.0,))},
        "elbow": {"mimic": kt.model.Mimic("shoulder", 2.0)},
        "eye": {"limits": Limits((-INF,) * 4, (INF,) * 4, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))},
        "wheel": {},
        "caster": {"actuated": False},
    }
    for k, (name, options) in enumerate(joints.items()):
        builder.add_body(f"{name} body", ball(com=(0.1, 0.0, 0.0)))
        kind = kt.joints.Spherical() if name == "eye" else kt.Revolute(Z)
        given = options | changed.get(name, {})
        builder.add_joint(name, given.pop("kind", kind), "base", f"{name} body", shift(0.1 * k), **given)
    return builder.build()


def test_joints_with_motors_get_one_each_within_their_effort() -> None:
    found = robot().with_motors()
    assert {one.name: one.control_range for one in found.extras.actuators if one.control_limited} == {
        "shoulder": (-40.0, 40.0), "eye.wx": (-4.0, 4.0), "eye.wy": (-5.0, 5.0), "eye.wz": (-6.0, 6.0),
    }  # fmt: skip
    assert [one.name for one in found.extras.actuators][-1] == "wheel"
    assert found.notes[0] == "motors added at 'shoulder', 'eye', 'wheel'"
    assert found.with_actuation({}).extras == found.extras


def test_servos_have_the_ranges_of_positions_or_velocities() -> None:
    found = robot().with_servos(kp=[10.0, 0.0, 3.0], kd=[1.0, 2.0, 0.0], joints=["shoulder", "eye", "wheel"])
    shoulder, eye, wheel = (found.extras.actuators[name] for name in ("shoulder", "eye.wy", "wheel"))
    assert (shoulder.kind, shoulder.control_range, shoulder.force_range) == ("position", (-1.0, 2.0), (-40.0, 40.0))
    assert (eye.kind, eye.control_range, eye.force_range) == ("velocity", (-2.0, 2.0), (-5.0, 5.0))
    assert (wheel.kind, wheel.control_limited, wheel.force_limited) == ("position", False, False)
    assert wheel.bias_parameters[:3] == (0.0, -3.0, 0.0)


def test_a_second_call_adds_what_is_left_and_keyframes_keep_their_counts() -> None:
    builder = kt.ModelBuilder.of(robot())
    builder.extras = Extras(keyframes=(Keyframe("up", (JointState("wheel", (1.0,), (0.0,)),), controls=(0.5,)),))
    found = builder.build().with_servos(1.0, 1.0, joints=["wheel"]).with_motors()
    assert [one.target for one in found.extras.actuators] == ["wheel", "shoulder", "eye", "eye", "eye"]
    assert found.extras.keyframes[0].controls == (0.5,) + (0.0,) * 5
    with pytest.raises(kt.errors.ModelError, match="every joint of 'robot' that has a motor has an actuator already"):
        found.with_motors()
    with pytest.raises(kt.errors.ModelError, match="joint 'wheel' has the actuator 'wheel' already; leave it out"):
        found.with_motors(["wheel"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("wheel", r"joints must be a list of names, such as \['wheel'\]"),
        (["wheel", "wheel"], "joint 'wheel' is named twice"),
        (["weel"], "'robot' has no moving joint 'weel': did you mean 'wheel'"),
        (["elbow"], "joint 'elbow' has no motor"),
        (["caster"], r"joint 'caster' has no motor; .* robot.with_actuation\(\{'caster': True\}\)"),
    ],
)
def test_joints_that_get_none(names: Any, message: str) -> None:
    error = kt.errors.NameNotFoundError if names == ["weel"] else kt.errors.ModelError
    with pytest.raises(error, match=message):
        robot().with_motors(names)


def test_what_has_no_force_or_several_degrees_of_freedom_is_refused() -> None:
    with pytest.raises(kt.errors.ModelError, match="joint 'wheel' of 'robot' has an effort limit of zero"):
        robot(wheel={"limits": Limits((-1.0,), (1.0,), (1.0,), (0.0,))}).with_motors()
    with pytest.raises(
        kt.errors.ModelError, match="joint 'wheel' of 'robot': there are actuators for joints with one degree"
    ):
        robot(wheel={"kind": kt.joints.Planar()}).with_motors()
    with pytest.raises(kt.errors.ModelError, match="the motors of coupling 'both' move several joints"):
        coupled().with_motors()


def coupled() -> kt.Model:
    builder = kt.ModelBuilder("pair")
    builder.add_body("base", ball())
    for name in ("left", "right"):
        builder.add_body(f"{name} body", ball(com=(0.1, 0.0, 0.0)))
        builder.add_joint(name, kt.Revolute(Z), "base", f"{name} body")
    builder.add_coupling("both", ["left", "right"], [[1.0], [1.0]], coordinates=["width"])
    return builder.build()


@pytest.mark.parametrize(
    ("kp", "kd", "error", "message"),
    [
        (-1.0, 1.0, kt.errors.OptionError, "kp must be finite and not negative, not -1.0"),
        (1.0, np.nan, kt.errors.OptionError, "kd must be finite and not negative"),
        (
            [1.0, 2.0],
            1.0,
            kt.errors.ShapeError,
            r"kp has shape \(2,\), but must be one number or \(1,\), one per joint",
        ),
        (0.0, 0.0, kt.errors.OptionError, "kp and kd of 'wheel' are both zero"),
        ("stiff", 1.0, kt.errors.DTypeError, "with_servos: kp must be an array of real numbers"),
    ],
)
def test_gains_that_are_none(kp: Any, kd: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        robot().with_servos(kp, kd, joints=["wheel"])
