"""Polygons cut into triangles by clipping ears, in 32-bit arithmetic, as the OBJ reader that MuJoCo uses does it.

A polygon whose corners are not exactly in one plane encloses another volume if it is cut along other diagonals, so the
order and the rounding of each comparison matter. All polygons of similar size are cut at the same time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError

__all__ = ["triangulated"]

_Indices = NDArray[np.int64]
_Floats = NDArray[np.float32]
_MOST_CORNERS = 4096
_ROUNDS = 20_000
"""Maximum number of rounds in which polygons are cut; a convex polygon of n corners takes n - 3."""
_EPSILON = np.float32(np.finfo(np.float32).eps)


def triangulated(where: object, points: _Floats, corners: _Indices, sizes: _Indices) -> _Indices:
    """The triangles (m, 3) of polygons, in their order.

    `corners` has the corners of all polygons one after the other, and `sizes` how many each has, at least three.
    """
    if not len(sizes):
        return np.zeros((0, 3), np.int64)
    if (sizes == 3).all():
        return corners.reshape(-1, 3)
    largest = int(sizes.max())
    if largest > _MOST_CORNERS:
        raise ModelError(
            f"{where}: a face has {largest:,} corners; the limit is {_MOST_CORNERS:,}: export the mesh as triangles"
        )
    starts = np.cumsum(sizes) - sizes
    place = np.cumsum(sizes - 2) - (sizes - 2)  # where the triangles of each polygon begin
    result = np.full((int((sizes - 2).sum()), 3), -1, np.int64)
    plain = np.flatnonzero(sizes == 3)
    result[place[plain]] = corners[starts[plain, None] + np.arange(3)]
    quads = np.flatnonzero(sizes == 4)
    result[place[quads, None] + np.arange(2)] = _halved(points, corners[starts[quads, None] + np.arange(4)])
    rounds = 0
    width = 8
    while True:
        chosen = np.flatnonzero((sizes > max(4, width // 2)) & (sizes <= width))
        if len(chosen):
            columns = np.minimum(np.arange(width), sizes[chosen, None] - 1)
            polygons = corners[starts[chosen, None] + columns]
            rounds = _clip(where, points, polygons, sizes[chosen], place[chosen], result, rounds)
        if width >= largest:
            break
        width *= 2
    return result[result[:, 0] >= 0]


def _halved(points: _Floats, quads: _Indices) -> _Indices:
    """Two triangles (q, 2, 3) per quadrilateral, cut along its shorter diagonal."""
    a, b, c, d = (points[quads[:, k]] for k in range(4))
    first, second = c - a, d - b
    with np.errstate(all="ignore"):
        squares = [x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2] for x in (first, second)]
    shorter = (squares[0] < squares[1])[:, None]
    pairs = np.where(shorter, quads[:, [0, 1, 2, 0, 2, 3]], quads[:, [0, 1, 3, 1, 2, 3]])
    return pairs.reshape(-1, 2, 3)


def _clip(
    where: object,
    points: _Floats,
    polygons: _Indices,
    sizes: _Indices,
    place: _Indices,
    result: _Indices,
    rounds: int,
) -> int:
    """Cut polygons (p, n), of which the first `sizes` corners count, into `result`; return the rounds so far."""
    with np.errstate(all="ignore"):
        x, y = _projected(points[polygons], sizes)
        rows = np.arange(len(polygons))
        left, polygons, place = sizes.copy(), polygons.copy(), place.copy()
        guess = np.zeros_like(sizes)
        tries, before = sizes.copy(), sizes.copy()
        while True:
            active = (left > 3) & (tries > 0)
            if not active.any():
                break
            if not active.all():
                _finish(~active, left, polygons, place, result)
                rows = rows[: int(active.sum())]
                polygons, x, y = polygons[active], x[active], y[active]
                left, place, guess, tries, before = (k[active] for k in (left, place, guess, tries, before))
            rounds += 1
            if rounds > _ROUNDS:
                raise ModelError(
                    f"{where}: cutting its polygons into triangles takes too long; export the mesh as triangles"
                )
            guess = np.where(guess >= left, guess - left, guess)
            tries = np.where(before != left, left, tries - 1)
            before = left.copy()
            ear = _is_ear(x, y, left, guess)
            at = rows[ear]
            cut = [(guess[ear] + k) % left[ear] for k in range(3)]
            result[place[ear]] = np.stack([polygons[at, k] for k in cut], axis=1)
            place[ear] += 1
            n = polygons.shape[1]
            columns = np.arange(n)[None, :]
            source = np.minimum(columns + (columns >= cut[1][:, None]), n - 1)
            for array in (polygons, x, y):
                array[ear] = np.take_along_axis(array[ear], source, axis=1)
            left[ear] -= 1
            guess[~ear] += 1
        _finish(np.ones(len(left), bool), left, polygons, place, result)
    return rounds


def _finish(done: NDArray[np.bool_], left: _Indices, polygons: _Indices, place: _Indices, result: _Indices) -> None:
    """Store the last triangle of polygons; one that could not be cut to the end has none."""
    whole = done & (left == 3)
    result[place[whole]] = polygons[whole, :3]


def _projected(corners: _Floats, sizes: _Indices) -> tuple[_Floats, _Floats]:
    """Two of the three coordinates of each polygon's corners: those of the plane that its first real corner faces."""
    rows = np.arange(len(corners))
    first, second = np.ones_like(sizes), np.full_like(sizes, 2)
    found = np.zeros(len(sizes), bool)
    for k in range(corners.shape[1]):
        todo = ~found & (k < sizes)
        if not todo.any():
            break
        p0, p1, p2 = (corners[rows, (k + j) % sizes] for j in range(3))
        d, e = p1 - p0, p2 - p1
        cx = np.abs(d[:, 1] * e[:, 2] - d[:, 2] * e[:, 1])
        cy = np.abs(d[:, 2] * e[:, 0] - d[:, 0] * e[:, 2])
        cz = np.abs(d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0])
        corner = todo & ((cx > _EPSILON) | (cy > _EPSILON) | (cz > _EPSILON))
        other = corner & ~((cx > cy) & (cx > cz))
        first[other] = 0
        second[other & (cz > cx) & (cz > cy)] = 1
        found |= corner
    x = np.take_along_axis(corners, first[:, None, None], axis=2)[:, :, 0]
    y = np.take_along_axis(corners, second[:, None, None], axis=2)[:, :, 0]
    return x, y


def _is_ear(x: _Floats, y: _Floats, left: _Indices, guess: _Indices) -> NDArray[np.bool_]:
    """Whether the three corners from `guess` on make a triangle outside which all other corners are."""
    rows = np.arange(len(left))
    at = [(guess + k) % left for k in range(3)]
    tx, ty = ([z[rows, k] for k in at] for z in (x, y))
    cross = (tx[1] - tx[0]) * (ty[2] - ty[1]) - (ty[1] - ty[0]) * (tx[2] - tx[1])
    # The sign to compare with is that of a triangle with the origin, not the polygon's: so it is there.
    area = (tx[0] * ty[1] - ty[0] * tx[1]) * np.float32(0.5)
    ear: NDArray[np.bool_] = ~(cross * area < 0)
    for k in range(3, int(left.max())):
        other = (guess + k) % left
        ear &= ~((k < left) & _is_inside(tx, ty, x[rows, other], y[rows, other]))
    return ear


def _is_inside(tx: list[_Floats], ty: list[_Floats], x: _Floats, y: _Floats) -> NDArray[np.bool_]:
    """Whether points are in triangles, by the number of edges that a ray crosses."""
    inside = np.zeros(len(x), bool)
    for i, j in ((0, 2), (1, 0), (2, 1)):
        crosses = (ty[i] > y) != (ty[j] > y)
        inside ^= crosses & (x < (tx[j] - tx[i]) * (y - ty[i]) / (ty[j] - ty[i]) + tx[i])
    return inside
