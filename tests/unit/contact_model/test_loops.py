"""Closed loops and held frames among the soft constraints, `kt.contact.soft_constraints(robot, constraints=…)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.functions.contact_options import soft
from kinetree.spatial import Inertia, Sym3, Vec3

D = 0.9999
"""Their impedance."""
K, B = 400.0, 30.0
UP = np.array([0.0, 0.0, 1.0])


def stone() -> kt.Model:
    """A free body of 2 kg, the same about all axes."""
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", Inertia.from_com(2.0, Vec3.zero(), Sym3.scalar(0.3)))
    return builder.build(floating_base=True)


def acceleration(robot: kt.Model, constraints: Any, q: Any, v: Any) -> np.ndarray:
    """The algorithm itself."""
    found, tree = kt.contact.soft_constraints(robot, constraints=constraints), robot.tree
    rows = soft(robot, found, (), written_out=True)
    assert rows is not None
    state = tree.split([*map(float, q)], "nq"), tree.split([*map(float, v)], "nv")
    at_rest = tree.split([0.0] * robot.nv, "forces")
    return np.array(algorithms.contact_dynamics(tree, *state, at_rest, rows(tree, *state, 0.0)[0]).acceleration)


def test_a_held_frame_is_pulled_by_its_gains() -> None:
    """q̈ = (1 - d) g + d (-K r - B ẋ), in all six directions."""
    place = kt.lie.placement([0.1, 0.2, 0.3])
    hold = kt.constraints.Contact("stone", "fixed", at=place, position_gain=K, velocity_gain=B)
    v, angle = np.array([0.3, -0.1, 0.2, 0.0, 0.0, 0.5]), 0.2
    q = np.array([0.11, 0.18, 0.31, 0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)])
    found = acceleration(stone(), hold, q, v)
    turn = kt.lie.placement(rpy=[0.0, 0.0, angle]).E
    in_world = np.array((turn.T @ Vec3(*v[:3])).components())
    wanted = (1.0 - D) * -9.81 * UP - D * (K * np.array([0.01, -0.02, 0.01]) + B * in_world)
    spun = np.array((turn @ Vec3(*wanted)).components()) - np.cross(v[3:], v[:3])
    np.testing.assert_allclose(found[:3], spun, rtol=1e-9)
    np.testing.assert_allclose(found[3:], -D * (K * angle * UP + B * v[3:]), atol=1e-9)


def test_what_contradicts_itself_meets_halfway() -> None:
    """Two places for one point: all rows give way alike, whichever comes first, and nothing grows."""
    robot = stone()
    holds = [kt.constraints.Contact("stone", at=[x, 0.0, 0.0]) for x in (-0.1, 0.3)]
    ends = []
    for pair in (holds, holds[::-1]):
        contact = kt.contact.soft_constraints(robot, 0.001, constraints=pair)
        states = kt.rollout(robot, robot.neutral(), np.zeros(6), np.zeros((500, 6)), 0.001, contact=contact)
        assert np.isfinite(states).all()
        ends.append(states[-1])
    np.testing.assert_allclose(ends[0][:3], [0.1, 0.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_without_gains_errors_vanish_with_the_usual_time_constant() -> None:
    """2 / (d T) and 1 / (d T)² take the places of B and K d, as for MuJoCo's constraints."""
    hold = kt.constraints.Contact("stone", at=[0.0, 0.0, 0.0])
    found = acceleration(stone(), hold, [0.01, 0, 0, 0, 0, 0, 1], [0.2, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(found[0], D * (-0.2 * 2 / (D * 0.02) - D * 0.01 / (D * 0.02) ** 2), rtol=1e-9)


def test_a_blade_is_braked_and_stays_nowhere() -> None:
    """What turns with the frame has no place, so only its speed is held."""
    blade = kt.constraints.Contact("stone", [0, 1, 0], axes="local", velocity_gain=B)
    found = acceleration(stone(), blade, [5, 7, 0, 0, 0, 0, 1], [0.0, 0.2, 0, 0, 0, 0])
    np.testing.assert_allclose(found[1], -D * B * 0.2, rtol=1e-9)


def test_a_rod_holds_a_distance() -> None:
    robot = kt.zoo.load("double_pendulum")
    *_, tip = robot.bodies
    q = robot.random(3)
    place = kt.frame_placement(robot, q, tip)[:3, 3]
    builder = kt.ModelBuilder.of(robot)
    base = next(iter(robot.bodies))
    builder.add_frame("hook", base, kt.lie.placement([0.3, 0.1, 0.2]))
    robot = builder.build()
    length = float(np.linalg.norm(place - kt.frame_placement(robot, q, "hook")[:3, 3]))
    rod = [kt.constraints.Loop("hook", tip, "distance", length=length)]
    hard = kt.constraints.constrained_dynamics(robot, q, np.zeros(2), np.zeros(2), rod).qdd
    np.testing.assert_allclose(acceleration(robot, rod, q, [0, 0]), hard, rtol=0, atol=3e-4 * 9.81)


@pytest.mark.parametrize(
    ("constraints", "what"),
    [
        (3, "constraints must be a list of kt.constraints.Contact and kt.constraints.Loop, not 3"),
        (["stone"], "but constraint 0 is 'stone'"),
        ([kt.constraints.Contact("stone")], r"says not where 'stone' is held, and it would creep; give at="),
        ([kt.constraints.Contact("stone", at=np.zeros((4, 3)))], "constraint 0 on stone differs from sample to sample"),
        (
            [kt.constraints.Contact("stone", at=[0, 0, 0], velocity_gain=np.ones(4))],
            "constraint 0 on stone differs from sample to sample",
        ),
    ],
)
def test_what_cannot_be_held_is_refused(constraints: Any, what: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=what):
        kt.contact.soft_constraints(stone(), constraints=constraints)


def test_frames_that_are_not_there_are_named() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="tone"):
        kt.contact.soft_constraints(stone(), constraints=kt.constraints.Contact("tone", at=[0, 0, 0]))


def test_simulate_says_how_both_go_together() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"give contact=kt.contact.soft_constraints\(robot, constraints=\[…\]\)"
    ):
        kt.simulate(stone(), contact=True, constraints=[kt.constraints.Contact("stone")])


def test_given_constraints_must_be_complete(tmp_path: Any) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(
        """<mujoco><option noslip_iterations="3"/><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body>
        </worldbody></mujoco>"""
    )
    robot = kt.load(path)
    with pytest.raises(
        kt.errors.OptionError, match=r"noslip.*order of the contacts.*dataclasses.replace\(contact, unsupported"
    ):
        kt.contact_dynamics(robot, [0.0], [0.0], [0.0], contact=kt.contact.soft_constraints(robot))
