"""What is recorded, and how often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import Extras, Sensor

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.025}


def test_rows_are_kept_at_a_stride_and_at_the_end() -> None:
    whole, some = kt.simulate(ROBOT, **START), kt.simulate(ROBOT, record=kt.sim.Recording(every=10), **START)
    rows = [0, 10, 20, 25]
    for name in ("time", "q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[rows], err_msg=name)
    in_seconds = kt.simulate(ROBOT, record=kt.sim.Recording(every=0.01), **START)
    np.testing.assert_array_equal(in_seconds.time, some.time)
    assert some.snapshot().step == 25


def test_rows_follow_the_whole_motion_s_steps_after_a_pause() -> None:
    first = kt.simulate(ROBOT, record=kt.sim.Recording(every=10), **START)
    rest = kt.simulate(ROBOT, resume=first.snapshot(), record=kt.sim.Recording(every=10), duration=0.02)
    np.testing.assert_allclose(rest.time, [0.03, 0.04, 0.045], atol=1e-15)


def test_only_what_is_asked_for_is_recorded() -> None:
    motion = kt.simulate(ROBOT, record=[], **START)
    assert np.isnan(motion.qdd).all()
    assert np.isnan(motion.kinetic).all()
    assert np.isfinite(motion.work).all()
    motion = kt.simulate(ROBOT, record=["energies"], **START)
    assert np.isnan(motion.qdd).all()
    assert abs(motion.balance_error).max() < 1e-9


def test_frames_and_sensors(tmp_path: Path) -> None:
    builder = kt.ModelBuilder.of(ROBOT)
    sensors = (Sensor("angle", "jointpos", "joint", "elbow"), Sensor("felt", "accelerometer", "site", "tip"))
    builder.extras = Extras(sensors=sensors)
    frame = list(ROBOT.frames)[-1]
    builder.extras = Extras(sensors=(sensors[0], Sensor("where", "framepos", "xbody", list(ROBOT.bodies)[-1])))
    robot = builder.build()
    q = np.array([[1.0, 0.5], [0.2, 0.1]])
    motion = kt.simulate(
        robot, q=q, duration=0.02, record=kt.sim.Recording({"frames": [frame], "sensors": True}, every=5)
    )
    assert motion.recorded[f"frame.{frame}"].shape == (2, 5, 4, 4)
    np.testing.assert_array_equal(motion.recorded[f"frame.{frame}"], kt.frame_placement(robot, motion.q, frame))
    np.testing.assert_array_equal(motion.recorded["sensor.angle"], motion.q[..., 1:])
    assert motion.recorded["sensor.where"].shape == (2, 5, 3)
    assert motion.units[f"frame.{frame}"] == "m"
    back = kt.Trajectory.load(motion.save(tmp_path / "run"))
    assert back.units == motion.units
    np.testing.assert_array_equal(back.recorded["sensor.where"], motion.recorded["sensor.where"])
    table = motion[0].to_dataframe()
    assert table["recorded.sensor.angle[0]"].tolist() == motion.q[0, :, 1].tolist()
    one = kt.simulate(robot, **START, record={"sensors": ["where"], "frames": False})
    assert [*one.recorded] == ["sensor.where"]
    everything = kt.simulate(robot, **START, record=["frames"])
    assert len(everything.recorded) == len(robot.frames)


def test_sensors_of_accelerations() -> None:
    builder = kt.ModelBuilder.of(ROBOT)
    builder.extras = Extras(sensors=(Sensor("felt", "framelinacc", "xbody", list(ROBOT.bodies)[-1]),))
    robot = builder.build()
    motion = kt.simulate(robot, record=["sensors", "accelerations"], **START)
    np.testing.assert_array_equal(
        motion.recorded["sensor.felt"], kt.dynamics.sensors(robot, motion.q, motion.v, motion.qdd)
    )
    assert np.isnan(kt.simulate(robot, record=["sensors"], **START).qdd).all()


def test_forces_of_constraints() -> None:
    robot = kt.zoo.load("cart_pole")
    contact = kt.simulate(
        robot, q=[robot.upper[0] + 0.001, 0.0], duration=0.005, contact=True, record=["constraint_forces"]
    )
    expected = kt.contact_dynamics(robot, contact.q, contact.v, contact.tau).forces
    np.testing.assert_array_equal(contact.recorded["constraint_forces"], expected)
    held = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.005, constraints=kt.constraints.Contact(list(ROBOT.frames)[-1],
        [0, 0, 1]),
                       record=["constraint_forces"])  # fmt: skip
    assert held.recorded["constraint_forces"].shape == (6, 1)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"record": ["contact"]}, kt.errors.NameNotFoundError, "nothing called 'contact' to record"),
        (
            {"record": "frames"},
            kt.errors.OptionError,
            r"record, or .*, must be a list of names, or a dict, such as \['frames'\]",
        ),
        ({"record": 3}, kt.errors.OptionError, "record, or .*, must be a list of names, or a dict, not 3"),
        ({"record": kt.sim.Recording(3)}, kt.errors.OptionError, "quantities of a kt.sim.Recording, must .*, not 3"),
        (
            {"record": {"frames": "tip"}},
            kt.errors.OptionError,
            r"record\['frames'\] must be True, False or a list of names",
        ),
        (
            {"record": {"energies": ["kinetic"]}},
            kt.errors.OptionError,
            r"record\['energies'\] must be True or False, not",
        ),
        ({"record": {"frames": ["nose"]}}, kt.errors.NameNotFoundError, "has no frame 'nose' to record"),
        ({"record": ["sensors"]}, kt.errors.OptionError, "has no sensors"),
        ({"record": ["constraint_forces"]}, kt.errors.OptionError, "there are no constraint forces to record"),
        (
            {"record": kt.sim.Recording(every=0)},
            kt.errors.OptionError,
            "every must be a whole number of steps from 1 on, or seconds, not 0",
        ),
        (
            {"record": kt.sim.Recording(every=-2)},
            kt.errors.OptionError,
            "every must be a whole number of steps from 1 on",
        ),
        (
            {"record": kt.sim.Recording(every=0.0)},
            kt.errors.OptionError,
            "every must be a whole number of steps, .* or a positive number of seconds",
        ),
        (
            {"record": kt.sim.Recording(every=0.0015)},
            kt.errors.OptionError,
            r"every=0.0015 is a time in s .* must be a multiple of dt \(0.001 s\)",
        ),
        ({"record": kt.sim.Recording(every=True)}, kt.errors.OptionError, "not True"),
        ({"record": kt.sim.Recording(every=np.nan)}, kt.errors.OptionError, "every must be a whole number of steps"),
        ({"record": kt.sim.Recording(every="10")}, kt.errors.OptionError, "not '10'"),
    ],
)
def test_what_cannot_be_recorded_is_refused(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kt.simulate(ROBOT, **START, **options)
