"""Where a motion begins that is given no configuration."""

from __future__ import annotations

from pathlib import Path

import kinetree as kt

FILE = """<mujoco><worldbody><body name="pole" pos="0 0 1"><joint name="hinge" axis="0 1 0" ref="30"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.4"/></body></worldbody></mujoco>"""


def test_a_motion_begins_where_the_file_places_the_bodies(tmp_path: Path) -> None:
    path = tmp_path / "pole.xml"
    path.write_text(FILE, encoding="utf-8")
    robot = kt.load(path)
    motion = kt.simulate(robot, duration=0.01)
    reference = robot.extras.reference_configuration
    assert reference is not None
    assert motion.q[0].tolist() == reference.q(robot).tolist() != robot.neutral().tolist()


def test_without_such_a_file_it_begins_at_the_neutral_configuration() -> None:
    robot = kt.zoo.load("double_pendulum")
    assert kt.simulate(robot, duration=0.01).q[0].tolist() == robot.neutral().tolist()
