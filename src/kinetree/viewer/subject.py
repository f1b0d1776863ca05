"""The subject of a page: a robot at rest, a motion, or several; for pages in a browser and pages in a file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance.robots import ROLES
from kinetree.errors import OptionError, ShapeError, listed
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.reference import reference_configuration
from kinetree.pictures.given import Values, checked_values, leading, with_objects
from kinetree.pictures.moments import robot_of
from kinetree.records import record
from kinetree.viewer.controls import SWITCHES
from kinetree.viewer.motions import Frames
from kinetree.viewer.stage import Stage

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent, SceneApi

    from kinetree.viewer.surroundings import Surroundings

__all__ = ["Subject", "configurations", "subject_of"]

Array = NDArray[np.float64]

_TINTS = ((232, 128, 48), (120, 90, 180), (40, 150, 140), (200, 70, 110))
"""Colours of motions that are compared with the first one, in turn."""


class Subject:
    """A robot at rest, or motions that run together, and which samples of them are seen."""

    def __init__(
        self,
        robot: Model,
        q: Array,
        motions: Sequence[Frames],
        batch: Batch,
        on: Mapping[str, bool],
        parameters: Values,
    ) -> None:
        self.robot = robot
        """The robot, or that of the first motion."""
        self.q = q
        """(samples, nq), where a robot at rest is."""
        self.motions: tuple[Frames, ...] = tuple(motions)
        self.batch = batch
        self.on: dict[str, bool] = dict(on)
        """The switches."""
        self.parameters = parameters
        """One value of each, in the place of the robot's own."""

    @property
    def times(self) -> Array:
        """The times of all rows of all motions, s."""
        return np.unique(np.concatenate([frames.time for frames in self.motions]))

    def stages(self, scene: SceneApi) -> tuple[Stage, ...]:
        """The robots on a page, one for each motion; they are empty until they are arranged."""
        if not self.motions:
            robot, values = with_objects(self.robot, self.parameters)
            return (Stage(scene, "", robot, self.q, parameters=values),)
        stages = []
        for k, frames in enumerate(self.motions):
            robot, values = with_objects(frames.robot, self.parameters)
            tint = _TINTS[(k - 1) % len(_TINTS)] if k else None
            stages.append(Stage(scene, f"/motion {k + 1}" if k else "", robot, frames.some(), tint, values))
        return tuple(stages)

    def arrange(self, stages: Sequence[Stage]) -> None:
        """Let the stages have the selected number of samples."""
        how, samples = self.batch.how, self.batch.samples
        offsets = np.zeros((len(samples), 3))
        if how == "side by side":
            low = np.min([stage.low for stage in stages], axis=0)
            high = np.max([stage.high for stage in stages], axis=0)
            offsets = _rows(len(samples), low, high)
        stages[0].arrange(how, offsets)
        for frames, stage in zip(self.motions[1:], stages[1:], strict=True):
            stage.arrange(how, offsets[_places(frames, samples)])

    def turn(self, name: str, on: bool, stages: Sequence[Stage], surroundings: Surroundings) -> None:
        """Act on a switch."""
        self.on[name] = on
        if name == "ground":
            surroundings.show(on)
            return
        for stage in stages:
            stage.switch(name, on)

    def read(self, samples: Sequence[int], t: float) -> None:
        """Read the shown values of samples at a time, without drawing them."""
        for frames in self.motions:
            frames.q_at(t, _present(frames, samples))

    def holds(self, samples: Sequence[int], t: float) -> bool:
        """Whether that was read already."""
        return all(frames.holds(t, _present(frames, samples)) for frames in self.motions)

    def draw(self, stages: Sequence[Stage], t: float = 0.0) -> None:
        """Draw the configuration at rest, or those at a time of the motions, s."""
        samples = self.batch.samples
        if not self.motions:
            stages[0].draw(self.q[samples])
            return
        for frames, stage in zip(self.motions, stages, strict=True):
            present = _present(frames, samples)
            rates = frames.rates_at(t, present[0]) if stage.needs_rates else (None, None)
            stage.draw(frames.q_at(t, present), *rates)


def subject_of(
    function: str, shown: Any, *, q: ArrayLike | None = None, robot: Model | None = None, shapes: str = "visual",
    samples: str = "ghosts", show: Iterable[str] = (), parameters: Mapping[str, ArrayLike] | None = None,
) -> Subject:  # fmt: skip
    """The subject for a user's arguments, those of `kt.view`, whose errors are raised."""
    for name, value, known in (("shapes", shapes, ROLES), ("samples", samples, ARRANGEMENTS)):
        if not isinstance(value, str) or value not in known:
            raise OptionError(f"{function}: {name} is {listed(map(repr, known))}, not {value!r:.60}")
    switches = [show] if isinstance(show, str) else list(show)
    if unknown := [name for name in switches if name not in SWITCHES]:
        raise OptionError(f"{function}: show takes {listed(map(repr, SWITCHES), 20)}, not {unknown[0]!r:.60}")
    on = {name: name in (*ROLES[shapes], "ground", *switches) for name in SWITCHES}
    if isinstance(shown, Model):
        place = configurations(shown, q)
        return Subject(shown, place, (), Batch(len(place), samples), on, _single_values(function, shown, parameters))
    given = list(shown) if isinstance(shown, list | tuple) else [shown]
    if not given or not all(hasattr(one, "q_names") and hasattr(one, "time") for one in given):
        raise OptionError(
            f"{function} takes a robot (kt.load), a motion (kt.simulate, kt.load_trajectory), or a list of at least "
            f"one motion, not {shown!r:.60}"
        )
    if q is not None:
        raise OptionError(f"{function}: q is where a robot at rest is; a motion has its own configurations")
    motions = [Frames(one, robot_of(function, one, robot)) for one in given]
    # To read samples that are spread over a packed file is to unpack all of it.
    batch = Batch(motions[0].count, samples, is_spread=all(frames.is_in_memory for frames in motions))
    values = _single_values(function, motions[0].robot, parameters)
    return Subject(motions[0].robot, np.empty((0, 0)), motions, batch, on, values)


def _single_values(function: str, robot: Model, parameters: Mapping[str, ArrayLike] | None) -> Values:
    values = checked_values(function, robot, parameters)
    for (name, x), axes in zip(values.items(), leading(robot, values), strict=True):
        if axes:
            raise ShapeError(f"{function}: {name} has shape {x.shape}, and a page shows one value for all samples")
    return values


def configurations(robot: Model, q: ArrayLike | None) -> Array:
    """(samples, nq) of the argument: one configuration, several, or that of the robot's file."""
    given = reference_configuration(robot) if q is None else real_array("q", q, f"(…, {robot.nq})").astype(np.float64)
    robot.check_configuration(given)
    if given.ndim > 2 or (given.ndim == 2 and not len(given)):
        raise ShapeError(f"q has shape {given.shape}, and a page shows ({robot.nq},) or (samples, {robot.nq})")
    return given.reshape(-1, robot.nq) if robot.nq else np.empty((1, 0))


def _places(frames: Frames, samples: Sequence[int]) -> list[int]:
    """Which of the samples that are seen a motion has; the first if it has none of them."""
    return [place for place, sample in enumerate(samples) if sample < frames.count] or [0]


def _present(frames: Frames, samples: Sequence[int]) -> list[int]:
    """These samples; the last one in place of the first if it has none of them."""
    return [min(samples[place], frames.count - 1) for place in _places(frames, samples)]


def _rows(count: int, low: Array, high: Array) -> Array:
    """(count, 3): by how much samples stand aside, in rows on the ground."""
    columns = int(np.ceil(np.sqrt(count)))
    steps = 1.2 * np.maximum(high - low, 0.2 * float(np.linalg.norm(high - low)))[:2]
    row, column = np.divmod(np.arange(count), columns)
    return np.column_stack([row * -steps[0], column * steps[1], np.zeros(count)])


ARRANGEMENTS = ("one", "ghosts", "side by side")
_OTHERS = ("spread over all", "the first ones")
_FIRST_SEEN = 12
"""How many samples are seen at first."""
_MOST_SEEN = 100


@record(frozen=True, slots=True)
class _Choice:
    """One of the samples in full, and others around it."""

    how: str
    chosen: int
    seen: int
    is_spread: bool


class Batch:
    """The choice of samples, and its controls."""

    def __init__(self, count: int, how: str, *, is_spread: bool = True) -> None:
        """`is_spread`: whether those that are seen are spread over the batch at first, or its first ones."""
        self.count: int = count
        self._choice = _Choice(how if count > 1 else "one", 0, min(count, _FIRST_SEEN), is_spread)
        self._lock = threading.Lock()
        self._wanted: _Choice | None = None
        self._is_reading = False

    def resize(self, count: int) -> None:
        """There are another number of samples now."""
        was = self._choice
        how = "ghosts" if count > 1 and was.how == "one" else was.how
        self.count, self._choice = count, _Choice(how, min(was.chosen, count - 1), count, was.is_spread)

    @property
    def how(self) -> str:
        """One of `ARRANGEMENTS`."""
        return self._choice.how

    @property
    def samples(self) -> list[int]:
        """The samples that are seen, the chosen one first."""
        return self._samples(self._choice)

    def _samples(self, choice: _Choice) -> list[int]:
        if choice.how == "one":
            return [choice.chosen]
        others = [k * self.count // choice.seen if choice.is_spread else k for k in range(choice.seen)]
        return [choice.chosen, *[k for k in others if k != choice.chosen][: choice.seen - 1]]

    def add_controls(self, gui: GuiApi, read: Callable[[Sequence[int]], bool], changed: Callable[[], None]) -> None:
        """Controls for it, which call `read` with the samples to show, and `changed` if that returns true."""
        if self.count < 2:
            return
        at_first = self._choice
        with gui.add_folder("Samples"):
            how = gui.add_dropdown("arrangement", ARRANGEMENTS, initial_value=at_first.how)
            sample = gui.add_slider("sample", 0, self.count - 1, 1, at_first.chosen, hint="the one in full colour")
            most = min(self.count, _MOST_SEEN)
            seen = gui.add_slider("how many", 1, most, 1, at_first.seen, hint=f"of {self.count:,}")
            others = gui.add_dropdown(
                "others", _OTHERS, initial_value=_OTHERS[not at_first.is_spread], hint="which ones are seen with it",
                visible=at_first.seen < self.count,
            )  # fmt: skip

        def on_update(_: GuiEvent[Any]) -> None:
            others.visible = int(seen.value) < self.count
            self._choose(
                _Choice(how.value, int(sample.value), int(seen.value), others.value == _OTHERS[0]), read, changed
            )

        for handle in (how, sample, seen, others):
            handle.on_update(on_update)

    def _choose(self, choice: _Choice, read: Callable[[Sequence[int]], bool], changed: Callable[[], None]) -> None:
        """Show another choice, or, while one is being read that was wanted before, the last one after that."""
        with self._lock:
            self._wanted = choice
            if self._is_reading:
                return
            self._is_reading = True
        try:
            while (choice_now := self._next()) is not None:
                if read(self._samples(choice_now)):
                    self._choice = choice_now
                    changed()
        except BaseException:
            self._is_reading = False
            raise

    def _next(self) -> _Choice | None:
        with self._lock:
            samples, self._wanted = self._wanted, None
            self._is_reading = samples is not None
        return samples
