"""Hopper: one leg hops forward."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from kinetree.io.load import load
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.model.reference import reference_configuration
from kinetree.random import uniform

__all__ = ["hopper"]


def hopper(
    *,
    forward_reward_weight: float = 1.0,
    ctrl_cost_weight: float = 1e-3,
    healthy_reward: float = 1.0,
    terminate_when_unhealthy: bool = True,
    healthy_state_range: tuple[float, float] = (-100.0, 100.0),
    healthy_z_range: tuple[float, float] = (0.7, inf),
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2),
    reset_noise_scale: float = 5e-3,
    exclude_current_positions_from_observation: bool = True,
    frame_skip: int = 4,
    **options: Any,
) -> Environment:
    """Gymnasium's Hopper-v5: hop forward in the plane, and do not fall.

    The action is three torques of the hip, knee and ankle, as parts of 200 N·m. The observation (11,) is

    - q without x: the height of the torso, its angle, and those of thigh, leg and foot (m, rad);
    - v: of x, height and the four angles, within ±10 (m/s, rad/s).

    The reward is the mean velocity along x, and 1 for being healthy, less 0.001 times the squares of the action. An
    episode ends where the hopper is not healthy (too low, leaning too far, numbers beyond 100), or after 1000 steps of
    8 ms.

    Args:
        options: those of `kt.environment`, such as randomize= and max_steps=. The others are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/hopper_v5.py; Erez, Tassa and Todorov, "Infinite-horizon model predictive control
    for periodic tasks with contacts" (2011).

    >>> import kinetree as kt
    >>> env = kt.learning.task("hopper", ctrl_cost_weight=0.0)
    >>> env.observation_size, env.action_size
    (11, 3)
    """
    robot = load("hopper", source="gymnasium")
    start = reference_configuration(robot)
    skipped = 1 if exclude_current_positions_from_observation else 0

    def reset(key: Any) -> dict[str, Any]:
        noise = uniform(key, 2 * robot.nv, -reset_noise_scale, reset_noise_scale)
        return {"q": start + noise[: robot.nq], "v": noise[robot.nq :]}

    def is_healthy(q: Any, v: Any) -> Any:
        state = np.concatenate([q[2:], v])
        is_moderate = np.all((healthy_state_range[0] < state) & (state < healthy_state_range[1]))
        is_high = (healthy_z_range[0] < q[1]) & (q[1] < healthy_z_range[1])
        return is_moderate & is_high & (healthy_angle_range[0] < q[2]) & (q[2] < healthy_angle_range[1])

    def observe(q: Any, v: Any) -> Any:
        return np.concatenate([q[skipped:], np.clip(v, -10.0, 10.0)])

    def reward(q: Any, v: Any, action: Any, t: Any, before: Any) -> dict[str, Any]:
        return {
            "forward": forward_reward_weight * (q[0] - before.q[0]) / (t - before.t),
            "survive": healthy_reward * is_healthy(q, v),
            "control": -ctrl_cost_weight * np.sum(action**2),
        }

    def terminate(q: Any, v: Any) -> Any:
        return ~is_healthy(q, v) & terminate_when_unhealthy

    return environment(
        robot, name="hopper", reset=reset, observe=observe, reward=reward, terminate=terminate, frame_skip=frame_skip,
        **options,
    )  # fmt: skip
