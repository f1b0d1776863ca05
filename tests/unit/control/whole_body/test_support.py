"""What forces supports allow: rectangles as their corners, pyramids inside cones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

Support = kt.control.Support
X, Y, MU = 0.11, 0.06, 0.5
CORNERS = [(x, y, 0.0) for x in (-X, X) for y in (-Y, Y)]
RECTANGLE = Support("sole", size=(2 * X, 2 * Y), friction=MU)
POLYGON = Support("sole", corners=CORNERS, friction=MU)


def pyramids(rng: np.random.Generator) -> np.ndarray:
    """Forces at the corners, each in its pyramid."""
    up = rng.exponential(50.0, 4)
    side = MU * np.cos(np.pi / 4) * up[:, None] * rng.uniform(-1.0, 1.0, (4, 2))
    return np.hstack([side, up[:, None]]).ravel()


@pytest.mark.parametrize("seed", range(20))
def test_wrenches_of_corners_are_those_of_the_rectangle(seed: int) -> None:
    rows, lower, _ = RECTANGLE.cone()
    wrench = POLYGON.generator() @ pyramids(np.random.default_rng(seed))
    assert (rows @ wrench > lower - 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_wrenches_of_the_rectangle_are_given_by_its_corners(seed: int) -> None:
    """The closed form has no wrench too many: those at its edge are still sums of forces at corners."""
    rows, lower, _ = RECTANGLE.cone()
    outside = np.random.default_rng(seed).normal(size=6) * [60.0, 60.0, 100.0, 10.0, 10.0, 10.0] + [
        0,
        0,
        100.0,
        0,
        0,
        0,
    ]
    nearest = kt.control.quadratic_program(np.eye(6), -outside, C=rows, lower=lower).x
    D, least, _ = POLYGON.cone()
    found = kt.control.quadratic_program(np.eye(12), np.zeros(12), POLYGON.generator(), nearest, D, least - 1e-7)
    assert found.solved, found.summary()


@pytest.mark.parametrize("sides", [3, 4, 6, 11])
def test_pyramids_are_inside_the_cone_of_their_normal(sides: int) -> None:
    foot = Support("foot", normal=[0.3, -0.2, 0.9], friction=MU, sides=sides)
    rows, lower, _ = foot.cone()
    axes = foot.axes()
    assert np.allclose(axes.T @ axes, np.eye(3))
    assert np.allclose(axes[:, 2], np.array([0.3, -0.2, 0.9]) / np.linalg.norm([0.3, -0.2, 0.9]))
    turns = np.linspace(0.0, 2.0 * np.pi, 1000)
    edge = np.stack([np.cos(turns), np.sin(turns), np.ones(1000)])
    longest = [
        max(t for t in np.linspace(0, 1, 1001) if (rows @ (e * [t, t, 1.0]) >= lower - 1e-12).all())
        for e in edge.T[::50]
    ]
    assert max(longest) <= MU + 1e-9
    assert min(longest) >= MU * np.cos(np.pi / sides) - 2e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": (0.1, 0.1), "corners": CORNERS}, "not both"),
        ({"corners": CORNERS[:2]}, "at least 3 corners"),
        ({"sides": 2}, "sides"),
        ({"size": (0.1, 0.1), "sides": 8}, "4 sides"),
        ({"normal": (0.0, 0.0, 0.0)}, "normal"),
        ({"friction": -0.1}, "friction"),
        ({"least_force": 5.0, "most_force": 2.0}, "most_force"),
        ({"force_weight": [1.0, 2.0]}, "force_weight"),
        ({"frame": 3}, "name of a frame"),
    ],
)
def test_what_is_not_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        Support(**{"frame": "foot", **given})


def test_its_text_makes_an_equal_one() -> None:
    assert eval(repr(POLYGON), {"kt": kt, "Support": Support, "control": kt.control}) == POLYGON
