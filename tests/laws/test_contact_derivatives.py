"""Derivatives of contacts by placements and lengths of every pair of shapes, beside central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import collision
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.collision.pairs import ITERATIVE, PAIRS
from kinetree.collision.shapes import simple_shape
from kinetree.expr import Port, Program, Recorder, Scalar, forward_derivative, trace, trace_memory
from kinetree.spatial import Transform
from tests.unit.collision.test_derivatives import LENGTHS, OWN
from tests.unit.collision.test_pairs import SHAPES, flat, placed, random_placement

Array = NDArray[np.float64]
Pair = tuple[str, str]
COUNT = 150
STEPS = (2e-3, 1e-3)
"""Normals of curved shapes round as √ε, so smaller steps do not give better differences."""
SMOOTH = 1e-3
"""Where differences of both steps agree to this, relative to the derivative, the features that touch stay the same."""
OWN_CLOSEST = [("capsule", "capsule"), ("capsule", "box"), ("box", "box"), *ITERATIVE]
"""The pairs whose nearest place is not one of their contacts."""


def program_of(pair: Pair, find: Callable[..., Sequence[collision.ContactPoint]], points: int) -> Program:
    """Contacts as a program of both placements and all lengths."""

    def compute(x: Sequence[Scalar], y: Sequence[Scalar], lengths: Sequence[Scalar]) -> list[list[Scalar]]:
        given = iter(lengths)
        a, b = (
            simple_shape(kind, [next(given) for _ in range(LENGTHS[kind])]) if kind in LENGTHS else SHAPES[kind]
            for kind in pair
        )
        return [flat(find(a, placed(x), b, placed(y)))]

    def record(recorder: Recorder) -> None:
        for k, value in enumerate(compute(*([memory[k] for k in range(memory.size)] for memory in recorder.inputs))[0]):
            recorder.outputs[0][k] = value

    inputs = [Port("X_a", (12,)), Port("X_b", (12,)), Port("lengths", (len(own_lengths(pair)),))]
    outputs = [Port("contacts", (10 * points,))]
    if collision.has_loops(*pair):
        return trace_memory(record, inputs, outputs, "-".join(pair))
    return trace(compute, inputs, outputs, "-".join(pair))


def own_lengths(pair: Pair) -> list[float]:
    return [x for kind in pair for x in OWN.get(kind, ())]


def cross(w: Array) -> Array:
    """Matrices (n, 3, 3) of the products with vectors."""
    x, y, z = w.T
    o = np.zeros_like(x)
    return np.moveaxis(np.array([[o, -z, y], [z, o, -x], [-y, x, o]]), -1, 0)


class Motion:
    """A rigid motion at constant velocity from each of many random placements."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._start = np.array([random_placement(rng) for _ in range(COUNT)])
        self._angular, self._linear = rng.normal(size=(2, COUNT, 3))

    def at(self, t: float) -> Array:
        angle = np.linalg.norm(self._angular, axis=1)[:, None, None]
        K = cross(self._angular)
        R = np.eye(3) + np.sin(t * angle) / angle * K + (1.0 - np.cos(t * angle)) / angle**2 * K @ K
        E = self._start[:, :9].reshape(-1, 3, 3) @ R.transpose(0, 2, 1)
        return np.hstack([E.reshape(-1, 9), self._start[:, 9:] + t * self._linear])

    @property
    def rate(self) -> Array:
        E = self._start[:, :9].reshape(-1, 3, 3) @ cross(self._angular).transpose(0, 2, 1)
        return np.hstack([E.reshape(-1, 9), self._linear])


def in_points(numbers: Array) -> Array:
    """Distance, position, normal and tangent of each point: (samples, points, 10)."""
    count = numbers.shape[1] // 10
    return np.concatenate([numbers[:, :count, None], numbers[:, count:].reshape(-1, count, 9)], axis=2)


def compare(pair: Pair, find: Callable[..., Sequence[collision.ContactPoint]], points: int) -> None:
    program = program_of(pair, find, points)
    value, derivative = (
        batch_function(p)
        for p in (program, forward_derivative(program, [k for k in range(3) if program.inputs[k].size]))
    )
    rng = np.random.default_rng(7)
    x, y = Motion(rng), Motion(rng)
    own = np.tile(own_lengths(pair), (COUNT, 1))
    d = 0.1 * rng.normal(size=own.shape)

    def at(t: float) -> Array:
        return in_points(value(x.at(t), y.at(t), own + t * d))

    def difference(h: float) -> Array:
        slope: Array = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        return slope

    rates = [r for r in (x.rate, y.rate, d) if r.size]
    middle, slope = map(in_points, derivative(x.at(0.0), y.at(0.0), own, *rates))
    np.testing.assert_array_equal(middle, at(0.0))
    assert np.isfinite(slope).all()
    coarse, fine = map(difference, STEPS)
    size = 1.0 + np.abs(fine).max(axis=2)
    exists = np.max([at(k * STEPS[0])[..., 0] for k in (-2, 0, 2)], axis=0) < collision.FAR
    smooth = exists & (np.abs(coarse - fine).max(axis=2) < SMOOTH * size)
    assert smooth.sum() > 0.7 * exists.sum() > 30
    error = np.abs(slope - fine).max(axis=2) / size
    # Contacts that change places, or are not converged to √ε.
    assert (error[smooth] < 3.0 * SMOOTH).mean() > 0.985


def closest(a: Any, X_a: Transform, b: Any, X_b: Transform) -> Sequence[collision.ContactPoint]:
    return [collision.closest(a, X_a, b, X_b)]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_contacts_change_as_differences_say(pair: Pair) -> None:
    compare(pair, partial(collision.contacts, margin=0.05), collision.slots(*pair))


@pytest.mark.parametrize("pair", OWN_CLOSEST, ids="-".join)
def test_the_closest_place_changes_as_differences_say(pair: Pair) -> None:
    compare(pair, closest, 1)
