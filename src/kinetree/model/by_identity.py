"""Data about single objects, as long as they live."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Generic, TypeVar

__all__ = ["ByIdentity"]

V = TypeVar("V")


class ByIdentity(Generic[V]):
    """Data about individual models, kept as long as the model lives; an equal model has its own entry."""

    def __init__(self) -> None:
        self._known: dict[int, V] = {}
        self._living: dict[int, weakref.ref[Any]] = {}

    def __contains__(self, model: object) -> bool:
        return id(model) in self._known

    def __getitem__(self, model: object) -> V:
        return self._known[id(model)]

    def __setitem__(self, model: object, value: V) -> None:
        if id(model) not in self._known:
            # Not weakref.finalize, which would keep this object, and so its contents, as long as the model lives.
            self._living[id(model)] = weakref.ref(model, partial(_forget, weakref.ref(self), id(model)))
        self._known[id(model)] = value

    def __len__(self) -> int:
        return len(self._known)


def _forget(known: weakref.ref[ByIdentity[Any]], key: int, _: object) -> None:
    """A model is gone."""
    here = known()
    if here is not None:
        here._known.pop(key, None)
        here._living.pop(key, None)
