"""Pictures of surfaces."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree.appearance import Surface
from kinetree.errors import OptionError, ShapeError
from kinetree.pictures import Background, Camera, Floor, Light, framing
from kinetree.pictures.draw import Drawing, draw
from tests.unit.pictures.shapes import GREEN, RED, at, ball, flat, square

FRONT = Camera((0.0, -5.0, 0.0), (0.0, 0.0, 0.0))
SIZE = (64, 48)
EVEN = Light(direction=(0, -1, 0), key=(0, 0, 0), fill=(0, 0, 0), sky=(0.7, 0.7, 0.7), ground=(0.7, 0.7, 0.7))
"""The same light from everywhere: only the rim of surfaces is brighter."""
WHITE = Background((1, 1, 1), (1, 1, 1))


def scene() -> tuple[list[Surface], NDArray[np.float64], dict[str, Any]]:
    """Two balls of which one can be seen through, a square with a texture, and a floor."""
    texture = np.random.default_rng(0).integers(0, 255, (5, 7, 4)).astype(np.uint8)
    plain = square(0.5, 1.2, GREEN)
    uv = plain.vertices[:, [0, 2]] * 1.7
    with_texture = Surface(plain.vertices, plain.faces, plain.normals, plain.colors, uv, texture)
    surfaces = [ball(), ball(0.7, 6, GREEN), with_texture]
    placements = at((0, 0, 0), (0.6, -1.5, 0.2), (0.3, 0.8, 0.1))
    camera = Camera((1.0, -6.0, 1.5), (0.0, 0.0, 0.0))
    return surfaces, placements, {"camera": camera, "opacity": [1.0, 0.5, 1.0], "floor": Floor(-1.0)}


def test_machine_code_draws_what_python_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [importlib.import_module(f"kinetree.pictures.{name}") for name in ("draw", "lamp", "placed")]
    monkeypatch.setattr(modules[1], "SIDE", 48)
    surfaces, placements, options = scene()
    made = draw(surfaces, placements, size=(40, 30), **options)
    for module in modules:
        for name, function in list(vars(module).items()):
            if getattr(function, "__module__", "").startswith("kinetree.pictures.kernels") and not isinstance(
                function, type
            ):
                monkeypatch.setattr(module, name, function.__wrapped__)
    meant = draw(surfaces, placements, size=(40, 30), **options)
    assert len(np.unique(made.reshape(-1, 3), axis=0)) > 300
    np.testing.assert_array_equal(made, meant)


def test_threads_do_not_change_a_bit() -> None:
    surfaces, placements, options = scene()
    pictures = [draw(surfaces, placements, size=(161, 119), threads=threads, **options) for threads in (1, 2, 5)]
    assert (pictures[0] == pictures[1]).all()
    assert (pictures[0] == pictures[2]).all()


def test_a_drawing_remembers_nothing_that_changes_a_picture() -> None:
    surfaces, placements, options = scene()
    drawing = Drawing(surfaces, options.pop("opacity"))
    other = Camera((3.0, -6.0, 1.5), (0.0, 0.0, 0.0))
    first = drawing(placements, size=SIZE, **options)
    drawing(placements + at((1, 0, 0))[0] - np.eye(4), size=SIZE, **options)
    drawing(placements, size=SIZE, **(options | {"camera": other, "background": WHITE}))
    assert (drawing(placements, size=SIZE, **options) == first).all()


def test_silhouettes_are_those_of_the_camera() -> None:
    picture = draw([square()], at((0, 0, 0)), FRONT, (400, 300), light=EVEN, background=WHITE)
    rows, columns = np.nonzero((picture != 255).any(axis=2))
    low, high = FRONT.project([[-1, 0, 1], [1, 0, -1]], (400, 300))
    assert np.abs(np.array([columns.min(), rows.min()]) - low).max() < 1.0
    assert np.abs(np.array([columns.max() + 1, rows.max() + 1]) - high).max() < 1.0


def test_colors_are_srgb() -> None:
    """Light 0.5 on white, and nothing else: its sRGB byte is 188."""
    light = Light(direction=(0, -1, 0), key=(0, 0, 0), fill=(0, 0, 0), sky=(0.5, 0.5, 0.5), ground=(0.5, 0.5, 0.5))
    picture = draw([square(color=(255, 255, 255, 255))], at((0, 0, 0)), FRONT, SIZE, light=light)
    assert (picture[24, 32] == round(255 * (1.055 * 0.5 ** (1 / 2.4) - 0.055))).all()


def test_edges_are_averaged_in_linear_light() -> None:
    """A square that covers half of a pixel's samples: half of the light, not half of the byte."""
    black = square(color=(0, 0, 0, 255))
    dark = Light(key=(0, 0, 0), fill=(0, 0, 0), sky=(0, 0, 0), ground=(0, 0, 0))
    half_width = 5.0 * math.tan(0.3) * 64 / 48
    surface = Surface(
        black.vertices * np.array([half_width / 32 * 10.5, 1, 1], np.float32), black.faces, black.normals, black.colors
    )
    row = draw([surface], at((0, 0, 0)), FRONT, SIZE, light=dark, background=WHITE)[24, :, 0]
    assert set(row[23:41].tolist()) == {row[32]}
    assert row[20] == 255
    assert row[21] == row[42] == 188


def test_nearest_is_seen_whatever_the_order() -> None:
    for order in ([0, 1], [1, 0]):
        surfaces = [[square(0.0, color=RED), square(1.0, color=GREEN)][k] for k in order]
        picture = draw(surfaces, at((0, 0, 0), (0, 0, 0)), FRONT, SIZE)
        assert picture[24, 32, 0] > picture[24, 32, 1]


def test_surfaces_are_seen_from_both_sides_and_lit_on_the_side_that_is_seen() -> None:
    behind = Camera((0.0, 5.0, 0.0), (0.0, 0.0, 0.0))
    light = Light(direction=(0, 1, 0))
    lit = draw([square()], at((0, 0, 0)), behind, SIZE, light=light)[24, 32]
    unlit = draw([square()], at((0, 0, 0)), FRONT, SIZE, light=light)[24, 32]
    assert lit[0] > unlit[0] + 50


def test_opacity_is_that_of_the_nearest_surface_of_each_layer() -> None:
    squares = [square(y, color=(0, 0, 0, 255)) for y in (0.0, 1.0, 2.0)]
    dark = Light(key=(0, 0, 0), fill=(0, 0, 0), sky=(0, 0, 0), ground=(0, 0, 0))
    places = at(*np.zeros((3, 3)))

    def light_at_middle(**options: Any) -> float:
        picture = draw(squares, places, FRONT, SIZE, light=dark, background=WHITE, **options)
        return float(((picture[24, 32, 0] / 255 + 0.055) / 1.055) ** 2.4)

    rim = 1e-3
    assert light_at_middle(opacity=0.5) == pytest.approx(0.5**3, abs=0.01 + rim)
    assert light_at_middle(opacity=0.5, layers=[0, 0, 0]) == pytest.approx(0.5, abs=0.01)
    assert light_at_middle(opacity=0.5, layers=[0, 7, 7]) == pytest.approx(0.25, abs=0.01)
    assert light_at_middle(opacity=[0.5, 1.0, 0.5]) == pytest.approx(0.0, abs=0.01)
    assert light_at_middle(opacity=0.0) == 1.0


def test_layers_are_drawn_from_the_farthest() -> None:
    red, green = square(0.0, color=RED), square(1.0, color=GREEN)
    places = at((0, 0, 0), (0, 0, 0))
    a = draw([red, green], places, FRONT, SIZE, opacity=0.6)
    b = draw([green, red], places, FRONT, SIZE, opacity=0.6)
    assert (a == b).all()
    assert a[24, 32, 0] > a[24, 32, 1]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("opacity", [[1.0, 0.4], [0.6, 0.4]])
def test_of_surfaces_at_one_place_the_least_opaque_is_in_front(order: list[int], opacity: list[float]) -> None:
    """The green square has the other diagonal, so that its depths are rounded otherwise."""
    corners = 2.0 * np.array([(-1, -0.7, -1), (1, 0.3, -1), (1, 0.7, 1), (-1, -0.3, 1)])
    red, green = flat(corners[[[0, 1, 2], [0, 2, 3]]], RED), flat(corners[[[0, 1, 3], [1, 2, 3]]], GREEN)
    before = at((0, -0.001, 0))
    options: dict[str, Any] = {"light": EVEN, "opacity": [opacity[k] for k in order], "layers": [0, 0]}
    both = draw([[red, green][k] for k in order], np.concatenate((at((0, 0, 0)),) * 2), FRONT, SIZE, **options)
    places = [[at((0, 0, 0)), before][k] for k in order]
    apart = draw([[red, green][k] for k in order], np.concatenate(places), FRONT, SIZE, **options)
    assert np.abs(both.astype(int) - apart).max() <= 2


def test_a_texture_is_seen_upright() -> None:
    texture = np.zeros((2, 2, 4), np.uint8)
    texture[0, 0] = (255, 0, 0, 255)  # the upper left
    texture[1, 1] = (0, 255, 0, 255)
    plain = square()
    uv = 0.5 + 0.5 * plain.vertices[:, [0, 2]]
    surface = Surface(plain.vertices, plain.faces, plain.normals, plain.colors, uv, texture)
    picture = draw([surface], at((0, 0, 0)), FRONT, SIZE, light=EVEN)
    (x0, y0), (x1, y1) = FRONT.project([[-0.5, 0, 0.5], [0.5, 0, -0.5]], SIZE).astype(int)
    assert picture[y0, x0, 0] > 150 > picture[y0, x0, 1]
    assert picture[y1, x1, 1] > 150 > picture[y1, x1, 0]


@pytest.mark.parametrize("size", [(64, 48), (16, 12)])
def test_fine_patterns_of_a_texture_become_their_mean(size: tuple[int, int]) -> None:
    """Half of the light, whose byte is 188, wherever samples are more than two entries apart."""
    texture = np.zeros((257, 256, 4), np.uint8)
    texture[::2, ::2] = texture[1::2, 1::2] = 255
    plain = square(half=3.0, color=(255, 255, 255, 255))
    uv = plain.vertices[:, [0, 2]] / np.float32(3.0)
    surface = Surface(plain.vertices, plain.faces, plain.normals, plain.colors, uv, texture)
    light = Light(direction=(0, -1, 0), key=(0, 0, 0), fill=(0, 0, 0), sky=(0.6, 0.6, 0.6), ground=(0.6, 0.6, 0.6))
    picture = draw([surface], at((0, 0, 0)), FRONT, size, light=light).astype(int)
    assert np.abs(picture - round(255 * (1.055 * 0.3 ** (1 / 2.4) - 0.055))).max() <= 4


def test_shadow_is_where_the_light_is_kept_from_the_floor() -> None:
    camera = Camera((0.0, -8.0, 8.0), (0.0, 0.0, 0.0))
    light = Light(direction=(-1.0, 0.0, 1.0))
    size = (200, 150)
    options: dict[str, Any] = {"floor": Floor(0.0), "light": light}
    with_ball = draw([ball(0.5)], at((0, 0, 1.0)), camera, size, **options)
    without = draw([], np.zeros((0, 4, 4)), camera, size, **options)
    column, row = camera.project([1.0, 0.0, 0.0], size).astype(int)
    assert with_ball[row, column].max() < without[row, column].min() - 30
    column, row = camera.project([-1.0, 0.0, 0.0], size).astype(int)
    assert (with_ball[row, column] == without[row, column]).all()


def test_what_can_be_seen_through_has_a_lighter_shadow() -> None:
    camera, light, size = Camera((0.0, -8.0, 8.0), (0.0, 0.0, 0.0)), Light(direction=(-1.0, 0.0, 1.0)), (200, 150)
    table = square(half=0.8, color=(200, 200, 200, 255))
    level = at((-1.5, 0, 0))
    level[0, :3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    places = np.concatenate((level, at((0, 0, 1.0), (-2.5, 0, 1.0))))
    columns = camera.project([[1.0, 0.0, 0.0], [-1.5, 0.0, 0.0]], size).astype(int)

    def at_shadows(opacity: float, **options: Any) -> NDArray[np.int64]:
        """On the floor, and on the table."""
        found = draw([table, ball(0.4), ball(0.4)], places, camera, size, floor=Floor(0.0 - 1e-3), light=light,
                     opacity=[1.0, opacity, opacity], **options)  # fmt: skip
        return np.array([int(found[row, column].min()) for column, row in columns])

    none, some, all_of_it = at_shadows(0.0), at_shadows(0.5), at_shadows(1.0)
    assert (none > some + 15).all()
    assert (some > all_of_it + 15).all()
    np.testing.assert_array_equal(at_shadows(0.5, shadows=[True, False, False]), none)


def test_one_surface_is_in_the_shadow_of_another() -> None:
    light = Light(direction=(0, -1, 0))
    lit = draw([square()], at((0, 0, 0)), FRONT, SIZE, light=light)[24, 20]
    above = flat([[(-3, -8, -3), (3, -8, -3), (0, -8, 5)]])  # behind the camera
    unlit = draw([square(), above], at((0, 0, 0), (0, 0, 0)), FRONT, SIZE, light=light)[24, 20]
    assert lit[0] > unlit[0] + 50


def test_shadows_on_a_terrain_are_as_sharp_as_on_the_floor() -> None:
    terrain = square(0.0, 500.0, (200, 200, 200, 255))
    level = at((0, 0, 0))
    level[0, :3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # its front is above
    small = ball(0.05)
    camera, light, size = Camera((0.0, -2.0, 2.0), (0.0, 0.0, 0.0)), Light(direction=(-1.0, 0.0, 1.0)), (200, 150)
    places = np.concatenate((level, at((0, 0, 0.3))))
    with_ball = draw([terrain, small], places, camera, size, light=light)
    without = draw([terrain], level, camera, size, light=light)
    column, row = camera.project([0.3, 0.0, 0.0], size).astype(int)
    assert with_ball[row, column].max() < without[row, column].min() - 30
    column, row = camera.project([0.4, 0.0, 0.0], size).astype(int)
    assert (with_ball[row, column] == without[row, column]).all()


def test_what_is_below_the_floor_is_hidden() -> None:
    camera = Camera((0.0, -5.0, 2.0), (0.0, 0.0, -1.0))
    options: dict[str, Any] = {"floor": Floor(0.0)}
    empty = draw([], np.zeros((0, 4, 4)), camera, SIZE, **options)
    assert (draw([ball(0.5)], at((0, 0, -1.0)), camera, SIZE, **options) == empty).all()


def test_a_diverged_part_is_left_out_and_the_others_are_as_before() -> None:
    surfaces, placements, options = scene()
    for bad in (np.nan, np.inf, 1e300):
        wrong = placements.copy()
        wrong[0] = bad
        options["opacity"] = 1.0
        picture = draw(surfaces, wrong, size=SIZE, **options)
        others = draw(surfaces[1:], placements[1:], size=SIZE, **options)
        if bad != 1e300:
            assert (picture == others).all()


def test_triangles_without_area_and_surfaces_without_triangles_are_nothing() -> None:
    nothing = draw([], np.zeros((0, 4, 4)), FRONT, SIZE)
    points = flat([[(0, 0, 0), (1, 0, 1), (2, 0, 2)], [(0, 0, 0)] * 3])
    empty = flat(np.zeros((0, 3, 3)))
    assert (draw([points, empty], at((0, 0, 0), (0, 0, 0)), FRONT, SIZE) == nothing).all()


def test_a_camera_inside_a_ball_sees_it_everywhere() -> None:
    inside = Camera((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    picture = draw([ball(color=(0, 0, 0, 255))], at((0, 0, 0)), inside, SIZE, background=WHITE)
    assert picture.max() < 200


@pytest.mark.parametrize("size", [(1, 1), (1, 50), (333, 2), (17, 33)])
@pytest.mark.parametrize("supersampling", [1, 2, 3])
def test_any_size(size: tuple[int, int], supersampling: int) -> None:
    surfaces, placements, options = scene()
    options["camera"] = framing(np.concatenate([s.vertices for s in surfaces]), size)
    assert draw(surfaces, placements, size=size, supersampling=supersampling, **options).shape == (size[1], size[0], 3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"size": (0, 5)}, OptionError, "width and height of the picture"),
        ({"size": 640}, OptionError, "width and height of the picture"),
        ({"supersampling": 0}, OptionError, "samples per pixel"),
        ({"supersampling": True}, OptionError, "samples per pixel"),
        ({"threads": 0}, OptionError, "threads must be"),
        ({"opacity": 1.5}, OptionError, "opacity must be from 0"),
        ({"opacity": [1.0]}, ShapeError, "one per surface"),
        ({"layers": [0.5, 1.0, 2.0]}, ShapeError, "one whole number per surface"),
        ({"placements": np.eye(4)}, ShapeError, r"\(3, 4, 4\), not \(4, 4\)"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    surfaces, placements, options = scene()
    given: dict[str, Any] = {"surfaces": surfaces, "placements": placements, "size": SIZE} | options | change
    with pytest.raises(error, match=message):
        draw(**given)


def test_directions_without_length_are_refused() -> None:
    with pytest.raises(OptionError, match="Floor: normal must be three numbers"):
        Floor(normal=(0, 0, 0))
    with pytest.raises(OptionError, match="Light: direction must be three numbers"):
        Light(direction=(0, 0, math.nan))


def test_colors_out_of_range_are_refused() -> None:
    with pytest.raises(OptionError, match="Background: top must be red, green and blue from 0 to 1"):
        Background(top=(255, 0, 0))
    with pytest.raises(OptionError, match="Floor: lines must be"):
        Floor(lines=(0.5, 0.5, math.nan))


def test_faces_without_their_vertices_are_refused() -> None:
    good = square()
    bad = Surface(good.vertices, good.faces + 3, good.normals, good.colors)
    with pytest.raises(ShapeError, match="surface 1: its faces must name vertices from 0 to 5"):
        draw([good, bad], at((0, 0, 0), (0, 0, 0)), FRONT, SIZE)
