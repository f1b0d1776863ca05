"""A four-bar linkage that is closed by soft rows: Freudenstein's equation holds as far as they give way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.contact_model import SoftConstraints
from kinetree.model.extras import Equality, SimulationOptions
from tests.closed_form.scenes import Array
from tests.closed_form.settings import ALL, SETTINGS

GROUND, CRANK, COUPLER, ROCKER = 0.8, 0.3, 0.9, 0.6
LOOP = [kt.constraints.Loop("coupler end", "rocker end")]


def linkage(*equalities: Equality) -> tuple[kt.Model, Array]:
    """The linkage as a tree, and a configuration in which it is closed."""
    builder = kt.ModelBuilder("four-bar")
    builder.add_body("ground")
    for name, parent, place, length in (
        ("crank", "ground", [0, 0, 0], CRANK), ("rocker", "ground", [GROUND, 0, 0], ROCKER),
        ("coupler", "crank", [0, 0, CRANK], COUPLER),
    ):  # fmt: skip
        rod = kt.solids.box(0.04, 0.04, length, mass=length, placement=kt.lie.placement([0, 0, length / 2]))
        builder.add_body(name, rod)
        builder.add_joint(f"{name} joint", kt.Revolute([0, 1, 0]), parent, name, kt.lie.placement(place))
        builder.add_frame(f"{name} end", name, kt.lie.placement([0, 0, length]))
    options = SimulationOptions(timestep=0.001)
    builder.extras = replace(builder.extras, equalities=equalities, options=options)
    robot = builder.build()
    return robot, kt.constraints.nearest_configuration(robot, [0.3, 0.2, 1.0], LOOP).q


def freudenstein(q: Array) -> Array:
    """How far the angles of crank and rocker are from the equation that the lengths give."""
    theta, phi = np.pi / 2 - q[:, :2].T
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    found: Array = GROUND / CRANK * np.cos(phi) - GROUND / ROCKER * np.cos(theta) + k3 - np.cos(theta - phi)
    return found


def energy(robot: kt.Model, q: Array, v: Array) -> Array:
    total: Array = kt.kinetic_energy(robot, q, v) + kt.potential_energy(robot, q)
    return total


def by_sites(d: float) -> SoftConstraints:
    """A connection of the two ends, of one impedance."""
    soft = (d, d, 0.001, 0.5, 2.0)
    pin = Equality("pin", "connect", "site", "coupler end", "rocker end", solref=(0.004, 1.0), solimp=soft)
    return kt.contact.soft_constraints(linkage(pin)[0])


@pytest.mark.parametrize("d", [0.9, 0.99, 0.999])
def test_a_connection_closes_the_linkage_within_its_softness(d: float) -> None:
    """Errors, and what the connection takes of the energy, are in proportion to (1 - d) / d."""
    robot, q = linkage()
    gives_way = (1.0 - d) / d
    states = kt.rollout(robot, q, np.zeros(3), np.zeros((1000, 3)), 0.001, integrator="rk4", contact=by_sites(d))
    off = np.abs(freudenstein(states[:, :3])).max()
    assert 0.002 * gives_way < off < 0.006 * gives_way
    before, after = (energy(robot, x[None, :3], x[None, 3:])[0] for x in (np.r_[q, 0.0, 0.0, 0.0], states[-1]))
    assert -0.02 * gives_way < after - before < 0.0


def test_a_loop_is_almost_rigid_with_contacts() -> None:
    """Its acceleration is that of the hard loop but for a ten-thousandth; its motion satisfies the equation."""
    robot, q = linkage()
    contact = kt.contact.soft_constraints(robot, constraints=LOOP)
    v = kt.constraints.nearest_velocity(robot, q, [1.0, 0.0, 0.0], LOOP)
    hard = kt.constraints.constrained_dynamics(robot, q, v, np.zeros(3), LOOP).qdd
    soft = kt.contact_dynamics(robot, q, v, np.zeros(3), contact=contact).qdd
    np.testing.assert_allclose(soft, hard, rtol=0, atol=3e-4 * np.abs(hard).max())
    motion = kt.simulate(robot, q=q, contact=contact, duration=1.0, integrator="rk4")
    assert np.abs(freudenstein(motion.q)).max() < 2e-5
    assert np.abs(motion.balance_error).max() < 1e-6
    np.testing.assert_allclose(
        motion.qdd[0], kt.contact_dynamics(robot, q, np.zeros(3), np.zeros(3), contact=contact).qdd
    )


@ALL
def test_a_loop_moves_in_each_setting_as_the_exact_one_does(name: str) -> None:
    """Soft loops are closed as far as the integrator follows them, to first order; exact ones are projected."""
    robot, q = linkage()
    loose = kt.contact.soft_constraints(robot, constraints=LOOP, **SETTINGS[name])
    v = kt.constraints.nearest_velocity(robot, q, [1.0, 0.0, 0.0], LOOP)
    hard = kt.constraints.constrained_dynamics(robot, q, v, np.zeros(3), LOOP).qdd
    soft = kt.contact_dynamics(robot, q, v, np.zeros(3), contact=loose).qdd
    np.testing.assert_allclose(soft, hard, rtol=0, atol=1e-3 * np.abs(hard).max())
    exact = kt.simulate(robot, q=q, v=v, constraints=LOOP, duration=0.5, dt=2e-3).q[-1]
    off = []
    for dt in (5e-4, 2.5e-4):
        states = kt.rollout(robot, q, v, np.zeros((round(0.5 / dt), 3)), dt, contact=loose)
        assert np.abs(freudenstein(states[:, :3])).max() < 6.0 * dt
        off.append(np.abs(states[-1, :3] - exact).max())
    assert off[1] < 0.6 * off[0] < 2e-3
