"""The option that names an integrator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from kinetree import algorithms
from kinetree.contact_model.inverse_weights import is_from_mjcf
from kinetree.errors import OptionError, nearest_names
from kinetree.functions.contact_options import has_no_rows
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions

__all__ = [
    "ADAPTIVE",
    "Integrator",
    "can_loop",
    "integrator_option",
    "rollout_integrator_option",
    "simulated_integrator",
    "step_of_file",
    "usual_integrator",
]

Integrator = Literal["semi_implicit_euler", "symplectic_euler", "rk4", "implicitfast", "discrete", "midpoint"]
_OF_FILES = {"Euler": "semi_implicit_euler", "RK4": "rk4", "implicitfast": "implicitfast", "discrete": "discrete"}
"""The integrators of MJCF files, whose steps these are."""
ADAPTIVE = "rk45"
"""The integrator with error control."""


def integrator_option(_: Model, value: Any) -> Hashable:
    """The name of an integrator with stages."""
    return _known(value, (*algorithms.AT_THE_END,))


def rollout_integrator_option(model: Model, value: Any) -> str:
    """The name of any integrator of fixed steps; of None that of the robot's MJCF file, or "semi_implicit_euler"."""
    if value is None:
        return _of_file(model) or "semi_implicit_euler"
    return _known(value, (*algorithms.AT_THE_END, "midpoint"))


def simulated_integrator(value: Any) -> str:
    """The name of an integrator of `simulate`, which also has one that chooses the length of its steps."""
    return _known(value, (*algorithms.AT_THE_END, ADAPTIVE))


def _known(value: Any, names: Sequence[str]) -> str:
    if not isinstance(value, str):
        *others, last = map(repr, names)
        raise OptionError(f"integrator must be {', '.join(others)} or {last}, not {value!r:.60}")
    if value not in names:
        if value == ADAPTIVE:
            raise OptionError(
                f"the integrator {ADAPTIVE!r} chooses the length of its steps, and kt.rollout takes a fixed number of "
                "them: it is for kt.simulate"
            )
        if value == "midpoint":
            raise OptionError('the integrator "midpoint" has no stages: it is for kt.rollout without a controller')
        raise OptionError(f"there is no integrator {value!r:.60}: {nearest_names(str(value), names)}")
    return value


def usual_integrator(model: Model, has_contact: bool) -> str:
    """The integrator of a motion for which none is named: with contacts that of an MJCF file, or "discrete"."""
    return (_of_file(model) or "discrete") if has_contact else "rk4"


def step_of_file(model: Model) -> float:
    """The length of a step that a robot's MJCF file says. Raises `OptionError` if it is not of such a file."""
    if not is_from_mjcf(model):
        raise OptionError(
            f"rollout: dt, the length of a step, may be left out for robots of MJCF files, which say it; "
            f"{model.name!r} is not of one: give dt in s, such as dt=0.001"
        )
    return (model.extras.options or SimulationOptions()).timestep


def _of_file(model: Model) -> str | None:
    """The integrator that a robot's MJCF file asks for; None if it is not of such a file."""
    if not is_from_mjcf(model):
        return None
    options = model.extras.options or SimulationOptions()
    if (own := options.integrator) == "Euler" and not options.flags.eulerdamp:
        return "symplectic_euler"
    if own not in _OF_FILES:
        raise OptionError(
            f"the file of {model.name!r} asks for the integrator {own!r}, which kinetree does not have; name one, such "
            'as integrator="implicitfast", which leaves out the derivatives of Coriolis forces'
        )
    return _OF_FILES[own]


def can_loop(robot: Model, options: Mapping[str, Any]) -> bool:
    """Whether a step can go through bodies in loops: not where forces couple joints."""
    return has_no_rows(robot, options) and options.get("integrator") != "midpoint" and "actuators" not in options
