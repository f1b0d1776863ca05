"""The table of pairs: slots, order, errors, and how large the programs are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kinetree import collision
from kinetree.collision.pairs import PAIRS
from kinetree.errors import OptionError
from kinetree.expr import Port, Program, Recorder, Scalar, interpret, trace, trace_memory
from kinetree.spatial import Mat3, Transform, Vec3

SHAPES: dict[str, collision.Shape] = {
    "plane": collision.Plane(),
    "heightfield": collision.HeightField(((0.0, 0.1, 0.0), (-0.1, 0.05, 0.1), (0.1, 0.0, -0.1)), 0.4, 0.4),
    "sphere": collision.Sphere(0.2),
    "capsule": collision.Capsule(0.1, 0.3),
    "ellipsoid": collision.Ellipsoid(0.1, 0.2, 0.3),
    "cylinder": collision.Cylinder(0.15, 0.25),
    "box": collision.Box(0.1, 0.2, 0.3),
    "hull": collision.Hull(((0.2, 0.0, -0.1), (-0.1, 0.2, -0.1), (-0.1, -0.2, -0.1), (0.0, 0.0, 0.2), (0.1, 0.1, 0.1))),
}
MOST_OPERATIONS = {
    ("plane", "sphere"): 37,
    ("plane", "capsule"): 56,
    ("plane", "ellipsoid"): 71,
    ("plane", "cylinder"): 156,
    ("plane", "box"): 324,
    ("plane", "hull"): 540,
    ("heightfield", "sphere"): 367,
    ("heightfield", "capsule"): 740,
    ("heightfield", "ellipsoid"): 415,
    ("heightfield", "cylinder"): 1096,
    ("heightfield", "box"): 1065,
    ("heightfield", "hull"): 1481,
    ("sphere", "sphere"): 69,
    ("sphere", "capsule"): 84,
    ("sphere", "cylinder"): 162,
    ("sphere", "box"): 133,
    ("capsule", "capsule"): 272,
    ("capsule", "box"): 1297,
    ("box", "box"): 2433,
    ("ellipsoid", "hull"): 600_000,  # each arc between faces is halved twenty times
    ("cylinder", "hull"): 600_000,
}
"""Of a pair whose placements are all that is not constant."""
MOST_WITH_LOOPS = 400_000
"""Of a pair found by iterations, all that there may be of them counted."""
EVERY_PAIR = pytest.mark.parametrize("pair", list(PAIRS), ids="-".join)
CLOSED_FORM = pytest.mark.parametrize("pair", [p for p in PAIRS if not collision.has_loops(*p)], ids="-".join)


def placed(x: Sequence[Scalar]) -> Transform:
    return Transform(Mat3(Vec3(*x[0:3]), Vec3(*x[3:6]), Vec3(*x[6:9])), Vec3(*x[9:12]))


def flat(points: Sequence[collision.ContactPoint]) -> list[Scalar]:
    vectors = ((p.position, p.normal, p.tangent) for p in points)
    return [p.distance for p in points] + [x for each in vectors for v in each for x in v.components()]


def program_of(pair: tuple[str, str]) -> Program:
    a, b = (SHAPES[kind] for kind in pair)

    def compute(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[list[Scalar]]:
        return [flat(collision.contacts(a, placed(x), b, placed(y), 0.01))]

    def record(recorder: Recorder) -> None:
        x, y = ([memory[k] for k in range(12)] for memory in recorder.inputs)
        for k, value in enumerate(compute(x, y)[0]):
            recorder.outputs[0][k] = value

    ports = [Port("X_a", (12,)), Port("X_b", (12,))], [Port("contacts", (10 * collision.slots(*pair),))]
    if collision.has_loops(*pair):
        return trace_memory(record, *ports, "-".join(pair))
    return trace(compute, *ports, "-".join(pair))


def random_placement(rng: np.random.Generator) -> list[float]:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.linalg.det(Q)
    return [*Q.ravel().tolist(), *rng.uniform(-0.3, 0.3, 3).tolist()]


@CLOSED_FORM
def test_symbols_and_floats_give_the_same(pair: tuple[str, str]) -> None:
    program, rng = program_of(pair), np.random.default_rng(0)
    for _ in range(20):
        x, y = random_placement(rng), random_placement(rng)
        points = collision.contacts(SHAPES[pair[0]], placed(x), SHAPES[pair[1]], placed(y), 0.01)
        assert len(points) == collision.slots(*pair)
        assert np.allclose(interpret(program, x, y)[0], np.array(flat(points), dtype=float), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("pair", [("plane", "hull"), ("box", "hull"), ("capsule", "ellipsoid")], ids="-".join)
def test_symbols_in_loops_and_floats_give_the_same(pair: tuple[str, str]) -> None:
    program, rng = program_of(pair), np.random.default_rng(0)
    x, y = random_placement(rng), random_placement(rng)
    for y[11] in (0.15, 0.8):  # shallow, and apart
        points = collision.contacts(SHAPES[pair[0]], placed(x), SHAPES[pair[1]], placed(y), 0.01)
        found = interpret(program, x, y)[0]
        assert np.allclose(found, np.array(flat(points), dtype=float), rtol=0.0, atol=1e-4)  # normals round as √ε
        assert found[0] == pytest.approx(points[0].distance, abs=1e-9)


@EVERY_PAIR
def test_shapes_may_change_roles(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(1)
    (a, b), X, Y = (SHAPES[kind] for kind in pair), placed(random_placement(rng)), placed(random_placement(rng))
    if pair[0] == pair[1]:
        return
    for point, other in zip(collision.contacts(a, X, b, Y), collision.contacts(b, Y, a, X), strict=True):
        assert (point.distance, point.position, point.tangent) == (other.distance, other.position, other.tangent)
        assert point.normal == -other.normal
    assert collision.slots(*pair) == collision.slots(*pair[::-1])


@EVERY_PAIR
def test_programs_are_small(pair: tuple[str, str]) -> None:
    assert program_of(pair).operation_counts().total() <= MOST_OPERATIONS.get(pair, MOST_WITH_LOOPS)


def test_a_pair_that_is_missing_says_what_there_is() -> None:
    with pytest.raises(OptionError, match="no contacts between a plane and a plane yet; a plane has them with sphere"):
        collision.slots("plane", "plane")
    assert not collision.is_supported("plane", "plane")
    assert collision.is_supported("box", "plane")


def test_lengths_are_numbers_of_any_kind() -> None:
    def compute(x: Sequence[Scalar]) -> list[list[Scalar]]:
        ball = collision.Sphere(x[0])
        box = collision.Box(x[1], 0.2, 0.3)
        X = Transform(Mat3.identity(), Vec3(x[2], 0.0, 0.0))
        (point,) = collision.contacts(ball, X, box, Transform.identity())
        return [[point.distance]]

    program = trace(compute, [Port("sizes", (3,))], [Port("distance", ())], "sizes")
    assert interpret(program, [0.125, 0.5, 1.0])[0] == [0.375]
