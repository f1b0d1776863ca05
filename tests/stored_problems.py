"""Stored problems of contacts with Coulomb's friction: what they are, and kinetree's own methods run on them.

    K ∋ λ  ⊥  c + Φ(c) ∈ K*,    c = G λ + g,    G = B Bᵀ        (src/kinetree/algorithms/natural_map.py)

With M = 1, J = B and a_ref = -g they are problems of contact_dynamics.py in which a step has the length 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.algorithms.convex_dynamics import Block, Effort
from kinetree.algorithms.natural_map import RigidContact
from kinetree.algorithms.near_rigid import SHARE
from kinetree.algorithms.rigid_contact import rigid_acceleration
from kinetree.algorithms.row_costs import EllipticCone
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Definition, Strategy
from kinetree.tree.elimination import Elimination
from kinetree.tree.sparse_matrix import SparseMatrix

__all__ = ["PATH", "Problems", "Solved", "natural_map", "pinocchio", "solved", "stored", "violation"]

Array = NDArray[np.float64]

PATH = Path(__file__).parent / "data/ncp_problems.npz"
"""Made by benchmarks/ncp_problems.py."""
_LEAST = 1e-12


class Problems(NamedTuple):
    """N problems of n contacts each."""

    B: Array
    """(N, 3n, 3n), lower triangular."""
    g: Array
    """(N, 3n): of each contact along its normal, then across it twice."""
    mu: Array
    """(N, n)"""
    robot: Array
    """The number of its robot, (N,)."""
    solution: Array
    """λ, (N, 3n)."""
    residual: Array
    """The natural map at the solution, (N,)."""


class Solved(NamedTuple):
    """What came out: impulses, the residual that is reported, and how many iterations it took."""

    impulses: Array
    residual: Array
    iterations: Array


def stored() -> dict[int, Problems]:
    """All problems, by their number of contacts."""
    found = {}
    with np.load(PATH) as file:
        for n in map(int, file["sizes"]):
            fields = {name: file[f"{name}_{n}"] for name in Problems._fields}
            B = np.zeros((len(fields["g"]), 3 * n, 3 * n))
            B[:, *np.tril_indices(3 * n)] = fields["B"]
            found[n] = Problems(**{**fields, "B": B})
    return found


def natural_map(B: Array, g: Array, mu: Array, impulses: Array) -> Array:
    """The largest component of w (λ - Π_K(λ - (c + Φ(c)) / w)) of each problem, w the mean of the diagonal of G."""
    count, contacts = mu.shape
    G = B @ B.swapaxes(1, 2)
    c = (np.einsum("nij,nj->ni", G, impulses) + g).reshape(count, contacts, 3)
    forces = impulses.reshape(count, contacts, 3)
    w = np.maximum(np.einsum("nii->ni", G).reshape(count, contacts, 3).mean(-1), _LEAST)[..., None]
    c[..., 0] += mu * np.linalg.norm(c[..., 1:], axis=-1)
    gap = w * (forces - _projected(forces - c / w, mu))
    found: Array = np.abs(gap).max((1, 2))
    return found


def violation(B: Array, g: Array, mu: Array, impulses: Array) -> Array:
    """The largest violation of each problem: min(c_n, w λ_n), and how far w λ_t is from what friction asks for."""
    count, contacts = mu.shape
    G = B @ B.swapaxes(1, 2)
    c = (np.einsum("nij,nj->ni", G, impulses) + g).reshape(count, contacts, 3)
    forces = impulses.reshape(count, contacts, 3)
    w = np.maximum(np.einsum("nii->ni", G).reshape(count, contacts, 3).mean(-1), _LEAST)
    normal = np.abs(np.minimum(c[..., 0], w * forces[..., 0]))
    across = w[..., None] * forces[..., 1:]
    wanted = across - c[..., 1:]
    size, most = np.linalg.norm(wanted, axis=-1), w * mu * np.maximum(forces[..., 0], 0.0)
    wanted *= np.minimum(1.0, most / np.where(size > 0.0, size, 1.0))[..., None]
    found: Array = np.maximum(normal, np.abs(across - wanted).max(-1)).max(1)
    return found


def _projected(f: Array, mu: Array) -> Array:
    """The nearest point of the cone ‖f_t‖ ≤ μ f_n."""
    normal, across = f[..., 0], f[..., 1:]
    size = np.linalg.norm(across, axis=-1)
    on_it = (normal + mu * size) / (1.0 + mu * mu)
    sideways = (mu * on_it / np.where(size > 0.0, size, 1.0))[..., None] * across
    edge = np.concatenate([on_it[..., None], sideways], axis=-1)
    return np.where((size <= mu * normal)[..., None], f, np.where((mu * size <= -normal)[..., None], 0.0, edge))


def solved(problems: Problems, rounds: int = 40, tolerance: float = 1e-8) -> Solved:
    """kinetree's answer."""
    count, contacts = problems.mu.shape
    G = np.einsum("nij,nij->ni", problems.B, problems.B).reshape(count, contacts, 3)
    w = np.maximum(G.mean(-1), _LEAST)
    arguments = problems.B.reshape(count, -1), problems.g, problems.mu, w
    out = run(_definition(contacts, rounds, tolerance), _robot(), arguments)
    return Solved(out[:, :-2], out[:, -2], out[:, -1])


Solver = Callable[[Array, Array, Array], tuple[Array, int]]
"""From G, g and μ to impulses and the number of iterations."""


def pinocchio(kind: str, tolerance: float, iterations: int = 2000) -> Solver:
    """One of Pinocchio's solvers, which have the normal last."""
    import pinocchio as pin

    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    last = [1, 2, 0]
    settings = getattr(pin, f"{kind}SolverSettings")()
    settings.max_iterations, settings.solve_ncp = iterations, True
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0

    def solve(G: Array, g: Array, mu: Array) -> tuple[Array, int]:
        order = np.array([3 * k + i for k in range(len(mu)) for i in last])
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for friction in mu:
            contact = pin.PointContactConstraintModel(model, 1)
            contact.setFriction(float(friction))
            contact.setCompliance(np.zeros(3))
            one = pin.ConstraintModel(contact)
            models.append(one)
            datas.append(one.createData())
        solver = getattr(pin, f"{kind}ConstraintSolver")(len(g))
        result = getattr(pin, f"{kind}SolverResult")()
        delassus = pin.DelassusOperatorDense(G[np.ix_(order, order)])
        solver.solve(delassus, g[order], models, datas, settings, result)
        impulses = np.zeros(len(g))
        impulses[order] = result.retrieveConstraintImpulses()
        return impulses, result.iterations

    return solve


@cache
def _robot() -> kt.Model:
    """One object for all calls: kernels are kept with it."""
    return kt.zoo.load("cart_pole")


@cache
def _definition(contacts: int, rounds: int, tolerance: float) -> Definition:
    """The solver as something that compiles; the robot that it is compiled for does not matter."""
    m = 3 * contacts

    def compute(_: Any, B: Sequence[Any], g: Sequence[Any], mu: Sequence[Any], w: Sequence[Any]) -> list[Any]:
        order = Elimination((0, *range(m)), (0, *range(m)))  # as if all degrees of freedom were in one chain
        one = [[float(i == k) for k in range(m)] for i in range(m)]
        M = SparseMatrix(one, order, None)  # type: ignore[arg-type]
        blocks = []
        for k in range(contacts):
            cone = EllipticCone([1.0 / (SHARE * w[k])] * 3, [mu[k]] * 2, mu[k])
            rows = [B[m * i : m * (i + 1)] for i in range(3 * k, 3 * k + 3)]
            blocks.append(Block(rows, [-x for x in g[3 * k : 3 * k + 3]], RigidContact(cone, 1.0, rounds, tolerance)))
        found = rigid_acceleration(M, [0.0] * m, blocks, None, Effort())
        return [*(f for of_block in found.forces for f in of_block), found.error, found.iterations]

    inputs = (("B", m * m), ("g", m), ("mu", contacts), ("w", contacts))
    strategy = Strategy(loops=False, is_dense=lambda *_: True)
    return Definition("stored_problems", inputs, (m + 2,), compute, strategy=strategy)
