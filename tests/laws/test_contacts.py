"""Laws of contact points: they move with the shapes, and their distance grows by what the shapes are moved apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree import collision
from kinetree.spatial import Transform, Vec3
from tests.strategies import law, numbers, transforms
from tests.unit.collision.test_pairs import CLOSED_FORM, SHAPES


def floats(points: Any) -> Any:
    rows = [(*p.position.components(), *p.normal.components(), p.distance) for p in points]
    return np.array(rows, dtype=float)


@CLOSED_FORM
@law(10)
@given(X=transforms(), Y=transforms(), moved=transforms())
def test_contacts_move_with_both_shapes(pair: tuple[str, str], X: Transform, Y: Transform, moved: Transform) -> None:
    a, b = (SHAPES[kind] for kind in pair)
    near = Transform(Y.E, Y.r * 0.2)
    before = floats([collision.closest(a, X, b, near @ X)])
    after = floats([collision.closest(a, X @ moved, b, near @ X @ moved)])
    assert before[0, 6] == pytest.approx(after[0, 6], abs=1e-9)


@pytest.mark.parametrize("pair", [("sphere", "capsule"), ("capsule", "capsule"), ("box", "box"), ("capsule", "box")])
@law(25)
@given(X=transforms(), Y=transforms(), step=numbers(0.5).map(abs), data=st.data())
def test_what_is_apart_is_moved_farther(
    pair: tuple[str, str], X: Transform, Y: Transform, step: float, data: st.DataObject
) -> None:
    a, b = (SHAPES[kind] for kind in pair)
    place = Y @ X
    point = collision.closest(a, X, b, place)
    distance = float(point.distance)  # type: ignore[arg-type]
    if distance <= 1e-3:
        return
    away = Transform(place.E, place.r + point.normal * step)
    assert collision.closest(a, X, b, away).distance == pytest.approx(distance + step, abs=1e-9)
    elsewhere = Vec3(*(data.draw(numbers(0.5)) for _ in range(3)))
    moved = collision.closest(a, X, b, Transform(place.E, place.r + elsewhere)).distance
    length = float(np.linalg.norm(elsewhere.components()))
    assert float(moved) <= distance + length + 1e-9  # type: ignore[arg-type]
