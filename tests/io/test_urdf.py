"""What a URDF file says is what the model has."""

from __future__ import annotations

import importlib
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Transform, Vec3
from kinetree.spatial.rotations import from_rpy
from tests.io.arm import ARM, spoil, write


@pytest.fixture
def arm(tmp_path: Path) -> kt.Model:
    return kt.load(write(tmp_path, ARM))


def test_names_order_and_layout_are_those_of_the_file(arm: kt.Model) -> None:
    assert arm.name == "arm"
    assert list(arm.bodies) == ["base", "upper", "lower", "tool"]
    assert list(arm.joints) == ["shoulder", "elbow"]
    assert (arm.nq, arm.nv, arm.root, arm.floating_base) == (2, 2, "base", False)
    assert arm.joints["elbow"].kind == kt.joints.Continuous([0, 0, 1])
    assert arm.source.endswith("arm.urdf")


def test_the_order_of_joints_in_the_file_is_that_of_q_even_from_the_tip_to_the_root(tmp_path: Path) -> None:
    head, *joints = ARM.removesuffix("</robot>\n").split("  <joint ")
    text = head + "".join("  <joint " + joint for joint in reversed(joints)) + "</robot>\n"
    assert list(kt.load(write(tmp_path, text)).joints) == ["elbow", "shoulder"]


def test_joints_before_links_are_read(tmp_path: Path) -> None:
    head, *parts = ARM.removesuffix("</robot>\n").split("  <joint ")
    opening, links = head.split('  <link name="base"/>', 1)
    text = opening + "".join("  <joint " + part for part in parts) + '  <link name="base"/>' + links + "</robot>"
    model = kt.load(write(tmp_path, text))
    assert list(model.joints) == ["shoulder", "elbow"]
    assert list(model.bodies) == ["base", "upper", "lower", "tool"]


def test_limits_damping_and_friction_are_read(arm: kt.Model) -> None:
    shoulder, elbow = arm.joints["shoulder"], arm.joints["elbow"]
    assert shoulder.limits == kt.model.Limits((-1.5,), (2.0,), (3.0,), (40.0,))
    assert (shoulder.damping, shoulder.friction, shoulder.armature) == ((0.7,), (0.2,), (0.0,))
    assert elbow.limits == kt.model.Limits((-math.inf,), (math.inf,), (5.0,), (6.0,))


def test_inertia_is_taken_about_the_link_frame_from_a_turned_frame_at_the_centre_of_mass(arm: kt.Model) -> None:
    R = np.array(from_rpy(0.1, 0.2, 0.3).components()).reshape(3, 3)
    central = np.array([[0.11, 0.001, 0.002], [0.001, 0.12, 0.003], [0.002, 0.003, 0.13]])
    com = np.array([0.0, 0.0, 0.1])
    expected = R @ central @ R.T + 2.5 * (com @ com * np.eye(3) - np.outer(com, com))
    inertia = arm.bodies["upper"].inertia
    assert inertia.mass == 2.5
    np.testing.assert_allclose(inertia.h.components(), 2.5 * com, rtol=1e-15)
    np.testing.assert_allclose(np.array(inertia.I.full.components()).reshape(3, 3), expected, rtol=1e-14, atol=1e-17)


def test_origins_are_placements_with_fixed_axis_roll_pitch_yaw(arm: kt.Model) -> None:
    placement = arm.joints["elbow"].placement
    assert placement == Transform(from_rpy(0.0, 0.0, 1.5).T, Vec3(0.0, 0.0, 0.2))
    c, s = math.cos(1.5), math.sin(1.5)
    np.testing.assert_allclose(placement.E.T.components(), [c, -s, 0, s, c, 0, 0, 0, 1], atol=1e-16)


def test_a_body_on_a_fixed_joint_is_merged_and_its_frame_kept(arm: kt.Model) -> None:
    lower, tool = arm.bodies["lower"], arm.bodies["tool"]
    assert tool.is_fixed
    assert not lower.is_fixed
    assert tool.slot == lower.slot == 2
    assert arm.frames["tool"].placement.r == Vec3(0.1, 0.0, 0.0)
    assert arm.tree.I[2].mass == 2.0
    np.testing.assert_allclose(arm.tree.I[2].h.components(), (0.05, 0.0, 0.0))
    assert tool.inertia.mass == 0.5  # its own stays as the file has it
    assert any("merged" in note and "tool" in note for note in arm.notes)


def test_geometry_is_kept_with_its_shape_place_and_colour(arm: kt.Model) -> None:
    (shell,) = arm.bodies["upper"].geometry
    assert (shell.role, shell.shape, shell.size, shell.name) == ("visual", "cylinder", (0.04, 0.2), "shell")
    assert shell.placement.r == Vec3(0.0, 0.0, 0.05)
    assert shell.color == (0.0, 0.0, 1.0, 1.0)
    (block,) = arm.bodies["lower"].geometry
    assert (block.role, block.shape, block.size, block.color) == ("collision", "box", (0.1, 0.2, 0.3), None)


def test_a_material_may_be_defined_where_another_link_first_uses_it(tmp_path: Path) -> None:
    inline = '<box size="0.1 0.2 0.3"/>\n      </geometry><material name="red"><color rgba="1 0 0 1"/></material>'
    text = spoil('<box size="0.1 0.2 0.3"/>\n      </geometry>', inline).replace(
        '<material name="blue"/>', '<material name="red"/>'
    )
    model = kt.load(write(tmp_path, text))
    assert model.bodies["upper"].geometry[0].color == (1.0, 0.0, 0.0, 1.0)
    assert model.bodies["lower"].geometry[0].color == (1.0, 0.0, 0.0, 1.0)


def test_a_floating_base_puts_a_free_joint_under_the_root(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('<link name="base"/>', _link("base"))), floating_base=True)
    assert list(model.joints) == ["root_joint", "shoulder", "elbow"]
    assert (model.nq, model.nv) == (9, 8)
    assert model.bodies["base"].slot == 1
    assert model.singular_joints == ()


def test_a_floating_joint_in_the_file_is_a_free_joint(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('type="continuous"', 'type="floating"')))
    assert isinstance(model.joints["elbow"].kind, kt.Free)
    assert (model.nq, model.nv) == (8, 7)


def test_a_planar_joint_moves_in_the_plane_across_its_axis(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('name="elbow" type="continuous"', 'name="elbow" type="planar"')))
    assert model.joints["elbow"].kind == kt.joints.Planar([0, 0, 1])
    assert model.q_names[-3:] == ["elbow.x", "elbow.y", "elbow.angle"]
    text = spoil('name="elbow" type="continuous"', 'name="elbow" type="planar"').replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 2 0"/>'
    )
    model = kt.load(write(tmp_path, text))
    assert model.joints["elbow"].kind == kt.joints.Planar([0, 1, 0])
    assert any("planar joints whose axis is not z" in note and "elbow" in note for note in model.notes)


def test_a_mimic_follows_and_the_notes_say_so(tmp_path: Path) -> None:
    text = spoil('<axis xyz="0 0 1"/>', '<mimic joint="shoulder" multiplier="-2" offset="0.5"/>')
    model = kt.load(write(tmp_path, text))
    assert model.joints["elbow"].mimic == kt.model.Mimic("shoulder", -2.0, 0.5)
    assert any("follow it" in note and "elbow" in note for note in model.notes)
    assert "elbow" not in model.q_names
    assert not model.joints["elbow"].has_coordinates


def test_a_mimic_without_numbers_follows_one_to_one(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('<axis xyz="0 0 1"/>', '<mimic joint="shoulder"/>')))
    assert model.joints["elbow"].mimic == kt.model.Mimic("shoulder", 1.0, 0.0)


def test_a_mimic_can_be_left_out_and_the_notes_say_so(tmp_path: Path) -> None:
    text = spoil('<axis xyz="0 0 1"/>', '<mimic joint="shoulder" multiplier="-2" offset="0.5"/>')
    model = kt.load(write(tmp_path, text), mimic=False)
    assert model.joints["elbow"].mimic is None
    assert any("move on their own" in note and "elbow" in note for note in model.notes)
    assert "elbow" in model.q_names


def test_without_an_axis_the_joint_turns_about_x_and_the_notes_say_so(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('<axis xyz="0 0 1"/>', "")))
    assert model.joints["elbow"].kind == kt.joints.Continuous([1, 0, 0])
    assert any("without <axis>" in note and "elbow" in note for note in model.notes)


@pytest.mark.parametrize("axis", ["0 0 3", "0 0 1e-200", "0 0 1e200"])
def test_an_axis_of_another_length_is_normalised_and_the_notes_say_so(axis: str, tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('<axis xyz="0 0 1"/>', f'<axis xyz="{axis}"/>')))
    assert model.joints["elbow"].kind == kt.joints.Continuous([0, 0, 1])
    assert any("normalised" in note and "elbow" in note for note in model.notes)


def test_an_axis_rounded_to_seven_digits_is_no_reason_for_a_note(tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, spoil('<axis xyz="0 0 1"/>', '<axis xyz="0.7071068 0 0.7071068"/>')))
    assert not any("normalised" in note for note in model.notes)


def test_what_urdf_does_not_define_is_skipped_and_noted(tmp_path: Path) -> None:
    text = spoil('<link name="base"/>', '<link name="base" kind="x"><sensor/></link><plan><joint name="elbow"/></plan>')
    notes = kt.load(write(tmp_path, text)).notes
    assert any("skipped" in note and "link/sensor (1)" in note and "robot/plan (1)" in note for note in notes)
    assert any("skipped: link kind (1)" in note for note in notes)


VALID = {
    "a base without <inertial>": ARM,
    "no <origin> anywhere": "\n".join(line for line in ARM.splitlines() if "<origin" not in line),
    "prefixes that are never declared": spoil(
        '<link name="base"/>', '<link name="base" drake:id="1"/><drake:joint drake:name="elbow"/>'
    ),
    "blank lines before <?xml": "\n\r\n  \n" + ARM,
    "a byte order mark": "\ufeff" + ARM,
    "a document type without declarations": spoil("<robot", "<!DOCTYPE robot>\n<robot"),
    "a namespace for all": spoil("<robot", '<robot xmlns="http://www.ros.org" xmlns:xacro="http://ros.org/xacro"'),
    "comments and processing instructions": spoil("<link", "<!-- <link/> --><?hint a?><link"),
    "character references": spoil('name="arm"', 'name="&#97;r&#x6d;"'),
    "numbers in every notation": spoil('"0 0 1"', '" +0. .0e5\n1E0 "'),
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID.keys())
def test_valid_files_that_others_refuse_are_read(text: str, tmp_path: Path) -> None:
    model = kt.load(write(tmp_path, text))
    assert model.name == "arm"
    assert list(model.joints) == ["shoulder", "elbow"]
    assert model.joints["elbow"].kind == kt.joints.Continuous([0, 0, 1])


def test_blank_lines_before_the_declaration_count_as_lines(tmp_path: Path) -> None:
    path = write(tmp_path, ("\n\r\n\r" + ARM.replace('"2.5"', '"2.5kg"')).encode())
    with pytest.raises(kt.errors.ModelError, match=r"arm.urdf:13: <mass>"):
        kt.load(path)


def test_other_encodings_are_read(tmp_path: Path) -> None:
    text = spoil('version="1.0"', 'version="1.0" encoding="{}"').replace('"upper"', '"pièce"')
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        model = kt.load(write(tmp_path, text.format(encoding).encode(encoding)))
        assert list(model.bodies)[1] == "pièce"


def test_a_chain_of_5000_joints_is_read(tmp_path: Path) -> None:
    count = 5_000
    joints = [_joint(i, i, i + 1) for i in range(count)]
    links = [_link(f"l{i}") for i in range(count + 1)]
    model = kt.load(write(tmp_path, f'<robot name="chain">{"".join(links)}{"".join(reversed(joints))}</robot>'))
    assert model.nv == count
    assert len(model.tree.supports(model.bodies[f"l{count}"].slot)) == count
    assert f"{count} moving joints" in repr(model)


def test_a_massless_chain_of_5000_joints_is_read_and_all_its_joints_are_singular(tmp_path: Path) -> None:
    count = 5_000
    parts = [f'<link name="l{i}"/>' for i in range(count + 1)] + [_joint(i, i, i + 1) for i in range(count)]
    model = kt.load(write(tmp_path, f'<robot name="chain">{"".join(parts)}</robot>'))
    assert len(model.singular_joints) == count


@pytest.mark.deep
def test_30000_children_of_one_link_are_read(tmp_path: Path) -> None:
    count = 30_000
    parts = [f'<link name="l{i}"/>' for i in range(count + 1)] + [_joint(i, 0, i + 1) for i in range(count)]
    model = kt.load(write(tmp_path, f'<robot name="hedgehog">{"".join(parts)}</robot>'))
    assert model.nv == count
    assert model.joints[f"j{count - 1}"].q_start == count - 1


SUSPICIOUS = {
    "a singular inertia of equal entries": (
        spoil('<link name="base"/>', (
            '<link name="base"><inertial><mass value="1e-6"/>'
            '<inertia ixx="1e-6" ixy="1e-6" ixz="1e-6" iyy="1e-6" iyz="1e-6" izz="1e-6"/></inertial></link>'
        )),
        "body 'base' has an inertia that is singular and no rigid body can have",
    ),
    "a violated triangle inequality": (
        spoil('izz="0.01"', 'izz="0.1"'),
        "body 'lower' has an inertia that no rigid body can have: its principal moments (0.01, 0.01, 0.1 kg·m²)",
    ),
    "inertia without mass": (spoil('value="1.5"', 'value="0"'), "body 'lower' has inertia but no mass"),
    "a revolute joint without limits": (
        spoil('<limit lower="-1.5" upper="2" velocity="3" effort="40"/>', ""),
        "joint 'shoulder' is revolute but has no <limit>, so it has no limits",
    ),
    "negative damping": (spoil('damping="0.7"', 'damping="-0.7"'), "joint 'shoulder' has negative damping"),
    "an indefinite inertia that what it is fixed to makes up for": (
        spoil('<inertia ixx="0.001"', '<inertia ixx="-0.001"'),
        "body 'tool' has an inertia with the negative principal moment -0.001 kg·m²",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), SUSPICIOUS.values(), ids=SUSPICIOUS.keys())
def test_suspicious_files_are_read_as_written_with_a_warning_and_a_note(
    text: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kt.load(path)
    (warning,) = caught
    assert warning.category is kt.errors.ModelWarning
    assert str(warning.message).startswith(f"{path}:")
    assert message in str(warning.message)
    assert warning.filename == __file__  # the line of the user, not one of ours
    assert any(message in note for note in model.notes)
    assert list(model.joints) == ["shoulder", "elbow"]


def test_massless_inertia_is_loaded_as_written(tmp_path: Path) -> None:
    with pytest.warns(kt.errors.ModelWarning):
        model = kt.load(write(tmp_path, spoil('value="1.5"', 'value="0"')))
    assert model.bodies["lower"].inertia.mass == 0.0
    assert model.bodies["lower"].inertia.I.xx == 0.01


def test_rounding_below_zero_is_neither_an_error_nor_suspicious(tmp_path: Path) -> None:
    thin = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="-1e-17"/>'
    kt.load(write(tmp_path, spoil('<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>', thin)))


def test_many_suspicions_are_not_a_flood(tmp_path: Path) -> None:
    joints = "".join(_joint(i, 0, i + 1).replace("continuous", "revolute") for i in range(300))
    links = "".join(f'<link name="l{i}"/>' for i in range(301))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kt.load(write(tmp_path, f'<robot name="r">{links}{joints}</robot>'))
    assert len(caught) == 21
    assert str(caught[-1].message).startswith("280 more")


def _link(name: str) -> str:
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial></link>'


def _joint(number: int, parent: int, child: int) -> str:
    return (
        f'<joint name="j{number}" type="continuous"><parent link="l{parent}"/><child link="l{child}"/>'
        f'<origin xyz="0.1 0 0"/><axis xyz="0 {number % 2} {1 - number % 2}"/></joint>'
    )


@pytest.mark.parametrize("word", ["inf", "+inf", "Infinity", "INF", " +infinity ", "1e308", "3.4028234664e+38", "1e30"])
def test_infinite_limits_are_none(word: str, tmp_path: Path) -> None:
    limit = '<limit lower="-1.5" upper="2" velocity="3" effort="40"/>'
    minus = f"-{word.strip().lstrip('+')}"
    text = spoil(limit, f'<limit lower="{minus}" upper="{word}" velocity="{word}" effort="{word}"/>')
    robot = kt.load(write(tmp_path, text))
    assert robot.joints["shoulder"].limits == kt.model.Limits((-math.inf,), (math.inf,), (math.inf,), (math.inf,))
    assert not any("limit" in note for note in robot.notes)
    assert np.isfinite(robot.random(0)).all()
    assert kt.from_text(kt.to_text(robot)) == robot
    half = kt.load(write(tmp_path, spoil(limit, f'<limit lower="-1.5" upper="{word}"/>')))
    assert half.joints["shoulder"].limits.upper == (math.inf,)
    assert half.joints["shoulder"].limits.lower == (-1.5,)


def test_infinite_limits_on_a_continuous_joint_are_what_it_has_anyway(tmp_path: Path) -> None:
    text = spoil('<limit velocity="5" effort="6"/>', '<limit lower="-inf" upper="inf" velocity="5" effort="6"/>')
    robot = kt.load(write(tmp_path, text))
    assert robot.joints["elbow"].limits == kt.model.Limits((-math.inf,), (math.inf,), (5.0,), (6.0,))
    assert not any("no meaning" in note for note in robot.notes)


@pytest.mark.parametrize(
    ("mimic", "code"),
    [
        ('<mimic joint="elbow" multiplier="two"/>', "bad-mimic"),
        ("<mimic/>", "bad-mimic"),
        ('<mimic joint="none"/>', "unknown-joint"),
        ('<mimic joint="shoulder"/>', "circle"),
    ],
)
def test_a_wrong_follower_may_move_on_its_own(tmp_path: Path, mimic: str, code: str) -> None:
    text = ARM.replace('<axis xyz="0 1 0"/>', f'<axis xyz="0 1 0"/>{mimic}', 1)
    with pytest.raises(kt.errors.ModelError, match=r"\(the file loads with mimic=False, ") as caught:
        kt.load(write(tmp_path, text))
    assert [found.code for found in caught.value.problems] == [code]


def test_a_file_is_read_again_without_followers_only_for_faults_of_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ARM.replace('name="shoulder"', 'name="mimic of a gearbox"').replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1"/>'
    )
    path = write(tmp_path, text)
    times: list[int] = []
    monkeypatch.setattr(importlib.import_module("kinetree.io.load"), "_is_robot", lambda *_, **__: times.append(1))
    with pytest.raises(kt.errors.ModelError, match="mimic of a gearbox"):
        kt.load(path)
    assert not times
