"""URDF, the Unified Robot Description Format."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.io.urdf.reader import read_urdf
    from kinetree.io.urdf.shapes import SHAPES
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "reader": "read_urdf",
            "shapes": "SHAPES",
        },
    )

__all__ = ["SHAPES", "read_urdf"]
