"""Mirror images in the plane normal to coordinate axis 0, 1 or 2, with the reflection M."""

from __future__ import annotations

from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["mirror_image", "mirror_image_of_placement", "mirror_image_of_turn"]


def mirror_image(vector: Vec3, normal: int) -> Vec3:
    """The image M a of a vector."""
    return Vec3(*(0.0 - x if k == normal else x for k, x in enumerate(vector.components())))


def mirror_image_of_turn(vector: Vec3, normal: int) -> Vec3:
    """The image -M a of an axial vector, such as an angular velocity or an axis of rotation."""
    return Vec3(*(x if k == normal else 0.0 - x for k, x in enumerate(vector.components())))


def mirror_image_of_placement(X: Transform, normal: int) -> Transform:
    """The image of a placement: M E M and M r."""
    images = (mirror_image_of_turn if k == normal else mirror_image for k in range(3))
    rows = (image(row, normal) for image, row in zip(images, (X.E.x, X.E.y, X.E.z), strict=True))
    return Transform(Mat3(*rows), mirror_image(X.r, normal))
