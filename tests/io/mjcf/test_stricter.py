"""Files that MuJoCo loads without a word and kinetree refuses, since they say what cannot be meant."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import kinetree as kt

HEAD = """<mujoco><worldbody><body name="b"><joint name="j" {joint}/><geom size="0.1"/><site name="s"/><body name="c">
<joint name="k"/><geom size="0.1"/></body></body></worldbody><tendon><fixed name="t" {tendon}><joint joint="j"
coef="1"/></fixed></tendon>"""
CASES = {
    "two transmissions": ("", "", '<actuator><motor joint="j" tendon="t"/></actuator>', "it acts on two things"),
    "a joint twice": ("", "", '<actuator><motor joint="j" jointinparent="k"/></actuator>', "it acts on two things"),
    "a reversed range": ('range="1 -1"', "", "", "range is 1 to -1"),
    "a reversed range of forces": ('actuatorfrcrange="1 -1"', "", "", "actuatorfrcrange is 1 to -1"),
    "a reversed range of a tendon": ("", 'range="1 0.5"', "", "range is 1 to 0.5"),
    "reversed controls": ("", "", '<actuator><motor joint="j" ctrlrange="1 -1"/></actuator>', "ctrlrange is 1 to -1"),
    "reversed forces": ("", "", '<actuator><motor joint="j" forcerange="1 -1"/></actuator>', "forcerange is 1 to -1"),
    "a reversed activation": (
        "",
        "",
        '<actuator><general joint="j" dyntype="integrator" actrange="1 -1"/></actuator>',
        "actrange is 1 to -1",
    ),
    "a short keyframe": ("", "", '<keyframe><key qpos="1"/></keyframe>', "qpos holds 1 numbers, but this model has 2"),
}


@pytest.mark.parametrize(("joint", "tendon", "more", "message"), CASES.values(), ids=CASES)
def test_what_mujoco_passes_over_is_refused(tmp_path: Path, joint: str, tendon: str, more: str, message: str) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(HEAD.format(joint=joint, tendon=tendon) + f"{more}</mujoco>", encoding="utf-8")
    assert mujoco.MjModel.from_xml_path(str(path)).nv == 2
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(path)
    assert message in str(refusal.value)
