"""Simulations under constraints: linkages stay closed, feet stay where they are, energy is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.calls import _kernels
from kinetree.sim import stepper
from tests.laws.test_assembly import four_bar

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

Array = NDArray[Any]
LINKAGE, LOOP = four_bar()
DOWN = {"gravity": np.array([0.0, -9.81, 0.0])}  # in the linkage's plane
DOG = kt.zoo.load("quadruped")
FEET = [kt.constraints.Contact(name) for name in ("front_left_foot", "hind_right_foot")]


def assembled(speed: float = 2.0, angle: float = 1.0) -> dict[str, Array]:
    """A closed state of the linkage, its crank turning."""
    start = np.array([angle, 0.4 - angle, 1.7])
    q = kt.constraints.nearest_configuration(LINKAGE, start, LOOP, held_joints=["drive"]).q
    return {"q": q, "v": kt.constraints.nearest_velocity(LINKAGE, q, [speed, 0.0, 0.0], LOOP, held_joints=["drive"])}


def crouching() -> Array:
    return DOG.integrate(DOG.neutral(), np.r_[np.zeros(6), np.tile([0.1, 0.5, -1.1], 4)])


def test_a_four_bar_linkage_stays_closed_and_keeps_its_energy_for_five_seconds() -> None:
    motion = kt.simulate(LINKAGE, **assembled(), constraints=LOOP, parameters=DOWN, duration=5.0)
    assert np.abs(kt.constraints.constraint_errors(LINKAGE, motion.q, LOOP)).max() < 1e-13
    J = kt.constraints.constraint_jacobian(LINKAGE, motion.q, LOOP)
    assert np.abs(J @ motion.v[..., None]).max() < 1e-11
    assert np.ptp(motion.kinetic) > 1.0
    assert np.abs(motion.total - motion.total[0]).max() < 1e-8 * np.ptp(motion.kinetic)
    turned = np.unwrap(motion.q[:, 0])
    assert np.ptp(turned) > np.pi


def test_the_accelerations_are_those_of_constrained_dynamics() -> None:
    start, dt = assembled(), 1e-4
    motion = kt.simulate(LINKAGE, **start, constraints=LOOP, tau=[1.0, 0.0, 0.0], duration=2 * dt, dt=dt)
    qdd = kt.constraints.constrained_dynamics(LINKAGE, motion.q[1], motion.v[1], [1.0, 0.0, 0.0], LOOP).qdd
    np.testing.assert_allclose((motion.v[2] - motion.v[0]) / (2 * dt), qdd, atol=1e-4)


@pytest.mark.parametrize(("integrator", "order", "dt"), [("rk4", 4, 0.02), ("semi_implicit_euler", 1, 1e-3)])
def test_the_projection_leaves_the_order_as_it_is(integrator: str, order: int, dt: float) -> None:
    ends = [
        kt.simulate(
            LINKAGE, **assembled(), constraints=LOOP, parameters=DOWN, duration=0.4, dt=dt / k, integrator=integrator
        ).q[-1]
        for k in (1, 2, 4)
    ]
    observed = np.log2(np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2]))
    assert observed == pytest.approx(order, abs=0.4)


def test_semi_implicit_euler_does_not_drift() -> None:
    motion = kt.simulate(
        LINKAGE, **assembled(), constraints=LOOP, parameters=DOWN, duration=5.0, integrator="semi_implicit_euler"
    )
    assert np.abs(kt.constraints.constraint_errors(LINKAGE, motion.q, LOOP)).max() < 1e-9


def test_a_controller_at_every_stage_and_torques_known_in_advance_give_the_same_motion() -> None:
    settings: dict[str, Any] = {**assembled(), "constraints": LOOP, "parameters": DOWN, "duration": 0.05}
    settings |= {"f_ext": {"coupler_end": [0.5, -1.0, 0.0, 0.0, 0.0, 0.2]}, "limits": True}
    tau = np.array([0.3, 0.0, 0.0])
    known = kt.simulate(LINKAGE, tau=tau, **settings)
    sampled = kt.simulate(LINKAGE, tau=lambda _t, _q, _v: tau, **settings)
    staged = kt.simulate(LINKAGE, tau=lambda _t, _q, _v: tau, control_dt="stages", **settings)
    for name in ("q", "v", "work"):
        np.testing.assert_array_equal(getattr(sampled, name), getattr(known, name))
        np.testing.assert_allclose(getattr(staged, name), getattr(known, name), atol=1e-12)
    assert np.abs(known.balance_error).max() < 1e-9


def test_feet_stay_where_they_are_at_the_start() -> None:
    motion = kt.simulate(DOG, q=crouching(), constraints=FEET, duration=0.05)
    for foot in FEET:
        places = kt.frame_placement(DOG, motion.q, foot.frame)[:, :3, 3]
        np.testing.assert_allclose(places, np.broadcast_to(places[0], places.shape), atol=1e-13)
    assert np.abs(motion.v[-1]).max() > 0.1
    assert np.abs(motion.balance_error).max() < 1e-9


@pytest.mark.parametrize("control_dt", [None, "stages"])
def test_another_start_and_another_place_compile_nothing(monkeypatch: pytest.MonkeyPatch, control_dt: Any) -> None:
    arm, rng = kt.zoo.load("arm6"), np.random.default_rng(3)
    settings: dict[str, Any] = {"tau": lambda _t, _q, v: -v, "control_dt": control_dt, "duration": 0.005}
    kernels: list[Any] = []
    after: list[int] = []  # each motion, so many kernels there were
    compiled = stepper.compile_function
    monkeypatch.setattr(stepper, "compile_function", lambda *a, **b: kernels.append(compiled(*a, **b)) or kernels[-1])
    for k in range(3):
        q = arm.random(rng)
        at = kt.frame_placement(arm, q, "tool")[:3, 3] if k else None
        motion = kt.simulate(arm, q=q, constraints=kt.constraints.Contact("tool", at=at), **settings)
        places = kt.frame_placement(arm, motion.q, "tool")[:, :3, 3]
        np.testing.assert_allclose(places, np.broadcast_to(places[0], places.shape), atol=1e-13)
        after.append(len({id(kernel.__self__) for kernel in kernels}))
    assert after[0] == after[1] == after[2] > 0


def test_a_whole_frame_held_in_its_own_axes_stays() -> None:
    arm = kt.zoo.load("arm7")
    q = arm.random(1)
    motion = kt.simulate(arm, q=q, constraints=kt.constraints.Contact("tool", "fixed", axes="local"), duration=0.2)
    X = kt.frame_placement(arm, motion.q, "tool")
    np.testing.assert_allclose(X, np.broadcast_to(X[0], X.shape), atol=1e-10)


def test_a_bead_on_a_rod_is_a_pendulum() -> None:
    """Two sliders and a constraint of given distance, beside a hinge."""
    bob = kt.solids.sphere(1e-6, mass=0.5)
    bead, hinged = kt.ModelBuilder("bead"), kt.ModelBuilder("pendulum")
    for builder, between in ((bead, "slide"), (hinged, "arm")):
        builder.add_body("ground")
        builder.add_body(between)
        builder.add_body("bob", bob)
    bead.add_joint("x", kt.Prismatic([1, 0, 0]), "ground", "slide")
    bead.add_joint("z", kt.Prismatic([0, 0, 1]), "slide", "bob")
    hinged.add_joint("hinge", kt.Revolute([0, 1, 0]), "ground", "arm")
    hinged.add_joint("end", kt.Fixed(), "arm", "bob", kt.lie.placement((0.8, 0.0, 0.0)))
    rod = kt.constraints.Loop("ground", "bob", "distance", length=0.8)
    motion = kt.simulate(bead.build(), q=[0.8, 0.0], constraints=rod, duration=2.0)
    np.testing.assert_allclose(np.hypot(*motion.q.T), 0.8, atol=1e-13)
    angle = kt.simulate(hinged.build(), duration=2.0).q[:, 0]
    np.testing.assert_allclose(motion.q, 0.8 * np.stack([np.cos(angle), -np.sin(angle)], axis=-1), atol=1e-8)


def test_a_skate_goes_in_a_circle() -> None:
    """It cannot move sideways, whichever way it points; that holds its velocity, and no place."""
    builder = kt.ModelBuilder("skate")
    builder.add_body("ice")
    builder.add_body("blade", kt.solids.box(0.3, 0.05, 0.1, mass=2.0))
    builder.add_joint("motion", kt.joints.Planar(), "ice", "blade")
    robot = builder.build()
    sideways = kt.constraints.Contact("blade", [0.0, 1.0, 0.0], axes="local")
    turning, along = 2.0, 1.5
    J = kt.frame_jacobian(robot, robot.neutral(), "blade", expressed_in="local")
    v = np.linalg.lstsq(J, [along, 0.0, 0.0, 0.0, 0.0, turning])[0]
    for contact in (sideways, kt.constraints.Contact("blade", [0.0, 1.0, 0.0], axes="local", at=[5.0, 5.0, 0.0])):
        motion = kt.simulate(robot, v=v, constraints=contact, duration=2.0)
        place = kt.frame_placement(robot, motion.q, "blade")[:, :2, 3]
        centre = [0.0, along / turning]
        np.testing.assert_allclose(np.linalg.norm(place - centre, axis=-1), along / turning, atol=1e-9)
        seen = kt.kinematics.frame_velocity(robot, motion.q, motion.v, "blade", expressed_in="local")
        np.testing.assert_allclose(seen[:, [0, 1, 5]], np.broadcast_to([along, 0.0, turning], (2001, 3)), atol=1e-9)


def test_redundant_rows_are_solved() -> None:
    """A planar loop held in three directions, of which one is never violated."""
    both = [
        kt.simulate(LINKAGE, **assembled(), constraints=c, duration=0.2).q
        for c in (LOOP, [kt.constraints.Loop("coupler_end", "rocker_end")])
    ]
    np.testing.assert_allclose(*both, atol=1e-11)


def test_a_motion_of_a_batch_is_the_same_alone() -> None:
    starts = [assembled(), assembled(angle=1.5), assembled(speed=-1.0)]
    q, v = (np.stack([start[name] for start in starts]) for name in ("q", "v"))
    together = kt.simulate(LINKAGE, q=q, v=v, constraints=LOOP, duration=0.1)
    for k, start in enumerate(starts):
        np.testing.assert_array_equal(together[k].q, kt.simulate(LINKAGE, **start, constraints=LOOP, duration=0.1).q)
    arm = kt.zoo.load("arm6")
    q = np.stack([arm.random(1), arm.random(2)])
    motion = kt.simulate(arm, q=q, constraints=kt.constraints.Contact("tool"), duration=0.02)
    places = kt.frame_placement(arm, motion.q, "tool")[..., :3, 3]
    np.testing.assert_allclose(places, np.broadcast_to(places[:, :1], places.shape), atol=1e-13)
    assert np.abs(places[0] - places[1]).max() > 0.1


def test_an_empty_list_holds_nothing() -> None:
    q = crouching()
    free = kt.simulate(DOG, q=q, duration=0.01)
    np.testing.assert_array_equal(kt.simulate(DOG, q=q, constraints=[], duration=0.01).q, free.q)


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "an open loop": (
        {"q": [1.0, 0.0, 0.0]}, kt.errors.ConfigurationError,
        r"the constraints on 'four_bar' are not met at the start: an error of \S+ .m or rad.; start from "
        r"kt.constraints.nearest_configuration\(robot, q, constraints\).q",
    ),
    "an open loop in a batch": (
        {"q": np.stack([assembled()["q"], [1.0, 0.0, 0.0]])}, kt.errors.ConfigurationError,
        r"met at the start of sample \(1,\)",
    ),
    "a velocity across the loop": (
        {"q": assembled()["q"], "v": [1.0, 0.0, 0.0]}, kt.errors.ConfigurationError,
        r"forbid the initial velocity: their frames move by \S+ .m/s or rad/s.; start from "
        r"kt.constraints.nearest_velocity",
    ),
    "a word": ({"constraints": "coupler_end"}, kt.errors.OptionError,
        "constraints must be a list of kt.constraints.Contact and kt.constraints.Loop"),
    "a frame that is not there": (
        {"constraints": kt.constraints.Contact("coupler_edn")}, kt.errors.NameNotFoundError, "coupler_end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_held_is_refused_in_words(name: str) -> None:
    settings, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        kt.simulate(LINKAGE, **{"constraints": LOOP, "duration": 0.01, **settings})


def test_places_lengths_and_gains_are_inputs_and_samples_have_their_own() -> None:
    builder = kt.ModelBuilder("beads")
    builder.add_body("room")
    for name in ("one", "two"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
        builder.add_joint(f"{name} moves", kt.joints.Translation(), "room", name)
    robot = builder.build()
    corner, lengths = np.array([[0.0, 0.0, 1.0], [0.5, 0.0, 2.0]]), np.array([0.5, 0.8])
    q = np.concatenate([corner, corner + lengths[:, None] * [0.6, 0.0, -0.8]], axis=-1)

    def held(at: Any, length: Any, gain: Any) -> list[kt.constraints.Contact | kt.constraints.Loop]:
        return [
            kt.constraints.Contact("one", at=at, velocity_gain=gain),
            kt.constraints.Loop("one", "two", "distance", length=length),
        ]

    batch = kt.simulate(robot, q=q, duration=0.2, dt=0.01, constraints=held(corner, lengths, [1.0, 2.0]))
    count = len(_kernels[id(robot)])
    for k in range(2):
        alone = kt.simulate(robot, q=q[k], duration=0.2, dt=0.01, constraints=held(corner[k], lengths[k], 1.0 + k))
        assert np.array_equal(batch[k].q, alone.q)
    assert len(_kernels[id(robot)]) == count
    ends = batch.q[:, -1].reshape(2, 2, 3)
    np.testing.assert_allclose(ends[:, 0], corner, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1), lengths, rtol=1e-12)
    one = kt.simulate(
        robot,
        q=q[0],
        duration=0.1,
        dt=0.01,
        constraints=held(corner[0], lengths[0], 1.0),
        tau=lambda _t, _q, _v: np.zeros(6),
        control_dt="stages",
    )
    np.testing.assert_allclose(one.q, batch[0].q[:11], atol=1e-12)
    spread = kt.simulate(
        robot, q=q[0], duration=0.02, dt=0.01, constraints=held(corner[:1], lengths[0], [1.0, 2.0, 3.0])
    )
    assert spread.q.shape == (3, 3, 6)
    with pytest.raises(kt.errors.ShapeError, match=r"do not broadcast together: q \(2,\), .* constraints.gains \(3,\)"):
        kt.simulate(robot, q=q, duration=0.02, constraints=held(corner, lengths, [1.0, 2.0, 3.0]))
