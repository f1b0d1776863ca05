"""Malformed SDF files, and what the error says about each: file, line, element, and what to do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import kinetree as kt
from tests.io.sdf.robots import BASE, BOX, INNER, SKEW, A, B, C, axis, joint, link, model, sdf
from tests.io.sdf.written import read, written

HINGE = joint("j", "revolute", "a", "b", SKEW)


def one(more: str = "", type_: str = "revolute", axes: str = SKEW, version: str = "1.9") -> str:
    return sdf(model(BASE + A + B + joint("j", type_, "a", "b", axes) + more), version)


def with_inertia(text: str) -> str:
    return sdf(model(f'<link name="a">{text}</link>'))


def shaped(shape: str, more: str = "") -> str:
    auto = '<inertial auto="true"/>'
    return with_inertia(f'{auto}<collision name="s">{more}<geometry>{shape}</geometry></collision>')


def pose(text: str, attributes: str = "") -> str:
    return sdf(model(link("a", pose=f"<pose{attributes}>{text}</pose>")))


NEST = model(A, "inner")

BAD: dict[str, tuple[str, str]] = {
    # Far away
    "a static model far away": (
        sdf(model("<static>true</static><pose>1e308 0 0 0 0 0</pose>" + A)),
        "<link name=\"a\">: joint 'a_joint' is 1e+100 m or more away from",
    ),
    "a frame far away": (
        sdf(model(A + '<frame name="f"><pose>1e308 0 0 0 0 0</pose></frame>')),
        "<frame name=\"f\">: frame 'f' is 1e+100 m or more away from",
    ),
    # Versions and what is at the top
    "no version": (sdf(model(A)).replace(' version="1.9"', ""), '<sdf>: has no attribute "version"; add it'),
    "a version of the future": (
        sdf(model(A), "1.13"),
        'version="1.13" is not one that kinetree reads, which are 1.4 to',
    ),
    "a version of the past": (sdf(model(A), "1.3"), "an older file is converted by `gz sdf -p`"),
    "a version that is none": (sdf(model(A), "new"), 'version="new" is not one that kinetree reads'),
    "nothing": (sdf(""), "<sdf>: has neither a <model> nor a <world>; add one"),
    "two models": (sdf(model(A) + model(A, "other")), "put them in a <world>, where they are one robot together"),
    "two worlds": (sdf('<world name="a"/><world name="b"/>'), "is the second <world> of the file"),
    "a model beside a world": (sdf('<world name="a"/>' + model(A)), "is beside a <world> (line 2); move it into"),
    "a model without a name": (sdf(f"<model>{A}</model>"), '<model>: has no attribute "name"; add it'),
    "a model without links": (sdf(model("")), '<model name="robot">: has no links; a model needs at least one'),
    "a nested model without links": (sdf(model(A + model("", "in"))), '<model name="in">: has no links; a model needs'),
    # Names
    "a link called world": (sdf(model(link("world"))), "the name world is that of the world in SDF; choose another"),
    "a reserved name": (sdf(model(link("__a__"))), "names that begin and end with __, as '__a__', are reserved in SDF"),
    "a name with colons": (
        sdf(model(link("a::b"))),
        "'a::b' contains ::, which separates the names of models and their",
    ),
    "two links of one name": (sdf(model(A + A)), "the name 'a' is that of a link, too (line 2)"),
    "a joint with the name of a link": (one().replace('name="j"', 'name="b"'), "the name 'b' is that of a link, too"),
    "a frame with the name of a joint": (one('<frame name="j"/>'), "the name 'j' is that of a joint, too"),
    "two links of one name in an old file": (sdf(model(A + A), "1.4"), "the name 'a' is that of a link, too"),
    "two shapes of one name": (
        sdf(model(link("a", more=f'<visual name="v"><geometry>{BOX}</geometry></visual>' * 2))),
        "the link has another <visual> of this name (line 2); rename one of them",
    ),
    # Frames
    "an unknown frame": (
        pose("1 2 3 0 0 0", ' relative_to="c"'),
        "<pose> in <link name=\"a\">: relative_to is 'c', but the",
    ),
    "a frame of the world in a model": (
        pose("", ' relative_to="world"'),
        "which only the <parent> of a joint can name",
    ),
    "a frame outside": (
        sdf(model(A + model(link("c", pose='<pose relative_to="a"/>'), "inner"))),
        "relative_to is 'a', but the model 'inner' has no such frame: available: 'c'",
    ),
    "an unknown part of a nested model": (
        sdf(model(NEST + link("o", pose='<pose relative_to="inner::x"/>'))),
        "relative_to is 'inner::x', but the model",
    ),
    "poses in a circle": (
        sdf(model(link("a", pose='<pose relative_to="b"/>') + link("b", pose='<pose relative_to="a"/>'))),
        "poses are given relative to each other in a circle: a → b → a; place one of them in its model",
    ),
    "a pose relative to itself": (
        sdf(model(link("a", pose='<pose relative_to="a"/>'))),
        "relative to each other in a circle: a → a",
    ),
    "a link and a joint in a circle": (
        one().replace("<pose>0.1 0.2 0.3 0.4 -0.5 0.6</pose>", '<pose relative_to="j"/>'),
        "in a circle: b → j → b",
    ),
    "frames attached in a circle": (
        one(
            '<frame name="f" attached_to="g"><pose relative_to="a"/></frame>'
            '<frame name="g" attached_to="f"><pose relative_to="a"/></frame>'
        ),
        "frames are attached to each other in a circle: f → g → f",
    ),
    "a frame attached to nothing": (one('<frame name="f" attached_to="x"/>'), "attached_to is 'x', but the model"),
    "an unknown placement frame": (
        sdf(model(A, attributes=' placement_frame="x"')),
        "placement_frame is 'x', but the model 'robot' has no such frame",
    ),
    "a placement frame that depends on what it places": (
        sdf(
            model(
                link("o", pose='<pose relative_to="inner"/>')
                + model('<pose relative_to="o"/>' + A, "inner", ' placement_frame="a"')
            )
        ),
        "in a circle: ",
    ),
    "an unknown canonical link": (
        sdf(model(BASE + A, attributes=' canonical_link="x"') + "")
        .replace("<model", "<model", 1)
        .replace("</model>", '<frame name="f"/></model>'),
        "canonical_link is 'x', but the model 'robot' has no such frame",
    ),
    "a canonical link that is none": (
        one('<frame name="f"/>').replace('"robot"', '"robot" canonical_link="j"'),
        "canonical_link is 'j', which is a joint",
    ),
    "the old name of relative_to": (
        pose("1 2 3 0 0 0", ' frame="a"'),
        "since SDF 1.7 the attribute is called relative_to",
    ),
    # Poses and numbers
    "five numbers": (pose("1 2 3 0 0"), '"1 2 3 0 0" holds 5 numbers; expected 6 numbers separated by blanks'),
    "a comma": (pose("1,5 2 3 0 0 0"), "'1,5' is not a number (write a point for decimals"),
    "not a number": (pose("nan 2 3 0 0 0"), "'nan' is not a finite number"),
    "a quaternion of six": (pose("1 2 3 0 0 1", ' rotation_format="quat_xyzw"'), "holds 6 numbers; expected 7 numbers"),
    "a quaternion of zeros": (pose("1 2 3 0 0 0 0", ' rotation_format="quat_xyzw"'), "quaternion of length zero"),
    "a long quaternion": (
        pose("1 2 3 0 0 1 1", ' rotation_format="quat_xyzw"'),
        "quaternion of length 1.41421; give one",
    ),
    "a quaternion in degrees": (
        pose("1 2 3 0 0 0 1", ' rotation_format="quat_xyzw" degrees="true"'),
        "has no meaning for a quaternion; remove it",
    ),
    "an unknown rotation": (pose("1 2 3 0 0 0", ' rotation_format="rpy"'), "it is euler_rpy or quat_xyzw"),
    "a truth that is none": (pose("1 2 3 0 0 0", ' degrees="yes"'), 'degrees="yes" is neither true nor false'),
    "two poses": (sdf(model("<pose/><pose/>" + A)), "has a second <pose> (the first is in line 2); remove one"),
    # Joints
    "an unknown type": (one(type_="revolut"), "type=\"revolut\" is not a joint type: did you mean 'revolute'"),
    "a piston": (one(type_="piston"), 'type="piston" is not a joint type'),
    "no type": (one().replace(' type="revolute"', ""), '<joint name="j">: has no attribute "type"'),
    "no parent": (one().replace("<parent>a</parent>", ""), '<joint name="j">: has no <parent>; add'),
    "no child": (one().replace("<child>b</child>", ""), '<joint name="j">: has no <child>; add'),
    "an empty child": (
        one().replace("<child>b<", "<child> <"),
        '<child> in <joint name="j">: is empty; write its value',
    ),
    "an unknown child": (
        one().replace("<child>b<", "<child>bb<"),
        "the child is 'bb', but the model 'robot' has no such",
    ),
    "an unknown parent": (sdf(model(A + B + joint("j", "fixed", "x", "b", ""))), "the parent is 'x', but the model"),
    "the world as child": (sdf(model(A + joint("j", "fixed", "a", "world", ""))), "exchange <parent> and <child>"),
    "parent and child alike": (one().replace("<parent>a<", "<parent>b<"), "is 'b', as is the child; name two frames"),
    "parent and child on one link": (
        one('<frame name="f" attached_to="b"/>').replace("<parent>a<", "<parent>f<"),
        "both fixed to the link 'b'; name two",
    ),
    "no axis": (one(axes=""), '<joint name="j">: has no <axis>; add one'),
    "no second axis": (one(type_="universal"), "has no <axis2>; add one"),
    "an axis of zeros": (one(axes=axis("0 0 0")), "has length zero, which is not a direction; give a unit vector"),
    "axes that are parallel": (
        one(type_="universal", axes=axis("0 0 1") + axis("0 0 1", tag="axis2")),
        "are parallel, so both would turn alike",
    ),
    "an axis in an unknown frame": (
        one(axes=axis("0 0 1", attributes=' expressed_in="x"')),
        "expressed_in is 'x', but the",
    ),
    "use_parent_model_frame in a new file": (
        one(axes=axis("0 0 1", "<use_parent_model_frame>1</use_parent_model_frame>")),
        'was removed in SDF 1.7; write <xyz expressed_in="__model__"> instead',
    ),
    "limits the wrong way round": (
        one(axes=axis("0 0 1", "<limit><lower>2</lower><upper>1</upper></limit>")),
        "the lower limit 2 is above the upper",
    ),
    "no limit at the wrong end": (
        one(axes=axis("0 0 1", "<limit><lower>1e16</lower></limit>")),
        "lower and upper are both inf; leave them out",
    ),
    "a screw without rotation": (
        one(type_="screw", axes=SKEW + "<thread_pitch>0</thread_pitch>"),
        "make the joint prismatic",
    ),
    "a spring on a ball": (
        one(type_="ball", axes=axis("0 0 1", "<dynamics><spring_stiffness>2</spring_stiffness></dynamics>")),
        "a ball joint has no axis for a spring; remove <spring_stiffness>",
    ),
    "a loop": (
        sdf(model(A + B + C + HINGE + joint("k", "revolute", "b", "c") + joint("l", "revolute", "a", "c"))),
        "body 'c' is the child of two joints, 'k' and 'l'; a tree gives each body one joint; leave one of them out, "
        "and close the loop with kt.constraints.Loop",
    ),
    "a circle": (
        sdf(model(A + B + HINGE + joint("k", "revolute", "b", "a"))),
        "joints run in a circle",
    ),
    "a joint to a static model": (
        sdf(model(link("o") + model("<static>1</static>" + A, "inner") + joint("j", "fixed", "o", "inner::a", ""))),
        "its child 'inner::a' is in a static model, which nothing moves",
    ),
    "a follower of nothing": (
        one(axes=axis("0 0 1", '<mimic joint="x"/>')),
        "the joint that it follows is 'x', but the",
    ),
    "a follower of a link": (
        one(axes=axis("0 0 1", '<mimic joint="a"/>')),
        "follows 'a', which is a link; name a joint",
    ),
    "a follower of itself": (one(axes=axis("0 0 1", '<mimic joint="j"/>')), "mimics itself in a circle"),
    "a follower of two axes": (
        one(type_="universal", axes=axis("1 0 0", '<mimic joint="base"/>') + axis("0 1 0", tag="axis2")),
        "kinetree lets only joints of one degree of freedom follow others",
    ),
    "a follower of a second axis": (
        one(axes=axis("0 0 1", '<mimic joint="base" axis="axis2"/>')),
        "follow only joints of one axis",
    ),
    "a gearbox without a reference": (one(type_="gearbox"), "has no <gearbox_reference_body>; add one"),
    "a gearbox without hinges": (
        sdf(
            model(
                BASE
                + A
                + B
                + C
                + joint("k", "fixed", "a", "b", "")
                + joint("l", "prismatic", "a", "c")
                + joint(
                    "g",
                    "gearbox",
                    "b",
                    "c",
                    SKEW + axis("0 0 1", tag="axis2") + "<gearbox_reference_body>a</gearbox_reference_body>",
                )
            )
        ),
        "between its reference body 'a' and 'b' there must be one revolute joint; there are none",
    ),
    "a gearbox across": (
        sdf(
            model(
                BASE
                + A
                + B
                + C
                + joint("k", "revolute", "a", "b")
                + joint("l", "revolute", "a", "c")
                + joint(
                    "g",
                    "gearbox",
                    "b",
                    "c",
                    axis("1 0 0") + axis("0 0 1", tag="axis2") + "<gearbox_reference_body>a</gearbox_reference_body>",
                )
            )
        ),
        "its axis is not parallel to that of the joint 'k'; make them parallel",
    ),
    # Inertia and shapes
    "a negative mass": (with_inertia("<inertial><mass>-1</mass></inertial>"), "belongs to the negative mass -1 kg"),
    "a negative moment": (
        with_inertia("<inertial><mass>1</mass><inertia><ixx>-1</ixx></inertia></inertial>"),
        "and one is negative; SDF calls",
    ),
    "moments of no body": (
        with_inertia("<inertial><mass>1</mass><inertia><ixx>5</ixx></inertia></inertial>"),
        "its principal moments are 1, 1 and 5 kg·m², and one is larger than the other two together",
    ),
    "a mass with a unit": (
        with_inertia("<inertial><mass>1kg</mass></inertial>"),
        "'1kg' is not a number (write it without a",
    ),
    "two inertials": (with_inertia("<inertial/><inertial/>"), "has a second <inertial> (the first is in line 2)"),
    "the inertia of nothing": (with_inertia('<inertial auto="true"/>'), 'auto="true" needs a <collision> in the link'),
    "the inertia of a plane": (shaped("<plane/>"), "a <plane> encloses no volume"),
    "the inertia of a missing mesh": (shaped("<mesh><uri>x.obj</uri></mesh>"), "name its folder in package_roots"),
    "the inertia of a flat box": (
        shaped("<box><size>1 1 0</size></box>"),
        "its inertia cannot be computed for <inertial",
    ),
    "a density of zero": (shaped(BOX, "<density>0</density>"), "is 0; a density is positive, kg/m³"),
    "a collision without a name": (
        shaped(BOX).replace(' name="s"', ""),
        '<collision> in <link name="a">: has no attribute',
    ),
    "a collision without geometry": (
        with_inertia('<collision name="s"/>'),
        '<collision name="s">: has no <geometry>; add one',
    ),
    "two shapes in one": (shaped(BOX + "<sphere/>"), "must hold one shape (box, capsule, cone,"),
    "a negative radius": (
        shaped("<sphere><radius>-1</radius></sphere>"),
        "a length is negative: -1; give it as a positive",
    ),
    "a plane without a direction": (
        with_inertia('<visual name="v"><geometry><plane><normal>0 0 0</normal></plane></geometry></visual>'),
        "is not a direction; give a unit vector",
    ),
    # Other files
    "a file that is not there": (
        sdf(model("<include><uri>model://nobody</uri></include>")),
        "name the folder that holds it in package_roots",
    ),
    "a file outside": (
        sdf(model("<include><uri>../../../../etc/hostname</uri></include>")),
        "there is no file '../../../../etc/hostname'",
    ),
    "a device": (sdf(model("<include><uri>file:///dev/zero</uri></include>")), "there is no file 'file:///dev/zero'"),
    "a file on the network": (
        sdf(model("<include><uri>https://fuel.gazebosim.org/1.0/x</uri></include>")),
        "is on the network, and nothing is",
    ),
    "an include without uri": (sdf(model("<include/>")), '<include> in <model name="robot">: has no <uri>; add one'),
    "a file that includes itself": (
        sdf(model("<include><uri>robot.sdf</uri></include>")),
        "include each other in a circle: robot.sdf → robot.sdf",
    ),
    "files in a circle": (
        sdf(model("<include><uri>ring/a.sdf</uri></include>")),
        "in a circle: a.sdf → b.sdf → a.sdf; remove this <include>",
    ),
    "a fault in an included file": (
        sdf(model("<include><uri>ring/bad.sdf</uri></include>")),
        'ring/bad.sdf:2: <link name="world">: the name',
    ),
    "an included URDF file": (
        sdf(model("<include><uri>ring/arm.urdf</uri></include>")),
        "but only SDF files can be; an SDF file begins with",
    ),
    "an included world": (
        sdf(model("<include><uri>ring/world.sdf</uri></include>")),
        "must hold one <model>; it holds 1 <world>",
    ),
    "a folder without a version that is read": (
        sdf(model("<include><uri>ring/new</uri></include>")),
        "names no <sdf> file of a version from 1.4 to 1.12",
    ),
    "a folder whose file is missing": (
        sdf(model("<include><uri>ring/gone</uri></include>")),
        "names the file 'nothing.sdf', which is not in its folder",
    ),
    "a placement frame without a pose": (
        sdf(model("<include><uri>arms/inner.sdf</uri><placement_frame>a</placement_frame></include>")),
        "has no meaning without a <pose> beside it",
    ),
    "a world that merges": (
        sdf('<world name="w"><include merge="true"><uri>arms/inner.sdf</uri></include></world>'),
        "merge has no meaning in a",
    ),
    "a population": (
        sdf('<world name="w"><population name="many"/></world>'),
        "makes copies of a model, which kinetree does not make; write the models out",
    ),
    "names that meet in a merger": (
        sdf(model(A + '<include merge="true"><uri>arms/inner.sdf</uri></include>')),
        "the name 'a' is that of a link, too",
    ),
}

RING = {
    "arms/inner.sdf": INNER,
    "ring/a.sdf": sdf(model("<include><uri>b.sdf</uri></include>", "a")),
    "ring/b.sdf": sdf(model("<include><uri>a.sdf</uri></include>", "b")),
    "ring/bad.sdf": sdf(model(link("world"))),
    "ring/arm.urdf": "<robot name='r'><link name='a'/></robot>",
    "ring/world.sdf": sdf('<world name="w"/>'),
    "ring/new/model.config": '<model><sdf version="2.0">x.sdf</sdf></model>',
    "ring/gone/model.config": '<model><sdf version="1.9">nothing.sdf</sdf></model>',
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_the_error_says_what_is_wrong_and_where(name: str, tmp_path: Path) -> None:
    text, expected = BAD[name]
    path = written(tmp_path, text, RING)
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path)
    message = str(caught.value)
    assert expected in message
    assert str(tmp_path) in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (sdf(model(BASE + A)), "the joint 'base' attaches its child to the world, so the robot has no floating base"),
        (sdf(model("<static>1</static>" + A)), "the link 'a' is in a static model, so the robot has no floating base"),
    ],
)
def test_what_stands_does_not_float(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(kt.errors.ModelError, match=expected):
        read(tmp_path, text, floating_base=True)


def test_a_file_that_doubles_itself_again_and_again_is_stopped(tmp_path: Path) -> None:
    """Twenty files, each of which includes the next one twice: a million models."""
    beside = {
        f"{k}.sdf": sdf(
            model(
                f"<include><uri>{k + 1}.sdf</uri><name>x</name></include>"
                f"<include><uri>{k + 1}.sdf</uri><name>y</name></include>"
            )
        )
        for k in range(20)
    }
    path = written(tmp_path, beside["0.sdf"], {**beside, "20.sdf": sdf(model(A))})
    start = time.perf_counter()
    with pytest.raises(kt.errors.ModelError, match="more than 2,000 inclusions"):
        kt.load(path)
    assert time.perf_counter() - start < 5.0


def test_a_chain_of_files_is_followed_to_some_depth_only(tmp_path: Path) -> None:
    beside = {f"{k}.sdf": sdf(model(f"<include><uri>{k + 1}.sdf</uri></include>")) for k in range(200)}
    path = written(tmp_path, beside["0.sdf"], {**beside, "200.sdf": sdf(model(A))})
    with pytest.raises(kt.errors.ModelError, match="nested more than 100 deep"):
        kt.load(path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.sdf").write_text(INNER, encoding="utf-8")
    (tmp_path / "inside").mkdir()
    path = written(tmp_path / "inside", sdf(model("<include><uri>here.sdf</uri></include>")), {})
    (tmp_path / "inside" / "here.sdf").symlink_to(tmp_path / "outside.sdf")
    with pytest.raises(kt.errors.ModelError, match=r"there is no file 'here\.sdf'"):
        kt.load(path)


def test_long_chains_of_frames_are_no_recursion(tmp_path: Path) -> None:
    n = 5000
    frames = "".join(f'<frame name="f{k}" attached_to="f{k + 1}"/>' for k in range(n)) + f'<frame name="f{n}"/>'
    poses = "".join(
        f'<link name="l{k}"><pose relative_to="l{k + 1}">0 0 0.1 0 0 0</pose></link>' for k in range(20)
    ) + link("l20")  # fmt: skip
    joints = "".join(joint(f"j{k}", "fixed", f"l{k}", f"l{k + 1}", "") for k in range(20))
    robot = read(tmp_path, sdf(model(frames + poses + joints)))
    assert robot.frames["f0"].body == "l0"
