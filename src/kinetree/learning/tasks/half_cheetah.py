"""Half-cheetah: two legs run forward in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.io.load import load
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.model.reference import reference_configuration
from kinetree.random import fold, normal, uniform

__all__ = ["half_cheetah"]


def half_cheetah(
    *,
    forward_reward_weight: float = 1.0,
    ctrl_cost_weight: float = 0.1,
    reset_noise_scale: float = 0.1,
    exclude_current_positions_from_observation: bool = True,
    frame_skip: int = 5,
    **options: Any,
) -> Environment:
    """Gymnasium's HalfCheetah-v5: run forward in the plane.

    The action is six torques, of the thigh, shin and foot of the back and of the front leg, as parts of 120, 90, 60,
    120, 60 and 30 N·m. The observation (17,) is

    - q without x: the height and angle of the torso, and the six angles of the legs in the same order (m, rad);
    - v: of x, height and the seven angles (m/s, rad/s).

    The reward is the mean velocity along x, less 0.1 times the squares of the action. An episode lasts 1000 steps of
    50 ms; it does not end before.

    Args:
        options: those of `kt.environment`, such as randomize= and max_steps=. The others are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/half_cheetah_v5.py; Wawrzyński, "A cat-like robot real-time learning to run"
    (2009).

    >>> import kinetree as kt
    >>> env = kt.learning.task("half_cheetah")
    >>> env.observation_size, env.action_size
    (17, 6)
    """
    robot = load("half_cheetah", source="gymnasium")
    start = reference_configuration(robot)
    skipped = 1 if exclude_current_positions_from_observation else 0

    def reset(key: Any) -> dict[str, Any]:
        q = start + uniform(key, robot.nq, -reset_noise_scale, reset_noise_scale)
        return {"q": q, "v": normal(fold(key, 1), robot.nv, 0.0, reset_noise_scale)}

    def observe(q: Any, v: Any) -> Any:
        return np.concatenate([q[skipped:], v])

    def reward(q: Any, action: Any, t: Any, before: Any) -> dict[str, Any]:
        return {
            "forward": forward_reward_weight * (q[0] - before.q[0]) / (t - before.t),
            "control": -ctrl_cost_weight * np.sum(action**2),
        }

    return environment(
        robot, name="half_cheetah", reset=reset, observe=observe, reward=reward, frame_skip=frame_skip, **options
    )
