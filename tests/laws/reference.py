"""The public functions run on plain numbers, and exact derivatives of them: no compiler in sight.

Numbers may be complex, one to an array: f(x + i h d) = f(x) + i h f'(x) d + O(h²) for an analytic f, and with
h = 1e-30 nothing is subtracted and nothing left out, so the derivative is as exact as f itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.compiler.requests import resolved_options
from tests.strategies import law

__all__ = [
    "BOTH",
    "body_momentum",
    "close",
    "compiled",
    "coordinate_rates",
    "directional",
    "reference",
    "tried_on_both",
]

Array = NDArray[Any]
_STEP = 1e-30


def reference(
    function: Callable[..., Any],
    model: kt.Model,
    *arguments: ArrayLike,
    f_ext: Mapping[Any, ArrayLike] | None = None,
    **options: Any,
) -> Array:
    """One sample through the algorithm of a public function, on floats (or complex numbers)."""
    definition = function.definition  # type: ignore[attr-defined]
    resolved = resolved_options(definition, model, {k: x for k, x in options.items() if k in definition.options})
    given = [*map(np.asarray, arguments)]
    for name, size in definition.inputs[len(given) :]:  # by name, or zero
        given.append(np.broadcast_to(options.pop(name, 0.0), definition.input_shape(size, model, resolved)))
    forces = {name: _numbers(np.asarray(wrench)) for name, wrench in (f_ext or {}).items()}
    flat = on_numbers(definition, model, [*map(_numbers, given)], f_ext=forces, **options)
    numbers = [x.item() if isinstance(x, np.ndarray) else x for x in flat]
    return np.array(numbers).reshape(definition.shape(model, resolved))


def compiled(function: Callable[..., Array], model: kt.Model, *arguments: ArrayLike, **options: Any) -> Array:
    """The public function as it is."""
    return function(model, *arguments, **options)


BOTH = pytest.mark.parametrize("call", [reference, compiled])
"""A law that is tried on floats and on the compiled function."""


def tried_on_both(
    *strategies: st.SearchStrategy[Any], floats: int = 25, kernels: int = 8, **by_name: st.SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A law of `call` and what is drawn, tried so many times each; every robot that is drawn is compiled anew."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        tries = {
            call: law(examples)(given(*strategies, **by_name)(test))
            for call, examples in ((reference, floats), (compiled, kernels))
        }

        @BOTH
        def run(call: Callable[..., Array]) -> None:
            tries[call](call)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate


def directional(function: Callable[..., Array], *pairs: tuple[Array, Array]) -> Array:
    """The derivative of `function(x, …)` along one direction: the pairs are (x, dx)."""
    value = function(*(x + 1j * _STEP * dx for x, dx in pairs))
    return np.imag(value) / _STEP


def coordinate_rates(model: kt.Model, q: Array, v: Array) -> Array:
    """dq/dt (nq,) at the velocity v, by the kinds of joint themselves; numbers may be complex."""
    return reference(kt.kinematics.coordinate_rates, model, q, v)


def body_momentum(model: kt.Model, q: Array, v: Array) -> Array:
    """The spatial momentum of all that moves, [linear; angular about the world's origin] (6,)."""
    total = np.zeros(6, dtype=v.dtype)
    for body in model.bodies.values():
        if body.slot == 0:
            continue
        T = reference(kt.frame_placement, model, q, frame=body.name)
        twist = reference(kt.kinematics.frame_velocity, model, q, v, frame=body.name, expressed_in="local")
        I = body.inertia
        h, tensor = np.array(I.h.components()), np.array(I.I.full.components()).reshape(3, 3)
        linear = I.mass * twist[:3] + np.cross(twist[3:], h)
        angular = tensor @ twist[3:] + np.cross(h, twist[:3])
        f, n = T[:3, :3] @ linear, T[:3, :3] @ angular
        total += np.concatenate([f, n + np.cross(T[:3, 3], f)])
    return total


def close(actual: ArrayLike, expected: ArrayLike, scale: float = 0.0, tolerance: float = 1e-11) -> None:
    """Assert equality up to rounding.

    The error is relative to the largest entry, or to `scale` where terms of that size cancel; never to less than one.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all()
    size = max(1.0, scale, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * size)


def _numbers(x: Array) -> list[Any]:
    """Floats one by one; complex numbers each in an array, which the functions of numbers take elementwise."""
    if np.iscomplexobj(x):
        return [np.array([value]) for value in x.ravel()]
    return [float(value) for value in x.ravel()]
