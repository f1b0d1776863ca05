"""Derivatives of contact points by placements and sizes: finite everywhere, right where the nearest feature stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import collision
from kinetree.collision.pairs import ITERATIVE, PAIRS
from kinetree.collision.shapes import simple_shape
from kinetree.expr import Port, Program, Recorder, Scalar, forward_derivative, interpret, replay, trace, trace_memory
from tests.unit.collision.test_pairs import CLOSED_FORM, SHAPES, flat, placed, program_of, random_placement

Array = NDArray[np.float64]
STEP = 1e-6


def moved(pair: tuple[str, str], results: Callable[..., list[Scalar]], count: int) -> Program:
    """Results of the pair, as a program of both placements, and their derivative along a motion of the second one."""
    a, b = (SHAPES[kind] for kind in pair)

    def compute(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[list[Scalar]]:
        return [results(a, placed(x), b, placed(y))]

    ports = [Port("X_a", (12,)), Port("X_b", (12,))]
    return forward_derivative(trace(compute, ports, [Port("results", (count,))], "moved"), [1])


def change(y: Array, rng: np.random.Generator) -> Array:
    """A rigid motion of each of many placements."""
    E, w = y[:, :9].reshape(-1, 3, 3), rng.normal(size=(len(y), 1, 3))
    return np.concatenate([np.cross(E, w).reshape(-1, 9), rng.normal(size=(len(y), 3))], axis=1)


def run(program: Program, *arguments: Array) -> list[Array]:
    """Results (count, n) of a program on many samples at once."""
    count = len(arguments[0])
    found = replay(program, *(list(x.T) for x in arguments))
    return [np.array([np.broadcast_to(x, (count,)) for x in port]).T for port in found]


@CLOSED_FORM
def test_distances_change_as_differences_say(pair: tuple[str, str]) -> None:
    program = moved(pair, lambda *given: [collision.closest(*given).distance], 1)
    rng, count = np.random.default_rng(3), 300
    x, y = (np.array([random_placement(rng) for _ in range(count)]) for _ in range(2))
    d_y = change(y, rng)
    (middle, slope), (ahead, _), (back, _) = (run(program, x, y + h * d_y, d_y) for h in (0.0, STEP, -STEP))
    assert np.isfinite(slope).all()
    smooth = np.abs(ahead - 2.0 * middle + back) < 1e-9  # the nearest feature does not change within the step
    assert smooth.mean() > 0.8
    assert np.abs(slope - (ahead - back) / (2.0 * STEP))[smooth].max() < 1e-7
    assert (middle < 0.0).sum() > 50


@pytest.mark.parametrize(
    "pair", [("plane", "hull"), ("heightfield", "sphere"), ("heightfield", "box"), ("sphere", "hull")], ids="-".join
)
def test_distances_change_as_differences_say_in_loops(pair: tuple[str, str]) -> None:
    program = forward_derivative(program_of(pair), [1])
    rng, compared = np.random.default_rng(3), 0
    for _ in range(1 if pair in ITERATIVE else 10):
        x, y = random_placement(rng), np.array(random_placement(rng))
        d_y = change(y[None], rng)[0]
        (middle, slope), (ahead, _), (back, _) = (
            (np.array(found) for found in interpret(program, x, (y + h * d_y).tolist(), d_y.tolist()))
            for h in (0.0, STEP, -STEP)
        )
        assert np.isfinite(slope).all()
        smooth = np.abs(ahead - 2.0 * middle + back) < 1e-9
        compared += int(smooth.sum())
        assert np.abs(slope - (ahead - back) / (2.0 * STEP))[smooth].max() < 1e-6
    assert compared >= 8


LENGTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
OWN = {
    "sphere": (0.2,),
    "capsule": (0.1, 0.6),
    "cylinder": (0.15, 0.5),
    "ellipsoid": (0.1, 0.2, 0.3),
    "box": (0.2, 0.4, 0.6),
}


def grown(pair: tuple[str, str]) -> Program:
    """The distance of the pair as a program of both placements and all lengths, and its derivative by the lengths."""

    def compute(x: Sequence[Scalar], y: Sequence[Scalar], lengths: Sequence[Scalar]) -> list[list[Scalar]]:
        given = iter(lengths)
        a, b = (simple_shape(kind, [next(given) for _ in range(LENGTHS.get(kind, 0))]) for kind in pair)
        assert a is not None
        assert b is not None
        return [[collision.closest(a, placed(x), b, placed(y)).distance]]

    ports = [Port("X_a", (12,)), Port("X_b", (12,)), Port("lengths", (sum(LENGTHS.get(kind, 0) for kind in pair),))]
    results = [Port("distance", (1,))]
    if not collision.has_loops(*pair):
        return forward_derivative(trace(compute, ports, results, "grown"), [2])

    def record(recorder: Recorder) -> None:
        (recorder.outputs[0][0],) = compute(*([x[k] for k in range(x.size)] for x in recorder.inputs))[0]

    return forward_derivative(trace_memory(record, ports, results, "grown"), [2])


@pytest.mark.parametrize("pair", [p for p in PAIRS if not collision.has_loops(*p)], ids="-".join)
def test_distances_change_with_the_sizes_as_differences_say(pair: tuple[str, str]) -> None:
    program, rng, count = grown(pair), np.random.default_rng(3), 100
    own = np.tile([*OWN.get(pair[0], ()), *OWN.get(pair[1], ())], (count, 1))
    x, y = (np.array([random_placement(rng) for _ in range(count)]) for _ in range(2))
    d = rng.normal(size=own.shape)
    (middle, slope), (ahead, _), (back, _) = (run(program, x, y, own + h * d, d) for h in (0.0, STEP, -STEP))
    smooth = np.abs(ahead - 2.0 * middle + back) < 1e-9
    assert smooth.mean() > 0.8
    assert np.abs(slope - (ahead - back) / (2.0 * STEP))[smooth].max() < 1e-7


@pytest.mark.parametrize("pair", [("capsule", "ellipsoid"), ("cylinder", "box")], ids="-".join)
def test_distances_change_with_the_sizes_as_differences_say_in_loops(pair: tuple[str, str]) -> None:
    program, rng = grown(pair), np.random.default_rng(3)
    own = np.array([*OWN[pair[0]], *OWN[pair[1]]])
    x, y, d = random_placement(rng), random_placement(rng), rng.normal(size=own.size)
    (middle, slope), (ahead, _), (back, _) = (
        [found[0] for found in interpret(program, x, y, (own + h * d).tolist(), d.tolist())] for h in (0.0, STEP, -STEP)
    )
    assert abs(ahead - 2.0 * middle + back) < 1e-9
    assert slope == pytest.approx((ahead - back) / (2.0 * STEP), abs=2e-5)


ALIGNED = [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]]
OFFSETS = [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.55), (0.1, 0.1, 0.1), (1e-9, 0.0, 0.0)]


@CLOSED_FORM
def test_everything_is_finite_in_degenerate_places(pair: tuple[str, str]) -> None:
    """Axes in common, coincident centres, touching faces."""
    x, y = (
        np.array(rows)
        for rows in zip(
            *(([*a, 0.0, 0.0, 0.0], [*b, *offset]) for a in ALIGNED for b in ALIGNED for offset in OFFSETS), strict=True
        )
    )
    for count, results in (
        (10 * collision.slots(*pair), lambda *given: flat(collision.contacts(*given, 0.01))),
        (10, lambda *given: flat([collision.closest(*given)])),
    ):
        program = moved(pair, results, count)
        for found in run(program, x, y, change(y, np.random.default_rng(4))):
            assert np.isfinite(found).all()
