"""Ground, light and camera of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.bodies import positions_and_quaternions
from kinetree.viewer.stage import Stage

if TYPE_CHECKING:
    from viser import GridHandle, ViserServer

__all__ = ["Surroundings"]

Array = NDArray[np.float64]

FIELD_OF_VIEW = math.radians(40.0)
_DIRECTION = np.array([0.82, -1.0, 0.52])
"""From the middle of the scene to the camera."""
_SKY, _EARTH, _SKY_LIGHT = (255, 255, 255), (214, 208, 200), 1.4
_SHOULDER, _SHOULDER_LIGHT = (0.35, -1.0, 0.9), 1.1
"""The direction from which it comes, and how strong it is."""
_ASIDE = 0.06
"""How far to the right of the middle the camera looks, relative to its distance: the controls cover the right side."""
_PAPER, _CELL, _SECTION = (250, 250, 248), (226, 226, 222), (196, 196, 192)


class Surroundings:
    """The surroundings of the robots."""

    def __init__(self, server: ViserServer, stages: Sequence[Stage]) -> None:
        """`stages`: the robots to keep in view."""
        self._server = server
        low = np.min([stage.low for stage in stages], axis=0)
        high = np.max([stage.high for stage in stages], axis=0)
        size = max(float(np.linalg.norm(high - low)), 1e-3)
        self._light()
        server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        known = next((stage.ground for stage in stages if stage.ground is not None), None)
        level = np.eye(4)
        level[2, 3] = min(stage.floor for stage in stages)
        self._ground = self._add_ground(level if known is None else known.placement, size)
        self.aim(stages)

    def show(self, on: bool) -> None:
        """Let the ground be seen or not."""
        self._ground.visible = on

    def _light(self) -> None:
        """Light from above that casts shadows, from the sky and the ground, and from over the camera's left shoulder.

        It uses no environment map: without a graphics processor it holds up the page for seconds.
        """
        scene = self._server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        scene.add_light_hemisphere("/light/sky", sky_color=_SKY, ground_color=_EARTH, intensity=_SKY_LIGHT)
        scene.add_light_directional("/light/shoulder", intensity=_SHOULDER_LIGHT, position=_SHOULDER)

    def _add_ground(self, placement: Array, size: float) -> GridHandle:
        """A plane with a grid whose cells suit something of `size` m."""
        cell = 10.0 ** math.floor(math.log10(size * 0.5))
        position, quaternion = positions_and_quaternions(placement)
        return self._server.scene.add_grid(
            "/ground", infinite_grid=True, cell_size=cell, section_size=10.0 * cell, cell_color=_CELL,
            section_color=_SECTION, fade_distance=12.0 * size, fade_strength=1.5, shadow_opacity=0.25,
            plane_color=_PAPER, plane_opacity=1.0, position=position, wxyz=quaternion,
        )  # fmt: skip

    def aim(self, stages: Sequence[Stage]) -> None:
        """Let new pages begin with everything in view, and "reset view" return there."""
        low = np.min([stage.corners[0] for stage in stages], axis=0)
        high = np.max([stage.corners[1] for stage in stages], axis=0)
        middle, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
        away = _DIRECTION / np.linalg.norm(_DIRECTION)
        distance = 1.15 * radius / math.sin(0.5 * FIELD_OF_VIEW)
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.near, camera.far = 0.01 * distance, 100.0 * distance
        right = np.cross((0.0, 0.0, 1.0), away)
        target = middle + _ASIDE * distance * right / np.linalg.norm(right)
        camera.look_at = target
        camera.position = target + distance * away
