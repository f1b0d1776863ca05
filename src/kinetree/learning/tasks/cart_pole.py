"""Cart-pole: swing a pole up, and balance it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.learning.definition import environment
from kinetree.learning.environment import Environment
from kinetree.random import uniform
from kinetree.zoo import load

__all__ = ["cart_pole"]


def cart_pole(
    *, force: float = 20.0, reset_noise_scale: float = 0.1, max_steps: int = 500, **options: Any
) -> Environment:
    """Swing up the pole of `kt.zoo`'s cart-pole by pushing its cart, and balance it.

    The action is the force on the cart, as a part of `force`. The observation (5,) is

    - the place of the cart on its rail (m), and the cosine and sine of the pole's angle, zero where it stands upright;
    - the velocity of the cart (m/s) and the rate of the angle (rad/s).

    The reward is between 0 and 1: how high the pole's tip is, less up to a half where the cart is far from the middle
    or the force is large. The pole hangs down at the beginning. An episode ends where the cart is 2.4 m from the
    middle, the end of its rail, or after 500 steps of 20 ms.

    Args:
        force: the largest force on the cart, N.
        reset_noise_scale: the largest difference of q and v from hanging down at rest, at the beginning.
        max_steps: the number of steps of an episode.
        options: others of `kt.environment`, such as randomize=.

    Source: Tassa et al., "DeepMind Control Suite" (2018), for the shape of the reward.

    >>> import kinetree as kt
    >>> env = kt.learning.task("cart_pole")
    >>> env.observation_size, env.action_size
    (5, 1)
    """
    robot = load("cart_pole")
    down, end = np.array([0.0, np.pi]), robot.upper[0]

    def reset(key: Any) -> dict[str, Any]:
        noise = uniform(key, 4, -reset_noise_scale, reset_noise_scale)
        return {"q": down + noise[:2], "v": noise[2:]}

    def control(action: Any) -> dict[str, Any]:
        return {"tau": np.stack([force * action[0], 0.0])}

    def observe(q: Any, v: Any) -> Any:
        return np.stack([q[0], np.cos(q[1]), np.sin(q[1]), v[0], v[1]])

    def reward(q: Any, action: Any) -> Any:
        height = 0.5 + 0.5 * np.cos(q[1])
        return height * (1.0 - 0.25 * (q[0] / end) ** 2 - 0.25 * action[0] ** 2)

    def terminate(q: Any) -> Any:
        return abs(q[0]) >= end

    return environment(
        robot, name="cart_pole", reset=reset, control=control, observe=observe, reward=reward, terminate=terminate,
        action=(-np.ones(1), np.ones(1)), dt=0.005, frame_skip=4, contact=False, integrator="rk4", max_steps=max_steps,
        **options,
    )  # fmt: skip
