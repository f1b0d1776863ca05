"""Pictures and films of robots, from triangles to pixels, without a screen. Importing it imports no drawing code."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.pictures.camera import Camera
    from kinetree.pictures.framing import framing
    from kinetree.pictures.render import png_of_robot
    from kinetree.pictures.setting import Background, Floor, Light

__all__ = ["Background", "Camera", "Floor", "Light", "framing", "png_of_robot"]
