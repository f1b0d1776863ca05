"""Arguments with very many axes, results that would go into masked arrays, and contacts of very many pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("double_pendulum")
COMPILED = kt.compile(ROBOT, kt.aba)
CALLS: dict[str, Callable[[Any], Any]] = {
    "aba": lambda x: kt.aba(ROBOT, x, x, x),
    "compiled": lambda x: COMPILED(x, x, x),
    "beside others": lambda x: kt.aba(ROBOT, x, np.zeros(2), np.zeros((3, 2))),
    "list": lambda x: kt.crba(ROBOT, x.tolist()),
    "derivatives": lambda x: kt.dynamics.aba_derivatives(ROBOT, x, x, x),
    "integrate": lambda x: kt.integrate(ROBOT, x, x),
    "simulate": lambda x: kt.simulate(ROBOT, q=x, duration=0.002),
}


@pytest.mark.parametrize("axes", [33, 40, 64])
@pytest.mark.parametrize("name", CALLS)
def test_more_than_32_axes_are_reported(name: str, axes: int) -> None:
    with pytest.raises(kt.errors.ShapeError, match=rf"with at most 32 axes, not {axes}; give x\.reshape"):
        CALLS[name](np.zeros((1,) * (axes - 1) + (2,)))


@pytest.mark.parametrize("name", CALLS)
def test_many_axes_are_taken(name: str) -> None:
    """One less than the limit, since rows of a motion are an axis, too."""
    CALLS[name](np.zeros((1,) * 30 + (2,)))


@pytest.mark.parametrize("count", [None, 1, 300])
def test_a_masked_out_is_refused(count: int | None) -> None:
    shape = (2,) if count is None else (count, 2)
    x, out = np.zeros(shape), np.ma.zeros(shape)
    with pytest.raises(kt.errors.DTypeError, match="out must be a NumPy array without a mask, not MaskedArray"):
        COMPILED(x, x, x, out=out)
    with pytest.raises(kt.errors.DTypeError, match="out must be a NumPy array without a mask, not MaskedArray"):
        kt.aba(ROBOT, x, x, x, out=out)


def test_a_program_of_very_many_operations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of all 128 pairs of a quadruped's own shapes would have millions; here a few have too many."""
    monkeypatch.setattr("kinetree.compiler.specialization._MOST_RECORDED", 500)
    cart = kt.zoo.load("cart_pole")
    numbers = np.zeros(cart.nv)
    with pytest.raises(kt.errors.ModelError, match=r"more than 500 operations, .*robot\.without_self_contact\(\)"):
        kt.contact.contact_forces(cart, cart.neutral(), numbers, numbers)
