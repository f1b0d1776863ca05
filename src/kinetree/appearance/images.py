"""Images on surfaces: decoded by Pillow, and their colours at points."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError, ModelError

__all__ = ["colors_at", "decoded", "refined", "smaller"]

_LARGEST = 1024
"""Rows and columns that are looked at of an image."""
_FOLLOWED = 256
"""Rows and columns that are left when detail is sought, so that a mesh does not follow finer detail."""
_MOST_PIXELS = 100_000_000
"""Pixels of an image file, which are all in memory at once."""
_DIFFERENCE = 20
"""How far the middle of an edge may be from the mean of its ends, of 255, before it is cut there."""
_ROUNDS = 7
"""How often edges are cut, in halves."""

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def decoded(name: str, data: bytes) -> Image:
    """An image file as (height, width, 4), the upper row first; a large one is made smaller.

    Raises:
        ModelError: if it is not an image, or too large.
        MissingPackageError: if Pillow is not installed.
    """
    try:
        from PIL import Image as Pillow
    except ImportError:
        raise MissingPackageError("images on meshes need Pillow: pip install 'kinetree[view]'") from None
    try:
        with Pillow.open(io.BytesIO(data)) as image:
            width, height = image.size
            if width * height > _MOST_PIXELS:
                raise ModelError(f"the image {name!r} has {width} x {height} pixels; make it smaller")
            if image.format == "JPEG":
                image.draft("RGB", (_LARGEST, _LARGEST))  # decoded at a fraction of its size, which is quicker
            image.thumbnail((_LARGEST, _LARGEST), reducing_gap=2.0)
            return np.asarray(image.convert("RGBA"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:
        raise ModelError(f"the image {name!r} cannot be read: {error}; export it again as PNG or JPEG") from None


def colors_at(image: Image, uv: Floats) -> Image:
    """The colours of an image at (n, 2), which repeats itself, interpolated between the middles of its pixels."""
    height, width = image.shape[:2]
    x = (uv[:, 0] % 1.0) * width - 0.5
    y = (1.0 - uv[:, 1] % 1.0) * height - 0.5
    left, upper = np.floor(x), np.floor(y)
    a, b = (x - left)[:, None], (y - upper)[:, None]
    columns = [(left.astype(np.int64) + k) % width for k in (0, 1)]
    rows = [(upper.astype(np.int64) + k) % height for k in (0, 1)]
    top = (1.0 - a) * image[rows[0], columns[0]] + a * image[rows[0], columns[1]]
    bottom = (1.0 - a) * image[rows[1], columns[0]] + a * image[rows[1], columns[1]]
    colors: Image = np.rint((1.0 - b) * top + b * bottom).astype(np.uint8)
    return colors


def refined(image: Image, numbers: Floats, faces: Indices, most: int) -> tuple[Floats, Indices]:
    """A mesh whose edges are cut where colours of vertices alone would not show the image.

    Args:
        image: the image on the mesh.
        numbers: (n, k) all that is interpolated between vertices; the last two are places in the image.
        faces: (m, 3).
        most: how many triangles there may be at most.

    Returns:
        The numbers and faces of the finer mesh.
    """
    blurred = smaller(image, _FOLLOWED)
    for _ in range(_ROUNDS):
        if 4 * len(faces) > most and len(faces) > most // 2:
            break
        shades = colors_at(blurred, numbers[:, -2:]).astype(np.int16)
        ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        key, place = np.unique(ends[:, 0] * len(numbers) + ends[:, 1], return_inverse=True)
        first, second = key // len(numbers), key % len(numbers)
        middles = 0.5 * (numbers[first] + numbers[second])
        expected = (shades[first] + shades[second]) // 2
        spread = np.abs(colors_at(blurred, middles[:, -2:]).astype(np.int16) - expected).max(axis=1)
        length = np.linalg.norm((numbers[first, -2:] - numbers[second, -2:]) * blurred.shape[1::-1], axis=1)
        # Where ends and middle agree by chance, an edge is longer than the image on it.
        is_cut = ((spread > _DIFFERENCE) & (length > 1.5)) | (length > 64.0)
        edges_cut = np.flatnonzero(is_cut)
        room = (most - len(faces)) // 2
        if not len(edges_cut) or room <= 0:
            break
        if len(edges_cut) > room:
            order = np.argsort(-(spread[edges_cut] * np.sqrt(length[edges_cut])), kind="stable")
            edges_cut = edges_cut[order[:room]]
        cut = np.full(len(key), -1, np.int64)
        cut[edges_cut] = len(numbers) + np.arange(len(edges_cut))
        numbers = np.concatenate([numbers, middles[edges_cut]])
        faces = _cut(faces, cut[place.reshape(-1)].reshape(-1, 3))
    return numbers, faces


def smaller(image: Image, most: int) -> Image:
    """The image by means of its pixels, with about `most` rows or columns."""
    step = max(1, -(-max(image.shape[:2]) // most))
    rows, columns = image.shape[0] // step, image.shape[1] // step
    if step == 1 or not rows or not columns:
        return image
    blocks = image[: rows * step, : columns * step].reshape(rows, step, columns, step, 4)
    result: Image = np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)
    return result


def _cut(faces: Indices, middles: Indices) -> Indices:
    """Triangles cut at the middles (m, 3) of their edges from each corner to the next; -1 for uncut edges."""
    is_cut = middles >= 0
    count = is_cut.sum(axis=1)
    result = [faces[count == 0]]
    # The first edge that is cut, and of two the one after which comes the other, becomes the first.
    turn = np.where(count == 1, is_cut.argmax(axis=1), 0)
    turn = np.where(count == 2, (np.argmin(is_cut, axis=1) + 1) % 3, turn)
    order = (turn[:, None] + np.arange(3)) % 3
    a, b, c = np.take_along_axis(faces, order, axis=1).T
    ab, bc, ca = np.take_along_axis(middles, order, axis=1).T
    for number, triangles in (
        (1, ((a, ab, c), (ab, b, c))),
        (2, ((ab, b, bc), (a, ab, bc), (a, bc, c))),
        (3, ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))),
    ):
        rows = count == number
        result += [np.stack([corner[rows] for corner in triangle], axis=1) for triangle in triangles]
    return np.concatenate(result)
