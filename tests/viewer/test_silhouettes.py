"""What is drawn of a UR5 is where its meshes are, to three pixels: every corner of them, and every pixel drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.viewer import Viewer, view
from tests.robots import load_robot, robot_path
from tests.viewer.browser import Opener, Tab
from tests.viewer.cameras import Eye
from tests.viewer.meshes_apart import MeshesApart
from tests.viewer.silhouettes import apart, mask, outside, shown, silhouette

SIZE = (600, 400)
EYE = Eye((1.9, -1.7, 1.1), (0.0, 0.0, 0.4))
CONFIGURATIONS = np.array(
    [
        [0.0, -1.2, 1.0, -0.8, -0.7, 0.3],
        [2.1, -2.2, -1.3, 0.6, 1.4, -2.0],
        [-1.0, -0.4, 2.2, 1.1, -2.5, 0.9],
    ]
)
PIXELS = 3.0


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    return load_robot("ur5_robot")


@pytest.fixture(scope="module")
def corners(robot: kt.Model) -> list[NDArray[np.float64]]:
    """(n, 3, 2) for each configuration: columns and rows of the meshes' triangles."""
    meshes = MeshesApart(robot_path("ur5_robot"))
    found = []
    for q in CONFIGURATIONS:
        triangles = meshes.triangles(robot, q)
        found.append(EYE.pixels(triangles.reshape(-1, 3), SIZE).reshape(-1, 3, 2))
    return found


@pytest.fixture(scope="module")
def viewer(robot: kt.Model) -> Iterator[Viewer]:
    with view(robot, port=0) as viewer:
        assert not viewer.unseen
        yield viewer


@pytest.fixture(scope="module")
def tab(browser: Opener, viewer: Viewer) -> Iterator[Tab]:
    with browser.page(viewer.url, EYE, SIZE) as tab:
        tab.control("ground").uncheck()
        yield tab


@pytest.mark.parametrize("k", range(len(CONFIGURATIONS)))
def test_a_rendered_picture_draws_the_meshes_where_they_are(
    k: int, robot: kt.Model, corners: list[NDArray[np.float64]]
) -> None:
    camera = kt.pictures.Camera(EYE.position, EYE.target, field_of_view=EYE.field_of_view)
    picture = kt.render(robot, CONFIGURATIONS[k], size=SIZE, camera=camera, ground=False)
    _check(silhouette(picture, picture[:, :1]), corners, k)  # one colour per row is behind it


@pytest.mark.parametrize("k", range(len(CONFIGURATIONS)))
def test_the_page_draws_the_meshes_where_they_are(
    k: int, tab: Tab, viewer: Viewer, corners: list[NDArray[np.float64]]
) -> None:
    expected = mask(corners[k], SIZE)
    viewer.set(CONFIGURATIONS[k])
    picture = tab.picture_when(lambda picture: apart(shown(picture), expected), at_most=PIXELS)
    _check(shown(picture), corners, k)


def _check(drawn: NDArray[np.bool_], corners: list[NDArray[np.float64]], k: int) -> None:
    distances = [apart(drawn, mask(each, SIZE)) for each in corners]
    assert distances[k] <= PIXELS
    assert outside(corners[k].reshape(-1, 2), drawn) <= PIXELS
    assert min(np.delete(distances, k)) > 10 * PIXELS, "the configurations can be distinguished"
