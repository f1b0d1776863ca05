"""Ant: four legs walk forward."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.io.load import load
from kinetree.layouts import Layout
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.learning.tasks.derived import Derived
from kinetree.model.reference import reference_configuration
from kinetree.random import fold, normal, uniform

__all__ = ["ant"]


def ant(
    *,
    forward_reward_weight: float = 1.0,
    ctrl_cost_weight: float = 0.5,
    contact_cost_weight: float = 5e-4,
    healthy_reward: float = 1.0,
    terminate_when_unhealthy: bool = True,
    healthy_z_range: tuple[float, float] = (0.2, 1.0),
    contact_force_range: tuple[float, float] = (-1.0, 1.0),
    reset_noise_scale: float = 0.1,
    exclude_current_positions_from_observation: bool = True,
    include_cfrc_ext_in_observation: bool = True,
    frame_skip: int = 5,
    **options: Any,
) -> Environment:
    """Gymnasium's Ant-v5: walk forward, and neither jump nor fall.

    The action is eight torques of the hips and ankles, as parts of 150 N·m: right back, front left, front right and
    left back leg. The observation (105,) is

    - MuJoCo's qpos without x and y: the height of the torso, its quaternion (w first), and eight angles (m, rad);
    - MuJoCo's qvel: the velocity of the torso in the world's axes, its angular velocity in its own, and eight rates;
    - cfrc_ext: the moment about the ant's centre of mass and the force of contacts on each of 13 bodies, within ±1.

    The reward is the mean velocity of the torso along x, and 1 for being healthy, less 0.5 times the squares of the
    action and 0.0005 times those of cfrc_ext. An episode ends where the torso is below 0.2 m or above 1 m, or after
    1000 steps of 50 ms.

    cfrc_ext and the place of the torso in the reward are those where the last step evaluated forces (`derived.py`).

    Args:
        options: those of `kt.environment`, such as randomize= and max_steps=. The others are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/ant_v5.py; Schulman et al., "High-dimensional continuous control using
    generalized advantage estimation" (2015).

    >>> import kinetree as kt
    >>> env = kt.learning.task("ant")
    >>> env.observation_size, env.action_size
    (105, 8)
    """
    robot = load("ant", source="gymnasium")
    layout, derived = Layout(robot, "mujoco"), Derived(robot, options.get("contact", True))
    start = layout.q_to(reference_configuration(robot))
    skipped = 2 if exclude_current_positions_from_observation else 0

    def reset(key: Any) -> dict[str, Any]:
        qpos = start + uniform(key, robot.nq, -reset_noise_scale, reset_noise_scale)
        q = layout.q_from(qpos)
        v = layout.v_from(qpos, normal(fold(key, 1), robot.nv, 0.0, reset_noise_scale))
        return {"q": q, "v": v, "x": q[0]}

    def update(evaluated: Any, parameters: Any) -> dict[str, Any]:
        at = evaluated
        wrenches = derived.contact_wrenches(at.q, at.v, at.qdd, parameters)
        return {"x": at.q[0], "wrenches": np.clip(wrenches, *contact_force_range)}

    def is_healthy(q: Any) -> Any:
        return (healthy_z_range[0] <= q[2]) & (q[2] <= healthy_z_range[1])

    def observe(q: Any, v: Any, wrenches: Any) -> dict[str, Any]:
        parts = {"qpos": layout.q_to(q)[skipped:], "qvel": layout.v_to(q, v)}
        return {**parts, "cfrc_ext": wrenches} if include_cfrc_ext_in_observation else parts

    def reward(q: Any, x: Any, wrenches: Any, action: Any, t: Any, before: Any) -> dict[str, Any]:
        return {
            "forward": forward_reward_weight * (x - before.x) / (t - before.t),
            "survive": healthy_reward * is_healthy(q),
            "control": -ctrl_cost_weight * np.sum(action**2),
            "contact": -contact_cost_weight * np.sum(wrenches**2),
        }

    def terminate(q: Any) -> Any:
        return ~is_healthy(q) & terminate_when_unhealthy

    return environment(
        robot, name="ant", reset=reset, update=update, observe=observe, reward=reward, terminate=terminate,
        frame_skip=frame_skip, memory={"x": 0.0, "wrenches": (len(derived.names), 6)}, **options,
    )  # fmt: skip
