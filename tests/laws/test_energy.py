"""Where energy is and how it flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given

import kinetree as kt
from tests.laws.reference import close, coordinate_rates, directional, reference, tried_on_both
from tests.strategies import State, law, moving_trees

Call = Callable[..., Any]


@tried_on_both(moving_trees())
def test_kinetic_energy_is_half_v_H_v(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    H = call(kt.crba, model, s.q)
    close(call(kt.kinetic_energy, model, s.q, s.v), 0.5 * s.v @ H @ s.v, scale=float(np.abs(H).max()))


@law(50)
@given(moving_trees())
def test_the_power_of_the_joint_forces_is_the_change_of_energy(case: tuple[kt.Model, State]) -> None:
    """d(T + V)/dt = v . τ along the motion that forward dynamics gives."""
    model, s = case
    qdd = reference(kt.aba, model, s.q, s.v, s.tau)

    def energy(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return reference(kt.kinetic_energy, model, q, v) + reference(kt.potential_energy, model, q)

    power = directional(energy, (s.q, coordinate_rates(model, s.q, s.v)), (s.v, qdd))
    # dT/dt is H v . q̈ and terms in v³, which cancel against each other.
    H = np.abs(reference(kt.crba, model, s.q))
    bias = np.abs(reference(kt.bias_forces, model, s.q, s.v))
    scale = float(np.abs(s.v) @ (H @ np.abs(qdd) + bias + np.abs(s.tau)))
    close(power, s.v @ s.tau, scale=scale)


@law(50)
@given(moving_trees())
def test_gravity_forces_are_the_slope_of_the_potential_energy(case: tuple[kt.Model, State]) -> None:
    """Along each degree of freedom; its sign is that of the force that holds against gravity."""
    model, s = case
    slope = [
        directional(lambda q: reference(kt.potential_energy, model, q), (s.q, coordinate_rates(model, s.q, direction)))
        for direction in np.eye(model.nv)
    ]
    close(reference(kt.gravity_forces, model, s.q), np.array(slope), scale=10.0 * model.mass)


@law(50)
@given(moving_trees(gravity=(0.0, 0.0, 0.0)))
def test_coriolis_forces_turn_kinetic_energy_around_but_do_no_work(case: tuple[kt.Model, State]) -> None:
    """vᵀ (Ḣ - 2 C) v = 0, C v being the bias without gravity."""
    model, s = case
    H_dot = directional(lambda q: reference(kt.crba, model, q), (s.q, coordinate_rates(model, s.q, s.v)))
    bias = reference(kt.bias_forces, model, s.q, s.v)
    scale = float(np.abs(s.v) @ (np.abs(H_dot) @ np.abs(s.v) + np.abs(bias)))
    close(s.v @ H_dot @ s.v, 2.0 * s.v @ bias, scale=scale)


@law(50)
@given(moving_trees())
def test_potential_energy_is_weight_times_height_of_the_center_of_mass(case: tuple[kt.Model, State]) -> None:
    model, s = case
    com = reference(kt.center_of_mass, model, s.q)
    weight = model.mass * np.array(model.gravity)
    close(reference(kt.potential_energy, model, s.q), -weight @ com, scale=float(np.abs(weight).sum()))


@law(50)
@given(moving_trees())
def test_the_center_of_mass_is_the_mean_of_the_bodies(case: tuple[kt.Model, State]) -> None:
    """Each link of the file at its own place: what is merged still counts, a fixed base too."""
    model, s = case
    total, moment = 0.0, np.zeros(3)
    for name, body in model.bodies.items():
        T = reference(kt.frame_placement, model, s.q, frame=name)
        moment += T[:3, :3] @ np.array(body.inertia.h.components()) + T[:3, 3] * body.inertia.mass
        total += body.inertia.mass
    close(model.mass, total)
    close(reference(kt.center_of_mass, model, s.q) * total, moment, scale=10.0)
