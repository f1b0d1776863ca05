"""Real robots: nothing is found in sound ones, and what is found in others is there."""

from __future__ import annotations

import pytest

import kinetree as kt
from tests.checking.planted import codes
from tests.robots import robot_path

SOUND = (
    "panda", "talos_full_v2", "ur5_robot", "g1_29dof_with_hand_rev_1_0", "go2", "icub", "xarm7", "laikago", "so101",
    "z1", "solo12", "kinova", "baxter", "simple_humanoid", "human", "tiago_pro",
)  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_in_a_sound_robot(name: str) -> None:
    report = kt.check(robot_path(name))
    assert report.errors + report.warnings == (), str(report)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("romeo", "massless-moving-body", "joint 'LFinger12' moves nothing that has inertia"),
        ("go1", "inertia-units", "body 'imu_link' has an inertia with a radius of gyration of 0.316 m"),
        ("hyq_no_sensors", "inconsistent-inertia", "body 'base_link' has an inertia that is singular"),
        ("romeo_laas_small", "missing-mesh", "the mesh "),
        ("romeo_laas_small", "indefinite-inertia", "negative principal moment"),
        ("alex_psyonic_hands", "unknown-joint", "mimics 'index_q1', but there is no such joint"),
        ("bolt", "inertia-without-mass", "body 'FL_FOOT' has inertia but no mass"),
        ("centauro", "zero-range", "cannot move: its lower and upper limits are both 0"),
    ],
)
def test_a_fault_of_a_real_robot_is_found(name: str, code: str, words: str) -> None:
    report = kt.check(robot_path(name))
    assert code in codes(report)
    assert any(words in found.sentence for found in report.problems if found.code == code)
    assert all(found.line for found in report.problems if found.code == code)


def test_a_waist_and_a_neck_may_turn_about_one_axis() -> None:
    assert "singular-everywhere" not in codes(kt.check(robot_path("romeo")))
