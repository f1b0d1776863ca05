"""A page in the browser that shows a robot or motions."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Unseen
from kinetree.errors import OptionError, ShapeError
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.viewer.html import write_page
from kinetree.viewer.motions import Frames
from kinetree.viewer.player import Player
from kinetree.viewer.server import address
from kinetree.viewer.sliders import Sliders
from kinetree.viewer.states import add_states
from kinetree.viewer.subject import Subject, configurations
from kinetree.viewer.surroundings import Surroundings
from kinetree.viewer.switches import add_switches

if TYPE_CHECKING:
    from viser import GuiFolderHandle, ViserServer

__all__ = ["Viewer"]

Array = NDArray[np.float64]

_FOLLOWING = 0.2
"""Seconds between moves of the sliders while a program sets configurations."""


class Viewer:
    """A page that shows a robot at rest, a motion, or several to be compared; `kt.view` makes it.

    Its methods may be called from any thread. As a context manager it ends with `close`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> with kt.view(robot, port=0) as viewer:
    ...     viewer.set(robot.random(0))
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, server: ViserServer, subject: Subject) -> None:
        self.server = server
        """The viser server behind it, for what else is to be on the page; see its documentation."""
        self.robot: Model = subject.robot
        """The robot, or that of the first motion."""
        self._subject = subject
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._sliders: Sliders | None = None
        self._at_rest: GuiFolderHandle | None = None
        self._at_close: list[Callable[[], None]] = []
        self._player: Player | None = None
        self._followed, self._is_late = 0.0, False
        with server.atomic():
            self.stages = subject.stages(server.scene)
            """The robots on the page, one for each motion."""
            self._surroundings = Surroundings(server, self.stages)
            self._arrange()
            for name, on in subject.on.items():
                self._turn(name, on)
            self._add_controls()

    @property
    def url(self) -> str:
        """The page's address, for a browser on this machine."""
        return address(self.server)

    @property
    def q(self) -> Array:
        """Where a robot at rest is, (nq,), or (samples, nq) if there are several: what `set` and the sliders say."""
        with self._lock:
            q = self._subject.q
            return q[0].copy() if len(q) == 1 else q.copy()

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """The shapes that are not drawn as the file says, and why."""
        return tuple(dict.fromkeys(one for stage in self.stages for one in stage.unseen))

    def set(self, q: ArrayLike, v: ArrayLike | None = None, qdd: ArrayLike | None = None) -> None:
        """Show another configuration, all of it at once.

        Args:
            q: (nq,), or (samples, nq) for several samples of the robot.
            v: (nv,), velocities of the first sample, for the arrows of velocities and for contact forces; zero if they
                are not given.
            qdd: (nv,), its accelerations, for contact forces; zero if they are not given.

        Raises:
            OptionError: the page shows motions; `set_time` chooses a moment of them.
            ShapeError, DTypeError, ConfigurationError: this is no configuration of the robot.
        """
        if self._player is not None:
            raise OptionError("this page shows a motion, whose configurations are its own; viewer.set_time(t) moves it")
        given = configurations(self.robot, q)
        subject = self._subject
        rates = [None if x is None else self._rates(name, x) for name, x in (("v", v), ("qdd", qdd))]
        with self._lock:
            before, subject.q = len(subject.q), given
            if len(given) != before:
                subject.batch.resize(len(given))
                self._arrange()
            with self.server.atomic():
                self.stages[0].draw(given[subject.batch.samples], *rates)
        self._follow()

    def _rates(self, name: str, given: ArrayLike) -> Array:
        found = real_array(name, given, f"({self.robot.nv},)").astype(np.float64)
        if found.shape != (self.robot.nv,):
            raise ShapeError(f"{name} has shape {found.shape}, but {self.robot.name!r} needs ({self.robot.nv},)")
        return found

    def set_time(self, t: float) -> None:
        """Show another moment of the motions, s; the nearest one if it is outside them.

        Raises:
            OptionError: there is no motion on the page.
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
        """Write what the page shows as one file, which plays in any browser, without a server and without a network.

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

    def become(self, motion: Any, *, is_at_rest: bool = True) -> None:
        """Show a motion of the robot, from its end; or for None the robot again, which is moved by hand or not."""
        with self._lock, self.server.atomic():
            if self._player is not None:
                self._player.remove()
            self._player, self._subject.motions = None, ()
            if motion is not None:
                self._subject.motions = (Frames(motion, self.robot),)
                self._player = Player(self.server.gui, self._subject.times, lambda _: self._redraw())
                self._player.go(self._player.end)
            if self._at_rest is not None:
                self._at_rest.visible = motion is None and is_at_rest
                self._follow()

    def wait(self) -> None:
        """Return when the page is closed by another thread; Ctrl-C ends it, too."""
        while not self._closed.wait(0.2):
            pass

    def close(self) -> None:
        """End the server; the page in the browser keeps its last picture. Closing twice is no error."""
        if self._closed.is_set():
            return
        self._closed.set()
        for end in self._at_close:
            end()
        if self._player is not None:
            self._player.close()
        self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        what = (
            f"{len(self._subject.motions)} motion{'s' * (len(self._subject.motions) > 1)} of "
            if self._subject.motions
            else ""
        )
        return f"<Viewer of {what}{self.robot.name!r}: {'closed' if self.is_closed else self.url}>"

    def _repr_html_(self) -> str:
        """The page, in a notebook on this machine."""
        return f'<iframe src="{escape(self.url)}" width="100%" height="480" style="border:0"></iframe>'

    def _add_controls(self) -> None:
        gui, subject = self.server.gui, self._subject
        if subject.motions:
            self._player = Player(gui, subject.times, lambda _: self._redraw(), self._tell)
        subject.batch.add_controls(gui, self._arrange)
        add_switches(gui, subject.on, self._turn)
        if not subject.motions and self.robot.nq:
            self._at_rest = gui.add_folder("Configuration")
            with self._at_rest:
                add_states(gui, self.robot, subject.q[0].copy(), self.set)
                self._sliders = Sliders(gui, self.robot, subject.q[0], self.stages[0].size, self._edit)
        if self.unseen:
            with gui.add_folder("Not drawn", expand_by_default=False):
                gui.add_markdown("\n".join(f"- **{one.part}**: {one.reason}" for one in self.unseen))

    def _tell(self, error: Exception) -> None:
        """Say on all pages what went wrong."""
        for client in self.server.get_clients().values():
            client.add_notification("The motion cannot be shown", str(error), color="red")

    def _turn(self, name: str, on: bool) -> None:
        """Act on a switch."""
        with self._lock, self.server.atomic():
            self._subject.on[name] = on
            if name == "ground":
                self._surroundings.show(on)
                return
            for stage in self.stages:
                stage.switch(name, on)

    def _arrange(self) -> None:
        """Show as many samples as are to be seen."""
        with self._lock, self.server.atomic():
            self._subject.arrange(self.stages)
            self._redraw()

    def _redraw(self) -> None:
        """Draw the moment that is to be seen."""
        with self._lock, self.server.atomic():
            self._subject.draw(self.stages, 0.0 if self._player is None else self._player.now)

    def _edit(self, change: Callable[[Array], None]) -> None:
        """Let a slider change the configuration."""
        with self._lock:
            self._subject.q = self._subject.q.copy()
            change(self._subject.q[0])
            self._redraw()

    def _follow(self) -> None:
        """Move the sliders, at most a few times per second; the last configuration is shown in the end."""
        if self._is_late or self._at_rest is None or not self._at_rest.visible:
            return
        wait = self._followed + _FOLLOWING - time.monotonic()
        if wait <= 0.0:
            self._follow_now()
        else:
            self._is_late = True
            later = threading.Timer(wait, self._follow_now)
            later.daemon = True
            later.start()

    def _follow_now(self) -> None:
        self._is_late, self._followed = False, time.monotonic()
        if self._sliders is not None and not self._closed.is_set():
            self._sliders.follow(self._subject.q[0])
