"""Frictional contact problems of real robots, to be stored: G = B Bᵀ, g and μ of

    K ∋ λ  ⊥  c + Φ(c) ∈ K*,    c = G λ + g        (src/kinetree/algorithms/natural_map.py)

with c the velocity of each contact at the end of a step, along its normal and across it twice, and λ its impulse. Feet
of 15 robots of the wheel `example-robot-data` stand, land and slide on slopes, and some are pushed by another body;
flat feet touch with four corners, so that forces are not unique. Each problem is kept with the best solution that was
found and its residual, which anyone can check.

    python -m benchmarks.ncp_problems make     # tests/data/ncp_problems.npz, anew
    python -m benchmarks.ncp_problems compare  # beside Pinocchio's solvers
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from benchmarks.robots import Robot
from numpy.typing import NDArray
from tests.stored_problems import PATH, Problems, natural_map, pinocchio, solved, stored

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.forward_dynamics import unbalanced
from kinetree.algorithms.near_rigid import NearRigid
from kinetree.algorithms.soft_rows import Friction, Sight, contact, seen
from kinetree.collision import ContactPoint
from kinetree.spatial import Vec3

Array = NDArray[np.float64]

ROBOTS = (
    Robot("a1", "a1_description/urdf/a1.urdf", True),
    Robot("anymal_b", "anymal_b_simple_description/robots/anymal.urdf", True),
    Robot("anymal_c", "anymal_c_simple_description/urdf/anymal.urdf", True),
    Robot("b1", "b1_description/urdf/b1.urdf", True),
    Robot("bolt", "bolt_description/robots/bolt.urdf", True),
    Robot("go1", "go1_description/urdf/go1.urdf", True),
    Robot("go2", "go2_description/urdf/go2.urdf", True),
    Robot("hyq", "hyq_description/robots/hyq_no_sensors.urdf", True),
    Robot("icub", "icub_description/robots/icub_reduced.urdf", True),
    Robot("laikago", "laikago_description/urdf/laikago.urdf", True),
    Robot("solo12", "solo_description/robots/solo12.urdf", True),
    Robot("talos", "talos_data/robots/talos_reduced.urdf", True),
    Robot("simple_humanoid", "simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    Robot("g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    Robot("ur5", "ur_description/urdf/ur5_robot.urdf", False),
)
STATES = 70
"""Problems of each robot."""
SIZES = (1, 2, 4, 8)
"""Numbers of contacts."""
_SOLVED = 1e-10
"""The largest residual of a solution."""


def problems(robot: kt.Model, rng: np.random.Generator, count: int) -> Iterator[tuple[Array, Array, Array]]:
    """B, g and μ of some problems of a robot, with B lower triangular."""
    tree = robot.tree
    for k in range(count):
        size = SIZES[int(rng.choice(4, p=[0.2, 0.35, 0.35, 0.1]))]
        q = robot.random(rng)
        v = rng.normal(size=robot.nv) * (0.0, 0.3, 1.0)[k % 3]
        h = float(10.0 ** rng.uniform(-3.0, -2.0))
        at = tree.split(q.tolist(), "nq"), tree.split(v.tolist(), "nv")
        sight = seen(tree, *at)
        M = np.array(algorithms.crba(tree, at[0]).flat()).reshape(robot.nv, robot.nv)
        tau = tree.split((rng.normal(size=robot.nv) * np.diag(M)).tolist(), "forces")
        left = np.array(tree.numbers(unbalanced(tree, *at, tau, None)[1:], "forces"))
        free = v + h * np.linalg.solve(M, left)
        mu = rng.choice([0.1, 0.3, 0.5, 0.8, 1.2], size=size)
        J = np.concatenate([rows(sight, point, *bodies) for point, bodies in points(sight, rng, size)])
        half = np.linalg.solve(np.linalg.cholesky(M), J.T)
        scale = np.sqrt(3.0 * size / np.trace(half.T @ half))  # impulses in units that suit the robot
        L = np.linalg.qr(half * scale, mode="r")
        B = np.zeros((3 * size, 3 * size))
        B[:, : len(L)] = L.T
        yield B, J @ free, mu


def points(sight: Sight, rng: np.random.Generator, count: int) -> Iterator[tuple[ContactPoint, tuple[int, int]]]:
    """Where the robot's lowest bodies touch a slope, each in one point or four; one of them may touch the next."""
    slots = [slot for slot, _ in sight.tree.outward]
    height = {slot: sight.X_0[slot].r.z for slot in slots}
    lowest = sorted(slots, key=lambda slot: height[slot])
    tilt, turn = rng.uniform(0.0, 0.5), rng.uniform(0.0, 2.0 * np.pi)
    up = Vec3(np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt))
    flat = count >= 4 and rng.random() < 0.5
    for k in range(count):
        slot = lowest[(k // 4 if flat else k) % len(lowest)]
        X = sight.X_0[slot]
        corner = (
            Vec3(0.06 * (1 - 2 * (k & 1)), 0.03 * (1 - (k & 2)), -0.05) if flat else Vec3(*rng.normal(size=3) * 0.03)
        )
        p, normal, first = X.r + X.E.T @ corner, up, 0
        if k == count - 1 and rng.random() < 0.2:
            first = lowest[-1 - int(rng.integers(len(lowest) // 2))]
            normal = Vec3(*(n := rng.normal(size=3)) / np.linalg.norm(n))
        first = 0 if first == slot else first
        across = normal.cross(Vec3(*rng.normal(size=3)))
        tangent = across * (1.0 / float(np.sqrt(across.dot(across))))
        yield ContactPoint(-1e-3, p, normal, tangent), (first, slot)


def rows(sight: Sight, point: ContactPoint, first: int, second: int) -> Array:
    """J of a contact: along the normal, and across it twice."""
    law = NearRigid(1.0, 0.0, 1.0, 1.0)
    block = contact(sight, first, second, point, 0.0, law, Friction((1.0, 1.0), True, 1.0))
    return np.array(block.J, dtype=np.float64)


def make() -> None:
    """All problems by their number of contacts, with the best solution that is found."""
    found: dict[int, list[tuple[Array, Array, Array, int]]] = {size: [] for size in SIZES}
    for number, robot in enumerate(ROBOTS):
        rng = np.random.default_rng(number)
        for B, g, mu in problems(robot.load(), rng, STATES):
            found[len(mu)].append((B, g, mu, number))
    fields: dict[str, Array] = {"sizes": np.array(SIZES)}
    for size, of_size in found.items():
        B, g, mu, numbers = map(np.array, zip(*of_size, strict=True))
        nothing = Problems(B, g, mu, numbers, np.zeros_like(g), np.zeros(len(g)))
        answers = [solved(nothing, rounds, 1e-11).impulses for rounds in (40, 400, 2)]
        residuals = np.array([natural_map(B, g, mu, one) for one in answers])
        # The first that is a solution, since there may be several; or the nearest to one.
        best = np.where(residuals < _SOLVED, 0.0, residuals).argmin(axis=0)
        which = best, np.arange(len(g))
        lower = B[:, *np.tril_indices(3 * size)]
        known = Problems(lower, g, mu, numbers.astype(np.uint8), np.array(answers)[which], residuals[which])
        fields |= {f"{name}_{size}": value for name, value in known._asdict().items()}
        print(f"{size} contacts: {len(g)}, of which solved to 1e-10: {(known.residual < _SOLVED).sum()}")
    np.savez_compressed(PATH, **fields)


def compare() -> None:
    """A table of solvers: residuals by our own natural map, so that all solve the same problems."""
    print("| solver | solved to 1e-6 | iterations: median / p90 / max | residual: the same |\n|---|---|---|---|")
    all_of_them = stored()
    for name, solver in (
        ("Pinocchio ADMM, 1e-6", pinocchio("ADMM", 1e-6)),
        ("Pinocchio ADMM, 1e-9", pinocchio("ADMM", 1e-9)),
        ("Pinocchio PGS, 1e-9", pinocchio("PGS", 1e-9)),
    ):
        residuals, counts = [], []
        for one in all_of_them.values():
            answers = [solver(B @ B.T, g, mu) for B, g, mu in zip(one.B, one.g, one.mu, strict=True)]
            residuals.append(natural_map(one.B, one.g, one.mu, np.array([x for x, _ in answers])))
            counts += [n for _, n in answers]
        report(name, np.concatenate(residuals), np.array(counts))
    for rounds in (1, 40):
        found = [(one, solved(one, rounds)) for one in all_of_them.values()]
        residuals = [natural_map(one.B, one.g, one.mu, x.impulses) for one, x in found]
        name = "kinetree, accurate" if rounds > 1 else "kinetree, one round"
        report(name, np.concatenate(residuals), np.concatenate([x.iterations for _, x in found]))


def report(name: str, residuals: Array, iterations: Array) -> None:
    """One row of the table."""
    its = " / ".join(f"{x:.0f}" for x in np.quantile(iterations, (0.5, 0.9, 1.0)))
    left = " / ".join(f"{x:.0e}" for x in np.quantile(residuals, (0.5, 0.9, 1.0)))
    print(f"| {name} | {(residuals < 1e-6).sum()} of {len(residuals)} | {its} | {left} |", flush=True)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]]()
