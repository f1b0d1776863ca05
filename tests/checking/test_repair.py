"""Files that are repaired while they are read: each repair is reported, and nothing else is changed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.checking.planted import SOUND, planted

UPPER = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/>'
INERTIAL = '<inertial>\n      <origin xyz="0 0 0.15"/>'
SECOND = '<inertial><mass value="9"/><inertia ixx="9" ixy="0" ixz="0" iyy="9" iyz="0" izz="9"/></inertial>'


def mended(path: Path) -> tuple[kt.Model, list[str]]:
    """The robot of a file that `load` refuses or warns of, and what was done to it."""
    robot, repairs = kt.load(path, repair=True)
    report = kt.check(path)
    assert {each for each in report.problems if each.repair} == set(repairs)
    return robot, [f"{each.code}: {each.repair}" for each in repairs]


def test_a_sound_file_needs_no_repair(tmp_path: Path) -> None:
    path = planted(tmp_path)
    robot, repairs = kt.load(path, repair=True)
    assert repairs == ()
    assert robot == kt.load(path)


def test_reversed_limits_are_exchanged(tmp_path: Path) -> None:
    path = planted(tmp_path, ('lower="-1.5" upper="2"', 'lower="2" upper="-1.5"'))
    robot, done = mended(path)
    assert done == ["bad-limits: they are exchanged: -1.5 … 2"]
    assert robot == kt.load(planted(tmp_path))


def test_negative_magnitudes_of_limits_lose_their_sign(tmp_path: Path) -> None:
    robot, done = mended(planted(tmp_path, ('velocity="3" effort="40"', 'velocity="-3" effort="-40"')))
    assert done == ["bad-limits: it is 3", "bad-limits: it is 40"]
    assert robot == kt.load(planted(tmp_path))


def test_missing_limits_are_none(tmp_path: Path) -> None:
    path = planted(tmp_path, ('<limit lower="-1.5" upper="2" velocity="3" effort="40"/>', ""))
    robot, done = mended(path)
    assert done == ["missing-limits: it has no limits"]
    assert robot.upper[0] == math.inf


def test_negative_damping_is_none(tmp_path: Path) -> None:
    robot, done = mended(planted(tmp_path, ('damping="0.7" friction="0.2"', 'damping="-0.7" friction="-0.2"')))
    assert done == ["negative-damping: damping is set to zero", "negative-damping: friction is set to zero"]
    assert robot.joints["shoulder"].damping == robot.joints["shoulder"].friction == (0.0,)


@pytest.mark.parametrize(
    ("entries", "moments"),
    [
        ('ixx="0.02" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.002"', (0.007, 0.013, 0.02)),
        ('ixx="-0.002" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"', (0.0, 0.019, 0.019)),
    ],
)
def test_an_inertia_becomes_the_nearest_consistent_one(
    entries: str, moments: tuple[float, ...], tmp_path: Path
) -> None:
    robot, (done,) = mended(planted(tmp_path, (UPPER, f"<inertia {entries}/>")))
    assert "its principal moments (" in done
    body = robot.bodies["upper"]
    found = np.linalg.eigvalsh(body.rotational_inertia)
    along = 0.5 * found.sum() - found
    assert (along > -1e-12).all()  # second moments of mass, which no body has below zero
    assert body.mass == 2.5
    assert body.center_of_mass == pytest.approx([0.0, 0.0, 0.15])
    given = np.array([float(x.split('"')[1]) for x in entries.split() if x[:3] in ("ixx", "iyy", "izz")])
    clipped = np.maximum(0.5 * given.sum() - given, 0.0)
    assert found == pytest.approx(np.sort(clipped.sum() - clipped))
    assert len(moments) == 3


def test_of_two_inertials_the_first_is_used(tmp_path: Path) -> None:
    text = SOUND.replace('</inertial>\n    <visual name="shell"', f'</inertial>{SECOND}\n    <visual name="shell"', 1)
    path = tmp_path / "two.urdf"
    path.write_text(text, encoding="utf-8")
    robot, done = mended(path)
    assert done == ["repeated-element: the first one is used"]
    assert robot.bodies["upper"].mass == 2.5


def test_a_joint_with_the_name_of_another_is_renamed(tmp_path: Path) -> None:
    path = planted(tmp_path, ('name="wrist"', 'name="elbow"'))
    robot, done = mended(path)
    assert done == ["duplicate-name: it is renamed 'elbow__2'"]
    assert list(robot.joints) == ["shoulder", "elbow", "elbow__2"]


def test_a_name_that_others_refer_to_is_not_guessed(tmp_path: Path) -> None:
    mimic = '<axis xyz="0 1 0"/><mimic joint="elbow"/>'
    path = planted(tmp_path, ('name="wrist"', 'name="elbow"'), ('<axis xyz="0 1 0"/>', mimic))
    with pytest.raises(
        kt.errors.ModelError, match="mimics 'elbow', but several joints have that name; rename all but one"
    ):
        kt.load(path, repair=True)


def test_a_follower_of_nothing_moves_on_its_own(tmp_path: Path) -> None:
    path = planted(tmp_path, ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="elbo"/>'))
    robot, done = mended(path)
    assert done == ["unknown-joint: it follows no joint and moves on its own"]
    assert robot.nq == 3


def test_what_follows_the_document_is_left_out(tmp_path: Path) -> None:
    path = planted(tmp_path, ("</robot>\n", "</robot>\n<robot/> and more"))
    robot, done = mended(path)
    assert done == ["not-well-formed: everything after the end of the document is left out"]
    assert robot == kt.load(planted(tmp_path))


def test_text_in_windows_1252_is_read(tmp_path: Path) -> None:
    path = planted(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"wrist", b"poign\xe9e"))
    robot, done = mended(path)
    assert done == ["encoding: it is read as Windows-1252"]
    assert "poignée" in robot.joints


def test_what_cannot_be_mended_is_raised_all_at_once(tmp_path: Path) -> None:
    path = planted(
        tmp_path,
        ('lower="-1.5" upper="2"', 'lower="2" upper="-1.5"'),
        ('<mass value="2.5"/>', '<mass value="2,5"/>'),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>'),
    )
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path, repair=True)
    assert [each.code for each in caught.value.problems] == ["bad-number", "bad-axis"]
    assert str(caught.value).startswith("there are 2 problems that cannot be mended:\n")
    assert all(str(each) in str(caught.value) for each in caught.value.problems)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>'),
        ('<mass value="2.5"/>', '<mass value="-2.5"/>'),
        ('<mass value="2.5"/>', '<mass value="2,5"/>'),
        ('<link name="base">', '<link name="moon"/><link name="base">'),
        ('<parent link="base"/>', '<parent link="tool"/>'),
        ('name="lower"', 'name="upper"'),
    ],
)
def test_physics_is_never_guessed(old: str, new: str, tmp_path: Path) -> None:
    with pytest.raises(kt.errors.ModelError):
        kt.load(planted(tmp_path, (old, new)), repair=True)


def test_repair_is_a_flag(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match="repair must be True or False, not 'yes'"):
        kt.load(planted(tmp_path), repair="yes")  # type: ignore[call-overload]
