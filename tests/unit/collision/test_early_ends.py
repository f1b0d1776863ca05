"""Iterations that end early: how soon they do, and that nothing depends on the others of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import collision
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64
from kinetree.codegen.llvm.target import host
from kinetree.collision import FAR, convex
from kinetree.collision.pairs import ITERATIVE
from kinetree.expr import Scalar, repeat
from tests.unit.collision.test_pairs import SHAPES, flat, placed, program_of, random_placement

Array = NDArray[np.float64]
EVERY_PAIR = pytest.mark.parametrize("pair", ITERATIVE, ids="-".join)
MARGIN = 0.01
"""That of `program_of`."""


def placements(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Apart, near each other and deep."""
    rng = np.random.default_rng(seed)
    return np.array([random_placement(rng) for _ in range(count)]), np.array(
        [random_placement(rng) for _ in range(count)]
    )


@EVERY_PAIR
def test_machine_code_has_the_distances_of_floats(pair: tuple[str, str]) -> None:
    x, y = placements(25)
    found = batch_function(program_of(pair))(x, y)
    a, b = (SHAPES[kind] for kind in pair)
    kinds = set()
    for row, X, Y in zip(found, x.tolist(), y.tolist(), strict=True):
        points = collision.contacts(a, placed(X), b, placed(Y), MARGIN)
        nearest = float(collision.closest(a, placed(X), b, placed(Y)).distance)
        expected = np.array(flat(points), dtype=float)
        np.testing.assert_allclose(row[0], expected[0], rtol=0, atol=1e-8)  # normals round as √ε
        assert (row[: len(points)].min() == FAR) == (nearest > MARGIN)
        kinds.add(nearest > MARGIN)
    assert kinds == {False, True}


@pytest.mark.parametrize("pair", [("cylinder", "hull"), ("hull", "hull"), ("ellipsoid", "ellipsoid")], ids="-".join)
def test_a_pair_does_not_depend_on_its_neighbours(pair: tuple[str, str]) -> None:
    x, y = placements(37)
    run = batch_function(program_of(pair))
    wide = run(x, y)
    assert 0 < (wide[:, 0] < 0.0).sum() < 37
    for k in (0, 9, 36):
        np.testing.assert_array_equal(run(x[k : k + 1], y[k : k + 1])[0], wide[k])
    np.testing.assert_array_equal(run(x[::-1], y[::-1]), wide[::-1])
    narrow = batch_function(program_of(pair), F64, replace(host(), vector_bits=128))
    np.testing.assert_array_equal(narrow(x, y), wide)


@pytest.mark.parametrize("pair", [("cylinder", "hull"), ("ellipsoid", "ellipsoid")], ids="-".join)
def test_single_precision_has_the_same_depths(pair: tuple[str, str]) -> None:
    x, y = placements(1500)
    program, slots = program_of(pair), collision.slots(*pair)
    depths = batch_function(program)(x, y)[:, :slots].min(axis=1)
    single = batch_function(program, F32)(x.astype(np.float32), y.astype(np.float32))[:, :slots].min(axis=1)
    overlap = depths < -1e-4
    assert overlap.sum() > 100
    assert (np.abs(single - depths)[overlap] < 1e-4).mean() > 0.99  # some have another way out that is nearly as short


class Count:
    """The iterations of GJK, by the most there may be in each search."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.of: dict[int, list[int]] = {}
        patch.setattr(convex, "repeat", self._repeat)

    def _repeat(self, count: int, state: Sequence[Scalar], step: Any) -> Sequence[Scalar]:
        calls = 0

        def counted(now: Sequence[Scalar]) -> Any:
            nonlocal calls
            calls += 1
            return step(now)

        ends = repeat(count, state, counted)
        self.of.setdefault(count, []).append(calls)
        return ends


@EVERY_PAIR
def test_iterations_end_early(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    count, (a, b) = Count(monkeypatch), (SHAPES[kind] for kind in pair)
    x, y = placements(30)
    for X, Y in zip(x.tolist(), y.tolist(), strict=True):
        collision.closest(a, placed(X), b, placed(Y))
    apart, out = count.of[40], count.of[48]
    assert np.mean(apart) < 12
    assert max(apart) < 40
    assert np.mean(out) < 20
    assert max(out) < 48


@EVERY_PAIR
def test_shapes_that_a_plane_parts_are_left_at_once(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    count, (a, b) = Count(monkeypatch), (SHAPES[kind] for kind in pair)
    x, y = placements(30)
    y[:, 9:] += 0.7 * np.sign(y[:, 9:] - x[:, 9:])
    for X, Y in zip(x.tolist(), y.tolist(), strict=True):
        assert all(point.distance == FAR for point in collision.contacts(a, placed(X), b, placed(Y), MARGIN))
    assert count.of.keys() == {40}
    assert np.mean(count.of[40]) < 1.5
