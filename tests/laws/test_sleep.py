"""Bodies that sleep stay exactly where they are, until something touches them or acts on them; others move as ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.model.reference import reference_configuration
from tests.closed_form.scenes import Array

DT, STEPS = 0.002, 400
BOX = '<geom type="box" size="0.1 0.1 0.05" mass="1"/>'
TEXT = """<mujoco><option timestep="0.002" {option}>{flag}</option><worldbody><geom type="plane" size="5 5 1"/>
<body name="low" pos="0 0 0.05" {policy}><freejoint/>{box}</body>
<body name="top" pos="0 0 0.15"><freejoint/>{box}</body>
<body pos="1 0 0.05" euler="0 0 37"><freejoint/>{box}</body>
<body name="other" pos="1 0 0.15" euler="0 0 13"><freejoint/>{box}</body>
<body name="ball" pos="-0.6 0 0.15"><freejoint/><geom type="sphere" size="0.05" mass="0.5"/></body>
{more}</worldbody></mujoco>"""
LEFT, RIGHT, BALL = slice(0, 12), slice(12, 24), slice(24, 30)
"""The degrees of freedom of two stacks of two boxes, and of a ball."""


def scene(
    place: Path, *, option: str = "", flag: str = "", policy: str = "", more: str = "", box: str = BOX
) -> kt.Model:
    path = place / "stacks.xml"
    path.write_text(TEXT.format(option=option, flag=flag, policy=policy, more=more, box=box))
    return kt.load(path)


def start(robot: kt.Model, speed: float = 2.5) -> tuple[Array, Array]:
    """The ball flies toward the first stack, and hits its upper box."""
    v = np.zeros(robot.nv)
    v[24], v[26] = speed, 1.0
    return reference_configuration(robot), v


@pytest.fixture(scope="module", name="robot")
def _robot(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    return scene(tmp_path_factory.mktemp("sleep"))


@pytest.fixture(scope="module", name="soft")
def _soft(robot: kt.Model) -> Any:
    return kt.contact.soft_constraints(robot, sleep=1e-3)


@pytest.fixture(scope="module", name="motion")
def _motion(robot: kt.Model, soft: Any) -> kt.Trajectory:
    q, v = start(robot)
    return kt.simulate(robot, q=q, v=v, dt=DT, duration=DT * STEPS, contact=soft)


def asleep(motion: kt.Trajectory) -> Array:
    return np.asarray(motion.recorded["asleep"])


def test_the_island_that_a_ball_hits_wakes_and_the_other_does_not(motion: kt.Trajectory) -> None:
    sleeps = asleep(motion)
    fell = int(np.argmax(sleeps[:, LEFT].all(axis=1)))
    woke = fell + int(np.argmin(sleeps[fell:, LEFT].all(axis=1)))
    assert 10 <= fell < woke < STEPS
    assert not sleeps[woke, LEFT].any()  # both boxes at once, though the ball touches one of them
    assert sleeps[int(np.argmax(sleeps[:, 12])) :, RIGHT].all()
    assert not sleeps[:woke, BALL].any()
    assert np.linalg.norm(motion.q[woke, 7:10] - motion.q[woke, 28:31]) < 0.25


def test_what_sleeps_does_not_move_at_all(motion: kt.Trajectory) -> None:
    sleeps = asleep(motion).astype(bool)
    assert (motion.v[sleeps] == 0.0).all()
    for k in range(5):
        still = sleeps[:-1, 6 * k] & sleeps[1:, 6 * k]
        own = motion.q[:, 7 * k : 7 * k + 7]
        np.testing.assert_array_equal(own[:-1][still], own[1:][still])
        assert still.any() or k == 4
        assert (motion.qdd[:-1, 6 * k : 6 * k + 6][still] == 0.0).all()


def test_a_step_that_wakes_an_island_is_that_of_bodies_that_were_awake(robot: kt.Model, motion: kt.Trajectory) -> None:
    sleeps = asleep(motion)
    woke = int(np.flatnonzero(np.diff(sleeps[:, 0]) < 0.0)[0])
    after = kt.rollout(robot, motion.q[woke], motion.v[woke], np.zeros((1, robot.nv)), DT, contact=True)[0, robot.nq :]
    moving = np.r_[LEFT, BALL]
    assert abs(after[moving]).max() > 0.1
    np.testing.assert_allclose(motion.v[woke + 1][moving], after[moving], rtol=0.0, atol=1e-9)


def test_energy_does_not_grow(motion: kt.Trajectory) -> None:
    total = motion.kinetic + motion.potential
    assert total.max() < total[0] + 1e-9
    assert total[-1] < total[0] - 0.5
    last = np.flatnonzero(~asleep(motion)[:, LEFT].all(axis=1))[-1]
    assert (motion.kinetic[last:] < 0.6).all()  # the ball's


def test_a_motion_goes_on_from_a_snapshot_to_the_bit(
    robot: kt.Model, soft: Any, motion: kt.Trajectory, tmp_path: Path
) -> None:
    q, v = start(robot)
    options: dict[str, Any] = {"dt": DT, "contact": soft}
    for count in (20, 70):
        first = kt.simulate(robot, q=q, v=v, duration=DT * count, **options)
        assert asleep(first)[-1, 0] == (count == 70)
        pause = kt.sim.Snapshot.load(first.snapshot().save(tmp_path / "pause"))
        second = kt.simulate(robot, resume=pause, duration=DT * (STEPS - count), **options)
        for a, b in ((motion.q, second.q), (motion.v, second.v), (asleep(motion), asleep(second))):
            np.testing.assert_array_equal(a[count:], b)


def test_bits_do_not_depend_on_a_batch(robot: kt.Model, soft: Any, motion: kt.Trajectory) -> None:
    q, v = start(robot)
    many = np.tile(v, (64, 1))
    many[:, 24] += np.linspace(0.0, -2.6, 64)  # some balls fly away, or too short
    many[5] = 0.0
    tau = np.zeros((64, 150, robot.nv))
    all_of_them, errors, _ = kt.rollout(robot, np.tile(q, (64, 1)), many, tau, DT, contact=soft, report=True)
    np.testing.assert_array_equal(all_of_them[0, :, robot.nq :], motion.v[1:151])
    for k in (0, 5, 30, 63):
        alone, error, _ = kt.rollout(robot, q, many[k], tau[k], DT, contact=soft, report=True)
        np.testing.assert_array_equal(alone, all_of_them[k])
        np.testing.assert_array_equal(error, errors[k])
    seven = kt.rollout(robot, np.tile(q, (7, 1)), many[28:35], tau[:7], DT, contact=soft, threads=2)
    np.testing.assert_array_equal(seven, all_of_them[28:35])
    at_the_end = (all_of_them[:, -1, robot.nq :] == 0.0)[:, 0]
    assert at_the_end.any()
    assert not at_the_end.all()
    batch = kt.simulate(robot, q=q, v=many[:7], dt=DT, duration=DT * 150, contact=soft)
    np.testing.assert_array_equal(batch.v[:, 1:], all_of_them[:7, :, robot.nq :])


def test_no_body_sleeps_unless_it_is_asked_for(robot: kt.Model) -> None:
    assert kt.contact.soft_constraints(robot).sleep is None
    q, v = start(robot)
    motion = kt.simulate(robot, q=q, v=v, dt=DT, duration=0.2, contact=True)
    assert "asleep" not in motion.recorded
    hardly_ever = kt.contact.soft_constraints(robot, sleep=1e-300)
    other = kt.simulate(robot, q=q, v=v, dt=DT, duration=0.2, contact=hardly_ever)
    assert not asleep(other).any()
    np.testing.assert_allclose(other.v, motion.v, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("by", ["external force", "joint force"])
def test_a_force_wakes_what_it_acts_on(robot: kt.Model, by: str) -> None:
    pushes = slice(60, 65)
    if by == "joint force":
        tau = np.zeros((150, robot.nv))
        tau[pushes, 20] = 0.1
        acting: dict[str, Any] = {"tau": tau}
        robot = robot.with_actuation({"other_joint": True})
    else:
        wrench = np.zeros((150, 6))
        wrench[pushes, 2] = 0.1
        acting = {"f_ext": {"other": wrench}}
    q, v = start(robot, speed=-1.0)
    soft = kt.contact.soft_constraints(robot, sleep=1e-3)
    sleeps = asleep(kt.simulate(robot, q=q, v=v, dt=DT, duration=150 * DT, contact=soft, **acting))
    assert sleeps[55:, LEFT].all()
    assert sleeps[60, RIGHT].all()
    assert not sleeps[61:72, RIGHT].any()
    assert sleeps[-1, RIGHT].all()


def test_bodies_of_files_sleep_as_these_say(tmp_path: Path) -> None:
    flag, arm = (
        '<flag sleep="enable"/>',
        (
            '<body name="arm" pos="0.5 0.5 0.5"><joint type="hinge" axis="0 1 0" range="-1 1" damping="5"/>'
            '<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="1"/></body>'
        ),
    )
    robot = scene(tmp_path, option='sleep_tolerance="0.002"', flag=flag, policy='sleep="never"', more=arm)
    soft = kt.contact.soft_constraints(robot)
    assert soft.sleep == 0.002
    assert not soft.unsupported
    q, v = start(robot, speed=-1.0)
    sleeps = asleep(kt.simulate(robot, q=q, v=v, dt=DT, duration=0.3, contact=True))
    assert not sleeps[:, LEFT].any()  # as one of these may not
    assert not sleeps[:, 30].any()  # it has a limit
    assert sleeps[-1, RIGHT].all()
    assert kt.contact.soft_constraints(robot, sleep=False).sleep is None


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_the_bodies_that_sleep_are_those_of_mujoco(tmp_path: Path, cone: str) -> None:
    robot = scene(tmp_path, option=f'cone="{cone}"', flag='<flag sleep="enable"/>')
    q, v = start(robot)
    motion = kt.simulate(robot, q=q, v=v, dt=DT, duration=DT * STEPS, contact=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "stacks.xml"))
    data = mujoco.MjData(model)
    layout = kt.interop.Layout(robot, "mujoco")
    data.qvel[:] = layout.v_to(q, v)
    theirs = []
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        theirs.append(np.array(data.tree_asleep) >= 0)
    differs = (asleep(motion)[1:, ::6] > 0.0) != np.array(theirs)
    assert differs.mean(axis=0).max() < 0.02, differs.sum(axis=0)


def test_what_cannot_be_computed_is_refused(robot: kt.Model, soft: Any) -> None:
    q, v = start(robot)
    tau = np.zeros((5, robot.nv))
    with pytest.raises(kt.errors.OptionError, match="stages"):
        kt.rollout(robot, q, v, tau, DT, contact=soft, integrator="rk4")
    with pytest.raises(kt.errors.OptionError, match="bodies may sleep"):
        kt.vjp(robot, kt.rollout, (q, v, tau, DT), np.zeros((5, robot.nq + robot.nv)), contact=soft)
    with pytest.raises(kt.errors.OptionError, match="bodies may sleep"):
        kt.compile(robot, kt.rollout, steps=5, contact=soft)
    with pytest.raises(kt.errors.OptionError, match="bodies may sleep"):
        kt.simulate(robot, q=q, dt=DT, duration=0.01, contact=soft, integrator="rk45")
    with pytest.raises(kt.errors.OptionError, match="bodies may sleep"):
        kt.simulate(robot, q=q, dt=DT, duration=0.01, contact=soft, tau=lambda _t, _q, v: 0.0 * v, control_dt="stages")
    for wrong in (-1.0, 0.0, "fast"):
        with pytest.raises(kt.errors.OptionError, match="speed"):
            kt.contact.soft_constraints(robot, sleep=wrong)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="rigid"):
        kt.contact.soft_constraints(robot, setting="rigid", sleep=1e-3)


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore:.*pairs of shapes that may touch")
def test_bits_of_a_heap_in_blocks_do_not_depend_on_a_batch(tmp_path: Path) -> None:
    rows, box = 4, BOX
    places = [(0.21 * (k + 0.5 * row), 0.05 + 0.0999 * row) for row in range(rows) for k in range(rows - row)]
    more = "".join(f'<body pos="{x + shift} 2 {z}"><freejoint/>{box}</body>' for shift in (0.0, 3.0) for x, z in places)
    ball = '<body pos="-0.6 2 0.3"><freejoint/><geom type="sphere" size="0.05" mass="3"/></body>'
    robot = scene(tmp_path, more=more + ball)
    soft, v = kt.contact.soft_constraints(robot, sleep=1e-3), np.zeros((8, robot.nv))
    v[:, -6], v[:, -4] = np.linspace(0.0, 6.0, 8), np.linspace(0.0, 2.0, 8)
    q, tau = np.tile(reference_configuration(robot), (8, 1)), np.zeros((8, 200, robot.nv))
    states, errors, _ = kt.rollout(robot, q, v, tau, DT, contact=soft, report=True)
    rests = (states[:, -1, robot.nq :] == 0.0).mean(axis=1)
    assert rests.min() < 0.6 < rests.max()
    for k in range(8):
        alone, error, _ = kt.rollout(robot, q[k], v[k], tau[k], DT, contact=soft, report=True)
        np.testing.assert_array_equal(alone, states[k])
        np.testing.assert_array_equal(error, errors[k])
