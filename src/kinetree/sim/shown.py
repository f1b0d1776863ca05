"""What can be seen of a motion, in memory or on disk: films of it, and what a notebook shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import html_of
from kinetree.errors import TrajectoryFileError
from kinetree.files import check_target, file_path
from kinetree.model import Model
from kinetree.pictures.recorded import RecordedMotion
from kinetree.sim.outcomes import early_ends
from kinetree.sim.picking import sample_numbers

if TYPE_CHECKING:
    from kinetree.pictures.arrangement import Samples
    from kinetree.pictures.camera import Camera, Size
    from kinetree.pictures.moments import Which
    from kinetree.pictures.scene import Shapes
    from kinetree.sim.endings import Divergence

__all__ = ["Shown"]

_SIZE = (1000, 250)


class _Motion(RecordedMotion, Protocol):
    """What a motion has that is shown."""

    @property
    def ended(self) -> NDArray[np.float64]: ...

    @property
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]: ...

    def _gone(self, function: str, which: Which | None) -> NDArray[np.float64] | None: ...

    def strip(self, path: None = None, *, size: Size) -> NDArray[np.uint8]: ...


class Shown:
    """A motion of which there can be films and pictures."""

    __slots__ = ()

    def film(
        self: _Motion,
        path: str | os.PathLike[str],
        *,
        fps: float = 30.0,
        size: Size = (1280, 720),
        speed: float = 1.0,
        camera: Camera | Literal["whole", "follow"] | None = None,
        shapes: Shapes = "visual",
        samples: Samples = "side by side",
        which: Which | None = None,
        robot: Model | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a film of the motion, drawn without a screen or a graphics processor.

        Args:
            path: of the file: .mp4, .gif or .webp. It is written whole or not at all.
            fps: frames per second; of a .gif at most 50.
            size: width and height, pixels; of an .mp4 they are even.
            speed: how many seconds of the motion one second of the film shows; 0.1 is slow motion.
            camera: a `kt.pictures.Camera`, which stays where it is, or moves along with the body that it `follows` (of
                the first motion, smoothly); "whole", from where all of the motion is seen; "follow", which moves along
                with the robot; or None: "whole" unless the robot moves more than five times its own size.
            shapes: "visual", "collision" or "both", as for `kt.render`.
            samples: how the motions of a batch are shown, "side by side" or as "ghosts"; at most 64. A motion that
                diverged is not seen from then on.
            which: the motions of a batch that are shown, by their numbers or indices; by default all.
            robot: the robot, if the motion does not have it (`model`).
            parameters: those that it was simulated with, such as {"body.NAME.placement": (…, 7)}.
            progress: a function of (frames that are done, all frames), which is called after each.

        Returns:
            The path.

        Raises:
            OptionError: for arguments that are not possible; there are more motions than a film shows.
            MissingPackageError: what writes films is not installed: pip install 'kinetree[view]'.
            SaveError: the file cannot be written.

        >>> import kinetree as kt, tempfile, pathlib
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.film(pathlib.Path(folder) / "swing.gif", size=(64, 36)).name
        'swing.gif'
        """
        from kinetree.pictures.drawn_robot import robot_of
        from kinetree.pictures.film import film_of, film_path, frame_times
        from kinetree.pictures.given import of_motions
        from kinetree.pictures.moments import configurations_at, span_of

        film_path("film", path)
        seen = robot_of("film", self, robot)
        times = frame_times(*span_of(self), fps, speed)
        q = configurations_at(self, seen, times, which)
        values = of_motions("film", seen, parameters, self.shape, which)
        if (gone := self._gone("film", which)) is not None:
            q[times[:, None] >= gone] = np.nan
        return film_of(
            seen,
            q,
            path,
            fps=fps,
            size=size,
            camera=camera,
            shapes=shapes,
            samples=samples,
            progress=progress,
            parameters=values,
        )

    @overload
    def strip(
        self: _Motion,
        path: None = None,
        *,
        moments: int = 6,
        size: Size = (1600, 400),
        camera: Camera | None = None,
        shapes: Shapes = "visual",
        samples: Samples = "side by side",
        which: int | tuple[int, ...] = 0,
        robot: Model | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[np.uint8]: ...
    @overload
    def strip(
        self: _Motion,
        path: str | os.PathLike[str],
        *,
        moments: int = 6,
        size: Size = (1600, 400),
        camera: Camera | None = None,
        shapes: Shapes = "visual",
        samples: Samples = "side by side",
        which: int | tuple[int, ...] = 0,
        robot: Model | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Path: ...
    def strip(
        self: _Motion,
        path: str | os.PathLike[str] | None = None,
        *,
        moments: int = 6,
        size: Size = (1600, 400),
        camera: Camera | None = None,
        shapes: Shapes = "visual",
        samples: Samples = "side by side",
        which: int | tuple[int, ...] = 0,
        robot: Model | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[np.uint8] | Path:
        """The motion in one picture: moments of it, from left to right, more of them while the robot moves more.

        Args:
            path: of the PNG file to write; ".png" is appended if it is not there.
            moments: how many, from 1 to 32.
            size: width and height, pixels.
            camera: a `kt.pictures.Camera`, from which each moment has a picture of its own, one beside the other; it
                may follow a body. By default all moments are in one picture, as large as possible.
            shapes: "visual", "collision" or "both", as for `kt.render`.
            samples: "side by side", or "ghosts": all where they were, fainter the earlier they are.
            which: of a batch, the motion that is shown, by its number or index. One that diverged is shown until then.
            robot: the robot, if the motion does not have it (`model`).
            parameters: as for `film`.

        Returns:
            The picture (height, width, 3), red, green and blue from 0 to 255; or the path of the file.

        Raises:
            OptionError: for arguments that are not possible.
            SaveError: the file cannot be written.

        >>> import kinetree as kt
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
        >>> motion.strip(size=(80, 20)).shape
        (20, 80, 3)
        """
        from kinetree.pictures.camera import checked_size
        from kinetree.pictures.drawn_robot import robot_of
        from kinetree.pictures.given import of_motions
        from kinetree.pictures.moments import configurations_at, span_of
        from kinetree.pictures.png import write_png
        from kinetree.pictures.strip import strip_of, strip_times

        target = None if path is None else file_path("strip", path, ".png")
        if target is not None:
            check_target(target)
        seen, size = robot_of("strip", self, robot), checked_size(size)
        gone, (_, last) = self._gone("strip", [which]), span_of(self)
        end = last if gone is None else min(last, float(np.nextafter(gone[0], -np.inf)))
        values = of_motions("strip", seen, parameters, self.shape, [which])
        times = strip_times(self, seen, moments, which, end, values)
        q = configurations_at(self, seen, times, [which])[:, 0]
        picture = strip_of(seen, q, size, camera=camera, shapes=shapes, samples=samples, parameters=values)
        if target is None:
            return picture
        write_png(target, picture)
        return target

    def _repr_html_(self: _Motion) -> str | None:
        """What a notebook shows: moments of the motion and the text; None, so the text alone, if none can be drawn."""
        from kinetree.pictures.notebook import png_or_none

        return html_of(repr(self), png_or_none(lambda: self.strip(size=_SIZE)))

    def _gone(self: _Motion, function: str, which: Which | None) -> NDArray[np.float64] | None:
        """When each of some motions diverged (n,), s, in the order of the batch; infinite if it did not.

        None if none of the batch did.
        """
        if not self.diverged:
            return None
        found = np.full(self.shape, np.inf)
        for sample, one in self.diverged.items():
            found[sample] = one.time
        return found.ravel() if which is None else found.ravel()[sample_numbers(function, which, self.shape)]

    def _early_ends(self: _Motion, before: str) -> str:
        """How many motions ended before the last row, in words after others; nothing if none did.

        Nothing either of a file that is gone or damaged: whoever reads it is told so.
        """
        try:
            told = early_ends(self.ended, self.diverged, self.time[-1])
        except TrajectoryFileError:
            return ""
        return told and before + told
