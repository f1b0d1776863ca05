"""What is known about single objects, as long as they live."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

__all__ = ["ByIdentity"]

V = TypeVar("V")


class ByIdentity(Generic[V]):
    """Data about individual models, kept as long as the model lives; an equal model has its own entry."""

    def __init__(self) -> None:
        self._known: dict[int, V] = {}

    def __contains__(self, model: object) -> bool:
        return id(model) in self._known

    def __getitem__(self, model: object) -> V:
        return self._known[id(model)]

    def __setitem__(self, model: object, value: V) -> None:
        if id(model) not in self._known:
            weakref.finalize(model, self._known.pop, id(model), None).atexit = False
        self._known[id(model)] = value

    def __len__(self) -> int:
        return len(self._known)
