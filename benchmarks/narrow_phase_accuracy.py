"""Signed distances of random pairs of convex shapes beside independent solutions.

    python benchmarks/narrow_phase_accuracy.py [--pairs 715] [--seed 0] [KINDS ...]

Depths are compared with the polytope that SciPy's Qhull spans by farthest points of the Minkowski difference: the
facets nearest to the origin get farthest points along their normals until none is nearer than the least depth known,
by 1e-9 of the size. So this depth is that of the shortest way out of all. Distances of shapes that are apart are
coal's, by GJK to 1e-12. Shapes have aspect ratios of up to 20, hulls 4 to 48 corners; pairs are deep, shallow (down to
1e-5 of the way) and apart. Errors are relative to the smaller shape; "late" are depths that are too large by more than
1e-6 of it. The last three columns are the largest errors: too deep, not deep enough, apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from kinetree import collision
from kinetree.collision.pairs import ITERATIVE
from kinetree.spatial import Mat3, Transform, Vec3

Array = NDArray[np.float64]
SHAPES_PER_KIND = 35
"""How many hulls each kind has."""
TOLERANCE = 1e-6


def shape_of(kind: str, rng: np.random.Generator) -> collision.Shape:
    x, y, z = 0.02 * 20.0 ** rng.random(3)
    match kind:
        case "sphere":
            return collision.Sphere(x)
        case "capsule":
            return collision.Capsule(x, y)
        case "ellipsoid":
            return collision.Ellipsoid(x, y, z)
        case "cylinder":
            return collision.Cylinder(x, y)
        case "box":
            return collision.Box(x, y, z)
    corners = hull_corners(rng) * np.array([x, y, z])
    corners = corners[ConvexHull(corners).vertices]
    return collision.Hull(tuple((x, y, z) for x, y, z in corners.tolist()))


def hull_corners(rng: np.random.Generator) -> Array:
    """Corners of a rounded stone, a cloud, a pointed simplex, a box, a prism or a pyramid."""
    count = int(rng.choice([4, 5, 6, 8, 12, 24, 48]))
    points = rng.normal(size=(count, 3))
    around = 2.0 * np.pi * np.arange(max(3, count // 2)) / max(3, count // 2)
    ring = np.stack([np.cos(around), np.sin(around), 0.0 * around], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    match int(rng.integers(6)):
        case 0:
            return points / np.linalg.norm(points, axis=1, keepdims=True)
        case 1:
            return 0.6 * points
        case 2:
            return 0.8 * points[:4]
        case 3:
            return np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])
        case 4:
            return np.concatenate([ring - up, ring + up])
    return np.concatenate([ring - 0.5 * up, [1.5 * up]])


def support(shape: Any, n: Array) -> Any:
    """The points (m, 3) of a shape that are farthest along directions (m, 3), in its own axes."""
    match shape:
        case collision.Sphere():
            return shape.radius * n
        case collision.Capsule():
            return shape.radius * n + np.sign(n[:, 2:]) * np.array([0.0, 0.0, shape.half_length])
        case collision.Ellipsoid():
            scaled = n * np.array([shape.x, shape.y, shape.z])
            return scaled / np.linalg.norm(scaled, axis=1, keepdims=True) * np.array([shape.x, shape.y, shape.z])
        case collision.Cylinder():
            radial = n * np.array([1.0, 1.0, 0.0])
            length = np.linalg.norm(radial, axis=1, keepdims=True)
            end = np.sign(n[:, 2:]) * np.array([0.0, 0.0, shape.half_length])
            return shape.radius * radial / np.where(length > 0.0, length, 1.0) + end
        case collision.Box():
            return np.where(n < 0.0, -1.0, 1.0) * np.array([shape.x, shape.y, shape.z])
    corners = np.array(shape.vertices)
    return corners[(n @ corners.T).argmax(axis=1)]


def size_of(shape: Any) -> float:
    axes = np.eye(3)
    return max(float((support(shape, s * axes) * (s * axes)).sum(axis=1).max()) for s in (-1.0, 1.0))


def difference(shapes: tuple[Any, Any], R: Array, r: Array) -> Callable[[Array], Array]:
    """The farthest points of A minus B along directions, in A's axes; columns of R are B's axes."""
    a, b = shapes
    return lambda n: support(a, n) - (r + support(b, -n @ R) @ R.T)


def spread(count: int) -> Array:
    """Directions in a spiral around the sphere."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(count)
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(angle), np.sqrt(1.0 - z * z) * np.sin(angle), z], axis=1)


def least_depth(farthest: Callable[[Array], Array], size: float) -> float:
    """The least depth of all directions; not positive, and then of no use, where the shapes are apart."""
    n = spread(200)
    points = farthest(n)
    most = float((points * n).sum(axis=1).min())
    if most <= 0.0:
        return most
    closed: set[tuple[float, ...]] = set()
    for _ in range(60):
        points = np.unique(points, axis=0)
        planes = ConvexHull(points).equations
        n = planes[-planes[:, 3] < most - 1e-9 * size]
        if -planes[:, 3].max() < 0.0 and most <= 0.0:
            break
        n = n[[tuple(row.round(9)) not in closed for row in n]]
        if not len(n):
            return most
        n = n[np.argsort(-n[:, 3])[:400]]
        further = farthest(n[:, :3])
        h = (further * n[:, :3]).sum(axis=1)
        most = min(most, float(h.min()))
        closed |= {tuple(row.round(9)) for row in n[h + n[:, 3] < 1e-10 * size]}
        points = np.concatenate([points, further])
    return most


def way_along(farthest: Callable[[Array], Array], n: Array) -> float:
    """How far B can be moved along a direction until it hardly touches A."""
    planes = ConvexHull(np.unique(farthest(spread(300)), axis=0)).equations
    slope = planes[:, :3] @ n
    return float((-planes[slope > 1e-9, 3] / slope[slope > 1e-9]).min())


def distance_of_coal(shapes: tuple[Any, Any], R: Array, r: Array) -> float:
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    result = coal.distance(
        of_coal(shapes[0]), coal.Transform3s(np.eye(3), np.zeros(3)), of_coal(shapes[1]), coal.Transform3s(R, r),
        request, coal.DistanceResult(),
    )  # fmt: skip
    return float(result)


def of_coal(shape: Any) -> Any:
    match shape:
        case collision.Sphere():
            return coal.Sphere(shape.radius)
        case collision.Capsule():
            return coal.Capsule(shape.radius, 2.0 * shape.half_length)
        case collision.Ellipsoid():
            return coal.Ellipsoid(shape.x, shape.y, shape.z)
        case collision.Cylinder():
            return coal.Cylinder(shape.radius, 2.0 * shape.half_length)
        case collision.Box():
            return coal.Box(2.0 * shape.x, 2.0 * shape.y, 2.0 * shape.z)
    points = coal.StdVec_Vec3s()
    points.extend(np.array(vertex) for vertex in shape.vertices)
    return coal.Convex.convexHull(points, False, "")


def rotations(rng: np.random.Generator, count: int) -> Array:
    """Random ones; every tenth turns nothing."""
    axes, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    axes[::10] = np.eye(3)
    found: Array = axes * np.linalg.det(axes)[:, None, None]
    return found


def placements(shapes: tuple[Any, Any], count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rotations and positions of B as seen from A: deep, shallow, and apart."""
    R = rotations(rng, count)
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    ways = [way_along(difference(shapes, R[k], np.zeros(3)), n[k]) for k in range(count)]
    kind = rng.random(count)
    shallow = np.where(
        kind < 0.8, 1.0 - 10.0 ** rng.uniform(-5.0, -1.0, count), 1.0 + 10.0 ** rng.uniform(-4.0, 0.0, count)
    )
    return R, n * (np.array(ways) * np.where(kind < 0.6, rng.random(count), shallow))[:, None]


def ours(shapes: tuple[Any, Any], R: Any, r: Any) -> Array:
    count = len(r)
    ones: Any = np.ones(count)
    zeros: Any = np.zeros(count)
    X = Transform(
        Mat3(Vec3(ones, zeros, zeros), Vec3(zeros, ones, zeros), Vec3(zeros, zeros, ones)), Vec3(zeros, zeros, zeros)
    )
    Y = Transform(Mat3(*(Vec3(*R[:, :, k].T.copy()) for k in range(3))), Vec3(*r.T.copy()))
    distance: Any = collision.closest(shapes[0], X, shapes[1], Y).distance
    return np.broadcast_to(np.asarray(distance, dtype=np.float64), (count,))


def compare(kinds: tuple[str, str], count: int, seed: int) -> Array:
    """The relative error, and the true depth by the smaller shape, of each pair."""
    rows = []
    rng = np.random.default_rng([seed, *map(ord, "".join(kinds))])
    per = -(-count // SHAPES_PER_KIND)
    for _ in range(-(-count // per)):
        shapes = shape_of(kinds[0], rng), shape_of(kinds[1], rng)
        size = min(map(size_of, shapes))
        R, r = placements(shapes, per, rng)
        for k, distance in enumerate(ours(shapes, R, r).tolist()):
            depth = least_depth(difference(shapes, R[k], r[k]), size)
            expected = -depth if depth > 0.0 else distance_of_coal(shapes, R[k], r[k])
            rows.append(((distance - expected) / size, -expected / size))
    return np.array(rows[:count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["-".join(pair) for pair in ITERATIVE])
    parser.add_argument("--pairs", type=int, default=715)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"{'pair':20} {'apart':>6} {'deep':>6} {'late':>6} {'deeper':>9} {'less deep':>9} {'apart':>9} {'s':>6}")
    for name in args.kinds:
        start = time.process_time()
        error, depth = compare((name.split("-")[0], name.split("-")[1]), args.pairs, args.seed).T
        deep = depth > 0.0
        late = -error[deep]
        print(
            f"{name:20} {(~deep).sum():6} {deep.sum():6} {(late > TOLERANCE).sum():6} {late.max():9.1e} "
            f"{-late.min():9.1e} {abs(error[~deep]).max(initial=0.0):9.1e} {time.process_time() - start:6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
