"""A page in the browser that shows a robot or motions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Unseen
from kinetree.errors import OptionError, ShapeError
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.viewer.batch import Batch
from kinetree.viewer.motions import Frames
from kinetree.viewer.player import Player
from kinetree.viewer.server import address, stopped
from kinetree.viewer.sliders import Sliders
from kinetree.viewer.stage import Stage, configurations
from kinetree.viewer.states import add_states
from kinetree.viewer.surroundings import Surroundings
from kinetree.viewer.switches import add_switches

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["Viewer"]

Array = NDArray[np.float64]

_FOLLOWING = 0.1
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

    def __init__(
        self, server: ViserServer, stages: Sequence[Stage], motions: Sequence[Frames], batch: Batch,
        on: Mapping[str, bool], q: Array,
    ) -> None:  # fmt: skip
        """`on`: the switches; `q` (samples, nq): where a robot is for which there are no motions."""
        self.server = server
        """The viser server behind it, for what else is to be on the page; see its documentation."""
        self.stages = tuple(stages)
        """The robots on the page, one for each motion."""
        self.robot: Model = stages[0].robot
        """The robot, or that of the first motion."""
        self._motions, self._batch, self._q = tuple(motions), batch, q
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._sliders: Sliders | None = None
        self._player: Player | None = None
        self._followed, self._is_late = 0.0, False
        with server.atomic():
            low = np.min([stage.low for stage in stages], axis=0)
            high = np.max([stage.high for stage in stages], axis=0)
            self._surroundings = Surroundings(server, low, high)
            self._add_controls(on)
            self._arrange()

    @property
    def url(self) -> str:
        """The page's address, for a browser on this machine."""
        return address(self.server)

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
        rates = [None if x is None else self._rates(name, x) for name, x in (("v", v), ("qdd", qdd))]
        with self._lock:
            before, self._q = len(self._q), given
            if len(self._q) != before:
                self._batch.count = self._batch.seen = len(self._q)
                self._batch.how = self._batch.how if len(self._q) == 1 or self._batch.how != "one" else "ghosts"
                self._arrange()
            self._draw([self._q], [rates])
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

    def play(self) -> None:
        """Let the motions run."""
        if self._player is not None:
            self._player.play()

    def wait(self) -> None:
        """Return when the page is closed by another thread; Ctrl-C ends it, too."""
        while not self._closed.wait(0.2):
            pass

    def close(self) -> None:
        """End the server; the page in the browser keeps its last picture. Closing twice is no error."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self._player is not None:
            self._player.close()
        stopped(self.server)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        what = f"{len(self._motions)} motion{'s' * (len(self._motions) > 1)} of " if self._motions else ""
        return f"<Viewer of {what}{self.robot.name!r}: {'closed' if self._closed.is_set() else self.url}>"

    def _repr_html_(self) -> str:
        """The page, in a notebook on this machine."""
        return f'<iframe src="{escape(self.url)}" width="100%" height="480" style="border:0"></iframe>'

    def _add_controls(self, on: Mapping[str, bool]) -> None:
        gui = self.server.gui
        if self._motions:
            times = np.unique(np.concatenate([frames.time for frames in self._motions]))
            self._player = Player(gui, times, lambda _: self._redraw())
        self._batch.add(gui, self._arrange)
        add_switches(gui, on, self._turn)
        for name, is_on in on.items():
            if is_on != (name in ("visual", "ground")):
                self._turn(name, is_on)
        if not self._motions and self.robot.nq:
            add_states(gui, self.robot, self._q[0].copy(), self.set)
            self._sliders = Sliders(gui, self.robot, self._q[0], self.stages[0].size, self._edit)
        if self.unseen:
            with gui.add_folder("Not drawn", expand_by_default=False):
                gui.add_markdown("\n".join(f"- **{one.part}**: {one.reason}" for one in self.unseen))

    def _turn(self, name: str, on: bool) -> None:
        """Act on a switch."""
        with self._lock, self.server.atomic():
            if name == "ground":
                self._surroundings.show(on)
                return
            for stage in self.stages:
                stage.switch(name, on)

    def _arrange(self) -> None:
        """Show as many samples as are to be seen."""
        with self._lock, self.server.atomic():
            self.stages[0].arrange(self._batch.how, len(self._batch.samples))
            self._redraw()

    def _redraw(self) -> None:
        """Draw the moment that is to be seen."""
        with self._lock:
            if self._player is None:
                self._draw([self._q[self._batch.samples]], [(None, None)])
                return
            t, samples = self._player.now, self._batch.samples
            chosen = [samples] + [[min(samples[0], frames.count - 1)] for frames in self._motions[1:]]
            pairs = list(zip(self._motions, self.stages, chosen, strict=True))
            self._draw(
                [frames.q_at(t, which) for frames, _, which in pairs],
                [frames.rates_at(t, which[0]) if stage.needs_rates else (None, None) for frames, stage, which in pairs],
            )

    def _draw(self, q: Sequence[Array], rates: Sequence[Sequence[Array | None]]) -> None:
        with self.server.atomic():
            for stage, samples, (v, qdd) in zip(self.stages, q, rates, strict=True):
                stage.draw(samples, v, qdd)

    def _edit(self, change: Callable[[Array], None]) -> None:
        """Let a slider change the configuration."""
        with self._lock:
            self._q = self._q.copy()
            change(self._q[0])
            self._redraw()

    def _follow(self) -> None:
        """Move the sliders, at most a few times per second; the last configuration is shown in the end."""
        if self._sliders is None or self._is_late:
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
            self._sliders.follow(self._q[0])
