"""Joints that end at a limit or have dry friction; stacks; and what falls and comes to rest."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import Extras, JointSettings
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.scenes import Array, D, G, H, T, Thing, contact, restitution, rollout, world

LOSS, UPPER, LENGTH = 0.7, 0.3, 0.5
_SOFT = (D, D, 0.001, 0.5, 2.0)


def pendulum(solref: tuple[float, float] = (T, 1.0)) -> kt.Model:
    """A point of 1 kg on a rod that hangs down at q = 0, with a limit at 0.3 rad and dry friction."""
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    builder.add_body("bob", Inertia.from_com(1.0, Vec3(0.0, 0.0, -LENGTH), Sym3.scalar(0.0)))
    limits = kt.model.Limits((-np.inf,), (UPPER,), (np.inf,), (np.inf,))
    builder.add_joint("hinge", kt.Revolute([0, -1, 0]), "base", "bob", limits=limits, friction=[LOSS])
    settings = JointSettings(
        "hinge", solref_limit=solref, solimp_limit=_SOFT, solref_friction=(T, 1.0), solimp_friction=_SOFT
    )
    builder.extras = Extras(joints=(settings,))
    return builder.build()


PENDULUM = pendulum()
INERTIA = LENGTH**2


def test_a_limit_stops_a_pendulum_where_its_spring_bears_the_load() -> None:
    # Past the limit by r, the spring gives K d r = r / (d T²) of acceleration, of which the row has the part d; and it
    # leaves 1 - d of what acts without it.
    free = PENDULUM.with_gravity((0, 0, 0))
    tau = np.array([[0.5], [2.0], [10.0]])
    q, v = rollout(free, np.zeros(1), np.zeros(1), 1500, tau)
    past = q[:, -1, 0] - UPPER
    np.testing.assert_allclose(past, (1.0 - D) * tau[:, 0] / INERTIA * T * T, rtol=1e-6)
    assert np.abs(v[:, -1]).max() < 1e-9


def test_a_pendulum_swings_against_its_limit_and_loses_energy_there() -> None:
    v0 = np.array([[4.0], [8.0]])
    q, v = rollout(PENDULUM, np.zeros(1), v0, 2000)
    energy = 0.5 * INERTIA * v[..., 0] ** 2 + G * LENGTH * (1.0 - np.cos(q[..., 0]))
    assert (q.max(axis=1) < UPPER + T * v0).all()  # no spring and damper of ζ = 1 goes further than v T / e
    assert (q.max(axis=1) > UPPER).all()
    assert (energy[:, -1] < 0.2 * energy[:, 0]).all()
    # Semi-implicit Euler's own energy is off by some thousandths of the speed's, to both sides.
    assert (energy < energy[:, :1] * (1.0 + 3e-3)).all()


def test_a_pendulum_leaves_its_limit_with_the_restitution_of_its_damping() -> None:
    elastic = pendulum((-1e4, -2.0 * 0.2 * 1e2)).with_gravity((0, 0, 0))
    q, v = rollout(elastic, np.full(1, UPPER - 0.01), np.ones(1), 1000, dt=1e-4, integrator="rk4")
    assert q[-1, 0] < UPPER
    np.testing.assert_allclose(-v[-1, 0], restitution(0.2), rtol=2e-3)


def test_dry_friction_holds_a_joint_below_its_loss_and_brakes_it_above() -> None:
    # Its row has no spring: it holds τ by creeping at (1 - d) τ / I · T / 2. Beyond its loss it is that loss.
    free = PENDULUM.with_gravity((0, 0, 0))
    share = np.array([-1.6, -1.1, -0.9, -0.3, 0.0, 0.5, 0.9])
    tau = share[:, None] * LOSS
    _, v = rollout(free, np.full(1, -0.1), np.zeros(1), 200, tau, passive=["friction"])
    held = np.abs(share) < 1.0
    np.testing.assert_allclose(v[held, -1], (1.0 - D) * tau[held] / INERTIA * 0.5 * T, rtol=1e-9)
    gained = (v[~held, -1] - v[~held, 99]) / (100 * H)
    np.testing.assert_allclose(gained, (tau[~held] + LOSS) / INERTIA, rtol=1e-9)


def test_dry_friction_stops_a_joint() -> None:
    free = PENDULUM.with_gravity((0, 0, 0))
    _, v = rollout(free, np.full(1, -50.0), np.array([1.0]), 1000, passive=["friction"])
    time = H * np.arange(1, 1001)
    until = INERTIA * 1.0 / LOSS
    early = time < 0.97 * until
    np.testing.assert_allclose(v[early, 0], 1.0 - LOSS / INERTIA * time[early], rtol=1e-9)
    assert np.abs(v[time > 1.1 * until]).max() < 1e-6


@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_a_stack_of_two_rests_as_deep_as_its_parameters_say(shape: str) -> None:
    # The lower contacts bear twice the weight, with 1/m as the inverse inertia; the upper ones have 2/m.
    size, corners = ((0.2, 0.2, 0.2), 4) if shape == "box" else ((0.1,), 1)
    joint = None if shape == "box" else kt.Prismatic([0, 0, 1])
    robot = world(*(Thing(shape, size, contact(), joint, inertia=0.01) for _ in range(2)), ground=contact())
    q0 = robot.neutral()
    heights = [2, 9] if shape == "box" else [0, 1]
    q0[heights] = 0.1, 0.3
    q, v = rollout(robot, q0, np.zeros(robot.nv), 600)
    lower, upper = q[-1, heights]
    depth = 2.0 * G * (1.0 - D) * T * T / corners
    np.testing.assert_allclose([0.1 - lower, 0.2 - (upper - lower)], depth, rtol=1e-5)
    assert np.abs(v[-1]).max() < 1e-6


CUBE = world(Thing("box", (0.2, 0.2, 0.2), contact(), inertia=1.0 / 150.0), ground=contact())


def test_a_cube_that_tumbles_comes_to_rest_and_never_has_more_energy_than_it_began_with() -> None:
    rng = np.random.default_rng(3)
    q0 = np.tile(CUBE.neutral(), (16, 1))
    q0[:, 2] = rng.uniform(0.2, 0.6, 16)
    q0[:, 3:] = rng.normal(size=(16, 4))
    q0[:, 3:] /= np.linalg.norm(q0[:, 3:], axis=1, keepdims=True)
    v0 = rng.normal(size=(16, 6)) * [1, 1, 1, 6, 6, 6]
    q, v = rollout(CUBE, q0, v0, 3000)
    start, energy = (kt.kinetic_energy(CUBE, *x) + kt.potential_energy(CUBE, x[0]) for x in ((q0, v0), (q, v)))
    assert (energy <= start[:, None] + 1e-9).all()
    # What a spring gives back is less than it took: of the energies at the tops of hops each is below the one before.
    assert (np.diff(_summits(energy)) < 1e-6).all()
    np.testing.assert_allclose(energy[:, -1], G * (0.1 - G * (1.0 - D) * T * T / 4.0), atol=2e-4)
    assert np.abs(v[:, -1]).max() < 1e-2


def _summits(energy: Array) -> Array:
    """The largest energy from each hundredth of the motion on."""
    return np.maximum.accumulate(energy[:, ::-1], axis=1)[:, ::-1][:, ::30]
