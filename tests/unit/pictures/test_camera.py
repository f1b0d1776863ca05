"""Cameras: what they see where, and framing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinetree.errors import OptionError, ShapeError
from kinetree.pictures import Camera, framing

SIZE = (640, 480)


def test_pixels_are_those_of_a_pinhole() -> None:
    camera = Camera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), field_of_view=math.pi / 2)
    # half the height is 2 m at a distance of 2 m
    np.testing.assert_allclose(
        camera.project([[0, 0, 2], [2, 0, 0], [0, 0, -1]], SIZE), [[320, 0], [560, 240], [320, 360]], atol=1e-9
    )


def test_what_is_behind_is_nowhere() -> None:
    assert np.isnan(Camera((0, 0, 0), (1, 0, 0)).project([-1.0, 0.0, 0.0], SIZE)).all()


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 0, 1e-8), (1, 0, 0), (0.3, 0.1, -2)])
def test_axes_are_perpendicular_even_if_it_looks_along_up(up: tuple[float, float, float]) -> None:
    for target in ((0, 0, 1), (0, 0, -3), (1, 2, 3), (1, 0, 0)):
        axes = Camera((0, 0, 0), target, up).axes()
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) > 0


@pytest.mark.parametrize("size", [(640, 480), (100, 1000), (1000, 100), (1, 1)])
@pytest.mark.parametrize("direction", [(-1, 0.7, -0.45), (0, 0, -1), (0.2, 1, 0.3)])
def test_framing_touches_the_borders_and_cuts_nothing_off(
    size: tuple[int, int], direction: tuple[float, float, float]
) -> None:
    points = np.random.default_rng(0).normal(size=(50, 3)) * (1.0, 0.3, 2.0) + (10.0, 0.0, 5.0)
    camera = framing(points, size, direction=direction, margin=0.1)
    share = camera.project(points, size) / size
    low, high = share.min(axis=0), share.max(axis=0)
    assert (low >= 0.1 - 1e-9).all()
    assert (high <= 0.9 + 1e-9).all()
    assert np.isclose(high - low, 0.8).any()


def test_two_corners_are_a_box() -> None:
    low, high = np.array([0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0])
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
    assert framing([low, high]) == framing(corners)


def test_one_point_can_be_framed_and_diverged_ones_are_left_out() -> None:
    camera = framing([[1.0, 2.0, 3.0]])
    assert np.isfinite(camera.position).all()
    assert framing([[1.0, 2.0, 3.0], [np.nan, 0, 0], [np.inf, 0, 0]]) == camera


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Camera((0, 0, 0), (0, 0, 0)), "look somewhere else"),
        (lambda: Camera((0, 0, math.nan), (0, 0, 0)), "position must be three finite numbers"),
        (lambda: Camera((0, 0, 1), (0, 0, 0), field_of_view=4.0), "between 0 and π"),
        (lambda: Camera((0, 0, 1), (0, 0, 0), near=0.0), "near must be a length above 0"),
        (lambda: Camera((0, 0, 1), (0, 0, 0), (0, 0, 0)), "up must not be"),
        (lambda: Camera((0, 0, 1), (0, 0, 0)).matrix((0, 3)), "width and height of the picture"),
        (lambda: Camera((0, 0, 1), (0, 0, 0)).matrix((True, 3)), "width and height of the picture"),
        (lambda: framing([[math.nan] * 3]), "nothing to be seen"),
        (lambda: framing([[0.0, 0.0, 0.0]], margin=0.5), "margin must be"),
        (lambda: framing([[0.0, 0.0, 0.0]], direction=(0, 0, 0)), "direction must say"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()  # type: ignore[operator]


def test_points_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError, match="points must be"):
        framing([0.0, 0.0, 0.0])
    with pytest.raises(ShapeError, match="position must be three numbers"):
        Camera((0, 0), (0, 0, 0))  # type: ignore[arg-type]
