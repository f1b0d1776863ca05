"""Trajectory optimisation beside Crocoddyl: the same problems, their optimal costs, and the time to solve them.

    pip install kinetree crocoddyl==3.2.1 "pin==4.0.0" example-robot-data
    OMP_NUM_THREADS=1 python benchmarks/trajectory_optimization.py

Three problems: a Panda that reaches for a pose in 100 steps, Crocoddyl's own example of a Kinova arm, and the quadruped
of its gait examples, which moves its centre of mass over four feet that stay where they are, with friction cones as
costs. Both libraries begin with the same controls and stop by rules of their own; then both go on to the last digits,
and their costs must agree to 1e-6. Times are processor time of one thread, in turn; medians. The last lines are a
thousand problems of the Panda at once, on one thread and on all.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised

SAME = 1e-6
"""How far costs may be apart, relative."""


def main() -> None:
    """Compare, and print."""
    for name, make in (("Panda, 100 steps", panda), ("Kinova, 100 steps", kinova), ("ANYmal, 40 steps", quadruped)):
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        problem, start, options, peer = make()
        compare(name, problem, start, options, peer)
    thousand()


def compare(name: str, problem: kt.control.OptimalControl, start: Any, options: Any, peer: Any) -> None:
    """Solve both, in turn."""
    q, v, u = start
    own = kt.interop.Layout(problem.robot, "pinocchio").tau_to(q, u @ problem.selection)[:, -problem.nu :]
    us = [x[: step.nu] for x, step in zip(own, peer.runningModels, strict=True)]  # impulses have no controls
    xs = [*peer.rollout(us)]
    is_motion = "states" not in options and bool(np.isfinite(xs).all())
    xs = xs if is_motion else [peer.x0] * (len(us) + 1)

    def ours(tolerance: float = 1e-9) -> Any:
        return kt.control.ilqr(problem, q, v, u, tolerance=tolerance, iterations=200, threads=1, **options)

    def theirs(stop: float = 1e-9) -> Any:
        solver = crocoddyl.SolverFDDP(peer)
        solver.th_stop = stop
        solver.solve(xs, us, 200, is_motion)
        return solver

    best, other = ours(1e-13), theirs(1e-14)
    print(f"{name}: cost {best.cost.item():.12g} after {best.iterations} iterations ({best.reason}); ", end="")
    print(f"Crocoddyl {other.cost:.12g} after {other.iter}")
    assert abs(best.cost - other.cost) <= SAME * abs(other.cost), name
    a, b = in_turn([ours, theirs])
    print(
        f"  to 1e-9: {ours().iterations} iterations, {1e3 * a:.2f} ms; Crocoddyl {theirs().iter}, {1e3 * b:.2f} ms; ",
        end="",
    )
    print(f"ratio {a / b:.2f}")


def in_turn(functions: list[Callable[[], Any]], rounds: int = 21) -> list[float]:
    """The median processor time of each, in seconds."""
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for taken, function in zip(seconds, functions, strict=True):
            start = time.thread_time()
            function()
            taken.append(time.thread_time() - start)
    return [float(np.median(x)) for x in seconds]


def thousand() -> None:
    """A thousand Pandas, each with a goal of its own."""
    problem, (q, v, _), options, _ = panda()
    rng = np.random.default_rng(0)
    goals = np.tile(options["arguments"]["goal"], (1000, 1, 1))
    goals[:, :3, 3] += rng.uniform(-0.15, 0.15, (1000, 3))
    found: dict[int, Any] = {}
    for threads in (1, os.cpu_count() or 1):
        began = time.perf_counter()
        found[threads] = kt.control.ilqr(problem, q, v, arguments={"goal": goals}, tolerance=1e-9, threads=threads)
        taken = time.perf_counter() - began
        own = "1 thread" if threads == 1 else f"{threads} threads"
        print(f"1,000 Pandas on {own}: {taken:.2f} s, {1000 / taken:.0f} per second; {found[threads]}")
    alone = kt.control.ilqr(problem, q, v, arguments={"goal": goals[617]}, tolerance=1e-9)
    for many in found.values():
        assert np.array_equal(many.u[617], alone.u)


# -- problems


def robots() -> Path:
    """The folder of example-robot-data's robots."""
    return Path(example_robot_data.load("panda").urdf).parents[2]


def arm(
    model: Any, robot: kt.Model, frame: str, goal: Any, x0: Any, weights: tuple[float, float, float, float], dt: float
) -> Any:
    """Reaching for a pose: weights of the pose, the state and the controls, and of the pose at the end."""
    by_pose, by_state, by_control, at_end = weights
    nv, steps = model.nv, 100
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    placement = crocoddyl.ResidualModelFramePlacement(state, model.getFrameId(frame), pinocchio.SE3(goal), nv)
    costs = crocoddyl.CostModelSum(state), crocoddyl.CostModelSum(state)
    pose = crocoddyl.CostModelResidual(state, placement)
    costs[0].addCost("pose", pose, by_pose)
    costs[0].addCost("x", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, x0, nv)), by_state)
    costs[0].addCost("u", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, nv)), by_control)
    costs[1].addCost("pose", pose, at_end)
    step, last = (
        crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, cost), length
        )
        for cost, length in zip(costs, (dt, 0.0), strict=True)
    )
    peer = crocoddyl.ShootingProblem(x0, [step] * steps, last)
    peer.nthreads = 1

    layout = kt.interop.Layout(robot, "pinocchio")
    q0 = layout.q_from(x0[: model.nq])

    @kt.program(q=robot, v=nv, u=nv, goal=(4, 4))
    def cost(q: Any, v: Any, u: Any, goal: Any) -> Any:
        e = kt.kinematics.pose_error(robot, q, goal, frame, expressed_in="local")
        x = np.concatenate([kt.difference(robot, q0, q), v])
        return np.sqrt(dt) * np.concatenate([by_pose**0.5 * e, by_state**0.5 * x, by_control**0.5 * u])

    @kt.program(q=robot, goal=(4, 4))
    def end(q: Any, goal: Any) -> Any:
        return at_end**0.5 * kt.kinematics.pose_error(robot, q, goal, frame, expressed_in="local")

    problem = kt.control.OptimalControl(robot, kt.control.Phase(steps, dt, cost), end)
    u = np.tile(kt.gravity_forces(robot, q0), (steps, 1))
    return problem, (q0, np.zeros(nv), u), {"arguments": {"goal": goal}}, peer


def panda() -> Any:
    """A Panda without its fingers."""
    fingers = ["panda_finger_joint1", "panda_finger_joint2"]
    whole = example_robot_data.load("panda").model
    model = pinocchio.buildReducedModel(whole, [whole.getJointId(name) for name in fingers], np.zeros(whole.nq))
    robot = kt.load(robots() / "panda_description/urdf/panda.urdf").lock(fingers)
    q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.7, 0.8])
    goal = kt.lie.placement([0.5, 0.3, 0.4], rpy=[np.pi, 0.0, 0.0]).matrix
    return arm(model, robot, "panda_hand", goal, np.concatenate([q0, np.zeros(7)]), (1.0, 0.1, 1e-3, 1e3), 0.01)


def kinova() -> Any:
    """The problem of crocoddyl/examples/arm_manipulation_fwddyn.py."""
    loaded = example_robot_data.load("kinova")
    robot = kt.load(robots() / "kinova_description/robots/kinova.urdf")
    goal = kt.lie.placement([0.6, 0.2, 0.5]).matrix
    x0 = np.concatenate([loaded.model.referenceConfigurations["arm_up"], np.zeros(loaded.model.nv)])
    return arm(loaded.model, robot, "j2s6s200_end_effector", goal, x0, (1.0, 0.1, 0.1, 1e3), 0.01)


FEET = "LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"
STATE_WEIGHTS = np.repeat([0.0, 500.0, 0.01, 10.0, 1.0], [3, 3, 12, 6, 12])


def quadruped() -> Any:
    """The walk of the centre of mass of crocoddyl/utils/quadruped.py, `createCoMGoalProblem`."""
    from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

    loaded = example_robot_data.load("anymal")
    model, dt, steps, far = loaded.model, 0.025, 40, 0.1
    standing = model.referenceConfigurations["standing"].copy()
    x0 = np.concatenate([standing, np.zeros(model.nv)])
    peer = SimpleQuadrupedalGaitProblem(model, *FEET).createCoMGoalProblem(x0, far, dt, steps)
    peer.nthreads = 1
    held = np.array([*peer.quasiStatic([x0] * steps)])

    robot = kt.load(loaded.urdf, floating_base=True)
    layout = kt.interop.Layout(robot, "pinocchio")
    q0 = layout.q_from(standing)
    contacts = [kt.constraints.Contact(foot, velocity_gain=50.0) for foot in FEET]
    cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False).A
    most = np.concatenate([np.full(6, np.inf), np.full(12, 9.42), np.full(6, np.inf), np.full(12, 15.0)])
    com = kt.center_of_mass(robot, q0) + np.array([far, 0.0, 0.0])

    def state(q: Any, v: Any) -> Any:
        x = np.concatenate([kt.difference(robot, q0, q), v])
        away = np.concatenate([kt.difference(robot, robot.neutral(), q), v])[6:]
        beyond = np.maximum(away - most[6:], 0.0) + np.minimum(away + most[6:], 0.0)
        return np.concatenate([10.0**0.5 * STATE_WEIGHTS * x, 1e3**0.5 * beyond])

    @kt.program(q=robot, v=robot.nv, u=12, forces=12)
    def cost(q: Any, v: Any, u: Any, forces: Any) -> Any:
        slips = np.concatenate([cone @ f for f in forces.reshape(4, 3)])
        outside = np.where(np.tile([True, True, True, True, False], 4), np.maximum(slips, 0.0), np.minimum(slips, 0.0))
        return dt**0.5 * np.concatenate([10.0**0.5 * outside, state(q, v), 0.1**0.5 * u])

    @kt.program(q=robot, v=robot.nv)
    def end(q: Any, v: Any) -> Any:
        return np.concatenate([1e3 * (kt.center_of_mass(robot, q) - com), state(q, v)])

    problem = kt.control.OptimalControl(robot, kt.control.Phase(steps, dt, cost, constraints=contacts), end)
    held = layout.tau_from(q0, np.hstack([np.zeros((steps, 6)), held]))[:, 6:]
    return problem, (q0, np.zeros(robot.nv), held), {}, peer


if __name__ == "__main__":
    main()
