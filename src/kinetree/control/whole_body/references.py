"""References of the tasks of a whole-body controller: targets, velocities, accelerations, gains and switches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.whole_body.matrices import Layout
from kinetree.errors import DTypeError, OptionError, ShapeError, nearest_names
from kinetree.inputs import holds_symbols, real_array, samples
from kinetree.records import record

__all__ = ["Batched", "References", "Values"]

Array = NDArray[Any]
Values = Mapping[str, ArrayLike]
_F64 = np.dtype(np.float64)


@record(frozen=True, slots=True)
class Batched:
    """A reference of many samples."""

    values: Array
    """(…, k)."""
    where: slice
    """Its place in the program's argument."""

    @property
    def lead(self) -> tuple[int, ...]:
        return self.values.shape[:-1]


class References:
    """The program's argument `given`, filled by name."""

    def __init__(self, layout: Layout, stiffness: Values | None, damping: Values | None) -> None:
        stiffness, damping = _named("stiffness", stiffness), _named("damping", damping)
        self._layout = layout
        self._where = layout.given
        self.values: Array = np.zeros(max(layout.given_count, 1))
        self._switches = {name: k for k, name in enumerate(layout.switches)}
        self.values[: len(self._switches)] = 1.0
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
                if word == "stiffness" and shapes[name] == (0,):
                    raise OptionError(
                        f"WholeBody: task {name!r} has no target, so no stiffness pulls it there; give its damping"
                    )
        for name, where in self._where.items():
            k = self._gain("stiffness", name, stiffness.get(name, 0.0 if shapes[name] == (0,) else 100.0))
            self.values[where.stiffness] = k
            usual = np.full(k.shape, 10.0) if shapes[name] == (0,) else 2.0 * np.sqrt(k)
            self.values[where.damping] = self._gain("damping", name, damping.get(name, usual))

    def taken(
        self,
        targets: Values | None,
        velocities: Values | None,
        accelerations: Values | None,
        active: Mapping[str, bool | Array] | None,
    ) -> dict[str, Batched]:
        """Put values shared by all samples into `values`; return those with axes of samples, by a name for messages."""
        many: dict[str, Batched] = {}
        for name, x in _named("targets", targets).items():
            where = self._task("targets", name).target
            if self._shapes[name] == (0,):
                raise OptionError(
                    f"WholeBody: task {name!r} has no target; velocities[{name!r}] and accelerations[{name!r}] say "
                    "what it follows"
                )
            array = numbers(f"targets[{name!r}]", x, self._shapes[name])
            self._layout.tasks[name].check_target(self._layout.robot, array)
            lead = array.shape[: array.ndim - len(self._shapes[name])]
            self._put(f"targets[{name!r}]", array.reshape(*lead, where.stop - where.start), where, many)
            if not lead:
                self._missing.discard(name)
        for word, plural, values in (
            ("velocity", "velocities", velocities), ("acceleration", "accelerations", accelerations)
        ):  # fmt: skip
            self.values[self._all[word]] = 0.0
            for name, x in _named(plural, values).items():
                where = getattr(self._task(plural, name), word)
                about = f"{plural}[{name!r}]"
                self._put(about, numbers(about, x, (where.stop - where.start,)), where, many)
        for name, on in _named("active", active).items():
            if name not in self._switches:
                raise self._unknown("active", name, list(self._switches))
            array = np.asarray(on)
            if array.dtype != np.bool_:
                raise OptionError(
                    f"WholeBody: active[{name!r}] must be True or False, or an array of them, not {on!r:.60}"
                )
            k = self._switches[name]
            self._put(f"active[{name!r}]", array.astype(np.float64)[..., None], slice(k, k + 1), many)
        if self._missing:
            self._check_complete(many)
        return many

    def repeated(self, many: Mapping[str, Batched], lead: tuple[int, ...]) -> Array:
        """The arguments (*lead, k) of all samples."""
        values = np.empty((*lead, len(self.values)))
        values[...] = self.values
        for one in many.values():
            values[..., one.where] = one.values
        return values

    def wrong(self, values: Array) -> str | None:
        """The name of a task with a reference that is not finite."""
        for name, where in self._where.items():
            parts = (where.target, where.velocity, where.acceleration)
            if not all(np.isfinite(values[part]).all() for part in parts):
                return name
        return None

    def _put(self, about: str, x: Array, where: slice, many: dict[str, Batched]) -> None:
        if x.ndim == 1:
            self.values[where] = x
        else:
            many[about] = Batched(x, where)

    def _check_complete(self, many: Mapping[str, Batched]) -> None:
        """Raise an error if a task that is active had no target yet."""
        for name in self._missing:
            switch = many.get(f"active[{name!r}]")
            is_on = self.values[self._switches[name]] == 1.0 if switch is None else switch.values.any()
            if is_on and f"targets[{name!r}]" not in many:
                raise OptionError(
                    f"WholeBody: task {name!r} has no target yet; give targets={{{name!r}: …}}, or switch it off with "
                    f"active={{{name!r}: False}}"
                )

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
    def _unknown(word: str, name: object, names: list[str]) -> OptionError:
        return OptionError(
            f"WholeBody: {word} names {name!r:.60}, which is unknown here: {nearest_names(str(name), names)}"
        )


def numbers(about: str, x: Any, shape: tuple[int, ...]) -> Array:
    """An array (…, *shape)."""
    if type(x) is np.ndarray and x.dtype is _F64 and x.shape[x.ndim - len(shape) :] == shape:  # the usual case
        return x
    array = samples(f"WholeBody: {about}", x, shape, "the robot")
    if holds_symbols(array):
        raise DTypeError(f"WholeBody: {about} is symbolic; whole-body control is computed outside programs")
    return array.astype(np.float64, copy=False)


def _named(word: str, mapping: Any) -> Mapping[str, Any]:
    """The values given by name; empty for None."""
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise OptionError(f'WholeBody: {word} must be a dict such as {{"name": …}}, not {mapping!r:.60}')
    return mapping
