"""Operational-space control: tasks move as asked, and later ones leave earlier ones untouched."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.control import Orientation, Pose, Position
from kinetree.control.laws.task_blocks import TaskBlocks

Array = NDArray[np.float64]
ARM = kt.zoo.load("arm7")
Q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])


@cache
def two_tasks() -> kt.programs.Program:
    turn, elbow = Orientation("tool", priority=1), Position("forearm_a", priority=2)
    return kt.control.operational_space(ARM, {"turn": turn, "hand": Position("tool"), "elbow": elbow})


def given(q: Array, **more: Array) -> dict[str, Array]:
    gains = {
        f"{name}_{what}": np.full(3, x)
        for name in ("hand", "turn", "elbow")
        for what, x in (("stiffness", 25.0), ("damping", 10.0))
    }
    targets = {
        "hand": kt.frame_placement(ARM, Q, "tool")[:3, 3] + 0.1,
        "turn": kt.frame_placement(ARM, Q, "tool")[:3, :3],
        "elbow": kt.frame_placement(ARM, Q, "forearm_a")[:3, 3] + [0.0, 0.2, 0.0],
    }
    return {"q": q, **gains, **targets, **more}


def accelerations(tau: Array, q: Array, v: Array, frame: str) -> Array:
    qdd = kt.aba(ARM, q, v, tau)
    return kt.kinematics.frame_acceleration(ARM, q, v, qdd, frame, expressed_in="local_world_aligned", kind="classical")


def test_each_task_accelerates_as_asked_and_the_last_one_as_it_can() -> None:
    v = np.random.default_rng(0).normal(size=7)
    arguments = given(Q, v=v, hand_velocity=np.array([0.1, 0.2, 0.3]), hand_acceleration=np.array([1.0, 2.0, -1.0]))
    tau = two_tasks()(**arguments)
    twist = kt.kinematics.frame_velocity(ARM, Q, v, "tool", expressed_in="local_world_aligned")
    wanted = np.array([1.0, 2.0, -1.0]) + 10.0 * (np.array([0.1, 0.2, 0.3]) - twist[:3]) + 25.0 * 0.1
    reached = accelerations(tau, Q, v, "tool")
    assert np.abs(reached[:3] - wanted).max() < 1e-9
    assert np.abs(reached[3:] + 10.0 * twist[3:]).max() < 1e-9

    aside = two_tasks()(**{**arguments, "elbow": arguments["elbow"] + 1.0})  # the elbow asks for something else
    assert np.abs(aside - tau).max() > 1.0
    assert np.abs(accelerations(aside, Q, v, "tool") - reached).max() < 1e-9


def test_it_is_khatib_s_law_for_one_task() -> None:
    rng = np.random.default_rng(1)
    q, v, rest = ARM.random(rng), rng.normal(size=7), ARM.random(rng)
    aim = kt.frame_placement(ARM, q, "tool")[:3, 3] + rng.normal(size=3)
    law = kt.control.operational_space(ARM, {"hand": Position("tool")})
    tau = law(
        q, v, aim, np.full(3, 100.0), np.full(3, 20.0), posture=rest, posture_stiffness=np.full(7, 25.0),
        posture_damping=np.full(7, 10.0),
    )  # fmt: skip
    tool = {"frame": "tool", "expressed_in": "local_world_aligned"}
    J = kt.frame_jacobian(ARM, q, **tool, part="linear")
    rate = kt.kinematics.frame_bias_acceleration(ARM, q, v, **tool, kind="classical")[:3]
    M = kt.crba(ARM, q)
    Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    x = kt.frame_placement(ARM, q, "tool")[:3, 3]
    F = Lambda @ (100.0 * (aim - x) - 20.0 * J @ v - rate)
    posture = M @ (25.0 * (rest - q) - 10.0 * v)
    expected = J.T @ F + posture - J.T @ Lambda @ J @ np.linalg.solve(M, posture) + kt.bias_forces(ARM, q, v)
    assert np.abs(tau - expected).max() < 1e-9 * np.abs(expected).max()


def test_the_hand_stays_where_it_is_while_the_elbow_swings() -> None:
    law = kt.control.operational_space(ARM, {"hand": Position("tool")})
    there = kt.frame_placement(ARM, Q, "tool")[:3, 3]
    motion = kt.simulate(
        ARM, q=Q, tau=law, duration=0.5, control_dt="stages", passive=False,
        arguments={
            "hand": there, "hand_stiffness": np.full(3, 400.0), "hand_damping": np.full(3, 40.0),
            "posture": Q + np.array([1.0, 0, 0, 0, 0, 0, 0]), "posture_stiffness": np.full(7, 50.0),
            "posture_damping": np.full(7, 10.0),
        },
    )  # fmt: skip
    assert np.abs(motion.q[-1] - Q).max() > 0.1
    assert np.abs(kt.frame_placement(ARM, motion.q, "tool")[:, :3, 3] - there).max() < 1e-9


def test_a_task_without_damping_is_a_spring_and_one_without_weight_is_nothing() -> None:
    """Stiffness alone, of the hand; a limit of the speed of nothing but dampers would be none."""
    hand, rest = kt.frame_placement(ARM, Q, "tool")[:3, 3], np.zeros(7)
    law = kt.control.operational_space(ARM, {"hand": Position("tool"), "off": Pose("tool", weight=0.0, priority=1)})
    off = {"off": np.eye(4), "off_stiffness": np.ones(6), "off_damping": np.ones(6)}
    tau = law(Q, rest, hand + 0.1, np.full(3, 25.0), rest[:3], **off)
    assert np.abs(accelerations(tau, Q, rest, "tool")[:3] - 2.5).max() < 1e-9
    nothing = kt.control.operational_space(ARM, {"off": Pose("tool", weight=0.0)})
    assert np.allclose(nothing(Q, rest, **off), kt.gravity_forces(ARM, Q), rtol=0, atol=1e-12)


def test_bodies_without_mass_are_moved_by_their_armatures() -> None:
    builder = kt.ModelBuilder("rotors")
    for name in ("base", "arm"):
        builder.add_body(name)
    builder.add_joint("turn", kt.Revolute([0, 0, 1]), "base", "arm", kt.lie.placement([1.0, 0.0, 0.0]), armature=[2.0])
    builder.add_frame("tip", "arm", kt.lie.placement([0.5, 0.0, 0.0]))
    law = kt.control.operational_space(builder.build(), {"tip": Position("tip", axes="y")})
    tau = law([0.0], [0.0], [0.0, 0.3, 0.0], [10.0], [1.0])
    assert np.allclose(tau, [2.0 * 10.0 * 0.3 / 0.5])


def test_singular_tasks_and_tasks_that_contradict_each_other_take_finite_forces() -> None:
    """The same place twice, and a stretched arm: earlier rows are met where they can be, and forces stay bounded."""
    law = kt.control.operational_space(ARM, {"one": Pose("tool"), "other": Pose("tool", priority=1)})
    here, away = kt.frame_placement(ARM, Q, "tool"), kt.frame_placement(ARM, Q, "tool")
    away[:3, 3] += [0.3, -0.4, 0.2]
    gains = {f"{name}_{what}": np.full(6, 25.0) for name in ("one", "other") for what in ("stiffness", "damping")}
    tau = law(Q, np.zeros(7), one=here, other=away, **gains)
    assert np.abs(accelerations(tau, Q, np.zeros(7), "tool")).max() < 1e-8
    stretched = np.zeros(7)
    gaps = np.abs(
        [law(stretched + x, np.zeros(7), one=away, other=here, **gains) for x in (0.0, 1e-9, 1e-6, 1e-3, 0.1)]
    )
    assert np.isfinite(gaps).all()
    assert gaps.max() < 1e5
    assert np.abs(gaps[1] - gaps[0]).max() < 1e-4


def test_a_target_beyond_reach_is_approached_and_the_arm_comes_to_rest() -> None:
    """The arm stretches, at a limited speed, and stays at rest where it is nearest, from where it comes back."""
    law = kt.control.operational_space(ARM, {"hand": Position("tool")})
    far = np.array([2.0, 0.3, 0.5])
    arguments = {"hand": far, "hand_stiffness": np.full(3, 50.0), "hand_damping": np.full(3, 14.0)}
    arguments |= {"hand_speed": np.full(3, 0.3), "posture_damping": np.full(7, 10.0)}
    states, _ = kt.rollout(ARM, Q, np.zeros(7), law, 1e-3, steps=8000, arguments=arguments)
    away = np.linalg.norm(kt.frame_placement(ARM, states[::500, :7], "tool")[:, :3, 3] - far, axis=1)
    assert np.abs(states[:, 7:]).max() < 20.0
    assert np.abs(states[-1, 7:]).max() < 0.01
    assert away[-1] < away.min() + 0.02
    arguments["hand"] = kt.frame_placement(ARM, Q, "tool")[:3, 3]
    back, _ = kt.rollout(ARM, states[-1, :7], states[-1, 7:], law, 1e-3, steps=8000, arguments=arguments)
    assert np.abs(kt.frame_placement(ARM, back[-1, :7], "tool")[:3, 3] - arguments["hand"]).max() < 1e-3


def test_tasks_are_projected_in_the_metric_of_the_mass_matrix() -> None:
    rng = np.random.default_rng(2)
    q, J = ARM.random(rng), rng.normal(size=(5, 7))
    blocks, tau, v = TaskBlocks(ARM, q, [J[:3], J[3:]], 0.1), rng.normal(size=7), rng.normal(size=7)
    M = kt.crba(ARM, q)
    assert np.abs(J @ np.linalg.solve(M, blocks.unfelt(tau))).max() < 1e-11
    assert np.abs(J @ blocks.free(v)).max() < 1e-11
    assert abs(blocks.unfelt(tau) @ v - tau @ blocks.free(v)) < 1e-11  # Nᵀ and N
    wanted = rng.normal(size=5)
    assert np.abs(J @ np.linalg.solve(M, blocks.forces([wanted[:3], wanted[3:]])) - wanted).max() < 1e-11
    assert np.allclose(blocks.mobility, J[:3] @ np.linalg.solve(M, J[:3].T))


def test_a_task_that_cannot_be_met_is_met_in_the_least_squares_and_earlier_ones_exactly() -> None:
    """Two rows are one row twice, with contradicting accelerations; a third is free."""
    rng = np.random.default_rng(3)
    q, J = ARM.random(rng), rng.normal(size=(2, 7))
    M = kt.crba(ARM, q)
    twice = np.stack([J[0], J[0], J[1]])
    tau = TaskBlocks(ARM, q, [twice], 0.1).forces([np.array([1.0, 3.0, -1.0])])
    assert np.allclose(J @ np.linalg.solve(M, tau), [2.0, -1.0], rtol=0, atol=0.03)
    tau = TaskBlocks(ARM, q, [J[:1], twice], 0.1).forces([np.array([1.0]), np.array([3.0, 3.0, -1.0])])
    reached = J @ np.linalg.solve(M, tau)
    assert abs(reached[0] - 1.0) < 1e-9
    assert abs(reached[1] + 1.0) < 0.03


def test_tasks_of_one_priority_are_weighed_against_each_other() -> None:
    law = kt.control.operational_space(ARM, {"one": Position("tool", weight=3.0), "other": Position("tool")})
    here, away = kt.frame_placement(ARM, Q, "tool")[:3, 3], kt.frame_placement(ARM, Q, "tool")[:3, 3] + 0.4
    gains = {f"{name}_{what}": np.full(3, 25.0) for name in ("one", "other") for what in ("stiffness", "damping")}
    tau = law(Q, np.zeros(7), one=here, other=away, **gains)
    assert np.allclose(accelerations(tau, Q, np.zeros(7), "tool")[:3], 25.0 * 0.4 / 4, rtol=0.01)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({}, "must be a dict of tasks"),
        ([Pose("tool")], "must be a dict of tasks"),
        ({"hand": "tool"}, "must be a dict of tasks"),
        ({"my hand": Pose("tool")}, "cannot be called 'my hand'"),
        ({"from": Pose("tool")}, "cannot be called 'from'"),
        ({"posture": Pose("tool")}, "has the name of one of them"),
        ({"hand": Pose("tool"), "hand_damping": Pose("tool")}, "has the name of one of them"),
    ],
)
def test_impossible_tasks_are_reported(tasks: object, message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.control.operational_space(ARM, tasks)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.NameNotFoundError, match="hammer"):
        kt.control.operational_space(ARM, {"hand": Pose("hammer")})
