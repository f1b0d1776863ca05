"""Constraints inside programs: their places, lengths and gains may be symbolic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.programs.alike import assert_runs_as_it_is

ARM = kt.zoo.load("double_pendulum")
TIP = list(ARM.frames)[-1]
Q, V, TAU = np.random.default_rng(1).normal(size=(3, 2))
PLACE = np.array([0.3, -0.2, 0.5])


def test_places_of_contacts() -> None:
    def errors(q: Any, at: Any) -> Any:
        return kt.constraints.constraint_errors(
            ARM, q, [kt.constraints.Contact(TIP, at=at), kt.constraints.Contact(TIP, [0, 0, 1], at=[at[0], 0.0, 1.0])]
        )

    assert_runs_as_it_is(errors, Q, PLACE)


def test_poses_of_contacts() -> None:
    def errors(q: Any, wanted: Any) -> Any:
        pose = kt.frame_placement(ARM, wanted, TIP)
        return kt.constraints.constraint_errors(
            ARM, q, [kt.constraints.Contact(TIP, "fixed", at=pose), kt.constraints.Contact(TIP, at=pose)]
        )

    assert_runs_as_it_is(errors, Q, V)


def test_one_place_per_sample() -> None:
    def errors(q: Any, places: Any) -> Any:
        return kt.constraints.constraint_errors(
            ARM, q, [kt.constraints.Contact(TIP, at=places), kt.constraints.Contact(TIP, at=[1.0, 2.0, 3.0])]
        )

    assert_runs_as_it_is(errors, Q, np.stack([PLACE, 2 * PLACE, -PLACE]))


def test_lengths_gains_damping_and_restitution() -> None:
    def motion(q: Any, v: Any, tau: Any, x: Any) -> Any:
        rod = kt.constraints.Loop(ARM.root, TIP, "distance", length=x[0], position_gain=x[1], velocity_gain=3.0)
        ground = kt.constraints.Contact(
            TIP, [1.0, 0.0, 0.0], at=[x[0], 0.0, x[1]], position_gain=2.0, velocity_gain=x[2]
        )
        held = [rod, ground]
        return (
            kt.constraints.constraint_errors(ARM, q, held),
            kt.constraints.constrained_dynamics(ARM, q, v, tau, held, damping=x[3]),
            kt.constraints.constraint_forces(ARM, q, v, tau, held, acceleration=x[:2], damping=0.1),
            kt.constraints.impact(ARM, q, v, [ground], restitution=x[3]),
            kt.constraints.impact(ARM, q, v, held, restitution=x[2:], damping=x[1]),
            kt.constraints.operational_space_inertia(ARM, q, held, damping=x[0]),
        )

    assert_runs_as_it_is(motion, Q, V, TAU, np.array([0.8, 4.0, 0.6, 0.3]))


def test_weights_of_forces_and_torques() -> None:
    def forces(q: Any, v: Any, w: Any) -> Any:
        return kt.constraints.constrained_inverse_dynamics(
            ARM,
            q,
            v,
            v,
            [kt.constraints.Contact(TIP, [1.0, 0.0, 0.0])],
            smallest="both",
            torque_weights=w,
            force_weights=[w[0]],
        )

    assert_runs_as_it_is(forces, Q, V, np.array([2.0, 0.5]))


def test_held_velocities() -> None:
    assert_runs_as_it_is(
        lambda q, v: kt.constraints.nearest_velocity(ARM, q, v, [kt.constraints.Contact(TIP, [1.0, 0.0, 0.0])]), Q, V
    )


def test_a_constraint_of_an_earlier_run_is_refused() -> None:
    kept: list[kt.constraints.Contact] = []

    @kt.program(q=2, at=3)
    def errors(q: Any, at: Any) -> Any:
        kept.append(kt.constraints.Contact(TIP, at=at))
        return kt.constraints.constraint_errors(ARM, q, kept[:1])

    with pytest.raises(kt.errors.ProgramError, match=r"test_constraints.py:\d+: an array of an earlier run"):
        print(errors(Q, PLACE), errors(Q.astype("f"), PLACE.astype("f")))


def test_what_depends_on_numbers_says_what_to_do() -> None:
    walker = kt.zoo.load("quadruped")
    feet = [kt.constraints.Contact(name) for name in walker.frames if name.endswith("foot")]

    @kt.program(q=walker, v=walker.nv)
    def forces(q: Any, v: Any) -> Any:
        return kt.constraints.constrained_inverse_dynamics(walker, q, v, v, feet)

    @kt.program(q=2, at=3)
    def nearest(q: Any, at: Any) -> Any:
        return kt.constraints.nearest_configuration(ARM, q, [kt.constraints.Contact(TIP, at=at)]).q

    @kt.program(q=walker, tau=walker.nv)
    def checked(q: Any, tau: Any) -> Any:
        return kt.aba(walker, q, tau, tau, on_unactuated="error")

    with pytest.raises(kt.errors.ProgramError, match=r"test_constraints.py:\d+: .*pass on_impossible='least_squares'"):
        forces(walker.neutral(), np.zeros(walker.nv))
    with pytest.raises(kt.errors.ProgramError, match=r"take a fixed number of steps q = kt.integrate\(robot, q, -J.T"):
        nearest(Q, PLACE)
    with pytest.raises(kt.errors.ProgramError, match=r"multiply it by robot\.actuated"):
        checked(walker.neutral(), np.zeros(walker.nv))


def test_forces_that_are_certainly_zero_pass_the_check_of_motors() -> None:
    walker = kt.zoo.load("quadruped")

    @kt.program(q=walker, motors=walker.nv - 6)
    def gravity(q: Any, motors: Any) -> Any:
        tau = np.concatenate([np.zeros(6), motors])
        walker.check_actuation(tau)
        return kt.gravity_forces(walker, q)[:6] + tau[:6]

    assert gravity(walker.neutral(), np.ones(12)).shape == (6,)
