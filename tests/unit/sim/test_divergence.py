"""Motions that cease to be finite: of a batch one of them ends, and the others are as if they were alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")

ROBOT = kt.zoo.load("double_pendulum")
Q = np.array([[1.0, 0.5], [0.3, 0.2], [0.1, -0.4]])
FIELDS = ("q", "v", "tau", "qdd", "kinetic", "potential", "work", "dissipated")


def kick(sample: int, step: int, steps: int = 20) -> Any:
    tau = np.zeros((3, steps, 2))
    tau[sample, step] = 1e308
    return tau


def test_a_motion_that_diverges_is_flagged_and_leaves_the_others_untouched() -> None:
    tau = kick(1, 7)
    motions = kt.simulate(ROBOT, q=Q, tau=tau, duration=0.2, dt=0.01)
    ((sample, lost),) = motions.diverged.items()
    assert sample == (1,)
    assert lost.name in ROBOT.v_names
    assert lost.time in (0.08, 0.09)
    assert str(lost) == f"'{lost.name}' grew beyond all bounds at t = {lost.time:g} s"
    np.testing.assert_array_equal(motions.ended, [0.2, lost.time, 0.2])
    for k in (0, 2):
        alone = kt.simulate(ROBOT, q=Q[k], tau=tau[k], duration=0.2, dt=0.01)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(motions[k], name), getattr(alone, name), err_msg=name)
    row = round(lost.time / 0.01)
    assert np.isfinite(motions.q).all()
    assert np.isfinite(motions.v).all()
    np.testing.assert_array_equal(motions.q[1, row:], np.broadcast_to(motions.q[1, row - 1], (21 - row, 2)))
    assert not motions.tau[1, row:].any()


def test_a_warning_names_the_first_of_them() -> None:
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"1 of 3 motions are no longer finite.* the first of them \(1,\): '"
    ):
        kt.simulate(ROBOT, q=Q, tau=kick(1, 7), duration=0.2, dt=0.01)


def test_when_all_have_ended_so_has_the_motion() -> None:
    motions = kt.simulate(ROBOT, q=Q[:2], tau=np.full((20, 2), 1e308), duration=0.2, dt=0.01)
    assert len(motions.diverged) == 2
    assert motions.time[-1] == motions.ended.max() < 0.2


def test_some_of_them_keep_their_own_flags_also_in_files(tmp_path: Path) -> None:
    motions = kt.simulate(ROBOT, q=Q, tau=kick(1, 7), duration=0.2, dt=0.01)
    assert motions[0].diverged == {}
    assert list(motions[1].diverged) == [()]
    assert list(motions[1:].diverged) == [(0,)]
    back = kt.Trajectory.load(motions.save(tmp_path / "motions"))
    assert back.diverged == motions.diverged
    np.testing.assert_array_equal(back.ended, motions.ended)


@pytest.mark.parametrize("is_program", [False, True])
def test_commands_that_are_no_numbers_end_the_motion_that_they_are_for(is_program: bool) -> None:
    """A controller takes the root of what is negative in one of them."""
    goal = np.array([[1.0], [-1.0], [2.0]])

    @kt.program(q=2, goal=1)
    def rooted(q, goal):  # type: ignore[no-untyped-def]
        return -q * np.sqrt(goal)

    def plain(t, q, v):  # type: ignore[no-untyped-def] # noqa: ARG001
        with np.errstate(invalid="ignore"):
            return -q * np.sqrt(goal)

    more: dict[str, Any] = {"tau": rooted, "arguments": {"goal": goal}} if is_program else {"tau": plain}
    motions = kt.simulate(ROBOT, q=Q, duration=0.01, **more)
    assert [(k, d.time, d.name, d.cause) for k, d in motions.diverged.items()] == [((1,), 1e-3, "shoulder", "torque")]
    np.testing.assert_array_equal(motions.q[1], np.broadcast_to(Q[1], (11, 2)))
    more = (
        {"tau": rooted, "arguments": {"goal": goal[2]}} if is_program else {"tau": lambda _t, q, _v: -q * np.sqrt(2.0)}
    )
    alone = kt.simulate(ROBOT, q=Q[2], duration=0.01, **more)
    np.testing.assert_array_equal(motions.q[2], alone.q)


def test_a_single_motion_raises_and_keeps_what_there_was() -> None:
    with pytest.raises(kt.errors.SimulationError, match="no longer finite at t = ") as error:
        kt.simulate(ROBOT, q=Q[1], tau=kick(1, 7)[1], duration=0.2, dt=0.01)
    kept = error.value.trajectory
    assert f"at t = {kept.time[-1] + 0.01:g} s" in str(error.value)
    assert np.isfinite(kept.q).all()


def test_a_motion_that_is_lost_does_not_divide_the_steps_of_the_others() -> None:
    """Friction that must be divided, in a batch with a motion that leaves all bounds between two looks."""
    builder = kt.ModelBuilder("braked")
    for name in ("ground", "wheel"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("axle", kt.Revolute([0, 0, 1]), "ground", "wheel", damping=[1.0])
    robot = builder.build()
    tau = np.zeros((2, 40, 1))
    tau[1, 11] = 1e308
    motions = kt.simulate(robot, v=[[1.0], [1.0]], tau=tau, duration=0.4, dt=0.01)
    alone = kt.simulate(robot, v=[1.0], tau=tau[0], duration=0.4, dt=0.01)
    assert alone.substeps > 1
    np.testing.assert_array_equal(motions.v[0], alone.v)
    assert list(motions.diverged) == [(1,)]


def braked(damping: float = 3000.0) -> kt.Model:
    """A mass on the rail of a hinge that is damped: near the axis it is stopped too fast for steps of 10 ms."""
    builder = kt.ModelBuilder("arm", gravity=(0.0, 0.0, 0.0))
    for name, mass in (("stand", 1.0), ("rail", 10.0), ("load", 1.0)):
        builder.add_body(name, kt.solids.box(0.2, 0.2, 0.2, mass=mass))
    builder.add_joint("hinge", kt.Revolute([0, 0, 1]), "stand", "rail", damping=[damping])
    builder.add_joint("slider", kt.Prismatic([1, 0, 0]), "rail", "load")
    return builder.build()


def test_friction_that_becomes_too_stiff_ends_the_motion_that_it_is_in() -> None:
    robot, settings = braked(), {"duration": 0.4, "dt": 0.01}
    q, v = np.array([[0.0, 0.95], [0.0, 0.95], [0.0, 0.9]]), np.array([[0.3, 0.1], [0.3, -3.0], [0.2, 0.0]])
    motions = kt.simulate(robot, q=q, v=v, **settings)
    ((sample, stop),) = motions.diverged.items()
    assert (sample, stop.name, stop.cause) == ((1,), "hinge", "friction")
    assert str(stop) == f"'hinge' has friction that is too stiff for the integrator's steps at t = {stop.time:g} s"
    for k in (0, 2):
        alone = kt.simulate(robot, q=q[k], v=v[k], **settings)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(motions[k], name), getattr(alone, name), err_msg=name)
    with pytest.raises(kt.errors.StiffFrictionError) as error:
        kt.simulate(robot, q=q[1], v=v[1], **settings)
    alone, row = error.value.trajectory, round(stop.time / 0.01)
    assert motions.ended[1] == stop.time
    assert row - 1 <= len(alone.q) - 1 <= row
    np.testing.assert_array_equal(motions.q[1, : len(alone.q)], alone.q)
    np.testing.assert_array_equal(motions.q[1, row:], np.broadcast_to(motions.q[1, row], (41 - row, 2)))
    with pytest.warns(
        kt.errors.SimulationWarning, match=r"1 of 3 motions cannot go on .* the first of them \(1,\): 'hinge' has"
    ):
        kt.simulate(robot, q=q, v=v, **settings)


def test_friction_that_is_too_stiff_from_the_beginning() -> None:
    robot = braked(1e5)
    with pytest.raises(kt.errors.StiffFrictionError, match="the friction of 'hinge' stops it within"):
        kt.simulate(robot, q=np.zeros((2, 2)), duration=0.1, dt=0.01)
    own = {"body.load.mass": np.array([1.0, 1e6])}
    heavy = kt.simulate(robot, q=[0.0, 1.0], v=[0.1, 0.0], duration=0.1, dt=0.01, parameters=own)
    assert [(k, one.time, one.cause) for k, one in heavy.diverged.items()] == [((0,), 0.0, "friction")]
    np.testing.assert_array_equal(heavy.q[0], np.tile([0.0, 1.0], (11, 1)))
    assert not heavy.tau[0].any()
