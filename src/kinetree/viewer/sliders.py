"""Sliders for the coordinates of a robot at rest."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.lie import convert
from kinetree.model import Coupling, Joint, Model
from kinetree.records import record
from kinetree.viewer.controls import put

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent, GuiFolderHandle, GuiSliderHandle

__all__ = ["Dial", "Sliders", "dials_of"]

Array = NDArray[np.float64]
Edit = Callable[[Callable[[Array], None]], None]
"""Calls a function that changes q in place, and draws the result."""

_ON_A_PAGE = 48
_FOLLOWING = 0.1
"""Seconds between moves of the sliders while a program sets configurations."""
_TURNS = ("roll", "pitch", "yaw")


@record(frozen=True, slots=True)
class Dial:
    """One slider, or the three that turn a quaternion."""

    labels: tuple[str, ...]
    hint: str
    low: float
    high: float
    place: slice
    """Where its coordinates are in q: one, or the four of a quaternion."""

    def read(self, q: Array) -> tuple[float, ...]:
        """The values of its sliders: a coordinate, or angles about x, y and z of the fixed axes, in this order."""
        if len(self.labels) == 1:
            return (float(q[self.place][0]),)
        yaw, pitch, roll = convert(q[self.place], "quaternion", "ZYX")
        return float(roll), float(pitch), float(yaw)

    def write(self, q: Array, shown: Sequence[float]) -> None:
        """The opposite."""
        q[self.place] = shown if len(self.labels) == 1 else convert(shown[::-1], "ZYX", "quaternion")


def dials_of(robot: Model, size: float) -> list[Dial]:
    """All dials, in the order of q; a robot of `size` m may be shifted by about that where nothing limits it."""
    return [dial for owner in robot.owners for dial in _dials(robot, owner, size)]


def _dials(robot: Model, owner: Joint | Coupling, size: float) -> Iterator[Dial]:
    start = owner.q_slice.start
    names: Sequence[str]
    units: Sequence[str]
    quaternions: Sequence[int]
    if isinstance(owner, Coupling):
        names, units, quaternions = owner.coordinates, [""] * len(owner.coordinates), ()
        about = f"coupling of {', '.join(owner.joints)}"
    else:
        names, units, quaternions = owner.kind.q_names, owner.kind.q_units, owner.kind.quaternions
        about = f"{owner.kind.description}, moves {owner.child}"
    inside = {first + k for first in quaternions for k in range(4)}
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        if k in quaternions:
            labels = tuple(f"{owner.name} {turn}, rad" for turn in _TURNS)
            yield Dial(labels, about, -math.pi, math.pi, slice(start + k, start + k + 4))
        if k in inside:
            continue
        label = f"{owner.name}.{name}" if name else owner.name
        low, high = float(robot.lower[start + k]), float(robot.upper[start + k])
        reach = {"rad": math.pi, "m": _round_up(size)}.get(unit, 1.0)
        hint = f"{about}; {_range(low, high)}"
        low, high = _finite(low, high, reach)
        yield Dial((f"{label}, {unit}" if unit else label,), hint, low, high, slice(start + k, start + k + 1))


def _round_up(x: float) -> float:
    """The next number that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if x <= step * power)


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "no limits"
    return f"from {low:.6g} to {high:.6g}"


def _finite(low: float, high: float, reach: float) -> tuple[float, float]:
    """Ends of a slider: the limits, or as far as `reach` from zero or from the other limit."""
    if math.isinf(low):
        low = -reach if math.isinf(high) else min(-reach, high - reach)
    if math.isinf(high):
        high = max(reach, low + reach)
    return (low, high) if low < high else (low - 0.5 * reach, high + 0.5 * reach)


class Sliders:
    """The folder of sliders, for the first few dozen coordinates or those that are chosen."""

    def __init__(self, gui: GuiApi, robot: Model, q: Array, size: float, edit: Edit) -> None:
        self._gui, self._edit, self._q = gui, edit, q
        dials = dials_of(robot, size)
        self._pages = [dials[k : k + _ON_A_PAGE] for k in range(0, len(dials), _ON_A_PAGE)]
        self._shown: list[tuple[Dial, list[GuiSliderHandle[float]]]] = []
        self._lock, self._followed = threading.Lock(), 0.0
        self._later: threading.Timer | None = None
        self._closed = False
        self._folder: GuiFolderHandle = gui.add_folder("Joints")
        if len(self._pages) > 1:
            self._choose_pages()
        if self._pages:
            self._fill(0)

    def follow(self, q: Array) -> None:
        """Show another configuration: at once, or, of very many, the last one soon."""
        with self._lock:
            self._q = q
            if self._later is not None:
                return
            wait = self._followed + _FOLLOWING - time.monotonic()
            if wait > 0.0:
                self._later = threading.Timer(wait, self._catch_up)
                self._later.daemon = True
                self._later.start()
                return
        self._catch_up()

    def close(self) -> None:
        """Follow no longer."""
        with self._lock:
            self._closed = True
            if self._later is not None:
                self._later.cancel()

    def _catch_up(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._later, self._followed = None, time.monotonic()
            for dial, handles in self._shown:
                for handle, x in zip(handles, dial.read(self._q), strict=True):
                    put(handle, min(max(x, handle.min), handle.max))

    def _choose_pages(self) -> None:
        titles = [f"{page[0].labels[0]} … {page[-1].labels[-1]}" for page in self._pages]
        with self._folder:
            pages = self._gui.add_dropdown("coordinates", titles, hint="which of the robot's coordinates have sliders")

        @pages.on_update
        def _(event: GuiEvent[Any]) -> None:
            if event.client is not None:
                self._fill(titles.index(pages.value))

    def _fill(self, page: int) -> None:
        for _, handles in self._shown:
            for handle in handles:
                handle.remove()
        with self._folder:
            self._shown = [(dial, [*self._handles(dial)]) for dial in self._pages[page]]
        for dial, handles in self._shown:
            for handle in handles:
                handle.on_update(self._on_update(dial, handles))

    def _handles(self, dial: Dial) -> Iterator[GuiSliderHandle[float]]:
        for label, x in zip(dial.labels, dial.read(self._q), strict=True):
            low, high = min(dial.low, x), max(dial.high, x)
            yield self._gui.add_slider(label, low, high, _step(high - low), x, hint=dial.hint)

    def _on_update(self, dial: Dial, handles: list[GuiSliderHandle[float]]) -> Callable[[GuiEvent[Any]], None]:
        def moved(event: GuiEvent[Any]) -> None:
            if event.client is not None:  # somebody moved it, and not `follow`
                self._edit(lambda q: dial.write(q, [handle.value for handle in handles]))

        return moved


def _step(span: float) -> float:
    """A round step; a slider has at least a thousand."""
    return float(10.0 ** math.floor(math.log10(span / 1000.0)))
