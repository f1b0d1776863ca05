"""Bodies in contact whose motions have closed forms, with laws of a step; most of MuJoCo's are in the files beside.

Each holds in the settings where it says so. In those that solve friction and normal motion together ("accurate") rigid
contacts are exact to their tolerance; in one round, friction's lift is that of the velocity before.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import Array, G, H, Thing, contact, restitution, world
from tests.closed_form.settings import ALL, MU, PER_STEP, RIGID, SETTINGS, SHARE, R, moved

POINT = world(Thing("sphere", (R,), contact(), kt.joints.Translation()), ground=contact())
BALL = world(Thing("sphere", (R,), contact()), ground=contact())
BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())
ON_GROUND = BALL.neutral()
ON_GROUND[2] = R
INERTIA = 0.004
"""Of a ball of 1 kg."""


def on_slope(angles: Array) -> dict[str, Array]:
    """Gravity as seen from slopes."""
    return {"gravity": G * np.stack([np.sin(angles), 0.0 * angles, -np.cos(angles)], axis=-1)}


@PER_STEP
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above_it(name: str) -> None:
    # What slides gains v_t + μ v_n at exactly g (sin θ - μ cos θ), and without friction's lift v_n is zero. What sticks
    # creeps by what friction gives way: σ h g sin θ, of which each corner has its part.
    slopes = np.arctan(MU) * np.array([0.3, 0.7, 1.3, 1.8])
    q = np.tile(BOX.neutral(), (4, 1))
    q[:, 2] = 0.05
    _, v = moved(BOX, q, np.zeros((4, 6)), 300, name, parameters=on_slope(slopes))
    down = G * (np.sin(slopes) - MU * np.cos(slopes))
    along = v[..., 0] + MU * v[..., 2]
    np.testing.assert_allclose((along[2:, -1] - along[2:, 149]) / (150 * H), down[2:], rtol=1e-5)
    assert (np.abs(v[:2, -1, 0]) < (1e-7 if name == "accurate" else 2.0 * SHARE * H * G)).all()
    if name == "accurate":
        np.testing.assert_allclose(v[2:, :, 0], np.outer(down[2:], H * np.arange(1, 301)), rtol=1e-4, atol=1e-6)
        assert np.abs(v[..., 2]).max() < 1e-7


@PER_STEP
def test_a_ball_that_slides_begins_to_roll_at_five_sevenths_of_its_speed(name: str) -> None:
    v0 = np.zeros((2, 6))
    v0[:, 0] = 0.5, 1.0
    _, v = moved(BALL, np.tile(ON_GROUND, (2, 1)), v0, 300, name)
    np.testing.assert_allclose(v[:, -1, 0], 5.0 / 7.0 * v0[:, 0], rtol=1e-6 if name == "accurate" else 1e-3)
    if name == "accurate":
        time = H * np.arange(1, 301)
        for k, until in enumerate(2.0 * v0[:, 0] / (7.0 * MU * G)):
            slides = time < until - H
            np.testing.assert_allclose(v[k, slides, 0], v0[k, 0] - MU * G * time[slides], rtol=1e-6)
        assert np.abs(v[..., 2]).max() < 1e-7


@ALL
def test_a_ball_that_spins_on_the_spot_is_stopped_by_torsional_friction(name: str) -> None:
    # I ω̇ = -μ_τ f_n exactly while it spins, so I ω + μ_τ m v_n falls at μ_τ m g; and it stops after I ω₀ / (μ_τ m g).
    torsion = 0.02
    robot = world(Thing("sphere", (R,), contact(condim=4)), ground=contact((MU, torsion, 0.0), condim=4))
    v0 = np.zeros((2, 6))
    v0[:, 5] = 5.0, -10.0
    _, v = moved(robot, np.tile(ON_GROUND, (2, 1)), v0, 300, name)
    time = H * np.arange(1, 301)
    for spin, up, w0 in zip(np.abs(v[..., 5]), v[..., 2], (5.0, 10.0), strict=True):
        until = INERTIA * w0 / (torsion * G)
        spins = time < 0.95 * until
        braked = INERTIA * w0 - torsion * G * time
        np.testing.assert_allclose((INERTIA * spin + torsion * up)[spins], braked[spins], rtol=1e-7)
        assert spin[time > 1.1 * until + 2 * H].max() < 1e-3 * w0
    assert np.abs(v[..., [0, 1, 3, 4]]).max() < 1e-9
    if name == "accurate":
        assert np.abs(v[..., 2]).max() < 1e-7


@ALL
def test_a_ball_that_rolls_is_stopped_by_rolling_friction(name: str) -> None:
    # Rolling without sliding, m a R = -I a / R - μ_r f_r: a = 5/7 f_r / (m R). The cone is shared with the force m a
    # along the ground, so f_r = μ_r m g √(1 - (a / μ g)²).
    rolling = 0.004
    robot = world(Thing("sphere", (R,), contact(condim=6)), ground=contact((MU, 0.01, rolling), condim=6))
    start = np.zeros(6)
    start[0], start[4] = 0.5, 0.5 / R
    _, v = moved(robot, ON_GROUND, start, 2500, name)
    a = 0.0
    for _ in range(20):
        a = 5.0 / 7.0 * rolling * G / R * np.sqrt(1.0 - (a / (MU * G)) ** 2)
    np.testing.assert_allclose((v[400, 0] - v[1400, 0]) / 1.0, a, rtol=2e-3)
    assert abs(0.5 - v[1400, 0] - 1.401 * a) < 0.01
    assert np.abs(v[int(1.1 * 0.5 / a / H) :]).max() < 1e-3


@RIGID
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_bounce_has_exactly_the_restitution_that_was_asked_for(name: str, e: float) -> None:
    q, v = moved(POINT, [0.0, 0.0, R + 0.05], np.zeros(3), 400, name, {"restitution": e})
    fell = v[:-1, 2] < 0.0
    turned = np.flatnonzero(fell & (v[1:, 2] > 1e-3)) + 1
    wanted = -e * v[turned - 1, 2]
    np.testing.assert_allclose(v[turned, 2], wanted, rtol=1e-6 if name == "accurate" else 5.0 * SHARE, atol=2e-5)
    assert len(turned) >= 2 or e == 0.0
    assert (q[:, 2] > R - 1e-5).all()  # nothing passes through the ground, however fast
    energy = 0.5 * (v**2).sum(-1) + G * q[:, 2]
    # Semi-implicit Euler's own energy where it flies is off by ½ g h v.
    assert energy.max() <= G * (R + 0.05) + 0.5 * G * H * 1.0 + 1e-9


@PER_STEP
def test_friction_is_the_same_in_all_directions(name: str) -> None:
    angles = np.radians(np.arange(0.0, 360.0, 7.5))
    along = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    q = np.tile([0.0, 0.0, R - 1e-4], (len(angles), 1))
    soft = kt.contact.soft_constraints(POINT, H, **SETTINGS[name])
    found = kt.contact_dynamics(POINT, q, 0.2 * along, np.zeros(3), contact=soft)
    normal = found.qdd[:, 2] + G
    across = np.stack([-np.sin(angles), np.cos(angles)], axis=-1)
    np.testing.assert_allclose((found.qdd * along).sum(-1), -MU * normal, rtol=1e-7)
    np.testing.assert_allclose((found.qdd[:, :2] * across).sum(-1), 0.0, atol=1e-6)
    np.testing.assert_allclose(normal, normal[0], rtol=1e-7)


@RIGID
@pytest.mark.filterwarnings("ignore:rollout. the contacts of 1 of:kinetree.errors.SimulationWarning")
@pytest.mark.parametrize("mu", [5.0, 100.0, 1e4, 1e5, 1e6])
def test_a_block_that_slides_stays_on_the_ground_with_any_friction(name: str, mu: float) -> None:
    # It stops within a step or some, and tips. In one round what slides may fall for one step until friction is known.
    surface = contact((mu, 0.005, 0.0001))
    robot = world(Thing("box", (0.2, 0.2, 0.1), surface, inertia=0.01), ground=surface)
    q, v = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    q_all, v_all = moved(robot, q, v, 300, name)
    assert q_all[:, 2].min() > 0.05 - (1e-8 if name == "accurate" else 1e-4)
    assert q_all[:, 2].max() < 0.06
    assert q_all[-1, 0] < 0.005 or mu < 10.0
    energy = kt.kinetic_energy(robot, q_all, v_all) + kt.potential_energy(robot, q_all)
    assert energy.max() <= 0.5 + G * 0.05 + 1e-9
    falls, soft = v.copy(), kt.contact.soft_constraints(robot, H, **SETTINGS[name])
    falls[2] = -0.01
    found = kt.contact_dynamics(robot, q, falls, np.zeros(6), contact=soft)
    sinks = -min(0.0, -0.01 + H * found.qdd[2])  # no less than that is reported
    assert found.error >= 0.5 * sinks


@pytest.mark.parametrize("zeta", [0.05, 0.2, 0.5])
def test_a_compliant_bounce_is_that_of_its_spring_and_damper(zeta: float) -> None:
    # To first order in the step, at whose end they act.
    robot = world(Thing("sphere", (R,), contact(condim=1), kt.Prismatic([0, 0, 1])), ground=contact(condim=1))
    own = {"stiffness": 1e4, "dissipation": 2.0 * zeta / 100.0}
    free = {"gravity": np.zeros(3)}
    _, v = moved(robot, [R + 0.01], [-1.0], 3000, "compliant", own, dt=2e-5, parameters=free)
    np.testing.assert_allclose(v[-1, 0], restitution(zeta), rtol=4e-3)


def test_a_compliant_ball_lies_as_deep_as_its_weight_over_its_stiffness() -> None:
    for k in (1e4, 1e5):
        q, v = moved(POINT, [0.0, 0.0, R], np.zeros(3), 800, "compliant", {"stiffness": k, "dissipation": 0.005})
        np.testing.assert_allclose(R - q[-1, 2], G / k, rtol=1e-6)
        assert np.abs(v[-1]).max() < 1e-8


def test_a_hard_compliant_contact_is_as_soft_as_a_step_can_resolve() -> None:
    # With the bound on R, v̂ - v' = R m g h gives the depth (h + τ) β² / 4π² · g h.
    q, _ = moved(POINT, [0.0, 0.0, R], np.zeros(3), 600, "compliant", {"stiffness": 1e12, "dissipation": 0.005})
    np.testing.assert_allclose(R - q[-1, 2], (H + 0.005) * G * H / (4.0 * np.pi**2), rtol=1e-5)
