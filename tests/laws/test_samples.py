"""Samples of a batch know nothing of each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import law, states, trees

import kinetree as kt

FUNCTIONS: dict[Callable[..., Any], tuple[str, ...]] = {
    kt.aba: ("q", "v", "tau"),
    kt.rnea: ("q", "v", "qdd"),
    kt.kinetic_energy: ("q", "v"),
}


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
    name = data.draw(st.sampled_from(FUNCTIONS[function][1:]))
    entry = data.draw(st.integers(0, model.nv - 1))
    batch[name] = batch[name].copy()
    batch[name][sample, entry] = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    spoiled = function(model, *batch.values())
    others = np.arange(15) != sample
    np.testing.assert_array_equal(spoiled[others], clean[others])
    assert not np.isfinite(spoiled[sample]).all()


@law(8)
@given(st.data())
def test_an_angle_that_is_no_number_stays_in_its_sample(data: st.DataObject) -> None:
    model = data.draw(trees(max_joints=4, floating=False))
    joints = [joint for joint in model.joints.values() if joint.kind.nq == 1]
    q = np.stack([data.draw(states(model)).q for _ in range(3)] * 3)
    clean = kt.forward_kinematics(model, q)
    q[4, 0] = math.nan if joints else q[4, 0]
    spoiled = kt.forward_kinematics(model, q)
    others = np.arange(9) != 4
    np.testing.assert_array_equal(spoiled[others], clean[others])
    assert np.isnan(spoiled[4]).any() or not joints
