"""An empty picture: matplotlib's figure with axes in rows and columns, drawn without a screen."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.charts.style import INK, plain
from kinetree.errors import MissingPackageError, OptionError
from kinetree.files import file_path, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["encoded", "picture_path", "sheet", "write_picture"]

_FORMATS = (".png", ".svg", ".pdf")
_OTHERS = (".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".eps", ".ps", ".html", ".mp4")
"""Pictures that are not written; any other ending belongs to the name."""

_DATES: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def sheet(
    title: str,
    size: tuple[float, float],
    columns: int,
    heights: Sequence[float],
    margins: Mapping[str, float] | None = None,
) -> tuple[Figure, Any]:
    """A figure of so many inches, and its axes (rows, columns). Raises `MissingPackageError` without matplotlib.

    Notebooks show it, also where pyplot was not imported: matplotlib's own figures say there only how large they are.
    Without margins, relative to the figure, matplotlib finds room for all words by itself, which takes long for many
    panels.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("drawing needs matplotlib: pip install 'kinetree[plot]'") from None
    drawn = Figure(figsize=size, dpi=130, layout="constrained" if margins is None else None)
    FigureCanvasAgg(drawn)
    drawn._repr_png_ = partial(encoded, drawn, "png")  # type: ignore[attr-defined]  # notebooks ask for it
    own = {} if margins is None else {"y": 1.0 - 0.08 / size[1], "va": "top"}
    drawn.suptitle(plain(title), fontsize=12, fontweight="bold", color=INK, x=0.01, ha="left", **own)
    if margins is not None:
        drawn.subplots_adjust(**margins)
    options: Any = {"sharex": True, "squeeze": False, "gridspec_kw": {"height_ratios": list(heights)}}
    return drawn, drawn.subplots(len(heights), columns, **options)


def encoded(drawn: Figure, form: str) -> bytes:
    """A figure as "png", "svg" or "pdf"; the same figure gives the same bytes."""
    from matplotlib import rc_context

    picture = io.BytesIO()
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "kinetree"}):
        # A name in a script that the font lacks is drawn as boxes; no warning is needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        drawn.savefig(picture, format=form, metadata=_DATES.get(form, {}))
    return picture.getvalue()


def picture_path(path: str | os.PathLike[str]) -> Path:
    """Where a picture is written. Raises OptionError, DTypeError."""
    given = file_path("plot", path)
    if given.suffix.lower() in _OTHERS:
        raise OptionError(f"plot: pictures are written as .png, .svg or .pdf, not as {given.suffix!r}")
    return given if given.suffix.lower() in _FORMATS else file_path("plot", path, ".png")


def write_picture(drawn: Figure, target: Path) -> Path:
    """Write a picture to a `picture_path`, and return this. Raises SaveError."""
    picture = encoded(drawn, target.suffix.lower()[1:])
    write_file(target, lambda file: file.write(picture))
    return target
