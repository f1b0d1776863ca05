"""Height fields: a slope is a plane, triangles are MuJoCo's, and there is nothing beside the field."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import collision
from kinetree.spatial import Mat3, Transform, Vec3
from tests.unit.collision.test_pairs import SHAPES, placed, random_placement

TOUCHING = ["sphere", "capsule", "ellipsoid", "cylinder", "box", "hull"]


def tilted() -> tuple[collision.HeightField, Transform]:
    """A field with one slope, and the placement of the plane it is part of."""
    xs, ys = np.linspace(-2.0, 2.0, 6), np.linspace(-1.5, 1.5, 5)
    heights = 0.1 + 0.3 * xs[None, :] - 0.2 * ys[:, None]
    normal = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    x = np.cross([0.0, 1.0, 0.0], normal)
    x /= np.linalg.norm(x)
    E = Mat3(*(Vec3(*map(float, axis)) for axis in (x, np.cross(normal, x), normal)))
    return collision.HeightField(tuple(map(tuple, heights.tolist())), 2.0, 1.5), Transform(E, Vec3(0.0, 0.0, 0.1))


@pytest.mark.parametrize("kind", TOUCHING)
def test_a_slope_is_a_plane(kind: str) -> None:
    field, X = tilted()
    rng, shape = np.random.default_rng(0), SHAPES[kind]
    X_field = placed(random_placement(rng))
    for _ in range(20):
        Y = placed(random_placement(rng)) @ X_field
        ground = collision.contacts(field, X_field, shape, Y)
        plane = collision.contacts(collision.Plane(), X @ X_field, shape, Y, collision.FAR)

        def sorted_points(points: tuple[collision.ContactPoint, ...]) -> list[tuple[float, ...]]:
            numbers = [(p.distance, *p.position.components()) for p in points]
            return sorted(np.round(np.array(numbers, dtype=float), 10).tolist())

        assert np.allclose(sorted_points(ground), sorted_points(plane), rtol=0.0, atol=2e-10)
        for point in ground:
            assert np.allclose(point.normal.components(), plane[0].normal.components(), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", TOUCHING)
def test_beside_the_field_nothing_touches(kind: str) -> None:
    field, _ = tilted()
    beside = Transform(Mat3.identity(), Vec3(0.0, 2.0, -1.0))
    points = collision.contacts(field, Transform.identity(), SHAPES[kind], beside)
    assert [p.distance for p in points] == [collision.FAR] * len(points)
    assert np.isfinite([x for p in points for x in p.position.components()]).all()


def test_balls_on_hills_touch_as_in_mujoco() -> None:
    """One contact here, one per triangle there: the deepest of them."""
    import mujoco

    xs, ys = np.linspace(-1.5, 1.5, 17), np.linspace(-1.0, 1.0, 13)
    heights = 0.12 + 0.12 * np.sin(2.0 * xs + 0.3)[None, :] * np.cos(2.5 * ys)[:, None]
    heights -= heights.min()
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><hfield name="h" nrow="13" ncol="17" size="1.5 1 {heights.max()} 1"/></asset><worldbody>'
        '<geom type="hfield" hfield="h"/><body><freejoint/><geom size="0.1"/></body></worldbody>'
        '<option ccd_tolerance="1e-12" ccd_iterations="200"/></mujoco>'
    )
    model.hfield_data[:] = (heights / heights.max()).ravel()
    heights = model.hfield_data.reshape(13, 17).astype(float) * heights.max()
    data = mujoco.MjData(model)
    field = collision.HeightField(tuple(map(tuple, heights.tolist())), 1.5, 1.0)
    rng, errors = np.random.default_rng(0), []
    for _ in range(100):
        place = np.array([rng.uniform(-1.2, 1.2), rng.uniform(-0.8, 0.8), 0.0])
        probe = Transform(Mat3.identity(), Vec3(*place))
        (below,) = collision.contacts(field, Transform.identity(), collision.Sphere(0.0), probe)
        place[2] = -float(below.distance) / float(below.normal.z) + rng.uniform(0.05, 0.1)  # type: ignore[arg-type]
        data.qpos[:3] = place
        mujoco.mj_forward(model, data)
        ball = Transform(Mat3.identity(), Vec3(*place))
        (point,) = collision.contacts(field, Transform.identity(), collision.Sphere(0.1), ball)
        if data.ncon:
            errors.append(abs(float(point.distance) - data.contact.dist.min()))  # type: ignore[arg-type]
    assert len(errors) > 40
    assert np.median(errors) < 1e-12
    assert max(errors) < 0.005  # where a second triangle is nearer than the one below
