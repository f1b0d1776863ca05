"""Arguments that a call of a compiled function leaves out cost next to nothing: it still goes to the machine code."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.arguments import Arguments

ARM = kt.zoo.load("arm6")
RNG = np.random.default_rng(2)
Q, V, TAU = ARM.random(RNG), *RNG.normal(size=(2, 6))
PLACE = np.array([0.3, 0.2, 0.4])
LISTS = {
    "no numbers": [kt.constraints.Contact("tool", "point")],
    "places": [kt.constraints.Contact("tool", "point", at=PLACE, position_gain=3.0, velocity_gain=0.5)],
}
FUNCTIONS: dict[str, tuple[Any, tuple[np.ndarray, ...], dict[str, Any]]] = {
    "constrained_dynamics": (kt.constraints.constrained_dynamics, (Q, V, TAU), {}),
    "damped": (kt.constraints.constrained_dynamics, (Q, V, TAU), {"damping": 0.1}),
    "constraint_forces": (kt.constraints.constraint_forces, (Q, V, TAU), {}),
    "constrained_inverse_dynamics": (
        kt.constraints.constrained_inverse_dynamics, (Q, V, TAU), {"smallest": "torques", "torque_weights": np.ones(6)}
    ),
    "impact": (kt.constraints.impact, (Q, V), {}),
    "operational_space_inertia": (kt.constraints.operational_space_inertia, (Q,), {"damping": 0.1}),
    "constraint_jacobian": (kt.constraints.constraint_jacobian, (Q,), {}),
    "constraint_bias": (kt.constraints.constraint_bias, (Q, V), {}),
    "constraint_errors": (kt.constraints.constraint_errors, (Q,), {}),
    "nearest_velocity": (kt.constraints.nearest_velocity, (Q, V), {}),
}  # fmt: skip


def flat(result: Any) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in result]) if isinstance(result, tuple) else np.ravel(result)


@pytest.mark.parametrize("which", LISTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_take_no_detour(name: str, which: str) -> None:
    function, arrays, options = FUNCTIONS[name]
    f = kt.compile(ARM, function, constraints=LISTS[which], **options)
    found, out = f(*arrays), np.empty_like(f(*arrays))
    with patch.object(Arguments, "prepared", side_effect=AssertionError("the arguments were looked at in Python")):
        np.testing.assert_array_equal(f(*arrays), found)
        assert f(*arrays, out=out) is out
    np.testing.assert_array_equal(out, found)
    np.testing.assert_array_equal(f(*arrays, threads=1), found)
    np.testing.assert_array_equal(f(*(x.tolist() for x in arrays)), found)
    np.testing.assert_array_equal(f(*(np.stack([x, x]) for x in arrays)), np.stack([found, found]))
    if function is kt.constraints.constrained_inverse_dynamics:
        options = {**options, "on_impossible": "least_squares"}
    np.testing.assert_array_equal(flat(found), flat(function(ARM, *arrays, constraints=LISTS[which], **options)))


def test_forces_and_parameters_follow_them() -> None:
    f = kt.compile(
        ARM, kt.constraints.constrained_dynamics, constraints=LISTS["places"], f_ext=["tool"], parameters=["gravity"]
    )
    push, gravity = np.arange(6.0), np.array([0.0, 1.0, -5.0])
    expected = flat(
        kt.constraints.constrained_dynamics(
            ARM, Q, V, TAU, LISTS["places"], f_ext={"tool": push}, parameters={"gravity": gravity}
        )
    )
    np.testing.assert_array_equal(f(Q, V, TAU, push, gravity), expected)
    np.testing.assert_array_equal(f(Q, V, TAU, np.zeros(3), push, gravity), expected)
    np.testing.assert_array_equal(f(Q, V, TAU, np.zeros(3), *f.numbers, push, gravity), expected)
    prescribed = np.array([1.0, 2.0, 3.0])
    assert np.abs(f(Q, V, TAU, prescribed, push, gravity) - expected).max() > 0.1
    with pytest.raises(kt.errors.DTypeError, match=r"takes \d+ arrays \(.*; acceleration may be left out\), not 2"):
        f(Q, V)
