"""Settings of the algorithms that learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.inputs import number_between, whole_between
from kinetree.records import record

__all__ = ["ARS", "PPO"]

Array = NDArray[Any]


@record(frozen=True, slots=True, kw_only=True)
class PPO:
    """Settings of proximal policy optimisation, `kt.learning.train(…, algorithm="ppo")`.

    These suit tasks such as the hopper, and need few steps; those of the quadruped, in its own file, need little time.
    """

    worlds: int = 64
    """How many worlds there are."""
    horizon: int = 128
    """Steps of each world in an iteration."""
    hidden: tuple[int, ...] = (64, 64)
    """Units of the hidden layers of the policy, and of the network for values."""
    activation: str = "tanh"
    """The activation function of hidden layers, as for `kt.learning.mlp`."""
    epochs: int = 5
    """How often each step is learned from."""
    minibatches: int = 8
    """Parts of an iteration's steps, after each of which the networks change."""
    discount: float = 0.99
    """γ: the factor of a reward one step later."""
    trace: float = 0.95
    """λ of the generalised advantage estimate: 0 trusts the values, 1 the rewards."""
    clip: float = 0.2
    """How far from 1 the ratio of probabilities can gain something."""
    learning_rate: float = 1e-3
    """The first one of Adam."""
    divergence: float | None = 0.015
    """The KL divergence of an iteration that the learning rate is adapted to; None leaves it constant."""
    value_weight: float = 1.0
    """The weight of the loss of the values."""
    entropy_weight: float = 0.0
    """The weight of the entropy, which is a reward for exploring."""
    largest_gradient: float = 1.0
    """The norm to which a larger gradient is shortened."""
    std: float = 1.0
    """The first standard deviation of the actions."""
    scale_rewards: bool = True
    """Whether rewards are divided by the standard deviation of discounted returns."""
    mirror: Callable[[Array, Array], tuple[Array, Array]] | None = None
    """The mirror images of observations (n, n_observation) and actions (n, n_action), for a symmetric robot: a random
    half of the steps is learned from in the mirror."""
    dtype: str = "float64"
    """Number type of the worlds; networks are float32."""

    def __post_init__(self) -> None:
        _check(self, "worlds", "horizon", "epochs", "minibatches")
        if self.worlds * self.horizon < self.minibatches:
            raise OptionError(f"PPO: {self.minibatches} minibatches need as many steps, worlds times horizon")


@record(frozen=True, slots=True, kw_only=True)
class ARS:
    """Settings of augmented random search, `kt.learning.train(…, algorithm="ars")`."""

    directions: int = 32
    """Random directions in an iteration; there are two worlds for each."""
    best: int = 16
    """How many of them are used, those with the highest returns."""
    step_size: float = 0.02
    noise: float = 0.03
    """How far the weights are moved in each direction."""
    horizon: int | None = None
    """The longest episode; by default the task's own, or 1000 steps."""
    hidden: tuple[int, ...] = ()
    """Units of hidden layers; without any the policy is linear."""
    bonus: float = 0.0
    """The part of each step's reward that is there for being alive alone, which is taken from it."""

    def __post_init__(self) -> None:
        _check(self, "directions", "best")
        if self.best > self.directions:
            raise OptionError(f"ARS: best is at most directions, {self.directions}, not {self.best}")


def _check(settings: Any, *counts: str) -> None:
    """Raise `OptionError` for counts that are not whole numbers from 1 on, and others that are not numbers."""
    kind = type(settings).__name__
    for field in fields(settings):
        x = getattr(settings, field.name)
        if field.name in counts:
            whole_between(f"{kind}: {field.name}", x, 1)
        if str(field.type).startswith("float") and x is not None:
            number_between(f"{kind}: {field.name}", x, -math.inf, math.inf)
