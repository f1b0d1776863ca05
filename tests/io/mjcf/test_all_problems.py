"""A check of an MJCF file tells all its problems at once, each with its line; loading it stops at the first."""

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
    with pytest.raises(kt.ModelError, match=r':7: <geom> in <body name="base">.*did you mean'):
        kt.load(path)
