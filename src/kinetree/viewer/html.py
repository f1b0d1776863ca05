"""A page in a file: it plays in any browser, without a server and without a network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError
from kinetree.files import file_path, write_file
from kinetree.model import Model
from kinetree.viewer.server import started
from kinetree.viewer.subject import Subject, subject_of
from kinetree.viewer.surroundings import Surroundings

__all__ = ["save_html", "write_page"]

Array = NDArray[np.float64]

_MOST_FRAMES = 100_000


def save_html(
    path: str | os.PathLike[str],
    shown: Any,
    *,
    q: ArrayLike | None = None,
    robot: Model | None = None,
    shapes: Literal["visual", "collision", "both"] = "visual",
    samples: Literal["one", "ghosts", "side by side"] = "ghosts",
    show: Iterable[str] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    fps: float = 30.0,
) -> Path:
    """Write a robot or motions as a page that needs nothing else; the arguments are those of `kt.view`.

    Args:
        path: of the file; ".html" is appended if it is not there.
        fps: moments per second of the motion, however many rows it has.

    Returns:
        The path of the file.

    Raises:
        SaveError: the file cannot be written.
        OptionError, ShapeError, DTypeError, ConfigurationError, MissingPackageError: as for `kt.view`.
    """
    return write_page(
        path,
        subject_of(
            "save_html", shown, q=q, robot=robot, shapes=shapes, samples=samples, show=show, parameters=parameters
        ),
        fps,
    )


def write_page(path: str | os.PathLike[str], subject: Subject, fps: float) -> Path:
    """Write the contents of a page to a file, and return its path."""
    target = file_path("save_html", path, ".html")
    moments = _moments(subject, fps)
    server = started(port=0)
    try:
        stages = subject.stages(server.scene)
        for stage in stages:
            stage.is_awaited = True
        subject.arrange(stages)
        surroundings = Surroundings(server, stages)
        subject.draw(stages, float(moments[0]))
        for name, on in subject.on.items():
            subject.turn(name, on, stages, surroundings)
        recording = server.get_scene_serializer()
        for t, wait in _with_waits(moments):
            subject.draw(stages, t)
            recording.insert_sleep(wait)
        text = recording.as_html()
    finally:
        server.stop()
    write_file(target, lambda file: file.write(text.encode()))
    return target


def _moments(subject: Subject, fps: float) -> Array:
    """The times that are drawn, s: the first and the last, and as many between them as there should be."""
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0.0 < fps <= 240.0:
        raise OptionError(f"save_html: fps is a number above 0, at most 240, not {fps!r:.60}")
    if not subject.motions:
        return np.zeros(1)
    start, end = float(subject.times[0]), float(subject.times[-1])
    count = round((end - start) * fps) + 1
    if count > _MOST_FRAMES:
        raise OptionError(
            f"save_html: {end - start:g} s at {fps:g} moments per second are {count}, and a page holds {_MOST_FRAMES}; "
            f"give fps={0.9 * _MOST_FRAMES / (end - start):.2g} or less, or a part of the motion"
        )
    return np.linspace(start, end, max(count, 2))


def _with_waits(moments: Array) -> Iterator[tuple[float, float]]:
    """(time, seconds until the next one) of each moment."""
    if len(moments) == 1:
        return
    step = float(moments[1] - moments[0])
    for t in moments:
        yield float(t), step
