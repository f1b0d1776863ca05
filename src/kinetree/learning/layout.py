"""Named arrays side by side in one flat array: the state of a world, and the results of a step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.programs.labels import reshaped

__all__ = ["Layout", "shapes_of"]


class Layout:
    """The places of named arrays in one flat array."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes: Mapping[str, tuple[int, ...]] = dict(shapes)
        self.places: dict[str, slice] = {}
        start = 0
        for name, shape in shapes.items():
            self.places[name] = slice(start, start := start + math.prod(shape))
        self.size: int = start

    def part(self, flat: Any, name: str) -> Any:
        """One array of a flat one (…, size), with the same leading axes; of NumPy's arrays a view."""
        place, shape = self.places[name], self.shapes[name]
        if not shape:
            return flat[..., place.start]
        return reshaped(flat[..., place], (*flat.shape[:-1], *shape)) if len(shape) > 1 else flat[..., place]

    def apart(self, flat: Any) -> dict[str, Any]:
        """All of them, by name."""
        return {name: self.part(flat, name) for name in self.shapes}

    def joined(self, parts: Mapping[str, Any]) -> Any:
        """The flat array of one sample."""
        return np.concatenate([np.zeros(0), *(np.ravel(parts[name] * 1.0) for name in self.shapes)])


def shapes_of(arrays: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of arrays by name."""
    return {name: x.shape for name, x in arrays.items()}
