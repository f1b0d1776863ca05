"""Polygons cut into triangles by clipping ears, in 32-bit arithmetic, as the OBJ reader that MuJoCo uses does it.

A polygon whose corners are not exactly in one plane encloses another volume if it is cut along other diagonals, so the
order and the rounding of each comparison matter. Polygons of similar size are cut at the same time.

That reader leaves out polygons of more than 100 corners, and the rest of a polygon in which it finds no ear; it
compares each ear's orientation with a triangle at the origin, so it also misses ears that are there. A robot that moves
as MuJoCo's does must leave out the same triangles; they are counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError

__all__ = ["triangulated"]

_Indices = NDArray[np.int64]
_Floats = NDArray[np.float32]
_MOST_CORNERS = 100
_TOGETHER = 500_000
"""Maximum number of corners of polygons that are cut at the same time."""
_WORK, _WORK_OF_ROUND = 10_000_000, 5000
"""Limit on the comparisons made for a file, and the additional cost of a round."""
_EPSILON = np.float32(np.finfo(np.float32).eps)


def triangulated(where: object, points: _Floats, corners: _Indices, sizes: _Indices) -> tuple[_Indices, int]:
    """The triangles (m, 3) of polygons, in their order, and how many of them are left out.

    `corners` has the corners of all polygons one after the other, and `sizes` how many each has, at least three.
    """
    if not len(sizes):
        return np.zeros((0, 3), np.int64), 0
    if (sizes == 3).all():
        return corners.reshape(-1, 3), 0
    starts = np.cumsum(sizes) - sizes
    place = np.cumsum(sizes - 2) - (sizes - 2)  # where the triangles of each polygon begin
    result = np.full((int((sizes - 2).sum()), 3), -1, np.int64)
    plain = np.flatnonzero(sizes == 3)
    result[place[plain]] = corners[starts[plain, None] + np.arange(3)]
    quads = np.flatnonzero(sizes == 4)
    result[place[quads, None] + np.arange(2)] = _halved(points, corners[starts[quads, None] + np.arange(4)])
    work = 0
    for width in (8, 16, 32, 64, _MOST_CORNERS):
        least = max(4, width // 2) if width < _MOST_CORNERS else 64
        group = np.flatnonzero((sizes > least) & (sizes <= width))
        for k in range(0, len(group), _TOGETHER // width):
            some = group[k : k + _TOGETHER // width]
            columns = np.minimum(np.arange(width), sizes[some, None] - 1)
            polygons = corners[starts[some, None] + columns]
            work = _clip(where, points, polygons, sizes[some], place[some], result, work)
    valid = result[:, 0] >= 0
    return result[valid], len(valid) - int(valid.sum())


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
    where: object, points: _Floats, polygons: _Indices, sizes: _Indices, place: _Indices, result: _Indices, work: int
) -> int:
    """Cut polygons (p, n), whose first `sizes` corners count, into `result`; return the work so far."""
    columns = np.arange(polygons.shape[1])[None, :]
    with np.errstate(all="ignore"):
        x, y = _projected(points[polygons], sizes)
        left, place = sizes.copy(), place.copy()
        guess, tries, before = np.zeros_like(sizes), sizes.copy(), sizes.copy()
        while len(left):
            work += polygons.size + _WORK_OF_ROUND
            if work > _WORK:
                raise ModelError(
                    f"{where}: cutting its polygons into triangles takes too long; export the mesh as triangles"
                )
            guess = np.where(guess >= left, guess - left, guess)
            tries = np.where(before != left, left, tries - 1)
            before = left.copy()
            ear = np.flatnonzero(_is_ear(x, y, left, guess))
            cut = [(guess[ear] + k) % left[ear] for k in range(3)]
            result[place[ear]] = np.stack([polygons[ear, k] for k in cut], axis=1)
            place[ear] += 1
            source = np.minimum(columns + (columns >= cut[1][:, None]), columns.shape[1] - 1)
            for array in (polygons, x, y):
                array[ear] = array[ear[:, None], source]
            guess += 1
            guess[ear] -= 1
            left[ear] -= 1
            finished = (left == 3) | (tries == 0)
            if finished.any():
                whole = left == 3
                result[place[whole]] = polygons[whole, :3]
                polygons, x, y = polygons[~finished], x[~finished], y[~finished]
                left, place, guess, tries, before = (k[~finished] for k in (left, place, guess, tries, before))
    return work


def _projected(corners: _Floats, sizes: _Indices) -> tuple[_Floats, _Floats]:
    """Two of the three coordinates of each polygon's corners: those of the plane that its first real corner faces."""
    rows = np.arange(len(corners))
    first, second = np.ones_like(sizes), np.full_like(sizes, 2)
    todo = np.ones(len(sizes), bool)
    for k in range(corners.shape[1]):
        todo &= k < sizes
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
        todo &= ~corner
    x = np.take_along_axis(corners, first[:, None, None], axis=2)[:, :, 0]
    y = np.take_along_axis(corners, second[:, None, None], axis=2)[:, :, 0]
    return x, y


def _is_ear(x: _Floats, y: _Floats, left: _Indices, guess: _Indices) -> NDArray[np.bool_]:
    """Whether the three corners from `guess` on make a triangle outside which all other corners are."""
    rows = np.arange(len(left))
    at = [(guess + k) % left for k in range(3)]
    tx, ty = ([z[rows, k][:, None] for k in at] for z in (x, y))
    cross = (tx[1] - tx[0]) * (ty[2] - ty[1]) - (ty[1] - ty[0]) * (tx[2] - tx[1])
    # The sign to compare with is that of a triangle with the origin, not the polygon's: so it is there.
    area = (tx[0] * ty[1] - ty[0] * tx[1]) * np.float32(0.5)
    ear: NDArray[np.bool_] = ~(cross * area < 0)[:, 0]
    columns = np.arange(x.shape[1])[None, :]
    behind = (columns - guess[:, None]) % left[:, None]  # how many corners after the triangle's first
    other = (behind > 2) & (columns < left[:, None])
    return ear & ~(other & _is_inside(tx, ty, x, y)).any(axis=1)


def _is_inside(tx: list[_Floats], ty: list[_Floats], x: _Floats, y: _Floats) -> NDArray[np.bool_]:
    """Whether points are in triangles, by the number of edges that a ray crosses."""
    inside = np.zeros(x.shape, bool)
    above = [t > y for t in ty]
    for i, j in ((0, 2), (1, 0), (2, 1)):
        crosses = above[i] != above[j]
        inside ^= crosses & (x < (tx[j] - tx[i]) * (y - ty[i]) / (ty[j] - ty[i]) + tx[i])
    return inside
