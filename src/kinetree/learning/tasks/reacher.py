"""Reacher: an arm of two links brings its fingertip to a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.kinematics import forward_kinematics
from kinetree.io.load import load
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.model.reference import reference_configuration
from kinetree.random import fold, uniform

__all__ = ["reacher"]


def reacher(
    *,
    reward_dist_weight: float = 1.0,
    reward_control_weight: float = 1.0,
    frame_skip: int = 2,
    max_steps: int | None = 50,
    **options: Any,
) -> Environment:
    """Gymnasium's Reacher-v5: bring the fingertip of an arm in the plane to a target, and stay there.

    The action is two torques, as parts of 200 N·m. The observation (10,) is

    - the cosines, then the sines of the two angles;
    - the target's x and y (m);
    - the rates of the two angles (rad/s);
    - the way from the target to the fingertip, x and y (m).

    The reward is minus that distance, less the squares of the action. An episode lasts 50 steps of 20 ms. The target is
    uniformly distributed in a disc of 0.2 m.

    The fingertip is where the last step evaluated forces (`kt.environment`).

    Args:
        max_steps: the number of steps of an episode.
        options: others of `kt.environment`, such as randomize=. The remaining ones are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/reacher_v5.py.

    >>> import kinetree as kt
    >>> env = kt.learning.task("reacher")
    >>> env.observation_size, env.action_size
    (10, 2)
    """
    robot = load("reacher", source="gymnasium")
    start = reference_configuration(robot)[:2]

    def reset(key: Any) -> dict[str, Any]:
        q = start + uniform(key, 2, -0.1, 0.1)
        v = uniform(fold(key, 1), 2, -0.005, 0.005)
        turn, part = uniform(fold(key, 2), 2)
        goal = 0.2 * np.sqrt(part) * np.stack([np.cos(2.0 * np.pi * turn), np.sin(2.0 * np.pi * turn)])
        q, v = np.concatenate([q, goal]), np.concatenate([v, np.zeros(2)])
        return {"q": q, "v": v, "at_q": q}

    def update(evaluated: Any) -> dict[str, Any]:
        return {"at_q": evaluated.q}

    def way(at_q: Any, parameters: Any) -> Any:
        X = forward_kinematics(robot, at_q, frames=["fingertip", "target"], parameters=parameters)
        return X[0, :3, 3] - X[1, :3, 3]

    def observe(q: Any, v: Any, at_q: Any, parameters: Any) -> Any:
        return np.concatenate([np.cos(q[:2]), np.sin(q[:2]), q[2:], v[:2], way(at_q, parameters)[:2]])

    def reward(at_q: Any, action: Any, parameters: Any) -> dict[str, Any]:
        return {
            "distance": -reward_dist_weight * np.linalg.norm(way(at_q, parameters)),
            "control": -reward_control_weight * np.sum(action**2),
        }

    return environment(
        robot, name="reacher", reset=reset, update=update, observe=observe, reward=reward, frame_skip=frame_skip,
        memory={"at_q": robot.nq}, max_steps=max_steps, **options,
    )  # fmt: skip
