"""Walker: two legs walk forward in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.io.load import load
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.model.reference import reference_configuration
from kinetree.random import uniform

__all__ = ["walker"]


def walker(
    *,
    forward_reward_weight: float = 1.0,
    ctrl_cost_weight: float = 1e-3,
    healthy_reward: float = 1.0,
    terminate_when_unhealthy: bool = True,
    healthy_z_range: tuple[float, float] = (0.8, 2.0),
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0),
    reset_noise_scale: float = 5e-3,
    exclude_current_positions_from_observation: bool = True,
    frame_skip: int = 4,
    **options: Any,
) -> Environment:
    """Gymnasium's Walker2d-v5: walk forward in the plane, and do not fall.

    The action is six torques, of the hip, knee and ankle of the right and of the left leg, as parts of 100 N·m. The
    observation (17,) is

    - q without x: the height of the torso, its angle, and those of the right and the left thigh, leg and foot (m, rad);
    - v: of x, height and the seven angles, within ±10 (m/s, rad/s).

    The reward is the mean velocity along x, and 1 for being healthy, less 0.001 times the squares of the action. An
    episode ends where the walker is not healthy (too low or high, leaning too far), or after 1000 steps of 8 ms.

    Args:
        options: those of `kt.environment`, such as randomize= and max_steps=. The others are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/walker2d_v5.py.

    >>> import kinetree as kt
    >>> env = kt.learning.task("walker")
    >>> env.observation_size, env.action_size
    (17, 6)
    """
    robot = load("walker2d_v5", source="gymnasium")
    start = reference_configuration(robot)
    skipped = 1 if exclude_current_positions_from_observation else 0

    def reset(key: Any) -> dict[str, Any]:
        noise = uniform(key, 2 * robot.nv, -reset_noise_scale, reset_noise_scale)
        return {"q": start + noise[: robot.nq], "v": noise[robot.nq :]}

    def is_healthy(q: Any) -> Any:
        is_high = (healthy_z_range[0] < q[1]) & (q[1] < healthy_z_range[1])
        return is_high & (healthy_angle_range[0] < q[2]) & (q[2] < healthy_angle_range[1])

    def observe(q: Any, v: Any) -> Any:
        return np.concatenate([q[skipped:], np.clip(v, -10.0, 10.0)])

    def reward(q: Any, action: Any, t: Any, before: Any) -> dict[str, Any]:
        return {
            "forward": forward_reward_weight * (q[0] - before.q[0]) / (t - before.t),
            "survive": healthy_reward * is_healthy(q),
            "control": -ctrl_cost_weight * np.sum(action**2),
        }

    def terminate(q: Any) -> Any:
        return ~is_healthy(q) & terminate_when_unhealthy

    return environment(
        robot, name="walker", reset=reset, observe=observe, reward=reward, terminate=terminate, frame_skip=frame_skip,
        **options,
    )  # fmt: skip
