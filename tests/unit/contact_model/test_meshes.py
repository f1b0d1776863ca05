"""Meshes that touch: corners left out, files that are gone, simple shapes in their place; which bodies touch."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import collision
from kinetree.model import Geometry
from kinetree.model.extras import ContactPair, ContactParameters
from kinetree.solids.meshes import fewer_corners
from kinetree.spatial import Transform

BALL = Geometry("collision", "sphere", (0.1,), Transform.identity())


def mesh_file(folder: Path, points: Any, name: str = "part.obj") -> Geometry:
    """A mesh of points alone, which is its hull."""
    file = folder / name
    file.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in np.asarray(points).tolist()) + "f 1 2 3\n")
    return Geometry("collision", "mesh", (1.0, 1.0, 1.0), Transform.identity(), mesh=name, mesh_path=file)


def on_sphere(count: int) -> Any:
    points = np.random.default_rng(0).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def pair_of(shape: Geometry, other: Geometry = BALL, at: float = 1.0) -> kt.Model:
    builder = kt.ModelBuilder("pair")
    mass = kt.solids.sphere(0.1, mass=1.0)
    builder.add_body("world")
    for k, one in enumerate((shape, other)):
        builder.add_body(f"body{k}", mass, geometry=[one])
        builder.add_joint(f"joint{k}", kt.Free(), "world", f"body{k}", kt.lie.placement((at * k, 0.0, 0.0)))
    return builder.build()


def shape_of(robot: kt.Model, body: str = "body0") -> Any:
    (touch,) = kt.contact.soft_constraints(robot).touches
    return next(side.shape for side in (touch.first, touch.second) if side.body == body)


# -- corners


def test_omitted_corners_of_a_large_hull_are_reported(tmp_path: Path) -> None:
    points = on_sphere(500)
    robot = pair_of(mesh_file(tmp_path, points))
    found = kt.contact.soft_constraints(robot)
    hull = np.array(shape_of(robot).vertices)
    assert len(hull) == 64
    (remark,) = found.remarks
    assert "hulls of meshes reduced to 64 corners: 1; the largest height of a corner that was left out is" in remark
    assert "with 500 corners" in remark
    assert remark in str(found)
    # No support of the hull is below that of the whole by more than a corner can be above a face.
    directions = on_sphere(300)
    lost = (points @ directions.T).max(axis=0) - (hull @ directions.T).max(axis=0)
    kept, excess = fewer_corners("sphere", points, 64)
    assert len(kept) == 64
    assert 0.01 < excess < 0.1
    assert lost.max() < 2.0 * excess
    assert fewer_corners("sphere", points, 20)[1] > excess
    # Distances are those of the whole hull.
    reach = points[:, 0].max()
    assert float(kt.contact.distance(robot, robot.neutral(), "body0", "body1")) < 1.0 - 0.1 - 0.8 * reach


def test_a_hull_is_about_the_middle_of_its_corners_wherever_its_file_has_the_origin(tmp_path: Path) -> None:
    points = on_sphere(30) * 0.1 + np.array([3.0, 0.0, 0.0])
    shape = shape_of(pair_of(mesh_file(tmp_path, points), at=3.0))
    middle = np.array(shape.vertices)
    np.testing.assert_allclose(middle.min(axis=0), -middle.max(axis=0), atol=1e-7)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (
            lambda shape: replace(shape, mesh_path=None),
            r"the file of its mesh 'part.obj' is not known; .*package_roots",
        ),
        (lambda shape: replace(shape, mesh_path=shape.mesh_path.with_suffix(".dae")), r"not from 'part\.dae'; convert"),
        (lambda shape: replace(shape, mesh_path=shape.mesh_path.with_name("gone.obj")), r"is gone since .* was loaded"),
        (lambda shape: replace(shape, shape="cone", size=(0.1, 0.2)), "kind 'cone' touches nothing; put spheres"),
        (lambda shape: replace(shape, shape="heightfield", size=(1, 1, 1, 0)), "height fields touch in robots of MJCF"),
    ],
)
def test_a_shape_that_cannot_be_used_says_why(break_it: Any, message: str, tmp_path: Path) -> None:
    robot = pair_of(break_it(mesh_file(tmp_path, on_sphere(10))))
    (missing,) = kt.contact.soft_constraints(robot).unsupported
    assert (missing.what, missing.name) == ("shape", "body0[0]")
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.contact_dynamics(robot, robot.neutral(), np.zeros(12), np.zeros(12))
    with pytest.raises(kt.errors.ModelError, match=f"'body0': .*{message}"):
        kt.contact.distance(robot, robot.neutral(), "body0", "body1")


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    assert len(shape_of(pair_of(mesh_file(tmp_path, on_sphere(10)))).vertices) == 10
    assert len(shape_of(pair_of(mesh_file(tmp_path, on_sphere(12)))).vertices) == 12


def test_meshes_that_overlap_at_rest_do_not_touch(tmp_path: Path) -> None:
    ball = mesh_file(tmp_path, on_sphere(60))
    builder = kt.ModelBuilder("chain")
    for k in range(4):
        builder.add_body(f"body{k}", kt.solids.sphere(0.1, mass=1.0), geometry=[ball])
        if k:
            place = kt.lie.placement((0.0, 0.0, 0.9))
            builder.add_joint(f"joint{k}", kt.Revolute([1, 0, 0]), f"body{k - 1}", f"body{k}", place)
    found = kt.contact.soft_constraints(builder.build())
    assert [one.name for one in found.unsupported] == ["body0[0], body2[0]", "body1[0], body3[0]"]
    assert [(t.first.body, t.second.body) for t in found.touches] == [("body0", "body3")]


# -- simple shapes


def test_shapes_that_are_fitted_to_a_mesh(tmp_path: Path) -> None:
    half = np.array([0.3, 0.2, 0.1])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half + (1.0, 2.0, 3.0)
    robot = pair_of(mesh_file(tmp_path, corners))
    expected: dict[str, Any] = {"sphere": (0.2,), "ellipsoid": (0.1, 0.2, 0.3), "box": (0.2, 0.4, 0.6)}
    for kind, size in expected.items():
        shape = kt.contact.with_fitted_shapes(robot, kind).bodies["body0"].geometry[0]  # type: ignore[arg-type]
        assert shape.shape == kind
        assert shape.mesh is None
        np.testing.assert_allclose(shape.size, size, rtol=1e-6)
        np.testing.assert_allclose([float(x) for x in shape.placement.r.components()], (1, 2, 3), rtol=1e-6)
    box = kt.contact.with_fitted_shapes(robot, "box", ["body0"])
    q = robot.random(np.random.default_rng(1), size=20)
    there, here = (kt.contact.distance(one, q, "body0", "body1") for one in (robot, box))
    np.testing.assert_allclose(here, there, atol=1e-6)
    for arguments, message in (
        (("cone",), "kind must be one of 'sphere'"),
        (("box", ["body1"]), "no meshes for collisions on these bodies"),
        (("box", "body0"), r"such as \['body0'\]"),
    ):
        with pytest.raises(kt.errors.OptionError, match=message):
            kt.contact.with_fitted_shapes(robot, *arguments)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="by must be"):
        kt.contact.with_fitted_shapes(robot, "box", by="eye")  # type: ignore[arg-type]


# -- which bodies touch


def balls(count: int, **contact: Any) -> kt.Model:
    builder = kt.ModelBuilder("balls")
    own = replace(BALL, contact=ContactParameters(**contact)) if contact else BALL
    builder.add_body("world")
    for k in range(count):
        builder.add_body(f"ball{k}", kt.solids.sphere(0.1, mass=1.0), geometry=[replace(own, name=f"shape{k}")])
        builder.add_joint(f"joint{k}", kt.Free(), "world", f"ball{k}", kt.lie.placement((float(k), 0.0, 0.0)))
    return builder.build()


def touching(robot: kt.Model) -> set[tuple[str | None, str | None]]:
    return {(touch.first.body, touch.second.body) for touch in kt.contact.soft_constraints(robot).touches}


def test_some_bodies_touch() -> None:
    robot = balls(3).on_ground()
    assert len(touching(robot)) == 6
    chosen = robot.with_contacts(["ball0", "ball2"])
    assert touching(chosen) == {("world", "ball0"), ("world", "ball2"), ("ball0", "ball2")}
    assert chosen.notes[0] == "of the bodies that move, these touch others: 'ball0', 'ball2'"
    assert float(kt.contact.distance(chosen, chosen.neutral(), "ball0", "ball1")) == pytest.approx(0.8)
    assert touching(robot.with_contacts([])) == set()
    with pytest.raises(kt.errors.NameNotFoundError, match="'ball9'"):
        robot.with_contacts(["ball9"])
    with pytest.raises(kt.errors.ModelError, match=r"such as \['ball0'\], not one string"):
        robot.with_contacts("ball0")


def test_what_moves_does_not_touch_what_moves() -> None:
    robot = balls(3).on_ground()
    alone = robot.without_self_contact()
    assert touching(alone) == {("world", f"ball{k}") for k in range(3)}
    assert touching(alone.without_self_contact()) == touching(alone)
    assert kt.from_text(kt.to_text(alone)).extras == alone.extras


def test_explicit_pairs_go_with_the_bodies() -> None:
    builder = kt.ModelBuilder.of(balls(3, contype=0, conaffinity=0))
    pairs = (ContactPair("shape0", "shape1"), ContactPair("shape1", "shape2"))
    builder.extras = replace(builder.extras, contact_pairs=pairs)
    robot = builder.build()
    assert touching(robot) == {("ball0", "ball1"), ("ball1", "ball2")}
    assert touching(robot.with_contacts(["ball0", "ball1"])) == {("ball0", "ball1")}
    assert touching(robot.without_self_contact()) == set()


def test_many_pairs_are_warned_of_and_too_many_are_refused() -> None:
    message = r"'balls' has 351 pairs of shapes that may touch \(325 sphere and sphere, 26 plane and sphere\); every "
    with pytest.warns(kt.errors.SimulationWarning, match=message + ".*robot.without_self_contact"):
        found = kt.contact.soft_constraints(balls(26).on_ground())
    assert len(found.touches) == 351
    start = time.perf_counter()
    many = balls(450)
    with pytest.warns(kt.errors.SimulationWarning, match=r"101,025 pairs of shapes that may touch"):
        assert len(kt.contact.soft_constraints(many).touches) == 450 * 449 // 2
    message = r"more than {}0,000 pairs .*limit; its shapes are 450 sphere\. Choose"
    q, v = many.neutral(), np.zeros(many.nv)
    with (
        pytest.raises(kt.errors.ModelError, match=message.format(10)),
        pytest.warns(kt.errors.SimulationWarning),
    ):
        kt.contact_dynamics(many, q, v, v)
    with pytest.raises(kt.errors.ModelError, match=message.format(1)):
        kt.contact.above_ground(many)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kt.contact.soft_constraints(balls(60, contype=1, conaffinity=0)).touches
    assert time.perf_counter() - start < 20.0


def test_points_of_a_pair_of_faces() -> None:
    """Two cubes on each other: their four corners, where the nearest point is none of them."""
    half = 0.1
    corners = tuple((x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half))
    above = kt.lie.placement((0.0, 0.0, 0.199))
    points = collision.contacts(collision.Hull(corners), above, collision.Box(half, half, half), kt.lie.placement())
    places = sorted(tuple(round(float(x), 9) for x in point.position.components()) for point in points)
    assert places == [(x, y, 0.0995) for x in (-half, half) for y in (-half, half)]
    assert [float(point.distance) for point in points] == pytest.approx([-0.001] * 4)
