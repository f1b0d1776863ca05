"""Which samples triangles cover."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from kinetree.pictures.kernels.triangles import find_nearest, set_up

SIZE = 24


def covered(points: ArrayLike, faces: ArrayLike, near: float = 0.01, w: ArrayLike = 1.0) -> list[NDArray[np.int64]]:
    """The samples (row · SIZE + column) that each triangle covers by itself; points in columns and rows, at depth w."""
    x, faces = np.asarray(points, float), np.asarray(faces, np.int32)
    w = np.broadcast_to(np.asarray(w, float), len(x))
    seen = np.column_stack((x * w[:, None], w, np.ones(len(x))))
    boxes, edges = np.empty((len(faces), 4), np.int32), np.empty((len(faces), 4, 3))
    set_up(faces, seen, 0, len(faces), SIZE, SIZE, near, boxes, edges)
    result = []
    for t in range(len(faces)):
        nearness, found = np.zeros((SIZE, SIZE), np.float32), np.full((SIZE, SIZE), -1, np.int32)
        find_nearest(boxes, edges, t, t + 1, 0, SIZE, 1.0 / near, nearness, found)
        result.append(np.flatnonzero(found.ravel() == t))
    return result


@pytest.mark.parametrize("seed", range(8))
def test_a_fan_covers_each_sample_once(seed: int) -> None:
    """Corners at multiples of a quarter make many samples that are exactly on an edge or a corner."""
    random = np.random.default_rng(seed)
    n = 9
    angles = np.sort(random.uniform(0, 2 * np.pi, n))
    ring = np.round((12 + 100 * np.column_stack((np.cos(angles), np.sin(angles)))) * 4) / 4
    middle = random.integers(8, 17, 2) + 0.5
    points = np.vstack((ring, middle))
    faces = [(k, (k + 1) % n, n) for k in range(n)]
    faces = [f if random.random() < 0.5 else f[::-1] for f in faces]  # seen from both sides
    turns = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    if turns.max() > 2.5:  # the middle is not inside
        return
    counts = np.bincount(np.concatenate(covered(points, faces)), minlength=SIZE * SIZE)
    assert (counts == 1).all()


def test_a_square_on_samples_has_its_left_and_upper_edges() -> None:
    points, faces = [(2.5, 3.5), (6.5, 3.5), (6.5, 9.5), (2.5, 9.5)], [(0, 1, 2), (0, 2, 3)]
    rows, columns = np.divmod(np.sort(np.concatenate(covered(points, faces))), SIZE)
    assert len(rows) == 4 * 6
    assert (columns.min(), columns.max(), rows.min(), rows.max()) == (2, 5, 3, 8)


@pytest.mark.parametrize(
    "points",
    [
        [(1, 1), (20, 1), (10.5, 1)],
        [(5, 5), (5, 5), (5, 5)],
        [(np.nan, 1), (20, 1), (10, 20)],
        [(1, 1), (np.inf, 1), (10, 20)],
        [(1e200, 1), (20, 1e200), (10, -1e200)],
        [(30, 30), (40, 30), (40, 40)],
        [(-30, 3), (-40, 3), (-40, 4)],
    ],
    ids=["no area", "one point", "nan", "infinite", "huge", "right of it", "left of it"],
)
def test_what_has_no_samples_covers_none(points: ArrayLike) -> None:
    with np.errstate(all="ignore"):
        assert len(covered(points, [(0, 1, 2)])[0]) == 0


def test_a_triangle_that_reaches_behind_the_camera_is_cut_at_the_near_plane() -> None:
    """It lies on a floor 1 m below the camera: rows below the horizon see it, up to where it is nearer than allowed."""
    focal, near = 12.0, 2.0
    corners = np.array([(-100.0, 1.0, -5.0), (100.0, 1.0, -5.0), (0.0, 1.0, 1e6)])
    seen = np.column_stack((focal * corners[:, 0] + 12 * corners[:, 2], focal * corners[:, 1] + 12 * corners[:, 2]))
    seen = np.column_stack((seen, corners[:, 2], np.ones(3)))
    boxes, edges = np.empty((1, 4), np.int32), np.empty((1, 4, 3))
    set_up(np.array([[0, 1, 2]], np.int32), seen, 0, 1, SIZE, SIZE, near, boxes, edges)
    nearness, found = np.zeros((SIZE, SIZE), np.float32), np.full((SIZE, SIZE), -1, np.int32)
    find_nearest(boxes, edges, 0, 1, 0, SIZE, 1.0 / near, nearness, found)
    rows = np.arange(SIZE) + 0.5
    depth = focal / (rows - 12.0)
    np.testing.assert_array_equal((found == 0)[:, 12], (rows > 12.0) & (depth >= near))
    np.testing.assert_allclose(nearness[13:18, 12], 1.0 / depth[13:18], rtol=1e-6)


def test_the_nearer_one_is_found_whatever_the_order() -> None:
    points = [(2, 2), (20, 3), (9, 20), (3, 3), (21, 2), (8, 21)]
    w = [1.0, 1.0, 1.0, 2.0, 0.5, 2.0]
    for faces in ([(0, 1, 2), (3, 4, 5)], [(3, 4, 5), (0, 1, 2)]):
        x, depth = np.array(points, float), np.array(w)
        seen = np.column_stack((x * depth[:, None], depth, np.ones(6)))
        boxes, edges = np.empty((2, 4), np.int32), np.empty((2, 4, 3))
        set_up(np.array(faces, np.int32), seen, 0, 2, SIZE, SIZE, 0.01, boxes, edges)
        nearness, found = np.zeros((SIZE, SIZE), np.float32), np.full((SIZE, SIZE), -1, np.int32)
        find_nearest(boxes, edges, 0, 2, 0, SIZE, 100.0, nearness, found)
        first = faces.index((0, 1, 2))
        assert found[4, 3] == first  # the other is at 2 m here
        assert found[4, 18] == 1 - first  # and at 0.6 m there
