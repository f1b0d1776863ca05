"""Forward dynamics with soft constraints beside MuJoCo, which gives the rows: J, a_ref, R, M and τ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

from kinetree.algorithms.convex_dynamics import Block, Effort, Minimum, minimum_acceleration
from kinetree.algorithms.row_costs import DryFriction, EllipticCone, Equality, OneSided, Pyramid
from kinetree.tree.elimination import Elimination
from kinetree.tree.sparse_matrix import SparseMatrix

KIND = mujoco.mjtConstraint
BODIES = """
<mujoco><option timestep="0.004" cone="{cone}" impratio="{impratio}" solver="Newton" iterations="300"
  ls_iterations="100" tolerance="0"/>
  <default><geom condim="{condim}" friction="0.8 0.02 0.003"/><joint damping="0.3" frictionloss="0.2"/></default>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body name="trunk" pos="0 0 0.35"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="4"/>
      {legs}
    </body>
    <body pos="0.5 0 0.1"><freejoint/><geom type="sphere" size="0.09" mass="1"/></body>
    <body pos="0.5 0.02 0.3"><freejoint/><geom type="capsule" size="0.05 0.1" mass="1"/></body>
  </worldbody>
  <equality><joint joint1="hip0" joint2="hip3" polycoef="0 -1 0 0 0"/>
    <connect body1="shin1" body2="shin2" anchor="0 0 -0.2"/></equality>
</mujoco>"""
LEG = """<body name="thigh{k}" pos="{x} {y} -0.05"><joint name="hip{k}" axis="0 1 0" range="-5 5"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
  <body name="shin{k}" pos="0 0 -0.2"><joint axis="0 1 0" range="-9 4"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.3"/></body></body>"""


def model_of(cone: str, condim: int, impratio: float) -> Any:
    legs = "".join(LEG.format(k=k, x=0.2 * (-1) ** k, y=0.1 * (-1) ** (k // 2)) for k in range(4))
    model = mujoco.MjModel.from_xml_string(BODIES.format(cone=cone, impratio=impratio, condim=condim, legs=legs))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    return model


def jacobian(model: Any, data: Any) -> np.ndarray:
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        return J
    return np.array(data.efc_J).reshape(J.shape)


def blocks_of(model: Any, data: Any) -> Iterator[Block]:
    """MuJoCo's rows, with the edges of a pyramid turned back into a normal and directions across it."""
    J, reference, R = jacobian(model, data), data.efc_aref, data.efc_R
    k = 0
    while k < data.nefc:
        kind, D, size = KIND(int(data.efc_type[k])), 1.0 / R[k], 1
        rows, wanted = J[k : k + 1], reference[k : k + 1]
        cost: Any
        if kind == KIND.mjCNSTR_EQUALITY:
            cost = Equality([D])
        elif kind == KIND.mjCNSTR_FRICTION_DOF:
            cost = DryFriction(D, data.efc_frictionloss[k])
        elif kind in (KIND.mjCNSTR_LIMIT_JOINT, KIND.mjCNSTR_CONTACT_FRICTIONLESS):
            cost = OneSided(D)
        else:
            touching = data.contact[data.efc_id[k]]
            mu = touching.friction[: touching.dim - 1].tolist()
            if kind == KIND.mjCNSTR_CONTACT_ELLIPTIC:
                size = touching.dim
                rows, wanted = J[k : k + size], reference[k : k + size]
                cost = EllipticCone((1.0 / R[k : k + size]).tolist(), mu, float(touching.mu))
            else:
                size = 2 * len(mu)
                edges, ends = J[k : k + size], reference[k : k + size]
                rows = [0.5 * (edges[0] + edges[1])]
                wanted = [0.5 * (ends[0] + ends[1])]
                rows += [(edges[2 * j] - edges[2 * j + 1]) / (2.0 * m) for j, m in enumerate(mu)]
                wanted += [(ends[2 * j] - ends[2 * j + 1]) / (2.0 * m) for j, m in enumerate(mu)]
                cost = Pyramid(D, mu)
        yield Block([list(map(float, row)) for row in rows], list(map(float, wanted)), cost)
        k += size


def full_matrix(model: Any, data: Any) -> np.ndarray:
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M) if mujoco.__version__ >= "4" else mujoco.mj_fullM(model, M, data.qM)
    return M


def solved(model: Any, data: Any, effort: Effort) -> Minimum:
    n = model.nv
    order = Elimination((0, *range(n)), (0, *range(n)))  # as if all degrees of freedom were in one chain
    M = SparseMatrix(full_matrix(model, data).tolist(), order, None)  # type: ignore[arg-type]
    guess = data.qacc_warmstart.tolist()
    return minimum_acceleration(M, data.qfrc_smooth.tolist(), list(blocks_of(model, data)), guess, effort)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize(("condim", "impratio"), [(1, 1), (3, 1), (3, 10), (4, 1), (6, 3)])
def test_accelerations_and_forces_are_those_of_mujoco(cone: str, condim: int, impratio: float) -> None:
    model = model_of(cone, condim, impratio)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(condim)
    kinds: set[int] = set()
    for _ in range(6):
        data.qvel[:] += rng.normal(size=model.nv)
        mujoco.mj_step(model, data, 25)
        mujoco.mj_forward(model, data)
        found = solved(model, data, Effort(iterations=30))
        scale = np.abs(data.qacc).max()
        np.testing.assert_allclose(found.acceleration, data.qacc, rtol=0, atol=1e-9 * scale)
        pushed = full_matrix(model, data) @ found.acceleration - data.qfrc_smooth
        np.testing.assert_allclose(pushed, data.qfrc_constraint, rtol=0, atol=1e-8 * np.abs(pushed).max())
        assert found.error < 1e-9
        kinds.update(data.efc_type.tolist())
    assert len(kinds) >= 4


def test_a_solver_that_stops_early_says_how_far_it_is() -> None:
    model = model_of("elliptic", 3, 10)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 60)
    mujoco.mj_forward(model, data)
    M = full_matrix(model, data)
    for iterations in (1, 2, 3, 5):
        found = solved(model, data, Effort(iterations=iterations))
        assert found.iterations <= iterations
        away = np.array(found.acceleration) - data.qacc
        bound = found.error * np.sqrt(
            data.qfrc_smooth @ np.linalg.solve(M, data.qfrc_smooth) + found.acceleration @ M @ found.acceleration
        )
        assert np.sqrt(away @ M @ away) <= bound * (1.0 + 1e-6) + 1e-9


def test_a_guess_that_is_the_answer_takes_one_iteration_and_a_bad_one_is_not_used() -> None:
    model = model_of("elliptic", 3, 10)
    data = mujoco.MjData(model)
    data.qvel[:] = np.random.default_rng(1).normal(size=model.nv)
    mujoco.mj_step(model, data, 100)
    mujoco.mj_forward(model, data)
    counts = []
    for guess in (data.qacc, 1e4 * np.ones(model.nv), np.linalg.solve(full_matrix(model, data), data.qfrc_smooth)):
        data.qacc_warmstart[:] = guess
        found = solved(model, data, Effort(iterations=30, tolerance=1e-8))
        counts.append(found.iterations)
        np.testing.assert_allclose(found.acceleration, data.qacc, rtol=0, atol=1e-7 * np.abs(data.qacc).max())
    assert counts[0] == 1.0
    assert counts[1] == counts[2] > 2.0


def test_the_error_is_relative_to_the_sizes_of_both_accelerations_and_the_costs() -> None:
    """Of two rows that push one way, far from their minimum."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(3, 3))
    M, D = A @ A.T + np.eye(3), 2.0
    tau, J, reference = rng.normal(size=3), rng.normal(size=(2, 3)), np.array([5.0, 8.0])
    order = Elimination((0, 0, 1, 2), (0, 0, 1, 2))  # of one chain
    blocks = [Block([row.tolist()], [r], OneSided(D)) for row, r in zip(J, reference.tolist(), strict=True)]
    sparse = SparseMatrix(M.tolist(), order, None)  # type: ignore[arg-type]
    found = minimum_acceleration(sparse, tau.tolist(), blocks, None, Effort(iterations=0))
    a = np.array(found.acceleration)
    left = np.minimum(J @ a - reference, 0.0)
    assert (left < 0.0).all()
    g = M @ a - tau + J.T @ (D * left)
    size = tau @ np.linalg.solve(M, tau) + a @ M @ a + D * left @ left
    assert found.error == pytest.approx(np.sqrt(g @ np.linalg.solve(M, g) / size), rel=1e-12)
    assert found.error > 0.1
