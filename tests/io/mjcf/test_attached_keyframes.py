"""Keyframes of attached models, beside MuJoCo's compiled model."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import kinetree as kt
from tests.io.mjcf.extras_agreement import differences

CHILD = """<mujoco model="c"><worldbody><body name="a" pos="0 0 1"><joint name="j" ref="10"/><geom size=".1"
pos="1 0 0"/><body><joint type="ball"/><geom size=".1" pos="1 0 0"/></body></body><body name="mo" mocap="true"
pos="1 2 3"><geom size="0.1"/></body><body name="z" euler="30 0 0"><freejoint name="fz"/><geom size=".1"/></body>
</worldbody><actuator><motor name="m" joint="j"/><position name="p" joint="j" kp="2" timeconst="1"/></actuator>
<keyframe><key name="home" qpos="0.5 1 0 0 0.5 1 2 3 1 0.1 0 0" ctrl="0.3 0.4" act="0.9"/>
<key name="fast" time="3" qvel="0.5 0.1 0.2 0.3 1 2 3 4 5 6" mpos="7 8 9" mquat="0 1 0 0"/></keyframe></mujoco>"""
OWN = """<body name="own"><joint name="own" ref="20"/><geom size=".1"/></body>"""
ASSET = '<asset><model name="c" file="child.xml"/></asset>'
FILES = {
    "once": f'{ASSET}<worldbody>{OWN}<attach model="c" prefix="p_"/></worldbody>',
    "before its own joints": f'{ASSET}<worldbody><attach model="c" prefix="p_"/>{OWN}</worldbody>',
    "twice, with keyframes and actuators of its own": f"""{ASSET}<worldbody>{OWN}<attach model="c" prefix="p_"/>
        <frame pos="1 0 0"><attach model="c" prefix="q_"/></frame></worldbody>
        <actuator><motor name="m" joint="own"/></actuator><keyframe><key name="mine" ctrl="1 2 3 4 5"/></keyframe>""",
    "one body": f'{ASSET}<worldbody>{OWN}<attach model="c" body="a" prefix="p_"/></worldbody>',
    "the free body": f'{ASSET}<worldbody>{OWN}<attach model="c" body="z" prefix="p_"/></worldbody>',
    "replicas": f'{ASSET}<worldbody>{OWN}<replicate count="2"><attach model="c" prefix="p_"/></replicate></worldbody>',
}


def file(tmp_path: Path, inside: str, child: str = CHILD) -> Path:
    (tmp_path / "child.xml").write_text(child, encoding="utf-8")
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{inside}</mujoco>", encoding="utf-8")
    return path


@pytest.mark.parametrize("what", FILES)
def test_keyframes_are_those_of_mujoco(tmp_path: Path, what: str) -> None:
    path = file(tmp_path, FILES[what])
    robot = kt.load(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert [key.name for key in robot.extras.keyframes] == [model.key(k).name for k in range(model.nkey)]
    assert not differences(path, robot).found


def test_those_of_nested_models_have_all_prefixes(tmp_path: Path) -> None:
    (tmp_path / "middle.xml").write_text(
        f'<mujoco model="middle">{ASSET}<worldbody>{OWN}<attach model="c" prefix="p_"/></worldbody><keyframe>'
        '<key name="k" qvel="1 2 3 4 5 6 7 8 9 10 11"/></keyframe></mujoco>',
        encoding="utf-8",
    )
    path = file(
        tmp_path,
        """<asset><model name="m" file="middle.xml"/></asset><worldbody><body><joint name="base"/>
        <geom size="1"/></body><attach model="m" prefix="x_"/></worldbody>""",
    )
    robot = kt.load(path)
    assert [key.name for key in robot.extras.keyframes] == ["x_k", "x_p_home", "x_p_fast"]
    model = mujoco.MjModel.from_xml_path(str(path))  # which forgets the outer prefix
    assert [model.key(k).name for k in range(model.nkey)] == ["x_k", "p_home", "p_fast"]
    layout = kt.interop.Layout(robot, "mujoco")
    for k, key in enumerate(robot.extras.keyframes):
        assert layout.q_to(key.q(robot)).tolist() == pytest.approx(model.key_qpos[k].tolist(), abs=1e-12)
        assert layout.v_to(key.q(robot), key.v(robot)).tolist() == pytest.approx(model.key_qvel[k].tolist(), abs=1e-12)


def test_a_wrong_count_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = file(tmp_path, FILES["once"], CHILD.replace('qpos="0.5 1', 'qpos="0.5'))
    with pytest.raises(
        kt.errors.ModelError, match=r"child.xml:5: .*qpos holds 11 numbers, but its model has 12 of them"
    ):
        kt.load(path)


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    path = file(tmp_path, f'{FILES["once"]}<keyframe><key name="p_home"/></keyframe>')
    with pytest.raises(kt.errors.ModelError, match="there are two keyframes named 'p_home'"):
        kt.load(path)
