"""Humanoid: walk forward on two legs."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from kinetree.dynamics import actuator_forces
from kinetree.io.load import load
from kinetree.kinematics import center_of_mass
from kinetree.layouts import Layout
from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.learning.tasks.derived import Derived
from kinetree.model.reference import reference_configuration
from kinetree.random import uniform

__all__ = ["humanoid"]


def humanoid(
    *,
    forward_reward_weight: float = 1.25,
    ctrl_cost_weight: float = 0.1,
    contact_cost_weight: float = 5e-7,
    contact_cost_range: tuple[float, float] = (-inf, 10.0),
    healthy_reward: float = 5.0,
    terminate_when_unhealthy: bool = True,
    healthy_z_range: tuple[float, float] = (1.0, 2.0),
    reset_noise_scale: float = 1e-2,
    exclude_current_positions_from_observation: bool = True,
    include_cinert_in_observation: bool = True,
    include_cvel_in_observation: bool = True,
    include_qfrc_actuator_in_observation: bool = True,
    include_cfrc_ext_in_observation: bool = True,
    frame_skip: int = 5,
    **options: Any,
) -> Environment:
    """Gymnasium's Humanoid-v5: walk forward, and do not fall.

    The action is 17 torques within ±0.4, as parts of 25 to 300 N·m. The observation (348,) is

    - MuJoCo's qpos without x and y: the height of the torso, its quaternion (w first), and 17 angles (m, rad);
    - MuJoCo's qvel: the velocity of the torso in the world's axes, its angular velocity in its own, and 17 rates;
    - cinert: the inertia of each of 13 bodies about the humanoid's centre of mass, mass times place, and mass;
    - cvel: the angular velocity of each body, and the velocity of its point at the humanoid's centre of mass;
    - qfrc_actuator: the torques of the 17 joints (N·m);
    - cfrc_ext: the moment about the humanoid's centre of mass and the force of contacts on each body.

    The reward is 1.25 times the mean velocity of the centre of mass along x, and 5 for being healthy, less 0.1 times
    the squares of the action and 5e-7 times those of cfrc_ext, at most 10. An episode ends where the torso is below 1 m
    or above 2 m, or after 1000 steps of 15 ms.

    cinert, cvel, cfrc_ext and the centre of mass are those where the last step evaluated forces (`derived.py`).

    Args:
        options: those of `kt.environment`, such as randomize= and max_steps=. The others are gymnasium's.

    Source: gymnasium 1.4, envs/mujoco/humanoid_v5.py; Tassa, Erez and Todorov, "Synthesis and stabilization of complex
    behaviors through online trajectory optimization" (2012).

    >>> import kinetree as kt
    >>> env = kt.learning.task("humanoid")
    >>> env.observation_size, env.action_size
    (348, 17)
    """
    robot = load("humanoid", source="gymnasium")
    layout, derived = Layout(robot, "mujoco"), Derived(robot, options.get("contact", True))
    start = layout.q_to(reference_configuration(robot))
    skipped = 2 if exclude_current_positions_from_observation else 0

    def reset(key: Any, parameters: Any) -> dict[str, Any]:
        noise = uniform(key, robot.nq + robot.nv, -reset_noise_scale, reset_noise_scale)
        qpos = start + noise[: robot.nq]
        q, v = layout.q_from(qpos), layout.v_from(qpos, noise[robot.nq :])
        return {"q": q, "v": v, "x": center_of_mass(robot, q, parameters=parameters)[0], "at_q": q, "at_v": v}

    def update(evaluated: Any, parameters: Any) -> dict[str, Any]:
        at, x = evaluated, center_of_mass(robot, evaluated.q, parameters=parameters)[0]
        wrenches = derived.contact_wrenches(at.q, at.v, at.qdd, parameters)
        return {"x": x, "at_q": at.q, "at_v": at.v, "wrenches": wrenches}

    def is_healthy(q: Any) -> Any:
        return (healthy_z_range[0] < q[2]) & (q[2] < healthy_z_range[1])

    def observe(q: Any, v: Any, at_q: Any, at_v: Any, wrenches: Any, action: Any, parameters: Any) -> dict[str, Any]:
        parts = {"qpos": layout.q_to(q)[skipped:], "qvel": layout.v_to(q, v)}
        if include_cinert_in_observation:
            parts["cinert"] = derived.inertias(at_q, parameters)
        if include_cvel_in_observation:
            parts["cvel"] = derived.velocities(at_q, at_v, parameters)
        if include_qfrc_actuator_in_observation:
            parts["qfrc_actuator"] = actuator_forces(robot, at_q, at_v, action, parameters=parameters).tau[6:]
        if include_cfrc_ext_in_observation:
            parts["cfrc_ext"] = wrenches
        return parts

    def reward(q: Any, x: Any, wrenches: Any, action: Any, t: Any, before: Any) -> dict[str, Any]:
        return {
            "forward": forward_reward_weight * (x - before.x) / (t - before.t),
            "survive": healthy_reward * is_healthy(q),
            "control": -ctrl_cost_weight * np.sum(action**2),
            "contact": -np.clip(contact_cost_weight * np.sum(wrenches**2), *contact_cost_range),
        }

    def terminate(q: Any) -> Any:
        return ~is_healthy(q) & terminate_when_unhealthy

    return environment(
        robot, name="humanoid", reset=reset, update=update, observe=observe, reward=reward, terminate=terminate,
        frame_skip=frame_skip,
        memory={"x": 0.0, "at_q": robot.nq, "at_v": robot.nv, "wrenches": (len(derived.names), 6)}, **options,
    )  # fmt: skip
