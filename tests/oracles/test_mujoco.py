"""Against MuJoCo, on the real robots of example-robot-data, with fixed and floating bases."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.oracles.agreement import agree, compiled, on_floats, random_states
from tests.oracles.mujoco_oracle import MujocoOracle
from tests.robots import each_robot_file, load_robot, robot_path

INDEFINITE = "inertia must have positive eigenvalues"
TRIANGLE = r"inertia must satisfy A \+ B >= C"
MASSLESS = "mass and inertia of moving bodies must be larger than mjMINVAL"

UNREADABLE = {
    "allegro_hand_description/urdf/allegro_left_hand.urdf": TRIANGLE,
    "allegro_hand_description/urdf/allegro_right_hand.urdf": TRIANGLE,
    "anymal_b_simple_description/robots/anymal-kinova.urdf": INDEFINITE,
    "anymal_b_simple_description/robots/anymal.urdf": INDEFINITE,
    "anymal_c_simple_description/urdf/anymal.urdf": TRIANGLE,
    "b1_description/urdf/b1-z1.urdf": INDEFINITE,
    "b1_description/urdf/b1.urdf": INDEFINITE,
    "finger_edu_description/robots/finger_edu.urdf": INDEFINITE,
    "go1_description/urdf/go1.urdf": INDEFINITE,
    "human_description/robots/human.urdf": MASSLESS,
    "hyq_description/robots/hyq_no_sensors.urdf": INDEFINITE,
    "icub_description/robots/icub.urdf": INDEFINITE,
    "icub_description/robots/icub_reduced.urdf": INDEFINITE,
    "pr2_description/urdf/pr2.urdf": TRIANGLE,
    "romeo_description/urdf/romeo.urdf": MASSLESS,
    "romeo_description/urdf/romeo_small.urdf": TRIANGLE,
    "tiago_description/robots/tiago.urdf": INDEFINITE,
    "tiago_description/robots/tiago_dual.urdf": INDEFINITE,
    "tiago_description/robots/tiago_no_hand.urdf": INDEFINITE,
}
"""Files that MuJoCo refuses for their inertias, which Pinocchio and kinetree take as written; and its words."""

READ_OTHERWISE = {
    "bolt_description/robots/bolt.urdf": "the feet have inertia but no mass; MuJoCo drops the inertia",
}

NOT_COMPARED = {*UNREADABLE, *READ_OTHERWISE}
COMPILED = ["panda_description/urdf/panda.urdf", "solo_description/robots/solo12.urdf"]
BASES = pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])


def test_enough_robots_are_compared() -> None:
    assert len(each_robot_file(but=NOT_COMPARED)) >= 20


@BASES
@pytest.mark.parametrize("file", each_robot_file(but=NOT_COMPARED))
def test_the_equation_of_motion(file: str, floating_base: bool) -> None:
    robot = load_robot(file, floating_base=floating_base)
    witness = MujocoOracle(robot_path(file), robot)
    q, v, _, tau = random_states(robot, 2)
    ask = compiled if file in COMPILED else on_floats
    agree(ask(kt.crba, robot, q), [*map(witness.crba, q)], "crba")
    agree(ask(kt.bias_forces, robot, q, v), [*map(witness.bias_forces, q, v)], "bias_forces")
    agree(ask(kt.aba, robot, q, v, tau), [*map(witness.aba, q, v, tau)], "aba")
    for q_k in q:
        ours = dict(zip(robot.bodies, on_floats(kt.forward_kinematics, robot, q_k[None])[0], strict=True))
        for joint, placement in witness.placements(q_k).items():
            agree(ours[robot.joints[joint].child][None], placement[None], f"placement of what {joint!r} moves")


@pytest.mark.parametrize("file", COMPILED)
def test_forces_in_the_worlds_axes(file: str) -> None:
    """Of a joint's frame, which is where MuJoCo's body is."""
    robot = load_robot(file, floating_base=True)
    witness = MujocoOracle(robot_path(file), robot)
    q, v, _, tau = random_states(robot, 2)
    joint = [joint for joint in robot.joints.values() if joint.kind.nv == 1][-1]
    w = np.array([20.0, -5.0, 12.0, 1.0, 3.0, -2.0])
    expected = [witness.pushed_aba(*state, joint.name, w) for state in zip(q, v, tau, strict=True)]
    aligned = kt.dynamics.WrenchOn(joint.child, "local_world_aligned")
    agree(kt.aba(robot, q, v, tau, {aligned: w}), expected, "a wrench in the world's axes")
    points = np.stack([kt.frame_placement(robot, x, joint.child)[:3, 3] for x in q])
    forces = {kt.dynamics.ForceOn(joint.child, "world"): np.hstack([np.tile(w[:3], (2, 1)), points])}
    expected = [witness.pushed_aba(*s, joint.name, w * (1, 1, 1, 0, 0, 0)) for s in zip(q, v, tau, strict=True)]
    agree(kt.aba(robot, q, v, tau, forces), expected, "a force at a point of the world")


@pytest.mark.parametrize(("file", "reason"), UNREADABLE.items())
def test_what_mujoco_refuses_it_still_refuses(file: str, reason: str) -> None:
    """If this fails, the robot belongs among those that are compared."""
    robot = load_robot(file)
    with pytest.raises(ValueError, match=reason):
        MujocoOracle(robot_path(file), robot)


@pytest.mark.parametrize("file", READ_OTHERWISE)
def test_what_mujoco_reads_otherwise_it_still_does(file: str) -> None:
    """Without the inertia of its massless links, ours is theirs; with it, Pinocchio's."""
    robot = load_robot(file)
    witness = MujocoOracle(robot_path(file), robot)
    q, _, _, _ = random_states(robot, 1)
    (theirs,) = map(witness.crba, q)
    (ours,) = on_floats(kt.crba, robot, q)
    assert np.abs(ours - theirs).max() > 1e-9 * np.abs(theirs).max()
    builder = kt.ModelBuilder("without the inertia of massless links")
    for body in robot.bodies.values():
        builder.add_body(body.name, body.inertia if body.inertia.mass else None)
    for joint in robot.joints.values():
        builder.add_joint(joint.name, joint.kind, joint.parent, joint.child, joint.placement)
    for body in robot.bodies.values():
        if body.is_fixed and body.name != robot.root:
            carrier = robot.root if body.slot == 0 else [*robot.joints.values()][body.slot - 1].child
            builder.add_joint(f"weld of {body.name}", kt.Fixed(), carrier, body.name, body.placement)
    agree(on_floats(kt.crba, builder.build(), q), [theirs], "crba")
