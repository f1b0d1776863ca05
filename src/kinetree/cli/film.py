"""The film of a motion that a command has computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kinetree.cli.options import optional
from kinetree.cli.output import error_console
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    from kinetree.cli.interruption import Interruption
    from kinetree.sim import Trajectory

__all__ = ["FilmPath", "check_film", "write_film"]

FilmPath = Annotated[
    Path | None,
    optional(
        "--film",
        metavar="FILE",
        help="Write a film of the motion, too: .mp4, .gif or .webp. Of several motions the first 16 are side by side.",
    ),
]
_MOST = 16


def check_film(path: Path | None) -> None:
    """See that the film can be written before a long motion is computed, as far as that is known then."""
    if path is not None:
        from kinetree.pictures.film import check_format, film_path

        check_format(film_path("--film", path))


def write_film(motion: Trajectory, path: Path, interruption: Interruption, *, quiet: bool) -> Path:
    """Write the film, with a bar that shows how far it is."""
    import numpy as np

    count = int(np.prod(motion.shape))
    if count > _MOST and not quiet:
        text = f"note: the film shows the first {_MOST} of {count:,} motions"
        error_console().print(text, markup=False, soft_wrap=True)
    try:
        with progress_bar("filming", quiet=quiet) as show:
            return motion.film(path, which=range(_MOST) if count > _MOST else None, progress=show)
    except KeyboardInterrupt:
        interruption.outcome += f"; {path} was not written"
        raise
