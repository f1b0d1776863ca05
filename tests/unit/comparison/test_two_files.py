"""A robot compared with a second one: every kind of difference is planted, and reported with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.robots import every_joint
from tests.unit.comparison.arm import ARM, changed, write

INERTIA = "inertia about the center of mass"
TOOL = '<link name="tool"'
MIMIC = '<mimic joint="finger" multiplier="0.5" offset="0.01"/>'

PLANTED: dict[str, tuple[list[tuple[str, str]], str, str, str]] = {
    # what is replaced; the body, what differs, and words of the sentence
    "mass": ([('<mass value="2"/>', '<mass value="2.5"/>')], "upper", "mass", "2 kg here, 2.5 kg there"),
    "grams": ([('<mass value="2"/>', '<mass value="2000"/>')], "upper", "mass", "g for kg"),
    "one part in a million": (
        [('<mass value="2"/>', '<mass value="2.000002"/>')], "upper", "mass", "2 kg here, 2.000002 kg there",
    ),
    "center of mass": ([("0.01 0.02 0.2", "0.01 0.02 0.25")], "upper", "center of mass", "50 mm apart"),
    "inertia": ([('ixx="0.03"', 'ixx="0.031"')], "upper", INERTIA, "(0.03, 0.02, 0.02, 0.001, 0.002, -0.003)"),
    "signs of products": (
        [('ixy="0.001" ixz="0.002" iyz="-0.003"', 'ixy="-0.001" ixz="-0.002" iyz="0.003"')],
        "upper", INERTIA, "the products of inertia have the other sign",
    ),
    "no products": (
        [('ixy="0.001" ixz="0.002" iyz="-0.003"', 'ixy="0" ixz="0" iyz="0"')],
        "upper", INERTIA, "the products of inertia are missing there",
    ),
    "axes of inertia": ([('rpy="0.1 0.2 0.3"', 'rpy="0 0 0"')], "lower", INERTIA, "the same, about other axes"),
    "axis": (
        [('<child link="lower"/><axis xyz="0 1 0"/>', '<child link="lower"/><axis xyz="1 0 0"/>')],
        "lower", "axis", "(0, 1, 0) here, (1, 0, 0) there (90° apart)",
    ),
    "sign of an axis": (
        [('<child link="lower"/><axis xyz="0 1 0"/>', '<child link="lower"/><axis xyz="0 -1 0"/>')],
        "lower", "axis", "it points the other way",
    ),
    "origin": ([('xyz="0 0.1 0.4"', 'xyz="0 0.103 0.4"')], "lower", "origin", "3 mm apart"),
    "millimetres": ([('xyz="0 0.1 0.4"', 'xyz="0 100 400"')], "lower", "origin", "mm for m"),
    "orientation": ([('rpy="0.2 0 0"', 'rpy="0.3 0 0"')], "lower", "orientation", "5.73° about (1, 0, 0) apart"),
    "type": ([('elbow" type="revolute"', 'elbow" type="prismatic"')], "lower", "type", "revolute here, prismatic"),
    "continuous": (
        [('shoulder" type="revolute"', 'shoulder" type="continuous"')],
        "upper", "type", "revolute here, continuous there",
    ),
    "limit in degrees": ([('upper="1.5"', 'upper="85.9436692696235"')], "lower", "upper limit", "degrees for radians"),
    "velocity": ([('velocity="3" effort="20"', 'velocity="4" effort="20"')], "lower", "velocity limit", "3 here, 4"),
    "effort": ([('effort="20"', 'effort="21"')], "lower", "effort limit", "20 here, 21 there"),
    "damping": ([('damping="0.5"', 'damping="0.25"')], "upper", "damping", "0.5 here, 0.25 there"),
    "friction": ([('friction="0.2"', 'friction="0"')], "upper", "friction", "0.2 here, 0 there"),
    "missing joint": (
        [('elbow" type="revolute"', 'elbow" type="fixed"')],
        "lower", "missing", "body 'lower' is fixed to body 'upper' there",
    ),
    "new joint": (
        [('flange" type="fixed"', 'flange" type="continuous"')],
        "tool", "only there", "body 'tool' is fixed to body 'lower' here",
    ),
    "renamed joint": (
        [('<joint name="elbow"', '<joint name="ellbow"')], "lower", "name", "renamed: it moves the same body 'lower'",
    ),
    "renamed body": (
        [('<link name="left"', '<link name="left finger"'), ('<child link="left"', '<child link="left finger"')],
        "left", "name", "renamed: the same joint moves it",
    ),
    "renamed fixed body": (
        [(TOOL, '<link name="hand"'), ('<child link="tool"', '<child link="hand"'),
         ('<parent link="tool"', '<parent link="hand"'), ('<parent link="tool"', '<parent link="hand"')],
        "tool", "missing", "'hand', which is only there, is at its place: renamed?",
    ),
    "place of a fixed body": ([('xyz="0 0 0.25"', 'xyz="0 0 0.253"')], "tool", "place", "3 mm apart"),
    "orientation of a fixed body": (
        [('xyz="0 0 0.25" rpy="0 0 0.5"', 'xyz="0 0 0.25"')], "tool", "orientation", "about (0, 0, -1) apart",
    ),
    "mass of a fixed body": (
        [(f'{TOOL}><inertial><mass value="0.3"', f'{TOOL}><inertial><mass value="0.35"')],
        "tool", "mass", "0.3 kg here, 0.35 kg there",
    ),
    "multiplier": ([(MIMIC, MIMIC.replace("0.5", "0.6"))], "right", "mimic", "multiplier 0.6"),
    "no mimic": ([(MIMIC, "")], "right", "mimic", "a joint that moves on its own there"),
    "parent": (
        [('<parent link="upper"/><child link="lower"/>', '<parent link="base"/><child link="lower"/>')],
        "lower", "parent", "body 'upper' here, body 'base' there",
    ),
    "mass of the base": ([('<mass value="5"/>', '<mass value="6"/>')], "base", "mass", "5 kg here, 6 kg there"),
    "new body": (
        [("</robot>", '<link name="mast"/><joint name="weld" type="fixed"><parent link="base"/><child link="mast"/>'
                      "</joint></robot>")],
        "mast", "only there", "body 'mast' is only in b.urdf",
    ),
}  # fmt: skip


def test_a_file_is_equal_to_itself(tmp_path: Path) -> None:
    found = kt.compare(write(tmp_path, "a.urdf"), write(tmp_path, "b.urdf"))
    (beside,) = found.counterparts
    assert found.is_equal
    assert beside.is_equal
    assert beside.first is None
    assert found.verdict == "equal within 1e-09: 'arm' and b.urdf"
    assert [quantity.name for quantity in beside.quantities] == [
        "total mass", "masses", "centers of mass", "inertias", "placements", "joint axes", "frames", "limits", "drives",
        "mass matrix", "bias forces", "gravity forces",
    ]  # fmt: skip
    assert all(quantity.error < 1e-14 for quantity in beside.quantities)


@pytest.mark.parametrize(("replacements", "body", "what", "words"), PLANTED.values(), ids=PLANTED)
def test_the_first_difference_is_reported(
    replacements: list[tuple[str, str]], body: str, what: str, words: str, tmp_path: Path
) -> None:
    found = kt.compare(write(tmp_path, "a.urdf"), write(tmp_path, "b.urdf", changed(*replacements)))
    assert not found.is_equal
    first = found.counterparts[0].first
    assert first is not None
    assert (first.body, first.what) == (body, what)
    assert words in first.text
    assert words in found.verdict
    assert found.verdict in found.text


def test_consequences_of_a_difference_are_not_reported_again(tmp_path: Path) -> None:
    """A joint at another place carries everything beyond it along, which is where it should be on its parent."""
    second = write(tmp_path, "b.urdf", changed(('xyz="0 0.1 0.4"', 'xyz="0 0.103 0.4"')))
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), second).counterparts
    assert [difference.what for difference in beside.differences] == ["origin", "mass matrix", "bias forces"]
    assert next(quantity for quantity in beside.quantities if quantity.name == "placements").error > 1e-3


def test_differences_are_in_the_order_of_the_tree(tmp_path: Path) -> None:
    """Whatever the order of the elements in the file."""
    second = changed(
        ('effort="5"', 'effort="6"'), ('<mass value="2"/>', '<mass value="2.5"/>'), ('effort="50"', 'effort="51"')
    )
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), write(tmp_path, "b.urdf", second)).counterparts
    places = [(difference.body, difference.what) for difference in beside.differences[:3]]
    assert places == [("upper", "mass"), ("upper", "effort limit"), ("left", "effort limit")]


def test_another_order_of_joints_is_noted_and_makes_no_difference(tmp_path: Path) -> None:
    opening, *_ = ARM.partition("  <joint")
    joints = ["  <joint" + part for part in ARM.removeprefix(opening).removesuffix("</robot>\n").split("  <joint")[1:]]
    assert len(joints) == 5
    second = write(tmp_path, "b.urdf", opening + "".join(joints[::-1]) + "</robot>")
    first = write(tmp_path, "a.urdf")
    assert list(kt.load(first).joints) != list(kt.load(second).joints)
    found = kt.compare(first, second)
    assert found.is_equal
    assert found.counterparts[0].notes == ("the order of joints in b.urdf is another; they were matched by name",)


def test_gravity() -> None:
    robot = kt.zoo.load("arm6")
    (beside,) = kt.compare(robot, robot.with_gravity((0, 0, -1.62))).counterparts
    assert [difference.what for difference in beside.differences] == ["gravity", "bias forces", "gravity forces"]
    assert "(0, 0, -9.81) m/s² here, (0, 0, -1.62) m/s² there" in beside.verdict


def test_bases_that_float_or_do_not(tmp_path: Path) -> None:
    path = write(tmp_path, "a.urdf")
    (beside,) = kt.compare(kt.load(path), kt.load(path, floating_base=True)).counterparts
    assert "joint 'root_joint' is only in the second robot" in beside.verdict
    (beside,) = kt.compare(kt.load(path, floating_base=True), kt.load(path)).counterparts
    assert "joint 'root_joint' is missing in the second robot: body 'base' is fixed to the world" in beside.verdict


def test_followers_and_the_same_joints_left_free_move_alike(tmp_path: Path) -> None:
    """M is compared in the coordinates of the robot with the follower, whichever of the two comes first."""
    path = write(tmp_path, "a.urdf")
    following, free = kt.load(path), kt.load(path, mimic=False)
    for pair in ((following, free), (free, following)):
        (beside,) = kt.compare(*pair).counterparts
        assert {difference.what for difference in beside.differences} == {"mimic"}
        errors = {quantity.name: quantity.error for quantity in beside.quantities}
        assert errors["mass matrix"] < 1e-12
        assert errors["bias forces"] < 1e-12


def test_followers_that_follow_otherwise_cannot_be_moved_together(tmp_path: Path) -> None:
    second = write(tmp_path, "b.urdf", changed((MIMIC, MIMIC.replace("0.5", "0.6"))))
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), second).counterparts
    problems = {quantity.name: quantity.problem for quantity in beside.quantities if quantity.problem}
    assert list(problems) == ["mass matrix", "bias forces", "gravity forces"]
    assert "'thumb' follow other joints, or in another way" in problems["mass matrix"]


def test_joints_of_every_kind() -> None:
    """Springs, rotors, couplings, quaternions; and the parts of changed ones are found."""
    robot = every_joint()
    assert kt.compare(robot, robot.with_gravity(robot.gravity)).is_equal
    builder = kt.ModelBuilder.of(robot)
    assert kt.compare(robot, builder.build(), samples=2).is_equal


def test_robots_with_nothing_in_common() -> None:
    found = kt.compare(kt.zoo.load("double_pendulum"), kt.zoo.load("quadruped"))
    assert not found.is_equal
    assert "'quadruped'" in found.verdict
    bare = kt.ModelBuilder("bare")
    bare.add_body("stone")
    assert kt.compare(bare.build(), bare.build()).is_equal
    assert not kt.compare(bare.build(), kt.zoo.load("quadruped")).is_equal
    assert not kt.compare(kt.zoo.load("quadruped"), bare.build()).is_equal


def test_the_tolerance_is_the_user_s(tmp_path: Path) -> None:
    second = write(tmp_path, "b.urdf", changed(('<mass value="2"/>', '<mass value="2.000002"/>')))
    first = write(tmp_path, "a.urdf")
    assert not kt.compare(first, second).is_equal
    assert kt.compare(first, second, tolerance=1e-5).is_equal


def test_states_depend_on_the_seed_alone(tmp_path: Path) -> None:
    second = write(tmp_path, "b.urdf", changed(('ixx="0.01"', 'ixx="0.011"')))
    first = write(tmp_path, "a.urdf")
    one, same, other = (kt.compare(first, second, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_text_can_be_read_and_the_dict_written_as_json(tmp_path: Path) -> None:
    import json

    second = write(tmp_path, "b.urdf", changed(('type="revolute"', 'type="continuous"')))
    found = kt.compare(write(tmp_path, "a.urdf"), second)
    assert repr(found) == found.text
    assert "limits: inf" in found.text
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["equal"] is False
    assert plain["counterparts"][0]["differences"][0]["what"] == "type"
    assert [row["error"] for row in plain["counterparts"][0]["quantities"] if row["name"] == "limits"] == [None]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples must be a whole number from 1"),
        ({"samples": True}, "samples must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"tolerance": -1.0}, "tolerance must be a number from 0 on"),
        ({"tolerance": np.nan}, "tolerance must be a number from 0 on"),
        ({"peers": ["mujocco"]}, "there is no library 'mujocco' to compare with: did you mean 'mujoco'"),
        ({"peers": "mujoco"}, "peers is a list of names"),
    ],
)
def test_options_outside_their_values(options: dict[str, object], words: str) -> None:
    robot = kt.zoo.load("double_pendulum")
    with pytest.raises(kt.KinetreeError, match=words):
        kt.compare(robot, robot, **options)  # type: ignore[arg-type]


def test_only_robots_and_paths_are_compared() -> None:
    with pytest.raises(kt.errors.DTypeError, match="b is a robot or the path of its file, not int"):
        kt.compare(kt.zoo.load("double_pendulum"), 3)  # type: ignore[arg-type]
