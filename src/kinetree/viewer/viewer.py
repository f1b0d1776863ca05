"""A page in the browser that shows a robot or motions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError
from kinetree.inputs import sample
from kinetree.viewer.html import write_page
from kinetree.viewer.page import Page
from kinetree.viewer.subject import configurations

__all__ = ["Viewer"]

Array = NDArray[np.float64]


class Viewer(Page):
    """A page that shows a robot at rest, a motion, or several to be compared; `kt.view` makes it.

    Its methods may be called from any thread. As a context manager it ends with `close`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> with kt.view(robot, port=0) as viewer:
    ...     viewer.set(robot.random(0))
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    @property
    def q(self) -> Array:
        """The configuration of a robot at rest, (nq,), or (samples, nq) of several, as of `set` and the sliders."""
        with self._lock:
            q = self._subject.q
            return q[0].copy() if len(q) == 1 else q.copy()

    def set(self, q: ArrayLike, v: ArrayLike | None = None, qdd: ArrayLike | None = None) -> None:
        """Show another configuration, all of it at once.

        Args:
            q: (nq,), or (samples, nq) for several samples of the robot.
            v: (nv,), velocities of the first sample, for the arrows of velocities and for contact forces; zero if they
                are not given.
            qdd: (nv,), its accelerations, for contact forces; zero if they are not given.

        Raises:
            OptionError: the page shows motions; `set_time` chooses a moment of them.
            ShapeError, DTypeError, ConfigurationError: q is not a configuration of the robot.
        """
        if self._player is not None:
            raise OptionError("this page shows a motion, whose configurations are its own; viewer.set_time(t) moves it")
        given = configurations(self.robot, q)
        self._go(given, *(None if x is None else self._rates(name, x) for name, x in (("v", v), ("qdd", qdd))))

    def _rates(self, name: str, given: ArrayLike) -> Array:
        return sample(name, given, (self.robot.nv,), repr(self.robot.name)).astype(np.float64)

    def set_time(self, t: float) -> None:
        """Show another moment of the motions, s; the nearest one if it is outside them.

        Raises:
            OptionError: the page does not show a motion.
        """
        if self._player is None:
            raise OptionError("this page shows a robot at rest, which has no time; viewer.set(q) moves it")
        self._player.go(float(t))

    @property
    def time(self) -> float:
        """The moment of the motions that is seen, s; 0 for a robot at rest."""
        return 0.0 if self._player is None else self._player.now

    @property
    def is_playing(self) -> bool:
        """Whether the motions run."""
        return self._player is not None and self._player.is_playing

    def play(self) -> None:
        """Let the motions run."""
        if self._player is not None:
            self._player.play()

    def pause(self) -> None:
        """Let them stay where they are."""
        if self._player is not None:
            self._player.pause()

    def save_html(self, path: str | os.PathLike[str], *, fps: float = 30.0) -> Path:
        """Write the page's contents as one file, which plays in any browser, without a server and without a network.

        Args:
            path: of the file; ".html" is appended if it is not there.
            fps: moments per second of the motion, however many rows it has.

        Returns:
            The path of the file.

        Raises:
            SaveError: the file cannot be written.
        """
        with self._lock:
            return write_page(path, self._subject, fps)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed.is_set()

    @property
    def is_of_robot(self) -> bool:
        """Whether it was made to show a robot, and not motions that there were."""
        return self._at_rest is not None or not self._subject.motions

    def when_closed(self, end: Callable[[], None]) -> None:
        """Call a function when the page is closed; at once if it is."""
        self._at_close.append(end)
        if self.is_closed:
            end()

    def wait_for_somebody(self, seconds: float) -> bool:
        """Wait until the page is open in a browser, but not longer than this; whether it is."""
        end = time.monotonic() + seconds
        while not self.is_closed and not self.server.get_clients():
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        return True

    def wait(self) -> None:
        """Return when the page is closed by another thread; Ctrl-C ends it, too."""
        while not self._closed.wait(0.2):
            pass

    def close(self) -> None:
        """End the server; the page in the browser keeps its last picture. Closing twice is harmless."""
        if self._closed.is_set():
            return
        self._closed.set()
        for end in self._at_close:
            end()
        if self._player is not None:
            self._player.close()
        if self._sliders is not None:
            self._sliders.close()
        with self._lock:
            for stage in self.stages:
                stage.close()
        self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        count = len(self._subject.motions)
        what = f"{count} motion{'s' * (count > 1)} of " if count else ""
        return f"<Viewer of {what}{self.robot.name!r}: {'closed' if self.is_closed else self.url}>"

    def _repr_html_(self) -> str:
        """The page, in a notebook on this machine."""
        return f'<iframe src="{escape(self.url)}" width="100%" height="480" style="border:0"></iframe>'
