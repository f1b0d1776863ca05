"""References of the tasks of a whole-body controller: targets, velocities, accelerations, gains and switches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.whole_body.matrices import Layout
from kinetree.errors import OptionError, ShapeError, nearest_names
from kinetree.inputs import real_array

__all__ = ["References", "Values"]

Array = NDArray[Any]
Values = Mapping[str, ArrayLike]


class References:
    """The program's argument `given`, filled by name."""

    def __init__(self, layout: Layout, stiffness: Values, damping: Values) -> None:
        self._layout = layout
        self._where = layout.given
        self.values: Array = np.zeros(max(layout.given_count, 1))
        self.values[: len(layout.contacts) + len(layout.tasks)] = 1.0
        self._switches = {name: k for k, name in enumerate([*layout.contacts, *layout.tasks])}
        self._all = {
            word: np.r_[tuple(getattr(w, word) for w in self._where.values())] if self._where else np.zeros(0, int)
            for word in ("velocity", "acceleration")
        }
        shapes = {name: task.target_shape(layout.robot) for name, task in layout.tasks.items()}
        self._shapes = shapes
        self._missing = {name for name, shape in shapes.items() if shape != (0,)}
        for word, gains in (("stiffness", stiffness), ("damping", damping)):
            for name in gains:
                self._task(word, name)
        for name, where in self._where.items():
            k = self._gain("stiffness", name, stiffness.get(name, 0.0 if shapes[name] == (0,) else 100.0))
            self.values[where.stiffness] = k
            usual = np.full(k.shape, 10.0) if shapes[name] == (0,) else 2.0 * np.sqrt(k)
            self.values[where.damping] = self._gain("damping", name, damping.get(name, usual))

    def put_targets(self, targets: Values) -> None:
        for name, target in targets.items():
            where = self._task("targets", name)
            array = real_array(f"WholeBody: targets[{name!r}]", target, str(self._shapes[name]))
            if array.shape != self._shapes[name]:
                raise ShapeError(
                    f"WholeBody: targets[{name!r}] must have shape {self._shapes[name]}, not {array.shape}"
                )
            self._layout.tasks[name].check_target(self._layout.robot, array)
            self.values[where.target] = array.reshape(-1)
            self._missing.discard(name)

    def put(self, word: str, values: Values | None) -> None:
        """Velocities or accelerations of tasks; of all others they become zero."""
        self.values[self._all[word]] = 0.0
        for name, x in (values or {}).items():
            where = getattr(self._task(word, name), word)
            array = real_array(f"WholeBody: {word} of {name!r}", x, "(m,)")
            size = where.stop - where.start
            if array.shape != (size,):
                raise ShapeError(f"WholeBody: the {word} of {name!r} must have shape ({size},), not {array.shape}")
            self.values[where] = array

    def switch(self, active: Mapping[str, bool]) -> None:
        for name, on in active.items():
            if name not in self._switches:
                raise self._unknown("active", name, list(self._switches))
            if not isinstance(on, bool | np.bool_):
                raise OptionError(f"WholeBody: active[{name!r}] must be True or False, not {on!r:.60}")
            self.values[self._switches[name]] = float(on)

    def check_complete(self) -> None:
        """Raise an error if a task that is active had no target yet."""
        for name in self._missing:
            if self.values[self._switches[name]] == 1.0:
                raise OptionError(
                    f"WholeBody: task {name!r} has no target yet; give targets={{{name!r}: …}}, or switch it off with "
                    f"active={{{name!r}: False}}"
                )

    def wrong(self) -> str | None:
        """The name of a task with a reference that is not finite."""
        for name, where in self._where.items():
            parts = (where.target, where.velocity, where.acceleration)
            if not all(np.isfinite(self.values[part]).all() for part in parts):
                return name
        return None

    def _gain(self, word: str, name: str, x: Any) -> Array:
        size = self._layout.tasks[name].size(self._layout.robot)
        array = real_array(f"WholeBody: {word}[{name!r}]", x, f"() or ({size},)")
        if array.shape not in ((), (size,)):
            raise ShapeError(f"WholeBody: {word}[{name!r}] must be one number or ({size},), not of shape {array.shape}")
        if not np.isfinite(array).all() or (array < 0.0).any():
            raise OptionError(f"WholeBody: {word}[{name!r}] must be finite and not negative, not {x!r:.60}")
        return np.broadcast_to(array, (size,)).astype(np.float64)

    def _task(self, word: str, name: str) -> Any:
        if name not in self._where:
            raise self._unknown(word, name, list(self._where))
        return self._where[name]

    @staticmethod
    def _unknown(word: str, name: object, known: list[str]) -> OptionError:
        return OptionError(
            f"WholeBody: {word} names {name!r:.60}, which is none here: {nearest_names(str(name), known)}"
        )
