"""Drake, where it is installed: forces through joints, relative accelerations and forces in the world's axes.

It is not among the packages of the tests, as it takes 170 MB: `pip install drake`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import agree, random_states
from tests.oracles.mujoco_oracle import bare_urdf
from tests.oracles.shuffled_urdf import shuffled_urdf
from tests.robots import load_robot, robot_path

pytest.importorskip("pydrake")
from pydrake.common.value import Value
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant

Array = NDArray[np.float64]
FILES = [
    "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "z1_description/urdf/z1.urdf",
]
EACH = pytest.mark.parametrize("file", FILES)


class Plant:
    """A robot with a fixed base in Drake, at states of ours."""

    def __init__(self, file: str, robot: kt.Model) -> None:
        self.plant = MultibodyPlant(0.0)
        Parser(self.plant).AddModelsFromString(bare_urdf(robot_path(file), robot), "urdf")
        if robot.root != "world":
            root = self.plant.GetBodyByName(robot.root)
            self.plant.WeldFrames(self.plant.world_frame(), root.body_frame())
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.joints = [self.plant.GetJointByName(name) for name in robot.joints]
        assert self.plant.num_velocities() == robot.nv
        self._q = [joint.position_start() for joint in self.joints]
        self._v = [joint.velocity_start() for joint in self.joints]

    def set(self, q: Array, v: Array, tau: Array) -> None:
        for set_state, x, places in (
            (self.plant.SetPositions, q, self._q),
            (self.plant.SetVelocities, v, self._v),
        ):
            theirs = np.zeros(len(x))
            theirs[places] = x
            set_state(self.context, theirs)
        forces = np.zeros(len(tau))
        forces[self._v] = tau
        self.plant.get_applied_generalized_force_input_port().FixValue(self.context, forces)

    def accelerations(self) -> Array:
        return self.plant.get_generalized_acceleration_output_port().Eval(self.context)[self._v]


@EACH
def test_the_wrench_through_each_joint(file: str) -> None:
    """Drake's reaction on the child is in its joint's frame on the child."""
    robot = load_robot(file)
    drake = Plant(file, robot)
    q, v, _, tau = random_states(robot, 3)
    for sample in zip(q, v, tau, strict=True):
        drake.set(*sample)
        agree(kt.aba(robot, *sample)[None], drake.accelerations()[None], "aba")
        ours = kt.dynamics.joint_wrenches(robot, *sample[:2], kt.aba(robot, *sample), expressed_in="local")
        reactions = drake.plant.get_reaction_forces_output_port().Eval(drake.context)
        for joint, wrench in zip(drake.joints, ours, strict=True):
            F = reactions[int(joint.index())]
            X = joint.frame_on_child().GetFixedPoseInBodyFrame()
            f = X.rotation().matrix() @ F.translational()
            n = X.rotation().matrix() @ F.rotational() + np.cross(X.translation(), f)
            agree(wrench[None], np.concatenate([f, n])[None], f"wrench through {joint.name()}")


@EACH
def test_the_acceleration_of_one_body_as_seen_from_another(file: str) -> None:
    robot = load_robot(file)
    drake = Plant(file, robot)
    q, v, _, tau = random_states(robot, 2)
    moving = [joint.child for joint in robot.joints.values()]
    for sample in zip(q, v, tau, strict=True):
        drake.set(*sample)
        qdd = kt.aba(robot, *sample)
        for frame, seer in ((moving[-1], moving[1]), (moving[1], moving[-1]), (moving[2], moving[0])):
            a, b = (drake.plant.GetFrameByName(name) for name in (frame, seer))
            A = a.CalcSpatialAcceleration(drake.context, b, b)
            theirs = np.concatenate([A.translational(), A.rotational()])
            ours = kt.kinematics.relative_acceleration(
                robot, *sample[:2], qdd, frame, seer, expressed_in="local_world_aligned", kind="classical"
            )
            agree(ours[None], theirs[None], f"{frame} seen from {seer}")


@EACH
def test_forces_at_points_of_bodies_in_the_worlds_axes(file: str) -> None:
    robot = load_robot(file)
    drake = Plant(file, robot)
    q, v, _, tau = random_states(robot, 2)
    name = [joint.child for joint in robot.joints.values()][-1]
    point, f, n = np.array([0.1, -0.2, 0.3]), np.array([20.0, -5.0, 12.0]), np.array([1.0, 3.0, -2.0])
    given = ExternallyAppliedSpatialForce()
    given.body_index = drake.plant.GetBodyByName(name).index()
    for sample in zip(q, v, tau, strict=True):
        for p, couple, forces in (
            (point, np.zeros(3), {kt.dynamics.ForceOn(name, "local_world_aligned"): np.concatenate([f, point])}),
            (np.zeros(3), n, {kt.dynamics.WrenchOn(name, "local_world_aligned"): np.concatenate([f, n])}),
        ):
            given.p_BoBq_B, given.F_Bq_W = p, SpatialForce(couple, f)
            drake.plant.get_applied_spatial_force_input_port().FixValue(
                drake.context, Value[list[ExternallyAppliedSpatialForce]]([given])
            )
            drake.set(*sample)
            agree(kt.aba(robot, *sample, forces)[None], drake.accelerations()[None], "aba")


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_joints(seed: int, floating_base: bool, tmp_path: Path) -> None:
    path = tmp_path / "shuffled.urdf"
    path.write_text(shuffled_urdf(seed), encoding="utf-8")
    robot = kt.load(path, floating_base=floating_base)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    if not floating_base:
        plant.WeldFrames(plant.world_frame(), plant.GetBodyByName("base").body_frame())
    plant.Finalize()
    joints = [plant.GetJointByName("base" if name == "root_joint" else name) for name in robot.joints]
    joints.sort(key=lambda joint: joint.position_start())
    order = ["root_joint" if joint.name() == "base" else joint.name() for joint in joints]
    assert list(kt.interop.Layout(robot, "drake").joint_order) == order
