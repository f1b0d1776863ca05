"""The equations of motion from Jacobians alone, body by body: M = Σ JᵀM_cJ and C = Σ Jᵀ(M_c J̇ + [ω̃] M_c J).

Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eq. 59. It shares nothing with the recursive
algorithms but the placements; J̇ is a complex step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from numpy.typing import NDArray

import kinetree as kt
from tests.strategies import State, law, moving_trees

from .reference import close, coordinate_rates, directional, reference

Array = NDArray[Any]


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def jacobian(model: kt.Model, body: str, com: Array, q: Array) -> Array:
    """[J_v; J_ω] of a body's centre of mass, in the world's axes."""
    R = reference(kt.frame_placement, model, q, frame=body)[:3, :3]
    J = reference(kt.frame_jacobian, model, q, frame=body, expressed_in="local_world_aligned")
    return np.concatenate([J[:3] - skew(R @ com) @ J[3:], J[3:]])


def mass_and_coriolis(model: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """M without armatures, and the Coriolis matrix C."""
    M, C = np.zeros((2, model.nv, model.nv))
    rates = coordinate_rates(model, q, v)
    for body in model.bodies.values():
        if body.inertia.mass == 0.0:
            continue
        mass, h = body.inertia.mass, np.array(body.inertia.h.components())
        com = h / mass
        about_com = np.array(body.inertia.I.full.components()).reshape(3, 3) - mass * skew(com) @ skew(com).T
        R = reference(kt.frame_placement, model, q, frame=body.name)[:3, :3]
        M_c = np.zeros((6, 6))
        M_c[:3, :3], M_c[3:, 3:] = mass * np.eye(3), R @ about_com @ R.T
        J = jacobian(model, body.name, com, q)
        J_dot = directional(lambda x, name=body.name, com=com: jacobian(model, name, com, x), (q, rates))
        spin = np.zeros((6, 6))
        spin[3:, 3:] = skew(J[3:] @ v)
        M += J.T @ M_c @ J
        C += J.T @ (M_c @ J_dot + spin @ M_c @ J)
    return M, C


@law(30)
@given(case=moving_trees(max_joints=5))
def test_the_mass_matrix_is_the_sum_over_bodies(case: tuple[kt.Model, State]) -> None:
    model, s = case
    M, _ = mass_and_coriolis(model, s.q, np.zeros(model.nv))
    armature = np.array([x for row in model.tree.armature for x in row])
    close(reference(kt.crba, model, s.q), M + np.diag(armature))


@law(30)
@given(case=moving_trees(max_joints=5))
def test_the_coriolis_matrix_gives_the_bias_forces_and_is_skew_up_to_half_the_mass_matrixs_rate(
    case: tuple[kt.Model, State],
) -> None:
    model, s = case
    _, C = mass_and_coriolis(model, s.q, s.v)
    bias = reference(kt.bias_forces, model, s.q, s.v) - reference(kt.gravity_forces, model, s.q)
    close(C @ s.v, bias, scale=float(np.abs(C).max(initial=0.0)) + 100.0)
    H_dot = directional(lambda q: reference(kt.crba, model, q), (s.q, coordinate_rates(model, s.q, s.v)))
    N = H_dot - 2.0 * C
    close(N, -N.T, scale=float(np.abs(C).max(initial=0.0)))
