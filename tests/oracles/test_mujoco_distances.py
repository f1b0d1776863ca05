"""Distances of pairs that are found by iterations against MuJoCo's, which are as well (GJK and EPA, here to 1e-12)."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import collision
from kinetree.collision.pairs import ITERATIVE
from tests.oracles.two_geoms import TwoGeoms, configurations, in_columns

COUNT = 900
SHALLOW = 0.05
"""Depth, m, of shapes of some 0.05 to 0.4 m, up to which the way out is nearly always the shortest one."""
EQUAL_WHEN_DEEP = {("hull", "hull"): 0.85}
"""The fraction of deeper ones with the same depth; others leave each other by a way that is not the shortest."""


@pytest.mark.parametrize("kinds", ITERATIVE, ids="-".join)
def test_distances_are_those_of_mujoco(kinds: tuple[str, str]) -> None:
    given = configurations(kinds, COUNT, seed=2)
    theirs = TwoGeoms(kinds)
    a, b = (theirs.shape(given, k) for k in range(2))
    point = collision.closest(a, given.placement(0), b, given.placement(1))
    distances = np.broadcast_to(point.distance, (COUNT,))
    on_a, on_b = (in_columns(end.components(), COUNT) for end in point.ends)
    expected, ends = (np.array(x) for x in zip(*(theirs.distance(given, n) for n in range(COUNT)), strict=True))
    distinct = (given.positions[0] != given.positions[1]).any(axis=1)  # MuJoCo finds no depth of coincident centres
    apart, shallow = expected > 0.0, distinct & (expected < 0.0) & (expected > -SHALLOW)
    deep = distinct & (expected <= -SHALLOW)
    assert min(apart.sum(), shallow.sum(), deep.sum()) > 20
    error = distances - expected
    assert np.abs(error[apart]).max() < 1e-7
    assert error[distinct].max() < 1e-6  # never less deep
    assert (np.abs(error[shallow]) < 1e-6).mean() > 0.96
    assert (np.abs(error[deep]) < 1e-6).mean() > EQUAL_WHEN_DEEP.get(kinds, 0.95)
    clear = expected > 0.01
    assert np.abs(on_b - on_a - (ends[:, 1] - ends[:, 0]))[clear].max() < 1e-3
