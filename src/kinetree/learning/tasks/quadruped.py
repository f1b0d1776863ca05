"""Quadruped: a walking robot follows commanded velocities, on flat ground or on hills."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.kinematics import forward_kinematics
from kinetree.functions.shape_distances import ray_distance
from kinetree.learning.definition import environment
from kinetree.learning.distributions import Uniform
from kinetree.learning.environment import Environment
from kinetree.learning.kernel import Push
from kinetree.random import fold, uniform
from kinetree.zoo import load

__all__ = ["down", "quadruped", "quadruped_rough"]

HOME = np.tile([0.0, 0.75, -1.5], 4)
"""The joints of a standing robot, rad: abduction, hip and knee of each leg."""
TRAINING: dict[str, dict[str, Any]] = {
    "ppo": {
        "worlds": 1024, "horizon": 24, "hidden": (128, 128), "activation": "elu", "minibatches": 4, "divergence": 0.01,
        "std": 0.7, "steps": 7_500_000,
    }
}  # fmt: skip
"""Settings of `kt.learning.train`."""
STIFFNESS, DAMPING = 50.0, 1.0  # N·m/rad and N·m·s/rad
REACH = 0.35  # rad by which an action of 1 moves the target of a joint
RADIUS, EDGE = 0.02, 6.0  # m: of a foot, and from the middle of the hills to their edge
TROT = np.array([0.0, 0.5, 0.5, 0.0])  # the phases of the legs, as parts of a stride


def down(q: Any) -> Any:
    """The direction of gravity (3,) in the axes of a floating base, of its unit quaternion in q (nq,)."""
    x, y, z, w = q[3:7]
    return -np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


def quadruped(
    *,
    forward: tuple[float, float] = (-0.8, 1.2),
    sideways: tuple[float, float] = (-0.5, 0.5),
    turning: tuple[float, float] = (-1.0, 1.0),
    redraw: float = 5.0,
    stride: float = 0.5,
    roughness: float = 0.0,
    **options: Any,
) -> Environment:
    """Follow a commanded velocity: forward and sideways in the trunk's own axes, and turning.

    The action (12,) moves the targets of the joints' servos from those of standing, in units of 0.35 rad. The
    observation (50,) has the parts

    - velocity (3,) and rates (3,) of the trunk in its own axes, m/s and rad/s;
    - down (3,), the direction of gravity in the trunk's axes;
    - command (3,): forward, sideways, m/s, turning, rad/s;
    - joints (12,), from standing, rad, and speeds (12,), in 20 rad/s;
    - last (12,), the last action;
    - phase (2,), cosine and sine of the stride.

    The reward of a step is the sum of its named terms times 20 ms. An episode ends if the trunk is low or has fallen to
    its side, or after 20 s. Friction, the trunk's mass and the servos' stiffness differ from episode to episode, what
    is measured has noise, and the trunk is pushed every 8 s or so.

    Args:
        forward: range of the commands forward, m/s.
        sideways: range of the commands to the left, m/s.
        turning: range of the commands of turning to the left, rad/s.
        redraw: how long a command holds on average, s. One in ten is to stand.
        stride: the period of the trot, s.
        roughness: the root of the mean square of the slope of the ground; 0 is flat.
        options: those of `kt.environment`, which replace the task's own.

    Source of the kind of terms: Rudin, Hoeller, Reist and Hutter, "Learning to walk in minutes using massively parallel
    deep reinforcement learning" (2022).

    >>> import kinetree as kt
    >>> env = kt.learning.task("quadruped")
    >>> env.observation_size, env.action_size, env.dt
    (50, 12, 0.02)
    """
    robot = load("quadruped")
    feet = [name for name in robot.frames if name.endswith("_foot")]
    if roughness:
        robot = robot.on_terrain(steepness=roughness, size=(2.0 * EDGE, 2.0 * EDGE), friction=0.8, name="ground")
    else:
        robot = robot.on_ground(friction=0.8)
    robot = robot.with_contacts(feet).without_self_contact().with_servos(STIFFNESS, DAMPING)
    start = robot.neutral()
    start[7:] = HOME
    height = RADIUS - float(forward_kinematics(robot, start, frames=feet)[0, 2, 3])
    low, high = np.transpose([forward, sideways, turning])

    def drawn(key: Any) -> Any:
        stands = uniform(fold(key, 1)) < 0.1
        return np.where(stands, 0.0, uniform(key, 3, low, high))

    def reset(key: Any) -> dict[str, Any]:
        noise = uniform(key, 13, -1.0, 1.0)
        half = 0.5 * np.pi * noise[12]
        turn = np.stack([0.0, 0.0, np.sin(half), np.cos(half)])
        q = np.concatenate([[0.0, 0.0, height + 0.02], turn, HOME + 0.1 * noise[:12]])
        if roughness:  # up, until the feet are above the hills
            above = feet_of(q) + np.array([0.0, 0.0, 1.0 - RADIUS])
            depths = 1.0 - ray_distance(robot, q, above, [0.0, 0.0, -1.0], bodies=[robot.root])
            q = q + np.maximum(np.max(depths) + 0.02, 0.0) * (np.arange(robot.nq) == 2)
        return {"q": q, "command": drawn(fold(key, 1)), "phase": uniform(fold(key, 2)), "feet": feet_of(q)}

    def feet_of(q: Any) -> Any:
        return forward_kinematics(robot, q, frames=feet)[:, :3, 3]

    def control(action: Any) -> Any:
        return HOME + REACH * action

    def update(q: Any, action: Any, key: Any, before: Any, phase: Any, command: Any) -> dict[str, Any]:
        is_new = uniform(key) < 0.02 / redraw
        return {
            "command": np.where(is_new, drawn(fold(key, 1)), command),
            "phase": np.mod(phase + 0.02 / stride, 1.0),
            "last": action,
            "earlier": before.last,
            "feet": feet_of(q),
        }

    def lifts(phase: Any, command: Any) -> Any:
        """How high the feet should be: those of the legs that swing, if the robot is to move."""
        return 0.08 * np.maximum(np.sin(2.0 * np.pi * (phase + TROT)), 0.0) * moves(command)

    def moves(command: Any) -> Any:
        return np.where(np.sum(command * command) > 0.01, 1.0, 0.0)

    def ground(feet: Any, phase: Any, command: Any) -> Any:
        """The height of the ground; on hills that below the feet, if they were lifted as they should be."""
        return np.mean(feet[:, 2] - RADIUS - lifts(phase, command)) if roughness else 0.0

    def has_fallen(q: Any, feet: Any, phase: Any, command: Any) -> Any:
        return (down(q)[2] > -0.5) | (q[2] - ground(feet, phase, command) < 0.16)

    def terminate(q: Any, feet: Any, phase: Any, command: Any) -> Any:
        is_over = has_fallen(q, feet, phase, command)
        return is_over | np.any(np.abs(q[:2]) > EDGE - 0.5) if roughness else is_over

    def observe(q: Any, v: Any, command: Any, last: Any, phase: Any) -> dict[str, Any]:
        return {
            "velocity": v[:3],
            "rates": v[3:6],
            "down": down(q),
            "command": command,
            "joints": q[7:] - HOME,
            "speeds": v[6:] / 20.0,
            "last": last,
            "phase": np.stack([np.cos(2.0 * np.pi * phase), np.sin(2.0 * np.pi * phase)]),
        }

    def reward(q: Any, v: Any, action: Any, before: Any, command: Any, phase: Any, feet: Any) -> Any:
        g, floor, lift = down(q), ground(feet, phase, command), lifts(phase, command)
        slip = (feet[:, :2] - before.feet[:, :2]) / 0.02
        effort = STIFFNESS * (HOME + REACH * action - q[7:]) - DAMPING * v[6:]
        astray, turned_astray = np.sum((command[:2] - v[:2]) ** 2), (command[2] - v[5]) ** 2
        terms = {
            "velocity": np.exp(-astray / 0.4) + np.exp(-astray / 0.04),
            "turning": 0.5 * np.exp(-turned_astray / 0.4) + 0.25 * np.exp(-turned_astray / 0.04),
            "bobbing": -1.0 * v[2] ** 2,
            "rolling": -0.02 * np.sum(v[3:5] ** 2),
            "upright": -2.0 * np.sum(g[:2] ** 2),
            "height": -20.0 * (q[2] - floor - height) ** 2,
            "gait": -80.0 * np.sum((feet[:, 2] - RADIUS - floor - lift) ** 2),
            "slip": -0.1 * np.sum((lift == 0.0) * np.minimum(np.sum(slip**2, axis=1), 1.0)),
            "effort": -2e-4 * np.sum(effort**2),
            "smoothness": -0.01 * np.sum((action - 2.0 * before.last + before.earlier) ** 2),
            "pose": -0.1 * np.sum((q[[7, 10, 13, 16]]) ** 2),
            "rest": -0.5 * (1.0 - moves(command)) * np.sum((q[7:] - HOME) ** 2),
            "alive": 1.0,
        }
        falls = {"fall": -1.0 * has_fallen(q, feet, phase, command)}
        return {name: 0.02 * term for name, term in terms.items()} | falls

    usual: dict[str, Any] = {
        "name": "quadruped",
        "randomize": {
            "body.trunk.mass": Uniform(0.85, 1.15, relative=True),
            "shape.ground.friction": Uniform([0.5, 0.005, 1e-4], [1.1, 0.005, 1e-4]),
            "actuator.*.kp": Uniform(0.9, 1.1, relative=True),
        },
        "noise": {"rates": 0.05, "down": 0.01, "joints": 0.01, "speeds": 0.02},
        "push": Push(every=8.0, speed=0.4),
        "memory": {"command": 3, "phase": (), "last": 12, "earlier": 12, "feet": (4, 3)},
        "max_steps": 1000,
    }
    return environment(
        robot, reset=reset, control=control, update=update, observe=observe, reward=reward,
        terminate=terminate, action=12, dt=0.005, frame_skip=4, integrator="implicitfast", on_fault="end",
        **{"name": "quadruped", **usual, **options},
    )  # fmt: skip


def quadruped_rough(**options: Any) -> Environment:
    """The quadruped on hills with a slope of 0.15 on average; its options are those of `quadruped`."""
    return quadruped(**{"roughness": 0.15, "name": "quadruped_rough", **options})
