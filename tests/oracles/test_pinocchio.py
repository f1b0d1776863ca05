"""Against Pinocchio, on the real robots of example-robot-data, with fixed and floating bases.

Every file of the wheel on floats, and a choice of them, in which each maker's conventions are present, compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import Ask, agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.robots import each_robot_file, load_robot, robot_path

Array = NDArray[np.float64]
States = tuple[Array, Array, Array, Array]

COMPILED = [
    "a1_description/urdf/a1.urdf",
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "bolt_description/robots/bolt.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "go1_description/urdf/go1.urdf",
    "go2_description/urdf/go2.urdf",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "quadruped_description/urdf/quadruped.urdf",
    "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
]
COMPILED_DYNAMICS = ["talos_data/robots/talos_reduced.urdf"]
"""A large one, of which only forward and inverse dynamics and the mass matrix are compiled."""
ALIKE = {
    "anymal_c_simple_description/urdf/anymal.urdf": "as anymal_b",
    "go1_description/urdf/go1.urdf": "as a1",
    "go2_description/urdf/go2.urdf": "as a1",
    "laikago_description/urdf/laikago.urdf": "as a1",
    "solo_description/robots/solo12.urdf": "twelve hinges of bolt's maker",
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf": "hinges on a trunk, as anymal_b",
    "bolt_description/robots/bolt.urdf": "as finger_edu, of the same maker",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf": "as borinot",
    "hyq_description/robots/hyq_no_sensors.urdf": "twelve hinges, as a1",
    "kinova_description/robots/kinova.urdf": "continuous joints, as the double pendulum",
    "quadruped_description/urdf/quadruped.urdf": "twelve hinges, as a1",
    "xarm_description/urdf/xarm7.urdf": "seven hinges, as talos_left_arm",
    "z1_description/urdf/z1.urdf": "six hinges, as ur5",
}
"""Those of the choice that here are on floats alone: compiled, they would be as another of their maker's is."""

EXPRESSIONS = ("local", "world", "local_world_aligned")
BASES = pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
DIFFERENT = [file for file in COMPILED if file not in ALIKE]
EACH_KIND = pytest.mark.parametrize(
    ("file", "floating_base"),
    [pytest.param(file, k % 2 == 0, id=f"{file}-{('floating', 'fixed')[k % 2]}") for k, file in enumerate(DIFFERENT)],
)
"""Robots that differ from each other, every second one with a floating base. That all files are read rightly is the
subject of `test_every_robot_on_floats`."""


def witnessed(file: str, floating_base: bool) -> tuple[kt.Model, PinocchioOracle]:
    robot = load_robot(file, floating_base=floating_base)
    return robot, PinocchioOracle(robot_path(file), robot)


@BASES
@pytest.mark.parametrize("file", each_robot_file())
def test_every_robot_on_floats(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    states = random_states(robot, 1)
    check_dynamics(on_floats, robot, witness, states)
    check_energy(on_floats, robot, witness, states)
    names = list(robot.bodies)
    for frame in {names[0], names[len(names) // 2], names[-1]}:
        check_frame(on_floats, robot, witness, frame, states)


@pytest.mark.parametrize("file", DIFFERENT[::3])
def test_robots_compiled(file: str) -> None:
    """Every second one floats; on floats all of them do both."""
    floating_base = COMPILED.index(file) % 2 == 1
    robot, witness = witnessed(file, floating_base)
    states = random_states(robot, 5)
    check_dynamics(compiled, robot, witness, states)
    check_energy(compiled, robot, witness, states)
    expressed_in = EXPRESSIONS[COMPILED.index(file) % 3]  # each for a third of them
    check_frame(compiled, robot, witness, list(robot.bodies)[-1], states, [expressed_in])


@pytest.mark.parametrize("file", COMPILED_DYNAMICS)
def test_large_robots_compiled(file: str) -> None:
    robot, witness = witnessed(file, True)
    check_dynamics(compiled, robot, witness, random_states(robot, 5))


def check_dynamics(ask: Ask, robot: kt.Model, witness: PinocchioOracle, states: States) -> None:
    """RNEA, ABA (unless it is singular), CRBA, bias and gravity."""
    q, v, qdd, tau = states
    agree(ask(kt.rnea, robot, q, v, qdd), [*map(witness.rnea, q, v, qdd)], "rnea")
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.bias_forces, robot, q, v), [*map(witness.bias_forces, q, v)], "bias_forces")
    weight = 9.81 * robot.mass
    agree(ask(kt.gravity_forces, robot, q), [*map(witness.gravity_forces, q)], "gravity_forces", scale=1e-3 * weight)
    if not robot.singular_joints:
        agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")


def check_energy(ask: Ask, robot: kt.Model, witness: PinocchioOracle, states: States) -> None:
    """Both energies and the centre of mass; heights may cancel, so a metre of height is the measure."""
    q, v, _, _ = states
    agree(ask(kt.kinetic_energy, robot, q, v), [*map(witness.kinetic_energy, q, v)], "kinetic_energy")
    weight = 9.81 * robot.mass
    agree(ask(kt.potential_energy, robot, q), [*map(witness.potential_energy, q)], "potential_energy", scale=weight)
    agree(ask(kt.center_of_mass, robot, q), [*map(witness.center_of_mass, q)], "center_of_mass")


def check_frame(
    ask: Ask,
    robot: kt.Model,
    witness: PinocchioOracle,
    frame: str,
    states: States,
    expressions: Sequence[str] = EXPRESSIONS,
) -> None:
    """Placement, Jacobian, twist, and both accelerations of a frame, in each expression."""
    q, v, qdd, _ = states

    def compare(function: Ask, *batches: Array, **options: str) -> None:
        name = function.__name__
        expected = [getattr(witness, name)(*sample, frame=frame, **options) for sample in zip(*batches, strict=True)]
        agree(ask(function, robot, *batches, frame=frame, **options), expected, f"{name} of {frame} {options}")

    compare(kt.frame_placement, q)
    for expressed_in in expressions:
        compare(kt.frame_jacobian, q, expressed_in=expressed_in)
        compare(kt.kinematics.frame_velocity, q, v, expressed_in=expressed_in)
        for kind in ("spatial", "classical"):
            compare(kt.kinematics.frame_acceleration, q, v, qdd, expressed_in=expressed_in, kind=kind)


def test_a_singular_robot_says_so_where_pinocchio_answers_nan() -> None:
    """Romeo's fingers are massless: forward dynamics raises and names a joint; all else still agrees (see above)."""
    robot, witness = witnessed("romeo_description/urdf/romeo.urdf", False)
    q, v, _, tau = random_states(robot, 1)
    assert np.isnan(witness.aba(q[0], v[0], tau[0])).any()
    no_inertia = int((np.linalg.eigvalsh(witness.crba(q[0])) < 1e-12).sum())
    assert len(robot.singular_joints) == no_inertia == 24
    with pytest.raises(kt.errors.SingularModelError, match="joint 'LHand' of 'romeo' moves nothing that has mass"):
        kt.aba(robot, q, v, tau)
