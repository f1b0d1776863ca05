"""Pictures and films of robots, from triangles to pixels, without a screen."""

from kinetree.pictures.camera import Camera
from kinetree.pictures.draw import Drawing, draw
from kinetree.pictures.framing import framing
from kinetree.pictures.setting import Background, Floor, Light, floor_below

__all__ = ["Background", "Camera", "Drawing", "Floor", "Light", "draw", "floor_below", "framing"]
