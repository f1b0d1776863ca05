"""Frames with scale, massscale and scaling, beside MuJoCo's compiled model."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import kinetree as kt
from tests.io.mjcf.agreement import assert_agrees
from tests.io.mjcf.extras_agreement import differences

ALL = """armature="1" damping="1 2 3" frictionloss="1" stiffness="1 2 3" range="-1 2" springref="20" margin="0.1"
actuatorfrcrange="-1 1" springyield="3" """
BODIES = f"""<body name="a" pos="1 0 0" euler="10 20 30"><joint name="h" pos="0.1 0 0" axis="0 1 0" ref="10" {ALL}/>
<geom name="box" type="box" size="0.1 0.2 0.3" pos="0.5 0 0" margin="0.1" friction="1 0.1"/><site name="s" pos="1 0 0"/>
<site name="t" type="box" fromto="0 0 0 1 0 0" size="0.1"/><camera name="c" pos="1 0 0" euler="10 0 0"/>
<geom type="capsule" size="0.1" fromto="0 0 0 0 0.3 1"/><geom type="capsule" size="0.1 0.5" mass="2"/>
<body name="b" pos="0 0 1"><joint name="k" type="slide" ref="0.5" {ALL}/><inertial pos="0.1 0 0" mass="2"
diaginertia="1 1.5 2"/><geom size="0.1"/><body name="c" pos="0 0.3 0"><joint type="ball" armature="1" damping="1"/>
<geom type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true"/></body></body></body>"""
FREE = """<body name="f" pos="1 2 3"><joint name="free" type="free" armature="1" damping="1" frictionloss="1"/>
<geom size="0.1" pos="1 0 0"/></body>"""
FRAMES = [
    'scale="2"', 'scale="2" scaling="geometry"', 'scale="0.5 0.5 0.5" scaling="geometry" massscale="1"',
    'massscale="3" scaling="geometry"', 'massscale="3"', 'scale="2" massscale="3"', 'scale="1"', 'massscale="0"',
    'scaling="geometry"',
]  # fmt: skip
FILES = {
    **{at: f'<worldbody><frame pos="0.3 0 0" euler="0 0 20" {at}>{BODIES}</frame></worldbody>' for at in FRAMES},
    "nested": f"""<worldbody><frame scale="2" scaling="geometry" massscale="5"><frame pos="1 0 0" massscale="1"
        scale="3">{BODIES}</frame></frame></worldbody>""",
    "a free body": f'<worldbody><frame pos="1 0 0" scale="2">{FREE}</frame></worldbody>',
    "parts of a body": """<worldbody><body name="x"><joint name="j"/><geom size="0.1"/><frame pos="0 0 1" scale="2">
        <geom pos="1 0 0" size="0.1"/><joint name="k" pos="1 0 0" axis="0 1 0" armature="1"/><site name="s"
        pos="0 1 0"/></frame></body></worldbody>""",
    "an inertia": """<worldbody><body name="x"><frame scale="2" pos="1 0 0"><inertial pos="1 0 0" mass="1"
        fullinertia="1 1.2 1.4 0.1 0 0"/></frame><joint/></body></worldbody>""",
    "defaults": f"""<default><geom density="300" margin="0.2"/><joint armature="2"/><default class="x"><geom
        type="box" size="0.1 0.2 0.3"/><joint type="slide" damping="3"/></default></default><worldbody>
        <frame scale="3" childclass="x"><body name="d"><joint/><geom/><geom class="main" size="0.4"/></body></frame>
        {FREE}</worldbody>""",
    "replicas": """<worldbody><frame scale="2"><replicate count="2" offset="1 0 0"><body pos="0.1 0 0">
        <joint axis="0 1 0"/><geom size="0.1"/></body></replicate></frame></worldbody>""",
    "bounds": """<compiler boundmass="50" boundinertia="3" settotalmass="70"/><worldbody><frame scale="2"><body>
        <joint/><geom size="0.1"/></body></frame></worldbody>""",
    "springs by inertia": """<worldbody><frame scale="2"><body><joint springdamper="0.1 1"/><geom size="0.1"
        pos="1 0 0"/></body></frame></worldbody>""",
    "what does not change with it": f"""<worldbody><frame scale="2" scaling="geometry">{BODIES}</frame></worldbody>
        <actuator><motor name="m" joint="h" gear="2" armature="0.1"/></actuator><sensor><jointpos joint="k"/><framepos
        objtype="site" objname="s"/></sensor><contact><exclude body1="a" body2="c"/></contact>""",
}


def file(tmp_path: Path, inside: str) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{inside}</mujoco>", encoding="utf-8")
    return path


@pytest.mark.parametrize("what", FILES)
def test_everything_in_them_is_scaled_as_in_mujoco(tmp_path: Path, what: str) -> None:
    path = file(tmp_path, FILES[what])
    robot = assert_agrees(path)
    assert differences(path, robot).found == []


def test_attached_models_are_scaled(tmp_path: Path) -> None:
    child = f'<mujoco><default><geom density="300"/></default><worldbody>{BODIES}</worldbody></mujoco>'
    (tmp_path / "child.xml").write_text(child, encoding="utf-8")
    path = file(
        tmp_path,
        """<asset><model name="c" file="child.xml"/></asset><worldbody><frame scale="2" pos="1 0 0"><attach model="c"
        prefix="p_"/></frame></worldbody>""",
    )
    robot = assert_agrees(path)
    assert differences(path, robot).found == []


IN = f'<worldbody><frame scale="2">{BODIES}{FREE}</frame></worldbody>'
MESH = """<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><frame scale="2"><body>
<joint/><geom type="mesh" mesh="m"/></body></frame></worldbody>"""
NOT_READ = {
    "three numbers": (
        f'<worldbody><frame scale="1 2 3" scaling="geometry">{FREE}</frame></worldbody>',
        "in all directions",
    ),
    "a mesh": (MESH, "in a frame with scale or massscale are not read yet"),
    "an actuator": (f'{IN}<actuator><motor joint="h"/></actuator>', "what refers to it is scaled as well"),
    "a tendon": (
        f'{IN}<tendon><spatial><site site="s"/><site site="t"/></spatial></tendon>',
        "what refers to it is scaled as well",
    ),
    "an equality": (f'{IN}<equality><weld body1="a"/></equality>', "what refers to it is scaled as well"),
    "a keyframe": (f"{IN}<keyframe><key/></keyframe>", "these would be scaled as well"),
}


@pytest.mark.parametrize(("inside", "message"), NOT_READ.values(), ids=NOT_READ)
def test_what_is_not_read_yet_is_refused(tmp_path: Path, inside: str, message: str) -> None:
    path = file(tmp_path, inside)
    if "three" not in message and "directions" not in message:
        mujoco.MjModel.from_xml_path(str(path))
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(path)
    assert message in str(refusal.value)


WRONG = {
    "zero": ('scale="0"', "a scale cannot be zero"),
    "negative": ('massscale="-1"', "cannot be negative"),
    "two numbers": ('scale="1 2"', "scale holds 2 numbers; expected 1 or 3"),
    "a stretch of forces": ('scale="1 2 3"', 'needs scaling="geometry"'),
    "a word": ('scaling="same"', 'scaling="same" is not one of its words'),
}


@pytest.mark.parametrize(("at", "message"), WRONG.values(), ids=WRONG)
def test_faults_are_named(tmp_path: Path, at: str, message: str) -> None:
    path = file(tmp_path, f"<worldbody><frame {at}>{FREE}</frame></worldbody>")
    with pytest.raises(ValueError, match=r"."):
        mujoco.MjModel.from_xml_path(str(path))
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(path)
    assert message in str(refusal.value)
