"""A thousand steps of a heap: bodies of all shapes fall into a bowl of three planes, or meet in free space.

Depths are found by MuJoCo's colliders, so that what a heap does not see of itself is seen.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.model.reference import reference_configuration
from tests.closed_form.scenes import Array
from tests.closed_form.settings import SETTINGS

STEPS, DT = 1000, 0.002
THIN = 0.05
"""Half of the thinnest body, m: a body that is deeper than this in another one may leave it on the other side."""
SHAPES = {
    "box": "0.1 0.08 0.05", "sphere": "0.08", "capsule": "0.05 0.06", "cylinder": "0.07 0.06",
    "ellipsoid": "0.1 0.07 0.05",
}  # fmt: skip
BOWL = "".join(
    f'<geom type="plane" size="5 5 1" zaxis="{math.cos(2 * math.pi * k / 3)} {math.sin(2 * math.pi * k / 3)} 1.7"/>'
    for k in range(3)
)
COUNTS = {"mujoco": 10, "rigid": 6, "accurate": 3}
"""As many bodies as are compiled in some seconds: rigid contacts are written out, MuJoCo's are in loops."""
TAU = 0.02
"""Time constant of MuJoCo's contacts, and the time in which rigid ones remove overlaps, s."""
HEAPS = pytest.mark.parametrize("name", COUNTS)
pytestmark = pytest.mark.filterwarnings("ignore:the contacts of . of 1,001 rows are not solved to 1e-06")
"""These are accurate contacts; `test_contacts_of_a_heap_are_solved` bounds how many rows they are."""


def mass(k: int) -> float:
    return 1.0 + 0.5 * (k % 3)


def heap(count: int, shapes: tuple[str, ...] = (*SHAPES,), *, bowl: bool = True, round_inertia: bool = False) -> str:
    """Bodies, each turned another way, above a bowl or in free space: two per layer, or twelve of many."""
    rng = np.random.default_rng(1)
    bodies = ""
    for k in range(count):
        x, y, z = (0.13 * (2 * (k % 2) - 1), 0.05 * (k % 3 - 1), 0.35 + 0.25 * (k // 2))
        if count > 20:
            x, y = 0.28 * (k % 4) - 0.42, 0.28 * (k // 4 % 3) - 0.28
            z = 0.35 + 0.28 * (k // 12) + 0.6 * math.hypot(x, y)  # as the bowl rises
        a, b, c = rng.uniform(-90.0, 90.0, 3)
        shape = shapes[k % len(shapes)]
        moment = 0.004 * mass(k)
        inertial = f'<inertial pos="0 0 0" mass="{mass(k)}" diaginertia="{moment} {moment} {moment}"/>'
        bodies += (
            f'<body name="b{k}" pos="{x} {y} {z}" euler="{a} {b} {c}"><freejoint/>{inertial * round_inertia}'
            f'<geom type="{shape}" size="{SHAPES[shape]}" mass="{mass(k)}"/></body>'
        )
    option = f'<option timestep="{DT}" gravity="0 0 {-9.81 * bowl}"/>'
    return f"<mujoco>{option}<worldbody>{BOWL * bowl}{bodies}</worldbody></mujoco>"


@pytest.fixture(scope="module", name="place")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heaps")


def loaded(place: Path, text: str) -> kt.Model:
    path = place / "heap.xml"
    path.write_text(text)
    return kt.load(path)


def settled(robot: kt.Model, name: str) -> Any:
    return kt.contact.soft_constraints(robot, **SETTINGS[name])


@cache
def fallen(place: Path, name: str, shapes: tuple[str, ...] = (*SHAPES,), count: int = 0) -> kt.Trajectory:
    robot = loaded(place, heap(count or COUNTS[name], shapes))
    return kt.simulate(robot, duration=STEPS * DT, dt=DT, contact=settled(robot, name), integrator="discrete")


def deepest(robot: kt.Model, text: str, q: Array) -> Array:
    """How deep any two shapes are in each other at each configuration, m."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    layout = kt.interop.Layout(robot, "mujoco")
    found = np.zeros(len(q))
    for k, row in enumerate(q):
        data.qpos[:] = layout.q_to(row)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        found[k] = max((-each.dist for each in data.contact), default=0.0)
    return found


def spins(motion: kt.Trajectory) -> Array:
    """The angular speed of the body that turns fastest, in each row."""
    turning = motion.v.reshape(len(motion.q), -1, 6)[..., 3:]
    return np.asarray(np.linalg.norm(turning, axis=-1).max(axis=-1))


def hardest(motion: kt.Trajectory) -> float:
    """The largest kinetic energy that a body has on its way, J."""
    speeds = np.linalg.norm(motion.v.reshape(len(motion.q), -1, 6)[..., :3], axis=-1)
    return float((0.5 * np.array([mass(k) for k in range(speeds.shape[1])]) * speeds**2).max())


def deepest_allowed(motion: kt.Trajectory, name: str) -> float:
    """How deep bodies may get, m.

    MuJoCo's contacts are critically damped springs, in which a body of the speed v comes to v T / e; others press on
    it while it is there, which is given 30 %. Rigid contacts remove overlaps in the time τ, while each step adds what
    it is not solved to, in m/s, and what a surface of the curvature 1/ρ turns by across the plane that it is taken for,
    ½ (ω r h)² / ρ.
    """
    if name == "mujoco":
        fastest = np.linalg.norm(motion.v.reshape(len(motion.q), -1, 6)[..., :3], axis=-1).max()
        return float(1.3 * fastest * TAU / math.e)
    largest, sharpest = 0.14, 0.05
    added = DT * motion.recorded["contact.error"] + (spins(motion) * largest * DT) ** 2 / (2.0 * sharpest)
    depth = most = 0.0
    for each in added:
        depth = depth * (1.0 - DT / TAU) + each
        most = max(most, depth)
    return most


@HEAPS
def test_no_body_of_a_heap_passes_through_another_or_the_bowl(place: Path, name: str) -> None:
    motion = fallen(place, name)
    assert motion.model is not None
    depths = deepest(motion.model, heap(COUNTS[name]), motion.q)
    assert depths.max() < deepest_allowed(motion, name) < THIN
    at_rest = {"mujoco": 2e-3, "rigid": 2e-5, "accurate": 1e-9}
    assert depths[-50:].max() < at_rest[name]


@HEAPS
def test_a_heap_has_no_energy_that_it_did_not_have(place: Path, name: str) -> None:
    """Springs give back e⁻⁴ of the impact of a body, as a spring of damping ratio one does that does not pull. Rigid
    contacts lift what is on an overlap, and leave it the speed of that."""
    motion = fallen(place, name)
    assert motion.model is not None
    energy, masses = motion.kinetic + motion.potential, sum(map(mass, range(COUNTS[name])))
    gained = (energy - np.minimum.accumulate(energy)).max()
    if name == "mujoco":
        allowed = math.exp(-4.0) * hardest(motion)
    else:
        depth = deepest(motion.model, heap(COUNTS[name]), motion.q).max()
        allowed = masses * (9.81 * depth + 0.5 * (depth / TAU) ** 2)
    assert gained < allowed < 0.02 * motion.kinetic.max()
    assert motion.kinetic[-1] < 1e-3 * motion.kinetic.max()


@HEAPS
def test_contacts_of_a_heap_are_solved(place: Path, name: str) -> None:
    error = fallen(place, name).recorded["contact.error"]
    if name == "accurate":
        assert error.max() < 1e-5
        assert (error > 1e-6).mean() < 0.01
    else:
        assert error.max() < {"mujoco": 1e-10, "rigid": 1.0}[name]


def test_each_step_of_a_heap_is_that_of_mujoco(place: Path) -> None:
    """From one in four of the thousand states, so that the motions need not stay near each other.

    Of shapes whose points are closed forms: those of others are found by iterations (docs/collision_pairs.md).
    """
    shapes = ("box", "sphere", "capsule")
    motion, text = fallen(place, "mujoco", shapes), heap(COUNTS["mujoco"], shapes)
    robot, q, v = motion.model, motion.q[::4], motion.v[::4]
    assert robot is not None
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.tolerance, model.opt.ls_tolerance = 0.0, 1e-6
    data, layout = mujoco.MjData(model), kt.interop.Layout(robot, "mujoco")
    tau = np.zeros((len(q), 1, robot.nv))
    after = kt.rollout(robot, q, v, tau, DT, contact=True, integrator="semi_implicit_euler")[:, 0]
    for k in range(len(q)):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = layout.q_to(q[k]), layout.v_to(q[k], v[k])
        mujoco.mj_step(model, data)
        ours, theirs = after[k, robot.nq :], layout.v_from(data.qpos, data.qvel)
        scale = max(1.0, np.abs(ours - v[k]).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * scale, err_msg=f"step {4 * k}")


@HEAPS
@pytest.mark.parametrize("integrator", ["discrete", pytest.param("semi_implicit_euler", marks=pytest.mark.deep)])
def test_bodies_that_meet_in_free_space_keep_their_momentum(place: Path, name: str, integrator: Any) -> None:
    """Inertias are round: steps of others have an error in the angular momentum, also where nothing touches."""
    count = 3
    robot = loaded(place, heap(count, bowl=False, round_inertia=True))
    q, v = reference_configuration(robot), np.random.default_rng(0).normal(size=robot.nv)
    placed = np.array([kt.frame_placement(robot, q, f"b{k}") for k in range(count)])
    inward = placed[:, :3, 3].mean(axis=0) - placed[:, :3, 3]
    v.reshape(-1, 6)[:, :3] = np.einsum("kji,kj->ki", placed[:, :3, :3], 3.0 * inward)
    contact = settled(robot, name)
    motion = kt.simulate(robot, q=q, v=v, duration=STEPS * DT, dt=DT, contact=contact, integrator=integrator)
    assert motion.kinetic[-1] < 0.7 * motion.kinetic[0]  # they have met
    momentum = kt.dynamics.centroidal_momentum(robot, motion.q, motion.v)
    linear = momentum[:, :3]
    angular = momentum[:, 3:] + np.cross(kt.center_of_mass(robot, motion.q), linear)
    scale = sum(mass(k) * np.linalg.norm(v[6 * k : 6 * k + 3]) for k in range(count))
    assert np.abs(linear - linear[0]).max() < 1e-12 * scale
    assert np.abs(angular - angular[0]).max() < 1e-12 * scale
    gained = (motion.kinetic - np.minimum.accumulate(motion.kinetic)).max()
    assert gained < {"mujoco": 0.02, "rigid": 1e-4, "accurate": 1e-12}[name] * motion.kinetic[0]  # overlaps are removed


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("mujoco", 100),
        ("accurate", 100),
        pytest.param("mujoco", 400, marks=pytest.mark.deep),
        pytest.param("rigid", 400, marks=pytest.mark.deep),
        pytest.param("accurate", 250, marks=pytest.mark.deep),
    ],
)
@pytest.mark.filterwarnings("ignore:.*inside each other")  # the short ones begin among impacts
@pytest.mark.filterwarnings("ignore:.*rows are not solved")
def test_a_heap_has_the_same_bits_in_batches_on_threads_and_after_a_pause(
    place: Path, name: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    motion, first = fallen(place, name), 200 if steps == 100 else 0
    robot = motion.model
    assert robot is not None
    q, v = motion.q[first], motion.v[first] + 0.1 * np.random.default_rng(3).normal(size=(64, robot.nv))
    v[0] = motion.v[first]
    settings: dict[str, Any] = {"contact": settled(robot, name), "integrator": "discrete", "dt": DT}

    def moved(some: slice | int) -> kt.Trajectory:
        return kt.simulate(robot, q=q, v=v[some], duration=steps * DT, **settings)

    monkeypatch.setenv("KINETREE_NUM_THREADS", "1")
    whole = moved(slice(None))
    seven, alone = moved(slice(5, 12)), moved(63)
    monkeypatch.setenv("KINETREE_NUM_THREADS", "2")
    both = moved(slice(None))
    half = kt.simulate(robot, q=q, v=v[1], duration=steps // 2 * DT, **settings)
    rest = kt.simulate(robot, resume=half.snapshot(), duration=steps // 2 * DT, **settings)
    for field in ("q", "v", "dissipated"):
        bits = getattr(whole, field)
        np.testing.assert_array_equal(getattr(both, field), bits)
        np.testing.assert_array_equal(getattr(seven, field), bits[5:12])
        np.testing.assert_array_equal(getattr(alone, field), bits[63])
        np.testing.assert_array_equal(getattr(half, field), bits[1, : steps // 2 + 1])
        np.testing.assert_array_equal(getattr(rest, field), bits[1, steps // 2 :])
    np.testing.assert_array_equal(whole.q[0], motion.q[first : first + steps + 1])


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore:.*1,375 pairs of shapes")
def test_a_thousand_steps_of_fifty_boxes(place: Path) -> None:
    """In loops over 1,375 pairs: none leaves the bowl or another box, and their energy falls."""
    count = 50
    motion = fallen(place, "mujoco", ("box",), count)
    assert motion.model is not None
    q = motion.q[::10]
    assert deepest(motion.model, heap(count, ("box",)), q).max() < deepest_allowed(motion, "mujoco") < THIN
    energy = motion.kinetic + motion.potential
    assert (energy - np.minimum.accumulate(energy)).max() < math.exp(-4.0) * hardest(motion)
    assert motion.kinetic[-1] < 0.01 * motion.kinetic.max()
    assert motion.recorded["contact.error"].max() < 1e-10
