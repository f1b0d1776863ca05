"""Samples of a batch know nothing of each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from tests.strategies import law, states, trees

FUNCTIONS: dict[Callable[..., Any], tuple[str, ...]] = {
    kt.aba: ("q", "v", "tau"),
    kt.rnea: ("q", "v", "qdd"),
    kt.kinetic_energy: ("q", "v"),
}
"""With their arguments; the last is one that each entry of the answer, or the only one, cannot do without."""


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@law(8)
@given(st.data())
def test_what_is_not_a_number_stays_in_its_sample(function: Callable[..., Any], data: st.DataObject) -> None:
    """One entry of one argument spoiled: the other samples are the same to the bit, and this one shows it."""
    model = data.draw(trees(max_joints=4))
    drawn = [data.draw(states(model)) for _ in range(3)]
    batch = {name: np.stack([getattr(s, name) for s in drawn] * 5) for name in FUNCTIONS[function]}
    clean = function(model, *batch.values())
    sample = data.draw(st.integers(0, 14))
    name = data.draw(st.sampled_from(FUNCTIONS[function]))
    entry = data.draw(st.integers(0, model.nv - 1))
    batch[name] = batch[name].copy()
    batch[name][sample, entry] = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    with np.errstate(invalid="ignore"):  # NumPy says so when a NaN comes up, here as in its own functions
        spoiled = function(model, *batch.values())
    others = np.arange(15) != sample
    np.testing.assert_array_equal(spoiled[others], clean[others])
    if name == FUNCTIONS[function][-1]:
        assert not np.isfinite(spoiled[sample]).all()


@law(8)
@given(st.data())
def test_a_coordinate_that_is_no_number_stays_in_its_sample(data: st.DataObject) -> None:
    """And spoils where the bodies are."""
    model = data.draw(trees(max_joints=4))
    q = np.stack([data.draw(states(model)).q for _ in range(3)] * 3)
    clean = kt.forward_kinematics(model, q)
    q[4, data.draw(st.integers(0, model.nq - 1))] = math.nan
    with np.errstate(invalid="ignore"):
        spoiled = kt.forward_kinematics(model, q)
    others = np.arange(9) != 4
    np.testing.assert_array_equal(spoiled[others], clean[others])
    assert np.isnan(spoiled[4]).any()
