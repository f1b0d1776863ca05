"""Several bodies, or several contacts, in compliant and rigid contact: closed forms, and what is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kinetree as kt
from kinetree.contact import TouchSpec
from kinetree.model import Geometry
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.scenes import Array, G, H, Thing, contact, floor, world
from tests.closed_form.settings import ALL, MU, RIGID, SETTINGS, R, moved

BOX = world(Thing("box", (0.2, 0.2, 0.1), contact(), inertia=0.01), ground=contact())


def wheel(spokes: int, length: float, inertia: float) -> kt.Model:
    """A wheel without a rim, in the plane of x and -z: small balls at the ends of its spokes touch the ground."""
    builder = kt.ModelBuilder("wheel")
    builder.add_body("world", geometry=[floor(contact((10.0, 0.0, 0.0)))])
    angles = 2.0 * np.pi * np.arange(spokes) / spokes
    tips = [
        Geometry("collision", "sphere", (1e-4,), kt.placement((length * np.sin(a), 0.0, -length * np.cos(a))))
        for a in angles
    ]
    builder.add_body("hub", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(inertia)), geometry=tips)
    builder.add_joint("rolls", kt.Planar([0, 1, 0], [1, 0, 0]), "world", "hub")
    return builder.build().with_gravity((0, 0, 0))


@RIGID
def test_each_step_of_a_rimless_wheel_leaves_the_cosine_of_its_angle_of_the_speed(name: str) -> None:
    # The angular momentum about the spoke that lands is kept: ω⁺ = ω⁻ (m l² cos 2α + I) / (m l² + I).
    spokes, length, inertia, omega = 6, 0.3, 1e-3, 2.0
    robot, half = wheel(spokes, length, inertia), np.pi / spokes
    # It turns about the spoke behind, at half of the angle between spokes, where the one ahead touches the ground.
    q = np.array([0.0, -(length * np.cos(half) + 1e-4), half])
    v = np.array([omega * length * np.cos(half), omega * length * np.sin(half), omega])
    found = kt.contact_dynamics(robot, q, v, np.zeros(3), contact=kt.soft_constraints(robot, H, **SETTINGS[name]))
    after = v[2] + H * found.qdd[2]
    wanted = omega * (length**2 * np.cos(2.0 * half) + inertia) / (length**2 + inertia)
    # The tips have a radius of 1e-4.
    np.testing.assert_allclose(after, wanted, rtol=2e-5 if name == "accurate" else 5e-3)


FOUR = np.array([[0.3, -0.2, 0.4, 0.1, 0.5, -0.3], [0.0, 0.0, -1.0, 0.0, 0.0, 0.0], [1.0, 0.5, -0.5, 0.0, 0.0, 2.0]])


def test_a_table_with_four_legs_is_solved_although_its_forces_are_not_unique() -> None:
    q = BOX.neutral()
    q[2] = 0.05
    soft = kt.soft_constraints(BOX, H, **SETTINGS["accurate"])
    found = kt.contact_dynamics(BOX, q, FOUR, np.zeros(6), contact=soft)
    assert (found.error < 1e-8).all()
    rest = kt.contact_dynamics(BOX, q, np.zeros(6), [0.1 * G, 0.0, 0.0, 0.0, 0.0, 0.0], contact=soft)
    assert np.abs(rest.qdd).max() < 1e-4  # the residual, 1e-8 m/s, in a step of 1 ms
    np.testing.assert_allclose(rest.forces[[0, 2]], [-0.1 * G, G], atol=1e-4)


@ALL
def test_a_stack_of_balls_comes_to_rest(name: str) -> None:
    up = kt.Prismatic([0, 0, 1])
    robot = world(*(Thing("sphere", (R,), contact(), up, mass=m) for m in (1.0, 10.0)), ground=contact())
    q, v = moved(robot, [R + 0.02, 3.0 * R + 0.05], np.zeros(2), 1500, name, passive=False)
    depth = np.array([R - q[-1, 0], 2.0 * R - (q[-1, 1] - q[-1, 0])])
    wanted = G * np.array([11.0, 10.0]) / 1e5 if name == "compliant" else np.zeros(2)
    np.testing.assert_allclose(depth, wanted, rtol=1e-5, atol=1e-4 * (name != "compliant"))
    assert np.abs(v[-1]).max() < 1e-6


@ALL
def test_a_box_on_a_belt_reaches_its_speed(name: str) -> None:
    speed = 0.4
    belt = contact(surface_velocity=(speed, 0.0, 0.0))
    robot = world(Thing("sphere", (R,), contact(), kt.Translation()), ground=belt)
    _, v = moved(robot, [0.0, 0.0, R], np.zeros(3), 200, name)
    until = speed / (MU * G)
    time = H * np.arange(1, 201)
    early, late = time < 0.9 * until, time > 1.2 * until
    np.testing.assert_allclose((v[:, 0] - MU * v[:, 2])[early], MU * G * time[early], rtol=1e-5)
    np.testing.assert_allclose(v[late, 0], speed, atol=2e-4)


def cradle(gap: float) -> tuple[kt.Model, Array]:
    """Three balls in a row, and where they are."""
    along = kt.Prismatic([1, 0, 0])
    robot = world(*(Thing("sphere", (R,), contact(condim=1), along) for _ in range(3))).with_gravity((0, 0, 0))
    return robot, np.array([-2.0 * R - gap, 0.0, 2.0 * R + gap])


def test_balls_of_a_cradle_that_touch_all_part_from_each_other() -> None:
    # Newton's law for all contacts at once, with the pair at rest held together: v₂ - v₁ = v, v₃ = v₂, and momentum. It
    # is not what a cradle of steel does, where waves pass from ball to ball; energy and momentum are kept all the same.
    robot, q = cradle(0.0)
    _, v = moved(robot, q, [1.0, 0.0, 0.0], 1, "accurate", {"restitution": 1.0})
    np.testing.assert_allclose(v[-1], [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], atol=1e-6)


def test_balls_of_a_cradle_with_gaps_hand_on_their_speed() -> None:
    robot, q = cradle(0.005)
    _, v = moved(robot, q, [1.0, 0.0, 0.0], 60, "accurate", {"restitution": 1.0})
    np.testing.assert_allclose(v[-1], [0.0, 0.0, 1.0], atol=1e-6)


@RIGID
def test_painleves_rod_stops_where_no_acceleration_would_do(name: str) -> None:
    # At an angle θ where 1 + l²/4ρ² cos θ (cos θ - μ sin θ) < 0 a push from the ground turns the rod into it: bounded
    # forces have no solution. A step has one: an impact without a fall, which stops the tip.
    length, mu = 1.0, 2.5
    inertia = length**2 / 12.0
    builder = kt.ModelBuilder("rod")
    builder.add_body("world", geometry=[floor(contact((mu, 0.0, 0.0)))])
    tip = Geometry("collision", "sphere", (1e-4,), kt.placement((-length / 2.0, 0.0, 0.0)))
    builder.add_body("rod", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(inertia)), geometry=[tip])
    builder.add_joint("moves", kt.Planar([0, 1, 0], [1, 0, 0]), "world", "rod")
    robot = builder.build()
    angle = -1.0  # the tip is below and behind the centre, and slides backwards
    height = length / 2.0 * np.sin(-angle) + 1e-4
    soft = kt.soft_constraints(robot, H, **SETTINGS[name])
    lever = length / 2.0 * np.cos(angle), length / 2.0 * np.sin(-angle)
    push = [1.0 + lever[0] ** 2 / inertia - sign * mu * lever[0] * lever[1] / inertia for sign in (1.0, -1.0)]
    assert min(push) < 0.0 < max(push)
    for speed in (-1.0, 1.0):
        v = np.array([speed, 0.0, 0.0])
        found = kt.contact_dynamics(robot, [0.0, -height, angle], v, np.zeros(3), contact=soft)
        after = v + H * found.qdd
        tip_rate = np.array([after[0] + after[2] * lever[1], -after[1] + after[2] * lever[0]])
        assert np.isfinite(after).all()
        assert 0.5 * (after[:2] @ after[:2] + inertia * after[2] ** 2) <= 0.5 + G * H
        if name == "accurate":
            assert found.error < 1e-8
            assert tip_rate[1] > -1e-6


PAIR = world(
    Thing("sphere", (R,), contact(), mass=1.0), Thing("sphere", (R,), contact(), mass=3.0, inertia=0.02)
).with_gravity((0, 0, 0))  # fmt: skip


@ALL
def test_balls_that_meet_keep_their_momentum_and_gain_no_energy(name: str) -> None:
    q, v = np.tile(PAIR.neutral(), (2, 1)), np.zeros((2, 12))
    q[:, [0, 7]] = -0.2, 0.2
    q[:, 1] = 0.0, 0.1
    v[:, 0], v[:, 6], v[:, 3:6] = 1.0, -0.5, (3.0, -2.0, 5.0)
    q_all, v_all = moved(PAIR, q, v, 300, name)
    for before, after in zip(kt.momentum(PAIR, q, v), kt.momentum(PAIR, q_all[:, -1], v_all[:, -1]), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-11)
    energy = kt.kinetic_energy(PAIR, q_all, v_all)
    assert (np.abs(v_all[:, -1, 0] - v[:, 0]) > 0.1).all()  # they did meet
    assert (np.diff(energy, axis=1) < 1e-9 if name == "accurate" else energy <= energy[:, :1] + 1e-9).all()


@ALL
def test_a_box_that_tumbles_never_has_more_energy_than_it_began_with(name: str) -> None:
    rng = np.random.default_rng(3)
    q = np.tile(BOX.neutral(), (8, 1))
    q[:, 2] = rng.uniform(0.2, 0.5, 8)
    q[:, 3:] = rng.normal(size=(8, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    v = rng.normal(size=(8, 6)) * [1, 1, 1, 6, 6, 6]
    start = kt.kinetic_energy(BOX, q, v) + kt.potential_energy(BOX, q)
    q_all, v_all = moved(BOX, q, v, 2500, name)
    energy = kt.kinetic_energy(BOX, q_all, v_all) + kt.potential_energy(BOX, q_all)
    assert (energy <= start[:, None] + 1e-9).all()
    assert np.abs(v_all[:, -1]).max() < 1e-2
    assert (q_all[..., 2] > 0.05 - 0.01).all()


def test_eight_balls_in_a_cube_come_down_without_going_into_each_other() -> None:
    # The test of 6³ spheres, with 2³ of them, on a lattice with small gaps.
    spots = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    things = [Thing("sphere", (R,), contact(), kt.Translation()) for _ in spots]
    robot = world(*things, ground=contact())
    soft = kt.soft_constraints(robot, **SETTINGS["rigid"])
    place = np.array(spots) * (2.0 * R + 1e-3) + [0.0, 0.0, R + 1e-3]
    near = [touch for touch in soft.touches if _is_near(touch, place)]
    states = kt.rollout(
        robot, place.ravel(), np.zeros(24), np.zeros((300, 24)), H, contact=replace(soft, touches=tuple(near))
    )
    q = states[:, :24].reshape(-1, 8, 3)
    apart = np.linalg.norm(q[:, :, None] - q[:, None], axis=-1)[:, *np.triu_indices(8, 1)]
    assert min(apart.min() - 2.0 * R, q[..., 2].min() - R) > -1e-4
    assert np.abs(states[-1, 24:]).max() < 1e-3
    np.testing.assert_allclose(np.sort(q[-1, :, 2]), [R] * 4 + [3.0 * R] * 4, atol=1e-4)


def _is_near(touch: TouchSpec, place: Array) -> bool:
    """Whether two balls are neighbours in the lattice, or one is above the ground."""
    balls = [int(side.body[5:]) for side in (touch.first, touch.second) if side.body and side.body != "world"]
    if len(balls) == 1:
        return place[balls[0], 2] < 2.0 * R
    return float(np.linalg.norm(place[balls[0]] - place[balls[1]])) < 2.5 * R
