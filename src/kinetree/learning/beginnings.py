"""Checks of the states in which episodes begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.contact_model import Rigid
from kinetree.control.laws.law import with_arguments
from kinetree.functions.contact_forces import contact_forces, contact_pairs
from kinetree.functions.contact_options import contact_option
from kinetree.learning.kernel import Kernel
from kinetree.learning.layout import shapes_of

__all__ = ["bad_beginnings"]

_DEEP = 0.01
"""How far shapes may be inside each other, m."""
_MANY = 0.25
"""The part of the worlds where they are that is worth a warning; those of gymnasium's half-cheetah are at a tenth."""


def bad_beginnings(kernel: Kernel, state: NDArray[Any], settings: Mapping[str, ArrayLike]) -> Iterator[str]:
    """The problems of first states of episodes (n, n_state), as sentences."""
    values: dict[str, Any] = {name: np.asarray(x, np.float64) for name, x in settings.items()}
    if "terminate" in kernel.functions:

        def function(state_now: Any, **own: Any) -> Any:
            return kernel.is_over(kernel.state.apart(state_now), own) * 1.0

        shapes = {"state_now": kernel.state.size, **shapes_of(values)}
        is_over = with_arguments("terminate where an episode begins", function, shapes, {})(state, **values)
        if count := np.count_nonzero(is_over):
            yield (
                f"terminate ends the episode where it begins, before any action, in {count} of {len(state)} worlds; "
                "each has one step"
            )
    own = None if "physics" in kernel.functions else contact_option(kernel.robot, kernel.physics["contact"])
    if own is None:
        return
    contact = True if isinstance(own.setting, Rigid) else own  # the same pairs, whose forces are not asked for
    x = kernel.state.apart(state)
    parameters = kernel.parameters(x)
    contacts = contact_forces(
        kernel.robot, x["q"], x["v"], np.zeros(kernel.robot.nv), contact=contact, parameters=parameters
    )
    depths = -contacts.distances
    if depths.size and (count := np.count_nonzero(depths.max(axis=1) > _DEEP)) >= _MANY * len(state):
        deepest = np.unravel_index(np.argmax(depths), depths.shape)
        pairs = contact_pairs(kernel.robot, contact=contact, parameters=parameters)
        pair = next(pair for pair in pairs if pair.slots.start <= deepest[1] < pair.slots.stop)
        yield (
            f"episodes begin with shapes inside each other in {count} of {len(state)} worlds, so that contacts throw "
            f"the robot about; deepest, in world {deepest[0]}, are {pair.first!r} and {pair.second!r}, "
            f"{depths[deepest]:.3g} m"
        )
