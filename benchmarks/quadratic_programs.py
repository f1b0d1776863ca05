"""Solvers of quadratic programs on the problems of control: accuracy and time for one call from Python.

    pip install daqp proxsuite piqp osqp clarabel quadprog scipy example-robot-data
    python benchmarks/quadratic_programs.py [CALLS]

Talos on two soles and a quadruped on four feet, as `kt.control.WholeBody` makes them; an arm's velocities by tasks and
limits; and problems in which many inequalities count. Times are medians of one call, in microseconds, with what each
needs to take in new matrices; errors are the largest difference from the mean of the two most exact solvers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import distribution
from typing import Any, NamedTuple

import clarabel
import daqp
import numpy as np
import osqp
import piqp
import proxsuite
import quadprog
import scipy.sparse as sparse

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
Array = np.ndarray


class Problem(NamedTuple):
    P: Array
    q: Array
    A: Array
    b: Array
    C: Array
    lower: Array
    upper: Array


# -- problems


def whole_body(controller: kt.control.WholeBody) -> Problem:
    """The program of a controller's last step, whose tasks and effort have one priority."""
    rows, first = controller._solver.rows, controller._layout.first_rows
    held, n = first + sum(c.motion_size for c in controller.contacts.values()), rows.shape[1] - 1
    costs, equations = rows[held:], rows[:held][rows[:held, :n].any(axis=1)]
    weights = controller._solver.weights[held:]
    P = costs[:, :n].T @ (weights[:, None] * costs[:, :n])
    q = -costs[:, :n].T @ (weights * costs[:, n])
    sides, lower, upper = (x.copy() for x in controller.inequalities)
    return Problem(P, q, equations[:, :n].copy(), equations[:, n].copy(), sides, lower, upper)


def talos() -> Problem:
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    robot = kt.load(robots / "talos_data/robots/talos_reduced.urdf", floating_base=True)
    q = robot.neutral()
    for side in ("left", "right"):
        for k, angle in ((3, -0.4), (4, 0.86), (5, -0.45)):
            q[robot.joints[f"leg_{side}_{k}_joint"].q_slice] = angle
    feet = {n: kt.control.Support(n, size=(0.2, 0.12), friction=0.4) for n in ("left_sole_link", "right_sole_link")}
    tasks = {"com": kt.control.CenterOfMass(weight=10.0), "posture": kt.control.Posture(list(robot.joints)[1:])}
    effort = kt.control.Effort(1e-4, 1e-4, priority=0)
    controller = kt.control.WholeBody(robot, tasks, feet, effort=effort, joint_limit_horizon=None)
    com = kt.center_of_mass(robot, q) + np.array([0.05, 0.0, 0.02])
    controller.step(q, np.zeros(robot.nv), {"com": com, "posture": q})
    return whole_body(controller)


def quadruped() -> Problem:
    robot = kt.zoo.load("quadruped")
    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.7, -1.4], 4)
    feet = {name: kt.control.Support(name, friction=0.5) for name in robot.frames if name.endswith("foot")}
    tasks = {"trunk": kt.control.Pose("trunk"), "posture": kt.control.Posture(weight=0.01)}
    effort = kt.control.Effort(1e-4, 1e-4, priority=0)
    controller = kt.control.WholeBody(robot, tasks, feet, effort=effort, joint_limit_horizon=None)
    pose = kt.frame_placement(robot, q, "trunk")
    pose[:3, 3] += [0.05, 0.02, 0.0]
    controller.step(q, np.zeros(robot.nv), {"trunk": pose, "posture": q})
    return whole_body(controller)


def arm_velocities() -> Problem:
    robot = kt.zoo.load("arm7")
    q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])
    J = kt.frame_jacobian(robot, q, "tool", expressed_in="local")
    twist = np.array([0.5, -0.3, 0.2, 0.0, 0.5, 0.0])
    none = np.zeros((0, 7))
    return Problem(
        J.T @ J + 1e-4 * np.eye(7), -J.T @ twist, none, np.zeros(0), np.eye(7), np.full(7, -0.3), np.full(7, 0.3)
    )


def crowded() -> Problem:
    rng, n, e, m = np.random.default_rng(0), 40, 10, 80
    L, inside = rng.normal(size=(n, n)), rng.normal(size=n)
    A, C = rng.normal(size=(e, n)), rng.normal(size=(m, n))
    P = L @ L.T + 1e-2 * np.eye(n)
    return Problem(P, 30.0 * rng.normal(size=n), A, A @ inside, C, C @ inside - rng.uniform(0, 1, m), C @ inside + 1.0)


# -- solvers


def with_quadprog(p: Problem) -> Array:
    low, high = np.isfinite(p.lower), np.isfinite(p.upper)
    rows = np.vstack([p.A, p.C[low], -p.C[high]])
    bounds = np.concatenate([p.b, p.lower[low], -p.upper[high]])
    return quadprog.solve_qp(p.P, -p.q, np.ascontiguousarray(rows.T), bounds, len(p.b))[0]


def with_proxqp(p: Problem) -> Array:
    solver = proxsuite.proxqp.dense.QP(len(p.q), len(p.b), len(p.C))
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-9, 0.0
    solver.init(p.P, p.q, p.A, p.b, p.C, p.lower, p.upper)
    solver.solve()
    return solver.results.x


def with_piqp(p: Problem) -> Array:
    solver = piqp.DenseSolver()
    solver.settings.verbose, solver.settings.eps_abs, solver.settings.eps_rel = False, 1e-9, 0.0
    solver.setup(p.P, p.q, p.A, p.b, p.C, p.lower, p.upper)
    solver.solve()
    return solver.result.x


def with_osqp(p: Problem) -> Array:
    solver = osqp.OSQP()
    rows = sparse.csc_matrix(np.vstack([p.A, p.C]))
    lower, upper = np.concatenate([p.b, p.lower]), np.concatenate([p.b, p.upper])
    solver.setup(
        sparse.triu(p.P).tocsc(), p.q, rows, lower, upper,
        verbose=False, eps_abs=1e-9, eps_rel=0.0, max_iter=20000, polishing=True,
    )  # fmt: skip
    return solver.solve().x


def with_clarabel(p: Problem) -> Array:
    low, high = np.isfinite(p.lower), np.isfinite(p.upper)
    rows = sparse.csc_matrix(np.vstack([p.A, -p.C[low], p.C[high]]))
    bounds = np.concatenate([p.b, -p.lower[low], p.upper[high]])
    cones = [clarabel.ZeroConeT(len(p.b)), clarabel.NonnegativeConeT(int(low.sum() + high.sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    return np.array(clarabel.DefaultSolver(sparse.triu(p.P).tocsc(), p.q, rows, bounds, cones, settings).solve().x)


def with_daqp(p: Problem) -> Array:
    kinds = np.zeros(len(p.C) + len(p.b), np.int32)
    kinds[len(p.C) :] = 5
    upper, lower = np.concatenate([p.upper, p.b]), np.concatenate([p.lower, p.b])
    return daqp.solve(p.P, p.q, np.vstack([p.C, p.A]), upper, lower, kinds)[0]


def with_kinetree(p: Problem) -> Array:
    return kt.control.quadratic_program(*p).x


SOLVERS: dict[str, Callable[[Problem], Array]] = {
    "kinetree": with_kinetree,
    "daqp": with_daqp,
    "quadprog": with_quadprog,
    "piqp": with_piqp,
    "proxqp": with_proxqp,
    "clarabel": with_clarabel,
    "osqp": with_osqp,
}


def measured(solve: Callable[[Problem], Any], problem: Problem) -> tuple[Array | None, float]:
    times, x = [], None
    with_kinetree(problem)  # compiles
    for _ in range(CALLS):
        start = time.perf_counter()
        try:
            x = solve(problem)
        except ValueError:  # quadprog, where it takes a problem for infeasible
            return None, np.nan
        times.append(time.perf_counter() - start)
        if sum(times) > 2.0:
            break
    return x, 1e6 * float(np.median(times))


def main() -> None:
    for problem in (talos(), quadruped(), arm_velocities(), crowded()):
        found = {name: measured(solve, problem) for name, solve in SOLVERS.items()}
        best = 0.5 * (found["kinetree"][0] + found["daqp"][0])
        print(f"{len(problem.q)} unknowns, {len(problem.b)} equations, {len(problem.C)} inequalities")
        for name, (x, time_) in found.items():
            error = np.nan if x is None else abs(x - best).max() / (1.0 + abs(best).max())
            print(f"  {name:9s} {time_:9.0f} µs   error {error:.0e}")


if __name__ == "__main__":
    main()
