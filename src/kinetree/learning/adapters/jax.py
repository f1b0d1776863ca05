"""Environments as pure functions for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kinetree.interop import to_jax
from kinetree.learning.environment import Environment

__all__ = ["PureFunctions", "pure_functions"]

Results = dict[str, Any]


class PureFunctions(NamedTuple):
    """A reset and a step as pure functions of JAX's arrays; `Environment.to_jax` makes them.

    They work in `jax.jit`, `lax.scan`, `vmap` and `grad`, as everything does that `kt.interop.to_jax` makes.
    """

    reset: Callable[..., tuple[Any, Results]]
    """State and results of seed, world and episode (…), and the settings by name."""
    step: Callable[..., tuple[Any, Results]]
    """State and results of state (…, n) and action (…, n_action), and the settings by name."""


def pure_functions(env: Environment) -> PureFunctions:
    """The functions of an environment."""
    begin, advance = to_jax(env.program("reset")), to_jax(env.program("step"))

    def reset(seed: Any = 0.0, world: Any = 0.0, episode: Any = 0.0, **settings: Any) -> tuple[Any, Results]:
        return _apart(begin(seed=seed, world=world, episode=episode, **{**env.settings, **settings}))

    def step(state: Any, action: Any, **settings: Any) -> tuple[Any, Results]:
        return _apart(advance(state=state, action=action, **{**env.settings, **settings}))

    return PureFunctions(reset, step)


def _apart(results: Results) -> tuple[Any, Results]:
    return results["state"], {name: x for name, x in results.items() if name != "state"}
