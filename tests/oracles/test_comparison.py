"""`kt.compare` on real robots beside the installed libraries: what they agree on, and the first thing they do not."""

from __future__ import annotations

import warnings

import pytest

import kinetree as kt
from tests.oracles.test_mujoco import NOT_COMPARED, READ_OTHERWISE, UNREADABLE
from tests.robots import each_robot_file, robot_path

FLOATING = [
    "a1_description/urdf/a1.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "ur_description/urdf/ur5_robot.urdf",
]
WHERE_MUJOCO_PARTS = {
    "bolt_description/robots/bolt.urdf": ("FL_LOWER_LEG", "mujoco drops that of body 'FL_FOOT', as there is no mass"),
    "double_pendulum_description/urdf/double_pendulum.urdf": ("link1", "mujoco takes equal limits for none"),
    "human_description/robots/human.urdf": ("left_upperleg_virtual", "had no mass, 1e-6 kg: boundmass"),
    "allegro_hand_description/urdf/allegro_left_hand.urdf": (
        "link_11.0", "changed that of body 'link_11.0', which no body could have: balanceinertia",
    ),
    "hyq_description/robots/hyq_no_sensors.urdf": ("lf_lowerleg", "changed that of body 'lf_foot'"),
}  # fmt: skip


def compared(file: str, library: str, floating_base: bool = False) -> kt.comparison.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return kt.compare(robot_path(file), peers=[library], floating_base=floating_base, samples=1)


@pytest.mark.parametrize("file", each_robot_file())
def test_pinocchio_reads_every_file_as_kinetree_does(file: str) -> None:
    found = compared(file, "pinocchio")
    assert found.is_equal, found.text


@pytest.mark.parametrize("library", ["mujoco", "pinocchio"])
@pytest.mark.parametrize("file", FLOATING)
def test_floating_bases(file: str, library: str) -> None:
    found = compared(file, library, floating_base=True)
    if library == "mujoco" and file in UNREADABLE:
        assert found.counterparts[0].first is not None
    else:
        assert found.is_equal, found.text


@pytest.mark.parametrize("file", each_robot_file(but=NOT_COMPARED))
def test_mujoco_moves_as_kinetree_does_where_it_takes_the_file_as_it_is(file: str) -> None:
    """It drops some limits; nothing else differs."""
    found = compared(file, "mujoco").counterparts[0]
    assert {difference.what for difference in found.differences} <= {"lower limit", "upper limit", "effort limit"}
    assert all("mujoco takes" in difference.reason for difference in found.differences)
    assert not any("refuses" in note for note in found.notes)


@pytest.mark.parametrize("file", [*UNREADABLE, *READ_OTHERWISE])
def test_differences_from_mujoco_have_reasons(file: str) -> None:
    found = compared(file, "mujoco").counterparts[0]
    assert found.unread or any("refuses the file as it is" in note for note in found.notes) or file in READ_OTHERWISE
    for difference in found.differences:
        assert "mujoco" in difference.reason or "off by" in difference.reason, difference.text


@pytest.mark.parametrize(("file", "where"), WHERE_MUJOCO_PARTS.items())
def test_where_mujoco_parts(file: str, where: tuple[str, str]) -> None:
    first = compared(file, "mujoco").counterparts[0].first
    assert first is not None
    assert first.body == where[0]
    assert where[1] in first.text
