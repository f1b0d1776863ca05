"""Numbers given for switches, and switches for numbers, are refused, whatever was compiled before.

As keys of a dict 1 and True are equal, and so are 0 and False; an option must not find the kernel of the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.functions import PUBLIC

ROBOT = kt.zoo.load("double_pendulum")
X = [0.1, 0.2]
USUAL: dict[str, Any] = {"robot": ROBOT, "a": ROBOT, "path": kt.zoo.path("double_pendulum"), "dt": 0.01, "tau": [X]}
OTHERS = {"actuated_rollout", "compare_steps"}
"""Functions of robots with actuators, and of motions, which refuse this robot first."""
SWITCHES = [
    pytest.param(function, option, id=f"{name}-{option}")
    for name, function in PUBLIC.items()
    if inspect.isfunction(function) and name not in OTHERS
    for option, parameter in inspect.signature(function).parameters.items()
    if isinstance(parameter.default, bool)
]


def called(function: Callable[..., Any], **options: Any) -> Any:
    """The function of what it needs, with these options."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_KEYWORD]
    needed = [p for p in parameters if p.default is p.empty or p.name == "dt"]
    given = {p.name: USUAL.get(p.name, X) for p in needed if p.kind == p.KEYWORD_ONLY}
    return function(*(USUAL.get(p.name, X) for p in needed if p.kind != p.KEYWORD_ONLY), **given, **options)


@pytest.mark.parametrize(("function", "option"), SWITCHES)
@pytest.mark.parametrize(("switch", "number"), [(True, 1), (False, 0), (True, 1.0)])
def test_a_number_is_no_switch(function: Callable[..., Any], option: str, switch: bool, number: float) -> None:
    for _ in range(2):
        with pytest.raises(kt.errors.OptionError, match=f"{option} must be True"):
            called(function, **{option: number})
        if function is kt.aba or function is kt.dynamics.joint_torque_regressor:  # one compiled function of each kind
            called(function, **{option: switch})


ARM = kt.zoo.load("arm6")
HELD = [kt.constraints.Contact("tool", "point")]
Q = ARM.random(0)
TOLERANT: dict[str, Callable[[Any], Any]] = {
    "constrained_dynamics": lambda x: kt.constraints.constrained_dynamics(ARM, Q, Q, Q, HELD, tolerance=x),
    "nearest_velocity": lambda x: kt.constraints.nearest_velocity(ARM, Q, Q, HELD, tolerance=x),
    "nearest_configuration": lambda x: kt.constraints.nearest_configuration(
        ARM, Q, kt.constraints.Contact("tool", "point", at=kt.frame_placement(ARM, Q, "tool")[:3, 3]), tolerance=x
    ),
    "constrained_inverse_dynamics": lambda x: kt.constraints.constrained_inverse_dynamics(
        ARM, Q, Q, Q, HELD, tolerance=x
    ),
    "a compiled one": lambda x: kt.compile(ARM, kt.constraints.constrained_dynamics, constraints=HELD, tolerance=x),
}


@pytest.mark.parametrize("call", TOLERANT.values(), ids=TOLERANT)
def test_a_switch_is_no_number(call: Callable[[Any], Any]) -> None:
    for _ in range(2):
        for switch in (False, True, np.False_):
            with pytest.raises(kt.errors.OptionError, match=r"tolerance must be a number, not (np\.)?(True|False)"):
                call(switch)
        call(0)


def test_steps_are_no_switch() -> None:
    kt.compile(ROBOT, kt.rollout, steps=1)
    for wrong in (True, 1.0):
        with pytest.raises(kt.errors.OptionError, match="steps must be a whole number"):
            kt.compile(ROBOT, kt.rollout, steps=wrong)
