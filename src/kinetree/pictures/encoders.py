"""Films as files: frames go in one by one, and none is kept."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.display import Size
from kinetree.errors import MissingPackageError, OptionError

__all__ = ["SUFFIXES", "Encoder", "encoder_for"]

Picture = NDArray[np.uint8]
_FASTEST_GIF = 50
"""Frames per second: browsers show those that last less than two hundredths of a second for a tenth."""
_BT709, _LIMITED = 1, 1
"""Numbers of ITU-T H.273: the colours of high definition, and luma from 16 to 235."""


class Encoder(Protocol):
    """An encoder of frames into a file."""

    def add(self, picture: Picture) -> None:
        """The next frame."""

    def close(self) -> None:
        """The end of the file."""


def encoder_for(
    suffix: str, size: Size, fps: Fraction, example: Callable[[], Picture]
) -> Callable[[BinaryIO], Encoder]:
    """A function that makes the encoder of a file, when the file is open.

    Args:
        suffix: of the file; it says which format it has.
        size: width and height of a frame, pixels.
        fps: frames per second.
        example: draws a picture that has the colours of the film.

    Raises:
        OptionError: the format is not known, or has no frames of this size or so many per second.
        MissingPackageError: the package that writes the format is not installed.
    """
    if suffix not in _ENCODERS:
        raise OptionError(f"the name of a film must end with {', '.join(SUFFIXES)}, not {suffix or 'nothing'!r:.20}")
    return _ENCODERS[suffix](size, fps, example)


def _mp4(size: Size, fps: Fraction, _: Callable[[], Picture]) -> Callable[[BinaryIO], Encoder]:
    if size[0] % 2 or size[1] % 2:
        raise OptionError(f"an .mp4 film has an even width and height, such as (1280, 720), and not {size}")
    _libav()
    return lambda file: _Libav(file, "mp4", "libx264", "yuv420p", size, fps, {"crf": "20", "preset": "faster"})


def _webp(size: Size, fps: Fraction, _: Callable[[], Picture]) -> Callable[[BinaryIO], Encoder]:
    _libav()
    return lambda file: _Libav(file, "webp", "libwebp_anim", "bgra", size, fps, {"quality": "80"}, {"loop": "0"})


def _gif(size: Size, fps: Fraction, example: Callable[[], Picture]) -> Callable[[BinaryIO], Encoder]:
    if fps > _FASTEST_GIF:
        raise OptionError(f"a .gif film has at most {_FASTEST_GIF} frames per second, not {float(fps):g}")
    _pillow()
    return lambda file: _Gif(file, size, fps, example())


_ENCODERS = {".mp4": _mp4, ".gif": _gif, ".webp": _webp}
SUFFIXES = tuple(_ENCODERS)


class _Libav:
    """A film that the libraries of FFmpeg write."""

    def __init__(
        self,
        file: BinaryIO,
        container: str,
        codec: str,
        pixels: str,
        size: Size,
        fps: Fraction,
        options: dict[str, str],
        container_options: dict[str, str] | None = None,
    ) -> None:
        self._av = _libav()
        self._container = self._av.open(file, "w", format=container, options=container_options or {})
        self._stream = self._container.add_stream(codec, rate=fps, options=options)
        self._stream.width, self._stream.height, self._stream.pix_fmt = *size, pixels
        self._colors: dict[str, Any] = {}
        if pixels.startswith("yuv"):  # players guess which ones are meant unless the file says so
            self._colors = {"dst_colorspace": _BT709, "dst_color_range": _LIMITED}
            context = self._stream.codec_context
            context.colorspace = context.color_primaries = context.color_trc = _BT709
            context.color_range = _LIMITED

    def add(self, picture: Picture) -> None:
        frame = self._av.VideoFrame.from_ndarray(picture, format="rgb24")
        self._container.mux(self._stream.encode(frame.reformat(format=self._stream.pix_fmt, **self._colors)))

    def close(self) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()


class _Gif:
    """A GIF film: 256 colours, chosen once; of each frame only the part that differs from the one before it."""

    def __init__(self, file: BinaryIO, size: Size, fps: Fraction, example: Picture) -> None:
        self._image, self._gif = _pillow()
        self._file, self._fps = file, fps
        self._colors = self._image.fromarray(example).quantize(256, dither=self._image.Dither.NONE)
        self._count = 0
        self._last: Picture | None = None
        first = self._colors.resize(size)
        head, _ = self._gif.getheader(first, info={"loop": 0})
        for block in head:
            file.write(block)

    def add(self, picture: Picture) -> None:
        indices = self._image.fromarray(picture).quantize(palette=self._colors, dither=self._image.Dither.NONE)
        pixels = np.asarray(indices)
        rows, columns = _changed(pixels, self._last)
        self._last = pixels
        # A frame lasts whole hundredths of a second; the next one makes up for the rounding.
        end, begin = (round(100 * (self._count + k) / self._fps) for k in (1, 0))
        self._count += 1
        part = indices.crop((columns.start, rows.start, columns.stop, rows.stop))
        for block in self._gif.getdata(part, (columns.start, rows.start), duration=10 * (end - begin), disposal=1):
            self._file.write(block)

    def close(self) -> None:
        self._file.write(b";")


def _changed(new: NDArray[np.uint8], old: NDArray[np.uint8] | None) -> tuple[slice, slice]:
    """The rows and columns around all pixels that differ; at least one pixel, as a frame must have some."""
    differs = np.ones(new.shape, np.bool_) if old is None else new != old
    slices = []
    for axis in (1, 0):
        where = np.flatnonzero(differs.any(axis=axis))
        slices.append(slice(int(where[0]), int(where[-1]) + 1) if where.size else slice(0, 1))
    return slices[0], slices[1]


def _libav() -> Any:
    try:
        import av
    except ImportError:
        raise MissingPackageError(
            "films (.mp4, .webp) need PyAV: pip install 'kinetree[view]'; a .gif needs Pillow only"
        ) from None
    return av


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import GifImagePlugin, Image
    except ImportError:
        raise MissingPackageError("films (.gif) need Pillow: pip install 'kinetree[view]'") from None
    return Image, GifImagePlugin
