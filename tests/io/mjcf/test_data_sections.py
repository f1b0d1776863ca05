"""Equalities, contacts, sensors, keyframes and what else is kept, beside MuJoCo's compiled model."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import Unused
from tests.io.mjcf.agreement import assert_agrees
from tests.io.mjcf.extras_agreement import differences

BODIES = """<worldbody><geom name="floor" type="plane" size="1 1 1"/><site name="w"/><camera name="far"/>
<body name="b" pos="0.1 0.2 0.3" quat="1 0.2 0.3 0"><joint name="j" range="-1 2" ref="20"/><geom name="g" size="0.1"/>
<site name="s"/><body name="c"><joint name="k" type="slide" ref="0.1"/><geom name="h" size="0.1"/></body></body>
<body name="bb" pos="1 0 0"><joint name="ball" type="ball"/><geom size="0.1"/></body>
<body name="f" pos="2 0 1" euler="10 20 30"><joint name="free" type="free"/><geom size="0.1"/>
<camera name="eye"/></body>
</worldbody><tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/></fixed>
<fixed name="u"><joint joint="k" coef="2"/></fixed>
</tendon><actuator><motor name="m" joint="j"/><general name="n" joint="k" dyntype="filter"/></actuator>"""


def file(tmp_path: Path, more: str, bodies: str = BODIES) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{bodies}\n{more}</mujoco>", encoding="utf-8")
    return path


AGREE = {
    "connect": '<equality><connect name="e" body1="b" body2="c" anchor="1 2 3" solref="0.03"/></equality>',
    "connect to the world": '<equality><connect body1="b" anchor="1 2 3" active="false"/></equality>',
    "connect sites": '<equality><connect site1="s" site2="w"/></equality>',
    "weld": '<equality><weld body1="b" body2="f" torquescale="0.5" solimp="0.8 0.9" anchor="1 2 3"/></equality>',
    "weld at a pose": '<equality><weld body1="b" body2="f" relpose="1 2 3 2 1 0 0"/></equality>',
    "weld sites": '<equality><weld site1="s" site2="w"/></equality>',
    "joints": '<equality><joint joint1="j" joint2="k" polycoef="1 2 3"/><joint joint1="k"/></equality>',
    "tendons": '<equality><tendon tendon1="t" tendon2="u" polycoef="0 2"/><tendon tendon1="u"/></equality>',
    "defaults of equalities": """<default><equality solref="0.1 0.9" active="false"/><default class="x">
        <equality solimp="0.5"/></default></default>
        <equality><joint joint1="j"/><joint class="x" joint1="k"/></equality>""",
    "pairs": """<default><pair condim="4" friction="0.5 0.6"/></default><contact><pair name="p" geom1="g" geom2="floor"
        gap="0.1" margin="0.2" solreffriction="0.1 1"/></contact>""",
    "exclusions": '<contact><exclude name="x" body1="b" body2="f"/><exclude body1="world" body2="c"/></contact>',
    "sensors of sites": "<sensor>"
    + "".join(f'<{tag} name="{tag}" site="s"/>' for tag in ("touch", "gyro", "force", "magnetometer", "velocimeter"))
    + '<camprojection site="s" camera="eye"/><rangefinder site="s" cutoff="3" data="dist normal"/></sensor>',
    "sensors of joints": """<sensor><jointpos name="p" joint="j" noise="0.1"/><jointvel joint="k"/>
        <ballquat joint="ball"/><ballangvel joint="ball"/><jointlimitpos joint="j"/>
        <jointactuatorfrc joint="j"/></sensor>""",
    "sensors of tendons and actuators": """<sensor><tendonpos tendon="t"/><tendonlimitfrc tendon="t"/>
        <actuatorpos actuator="m"/>
        <actuatorfrc actuator="n" nsample="3" delay="0.01" interval="0.1 -0.05"/></sensor>""",
    "sensors of frames": """<sensor><framepos objtype="body" objname="b"/><framequat objtype="xbody" objname="b"/>
        <framexaxis objtype="site" objname="s" reftype="camera" refname="eye"/><framelinacc objtype="geom" objname="g"/>
        <frameangvel objtype="camera" objname="eye" reftype="body" refname="world"/></sensor>""",
    "other sensors": """<sensor><subtreecom body="b"/><clock/><e_potential/><insidesite site="s" objtype="body"
        objname="c"/><distance geom1="g" geom2="floor" cutoff="1"/><normal body1="b" body2="f" cutoff="1"/>
        <fromto geom1="g" body2="f" cutoff="1"/><user name="u" dim="3" datatype="axis" needstage="vel"/>
        <user dim="1" objtype="site" objname="s"/></sensor>""",
    "sensors of contacts": """<sensor><contact/><contact geom1="g" geom2="floor" data="found force" reduce="netforce"/>
        <contact subtree1="b" num="4" data="pos normal"/><contact body1="b" body2="f"/><contact site="s"/></sensor>""",
    "keyframes": """<keyframe><key name="home" time="2" qpos="0.5 0.2 1 0.5 0 0 1 2 3 0.7 0.1 0.2 0.3"
        qvel="1 2 3 4 5 6 7 8 9 10 11" act="0.5" ctrl="3 4"/><key/></keyframe>""",
    "a mocap body": """<worldbody><body name="mo" mocap="true" pos="1 2 3" quat="1 1 0 0"><geom size="0.1"/></body>
        </worldbody><keyframe><key/><key mpos="4 5 6" mquat="1 0 0 1"/></keyframe>""",
}


@pytest.mark.parametrize("more", AGREE.values(), ids=AGREE)
def test_sections_are_as_mujoco_compiles_them(tmp_path: Path, more: str) -> None:
    path = file(tmp_path, more)
    assert differences(path).found == []
    robot = kt.load(path)
    assert kt.from_text(kt.to_text(robot)).extras == robot.extras
    assert pickle.loads(pickle.dumps(robot)).extras == robot.extras


REFUSED = {
    "a connection without a body": ('<equality><connect anchor="1 2 3"/></equality>', "it holds nothing together"),
    "a connection without an anchor": ('<equality><connect body1="b"/></equality>', 'add anchor="x y z"'),
    "sites and bodies": ('<equality><weld body1="b" site1="s"/></equality>', "name two sites, or bodies"),
    "one site": ('<equality><weld site1="s"/></equality>', "it names one site; give both"),
    "an unknown body": ('<equality><weld body1="bbb"/></equality>', "there is no body of this name: did you mean 'bb'"),
    "no joint": ("<equality><joint/></equality>", 'add joint1="…"'),
    "a ball": ('<equality><joint joint1="ball"/></equality>', "'ball' is a ball joint"),
    "six coefficients": ('<equality><joint joint1="j" polycoef="1 2 3 4 5 6"/></equality>', "holds 6 numbers"),
    "one geom": ('<contact><pair geom1="g"/></contact>', 'add geom2="…"'),
    "the same geom": ('<contact><pair geom1="g" geom2="g"/></contact>', "it names 'g' twice"),
    "an unknown geom": ('<contact><pair geom1="g" geom2="flor"/></contact>', "did you mean 'floor'"),
    "condim 2": (
        '<contact><pair geom1="g" geom2="h" condim="2"/></contact>',
        "condim is 2, but it must be 1, 3, 4 or 6",
    ),
    "no second body": ('<contact><exclude body1="b"/></contact>', 'add body2="…"'),
    "a sensor without a site": ("<sensor><gyro/></sensor>", 'it names no site; add site="…"'),
    "a sensor of nothing": ('<sensor><jointpos joint="J"/></sensor>', "there is no joint of this name"),
    "a sensor of a ball": ('<sensor><jointpos joint="ball"/></sensor>', "<jointpos> is for hinge and slide joints"),
    "an angle of a hinge": ('<sensor><ballquat joint="j"/></sensor>', "<ballquat> is for ball joints"),
    "a frame of no kind": ('<sensor><framepos objname="b"/></sensor>', "objtype and objname go together"),
    "an unknown kind": ('<sensor><framepos objtype="joint" objname="j"/></sensor>', 'objtype="joint" is not one of'),
    "data in another order": (
        '<sensor><contact data="force found"/></sensor>',
        "must name each word once, in the order",
    ),
    "two things": ('<sensor><contact geom1="g" body1="b"/></sensor>', "it has both body1 and geom1; remove one"),
    "a user's sensor without size": ('<sensor><user name="u"/></sensor>', 'add dim="…"'),
    "a positive phase": (
        '<sensor><clock interval="0.1 0.2"/></sensor>',
        "the phase between -period and zero",
    ),
    "two sensors of one name": ('<sensor><clock name="c"/><clock name="c"/></sensor>', "two sensors named 'c'"),
    "a short keyframe": (
        '<keyframe><key qpos="1 2"/></keyframe>',
        "qpos holds 2 numbers, but this model has 13 of them",
    ),
    "controls": ('<keyframe><key ctrl="1"/></keyframe>', "ctrl holds 1 numbers, but this model has 2 of them"),
    "a word in a keyframe": (f'<keyframe><key qpos="{"1 " * 12}x"/></keyframe>', "'x' is not a number"),
    "two keyframes of one name": ('<keyframe><key name="a"/><key name="a"/></keyframe>', "two keyframes named 'a'"),
    "a camera of nothing": (
        '<worldbody><camera name="z" mode="targetbody" target="bx"/></worldbody>',
        "needs the name of a body in target",
    ),
    "a mocap body with a joint": (
        '<worldbody><body name="z" mocap="true"><joint/><geom size="0.1"/></body></worldbody>',
        "a mocap body has no joints",
    ),
    "two sites of one name": ('<worldbody><site name="s"/></worldbody>', "there are two sites named 's'"),
}


@pytest.mark.parametrize(("more", "message"), REFUSED.values(), ids=REFUSED)
def test_contradictions_are_refused(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as refusal:
        kt.load(file(tmp_path, more))
    assert message in str(refusal.value)
    assert "robot.xml:" in str(refusal.value)


ONE = '<body name="b"><joint name="j"/><geom name="g" size="0.1"/><site name="s"/></body>'
OTHER = '<body name="o"><joint name="out"/><geom name="go" size="0.1"/><site name="so"/></body>'
SECTIONS = """<actuator><motor name="a" joint="j"/><motor name="c" joint="out"/><motor tendon="t"/></actuator>
<sensor><jointpos name="jp" joint="j"/><framepos name="fp" objtype="site" objname="s" reftype="body" refname="o"/>
<actuatorpos name="ap" actuator="a"/></sensor><contact><exclude body1="b" body2="o"/>
<pair geom1="g" geom2="go"/></contact>
<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="out" coef="2"/></fixed></tendon>
<equality><joint name="eq" joint1="j"/></equality>"""


def test_elements_of_replicas_are_there_for_each(tmp_path: Path) -> None:
    path = file(tmp_path, SECTIONS, f'<worldbody>{OTHER}<replicate count="3" sep="_">{ONE}</replicate></worldbody>')
    assert differences(path).found == []
    robot = kt.load(path)
    assert robot.extras.actuators.names == ["c", "a_0", "", "a_1", "", "a_2", ""]
    assert robot.extras.actuators["a_1"].target == "j_1"


def test_elements_of_nested_replicas_are_there_for_each(tmp_path: Path) -> None:
    inner = f'<body name="p"><joint name="k"/><geom size="0.1"/><replicate count="2">{ONE}</replicate></body>'
    sections = '<actuator><motor name="c" joint="k"/><motor name="a" joint="j"/></actuator>'
    path = file(tmp_path, sections, f'<worldbody><replicate count="2">{inner}</replicate></worldbody>')
    assert differences(path).found == []
    assert kt.load(path).extras.actuators.names == ["c0", "a00", "a10", "c1", "a01", "a11"]


def test_elements_of_attached_models_have_the_prefix(tmp_path: Path) -> None:
    (tmp_path / "hand.xml").write_text(
        f"""<mujoco model="hand"><default><motor gear="7"/></default><worldbody>{OTHER}{ONE}</worldbody>{SECTIONS}
        <asset><material name="red" rgba="1 0 0 1"/></asset></mujoco>""",
        encoding="utf-8",
    )
    world = """<asset><model name="hand" file="hand.xml"/></asset><worldbody><body name="arm"><joint name="r"/>
        <geom size="0.1"/><attach model="hand" prefix="h_"/></body><attach model="hand" body="b" prefix="only_"/>
        </worldbody><actuator><motor name="x" joint="r"/><motor name="y" joint="h_out"/></actuator>"""
    path = file(tmp_path, "", world)
    assert differences(path).found == []
    robot = kt.load(path)
    assert robot.extras.actuators.names == ["x", "y", "h_a", "h_c", "", "only_a"]
    assert robot.extras.actuators["h_a"].gear[0] == 7.0
    assert robot.extras.actuators["x"].gear[0] == 1.0
    assert Unused("material", (("name", "h_red"), ("rgba", "1 0 0 1"))) in robot.extras.unused["asset"].children


def test_names_inside_replicas_are_not_there_without_their_ends(tmp_path: Path) -> None:
    path = file(tmp_path, "", f'<worldbody>{OTHER}<replicate count="2">{ONE}</replicate></worldbody>')
    path.write_text(
        path.read_text().replace("</mujoco>", '<actuator><motor joint="jj"/></actuator></mujoco>'), encoding="utf-8"
    )
    with pytest.raises(kt.errors.ModelError, match="there is no joint of this name"):
        kt.load(path)


def test_unusable_elements_are_kept_and_reported(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        """<size nuserdata="3"/><statistic extent="2"/><visual><global fovy="30"/></visual>
        <custom><numeric name="x" data="1 2"/></custom><default><material shininess="0.25"/></default>
        <asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/><material name="m" texture="t"/></asset>
        <worldbody><frame pos="0 0 1" euler="90 0 0"><light name="lamp" pos="0 1 0"/></frame>
        <site pos="1 2 3"/></worldbody>""",
    )
    robot = kt.load(path)
    unused = robot.extras.unused
    assert unused.names == ["size", "statistic", "visual", "custom", "asset", "body"]
    assert unused["asset"].children[1] == Unused("material", (("shininess", "0.25"), ("name", "m"), ("texture", "t")))
    light, site = unused["body"].children
    assert np.allclose(np.array(dict(light.attributes)["pos"].split(), float), [0, 0, 2])
    assert np.allclose(np.array(dict(light.attributes)["dir"].split(), float), [0, 1, 0])
    assert dict(site.attributes)["pos"] == "1 2 3"
    note = next(note for note in robot.notes if "kept as data" in note and "light" in note)
    for words in ("2 actuators", "2 tendons", "1 <light>", "1 <material>", "1 <numeric>"):
        assert words in note


def test_deformable_bodies_and_plugins_are_reported(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        """<worldbody><flexcomp name="cloth" type="grid" count="3 3 1" dim="2" mass="1"/></worldbody>
        <actuator><plugin name="p" joint="j" plugin="some.pid"><config key="kp" value="4"/></plugin></actuator>""",
    )
    with pytest.warns(
        kt.errors.ModelWarning, match=r"<flexcomp name=\"cloth\">: MuJoCo gives the points of a flexcomp masses"
    ):
        robot = kt.load(path)
    plugin = robot.extras.actuators["p"].plugin
    assert plugin == Unused("plugin", (("plugin", "some.pid"),), (Unused("config", (("key", "kp"), ("value", "4"))),))


def test_rigid_flexcomps_weigh_nothing(tmp_path: Path) -> None:
    cloth = '<flexcomp name="cloth" type="grid" count="3 3 1" dim="2" mass="1" rigid="true"/>'
    path = file(tmp_path, "", BODIES.replace('<site name="s"/>', f'<site name="s"/>{cloth}'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = assert_agrees(path)
    assert any("rigid flexcomps" in note and "cloth" in note for note in robot.notes)


def test_a_total_mass_is_not_shared_with_points_that_are_not_here(tmp_path: Path) -> None:
    cloth = '<flexcomp name="cloth" type="grid" count="3 3 1" dim="2" mass="1"/>'
    path = file(tmp_path, f'<compiler settotalmass="3"/><worldbody>{cloth}</worldbody>')
    with pytest.raises(kt.errors.ModelError, match="settotalmass shares the mass among all bodies and the points"):
        kt.load(path)


def test_free_bodies_start_where_the_file_puts_them(tmp_path: Path) -> None:
    robot = kt.load(file(tmp_path, ""))
    start = robot.extras.reference_configuration
    assert start is not None
    q = start.q(robot)
    assert np.allclose(q[robot.joints["free"].q_slice][:3], [2, 0, 1])
    assert np.allclose(q[robot.joints["j"].q_slice], np.radians(20))
