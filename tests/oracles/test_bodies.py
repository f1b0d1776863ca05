"""All bodies at once against what Pinocchio's kinematics leave in its data, frame by frame and joint by joint."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.oracles.agreement import agree, compiled, on_floats, random_states
from tests.oracles.pinocchio_oracle import PinocchioOracle
from tests.oracles.test_jacobians import FRAMES
from tests.oracles.test_pinocchio import BASES, witnessed

Array = NDArray[np.float64]
ROBOTS = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "talos_data/robots/talos_reduced.urdf",
]
COMPILED = ROBOTS[:3]


def states_of_bodies(witness: PinocchioOracle, state: tuple[Array, ...], expressed_in: str, kind: str) -> Array:
    """Placement, twist and acceleration of each body, one row per body."""
    model, data, (q, v, qdd) = witness.model, witness.data, state
    pin.forwardKinematics(model, data, witness._q(q), witness._v(v), witness._v(qdd))
    pin.updateFramePlacements(model, data)
    acceleration = pin.getFrameAcceleration if kind == "spatial" else pin.getFrameClassicalAcceleration
    rows = []
    for name in witness.robot.bodies:
        frame, axes = witness._frame(name), FRAMES[expressed_in]
        twist = pin.getFrameVelocity(model, data, frame, axes).vector
        rows.append([*data.oMf[frame].homogeneous.ravel(), *twist, *acceleration(model, data, frame, axes).vector])
    return np.array(rows)


@BASES
@pytest.mark.parametrize("file", ROBOTS)
def test_motions(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    q, v, qdd, _ = random_states(robot, 2)
    states = list(zip(q, v, qdd, strict=True))
    for expressed_in in ("local", "world", "local_world_aligned"):
        for kind in ("spatial", "classical"):
            expected = [states_of_bodies(witness, state, expressed_in, kind) for state in states]
            options = {"expressed_in": expressed_in, "kind": kind}
            agree(
                on_floats(kt.kinematics.body_motions, robot, q, v, qdd, **options), expected, f"{expressed_in}, {kind}"
            )
            if file in COMPILED and kind == "classical":
                T, twists, a = kt.kinematics.body_motions(robot, q, v, qdd, **options)  # type: ignore[arg-type]
                found = np.concatenate([T.reshape(*T.shape[:-2], 16), twists, a], axis=-1)
                agree(found, expected, f"{expressed_in}, compiled")


@BASES
@pytest.mark.parametrize("file", ROBOTS)
def test_what_the_kinematics_of_joints_leave(file: str, floating_base: bool) -> None:
    """`oMi`, `v` and `a`, in the axes of the body that each joint moves."""
    robot, witness = witnessed(file, floating_base)
    model, data = witness.model, witness.data
    q, v, qdd, _ = random_states(robot, 1)
    children = [joint.child for joint in robot.joints.values()]
    pin.forwardKinematics(model, data, witness._q(q[0]), witness._v(v[0]), witness._v(qdd[0]))
    joints = [model.getJointId(name) for name in robot.joints]
    expected = [[*data.oMi[j].homogeneous.ravel(), *data.v[j].vector, *data.a[j].vector] for j in joints]
    options = {"frames": children, "expressed_in": "local", "kind": "spatial"}
    agree(on_floats(kt.kinematics.body_motions, robot, q, v, qdd, **options), [expected], "oMi, v, a")


@BASES
@pytest.mark.parametrize("file", ROBOTS)
def test_jacobians(file: str, floating_base: bool) -> None:
    robot, witness = witnessed(file, floating_base)
    q, *_ = random_states(robot, 2)
    names = list(robot.bodies)[::-1]
    for expressed_in in ("local", "world", "local_world_aligned"):
        expected = [[witness.frame_jacobian(one, frame=name, expressed_in=expressed_in) for name in names] for one in q]
        ask = compiled if file in COMPILED else on_floats
        agree(
            ask(kt.kinematics.body_jacobians, robot, q, frames=names, expressed_in=expressed_in), expected, expressed_in
        )


@BASES
@pytest.mark.parametrize("file", ROBOTS)
def test_centers_of_mass(file: str, floating_base: bool) -> None:
    """Those of links with mass, as frames placed there."""
    robot, witness = witnessed(file, floating_base)
    model = witness.model
    names = [name for name, body in robot.bodies.items() if body.inertia.mass]
    for name in names:
        body = model.frames[witness._frame(name)]
        inertia = robot.bodies[name].inertia
        at = body.placement * pin.SE3(np.eye(3), np.array(inertia.h.components()) / inertia.mass)
        model.addFrame(pin.Frame(f"center of {name}", body.parentJoint, at, pin.FrameType.OP_FRAME))
    data = model.createData()
    q, v, qdd, _ = random_states(robot, 1)
    pin.forwardKinematics(model, data, witness._q(q[0]), witness._v(v[0]), witness._v(qdd[0]))
    pin.updateFramePlacements(model, data)
    for expressed_in, axes in FRAMES.items():
        expected = []
        for name in names:
            frame = model.getFrameId(f"center of {name}")
            twist = pin.getFrameVelocity(model, data, frame, axes).vector
            a = pin.getFrameClassicalAcceleration(model, data, frame, axes).vector
            expected.append([*data.oMf[frame].homogeneous.ravel(), *twist, *a])
        options = {"frames": names, "about": "center_of_mass", "expressed_in": expressed_in, "kind": "classical"}
        agree(on_floats(kt.kinematics.body_motions, robot, q, v, qdd, **options), [expected], expressed_in)
