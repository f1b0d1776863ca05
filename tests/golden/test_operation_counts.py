"""How many operations each kernel costs. A change that makes one larger is seen here.

If a number fell and every other test passes, that is an improvement: write the new one down.
"""

from __future__ import annotations

import pytest

import kinetree as kt
from kinetree.compiler.specialization import Specialization
from tests.kernels import compiled_late
from tests.robots import load_robot

ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", False),
    "Panda": ("panda_description/urdf/panda.urdf", False),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "Talos": ("talos_data/robots/talos_reduced.urdf", True),
}
COUNTS = {
    "aba": (444, 1064, 2278, 5689),
    "rnea": (238, 590, 1221, 2958),
    "crba": (135, 380, 567, 2359),
    "rnea_derivatives": (928, 2595, 4250, 15401),
    "aba_derivatives": (1563, 4433, 11774, 62291),
    "mass_matrix_inverse": (249, 684, 2166, 9721),
    "coriolis_matrix": (457, 1309, 2326, 8448),
    "centroidal_momentum_matrix": (261, 478, 886, 2201),
}
"""A number a robot."""


@pytest.mark.parametrize("name", ["UR5", "Panda", "ANYmal", pytest.param("Talos", marks=pytest.mark.deep)])
def test_each_kernel_costs_what_it_did(name: str) -> None:
    file, floating = ROBOTS[name]
    robot, place = load_robot(file, floating_base=floating), list(ROBOTS).index(name)
    counts = {}
    for key in COUNTS:
        definition = getattr(kt.dynamics, key).definition
        options = {option: check(robot, None) for option, check in definition.options.items()}
        program = Specialization(definition, robot, options, (), ()).program()
        counts[key] = program.operation_counts().total()
    assert counts == {key: numbers[place] for key, numbers in COUNTS.items()}, (
        f"{name}'s kernels no longer cost what is written in COUNTS; if each number that changed fell, write the new "
        "ones down, and if one rose, find out why"
    )


@pytest.mark.parametrize(
    ("integrator", "count"), [("semi_implicit_euler", 510), ("implicitfast", 617), ("discrete", 662)]
)
def test_a_step_with_servos_costs_what_it_did(integrator: str, count: int) -> None:
    arm = kt.zoo.load("arm6").with_servos(100.0, 10.0)
    step = compiled_late(arm, kt.sim.actuated_rollout, steps=1, integrator=integrator)
    assert step.__self__.program.operation_counts().total() == count
