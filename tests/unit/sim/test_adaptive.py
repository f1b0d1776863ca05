"""Steps whose length follows from their error: what they promise, and that nothing else changes a bit."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from tests.closed_form.scenes import Thing, contact, restitution, world
from tests.laws.test_integrator_orders import ragdoll

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
Array = np.ndarray[Any, Any]
G = 9.81


def pendulum_tree() -> kt.Model:
    """A pendulum that carries two others, about different axes."""
    builder = kt.ModelBuilder("pendulum tree")
    for name in ("world", "trunk", "left", "right"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.6, mass=1.0))
    builder.add_joint("swing", kt.Revolute([0, 1, 0]), "world", "trunk")
    builder.add_joint("left", kt.Revolute([0, 1, 0]), "trunk", "left", kt.lie.placement((0.0, 0.2, -0.5)))
    builder.add_joint("right", kt.Revolute([1, 0, 0]), "trunk", "right", kt.lie.placement((0.0, -0.2, -0.5)))
    return builder.build()


TREE, RAGDOLL = pendulum_tree(), ragdoll()
START: dict[str, Any] = {"q": [1.0, -0.5, 0.4], "v": [0.0, 2.0, -1.0]}


def adaptive(robot: kt.Model, **settings: Any) -> kt.Trajectory:
    return kt.simulate(robot, **{"integrator": "rk45", "dt": 0.01, "record": (), **settings})


def tumbling(motions: int) -> dict[str, Any]:
    """States of different speeds, with torques that change at different times."""
    rng = np.random.default_rng(4)
    motors = np.r_[np.zeros(6), np.ones(4)]
    tau = np.repeat(rng.normal(size=(64, 6, 10)), 5, axis=1) * motors
    tau[::3] = tau[::3, :1]
    push = np.zeros((64, 30, 6))
    push[1::4, 12:] = rng.normal(size=(16, 1, 6))
    q = np.stack([RAGDOLL.random(rng) for _ in range(64)])
    v = rng.normal(size=(64, 10)) * np.geomspace(0.1, 5.0, 64)[:, None]
    return {"q": q[:motions], "v": v[:motions], "tau": tau[:motions], "f_ext": {"trunk": push[:motions]}}


def motion_of(settings: dict[str, Any], sample: int) -> dict[str, Any]:
    own = {name: settings[name][sample] for name in ("q", "v", "tau")}
    return {**own, "f_ext": {"trunk": settings["f_ext"]["trunk"][sample]}}


def test_errors_are_in_proportion_to_the_tolerance_as_scipy_sees_them() -> None:
    def rate(_: float, x: Array) -> Array:
        return np.concatenate((x[3:], kt.aba(TREE, x[:3], x[3:], np.zeros(3))))

    start = np.concatenate((START["q"], START["v"]))
    peer = solve_ivp(rate, (0.0, 1.0), start, "DOP853", np.linspace(0.0, 1.0, 101), rtol=1e-13, atol=1e-13).y.T
    tolerances = np.array([1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
    motions = [adaptive(TREE, duration=1.0, integrator=kt.sim.RK45(r, 0.01 * r), **START) for r in tolerances]
    errors = np.array([np.abs(np.hstack((m.q, m.v)) - peer).max() for m in motions])
    assert (errors < 30.0 * tolerances).all()
    np.testing.assert_allclose(np.diff(np.log10(errors)), -1.0, atol=0.4)
    counts = [int(m.step_counts.accepted) for m in motions if m.step_counts is not None]
    assert counts == sorted(counts)


def test_the_energy_of_a_free_ragdoll_is_kept_to_the_tolerance() -> None:
    rng = np.random.default_rng(1)
    start = {"q": RAGDOLL.random(rng), "v": 2.0 * rng.normal(size=10)}
    motion = adaptive(RAGDOLL, duration=3.0, dt=0.05, record=["energies"], **start)
    np.testing.assert_allclose(motion.total, motion.total[0], rtol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, atol=1e-14)


def test_coordinates_with_an_edge_are_left_in_time() -> None:
    """A rotation vector, whose length would grow beyond 2π."""
    builder = kt.ModelBuilder("ball")
    builder.add_body("world")
    builder.add_body("ball", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("joint", kt.joints.ExponentialMap(), "world", "ball")
    start = {"q": [0.1, 0.2, 0.3], "v": [6.0, 1.0, 4.0]}
    motion = adaptive(builder.build(), duration=2.0, record=["energies"], **start)
    assert 4.0 < np.linalg.norm(motion.q, axis=1).max() < 5.0
    np.testing.assert_allclose(motion.kinetic, motion.kinetic[0], rtol=1e-5)
    still = adaptive(kt.ModelBuilder.of(falling()).build().lock(["height"]), duration=0.05)
    assert still.q.shape == (6, 0)


@cache
def tumbled() -> kt.Trajectory:
    return adaptive(RAGDOLL, duration=0.3, **tumbling(64))


@pytest.mark.parametrize("sample", [0, 1, 33, 63])
def test_a_motion_is_the_same_in_a_batch_of_any_size(sample: int) -> None:
    every, whole = tumbling(64), tumbled()
    alone = adaptive(RAGDOLL, duration=0.3, **motion_of(every, sample))
    few = slice(max(0, sample - 6), max(7, sample + 1))
    seven = adaptive(
        RAGDOLL, duration=0.3, f_ext={"trunk": every["f_ext"]["trunk"][few]},
        **{name: every[name][few] for name in ("q", "v", "tau")},
    )  # fmt: skip
    for name in ("q", "v", "work"):
        np.testing.assert_array_equal(getattr(whole[sample], name), getattr(alone, name), err_msg=name)
        np.testing.assert_array_equal(getattr(seven[sample - few.start], name), getattr(alone, name), err_msg=name)
    assert whole.step_counts is not None
    assert alone.step_counts is not None
    assert whole.step_counts.accepted.shape == (64,)
    assert repr(whole.step_counts[sample]) == repr(alone.step_counts)
    assert np.unique(whole.step_counts.accepted).size > 3


def test_steps_do_not_depend_on_the_grid() -> None:
    coarse, fine = (adaptive(TREE, duration=1.0, dt=dt, **START) for dt in (0.02, 0.005))
    np.testing.assert_array_equal(coarse.q, fine.q[::4])
    assert repr(coarse.step_counts) == repr(fine.step_counts)
    assert repr(coarse).endswith("1 s in rows of 0.02 s, rk45; q (51, 3), v (51, 3)>")


@kt.program(q=3, v=3, integral=3)
def pulls(q, v, integral):  # type: ignore[no-untyped-def]
    return {"tau": -3.0 * q - v - integral, "integral": integral + 0.01 * q, "first": q[0]}


def waves(t: float, q: Array, _: Array) -> Array:
    return np.cos(20.0 * t) - 0.2 * q


CASES: dict[str, dict[str, Any]] = {
    "alone": {},
    "a batch": {"q": np.linspace(-1.0, 1.0, 9).reshape(3, 3)},
    "a held command": {"tau": waves, "control_dt": 0.04},
    "a function at every stage": {"tau": waves, "control_dt": "stages"},
    "a program with a state": {"tau": pulls},
    "a program that is held": {"q": np.linspace(-1.0, 1.0, 6).reshape(2, 3), "tau": pulls, "control_dt": 0.03},
    "a frame that is held": {"v": np.zeros(3), "constraints": [kt.constraints.Contact("left")], "q": START["q"]},
}


@pytest.mark.parametrize("case", CASES)
def test_a_motion_goes_on_to_the_bit(case: str, tmp_path: Path) -> None:
    settings = {**START, **CASES[case]}
    whole = adaptive(TREE, duration=0.3, **settings)
    first = adaptive(TREE, duration=0.13, **settings)
    pause = kt.sim.Snapshot.load(first.snapshot().save(tmp_path / "pause"))
    second = adaptive(TREE, duration=0.17, resume=pause, **CASES[case] | {"q": None, "v": None})
    for name in ("q", "v", "work", "tau"):
        expected = np.split(getattr(whole, name), [13], axis=len(whole.shape))[1]
        np.testing.assert_array_equal(getattr(second, name), expected, err_msg=name)
    for name, x in second.recorded.items():
        np.testing.assert_array_equal(x, np.split(whole.recorded[name], [13], axis=len(whole.shape))[1])
    assert repr(second.step_counts) == repr(whole.step_counts)


@pytest.mark.parametrize("row", [5, 7, 10, 12, 25])
def test_torques_and_pushes_may_change_at_the_pause(row: int) -> None:
    """Steps that were tried beyond it are taken again, so all rows after it have the bits of a motion without one."""
    settings = motion_of(tumbling(2), 1)
    whole = adaptive(RAGDOLL, duration=0.3, **settings)
    tau, push = settings["tau"], settings["f_ext"]["trunk"]
    first = adaptive(
        RAGDOLL, duration=0.01 * row, q=settings["q"], v=settings["v"], tau=tau[:row], f_ext={"trunk": push[:row]}
    )
    second = adaptive(
        RAGDOLL, duration=0.01 * (30 - row), tau=tau[row:], f_ext={"trunk": push[row:]}, resume=first.snapshot()
    )
    np.testing.assert_array_equal(second.q[1:], whole.q[row + 1 :])
    np.testing.assert_allclose(second.v[0], whole.v[row], atol=1e-5)


def test_forces_are_known_by_their_names_at_a_pause(tmp_path: Path) -> None:
    forces = {
        "left": [0.0, 3.0, 1.0, 0.0, 0.0, 0.0],
        kt.dynamics.WrenchOn("right", "world"): [1.0, 0.0, -2.0, 0.0, 0.1, 0.0],
    }
    whole = adaptive(TREE, duration=0.3, f_ext=forces, **START)
    first = adaptive(TREE, duration=0.13, f_ext=forces, **START)
    pause = kt.sim.Snapshot.load(first.snapshot().save(tmp_path / "pause"))
    swapped = dict(reversed(forces.items()))
    second = adaptive(TREE, duration=0.17, resume=pause, f_ext=swapped)
    np.testing.assert_array_equal(second.q, whole.q[13:])
    with pytest.raises(kt.errors.OptionError, match="the force 'left' acted in the step that the snapshot is within"):
        adaptive(TREE, duration=0.1, resume=pause, f_ext={"right": np.zeros(6)})
    gone = {key: np.zeros(6) for key in swapped}
    assert np.isfinite(adaptive(TREE, duration=0.02, resume=pause, f_ext=gone).q).all()


def test_a_long_motion_in_pieces(tmp_path: Path) -> None:
    whole = adaptive(TREE, duration=0.5, record=kt.sim.Recording((), every=5), **START)
    run = adaptive(TREE, duration=0.5, record=kt.sim.Recording((), every=5, stream=tmp_path / "run"), **START)
    read = run.read()
    np.testing.assert_array_equal(read.q, whole.q)
    assert repr(read.step_counts) == repr(whole.step_counts)


def test_rows_between_steps_satisfy_the_constraints() -> None:
    builder = kt.ModelBuilder.of(TREE)
    builder.add_frame("hand", "left", kt.lie.placement((0.0, 0.0, -0.5)))
    robot = builder.build()
    rail = [kt.constraints.Contact("hand", directions=(1.0, 0.0, 0.0))]
    start = {"q": START["q"], "v": kt.constraints.nearest_velocity(robot, START["q"], START["v"], rail)}
    motion = adaptive(robot, duration=0.5, constraints=rail, record=["energies"], **start)
    held = [
        kt.constraints.Contact(
            "hand", directions=(1.0, 0.0, 0.0), at=kt.frame_placement(robot, START["q"], "hand")[:3, 3]
        )
    ]
    assert np.abs(kt.constraints.constraint_errors(robot, motion.q, held)).max() < 1e-12
    assert np.abs(motion.balance_error).max() < 1e-4


def falling() -> kt.Model:
    builder = kt.ModelBuilder("lift")
    for name in ("ground", "mass"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("height", kt.Prismatic([0, 0, 1]), "ground", "mass")
    return builder.build()


@pytest.mark.parametrize("dt", [0.01, 0.3])
def test_events_are_found_within_steps(dt: float) -> None:
    """The fall is a parabola, which the pair follows exactly; a step is much longer than the grid, or shorter."""
    lands = kt.program(lambda q: q[0], q=1)
    motions = adaptive(falling(), q=[[1.0], [0.5], [3.0]], duration=0.6, dt=dt, until={"lands": lands})
    times = np.sqrt(2.0 * np.array([1.0, 0.5]) / G)
    np.testing.assert_allclose(motions.ended, [*times, 0.6], atol=1e-12)
    np.testing.assert_allclose(motions.q[:2, -1], 0.0, atol=1e-12)
    assert sorted((one.name, one.sample) for one in motions.events) == [("lands", (0,)), ("lands", (1,))]
    alone = adaptive(falling(), q=[1.0], duration=0.6, dt=dt, until={"lands": lands})
    assert alone.time[-1] == motions.ended[0]
    np.testing.assert_array_equal(alone.v[-1], motions.v[0, -1])


def test_the_time_of_an_event_is_as_exact_as_the_tolerance() -> None:
    def crosses(_t: Any, q: Array, _v: Any) -> Any:
        return q[..., 0] + 0.2

    exact = adaptive(TREE, duration=1.0, until=crosses, integrator=kt.sim.RK45(1e-12, 1e-13), **START)
    for rtol in (1e-5, 1e-7, 1e-9):
        motion = adaptive(TREE, duration=1.0, until=crosses, integrator=kt.sim.RK45(rtol, 0.01 * rtol), **START)
        assert abs(motion.time[-1] - exact.time[-1]) < 10.0 * rtol
        assert abs(motion.q[-1, 0] + 0.2) < 1e-11
    assert 0.0 < exact.time[-1] < 1.0


def explodes(_: float, _q: Array, v: Array) -> Array:
    return v * v * v


def test_torques_that_change_at_every_row_are_integrated_exactly() -> None:
    """The rate at the end of a step is not that at the start of the next, if the torque changes there."""
    builder = kt.ModelBuilder("slider")
    builder.add_body("rail")
    builder.add_body("mass", kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("slide", kt.Prismatic([1, 0, 0]), "rail", "mass")
    tau = np.random.default_rng(0).uniform(-100.0, 100.0, size=(60, 1))
    motion = adaptive(builder.build(), tau=tau, integrator=kt.sim.RK45(1e-3, 1e-3), duration=0.6)
    np.testing.assert_allclose(motion.v[1:, 0], 0.01 * np.cumsum(tau), rtol=0, atol=1e-10)


def test_a_motion_that_leaves_no_step_is_stopped_with_the_time_and_the_joint() -> None:
    """v̇ = v³ - g from v = 3 grows beyond all bounds."""
    with pytest.raises(
        kt.errors.SimulationError, match=r"'lift' cannot go on at t = 0\.\d+ s: no step.*'height' first"
    ) as caught:
        adaptive(falling(), v=[3.0], tau=explodes, control_dt="stages", duration=1.0)
    part = caught.value.trajectory
    assert isinstance(part, kt.Trajectory)
    assert 0.0 < part.time[-1] < 0.2
    assert np.isfinite(part.v).all()


def test_one_of_a_batch_is_stopped_and_leaves_the_others_untouched(tmp_path: Path) -> None:
    tau = np.zeros((3, 50, 1))
    tau[1, 7:] = 1e308
    q = np.array([[1.0], [2.0], [3.0]])
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"1 of 3 motions cannot go on .* \(1,\): 'height' left no step"
    ):
        motions = adaptive(falling(), q=q, tau=tau, duration=0.5)
    ((sample, lost),) = motions.diverged.items()
    assert (sample, lost.name, lost.cause) == ((1,), "height", "step")
    assert lost.time == pytest.approx(0.07)
    np.testing.assert_array_equal(motions.q[1, 8:], np.broadcast_to(motions.q[1, 7], (43, 1)))
    for k in (0, 2):
        alone = adaptive(falling(), q=q[k], tau=tau[k], duration=0.5)
        np.testing.assert_array_equal(motions[k].q, alone.q)
    back = kt.Trajectory.load(motions.save(tmp_path / "run"))
    assert repr(back.step_counts) == repr(motions.step_counts)
    assert str(back.diverged[1,]) == str(lost)


def test_a_controller_that_returns_nan_ends_its_motion() -> None:
    def tau(t: float, q: Array, _: Array) -> Array:
        return np.where(q < 0.0, np.nan, 0.0) * t

    motions = adaptive(falling(), q=[[1.0], [0.1]], tau=tau, duration=0.3)
    assert list(motions.diverged) == [(1,)]
    assert motions.diverged[1,].cause == "torque"


def test_a_ball_bounces_with_the_restitution_of_its_damping() -> None:
    """Steps of 1e-4 s of RK4 have an error of 2e-3 here, since a damper begins to push within a step."""
    ground = contact(condim=1, solref=(0.0, 0.0), conaffinity=1, contype=0)
    ball = contact(condim=1, solref=(-1e4, -2.0 * 0.2 * 1e2))
    thing = Thing("sphere", (0.1,), ball, kt.Prismatic([0, 0, 1]), at=(0, 0, 0.1))
    robot = world(thing, ground=ground).with_gravity((0, 0, 0))
    for rtol, error in ((1e-6, 1e-3), (1e-9, 1e-5)):
        integrator = kt.sim.RK45(rtol, 0.01 * rtol)
        motion = adaptive(robot, q=[0.01], v=[-1.0], duration=0.12, contact=True, integrator=integrator)
        np.testing.assert_allclose(motion.v[-1], restitution(0.2), rtol=error)
        assert motion.step_counts is not None
        assert motion.step_counts.rejected > 5  # at the first touch and the last one
        assert motion.recorded["contact.error"].max() < 1e-12
    with pytest.raises(kt.errors.OptionError, match="'rk45' divides it into stages; take integrator=\"discrete\""):
        adaptive(robot, contact="rigid")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"integrator": "RK45"}, "there is no integrator 'RK45'.*rk45"),
        ({"ctrl": [0.0]}, r"commands of actuators \(ctrl=\) are for steps of dt, and 'rk45' takes"),
        ({"tau": pulls, "control_dt": "stages"}, "'rk45' a program runs once every dt"),
    ],
)
def test_what_does_not_fit_is_refused(settings: Any, text: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=text):
        kt.simulate(TREE, **{"integrator": "rk45", "duration": 0.1, **settings})


@pytest.mark.parametrize(
    ("tolerances", "text"),
    [
        ({"rtol": 0.0}, "RK45: rtol must be a positive number, such as 1e-06, not 0.0"),
        ({"rtol": True}, "RK45: rtol must be a positive number"),
        ({"rtol": 10**400}, "RK45: rtol must be a positive number"),
        ({"atol": "small"}, "RK45: atol must be a positive number, such as 1e-08, not 'small'"),
        ({"atol": np.nan}, "RK45: atol must be a positive number"),
        ({"rtol": 1e-16}, "RK45: rtol must be at least 1e-13, which is near rounding"),
    ],
)
def test_what_is_no_tolerance_is_refused(tolerances: Any, text: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=text):
        kt.sim.RK45(**tolerances)


def test_another_tolerance_is_another_motion_and_a_rollout_has_none() -> None:
    first = adaptive(TREE, duration=0.1, **START)
    with pytest.raises(kt.errors.OptionError, match="rtol = 1e-06, and here rtol = 1e-05"):
        adaptive(TREE, duration=0.1, resume=first.snapshot(), integrator=kt.sim.RK45(1e-5))
    with pytest.raises(kt.errors.OptionError, match=r"kt\.rollout takes a fixed number"):
        kt.rollout(TREE, np.zeros(3), np.zeros(3), np.zeros((2, 3)), 0.01, integrator="rk45")  # type: ignore[call-overload]
