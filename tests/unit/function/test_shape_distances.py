"""Distances of collision shapes as public functions: names, values, batches, derivatives, loops."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import collision
from kinetree.model import Geometry
from tests.laws.reference import close, reference
from tests.laws.test_rolled import interpreted, program_of

Array = NDArray[np.float64]
SIZES = {
    "plane": (np.inf, np.inf),
    "sphere": (0.21,),
    "capsule": (0.12, 0.5),
    "ellipsoid": (0.2, 0.25, 0.3),
    "cylinder": (0.15, 0.4),
    "box": (0.3, 0.4, 0.5),
}
PAIRS = [
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "ellipsoid"),
    ("plane", "cylinder"),
    ("plane", "box"),
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "cylinder"),
    ("box", "sphere"),
    ("capsule", "capsule"),
]
MOVED = [("plane", "box"), ("box", "sphere"), ("capsule", "capsule"), ("cylinder", "box"), ("ellipsoid", "capsule")]
EVERY_PAIR = pytest.mark.parametrize("pair", PAIRS, ids="-".join)


def shape(kind: str, name: str = "", placement: kt.Transform | None = None) -> Geometry:
    return Geometry("collision", kind, SIZES[kind], placement or kt.lie.placement(), name)


@cache
def robot(first: str, second: str) -> kt.Model:
    """One shape on the base, and one on a body that moves freely, each somewhere on it."""
    builder = kt.ModelBuilder("two")
    mass = kt.solids.sphere(0.1, mass=1.0)
    at = kt.lie.placement((0.1, -0.05, 0.02), rpy=(0.3, 0.2, 0.1))
    builder.add_body("base", mass, geometry=[shape(first, "first", at)])
    builder.add_body("free", mass, geometry=[shape(second, "second", at)])
    builder.add_joint("root", kt.Free(), "base", "free")
    return builder.build()


def states(model: kt.Model, count: int) -> Array:
    """Apart, and one inside the other."""
    rng = np.random.default_rng(1)
    q = model.random(rng, size=count)
    q[:, :3] *= rng.uniform(0.0, 0.6, (count, 1)) / np.linalg.norm(q[:, :3], axis=1, keepdims=True)
    return q


@EVERY_PAIR
def test_points_are_where_the_distance_says(pair: tuple[str, str]) -> None:
    model = robot(*pair)
    q = states(model, 200)
    distances = kt.contact.distance(model, q, "first", "second")
    points = kt.contact.closest_points(model, q, "first", "second")
    assert distances.shape == (200,)
    assert points.shape == (200, 2, 3)
    assert (distances < 0.0).any()
    assert (distances > 0.0).any()
    close(np.linalg.norm(points[:, 1] - points[:, 0], axis=1), np.abs(distances), scale=1.0)
    close(kt.contact.distance(model, q, "second", "first"), distances, scale=1.0)
    close(kt.contact.closest_points(model, q, "second", "first"), points[:, ::-1], scale=1.0)
    for k in range(3):
        assert kt.contact.distance(model, q[k], "first", "second") == distances[k]
        close(reference(kt.contact.closest_points, model, q[k], a="first", b="second"), points[k], scale=1.0)


@pytest.mark.parametrize("pair", MOVED, ids="-".join)
def test_derivatives_are_those_of_differences(pair: tuple[str, str]) -> None:
    model = robot(*pair)
    q = states(model, 100)
    slopes = kt.jacobian(model, kt.contact.distance, (q,), wrt="q", a="first", b="second")
    assert slopes.shape == (100, 6)
    assert np.isfinite(slopes).all()
    # Iterations leave 1e-9 m of the distance of round shapes.
    step, tolerance, bend = (1e-4, 2e-4, 1e-6) if collision.has_loops(*pair) else (1e-6, 1e-8, 1e-9)
    steps = step * np.eye(6)
    ahead = kt.contact.distance(model, kt.integrate(model, q[:, None], steps), "first", "second")
    back = kt.contact.distance(model, kt.integrate(model, q[:, None], -steps), "first", "second")
    middle = kt.contact.distance(model, q, "first", "second")[:, None]
    smooth = np.abs(ahead - 2.0 * middle + back) < bend  # no change of the nearest feature within the step
    smooth &= middle > (-0.05 if collision.has_loops(*pair) else -1.0)  # deeper, not every way out is found exactly
    assert smooth.mean() > 0.3
    close(slopes[smooth], ((ahead - back) / (2.0 * step))[smooth], scale=1.0, tolerance=tolerance)


def test_products_with_derivatives() -> None:
    model = robot("sphere", "capsule")
    q = states(model, 50)
    along = np.random.default_rng(2).normal(size=(50, 6))
    points, change = kt.jvp(model, kt.contact.closest_points, (q,), {"q": along}, a="first", b="second")
    assert np.isfinite(change).all()
    ahead = kt.contact.closest_points(model, kt.integrate(model, q, 1e-6 * along), "first", "second")
    back = kt.contact.closest_points(model, kt.integrate(model, q, -1e-6 * along), "first", "second")
    smooth = np.abs(ahead - 2.0 * points + back).max(axis=(1, 2)) < 1e-8
    assert smooth.mean() > 0.9
    close(change[smooth], ((ahead - back) / 2e-6)[smooth], scale=10.0, tolerance=1e-8)
    _, gradient = kt.vjp(model, kt.contact.distance, (q,), np.ones(50), a="first", b="second")
    slopes = kt.jacobian(model, kt.contact.distance, (q,), wrt="q", a="first", b="second")
    close(gradient["q"] if isinstance(gradient, dict) else gradient, slopes, scale=1.0)


def test_a_shape_has_three_names() -> None:
    builder = kt.ModelBuilder("names")
    mass = kt.solids.sphere(0.1, mass=1.0)
    apart = kt.lie.placement((1.0, 0.0, 0.0))
    builder.add_body("ball", mass, geometry=[shape("sphere")])
    builder.add_body("pair", mass, geometry=[shape("sphere", "left"), shape("sphere", "", apart)])
    builder.add_body("bare", mass)
    builder.add_joint("x", kt.Prismatic([1, 0, 0]), "ball", "pair")
    builder.add_joint("y", kt.Prismatic([1, 0, 0]), "pair", "bare")
    model = builder.build()
    q = [2.0, 0.0]
    assert kt.contact.distance(model, q, "ball", "left") == kt.contact.distance(model, q, "ball[0]", "pair[0]")
    close(kt.contact.distance(model, q, "ball", "pair[1]"), np.array(3.0 - 0.42), scale=1.0)

    def refused(error: type[Exception], message: str, a: Any, b: Any = "ball") -> None:
        with pytest.raises(error, match=message):
            kt.contact.distance(model, q, a, b)

    refused(kt.errors.NameNotFoundError, "'names' has no collision shape 'lefd': did you mean 'left'", "lefd")
    refused(kt.errors.OptionError, r"'pair' has 2 collision shapes; .*'pair\[0\]' \(sphere\), 'pair\[1\]'", "pair")
    refused(kt.errors.OptionError, "'bare' has no collision shape; bodies that have one are 'ball', 'pair'", "bare")
    refused(kt.errors.OptionError, "b must be the name of a shape or of a body, not 3", "ball", 3)


def test_shapes_on_bodies_that_are_fixed_to_others_move_with_these() -> None:
    builder = kt.ModelBuilder("fixed")
    mass = kt.solids.sphere(0.1, mass=1.0)
    for name in ("base", "arm"):
        builder.add_body(name, mass)
    builder.add_body("hand", mass, geometry=[shape("sphere", placement=kt.lie.placement((0.0, 0.0, 0.5)))])
    builder.add_body("wall", mass, geometry=[shape("plane")])
    builder.add_joint("turn", kt.Revolute([0, 1, 0]), "base", "arm")
    builder.add_joint("wrist", kt.Fixed(), "arm", "hand", kt.lie.placement((0.0, 0.0, 0.5)))
    builder.add_joint("floor", kt.Fixed(), "base", "wall", kt.lie.placement((0.0, 0.0, -2.0)))
    model = builder.build()
    q = np.linspace(-3.0, 3.0, 7)[:, None]
    close(kt.contact.distance(model, q, "hand", "wall"), np.cos(q[:, 0]) + 2.0 - 0.21, scale=1.0)


def test_a_shape_that_cannot_be_used_is_named() -> None:
    builder = kt.ModelBuilder("cone")
    mass = kt.solids.sphere(0.1, mass=1.0)
    cone = Geometry("collision", "cone", (0.1, 0.2), kt.lie.placement())
    builder.add_body("base", mass, geometry=[cone])
    builder.add_body("free", mass, geometry=[shape("sphere")])
    builder.add_joint("root", kt.Free(), "base", "free")
    model = builder.build()
    with pytest.raises(kt.errors.ModelError, match=r"'base': .* kind 'cone'"):
        kt.contact.distance(model, model.neutral(), "base", "free")


def test_a_mesh_is_its_convex_hull(tmp_path: Path) -> None:
    corners = [(x, y, z) for x in (-0.1, 0.3) for y in (-0.2, 0.2) for z in (0.0, 0.5)]
    dent = (0.1, 0.0, 0.25)
    file = tmp_path / "dented.obj"
    file.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in [*corners, dent])
        + "f 1 2 9\nf 1 3 9\nf 4 2 9\nf 4 3 9\nf 5 6 8\nf 5 8 7\n"
    )
    builder = kt.ModelBuilder("meshes")
    mass = kt.solids.sphere(0.1, mass=1.0)
    mesh = Geometry("collision", "mesh", (1.0, 2.0, 1.0), kt.lie.placement(), mesh="dented.obj", mesh_path=file)
    box = Geometry("collision", "box", (0.4, 0.8, 0.5), kt.lie.placement((0.1, 0.0, 0.25)))
    lost = Geometry("collision", "mesh", (1.0, 1.0, 1.0), kt.lie.placement(), mesh="package://nowhere/lost.stl")
    builder.add_body("mesh", mass, geometry=[mesh])
    builder.add_body("box", mass, geometry=[box])
    builder.add_body("lost", mass, geometry=[lost])
    builder.add_body("ball", mass, geometry=[shape("sphere")])
    for name in ("box", "lost"):
        builder.add_joint(f"to_{name}", kt.Fixed(), "mesh", name)
    builder.add_joint("root", kt.Free(), "mesh", "ball")
    model = builder.build()
    q = states(model, 100)
    close(
        kt.contact.distance(model, q, "mesh", "ball"),
        kt.contact.distance(model, q, "box", "ball"),
        scale=1.0,
        tolerance=1e-7,
    )
    with pytest.raises(kt.errors.ModelError, match=r"'lost': the file of its mesh 'package://nowhere/lost.stl' is"):
        kt.contact.distance(model, q, "lost", "ball")


def test_loops_over_bodies_give_the_same() -> None:
    model = kt.zoo.load("ragdoll")
    q = model.random(np.random.default_rng(0))
    for function in (kt.contact.distance, kt.contact.closest_points):
        expected = reference(function, model, q, a="left_forearm", b="head")
        program = program_of(function, model, a="left_forearm", b="head")
        close(interpreted(program, [q]), expected, scale=1.0)


def test_placements_of_joints_may_be_given_with_a_call() -> None:
    model = robot("sphere", "sphere")
    q = model.neutral()
    q[0] = 1.0
    moved = {"joint.root.placement": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}
    expected = kt.contact.distance(model, q, "first", "second") + 0.5
    close(kt.contact.distance(model, q, "first", "second", parameters=moved), expected, scale=1.0)


def test_single_precision() -> None:
    model = robot("capsule", "capsule")
    q = states(model, 50)
    found = kt.contact.distance(model, q.astype(np.float32), "first", "second")
    assert found.dtype == np.float32
    close(found, kt.contact.distance(model, q, "first", "second"), scale=1.0, tolerance=1e-5)
