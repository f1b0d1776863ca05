"""Views of a motion, in memory or on disk: films, pictures, plots, and its form in a notebook.

Applications draw them (`display.py`); their arguments and results are here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import Samples, Shapes, Size, html_of, registered
from kinetree.errors import TrajectoryFileError
from kinetree.model import Model
from kinetree.sim.endings import Divergence
from kinetree.sim.outcomes import early_ends
from kinetree.sim.picking import Rows
from kinetree.sim.picking import Samples as Which

__all__ = ["Camera", "RecordedMotion", "Shown", "plot"]


class Camera(Protocol):
    """Where a picture is taken from: a `kt.pictures.Camera`."""

    @property
    def follows(self) -> str: ...
    def at(self, origin: ArrayLike) -> Camera: ...


class RecordedMotion(Protocol):
    """The base of `Trajectory` and `TrajectoryFolder`."""

    @property
    def robot(self) -> str:
        """The robot's name."""

    @property
    def model(self) -> Model | None:
        """The robot itself, if it is known."""

    @property
    def q_names(self) -> tuple[str, ...]:
        """The names of its coordinates."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""

    @property
    def time(self) -> NDArray[np.float64]:
        """(T,), s."""

    @property
    def ended(self) -> NDArray[np.float64]:
        """When each motion of a batch ended (…,), s."""

    @property
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]:
        """The motions of a batch that could not go on."""

    def configurations(self, rows: Rows = ..., samples: Which | None = ...) -> NDArray[np.float64]:
        """q (m, K, nq) of some motions and moments, or (*shape, K, nq) of all motions."""

    def rates(self, rows: Rows = ..., samples: Which | None = ...) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(v, qdd) of the same, with nv in place of nq; accelerations that were not recorded are NaN."""


class _StripOptions(TypedDict, total=False):
    """The keyword arguments of `Shown.strip`."""

    moments: int
    size: Size
    camera: Camera | None
    shapes: Shapes
    samples: Samples
    which: int | tuple[int, ...]
    robot: Model | None
    parameters: Mapping[str, ArrayLike] | None


class Shown:
    """A motion that can be drawn as films and pictures."""

    __slots__ = ()

    def film(
        self,
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
            MissingPackageError: the package that writes films is not installed: pip install 'kinetree[view]'.
            SaveError: the file cannot be written.

        >>> import kinetree as kt, tempfile, pathlib
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.film(pathlib.Path(folder) / "swing.gif", size=(64, 36)).name
        'swing.gif'
        """
        film: Callable[..., Path] = registered("film")
        return film(
            self, path, fps=fps, size=size, speed=speed, camera=camera, shapes=shapes, samples=samples, which=which,
            robot=robot, parameters=parameters, progress=progress,
        )  # fmt: skip

    @overload
    def strip(self, path: None = None, **options: Unpack[_StripOptions]) -> NDArray[np.uint8]: ...
    @overload
    def strip(self, path: str | os.PathLike[str], **options: Unpack[_StripOptions]) -> Path: ...
    def strip(
        self,
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
            camera: a `kt.pictures.Camera`, from which each moment has a picture of its own, side by side; it may follow
                a body. By default all moments are in one picture, as large as possible.
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
        strip: Callable[..., NDArray[np.uint8] | Path] = registered("strip")
        return strip(
            self, path, moments=moments, size=size, camera=camera, shapes=shapes, samples=samples, which=which,
            robot=robot, parameters=parameters,
        )  # fmt: skip

    def _repr_html_(self) -> str | None:
        """The form in notebooks: moments of the motion and the text; None, so the text alone, if none can be drawn."""
        return html_of(repr(self), registered("png_of_motion")(self))

    def _early_ends(self: RecordedMotion, before: str) -> str:
        """How many motions ended before the last row, in words after others; nothing if none did.

        Nothing either of a file that is gone or damaged: reading it raises an error.
        """
        try:
            ends = early_ends(self.ended, self.diverged, self.time[-1])
        except TrajectoryFileError:
            return ""
        return ends and before + ends


def plot(
    trajectory: RecordedMotion,
    path: str | os.PathLike[str],
    *,
    what: str | Sequence[str] | None = None,
    joints: str | Sequence[str] | None = None,
    samples: Which | None = None,
    beside: RecordedMotion | None = None,
    names: Sequence[str] = ("first", "second"),
) -> Path:
    """Draw a trajectory into a file, PNG, SVG or PDF by its suffix, and return its path.

    The arguments are those of `Trajectory.plot`. Usually there are panels of the position of a floating base, joint
    angles, joint displacements, coordinates without a unit, how far each quaternion has turned since the start (each
    only if there are any), the kinetic, potential and total energy, and the error of the energy balance. Many joints
    are divided among panels, those with similar names together; what does not move is named below and not drawn, unless
    nothing moves. No panel's scale is finer than rounding errors.

    The picture is drawn first and written then, whole or not at all: whatever goes wrong, a picture that was there
    before stays as it was.

    Raises `MissingPackageError` if matplotlib is not installed, `SaveError` if the file cannot be written, and what
    `Trajectory.plot` raises.
    """
    draw: Callable[..., Path] = registered("plot")
    return draw(trajectory, path, what=what, joints=joints, samples=samples, beside=beside, names=names)
