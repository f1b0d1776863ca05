"""A check of an MJCF file reports all its problems at once, each with its line; loading it stops at the first."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinetree as kt

TEXT = """<mujoco model="bad">
  <compiler angle="radian"/>
  <default><default class="leg"><geom density="500"/></default></default>
  <worldbody>
    <body name="base">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.1" quatt="1 0 0 0"/>
      <body name="thigh" childclass="legg">
        <joint name="hip" axis="0 0 0" range="-90 90"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4" mass="1"/>
        <body name="shin" pos="0 0 -0.4" quat="1 0 0 0" euler="0 0 1">
          <joint name="knee" axis="0 1 0" range="-150 0"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 0.1 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="kne"/></actuator>
</mujoco>
"""
EXPECTED = {
    7: "did you mean 'quat'",
    8: "did you mean 'leg'",
    9: "its axis has length zero",
    11: "it has both quat and euler",
    13: "violate the triangle inequality",
    18: "did you mean 'knee'",
}


def test_all_problems_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(TEXT)
    found = {p.line: f"{p.what} {p.advice}" for p in kt.check(path).problems if p.severity == "error"}
    assert sorted(found) == sorted(EXPECTED)
    for line, words in EXPECTED.items():
        assert words in found[line]
    with pytest.raises(kt.errors.ModelError, match=r':7: <geom> in <body name="base">.*did you mean'):
        kt.load(path)


BODY = '<body name="bras{}"><geom size="0.1"/></body>'


def test_texts_of_all_files_of_a_model_are_mended(tmp_path: Path) -> None:
    main, part = tmp_path / "main.xml", tmp_path / "part.xml"
    main.write_text('<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco> and more')
    part.write_bytes(f"<mujocoinclude>{BODY.format(' droite é')}</mujocoinclude>".encode("latin-1"))
    with pytest.raises(kt.errors.ModelError, match=r"main\.xml:1: this is not well-formed XML"):
        kt.load(main)
    robot, repairs = kt.load(main, repair=True)
    assert "bras droite é" in robot.bodies
    assert [(Path(each.file).name, each.code) for each in repairs] == [
        ("main.xml", "not-well-formed"),
        ("part.xml", "encoding"),
    ]


def test_problems_of_included_files_keep_their_code_and_place(tmp_path: Path) -> None:
    main = tmp_path / "main.xml"
    main.write_text('<mujoco>\n<include file="part.xml"/></mujoco>')
    (tmp_path / "part.xml").write_text("<mujocoinclude>\n<worldbody>")
    (found,) = kt.check(main).errors
    assert (Path(found.file).name, found.line, found.code) == ("part.xml", 2, "not-well-formed")
    assert found.sentence.endswith(f"(included by {main}:2)")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("part.xml", "'part.xml' is not found; put the file there or correct the address"),
        ("../part.xml", "is outside the folder of the file; name its folder in package_roots (--package-roots)"),
    ],
)
@pytest.mark.parametrize("element", ['<include file="{}"/>', '<asset><model name="m" file="{}"/></asset>'])
def test_files_that_are_not_there(tmp_path: Path, element: str, address: str, message: str) -> None:
    main = tmp_path / "main.xml"
    main.write_text(f"<mujoco>{element.format(address)}<worldbody>{BODY}</worldbody></mujoco>")
    (found,) = kt.check(main).errors
    assert found.code == "missing-file"
    assert message in str(found)


def test_triangles_that_mujoco_leaves_out_are_reported(tmp_path: Path) -> None:
    corners = "".join(f"v {k >> 2} {k >> 1 & 1} {k & 1}\n" for k in range(8))
    sides = ("1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6", "1 3 5 2 7 6")  # the last is entangled
    (tmp_path / "box.obj").write_text(corners + "".join(f"f {side}\n" for side in sides))
    main = tmp_path / "main.xml"
    main.write_text(
        '<mujoco><asset><mesh file="box.obj"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="box"/></body></worldbody></mujoco>'
    )
    assert any("left out, as it does: box.obj (4)" in note for note in kt.load(main).notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujocoinclude/>", "a part of an MJCF file, which another one includes; load that"),
        ("<worldbody/>", "this is a part of an MJCF file"),
        ("<model/>", "a part of an SDF file, or names one; load the file that begins with <sdf>"),
    ],
)
def test_parts_of_robot_files_are_known(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "part.xml").write_text(text)
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.load(tmp_path / "part.xml")
