"""Contacts in loops, compiled: against plain numbers, in batches, on threads, and their derivatives."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import slots
from kinetree.compiler.differentiation import specialized
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model import spec
from kinetree.functions import contact_tables
from kinetree.functions.above_ground import usual_start
from kinetree.functions.contact_dynamics import CONTACT_DYNAMICS

SPHERES, BOXES = 5, 3
OPTIONS = {"passive": (), "limits": False, "gradient_softness": 0.0}


@cache
def heap() -> kt.Model:
    """Spheres and boxes on the ground beside an arm, which can touch them: 51 degrees of freedom."""
    robot = kt.zoo.load("cart_pole")
    for k in range(SPHERES):
        robot = robot.with_free_body("sphere", 0.1, mass=1.0, name=f"sphere{k}")
    for k in range(BOXES):
        robot = robot.with_free_body("box", [0.2, 0.16, 0.12], mass=1.0, name=f"box{k}")
    return robot.on_ground()


def states(worlds: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """A stack of the boxes and the spheres in each world, a little inside each other and turned."""
    robot, rng = heap(), np.random.default_rng(seed)
    q = np.tile(robot.neutral(), (worlds, 1))
    first = robot.nq - 7 * (SPHERES + BOXES)
    for k in range(BOXES):
        q[:, first + 7 * (SPHERES + k) : first + 7 * (SPHERES + k) + 3] = [1.0, 0.0, 0.055 + 0.115 * k]
    for k in range(SPHERES):
        q[:, first + 7 * k : first + 7 * k + 3] = [1.0 + 0.15 * (k % 2), 0.19 * (k // 2) - 0.3, 0.095]
    v = 0.2 * rng.normal(size=(worlds, robot.nv))
    return kt.integrate(robot, q, 0.01 * rng.normal(size=v.shape)), v, np.zeros_like(v)


def test_the_heap_has_its_contacts_in_loops() -> None:
    from kinetree.algorithms.soft_rows import seen
    from kinetree.functions.contact_laws import timed_laws

    robot, constraints = heap(), kt.contact.soft_constraints(heap())
    (q,), (v,), _ = states(1)
    sight = seen(robot.tree, robot.tree.split(list(q), "nq"), robot.tree.split(list(v), "nv"))
    looped = contact_tables.looped_contacts(robot, constraints, sight, timed_laws(constraints.setting, 0.0))
    assert looped.table is not None
    assert sorted(looped.order) == [*range(len(constraints.touches))]


def test_compiled_contacts_are_those_written_out_on_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, state = heap(), states(2)
    found = kt.contact_dynamics(robot, *state)
    forces = kt.contact.contact_forces(robot, state[0], state[1], found.qdd)
    assert (found.iterations > 0).all()
    monkeypatch.setattr(spec, "MANY_POINTS", 10**9)
    for k in range(2):
        numbers = [list(map(float, x[k])) for x in state]
        written = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=True))
        scale = np.abs(written[: 2 * robot.nv]).max()
        np.testing.assert_allclose(found.qdd[k], written[: robot.nv], rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(found.forces[k], written[robot.nv : 2 * robot.nv], rtol=0, atol=1e-9 * scale)
    total = forces.forces[..., 2].sum(axis=-1)
    assert (total > 0.0).all()


def limb() -> kt.Model:
    """A chain of three capsules, whose last one can touch the first."""
    builder = kt.ModelBuilder("limb")
    builder.add_body("base")
    before = "base"
    for k in range(3):
        shape = kt.model.Geometry("collision", "capsule", (0.04, 0.2), kt.lie.placement((0.0, 0.0, 0.1)))
        builder.add_body(f"link{k}", kt.solids.cylinder(0.04, 0.2, density=500.0), geometry=[shape])
        axis, at = [1, 0, 0] if k else [0, 1, 0], kt.lie.placement((0.0, 0.0, 0.2))
        builder.add_joint(f"joint{k}", kt.Revolute(axis), before, before := f"link{k}", at)
    return builder.build()


def test_a_robot_of_one_limb_touches_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, rng = limb(), np.random.default_rng(2)
    monkeypatch.setattr(spec, "MANY_POINTS", 0)
    assert kt.contact.soft_constraints(robot).are_looped
    q = next(
        q
        for q in rng.uniform(-2.5, 2.5, size=(500, robot.nv))
        if kt.contact.contact_forces(robot, q, np.zeros(3), np.zeros(3)).forces.any()
    )
    found = kt.contact_dynamics(robot, q, np.ones(3), np.zeros(3))
    monkeypatch.setattr(spec, "MANY_POINTS", 10**9)
    numbers = [[*map(float, q)], [1.0] * 3, [0.0] * 3]
    written = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=True))
    np.testing.assert_allclose(found.qdd, written[:3], rtol=0, atol=1e-10 * np.abs(written).max())


@cache
def rubble() -> kt.Model:
    """Meshes of three shapes in a row, each inside the next one, on the ground."""
    meshes = (
        "0 0 0  .15 0 0  0 .15 0  0 0 .15  .1 .1 .1",
        "0 0 0  .2 0 0  .2 .1 0  0 .1 0  0 .05 .1  .2 .05 .1",
        "0 0 0  .1 0 0  0 .1 0  .1 .1 0  0 0 .1  .1 0 .1  0 .1 .1  .1 .1 .1",
    )
    assets = "".join(f'<mesh name="mesh{k}" vertex="{corners}"/>' for k, corners in enumerate(meshes))
    bodies = "".join(
        f'<body pos="{0.11 * k} {0.02 * (k % 2)} 0.05"><freejoint/><geom type="mesh" mesh="mesh{k % 3}"/></body>'
        for k in range(7)
    )
    text = f'<mujoco><asset>{assets}</asset><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>'
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, "rubble.xml")).write_text(text)
        return kt.load(path)


def test_hulls_with_different_corners_are_in_one_loop_per_kind_of_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, rng = rubble(), np.random.default_rng(0)
    sizes = []
    for touches in (soft := kt.contact.soft_constraints(robot)).touches, soft.touches[: len(soft.touches) // 2]:
        some = replace(soft, touches=tuple(touches))
        sizes.append(specialized(CONTACT_DYNAMICS, robot, {**OPTIONS, "contact": some}, (), (), None).program().size())
    assert sizes[0] < 1.05 * sizes[1]
    q = kt.integrate(robot, usual_start(robot, touches=False), 0.01 * rng.normal(size=(3, robot.nv)))
    v = 0.2 * rng.normal(size=(3, robot.nv))
    found = kt.contact_dynamics(robot, q, v, np.zeros_like(v))
    assert (found.iterations > 1).all()
    np.testing.assert_array_equal(kt.contact_dynamics(robot, q[1], v[1], np.zeros(robot.nv)).qdd, found.qdd[1])
    monkeypatch.setattr(spec, "MANY_POINTS", 10**9)
    numbers = [list(map(float, x)) for x in (q[1], v[1], np.zeros(robot.nv))]
    written = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=True))
    np.testing.assert_allclose(found.qdd[1], written[: robot.nv], rtol=0, atol=1e-8 * np.abs(written).max())


@cache
def toys(count: int = 10) -> kt.Model:
    """Round shapes and boxes in a row on the ground, each inside the next one, whose contacts have 1, 3 or 6 rows."""
    round_ones = {"ellipsoid": ".06 .05 .05", "cylinder": ".05 .05", "capsule": ".05 .02"}
    sizes = {**round_ones, "box": ".05 .05 .05", "sphere": ".05"}
    bodies = "".join(
        f'<body pos="{0.085 * k} {0.01 * (k % 2)} 0.049" euler="{10 * k} {7 * k} 0">'
        '<joint type="free" damping="0.3"/>'
        f'<geom type="{kind}" size="{size}" condim="{(1, 3, 6)[k % 3]}" mass="1"/></body>'
        for k, (kind, size) in enumerate(([*sizes.items()] * 2)[:count])
    )
    ground = '<geom type="plane" size="1 1 1" condim="1"/>'
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, "toys.xml")).write_text(f"<mujoco><worldbody>{ground}{bodies}</worldbody></mujoco>")
        return kt.load(path)


def test_pairs_of_several_kinds_are_searched_in_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, rng = toys(), np.random.default_rng(0)
    soft = kt.contact.soft_constraints(robot)
    sums = next(x for x in contact_tables._sorted(soft.touches).pairs if x.are_sums)
    assert {*sums.kinds} == {("sum", "sum"), ("capsule", "cylinder"), ("cylinder", "box"), ("cylinder", "cylinder")}
    q = kt.integrate(robot, usual_start(robot, touches=False), 0.002 * rng.normal(size=(5, robot.nv)))
    v = 0.2 * rng.normal(size=(5, robot.nv))
    found = kt.contact_dynamics(robot, q, v, np.zeros_like(v))
    forces = kt.contact.contact_forces(robot, q, v, found.qdd)
    rows = [
        touch.dimension for touch in soft.touches for _ in range(slots(touch.first.shape.kind, touch.second.shape.kind))
    ]
    assert {size for size, f in zip(rows, forces.forces[0], strict=True) if f.any()} == {1, 3, 6}
    for k in range(5):
        alone = kt.contact_dynamics(robot, q[k], v[k], np.zeros(robot.nv))
        np.testing.assert_array_equal(alone.qdd, found.qdd[k])
    monkeypatch.setattr(spec, "MANY_POINTS", 10**9)
    numbers = [list(map(float, x[0])) for x in (q, v, np.zeros_like(v))]
    written = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=True))
    np.testing.assert_allclose(found.qdd[0], written[: robot.nv], rtol=0, atol=1e-8 * np.abs(written).max())


@pytest.mark.deep
def test_pairs_of_several_kinds_have_derivatives() -> None:
    robot, rng, h = toys(), np.random.default_rng(0), 1e-7
    q = kt.integrate(robot, usual_start(robot, touches=False), 0.002 * rng.normal(size=robot.nv))
    v, tau, direction = 0.2 * rng.normal(size=robot.nv), np.zeros(robot.nv), rng.normal(size=robot.nv)
    ends = (kt.integrate(robot, q, step * direction) for step in (h, -h))
    high, low = (kt.contact_dynamics(robot, end, v, tau).qdd for end in ends)
    _, slope = kt.jvp(robot, kt.contact_dynamics, (q, v, tau), {"q": direction})
    np.testing.assert_allclose(slope[: robot.nv], (high - low) / (2 * h), rtol=0, atol=1e-4 * np.abs(slope).max())


def test_a_world_has_the_same_bits_in_any_batch_and_on_threads() -> None:
    robot, (q, v, tau) = heap(), states(64)
    whole = kt.contact_dynamics(robot, q, v, tau, threads=1)
    for count in (1, 7):
        part = kt.contact_dynamics(robot, q[:count], v[:count], tau[:count])
        for one, all_of_it in zip(part, whole, strict=True):
            np.testing.assert_array_equal(one, all_of_it[:count])
    for one, all_of_it in zip(kt.contact_dynamics(robot, q, v, tau, threads=2), whole, strict=True):
        np.testing.assert_array_equal(one, all_of_it)
    for k in range(8):
        np.testing.assert_array_equal(kt.contact_dynamics(robot, q[k], v[k], tau[k]).qdd, whole.qdd[k])


@pytest.mark.filterwarnings("ignore:.*inside each other")
def test_what_does_not_fit_is_reported_world_by_world() -> None:
    robot, (q, v, tau) = heap(), states(8)
    for k in range(BOXES + SPHERES):
        q[::2, robot.nq - 7 * (k + 1) + 2] += 2.0 + k  # in the air, but for one
    q[::2, -7:] = q[1, -7:]
    usual = kt.contact_dynamics(robot, q, v, tau)
    assert not np.isinf(usual.error).any()
    some = kt.contact.soft_constraints(robot, capacity=3)
    assert (some.room, kt.contact.soft_constraints(robot).room) == (3, len(some.touches))
    assert "room for 3 pairs that touch" in str(some)
    found = kt.contact_dynamics(robot, q, v, tau, contact=some)
    np.testing.assert_array_equal(np.isinf(found.error), np.arange(8) % 2 == 1)
    for one, other in zip(found, usual, strict=True):
        np.testing.assert_array_equal(one[::2], other[::2])
    for order in ([0], [*range(7)], [5, 1, 3, 7]):  # the last would act in each other's pairs that are left out
        for one, whole in zip(
            kt.contact_dynamics(robot, q[order], v[order], tau[order], contact=some), found, strict=True
        ):
            np.testing.assert_array_equal(one, whole[order])
    for k in range(2):
        alone = kt.contact_dynamics(robot, q[k], v[k], tau[k], contact=some)
        for one, whole in zip(alone, found, strict=True):
            np.testing.assert_array_equal(one, whole[k])
        numbers = [list(map(float, x[k])) for x in (q, v, tau)]
        plain = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=some))
        np.testing.assert_allclose(plain[: robot.nv], found.qdd[k], rtol=0, atol=1e-8 * np.abs(plain[: robot.nv]).max())
        assert np.isinf(plain[2 * robot.nv]) == bool(k)
    assert np.abs(found.qdd[1::2] - usual.qdd[1::2]).max() > 1.0  # some of them do not push
    rows = np.zeros((8, 3, robot.nv))
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"there is room for, in 12 of 24 steps, from step 0 of sample"
    ):
        motion = kt.rollout(robot, q, v, rows, 0.002, contact=some, report=True)
    np.testing.assert_array_equal(motion.flagged.all(axis=1), np.arange(8) % 2 == 1)
    with pytest.warns(kt.errors.SimulationWarning, match=r"room for, in \d of \d rows, from t = 0 s on.* capacity="):
        kt.simulate(robot, duration=0.004, dt=0.002, q=q[1], v=v[1], contact=some)


def test_the_capacity_is_a_number_of_pairs() -> None:
    for wrong in (0, -1, True, 2.5, "all"):
        with pytest.raises(kt.errors.OptionError, match="it must be a positive number of pairs of shapes"):
            kt.contact.soft_constraints(heap(), capacity=wrong)  # type: ignore[arg-type]


def test_there_is_room_for_a_heap_of_many_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    constraints = kt.contact.soft_constraints(heap())
    shapes = SPHERES + BOXES + 4  # the arm and the ground
    monkeypatch.setattr(spec, "_ALL_TOUCH", 5)
    monkeypatch.setattr(spec, "_NEIGHBOURS", 2)
    assert len(constraints.touches) > constraints.room >= 2 * (SPHERES + BOXES)
    assert constraints.room <= 2 * shapes


def test_forces_of_a_world_whose_shapes_are_far_apart_have_the_same_bits_among_others() -> None:
    robot, (q, v, _) = heap(), states(8)
    for k in range(BOXES):
        q[::2, robot.nq - 7 * (k + 1)] += 5.0 * k
    whole = kt.contact.contact_forces(robot, q, v, v)
    for k in range(8):
        for one, all_of_it in zip(kt.contact.contact_forces(robot, q[k], v[k], v[k]), whole, strict=True):
            np.testing.assert_array_equal(one, all_of_it[k])


@pytest.mark.filterwarnings("ignore:invalid value")
def test_numbers_that_are_not_finite_stay_in_their_world() -> None:
    robot, (q, v, tau) = heap(), states(8)
    whole = kt.contact_dynamics(robot, q, v, tau)
    v[3] = np.nan
    found = kt.contact_dynamics(robot, q, v, tau)
    others = [k for k in range(8) if k != 3]
    np.testing.assert_array_equal(found.qdd[others], whole.qdd[others])
    assert not np.isfinite(found.qdd[3]).any()


def test_derivatives_are_those_of_differences() -> None:
    robot, (q, v, tau) = heap(), states(1, seed=3)
    rng, h, nv = np.random.default_rng(1), 1e-6, heap().nv
    name, direction = "v", rng.normal(size=nv)

    def at(step: float) -> Any:
        found = kt.contact_dynamics(robot, q[0], v[0] + step * direction, tau[0])
        return np.concatenate([found.qdd, found.forces])

    difference = (at(h) - at(-h)) / (2 * h)
    _, slope = kt.jvp(robot, kt.contact_dynamics, (q[0], v[0], tau[0]), {name: direction})
    scale = np.abs(difference).max()
    np.testing.assert_allclose(slope[: 2 * nv], difference, rtol=0, atol=1e-5 * scale)
    weights = rng.normal(size=2 * nv + 2)
    weights[2 * nv :] = 0.0
    _, gradient = kt.vjp(robot, kt.contact_dynamics, (q[0], v[0], tau[0]), weights, wrt=name)
    assert float(gradient[name] @ direction) == pytest.approx(float(weights @ slope), rel=1e-8, abs=1e-8 * scale)


@pytest.mark.parametrize("count", [6, pytest.param(10, marks=pytest.mark.deep)])
def test_damping_acts_at_the_end_of_a_step(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix of the contacts is solved again, written out or in blocks; without contacts there is none."""
    robot, rng = toys(count), np.random.default_rng(0)
    monkeypatch.setattr(spec, "MANY_POINTS", 10)
    q = kt.integrate(robot, usual_start(robot, touches=False), 0.002 * rng.normal(size=robot.nv))
    v, tau, direction = rng.normal(size=robot.nv), np.zeros((1, robot.nv)), rng.normal(size=robot.nv)
    options: dict[str, Any] = {"integrator": "semi_implicit_euler", "passive": True}

    def after(q: Any, v: Any, dt: float, contact: bool = True) -> Any:
        return kt.rollout(robot, q, v, tau, dt, contact=contact, **options)[0, robot.nq :]

    above = q.copy()
    above[2::7] += 5.0 * np.arange(1, count + 1)
    np.testing.assert_allclose(after(above, v, 0.1), after(above, v, 0.1, contact=False), rtol=0, atol=1e-12)
    assert np.abs(after(above, v, 0.1) - after(above, v, 1e-9)).max() > 0.01
    qdd = kt.contact_dynamics(robot, q, v, tau[0], passive=True).qdd
    np.testing.assert_allclose((after(q, v, 1e-8) - v) / 1e-8, qdd, rtol=0, atol=1e-4 * np.abs(qdd).max())
    if count < 10:
        return
    slope = (after(q, v + 1e-6 * direction, 0.01) - after(q, v - 1e-6 * direction, 0.01)) / 2e-6
    _, found = kt.jvp(robot, kt.rollout, (q, v, tau, 0.01), {"v": direction}, contact=True, **options)
    np.testing.assert_allclose(found[0, robot.nq :], slope, rtol=0, atol=1e-6 * np.abs(slope).max())
    weights = rng.normal(size=found.shape)
    _, gradient = kt.vjp(robot, kt.rollout, (q, v, tau, 0.01), weights, wrt="v", contact=True, **options)
    assert float(gradient["v"] @ direction) == pytest.approx(float((weights * found).sum()), rel=1e-8)


def test_numbers_of_shapes_may_change_in_each_step() -> None:
    robot, name = heap(), "shape.ground.friction"
    (q,), (v,), _ = states(1)
    rows = np.zeros((3, robot.nv))
    friction = np.outer([0.2, 1.0, 0.4], [1.0, 0.01, 0.001])
    whole = kt.rollout(robot, q, v, rows, 0.002, contact=True, parameters={f"{name}[:]": friction})
    for k in range(3):
        step = kt.rollout(robot, q, v, rows[:1], 0.002, contact=True, parameters={name: friction[k]})
        np.testing.assert_array_equal(step[0], whole[k])
        q, v = np.split(whole[k], [robot.nq])
