"""Robots beside what other libraries make of their files: installed ones, absent ones, and ones that fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.comparison.source import MOVING_WORLD, without_shapes
from tests.unit.comparison.arm import ARM, changed, write

BOTH = ["mujoco", "pinocchio"]


@pytest.mark.parametrize("floating_base", [False, True])
def test_a_file_that_all_read_alike(tmp_path: Path, floating_base: bool) -> None:
    found = kt.compare(write(tmp_path, "a.urdf"), peers=BOTH, floating_base=floating_base)
    assert found.is_equal
    assert [beside.name for beside in found.counterparts] == BOTH
    for beside in found.counterparts:
        errors = {quantity.name: quantity.error for quantity in beside.quantities}
        assert {"total mass", "mass matrix", "bias forces", "gravity forces", "placements", "limits"} < {*errors}
        assert max(errors.values()) < 1e-12
        assert any("'thumb' move freely" in note for note in beside.notes)
    merged = [note for note in found.counterparts[0].notes if "merged" in note]
    assert len(merged) == 1
    assert "tool into lower" in merged[0]


def test_what_mujoco_leaves_out_is_noted(tmp_path: Path) -> None:
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), peers=["mujoco"]).counterparts
    assert "mujoco was given the file without its shapes" in beside.notes
    assert "mujoco keeps no mass of bodies fixed to the world (5 kg)" in beside.notes


def test_an_inertia_that_mujoco_balances(tmp_path: Path) -> None:
    path = write(tmp_path, "a.urdf", changed(('ixx="0.03"', 'ixx="0.08"')))
    with pytest.warns(kt.errors.ModelWarning):
        (beside,) = kt.compare(path, peers=["mujoco"]).counterparts
    assert beside.first is not None
    assert (beside.first.body, beside.first.what) == ("upper", "inertia about the center of mass")
    assert "mujoco changed that of body 'upper', which no body could have: balanceinertia" in beside.verdict
    assert any('it was read with balanceinertia="true"' in note for note in beside.notes)


def test_masses_that_mujoco_raises(tmp_path: Path) -> None:
    inertial = '<inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/>'
    text = changed((f'<link name="left">{inertial}</inertial></link>', '<link name="left"/>'))
    (beside,) = kt.compare(write(tmp_path, "a.urdf", text), peers=["mujoco"]).counterparts
    assert beside.first is not None
    assert (beside.first.body, beside.first.what) == ("left", "mass")
    assert "mujoco gave body 'left', which had no mass, 1e-6 kg: boundmass" in beside.verdict


def test_limits_that_mujoco_drops(tmp_path: Path) -> None:
    path = write(tmp_path, "a.urdf", changed(('lower="-1" upper="1.5"', 'lower="0.5" upper="0.5"'), ('"20"', '"0"')))
    (beside,) = kt.compare(path, peers=["mujoco"]).counterparts
    assert [difference.reason for difference in beside.differences] == [
        "mujoco takes equal limits for none",
        "mujoco takes equal limits for none",
        "mujoco takes an effort of 0 for no limit",
    ]
    assert any("mujoco warns: joint 'elbow' has equal lower and upper limits" in note for note in beside.notes)
    assert not (Path.cwd() / "MUJOCO_LOG.TXT").exists() or "elbow" not in (Path.cwd() / "MUJOCO_LOG.TXT").read_text()


def test_mujoco_s_own_handler_of_warnings_stays(tmp_path: Path) -> None:
    kept: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(kept.append)
    try:
        kt.compare(write(tmp_path, "a.urdf"), peers=["mujoco"])
        assert mujoco.get_mju_user_warning() is not None
        assert kept == []
    finally:
        mujoco.set_mju_user_warning(before)


def test_libraries_read_the_second_file_where_there_are_two(tmp_path: Path) -> None:
    second = write(tmp_path, "b.urdf", changed(('<mass value="2"/>', '<mass value="2.5"/>')))
    found = kt.compare(write(tmp_path, "a.urdf"), second, peers=BOTH)
    assert [beside.name for beside in found.counterparts] == ["b.urdf", *BOTH]
    for beside in found.counterparts:
        assert beside.first is not None
        assert (beside.first.body, beside.first.what) == ("upper", "mass")


def test_another_gravity_is_theirs_too(tmp_path: Path) -> None:
    """URDF says nothing of it, so the libraries take the robot's."""
    robot = kt.load(write(tmp_path, "a.urdf"), gravity=(1.0, 2.0, -3.0))
    assert kt.compare(robot, peers=BOTH).is_equal


def test_a_root_called_world_that_floats(tmp_path: Path) -> None:
    path = write(tmp_path, "a.urdf", changed(('"base"', '"world"'), ('"base"', '"world"')))
    assert MOVING_WORLD in without_shapes(path, {}, floating_base=True)
    assert kt.compare(path, peers=BOTH, floating_base=True).is_equal
    assert kt.compare(path, peers=BOTH).is_equal


def test_prefixes_without_namespaces(tmp_path: Path) -> None:
    """Old files of Gazebo have such elements; MuJoCo gets the file without its shapes, through another parser."""
    path = write(tmp_path, "a.urdf", changed(("</robot>", "<gazebo><sensor:camera/></gazebo></robot>")))
    assert kt.compare(path, peers=BOTH).is_equal


def test_forces_that_are_only_rounding_make_no_difference(tmp_path: Path) -> None:
    """A hinge with gravity along its axis has no bias forces but those of rounding."""
    _, _, rest = ARM.partition('  <joint name="shoulder"')
    door = ARM.replace(rest, "").replace('  <joint name="shoulder"', "")
    door += (
        '<joint name="hinge" type="continuous"><origin rpy="0.3 0.2 0.1"/><parent link="base"/><child link="upper"/>'
    )
    door += '<axis xyz="0.2 0.3 0.7"/></joint>'
    for link in ("lower", "tool", "left", "right"):
        door += f'<joint name="weld {link}" type="fixed"><parent link="upper"/><child link="{link}"/></joint>'
    robot = kt.load(write(tmp_path, "door.urdf", door + "</robot>"), gravity=(0.0, 0.0, 0.0))
    assert kt.compare(robot, peers=BOTH).is_equal


def test_a_changed_robot_compared_with_its_file(tmp_path: Path) -> None:
    robot = kt.load(write(tmp_path, "a.urdf"))
    found = kt.compare(robot.lock(["elbow"]), peers=BOTH)
    for beside in found.counterparts:
        assert "joint 'elbow' is only in" in " ".join(difference.text for difference in beside.differences)
    assert "body 'lower' is fixed to body 'upper' here" in found.text


# -- libraries that are absent, and that fail


def test_absent_ones_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pydrake", "mujoco"):
        monkeypatch.setitem(sys.modules, module, None)
    path = write(tmp_path, "a.urdf")
    found = kt.compare(path)
    assert [beside.name for beside in found.counterparts] == ["pinocchio"]
    assert found.absent == (
        "mujoco is not installed (pip install mujoco)",
        "drake is not installed (pip install drake)",
    )
    with pytest.raises(kt.errors.MissingPackageError, match=r"mujoco is not installed \(pip install mujoco\)"):
        kt.compare(path, peers=["mujoco"])
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(
        kt.errors.MissingPackageError, match="there is nothing to compare with: mujoco is not installed"
    ):
        kt.compare(path)


def test_robots_without_a_file() -> None:
    builder = kt.ModelBuilder("made here")
    builder.add_body("stone")
    with pytest.raises(kt.errors.OptionError, match="'made here' was not read from a file"):
        kt.compare(builder.build())


def test_kinetree_s_own_text(tmp_path: Path) -> None:
    kt.save(kt.zoo.load("cart_pole"), tmp_path / "cart.json")
    found = kt.compare(tmp_path / "cart.json")
    assert not found.is_equal
    assert found.verdict == "nothing was compared"
    assert found.counterparts[0].unread == "mujoco does not read kinetree's own text"


def refuse(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no such luck\nand more")


@pytest.mark.parametrize(
    ("module", "function", "name", "words"),
    [
        (pin, "buildModelFromUrdf", "pinocchio", "pinocchio cannot read it: no such luck"),
        (pin, "crba", "pinocchio", "pinocchio cannot compute with it: it failed at a state: no such luck"),
        (mujoco, "mj_fwdPosition", "mujoco", "mujoco cannot compute with it: it failed at a state: no such luck"),
        (mujoco, "MjModel", "mujoco", "mujoco cannot read it: "),
    ],
)
def test_a_library_that_fails_is_reported_and_the_others_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, function: str, name: str, words: str
) -> None:
    monkeypatch.setattr(module, function, refuse)
    found = kt.compare(write(tmp_path, "a.urdf"), peers=BOTH)
    failed = next(beside for beside in found.counterparts if beside.name == name)
    assert failed.unread.startswith(words)
    assert "\n" not in failed.unread
    assert not failed.is_equal
    assert found.is_equal  # with the other one
    alone = kt.compare(write(tmp_path, "a.urdf"), peers=[name])
    assert not alone.is_equal
    assert alone.verdict == "nothing was compared"


def test_one_that_returns_no_numbers_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pin, "computeGeneralizedGravity", lambda model, *_: np.full(model.nv, np.nan))
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), peers=["pinocchio"]).counterparts
    assert [difference.what for difference in beside.differences] == ["gravity forces"]


def test_one_that_computes_something_else_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pin.crba
    monkeypatch.setattr(pin, "crba", lambda *given: real(*given) * 1.001)
    (beside,) = kt.compare(write(tmp_path, "a.urdf"), peers=["pinocchio"]).counterparts
    assert [difference.what for difference in beside.differences] == ["mass matrix"]
    assert "off by" in beside.verdict


def test_chains_that_are_too_long_for_other_libraries(tmp_path: Path) -> None:
    links = "".join(f'<link name="l{k}"/>' for k in range(1002))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(1001)
    )
    path = write(tmp_path, "chain.urdf", f'<robot name="chain">{links}{joints}</robot>')
    (beside,) = kt.compare(path, peers=["pinocchio"]).counterparts
    assert beside.unread == "the robot has more than 1000 degrees of freedom"
