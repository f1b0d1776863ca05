"""How many operations each kernel costs. A change that makes one larger is seen here.

If a number fell and every other test passes, that is an improvement: write the new one down.
"""

from __future__ import annotations

import pytest

import kinetree as kt
from tests.robots import load_robot

ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", False),
    "Panda": ("panda_description/urdf/panda.urdf", False),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "Talos": ("talos_data/robots/talos_reduced.urdf", True),
}
COUNTS = {
    "UR5": {"aba": 444, "rnea": 238, "crba": 135},
    "Panda": {"aba": 1064, "rnea": 590, "crba": 380},
    "ANYmal": {"aba": 2278, "rnea": 1221, "crba": 567},
    "Talos": {"aba": 5689, "rnea": 2958, "crba": 2359},
}


@pytest.mark.parametrize("name", ROBOTS)
def test_each_kernel_costs_what_it_did(name: str) -> None:
    file, floating = ROBOTS[name]
    robot = load_robot(file, floating_base=floating)
    functions = {"aba": kt.aba, "rnea": kt.rnea, "crba": kt.crba}
    counts = {
        key: kt.compile(robot, function).__self__.program.operation_counts().total()
        for key, function in functions.items()
    }
    assert counts == COUNTS[name], (
        f"{name}'s kernels no longer cost what is written in COUNTS; if each number that changed fell, write the new "
        "ones down, and if one rose, find out why"
    )
