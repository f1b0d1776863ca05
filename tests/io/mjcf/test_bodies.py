"""Small files, one feature each, beside MuJoCo: masses, inertias, placements, M(q) and bias forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.io.mjcf.agreement import assert_agrees

BOX = 'type="box" size="0.1 0.2 0.3"'
GEOM = '<geom type="capsule" size="0.05 0.2" pos="0.1 0 0.2"/>'


def file(tmp_path: Path, inside: str) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco model="m">\n{inside}\n</mujoco>', encoding="utf-8")
    return path


def arm(
    joint: str = '<joint name="j" axis="0 1 0"/>', geom: str = GEOM, body: str = 'pos="0 0 1"', more: str = ""
) -> str:
    return f"{more}<worldbody><body name='a' {body}>{joint}{geom}</body></worldbody>"


TWO = """<worldbody><body name="a" pos="0 0 1" euler="10 20 30"><joint name="j" axis="0 1 0" pos="0 0 0.1"/>
<geom type="box" size="0.1 0.2 0.3"/><body name="b" pos="0.2 0 0.4" quat="1 0.2 0 0.3"><joint name="k" axis="1 1 0"/>
<geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>"""

ORIENTED = {
    "quat": 'quat="0.5 0.1 -0.3 0.4"',
    "axisangle": 'axisangle="1 2 -0.5 40"',
    "xyaxes": 'xyaxes="1 0.2 0 -0.3 1 0.4"',
    "zaxis": 'zaxis="0.3 -0.2 0.9"',
    "zaxis down": 'zaxis="0 0 -1"',
    "euler": 'euler="30 -40 70"',
}
AGREE = {
    **{f"a body turned by {name}": arm(body=text) for name, text in ORIENTED.items()},
    **{f"a geom turned by {name}": arm(geom=f"<geom {BOX} {text}/>") for name, text in ORIENTED.items()},
    **{
        f"an inertia turned by {name}": arm(
            geom=f'<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25" {text}/>'
        )
        for name, text in ORIENTED.items()
    },
    "an inertia in a frame": arm(
        geom="""<frame pos="1 0 0" euler="10 20 90"><frame pos="0 0.3 0" euler="0 40 0"><inertial pos="0.1 0.2 0.3"
        mass="2" diaginertia="0.1 0.2 0.25" euler="10 0 0"/></frame></frame>"""
    ),
    "a full inertia in a frame": arm(
        geom="""<frame pos="1 0 0" euler="10 20 90"><inertial pos="0.1 0.2 0.3" mass="2"
        fullinertia="0.1 0.2 0.25 0.01 0.02 -0.03"/></frame>"""
    ),
    "radians": arm(body='euler="0.3 0.4 0.5"', more='<compiler angle="radian"/>'),
    "another sequence of angles": arm(body='euler="30 40 50"', more='<compiler eulerseq="zyx"/>'),
    "angles about fixed axes": arm(body='euler="30 40 50"', more='<compiler eulerseq="XYZ"/>'),
    "a mixed sequence": arm(body='euler="30 40 50"', more='<compiler eulerseq="zXz"/>'),
    "a hinge away from the body's origin": arm('<joint pos="0.1 0.2 -0.3" axis="1 2 3"/>'),
    "a hinge with a reference angle": arm('<joint pos="0.1 0 0" axis="1 1 0" ref="30"/>'),
    "a slide with a reference position": arm('<joint type="slide" axis="1 1 0" ref="0.3" pos="1 2 3"/>'),
    "a ball joint away from the origin": arm('<joint type="ball" pos="0 0.1 0.2"/>'),
    "a free joint": arm('<freejoint/>', body='pos="1 2 3" quat="1 1 0 0"'),
    "a joint of the type free": arm('<joint type="free" armature="0.1"/>'),
    "a free joint that is aligned with the inertia": arm(
        '<freejoint align="true"/>', '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.25" euler="10 20 30"/>'
        '<geom size="0.1" pos="1 0 0"/>'
    ),
    "free joints that are aligned": arm(
        "<freejoint/>", '<geom type="box" size="0.1 0.2 0.3" euler="10 20 30"/><geom size="0.1" pos="0.3 0.1 0"/>',
        more='<compiler alignfree="true"/>',
    ),
    "armature": arm('<joint armature="0.5" damping="1"/>'),
    "three hinges": arm('<joint axis="1 0 0"/><joint axis="0 1 0" pos="0 0 0.1"/><joint axis="0 0 1" ref="10"/>'),
    "a slide and a hinge": arm('<joint type="slide" axis="1 0 0"/><joint type="slide"/><joint axis="0 1 0"/>'),
    "a slide and a ball": arm('<joint type="slide" axis="1 0 0"/><joint type="ball" pos="0.1 0 0"/>'),
    "six joints": arm(
        "".join(f'<joint type="{t}" axis="{a}"/>' for t in ("slide", "hinge") for a in ("1 0 0", "0 1 0", "0 0 1"))
    ),
    "two bodies": TWO,
    "no gravity": '<option gravity="0 0 0"/>' + TWO,
    "gravity aside": '<option gravity="1 2 -3"/>' + TWO,
    "gravity that a flag disables": '<option><flag gravity="disable"/></option>' + TWO,
    "a body without joints": TWO.replace('<joint name="k" axis="1 1 0"/>', ""),
    "a free body beside an arm": TWO.replace(
        "</worldbody>", '<body name="c"><freejoint/><geom size="0.1"/></body></worldbody>'
    ),
    **{
        f"a {name}": arm(geom=f"<geom {text}/>")
        for name, text in {
            "sphere": 'size="0.2"',
            "capsule": 'type="capsule" size="0.1 0.3"',
            "cylinder": 'type="cylinder" size="0.1 0.3"',
            "box": 'type="box" size="0.1 0.2 0.3"',
            "ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.3"',
            "capsule between two points": 'type="capsule" size="0.1" fromto="0 0 0 0.3 0.2 0.5"',
            "cylinder between two points": 'type="cylinder" size="0.1" fromto="0 0 0 0.3 0.2 0.5"',
            "box between two points": 'type="box" size="0.1" fromto="0 0 0 0.3 0.2 -0.5"',
            "ellipsoid between two points": 'type="ellipsoid" size="0.1" fromto="0 0 0.3 0 0 0.1"',
            "geom with a mass": 'type="box" size="0.1 0.2 0.3" mass="3"',
            "geom with a density": 'type="box" size="0.1 0.2 0.3" density="30"',
            "geom with a mass and a density": 'type="box" size="0.1 0.2 0.3" density="30" mass="2"',
            "hollow sphere": 'size="0.2" shellinertia="true"',
            "hollow capsule": 'type="capsule" size="0.1 0.3" shellinertia="true"',
            "hollow cylinder": 'type="cylinder" size="0.1 0.3" shellinertia="true"',
            "hollow box": 'type="box" size="0.1 0.2 0.3" shellinertia="true"',
            "hollow ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true" mass="2"',
        }.items()
    },
    "several geoms": arm(geom=GEOM + '<geom type="box" size="0.1 0.1 0.1" pos="0.3 0.1 0" euler="10 20 30" mass="2"/>'),
    "a weightless geom among others": arm(geom=GEOM + '<geom size="0.1" mass="0"/><geom size="0.1" density="0"/>'),
    "geoms of groups that do not count": arm(
        geom=GEOM + '<geom size="0.3" group="3"/>', more='<compiler inertiagrouprange="0 2"/>'
    ),
    "an inertia and geoms": arm(geom=GEOM + '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'),
    "an inertia that geoms override": arm(
        geom=GEOM + '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>',
        more='<compiler inertiafromgeom="true"/>',
    ),
    "an inertia that no geoms override": arm(
        geom='<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>', more='<compiler inertiafromgeom="true"/>'
    ),
    "a full inertia": arm(geom='<inertial pos="0.1 0 0" mass="1" fullinertia="0.3 0.2 0.25 0.01 -0.02 0.03"/>'),
    "bounds of mass and inertia": arm(
        geom='<inertial pos="0.1 0 0" mass="1e-4" diaginertia="1e-6 1e-5 1e-5"/>',
        more='<compiler boundmass="0.01" boundinertia="5e-6"/>',
    ),
    "bounds of a body without anything": arm(
        geom='<body name="b" pos="0 0 1"/>' + GEOM, more='<compiler boundmass="0.1" boundinertia="0.001"/>'
    ),
    "a balanced inertia": arm(
        geom='<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.3" quat="1 1 0 0"/>',
        more='<compiler balanceinertia="true"/>',
    ),
    "a total mass": '<compiler settotalmass="7"/>' + TWO,
    "static bodies that are fused": '<compiler fusestatic="true"/>' + TWO,
    "visual geoms that are discarded": arm(
        geom=GEOM + '<geom size="0.2" contype="0" conaffinity="0"/>', more='<compiler discardvisual="true"/>'
    ),
    "defaults": f'<default><geom density="500" {BOX}/><joint axis="0 1 0" armature="0.1"/></default>'
    + arm("<joint/>", "<geom/>"),
    "a class of defaults": """<default><geom size="0.1 0.2 0.3"/><default class="c"><geom type="box" density="100"/>
        <joint axis="1 0 0" pos="0 0 0.2"/><default class="d"><geom density="50"/></default></default></default>"""
    + arm('<joint class="c"/>', '<geom class="d"/><geom class="c" pos="1 0 0"/>'),
    "a childclass": """<default><default class="c"><geom type="box" size="0.1 0.2 0.3"/><joint axis="1 0 0"/></default>
        <default class="e"><joint axis="0 0 1"/></default></default>"""
    + arm("<joint/>", '<geom/><body name="b" childclass="e"><joint/><geom size="0.1"/></body>', 'childclass="c"'),
    "numbers that a default completes": '<default><geom type="box" size="0.1 0.2 0.3"/></default>'
    + arm(geom='<geom size="0.4"/><geom size="0.4 0.5" pos="0 0 1"/>'),
    "a default orientation that a quaternion replaces": '<default><geom euler="10 20 30"/></default>'
    + arm(geom='<geom type="box" size="0.1 0.2 0.3" quat="1 1 0 0"/>'),
    "a default orientation that another one replaces": '<default><geom euler="10 20 30"/></default>'
    + arm(geom='<geom type="box" size="0.1 0.2 0.3" zaxis="1 1 0"/>'),
    "a default class for one type of joint": '<default><joint type="slide" axis="1 1 1"/></default>' + arm("<joint/>"),
    "frames": """<worldbody><frame pos="1 0 0" euler="0 0 30"><body name="a" pos="0 1 0"><joint axis="0 1 0"/>
        <frame euler="10 20 30" pos="0.1 0 0"><geom type="box" size="0.1 0.2 0.3"/>
        <frame zaxis="1 0 0"><joint axis="1 0 0" pos="0.1 0.2 0.3"/><geom type="capsule" size="0.1"
        fromto="0 0 0 1 0 0"/><body name="b"><joint type="ball" pos="1 0 0"/><geom size="0.2"/></body></frame></frame>
        </body></frame></worldbody>""",
    "replicas": """<worldbody><body name="a"><joint axis="0 1 0"/><geom size="0.1"/>
        <replicate count="3" offset="0.5 0 0.1" euler="0 20 30" sep="_"><body name="b" pos="0 0 0.3"><joint name="j"/>
        <geom name="g" type="box" size="0.1 0.2 0.3"/></body></replicate></body></worldbody>""",
    "replicas of replicas": """<worldbody><body name="a"><joint axis="0 1 0"/>
        <replicate count="2" offset="0 1 0" euler="90 0 0"><replicate count="12" sep="-" offset="1 0 0" euler="0 9 0">
        <geom name="g" type="box" size="0.1 0.2 0.3"/></replicate></replicate></body></worldbody>""",
    "a body attached to the model itself": """<worldbody><body name="a" pos="0 0 1"><joint name="j"/>
        <geom size="0.1 0.1 0.1" type="box"/></body>
        <body name="base"><frame pos="0 1 0" euler="0 30 0"><attach body="a" prefix="left_"/></frame>
        <joint axis="0 1 0"/><geom size="0.2"/></body></worldbody>""",
    "unnamed bodies and joints": "<worldbody><body><joint/><geom size='0.1'/><body pos='1 0 0'><joint axis='1 0 0'/>"
    "<geom size='0.1'/></body></body></worldbody>",
    "several sections": TWO.replace(
        "<worldbody>",
        "<worldbody><body name='z' pos='1 0 0'><joint/><geom size='0.1'/></body></worldbody><worldbody>",
    ),
    "a massless body with something fixed to it": """<worldbody><body name="a"><joint axis="0 1 0"/>
        <body name="b" pos="1 0 0"><geom size="0.1"/></body></body></worldbody>""",
    "a plane in the world": TWO.replace("<worldbody>", "<worldbody><geom type='plane' size='0 0 1'/>"),
    "a mocap body": TWO.replace(
        "</worldbody>", "<body name='m' mocap='true' pos='1 0 0'><geom size='0.1'/></body></worldbody>"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", AGREE)
def test_agrees_with_mujoco(tmp_path: Path, case: str) -> None:
    assert_agrees(file(tmp_path, AGREE[case]))


def test_names(tmp_path: Path) -> None:
    robot = kt.load(file(tmp_path, AGREE["three hinges"]))
    assert list(robot.joints) == ["a_joint", "a_joint2", "a_joint3"]
    assert list(robot.bodies) == ["world", "a:a_joint", "a:a_joint2", "a"]
    assert any("called after their bodies" in note for note in robot.notes)
    robot = kt.load(file(tmp_path, AGREE["replicas"]))
    assert list(robot.joints) == ["a_joint", "j_0", "j_1", "j_2"]


def test_limits_and_passive_forces(tmp_path: Path) -> None:
    robot = kt.load(
        file(
            tmp_path,
            arm(
                '<joint name="h" range="-90 45" actuatorfrcrange="-3 3" damping="2" frictionloss="0.5" stiffness="7" '
                'springref="90"/><joint name="s" type="slide" range="-0.1 0.2"/><joint name="u" axis="1 0 0" '
                'range="1 2" limited="false"/>'
            ),
        )
    )
    hinge = robot.joints["h"]
    np.testing.assert_allclose((*hinge.limits.lower, *hinge.limits.upper), np.radians([-90, 45]), rtol=1e-15)
    assert (hinge.limits.effort, hinge.damping, hinge.friction, hinge.stiffness) == ((3.0,), (2.0,), (0.5,), (7.0,))
    np.testing.assert_allclose(hinge.rest, np.pi / 2)
    assert (robot.joints["s"].limits.lower, robot.joints["s"].limits.upper) == ((-0.1,), (0.2,))
    assert not np.isfinite(robot.joints["u"].limits.lower[0])


def test_includes(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "body.xml").write_text('<mujoco><geom size="0.1"/><include file="more.xml"/></mujoco>')
    (tmp_path / "parts" / "more.xml").write_text('<any thing="1"><geom size="0.2" pos="1 0 0"/></any>')
    (tmp_path / "defaults.xml").write_text('<mujocoinclude><default><geom density="10"/></default></mujocoinclude>')
    path = file(tmp_path, '<include file="defaults.xml"/>' + arm(geom='<include file="parts/body.xml"/>'))
    assert len(assert_agrees(path).bodies["a"].geometry) == 2


def test_models_that_are_attached(tmp_path: Path) -> None:
    (tmp_path / "hand.xml").write_text(
        """<mujoco model="hand"><compiler angle="radian"/><default><geom density="50"/>
        <default class="f"><joint axis="0 1 0"/></default></default>
        <worldbody><body name="palm" euler="0 0.5 0"><geom size="0.1"/><body name="finger" childclass="f" pos="0.2 0 0">
        <joint name="j"/><geom type="capsule" size="0.02 0.1"/></body></body></worldbody></mujoco>"""
    )
    asset = '<asset><model name="hand" file="hand.xml"/></asset>'
    attach = "<frame pos='0 0 0.5' euler='0 0 90'><attach model='hand' {} prefix='h_'/></frame>"
    for what in ('body="palm"', 'body="finger"', ""):
        robot = assert_agrees(file(tmp_path, arm(geom=GEOM + attach.format(what), more=asset)))
        assert "h_j" in robot.joints
        assert "h_finger" in robot.bodies


def test_sites_and_cameras_are_frames(tmp_path: Path) -> None:
    text = arm(geom=GEOM + '<site name="tip" pos="0 0 1" euler="0 90 0"/><camera name="a" pos="1 0 0"/>')
    robot = kt.load(file(tmp_path, text))
    np.testing.assert_allclose(robot.frames["tip"].placement.r.components(), (0, 0, 1))
    assert "a_camera" in robot.frames
    assert any("a_camera" in note for note in robot.notes)


def test_shapes(tmp_path: Path) -> None:
    text = arm(
        geom='<geom name="g" type="box" size="0.1 0.2 0.3" rgba="1 0 0 1" friction="0.5" condim="4"/>'
        '<geom type="ellipsoid" size="0.1 0.2 0.3" contype="0" conaffinity="0" material="steel"/>',
        more='<asset><material name="steel" rgba="0.7 0.7 0.8 1"/></asset>',
    )
    box, ellipsoid = kt.load(file(tmp_path, text)).bodies["a"].geometry
    assert (box.name, box.role, box.size, box.color) == ("g", "collision", (0.2, 0.4, 0.6), (1.0, 0.0, 0.0, 1.0))
    assert box.contact
    assert (box.contact.friction, box.contact.condim) == ((0.5, 0.005, 0.0001), 4)
    assert (ellipsoid.role, ellipsoid.shape, ellipsoid.color) == ("visual", "ellipsoid", (0.7, 0.7, 0.8, 1.0))


def test_a_floating_base_is_the_files_own(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match="an MJCF file says by its joints which bodies float"):
        kt.load(file(tmp_path, arm()), floating_base=True)
