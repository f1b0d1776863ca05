"""Contact points of pairs of shapes against MuJoCo's colliders: distance, position and frame of each, in its order."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import collision
from tests.oracles.two_geoms import TwoGeoms, configurations, ours

EXACT = [
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "ellipsoid"),
    ("plane", "cylinder"),
    ("plane", "box"),
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "cylinder"),
    ("sphere", "box"),
    ("capsule", "capsule"),
]
COUNT = 1500
ROUNDING = 1e-12
"""Whether contacts at exactly the margin are returned depends on the last bit."""


@pytest.mark.parametrize("kinds", EXACT, ids="-".join)
def test_contacts_are_those_of_mujoco(kinds: tuple[str, str]) -> None:
    given = configurations(kinds, COUNT)
    distances, positions, frames = ours(given)
    assert distances.shape == (COUNT, collision.slots(*kinds))
    assert all(np.isfinite(x).all() for x in (distances, positions, frames))
    theirs = TwoGeoms(kinds)
    wrong, touching = [], 0
    for n in range(COUNT):
        margin = given.margin[n]
        expected = [contact for contact in theirs.contacts(given, n) if contact[0] < margin - ROUNDING]
        mine = [k for k in range(distances.shape[1]) if distances[n, k] < margin - ROUNDING]
        touching += len(expected)
        if len(mine) != len(expected):
            wrong.append(f"{n}: {len(mine)} contacts instead of {len(expected)}")
            continue
        tolerance = 1e-10 + 1e-15 / max(1e-12, given.between_cores(n, distances[n].min()))
        for k, (distance, position, frame) in zip(mine, expected, strict=True):
            errors = (
                abs(distances[n, k] - distance),
                np.abs(positions[n, k] - position).max(),
                np.abs(frames[n, k] - frame).max(),
            )
            if not max(errors) < tolerance:
                wrong.append(f"{n}, contact {k}: off by {errors}")
    assert touching > 500
    assert wrong == []
