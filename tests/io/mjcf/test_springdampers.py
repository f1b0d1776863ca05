"""Stiffness and damping that `springdamper` gives, beside MuJoCo's compiler."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from tests.io.mjcf.extras_agreement import differences

SPRING = 'springdamper="0.1 0.7" stiffness="3 0.2" damping="4"'
FILES = {
    "a hinge away from the body's origin": f"""<body pos="1 2 3" euler="10 20 30"><joint name="j" pos="0.1 0.2 0"
        axis="1 2 3" ref="20" {SPRING}/><geom type="box" size="0.1 0.2 0.3" pos="0.3 0 0.1"/></body>""",
    "a chain, inside a frame": f"""<body pos="1 0 0"><joint name="a" axis="0 1 0" armature="0.3" {SPRING}/>
        <geom size="0.1" pos="0.2 0 0"/><frame pos="0 0.3 0" euler="0 30 0"><body pos="0.4 0 0"><joint name="b"
        type="slide" axis="1 1 0" ref="0.2" {SPRING}/><joint name="c" axis="0 0 1" pos="0 0.1 0"/><geom size="0.2"
        pos="0 0.1 0.3"/><body pos="0 0 0.5"><joint name="d" axis="1 0 0" {SPRING}/><geom size="0.1 0.3"
        type="capsule"/></body></body></frame></body>""",
    "a ball": f"""<body pos="1 0 0" euler="30 0 0"><joint name="j" type="ball" pos="0.1 0 0.2" {SPRING}/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0.1"/><body pos="0 0 1"><joint name="k"/><geom size="0.2"
        pos="0.4 0 0"/></body></body>""",
    "a free body with an arm": f"""<body pos="1 0 2" euler="30 0 0"><joint name="j" type="free" {SPRING}/><geom
        type="box" size="0.1 0.2 0.3" pos="0.2 0 0.1"/><body pos="0 0 1"><joint name="k" {SPRING}/><geom size="0.2"
        pos="0.4 0 0"/></body></body>""",
    "branches on a fixed body": f"""<body pos="1 0 0"><geom size="0.1"/><body><joint name="j" {SPRING}/><geom size="0.1"
        pos="0.2 0 0"/><body><geom size="0.2"/></body></body><body><joint name="k" {SPRING}/><geom size="0.3"
        pos="0.2 0 0"/></body></body>""",
}


def read(tmp_path: Path, bodies: str, more: str = "") -> tuple[Path, kt.Model]:
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody>{more}</mujoco>", encoding="utf-8")
    return path, kt.load(path)


def assert_alike(path: Path, robot: kt.Model) -> None:
    model = mujoco.MjModel.from_xml_path(str(path))
    for k, (name, joint) in enumerate(robot.joints.items()):
        dof = int(model.jnt_dofadr[k])
        own = robot.extras.joints[name].stiffness if name in robot.extras.joints else (0.0, 0.0, 0.0)
        stiffness = own[0] or joint.stiffness[0]
        np.testing.assert_allclose(stiffness, model.jnt_stiffness[k], rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(joint.damping, model.dof_damping[dof : dof + joint.kind.nv], rtol=1e-10)


@pytest.mark.parametrize("what", FILES)
def test_springs_are_those_of_mujoco(tmp_path: Path, what: str) -> None:
    path, robot = read(tmp_path, FILES[what])
    assert_alike(path, robot)
    assert not differences(path, robot).found
    assert any("springdamper" in note for note in robot.notes)


def test_inertia_of_motors_and_masses_scaled_together_count(tmp_path: Path) -> None:
    path, robot = read(
        tmp_path,
        FILES["a chain, inside a frame"],
        '<actuator><motor joint="a" armature="0.2" gear="3"/></actuator><compiler settotalmass="7"/>',
    )
    assert_alike(path, robot)


def test_without_both_numbers_positive_nothing_changes(tmp_path: Path) -> None:
    _, robot = read(tmp_path, f'<body><joint name="j" {SPRING}/><geom size="0.1"/></body>'.replace("0.1 0.7", "0.1 0"))
    assert robot.joints["j"].stiffness == (0.0,) or robot.extras.joints["j"].stiffness[0] == 3.0
    assert robot.joints["j"].damping == (4.0,)
