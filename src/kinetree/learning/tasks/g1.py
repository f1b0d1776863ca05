"""Unitree's humanoid G1 keeps standing under pushes, and walks as it is commanded."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.errors import ModelWarning
from kinetree.functions.kinematics import forward_kinematics
from kinetree.inputs import chosen_word
from kinetree.io.load import load
from kinetree.kinematics import body_velocities
from kinetree.learning.definition import environment
from kinetree.learning.distributions import Uniform
from kinetree.learning.environment import Environment
from kinetree.learning.kernel import Push
from kinetree.learning.tasks.quadruped import down
from kinetree.model import Model, ModelBuilder
from kinetree.random import fold, normal, uniform

__all__ = ["g1_stand", "g1_walk"]

FEET = ["left_ankle_roll_link", "right_ankle_roll_link"]
TRAINING = {
    "ppo": {
        "worlds": 1024, "horizon": 24, "hidden": (128, 128), "activation": "elu", "minibatches": 4, "divergence": 0.01,
        "steps": 15_000_000,
    }
}  # fmt: skip
"""Settings of `kt.learning.train`."""
SOLE = 0.035  # m from a foot's frame down to its sole
HOME = {
    "hip_pitch": -0.312, "knee": 0.669, "ankle_pitch": -0.363, "shoulder_pitch": 0.2, "left_shoulder_roll": 0.2,
    "right_shoulder_roll": -0.2, "elbow": 0.6,
}  # fmt: skip
"""The joints of a standing robot that are not straight, rad, by parts of their names."""
ROTORS = {
    "hip_roll": 0.0251, "knee": 0.0251, "hip": 0.01018, "waist_yaw": 0.01018, "ankle": 0.00722, "waist": 0.00722,
    "wrist_pitch": 0.00425, "wrist_yaw": 0.00425, "shoulder": 0.00361, "elbow": 0.00361, "wrist": 0.00361,
}  # fmt: skip
"""The inertia of a motor as seen at its joint, kg·m², by the first part of the joint's name that is here."""
SPEED = 20.0 * np.pi  # 1/s: a servo's natural frequency on its own rotor


def _of_joint(table: dict[str, float], name: str) -> float:
    return next((x for part, x in table.items() if part in name), 0.0)


def _robot(moving: str) -> tuple[Model, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The robot on the ground, the stiffness of its servos, and how far an action of 1 moves their targets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # about the file
        robot = load("g1_29dof_rev_1_0", source="example-robot-data", floating_base=True)
    names = [joint.name for joint in robot.driven_joints]
    still = [x for x in names if moving == "legs" and not any(part in x for part in ("hip", "knee", "ankle"))]
    robot = robot.lock({name: _of_joint(HOME, name) for name in still})
    rotors = {name: _of_joint(ROTORS, name) for name in names if name not in still}
    joints = (replace(x, armature=(rotors[x.name],)) if x.name in rotors else x for x in robot.parts.joints)
    robot = ModelBuilder.of(replace(robot.parts, joints=tuple(joints))).build()
    robot = robot.on_ground(friction=0.8).with_contacts(FEET).without_self_contact()
    inertia = np.array([*rotors.values()])
    stiffness = SPEED**2 * inertia
    robot = robot.with_servos(stiffness, 4.0 * SPEED * inertia)
    return robot, stiffness, 0.25 * robot.effort_limit[6:] / stiffness


def g1_walk(
    *,
    forward: tuple[float, float] = (-0.5, 1.0),
    sideways: tuple[float, float] = (-0.3, 0.3),
    turning: tuple[float, float] = (-0.8, 0.8),
    standing: float = 0.1,
    redraw: float = 5.0,
    stride: float = 0.8,
    swing: float = 0.1,
    moving: str = "legs",
    **options: Any,
) -> Environment:
    """Follow a commanded velocity on two legs: forward and sideways in the pelvis' own axes, and turning.

    The action moves the targets of the joints' servos from those of standing, in units of a quarter of what the
    motor's largest torque deflects its servo: 12 joints of the legs, or all 29. Waist and arms are held otherwise. The
    soles touch the ground with their four corners each, and nothing else touches anything. The observation (50,), or
    (101,), has the parts

    - velocity (3,) and rates (3,) of the pelvis in its own axes, m/s and rad/s;
    - down (3,), the direction of gravity in the pelvis' axes;
    - command (3,): forward, sideways, m/s, turning, rad/s;
    - joints (12,), from standing, rad, and speeds (12,), in 20 rad/s;
    - last (12,), the last action;
    - phase (2,), cosine and sine of the stride.

    The reward of a step is the sum of its named terms times 20 ms, less 1 for a fall: an episode ends if the pelvis is
    below 0.45 m or leans by more than 60°, or after 20 s. Friction and the torso's mass differ from episode to episode,
    measurements are noisy, and the robot is pushed every 8 s or so.

    Args:
        forward: range of the commands forward, m/s.
        sideways: range of the commands to the left, m/s.
        turning: range of the commands of turning to the left, rad/s.
        standing: how many of the commands are to stand, as a part of 1.
        redraw: how long a command holds on average, s.
        stride: the period of two steps, s.
        swing: how high a foot is lifted, m.
        moving: "legs" or "all" joints.
        options: those of `kt.environment`, which replace the task's own.

    Raises:
        MissingPackageError: example-robot-data, which holds the robot, is not installed.

    Source: for the rotors and the servos' gains and ranges, Liao et al., "BeyondMimic" (2025); for the kind of terms,
    Zakka et al., "MuJoCo Playground" (2025).

    >>> import kinetree as kt
    >>> env = kt.learning.task("g1_walk")
    >>> env.observation_size, env.action_size, env.dt
    (50, 12, 0.02)
    """
    robot, stiffness, reach = _robot(chosen_word("moving", moving, "legs", "all"))
    names, n = [servo.name for servo in robot.extras.actuators], robot.nv - 6
    home = np.array([_of_joint(HOME, name) for name in names])
    sideward = np.array([float("hip_roll" in name or "hip_yaw" in name) for name in names])
    start = np.concatenate([robot.neutral()[:7], home])
    height = SOLE - float(forward_kinematics(robot, start, frames=FEET)[0, 2, 3])
    low, high = np.transpose([forward, sideways, turning])

    def drawn(key: Any) -> Any:
        return np.where(uniform(fold(key, 1)) < standing, 0.0, uniform(key, 3, low, high))

    def reset(key: Any) -> dict[str, Any]:
        yaw = uniform(key, (), -0.5 * np.pi, 0.5 * np.pi)
        turn = np.stack([0.0 * yaw, 0.0 * yaw, np.sin(yaw), np.cos(yaw)])
        joints = home + uniform(fold(key, 1), n, -0.05, 0.05)
        q = np.concatenate([[0.0, 0.0, height + 0.01], turn, joints])
        v = normal(fold(key, 2), robot.nv, 0.0, 0.1)
        return {"q": q, "v": v, "command": drawn(fold(key, 3)), "phase": uniform(fold(key, 4))}

    def control(action: Any) -> Any:
        return home + reach * action

    def update(action: Any, key: Any, before: Any, phase: Any, command: Any) -> dict[str, Any]:
        is_new = uniform(key) < 0.02 / redraw
        command = np.where(is_new, drawn(fold(key, 1)), command)
        return {"command": command, "phase": np.mod(phase + 0.02 / stride, 1.0), "last": action, "earlier": before.last}

    def has_fallen(q: Any) -> Any:
        return (down(q)[2] > -0.5) | (q[2] < 0.45)

    def observe(q: Any, v: Any, command: Any, last: Any, phase: Any) -> dict[str, Any]:
        clock = np.stack([np.cos(2.0 * np.pi * phase), np.sin(2.0 * np.pi * phase)])
        return {
            "velocity": v[:3], "rates": v[3:6], "down": down(q), "command": command, "joints": q[7:] - home,
            "speeds": v[6:] / 20.0, "last": last, "phase": clock,
        }  # fmt: skip

    def reward(q: Any, v: Any, action: Any, before: Any, command: Any, phase: Any) -> dict[str, Any]:
        moves = np.where(np.sum(command**2) > 0.01, 1.0, 0.0)
        lifting = np.sin(2.0 * np.pi * (phase + np.array([0.0, 0.5]))) * moves  # a foot swings where it is positive
        feet = forward_kinematics(robot, q, frames=FEET)
        moving_feet = body_velocities(robot, q, v, frames=FEET, expressed_in="local_world_aligned")
        lifted = feet[:, 2, 3] - SOLE
        stands = np.where(lifting > 0.0, 0.0, 1.0)
        effort = stiffness * (home + reach * action - q[7:])
        leaning = down(q)[:2]
        astray, amiss = np.sum((command[:2] - v[:2]) ** 2), (command[2] - v[5]) ** 2
        terms = {
            "velocity": np.exp(-astray / 0.5) + np.exp(-astray / 0.1),
            "turning": 0.5 * np.exp(-amiss / 0.5) + 0.5 * np.exp(-amiss / 0.1),
            "alive": 1.0,
            "upright": -2.0 * np.sum(leaning**2),
            "rolling": -0.05 * np.sum(v[3:5] ** 2),
            "height": -20.0 * (q[2] - height) ** 2,
            "gait": -40.0 * np.sum((lifted - swing * np.maximum(lifting, 0.0)) ** 2),
            "slip": -0.1 * np.sum(stands[:, None] * moving_feet[:, :2] ** 2),
            "flat": -0.5 * np.sum(feet[:, 2, :2] ** 2),
            "pose": -np.sum((0.5 * sideward + (1.0 - moves)) * (q[7:] - home) ** 2),
            "effort": -2e-5 * np.sum(effort**2),
            "smoothness": -0.01 * np.sum((action - 2.0 * before.last + before.earlier) ** 2),
        }
        return {**{name: 0.02 * term for name, term in terms.items()}, "fall": -1.0 * has_fallen(q)}

    usual: dict[str, Any] = {
        "name": "g1_walk",
        "randomize": {
            "body.torso_link.mass": Uniform(0.8, 1.2, relative=True),
            "shape.ground.friction": Uniform([0.4, 0.005, 1e-4], [1.1, 0.005, 1e-4]),
        },
        "noise": {"velocity": 0.05, "rates": 0.1, "down": 0.02, "joints": 0.01, "speeds": 0.02},
        "push": Push(every=8.0, speed=0.4),
        "memory": {"command": 3, "phase": (), "last": n, "earlier": n},
    }
    return environment(
        robot, reset=reset, control=control, update=update, observe=observe, reward=reward,
        terminate=has_fallen, action=n, dt=0.005, frame_skip=4, integrator="implicitfast", on_fault="end",
        **{**usual, **options},
    )  # fmt: skip


def g1_stand(*, push: Push | None = Push(every=3.0, speed=1.0), **options: Any) -> Environment:  # noqa: B008
    """Stand, and step where a push makes that necessary: `g1_walk` without commands, pushed harder and more often.

    Args:
        push: the pushes.
        options: those of `g1_walk`.

    >>> import kinetree as kt
    >>> env = kt.learning.task("g1_stand")
    >>> env.name, env.max_steps
    ('g1_stand', 1000)
    """
    return g1_walk(**{"standing": 1.0, "name": "g1_stand", "push": push, **options})
