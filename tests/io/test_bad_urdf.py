"""What is not a robot is refused with the file, the line, the element and what to do."""

# ruff: noqa: E501 - a case a line reads better

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import kinetree as kt
from tests.io.arm import ARM, line_of, spoil, write


class Case(NamedTuple):
    """The arm with `old` replaced by `new` is refused in the line where `at` stands, with `message`."""

    old: str
    new: str
    at: str
    message: str


MASS = '<mass value="2.5"/>'
INERTIA = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
AXIS = '<axis xyz="0 1 0"/>'
LIMIT = '<limit lower="-1.5" upper="2" velocity="3" effort="40"/>'
ELBOW = '<joint name="elbow" type="continuous">'
FLANGE = '<joint name="flange" type="fixed">'

CASES = {
    "a unit after a number": Case(
        MASS, '<mass value="1kg"/>', "1kg",
        """<mass> in <link name="upper">: value="1kg": '1kg' is not a number (write it without a unit""",
    ),
    "a decimal comma": Case(MASS, '<mass value="1,0"/>', "1,0", "'1,0' is not a number (write a point for decimals"),
    "an underscore in a number": Case(MASS, '<mass value="1_000"/>', "1_000", "(write it without underscores)"),
    "not a number": Case(MASS, '<mass value="NaN"/>', "NaN", "'NaN' is not a finite number"),
    "infinity": Case(AXIS, '<axis xyz="0 inf 0"/>', "inf", "'inf' is not a finite number"),
    "a lower limit that is none above": Case(LIMIT, '<limit lower="inf" upper="0"/>', "inf", "lower=inf is above upper"),
    "limits that are one infinity": Case(LIMIT, '<limit lower="inf" upper="+INF"/>', "inf", "lower and upper are both"),
    "an infinite speed backwards": Case(
        LIMIT, '<limit lower="0" upper="1" velocity="-inf"/>', "-inf", "velocity=-inf is negative"
    ),
    "a limit that is not a number": Case(LIMIT, '<limit lower="nan" upper="1"/>', "nan", "'nan' is not a finite number"),
    "almost an infinity": Case(LIMIT, '<limit lower="-infinite" upper="1"/>', "infinite", "is not a number"),
    "a number beyond the range of floats": Case(MASS, '<mass value="1e999"/>', "1e999", "is too large for a 64-bit number"),
    **{
        f"{value} as {entry}": Case(
            INERTIA, re.sub(f'{entry}="[^"]*"', f'{entry}="{value}"', INERTIA), value,
            f'<inertia> in <link name="lower">: {entry}="{value}" is too large for a 64-bit number',
        )
        for entry in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz") for value in ("1e999", "-1e999")
    },
    "an offset beyond the range of floats": Case(
        AXIS, '<axis xyz="0 1e999 0"/>', "1e999", 'xyz="0 1e999 0" is too large for a 64-bit number'
    ),
    "a limit beyond the range of floats": Case(
        LIMIT, LIMIT.replace("-1.5", "-1e999"), "1e999", 'lower="-1e999" is too large for a 64-bit number'
    ),
    "a hexadecimal number": Case(MASS, '<mass value="0x10"/>', "0x10", "'0x10' is not a number"),
    "digits of another script": Case(MASS, '<mass value="١"/>', "١", "'١' is not a number"),
    "a blank that only looks like one": Case(
        AXIS, '<axis xyz="0\u00a01 0"/>', "<axis xyz=\"0\u00a0", "'0?1' is not a number"
    ),
    "a number of ten thousand digits": Case(
        MASS, f'<mass value="{"1" * 10000}"/>', "1111", "is 10,000 characters long; expected one number"
    ),
    "a xacro expression": Case(MASS, '<mass value="${m}"/>', "${m}", "is a xacro expression; load the file with xacro=True"),
    "an empty number": Case(MASS, '<mass value=" "/>', '" "', "is empty; expected one number"),
    "two numbers for a vector": Case(AXIS, '<axis xyz="0 1"/>', '"0 1"', "holds 2 numbers; expected 3 numbers separated by blanks"),
    "four numbers for a vector": Case(AXIS, '<axis xyz="0 1 0 0"/>', '"0 1 0 0"', "holds 4 numbers; expected 3 numbers"),
    "two masses in one": Case(MASS, '<mass value="1 2"/>', '"1 2"', "holds 2 numbers; expected one number"),
    "no mass": Case(MASS, "", '<inertial>\n      <origin', '<inertial> in <link name="upper">: has no <mass>; add one'),
    "no inertia": Case(INERTIA, "", '<inertial>\n      <mass value="1.5"', "has no <inertia>; add one"),
    "no izz": Case(INERTIA, '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"/>', '<inertia ixx="1"', 'has no attribute "izz"'),
    "two inertials": Case(
        '<inertial>\n      <mass value="1.5"/>',
        '<inertial><mass value="1"/></inertial>\n    <inertial>\n      <mass value="1.5"/>',
        '<inertial>\n      <mass value="1.5"/>',
        'has a second <inertial> (the first is in line 22); remove one',
    ),
    "a negative mass": Case(MASS, '<mass value="-1"/>', "<inertial>", "body 'upper' has the negative mass -1 kg"),
    "an indefinite inertia": Case(
        INERTIA, '<inertia ixx="1" ixy="2" ixz="0" iyy="1" iyz="0" izz="1"/>',
        '<inertial>\n      <mass value="1.5"',
        "body 'lower' has an inertia with the negative principal moment -1 kg·m² about its centre of mass",
    ),
    "an inertia that overflows": Case(
        '<origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/>', '<origin xyz="1e200 0 0"/>', "<inertial>", "is not finite or overflows"
    ),
    "a placement that overflows": Case(
        '<origin xyz="0.1 0 0"/>', '<origin xyz="1e200 0 0"/>', '<joint name="flange"', "joint 'flange' is 1e+100 m or more away from"
    ),
    "masses that overflow": Case(
        MASS, '<mass value="1e105"/>', "<inertial>", "the masses and placements of body 'upper' and the parts fixed to it overflow"
    ),
    "a base that stands too far away": Case(
        '<link name="base"/>',
        '<link name="far"/><joint name="stand" type="fixed"><parent link="far"/><child link="base"/>'
        '<origin xyz="1e308 0 0"/></joint><link name="base"/>',
        '<joint name="stand"', "joint 'stand' is 1e+100 m or more away from",
    ),
    "an axis of zero": Case(AXIS, '<axis xyz="0 0 0"/>', '"0 0 0"/>\n    <limit', 'has length zero, which is not a direction'),
    "an axis that overflows": Case(AXIS, '<axis xyz="1.7e308 1.7e308 0"/>', "1.7e308", "is too large for a direction"),
    "an unknown joint type": Case(ELBOW, '<joint name="elbow" type="revolut">', 'type="revolut">', "did you mean 'revolute'"),
    "a misspelt planar joint": Case(ELBOW, '<joint name="elbow" type="plane">', '"plane"', "did you mean 'planar'"),
    "a joint without type": Case(ELBOW, '<joint name="elbow">', '<joint name="elbow">', 'has no attribute "type"; add it'),
    "a joint without name": Case(ELBOW, '<joint type="continuous">', '<joint type="c', '<joint>: has no attribute "name"'),
    "a joint with an empty name": Case(ELBOW, '<joint name="" type="fixed">', '<joint name=""', '"name" is empty'),
    "a link without name": Case('<link name="base"/>', "<link/>", "<link/>", '<link>: has no attribute "name"'),
    "a joint without child": Case('<child link="lower"/>', "", ELBOW, 'has no <child>; add one'),
    "a joint without parent": Case('<parent link="upper"/>', "", ELBOW, 'has no <parent>; add one'),
    "a parent without link": Case(
        '<parent link="upper"/>', "<parent/>", "<parent/>", '<parent> in <joint name="elbow">: has no attribute "link"'
    ),
    "a parent that does not exist": Case(
        '<parent link="upper"/>', '<parent link="uper"/>', ELBOW,
        "joint 'elbow' has the parent 'uper', but there is no such body: did you mean 'upper'",
    ),
    "a child that does not exist": Case(
        '<child link="lower"/>', '<child link="lwer"/>', ELBOW, "has the child 'lwer', but there is no such body: did you"
    ),
    "two links of one name": Case(
        '<link name="tool">', '<link name="base">', '<inertial>\n      <mass value="0.5"', "two bodies named 'base'; rename"
    ),
    "two joints of one name": Case(FLANGE, '<joint name="elbow" type="fixed">', '<joint name="elbow" type="fixed">', "two joints named 'elbow'"),
    "a joint from a link to itself": Case('<child link="lower"/>', '<child link="upper"/>', ELBOW, "attaches body 'upper' to itself"),
    "a link with two parents": Case('<child link="tool"/>', '<child link="upper"/>', FLANGE, "'upper' is the child of two joints, 'shoulder' and 'flange'"),
    "two roots": Case('<link name="base"/>', '<link name="base"/><link name="moon"/>', '<link name="moon"/>', "2 bodies have no parent: 'base', 'moon'; a robot has one root"),
    "joints in a circle": Case(
        '<parent link="base"/>', '<parent link="tool"/>', '<inertial>\n      <origin',
        "its joints run in a circle: upper ← tool ← lower ← upper",
    ),
    "reversed limits": Case(LIMIT, '<limit lower="2" upper="-2" velocity="1" effort="1"/>', 'lower="2"', "lower=2 is above upper=-2; exchange them"),
    "a negative velocity limit": Case(LIMIT, '<limit velocity="-1" effort="1"/>', 'velocity="-1"', "velocity=-1 is negative; give its magnitude"),
    "a mimic of nothing": Case(
        AXIS, AXIS + '<mimic joint="elbo"/>', '<joint name="shoulder"', "joint 'shoulder' mimics 'elbo', but there is no such joint: did you mean 'elbow'"
    ),
    "a mimic of itself": Case(AXIS, AXIS + '<mimic joint="shoulder"/>', '<joint name="shoulder"', "mimics itself in a circle: shoulder → shoulder"),
    "a mimic of a fixed joint": Case(AXIS, AXIS + '<mimic joint="flange"/>', '<joint name="shoulder"', "mimics 'flange', which is fixed"),
    "a box with two sides": Case('size="0.1 0.2 0.3"', 'size="0.1 0.2"', "<box", '<box> in <link name="lower">: size="0.1 0.2" holds 2 numbers'),
    "a negative radius": Case('radius="0.04"', 'radius="-0.04"', "<cylinder", '<cylinder> in <visual name="shell">: a length is negative'),
    "a visual without geometry": Case(
        '<geometry>\n        <cylinder radius="0.04" length="0.2"/>\n      </geometry>', "", "<visual", "has no <geometry>; add one"
    ),
    "a geometry without shape": Case('<box size="0.1 0.2 0.3"/>', "<torus/>", "<geometry>\n        <torus", "must hold one shape"),
    "a mesh without file": Case('<box size="0.1 0.2 0.3"/>', "<mesh/>", "<mesh/>", 'has no attribute "filename"'),
    "three colours": Case('"0 0 1 1"', '"0 0 1"', "<color", '<color> in <material name="blue">: rgba="0 0 1" holds 3 numbers'),
    "an element that is never closed": Case("</robot>", "", "</robot>", "the file ends inside <robot name=\"arm\">, opened in line 2; is it cut off?"),
    "a tag closed by another": Case('</link>\n  <link name="lower">', '</lnk>\n  <link name="lower">', "</lnk>", 'mismatched tag: <link name="upper">, opened in line 7, is closed by another tag'),
    "an attribute given twice": Case(MASS, '<mass value="1" value="2"/>', "<mass value", "duplicate attribute"),
    "a name of five thousand letters": Case('name="elbow"', f'name="{"x" * 5000}"', '<joint name="xx', 'the attribute "name" is 5,000 characters long; the limit is 4,096'),
    "an ampersand on its own": Case('name="arm"', 'name="a & b"', "<robot", "not well-formed (invalid token)"),
    "an entity never declared": Case('name="arm"', 'name="&lol;"', "<robot", "undefined entity"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bad_urdf_is_refused_with_its_place_and_reason(case: Case, tmp_path: Path) -> None:
    text = spoil(case.old, case.new)
    path = write(tmp_path, text)
    line = line_of(text, case.at) if case.at in text else text.count("\n") + 1
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert case.message in str(caught.value)


def test_mimics_in_a_circle_are_refused(tmp_path: Path) -> None:
    text = spoil('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="elbow"/>').replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="shoulder"/>'
    )
    with pytest.raises(kt.errors.ModelError, match="mimics itself in a circle: shoulder → elbow → shoulder"):
        kt.load(write(tmp_path, text))


def test_every_link_in_a_circle_is_refused(tmp_path: Path) -> None:
    text = (
        '<robot name="ring"><link name="a"/><link name="b"/>'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>'
    )
    with pytest.raises(kt.errors.ModelError, match="every body has a parent, so the joints run in a circle: a ← b ← a"):
        kt.load(write(tmp_path, text))


NOT_XML = {
    "an empty file": (b"", "the file is empty"),
    "a file of blanks": (b" \n\t", "the file is empty"),
    "plain text": (b"a robot\n", ":1: this is not well-formed XML"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0", ":1: this is not well-formed XML"),
    "a root that is not a robot": (b"<html><link/></html>", ":1: <html>: not a robot file that kinetree can read"),
    "a robot without links": (b"<robot name='r'/>", "robot 'r' has no bodies"),
    "two roots in the file": (b"<robot name='r'/>\n<robot name='s'/>", ":2: this is not well-formed XML: junk after"),
    "an encoding nobody knows": (b"<?xml version='1.0' encoding='x-klingon'?><robot/>", "unknown encoding"),
    "text in the wrong encoding": (b"<robot name='\xff'/>", ":1: the text is not UTF-8; save it in that encoding"),
    "an entity bomb": (
        b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<robot name="&b;"/>',
        ":1: <!DOCTYPE r>: a document type with declarations or an address is not read",
    ),
    "an external entity": (
        b'\n<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="&a;"/>',
        ":2: <!DOCTYPE r>: a document type with declarations or an address is not read",
    ),
    "an external document type": (b'<!DOCTYPE r SYSTEM "http://localhost:9/r.dtd"><robot name="r"/>', "remove it"),
}


@pytest.mark.parametrize(("data", "message"), NOT_XML.values(), ids=NOT_XML.keys())
def test_what_is_no_urdf_file_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, data)
    with pytest.raises(kt.errors.ModelError, match=re.escape(message)) as caught:
        kt.load(path)
    assert str(caught.value).startswith(str(path))


def test_every_truncation_of_a_file_is_refused(tmp_path: Path) -> None:
    text = spoil("", "").rstrip()
    for end in range(0, len(text), 7):
        with pytest.raises(kt.errors.ModelError):
            kt.load(write(tmp_path, text[:end]))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.ModelError, match=r"nowhere.urdf: cannot be read: No such file"):
        kt.load(tmp_path / "nowhere.urdf")
    with pytest.raises(kt.errors.ModelError, match="this is a folder; give the path of a file"):
        kt.load(tmp_path)
    with pytest.raises(kt.errors.ModelError, match="is not a path: it holds a null character"):
        kt.load("a\0b.urdf")


def test_the_line_is_right_beyond_line_65535(tmp_path: Path) -> None:
    text = spoil('<link name="base"/>', "\n" * 70_000 + '<link name="base"/>').replace('"2.5"', '"2.5kg"')
    with pytest.raises(kt.errors.ModelError, match=r"arm.urdf:70010: <mass> in <link name=\"upper\">"):
        kt.load(write(tmp_path, text))


def test_a_message_shows_no_control_characters_and_no_endless_names(tmp_path: Path) -> None:
    text = spoil('type="continuous"', 'type="&#27;[31m"').replace('name="elbow"', f'name="{"x" * 500}"')
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(write(tmp_path, text))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ('<mass value="2.5"unit="kg"/>', r"at 'unit=\"kg\"/>'; write a blank between attributes"),
        ("<mass value=2.5/>", r"at '2.5/>'; write values in quotation marks"),
        ('<mass value="2 & 3"/>', r"at ' 3\"/>'; write &amp; for the sign &"),
        ('<mass value="<3"/>', r"at '<3\"/>'; write &lt; for the sign <"),
        ("< mass/>", r"at ' mass/>'; only XML's own signs are possible there"),
    ],
)
def test_what_is_wrong_in_a_tag_is_shown(tmp_path: Path, new: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=rf"^{tmp_path}/arm.urdf:10: .*invalid token\) {message}"):
        kt.load(write(tmp_path, spoil(MASS, new)))


@pytest.mark.parametrize("name", ["arm", "tool"])
def test_bytes_that_are_not_utf8_are_named_as_such(tmp_path: Path, name: str) -> None:
    """In the first tag, too, which determines the format."""
    path = tmp_path / "arm.urdf"
    path.write_bytes(ARM.replace(f'"{name}"', f'"{name}é"').encode("latin-1"))
    with pytest.raises(
        kt.errors.ModelError, match=r"arm.urdf:\d+: the text is not UTF-8; save it in that encoding$"
    ) as caught:
        kt.load(path)
    report = kt.check(path)
    assert caught.value.problems == report.errors
    assert [found.code for found in report.errors] == ["encoding"]


@pytest.mark.parametrize("text", [ARM, ARM.replace("<robot ", f"<!--{'x' * 2**20}--><robot ")])
def test_the_limits_of_a_file_are_checked_once(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the beginning does not show the format."""
    path = write(tmp_path, text)
    checks: list[int] = []
    monkeypatch.setattr("kinetree.io.document._check_limits", lambda _, data: checks.append(len(data)))
    kt.load(path)
    assert checks == [path.stat().st_size] * (1 + (text is not ARM))
