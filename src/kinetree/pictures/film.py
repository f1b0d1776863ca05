"""Films of robots: frames are drawn on threads and go to the file one by one, in their order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.display import Samples, Shapes, Size
from kinetree.errors import OptionError, SaveError
from kinetree.files import check_target, file_path, reason, write_file
from kinetree.model import Model
from kinetree.pictures.arrangement import aside, checked_samples, opacities
from kinetree.pictures.camera import Camera, checked_size
from kinetree.pictures.encoders import SUFFIXES, Encoder, encoder_for
from kinetree.pictures.given import Values, of_motions
from kinetree.pictures.moments import configurations_at, divergences, robot_of, span_of
from kinetree.pictures.scene import Scene, floor_of
from kinetree.pictures.shots import OUTERMOST, checked_camera, followed, outline, shots
from kinetree.resources import available_cores
from kinetree.sim.picking import Samples as Which

if TYPE_CHECKING:
    from kinetree.sim.shown import RecordedMotion

__all__ = ["check_format", "film_of", "film_of_motion", "film_path", "frame_times"]

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

_MOST_FPS = 1000
_AT_ONCE = 2**22
"""Numbers in the outermost points of all parts in the frames that are looked at together."""
_SMALL = 4
"""How many times smaller than a frame those are that colours are chosen from."""


def film_path(function: str, path: str | os.PathLike[str]) -> Path:
    """The path of a film that can be written as far as that is known before. Raises for one that cannot."""
    target = file_path(function, path)
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(
            f"{function}: the name of a film must end with {', '.join(SUFFIXES)}, and {target.name!r:.60} does not"
        )
    check_target(target)
    return target


def check_format(path: Path) -> None:
    """Raise unless the encoder of films of this suffix is installed."""
    encoder_for(path.suffix.lower(), (2, 2), Fraction(1), lambda: np.zeros((2, 2, 3), np.uint8))


def frame_times(begin: float, end: float, fps: float, speed: float) -> Floats:
    """The moments (F,) of a motion from `begin` to `end` (s) that frames show: `speed` / `fps` apart.

    Raises:
        OptionError: fps is not from above 0 to 1000, or speed not above 0.

    >>> frame_times(0.0, 1.0, 2, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    for name, x, most in (("fps", fps, _MOST_FPS), ("speed", speed, 1e9)):
        if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0.0 < x <= most:
            raise OptionError(f"{name} must be a number above 0, at most {most:g}, not {x!r:.60}")
    step = float(speed) / float(fps)
    return begin + step * np.arange(1 + int((end - begin) / step * (1.0 + 1e-12) + 1e-9), dtype=np.float64)


def film_of_motion(
    motion: RecordedMotion,
    path: str | os.PathLike[str],
    *,
    fps: float,
    speed: float,
    which: Which | None,
    robot: Model | None,
    parameters: Any,
    **options: Any,
) -> Path:
    """Write the film of a motion; the arguments and errors are those of its method `film`."""
    film_path("film", path)
    shown = robot_of("film", motion, robot)
    times = frame_times(*span_of(motion), fps, speed)
    q = configurations_at(motion, shown, times, which)
    values = of_motions("film", shown, parameters, motion.shape, which)
    if (gone := divergences("film", motion, which)) is not None:
        q[times[:, None] >= gone] = np.nan
    return film_of(shown, q, path, fps=fps, parameters=values, **options)


def film_of(
    robot: Model,
    q: Floats,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    size: Size = (1280, 720),
    camera: Camera | str | None = None,
    shapes: Shapes = "visual",
    samples: Samples = "side by side",
    progress: Progress | None = None,
    parameters: Values | None = None,
) -> Path:
    """Write the film of configurations, one frame each.

    Args:
        robot: the robot.
        q: (F, nq), or those of several samples (F, n, nq); a sample whose numbers are not finite is not seen there.
        path: of the file, whose suffix is .mp4, .gif or .webp.
        fps: frames per second.
        size: width and height, pixels; even for .mp4.
        camera: `kt.pictures.Camera`, which may follow a body, "whole", "follow", or None: see `Trajectory.film`.
        shapes: as for `kt.render`.
        samples: "side by side" or "ghosts", as for `kt.render`.
        progress: a function of (frames that are done, all frames), which is called now and then.
        parameters: in the place of the robot's own, (n, …) for n samples.

    Returns:
        The path. The file is written whole or not at all.
    """
    target, size = film_path("film", path), checked_size(size)
    frame_times(0.0, 0.0, fps, 1.0)  # raises
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of (done, frames), not {progress!r:.60}")
    rows = q if q.ndim == 3 else q[:, None]
    take = _Take(robot, rows, size, checked_camera(camera), shapes, samples, float(fps), parameters)
    encoder = encoder_for(target.suffix.lower(), size, Fraction(fps).limit_denominator(1001), take.example)

    def write(file: BinaryIO) -> None:
        film = encoder(file)
        try:
            _fill(film, take, progress)
            film.close()
        except (OSError, ValueError) as error:
            if isinstance(error, SaveError) or not type(error).__module__.startswith("av"):
                raise
            raise OSError(error.errno if isinstance(error, OSError) else None, reason(error)) from error

    write_file(target, write)
    return target


class _Take:
    """All that is on the frames of a film."""

    def __init__(
        self,
        robot: Model,
        q: Floats,
        size: Size,
        camera: Camera | str | None,
        shapes: Shapes,
        samples: Any,
        fps: float,
        parameters: Values | None,
    ) -> None:
        self.frames, count, _ = q.shape
        if not self.frames:
            raise OptionError("film: the motion has no rows, so there are no frames")
        ghosts = checked_samples(samples, count)
        self._q, self._size = q, size
        self._scene = Scene(robot, shapes, opacities(count, ghosts=ghosts), together=ghosts, parameters=parameters)
        outlines = self._outlines()
        self._aside = np.zeros((count, 3))
        if not ghosts and count > 1 and not self._scene.has_terrain:
            points = np.swapaxes(outlines, 0, 1).reshape(count, -1, 3)
            self._aside = aside(points, self._scene.normal, stays=self._scene.stays)
        together = outline((outlines + self._aside[:, None]).reshape(self.frames, -1, 3))
        self._floor = floor_of(self._scene, self._scene.placements(q[0]), together)
        path = None
        if isinstance(camera, Camera) and camera.follows:
            path = followed(robot, q[:, 0], camera, parameters) + self._aside[0]
        self._camera = shots(together, size, camera, fps, path)
        self._drawing = self._scene.drawing  # made once, before threads share it

    def picture(self, frame: int, *, smaller: int = 1) -> NDArray[np.uint8]:
        placements = self._scene.placements(self._q[frame])
        placements[..., :3, 3] += self._aside[:, None]
        size = max(self._size[0] // smaller, 1), max(self._size[1] // smaller, 1)
        every = placements.reshape(-1, 4, 4)
        return self._drawing(every, self._camera(frame), size, floor=self._floor, threads=1)

    def example(self) -> NDArray[np.uint8]:
        """Three moments, small, one above the other."""
        rows = (0, self.frames // 2, self.frames - 1)
        return np.concatenate([self.picture(row, smaller=_SMALL) for row in rows])

    def _outlines(self) -> Floats:
        """(F, n, 26, 3), some frames at a time."""
        frames, count, _ = self._q.shape
        step = max(1, _AT_ONCE // (3 * OUTERMOST * count * max(1, len(self._scene.looks.parts))))
        outlines = []
        for begin in range(0, frames, step):
            corners = self._scene.corners(self._scene.placements(self._q[begin : begin + step]))
            outlines.append(outline(corners.reshape(-1, *corners.shape[-2:])).reshape(-1, count, OUTERMOST, 3))
        return np.concatenate(outlines)


def _fill(film: Encoder, take: _Take, progress: Progress | None) -> None:
    """Draw frames ahead on as many threads as there are processors, and give them to the film in their order."""
    workers = available_cores()
    with ThreadPoolExecutor(workers, "kinetree-film") as pool:
        waiting: deque[Future[NDArray[np.uint8]]] = deque()
        frames: Iterator[int] = iter(range(take.frames))
        try:
            for done in range(take.frames):
                while len(waiting) < 2 * workers and (frame := next(frames, None)) is not None:
                    waiting.append(pool.submit(take.picture, frame))
                film.add(waiting.popleft().result())
                if progress is not None:
                    progress(done + 1, take.frames)
        finally:
            for one in waiting:
                one.cancel()
