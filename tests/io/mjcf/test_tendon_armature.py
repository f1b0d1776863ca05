"""Armature of tendons, and of actuators on them, beside MuJoCo's mass matrix."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelWarning
from tests.io.mjcf.agreement import assert_agrees

BODIES = """<worldbody><body name="a"><joint name="j"/><geom size="0.1" pos="1 0 0"/><body name="b" pos="1 0 0">
<joint name="k" axis="0 1 0" armature="0.2"/><geom size="0.1" pos="0 0 0.3"/></body></body></worldbody>"""
ONE = {
    "a joint": '<tendon><fixed name="t" armature="0.7"><joint joint="k" coef="-2"/></fixed></tendon>',
    "a factor of zero": """<tendon><fixed name="t" armature="0.7"><joint joint="k" coef="-2"/>
        <joint joint="j" coef="0"/></fixed></tendon>""",
    "an actuator": """<tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon>
        <actuator><motor tendon="t" armature="0.4" gear="2"/></actuator>""",
    "both": """<tendon><fixed name="t" armature="0.3"><joint joint="j" coef="3"/></fixed></tendon>
        <actuator><motor tendon="t" armature="0.4" gear="2"/><motor joint="j" armature="0.1"/></actuator>""",
}
SEVERAL = """<tendon><fixed name="t" armature="0.7"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>
</tendon><actuator><motor tendon="t" armature="0.2" gear="3"/></actuator>"""


def file(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{BODIES}{more}</mujoco>", encoding="utf-8")
    return path


@pytest.mark.parametrize("what", ONE)
@pytest.mark.filterwarnings("error")
def test_a_tendon_that_moves_with_one_joint_adds_to_its_armature(tmp_path: Path, what: str) -> None:
    robot = assert_agrees(file(tmp_path, ONE[what]))
    assert any("armature" in note or "inertia" in note for note in robot.notes)


def test_that_of_several_joints_is_kept_and_warned_of(tmp_path: Path) -> None:
    path = file(tmp_path, SEVERAL)
    with pytest.warns(ModelWarning) as caught:
        robot = kt.load(path)
    sentences = [str(each.message) for each in caught]
    assert '<fixed name="t">: this tendon has armature="0.7", which MuJoCo adds to the mass' in sentences[0]
    assert "<motor>: this actuator on the tendon 't' has armature=\"0.2\", which MuJoCo adds" in sentences[1]
    assert robot.extras.tendons[0].armature == 0.7
    warned = [found for found in kt.check(path).warnings if found.code == "kept-as-data"]
    assert [found.line for found in warned] == [2, 3]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = np.empty((2, 2))
    mujoco.mj_fullM(model, data, theirs)
    # What is left out is all that is: J^T a J.
    missing = theirs - kt.crba(robot, np.zeros(2))
    np.testing.assert_allclose(missing, (0.7 + 9 * 0.2) * np.outer([1.0, -2.0], [1.0, -2.0]), rtol=1e-9)


def test_a_joint_is_named_once(tmp_path: Path) -> None:
    twice = '<tendon><fixed name="t"><joint joint="k" coef="-2"/><joint joint="k" coef="1"/></fixed></tendon>'
    path = file(tmp_path, twice)
    with pytest.raises(ValueError, match="joint 1 is repeated"):
        mujoco.MjModel.from_xml_path(str(path))
    with pytest.raises(kt.errors.ModelError, match="the joint 'k' is named twice; add the two factors"):
        kt.load(path)
