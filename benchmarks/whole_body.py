"""Whole-body control of Talos on two feet: kinetree beside tsid, in one process, in turn.

    pip install tsid==1.7.1 pin==3.4.0 "cmeel-urdfdom<5" "cmeel-tinyxml2<11" example-robot-data
    python benchmarks/whole_body.py [STEPS]

Both solve the same quadratic program: the feet do not move, friction pyramids at four corners of each sole, limits of
all torques; centre of mass, posture and wrenches of the feet are weighed against each other. The torques must agree to
1e-6 N·m. tsid is called as its own examples call it, from Python.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import distribution

import numpy as np
import pinocchio as pin
from tsid import tsid_pywrap as tsid  # the wheel of 1.7.1 has no other name for it

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400
SOLES = ["left_sole_link", "right_sole_link"]
LENGTHS, FRICTION, MOST = (0.2, 0.12), 0.3, 1000.0
COM, POSTURE, WRENCH = 10.0, 0.5, 0.1
WRENCH_WEIGHTS = np.array([1.0, 1.0, 1e-3, 2.0, 2.0, 2.0])
CURVATURE = 1e-8  # that tsid adds to every square
ROBOTS = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
PATH = str(ROBOTS / "talos_data/robots/talos_reduced.urdf")


def standing(robot: kt.Model) -> np.ndarray:
    """Talos half-sitting on its soles."""
    q = robot.neutral()
    for side in ("left", "right"):
        for k, angle in ((3, -0.411354), (4, 0.859395), (5, -0.448041)):
            q[robot.joints[f"leg_{side}_{k}_joint"].q_slice] = angle
        q[robot.joints[f"arm_{side}_4_joint"].q_slice] = -0.5
    q[2] -= kt.frame_placement(robot, q, SOLES[0])[2, 3]
    return q


class Tsid:
    """The peer."""

    def __init__(self, q: np.ndarray, limit: np.ndarray) -> None:
        paths = pin.StdVec_StdString()
        self.robot = tsid.RobotWrapper(PATH, paths, pin.JointModelFreeFlyer(), False)
        self.dynamics = tsid.InverseDynamicsFormulationAccForce("tsid", self.robot, False)
        model, v = self.robot.model(), np.zeros(self.robot.nv)
        self.dynamics.computeProblemData(0.0, q, v)
        data = self.dynamics.data()
        x, y = 0.5 * LENGTHS[0], 0.5 * LENGTHS[1]
        corners = np.array([[-x, -x, x, x], [-y, y, -y, y], [0.0] * 4])
        for name in SOLES:
            contact = tsid.Contact6d(name, self.robot, name, corners, np.array([0.0, 0.0, 1.0]), FRICTION, 0.0, MOST)
            contact.setRegularizationTaskWeightVector(WRENCH_WEIGHTS)
            contact.setKp(np.zeros(6))
            contact.setKd(np.zeros(6))
            contact.setReference(self.robot.framePosition(data, model.getFrameId(name)))
            self.dynamics.addRigidContact(contact, WRENCH)
            setattr(self, name, contact)
        self.com = tsid.TaskComEquality("com", self.robot)
        self.com.setKp(np.full(3, 10.0))
        self.com.setKd(np.full(3, 2.0 * np.sqrt(10.0)))
        self.dynamics.addMotionTask(self.com, COM, 1, 0.0)
        self.posture = tsid.TaskJointPosture("posture", self.robot)
        n = self.robot.nv - 6
        self.posture.setKp(np.full(n, 10.0))
        self.posture.setKd(np.full(n, 2.0 * np.sqrt(10.0)))
        self.dynamics.addMotionTask(self.posture, POSTURE, 1, 0.0)
        self.bounds = tsid.TaskActuationBounds("bounds", self.robot)
        self.bounds.setBounds(-limit, limit)
        self.dynamics.addActuationTask(self.bounds, 1.0, 0, 0.0)
        self.solver = tsid.SolverHQuadProgFast("qp")
        self.solver.resize(self.dynamics.nVar, self.dynamics.nEq, self.dynamics.nIn)
        self.samples = tsid.TrajectorySample(3), tsid.TrajectorySample(n)
        self.posture_rest = q[7:].copy()

    def step(self, q: np.ndarray, v: np.ndarray, com: np.ndarray) -> np.ndarray:
        self.samples[0].value(com)
        self.com.setReference(self.samples[0])
        self.samples[1].value(self.posture_rest)
        self.posture.setReference(self.samples[1])
        problem = self.dynamics.computeProblemData(0.0, q, v)
        solution = self.solver.solve(problem)
        assert solution.status == 0, solution.status
        return self.dynamics.getActuatorForces(solution)


def main() -> None:
    robot = kt.load(PATH, floating_base=True)
    layout = kt.interop.Layout(robot, "pinocchio")
    q0 = standing(robot)
    peer = Tsid(layout.q_to(q0), layout.tau_to(q0, robot.effort_limit)[6:])
    control = kt.control
    x, y = 0.5 * LENGTHS[0], 0.5 * LENGTHS[1]
    spread = 0.25 * np.array([1.0, 1.0, 1.0, y**-2, x**-2, 1.0 / (x**2 + y**2)])  # least squares of forces at corners
    weights = list(WRENCH * WRENCH_WEIGHTS**2 + CURVATURE * spread)
    friction = FRICTION * np.sqrt(2.0)  # tsid's pyramid is around the cone, not inside
    feet = {
        name: control.Support(name, size=LENGTHS, friction=friction, most_force=MOST, force_weight=weights)
        for name in SOLES
    }
    ours = control.WholeBody(
        robot,
        {"com": control.CenterOfMass(weight=COM), "posture": control.Posture(list(robot.joints)[1:], weight=POSTURE)},
        feet,
        stiffness={"com": 10.0, "posture": 10.0},
        effort=control.Effort(accelerations=CURVATURE, forces=1.0, priority=0),
        joint_limit_horizon=None,
    )
    rest = kt.center_of_mass(robot, q0)
    rng, times, apart, most = np.random.default_rng(0), ([], []), 0.0, 0
    for _ in range(STEPS):
        q = robot.integrate(q0, 0.01 * rng.normal(size=robot.nv))
        v = kt.constraints.nearest_velocity(
            robot, q, 0.1 * rng.normal(size=robot.nv), [kt.constraints.Contact(f, "fixed") for f in SOLES]
        )
        com = rest + 0.02 * rng.normal(size=3)
        their_q, their_v = layout.q_to(q), layout.v_to(q, v)
        start = time.perf_counter()
        found = ours.step(q, v, {"com": com, "posture": q0})
        middle = time.perf_counter()
        theirs = peer.step(their_q, their_v, com)
        end = time.perf_counter()
        times[0].append(middle - start)
        times[1].append(end - middle)
        apart = max(apart, abs(layout.tau_to(q, found.tau)[6:] - theirs).max())
        most = max(most, found.programs)
        assert all(found.is_met(name, 1e-9) for name in SOLES), found.summary()
    mine, other = (1e3 * np.median(x[STEPS // 10 :]) for x in times)
    print(f"torques apart by {apart:.1e} N·m; kinetree {mine:.3f} ms, tsid {other:.3f} ms, {other / mine:.2f} times")
    assert apart < 1e-6


if __name__ == "__main__":
    main()
